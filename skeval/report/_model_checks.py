"""Checks of the model: parts fitted beforehand, and undetermined least squares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.feature_selection import SelectorMixin, VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from skeval._adapters.fits import fit_plan
from skeval._resampling.inputs import Inputs
from skeval._resampling.plans import PlanBlock, ResamplingPlan
from skeval.report._predictions import count_columns
from skeval.report._sections import Caution
from skeval.utils._checks import repetition_rng

MAX_REFIT = 500
"""Maximum number of samples on which a model is refitted with shuffled labels."""
N_SHUFFLES = 12
"""Number of shuffles after which the predictions must all be the same. A rule with one threshold or
one binary feature predicts the same after up to half of them; for most models one suffices."""
REMEDY = (
    "Pass the unfitted estimator, so that it is trained within the folds; for a model that is "
    "fixed in advance, use evaluate_predictions or metric_interval on samples it has not seen."
)


def check_fitted_before(
    inputs: Inputs, root: SeedSequence, has_time: Callable[[], bool]
) -> list[Caution]:
    """Return a warning if the model, or a part of it, is not trained within the folds.

    Each fit is started only if `has_time` allows it. Frozen parts are found by their type. A model
    that is fixed in another way predicts the same after it is refitted on shuffled labels; constant
    predictions do not show this.
    """
    frozen = list(_find_frozen(inputs.estimator))
    supervised = [name for name, part in frozen if _uses_labels(part)]
    if supervised:
        names = ", ".join(supervised)
        verb = "are" if len(supervised) > 1 else "is"
        text = (
            f"Model fitted before: {names} {verb} frozen and not trained within the folds. If "
            f"these samples were used to fit it, the error is a training error. {REMEDY}"
        )
        return [Caution("fitted-before", text, "part of the model was fitted before the folds")]
    if frozen:
        names = ", ".join(name for name, _ in frozen)
        text = (
            f"Step fitted before: {names} is not refitted within the folds. It does not use the "
            "target, so the effect on the error is usually small. Unfreeze it to measure this."
        )
        return [Caution("fitted-before", text)]
    if _ignores_labels(inputs, root, has_time):
        text = (
            "Model fitted before: the predictions do not change if the model is refitted on "
            "shuffled labels, so it was not trained within the folds. If these samples were used "
            f"to fit it, the error is a training error. {REMEDY}"
        )
        return [Caution("fitted-before", text, "the model does not learn from the training labels")]
    return []


def _find_frozen(estimator: Any) -> Iterator[tuple[str, Any]]:
    """Yield the frozen parts of an estimator with readable names."""
    parts = {"": estimator, **estimator.get_params(deep=True)}
    for part in parts.values():
        if isinstance(part, FrozenEstimator):
            yield f"FrozenEstimator({type(part.estimator).__name__})", part.estimator


def _uses_labels(part: Any) -> bool:
    """Whether an estimator predicts a target, or uses one to select or transform features."""
    if isinstance(part, SelectorMixin):
        return not isinstance(part, VarianceThreshold)
    tags = get_tags(part)
    return tags.estimator_type in ("classifier", "regressor") or tags.target_tags.required


def _ignores_labels(inputs: Inputs, root: SeedSequence, has_time: Callable[[], bool]) -> bool:
    """Whether a model predicts the same, but not a constant, after its labels are shuffled."""
    if isinstance(inputs.estimator, DummyClassifier | DummyRegressor):
        return False  # by design, it depends only on the frequencies of the labels
    n, rng = len(inputs.target), repetition_rng(root, 0)
    rows = np.sort(rng.permutation(n)[:MAX_REFIT])
    used = np.zeros((1, n), dtype=bool)
    used[:, rows] = True
    quiet = inputs.with_options(verbose=0, memory=None)

    def refit(labels: np.ndarray) -> np.ndarray:
        """Return the predictions of a model fitted to the labels of these samples, in order."""
        if not has_time():
            raise TimeoutError
        order = np.arange(n)
        order[rows] = labels
        block = PlanBlock(used.astype(np.intp), used, order[None])
        (_, output), *_ = fit_plan(quiet, ResamplingPlan(n, 1, lambda _: block, 1))
        if output.failed.any():
            raise ValueError("a fit failed")
        return np.asarray(output.predicted)

    try:
        before = refit(rows)
        return bool(np.any(before != before[0])) and all(
            np.array_equal(before, refit(rng.permutation(rows))) for _ in range(N_SHUFFLES)
        )
    except Exception:  # no time, or for example too few samples, which other checks report
        return False


def check_least_squares(estimator: Any, X: Any, y: Any) -> list[Caution]:
    """Return a warning if least squares have about as many features as samples.

    With 10 % more samples the error of such a rule may change several fold, and the models of ten
    folds are trained on 10 % fewer samples than the final model. Features are counted after the
    earlier steps of a pipeline.
    """
    *steps, rule = estimator if isinstance(estimator, Pipeline) else [estimator]
    if not isinstance(rule, LinearRegression) or rule.positive:
        return []
    if steps:
        with suppress(Exception):
            X = clone(estimator[:-1]).fit_transform(X, y)
    n_samples, n_features = len(y), count_columns(X) or 0
    lowest, highest = UNDETERMINED
    if not lowest * n_samples <= n_features <= highest * n_samples:
        return []
    text = (
        f"Undetermined least squares: with {n_features} features and {n_samples} samples, the "
        "error of the model trained on all samples may be many times that of the models of the "
        "folds, which are trained on fewer samples. In simulations with as many features as "
        f"samples, the interval covered the true error in {COVERAGE_UNDETERMINED[1]} % of data "
        f"sets, for absolute errors in {COVERAGE_UNDETERMINED[0]} %. Use fewer features or a "
        "penalty (Ridge)."
    )
    headline = "least squares with about as many features as samples are undetermined"
    return [Caution("undetermined", text, headline)]


UNDETERMINED = 0.95, 1.15
"""Features per sample between which least squares count as undetermined."""
COVERAGE_UNDETERMINED = 4, 2
"""For absolute and squared loss, from benchmarks/results/inflation.csv: as many as samples."""
