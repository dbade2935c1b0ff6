"""Estimators that resample in their own fit, which within another resampling serves nothing."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from skeval.report._cautions import Caution
from skeval.svm import PerturbationResamplingSVC

__all__ = ["skip_nested_resampling"]


def skip_nested_resampling(estimator: Any) -> tuple[Any, list[Caution]]:
    """Return an estimator whose fits do not resample, and a note where it would have.

    A `PerturbationResamplingSVC`, alone or within other estimators, predicts the same with
    ``n_resamples=0``, where it does neither cross-validate nor perturb.
    """
    parts = {"": estimator, **estimator.get_params(deep=True)}
    busy = [
        f"{name}__n_resamples".removeprefix("__")
        for name, part in parts.items()
        if isinstance(part, PerturbationResamplingSVC) and part.n_resamples
    ]
    if not busy:
        return estimator, []
    note = Caution(
        "nested",
        "PerturbationResamplingSVC was fitted with n_resamples=0, without the resampling of its "
        "own that no prediction depends on and that every fit here would have repeated.",
    )
    return clone(estimator).set_params(**dict.fromkeys(busy, 0)), [note]
