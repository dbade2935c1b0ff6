"""What the table of a search for hyperparameters says beyond its best score."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from skeval.utils._checks import check_count, check_data

__all__ = ["read_split_scores", "refit_one_se", "tuning_bias"]


def read_split_scores(cv_results: Mapping[str, Any], metric: str) -> np.ndarray:
    """Return the scores of a search, shape (n_splits, n_candidates), nan where a fit failed."""
    if not isinstance(cv_results, Mapping):
        raise TypeError(
            "cv_results must be the table of a fitted search, its cv_results_, got "
            f"{type(cv_results).__name__}."
        )
    columns: list[np.ndarray] = []
    while f"split{len(columns)}_test_{metric}" in cv_results:
        columns.append(cv_results[f"split{len(columns)}_test_{metric}"])
    if not columns:
        raise ValueError(f"cv_results must hold split scores of the metric {metric!r}.")
    scores: np.ndarray = check_data("cv_results", columns, dtype=float, ensure_all_finite=False)
    return scores


def _compared_scores(cv_results: Mapping[str, Any], metric: str) -> np.ndarray:
    """Return the scores of the candidates that were compared last, nan for all others.

    A search by halving keeps the rounds before, on fewer samples, in the same table.
    """
    scores = read_split_scores(cv_results, metric)
    if len(scores) < 2:
        raise ValueError("cv_results must hold the scores of two splits at least, got one.")
    scores = np.where(np.isfinite(scores).all(axis=0), scores, np.nan)
    if "iter" in cv_results:
        rounds = np.asarray(cv_results["iter"])
        scores = np.where(rounds == rounds.max(), scores, np.nan)
    if np.isnan(scores).all():
        raise ValueError(f"cv_results holds no candidate whose {metric!r} is a number throughout.")
    return scores


def tuning_bias(
    cv_results: Mapping[str, Any], *, best_index: int | None = None, metric: str = "score"
) -> float:
    r"""Return by how much the best score of a search is too good, without another fit.

    With :math:`s_k(\lambda)` the score of candidate :math:`\lambda` in fold `k` of `K`, and
    :math:`\hat\lambda` the candidate that was chosen,

    .. math:: bias = \frac1K \sum_k \big( \max_\lambda s_k(\lambda) - s_k(\hat\lambda) \big) ,

    the estimate of Tibshirani and Tibshirani [1]_: the fold takes the part of new samples, and its
    own best candidate that of the tuned one. It is >= 0; the best score less the bias estimates
    the score of the tuned model.

    Parameters
    ----------
    cv_results : dict
        The `cv_results_` of a search with split scores, of which larger are better.
    best_index : int, default=None
        Position of the chosen candidate; None is that with the best mean score.
    metric : str, default="score"
        The metric of a search with several.

    Returns
    -------
    bias : float
        In the unit of the score.

    Raises
    ------
    TypeError
        If `cv_results` is no dict, such as the search itself.
    ValueError
        If `cv_results` has no such metric, fewer than two splits, or no score of the candidate.

    See Also
    --------
    tuning_optimism : The same by nesting, with an interval.

    Notes
    -----
    Candidates that failed in a fold are left out; of a search by halving, all rounds but the last.
    With few settings it finds about half of the optimism that nesting does: see the table of
    `tuning_optimism`.

    References
    ----------
    .. [1] Tibshirani, R. J. and Tibshirani, R. (2009). A bias correction for the minimum error rate
       in cross-validation. The Annals of Applied Statistics 3, 822-829.
       https://doi.org/10.1214/08-AOAS224

    Examples
    --------
    >>> from skeval.model_selection import tuning_bias
    >>> results = {"split0_test_score": [0.9, 0.8, 0.7], "split1_test_score": [0.6, 0.8, 0.9]}
    >>> round(tuning_bias(results), 6)  # the last is best on average: 0.9 - 0.7 and 0.9 - 0.9
    0.1
    """
    scores = _compared_scores(cv_results, metric)
    means = scores.mean(axis=0)
    best = int(np.nanargmax(means))
    if best_index is not None:
        best = check_count("best_index", best_index, 0)
        if best >= len(means) or np.isnan(means[best]):
            raise ValueError(
                "best_index must be the position of a candidate in cv_results whose scores are "
                f"numbers, got {best} of {len(means)}."
            )
    return float(np.mean(np.nanmax(scores, axis=1) - scores[:, best]))


def refit_one_se(
    cv_results: Mapping[str, Any],
    *,
    complexity: Callable[[dict[str, Any]], Any] | None = None,
    metric: str = "score",
) -> int:
    """Return the index of the simplest candidate within one standard error of the best.

    For ``refit=`` of a search: the one-standard-error rule of Breiman et al. [1]_. The standard
    error is that of the mean of the split scores of the best candidate, their standard deviation
    over the root of their number.

    Parameters
    ----------
    cv_results : dict
        The `cv_results_` of a search.
    complexity : callable, default=None
        ``complexity(params)`` of a candidate is smaller the simpler it is: a number, or a tuple.
        None takes the candidates of the grid for written from the simplest to the most complex.
        Bind it with `functools.partial`.
    metric : str, default="score"
        The metric of a search with several; bind it, too.

    Returns
    -------
    int
        Position in ``cv_results["params"]``. Of equally simple candidates it is the best.

    Raises
    ------
    ValueError
        If `cv_results` has no such metric, or fewer than two splits.

    Notes
    -----
    The example of scikit-learn takes `std_test_score`, the spread of single splits, for the
    standard error, and so simpler models still.

    References
    ----------
    .. [1] Breiman, L., Friedman, J. H., Olshen, R. A. and Stone, C. J. (1984). Classification and
       Regression Trees. Wadsworth, section 3.4.3.

    Examples
    --------
    >>> from functools import partial
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skeval.model_selection import refit_one_se
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> grid, rule = {"n_neighbors": [1, 3, 5, 9, 15, 25]}, KNeighborsClassifier()
    >>> GridSearchCV(rule, grid).fit(X, y).best_params_
    {'n_neighbors': 9}
    >>> smoothest = partial(refit_one_se, complexity=lambda params: -params["n_neighbors"])
    >>> GridSearchCV(rule, grid, refit=smoothest).fit(X, y).best_params_
    {'n_neighbors': 25}
    """
    if complexity is not None and not callable(complexity):
        raise ValueError(f"complexity must be None or a function of params, got {complexity!r}.")
    scores = _compared_scores(cv_results, metric)
    means = scores.mean(axis=0)
    best = int(np.nanargmax(means))
    error = np.std(scores[:, best], ddof=1) / np.sqrt(len(scores))
    rounding = 1e-12 * abs(means[best])
    close = np.flatnonzero(means >= means[best] - error - rounding).tolist()
    if complexity is None:
        return close[0]
    params = cv_results["params"]
    return min(close, key=lambda at: (complexity(params[at]), -means[at], at))
