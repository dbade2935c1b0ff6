"""Constraints of the arguments that several metrics have, for `validate_params`.

`validate_params` ignores the entries of arguments that a function lacks.
"""

from __future__ import annotations

from numbers import Integral, Real

from numpy.random import Generator

from skeval.utils._compat import Interval, Options, StrOptions

CONSTRAINTS: dict[str, list[object] | str] = {
    "y_true": ["array-like"],
    "y_pred": ["array-like"],
    "y_score": ["array-like"],
    "y_proba": ["array-like"],
    "baseline": ["array-like", None],
    "labels_true": "no_validation",  # check_labels has the better message
    "labels_pred": "no_validation",
    "labels": ["array-like", None],
    "pos_label": [Real, str, "boolean", None],
    "sample_weight": ["array-like", None],
    "groups": ["array-like", None],
    "beta": [Interval(Real, 0, None, closed="both")],
    "zero_division": [Options(Real, {0.0, 1.0}), "nan", StrOptions({"warn"})],
    "confidence_level": [Interval(Real, 0, 1, closed="neither")],
    "n_resamples": [Interval(Integral, 1, None, closed="left")],
    "n_points": [Interval(Integral, 2, None, closed="left")],
    "n_bins": [Interval(Integral, 1, None, closed="left")],
    "strategy": [StrOptions({"quantile", "uniform"})],
    "random_state": ["random_state", Generator],
}
