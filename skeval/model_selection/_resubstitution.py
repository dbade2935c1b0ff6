"""The error on the samples that the estimator was fitted on."""

from __future__ import annotations

from typing import Any

import numpy as np

from skeval._inference.means import standard_error_of_ratio
from skeval._resampling.fits import fit_plan
from skeval._resampling.plan import whole_plan
from skeval._resampling.target import LossLike
from skeval._resampling.task import Task, read_task
from skeval._resampling.weights import Params, count_effective
from skeval.model_selection._methods import RESUBSTITUTION
from skeval.model_selection._results import ErrorEstimate
from skeval.utils._checks import check_confidence_level

__all__ = ["estimate_resubstitution", "predict_own_samples", "resubstitution_error"]


def resubstitution_error(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    loss: LossLike = None,
    params: Params = None,
    sample_weight: Any = None,
    confidence_level: float = 0.95,
) -> ErrorEstimate:
    r"""Estimate the error on the training samples themselves.

    With :math:`e_i` the loss of sample `i` under the estimator fitted on all samples,

    .. math:: AE = \frac{1}{n} \sum_{i=1}^{n} e_i .

    This is the empirical risk, also called training or apparent error. It is optimistic: the best
    value 0 says nothing of new samples (1-nearest-neighbour always reaches it).

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline; it is cloned, never fitted itself.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples, or what else the estimator takes: texts, or a square precomputed kernel.
    y : array-like of shape (n_samples,)
        Labels or numbers.
    groups : array-like of shape (n_samples,), default=None
        Samples that belong together, for the standard error; the estimator does not see them.
    loss : {"zero_one", "squared", "absolute"} or callable, default=None
        Per-sample loss ``(y_true, y_pred) -> (n,)``; None means 0-1 loss for classifiers and
        squared error for regressors.
    params : dict, default=None
        Arguments of the estimator's `fit` by name. Weights (``{"sample_weight": w}``) are those of
        the fit; losses are averaged without them.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples, in the fit and in the mean of the losses.
    confidence_level : float, default=0.95
        Nominal coverage of the interval.

    Returns
    -------
    ErrorEstimate
        `replicates` holds the n losses. The intervals describe the sampling of the n losses
        only, not the optimism.

    Raises
    ------
    ValueError
        If `y` holds one class only, or `X` and `y` differ in length.
    TypeError
        If `estimator` has no `predict`, or takes no weights where some are given.

    See Also
    --------
    bootstrap_error : Corrects the optimism.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skeval.model_selection import resubstitution_error
    >>> X, y = load_iris(return_X_y=True)
    >>> resubstitution_error(KNeighborsClassifier(n_neighbors=1), X, y).error
    0.0
    """
    check_confidence_level(confidence_level)
    given: dict[str, Any] = {"sample_weight": sample_weight, "params": params}
    task = read_task(estimator, X, y, groups=groups, loss=loss, **given)
    return estimate_resubstitution(task, confidence_level)


def estimate_resubstitution(task: Task, confidence_level: float) -> ErrorEstimate:
    """Return the error on the training samples."""
    weights = task.relative_weight
    losses = task.loss(task.target.y, task.target.decode(predict_own_samples(task)))
    counted = np.ones(len(losses)) if weights is None else weights
    spread, n_groups = standard_error_of_ratio(counted * losses, counted, task.groups)
    error = float(np.average(losses, weights=weights))
    found = RESUBSTITUTION, error, spread, len(losses), task.loss.name, losses
    return ErrorEstimate(
        *found,
        n_groups=n_groups,
        effective_n_samples=None if weights is None else count_effective(weights),
        confidence_level=confidence_level,
    )


def predict_own_samples(task: Task) -> np.ndarray:
    """Return the predictions (codes or numbers) of one fit on all samples for those samples."""
    task = task.under(n_jobs=None, verbose=0, error_score="raise")
    ((_, output),) = fit_plan(task, whole_plan(len(task.target)))
    predicted: np.ndarray = output.predicted
    return predicted
