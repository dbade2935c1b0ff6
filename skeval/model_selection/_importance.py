"""Permutation importance of features on held-out samples, with intervals.

The importance of a feature is the decrease of a score when the values of the feature are shuffled
among the samples of a test set. This decrease is itself a score, so `score_interval` estimates it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import rankdata
from sklearn.utils import check_scalar, get_tags

from skeval._inference.estimate import Results
from skeval._resampling.inputs import Params, validate_inputs
from skeval.metrics._scorers import read_scoring
from skeval.model_selection._score_interval import score_interval
from skeval.utils import _checks
from skeval.utils._checks import ErrorScore, RandomStateLike, count_dimensions


@_checks.in_order()
def feature_importance(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    scoring: Any = None,
    max_correlation: float = 0.8,
    n_permutations: int = 5,
    n_folds: int | None = None,
    n_repeats: int | None = None,
    confidence_level: float = 0.95,
    groups: Any = None,
    params: Params = None,
    sample_weight: Any = None,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    memory: Any = None,
    error_score: ErrorScore = "raise",
) -> Results:
    r"""Return the permutation importance of each feature on held-out samples, with intervals.

    The importance of the columns `G` is the mean, over test sets and permutations :math:`\pi`, of

    .. math:: s(f, X, y) - s(f, X_{\pi(G)}, y).

    Here, the model `f` was trained without the test set, `s` is the score, and the rows of `G` are
    shuffled among the samples of the test set [1]_. All features are scored with the same models.
    The interval comes from the corrected resampled t-test over folds and repeats [2]_. It is for
    the importance on new samples in models that are trained on these samples. Models trained on
    other samples may use other features. :doc:`/validation` has the measured coverage.

    Correlated features can replace each other. If one of them is shuffled alone, the score changes
    little, although the model may depend on their common information. Therefore, features with a
    large rank correlation are shuffled together.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn classifier, regressor or pipeline. Feature selection and tuning must be
        part of it.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Class labels or numeric target.
    scoring : str or callable, default=None
        Name from `get_scorer_names`, or a scorer. Larger is better. None means the accuracy for
        classifiers and R2 for regressors.
    max_correlation : float, default=0.8
        Numeric columns are shuffled together if they are connected by a chain of absolute Spearman
        correlations above this value. 1 shuffles each column alone.
    n_permutations : int, default=5
        Number of permutations of each test set.
    n_folds, n_repeats : int, default=None
        Parameters of repeated cross-validation, as in `error_interval`.
    confidence_level : float, default=0.95
        Nominal coverage, between 0 and 1.
    groups : array-like of shape (n_samples,), default=None
        Group of each sample, such as the patient. Groups are never split.
    params : dict, default=None
        Arguments of the estimator's `fit` by name, as in scikit-learn's ``cross_validate``.
    sample_weight : array-like of shape (n_samples,), default=None
        Sample weights. They must be positive. They are used in every fit and in all results for
        single samples. The scores of single folds are computed without weights.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call.
    n_jobs : int, default=None
        Number of joblib workers. Results do not depend on it.
    verbose : int, default=0
        1 shows progress. Larger values add joblib's messages.
    memory : str, path-like or joblib.Memory, default=None
        Cache of finished fits. If `random_state` is an int, a repeated call after an interruption
        computes only the remaining fits. See :doc:`/user_guide/scale`.
    error_score : "raise" or numpy.nan, default="raise"
        Treatment of a failed fit. "raise" raises an error that names it. ``numpy.nan`` omits the
        fit, counts it and warns.

    Returns
    -------
    Results
        One estimate for each feature or group of correlated features, with joined names as keys.
        The most important feature is first. The importance is in units of the score, and is 0 on
        average for an unused feature.

    Raises
    ------
    ValueError
        If `X` has no columns to shuffle, for example texts or a precomputed kernel.

    See Also
    --------
    sklearn.inspection.permutation_importance : Importance for one fitted model.

    References
    ----------
    .. [1] Breiman, L. (2001). Random forests. Machine Learning 45, 5-32.
       :doi:`10.1023/A:1010933404324`
    .. [2] Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine
       Learning 52, 239-281. :doi:`10.1023/A:1024068626366`

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from skeval.model_selection import feature_importance
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> importance = feature_importance(SVC(), X, y, random_state=0)
    >>> print(importance["sepal width (cm)"].interval)
    [-0.0092, 0.0252] (95 %, t)
    """
    _checks.check_count("n_permutations", n_permutations)
    _checks.check_single_score(scoring)
    check_scalar(max_correlation, "max_correlation", Real, min_val=0, max_val=1)
    validate_inputs(estimator, X, y, groups, with_loss=False, several=True)
    with _checks.naming("X"):
        X = np.asarray(X) if isinstance(X, list) else X
    if count_dimensions(X) != 2 or get_tags(estimator).input_tags.pairwise:
        raise ValueError(
            "X must have columns that can be shuffled, as in an array or a data frame, got "
            "strings or a precomputed kernel."
        )
    # each feature is a score: the drop of the score when it is shuffled
    seed = int(_checks.root_seed(random_state).generate_state(1)[0])
    scorer, options = read_scoring(estimator, scoring), (max_correlation, n_permutations, seed)
    drops = list_drops(scorer, X, getattr(X, "columns", range(np.shape(X)[1])), *options)
    run = {"n_jobs": n_jobs, "verbose": verbose, "memory": memory, "error_score": error_score}
    run |= {"groups": groups, "params": params, "sample_weight": sample_weight}
    run |= {"n_folds": n_folds, "n_repeats": n_repeats, "confidence_level": confidence_level}
    scores = score_interval(estimator, X, y, scoring=drops, random_state=seed, **run)
    # the most important first
    order = sorted(scores, key=lambda name: -scores[name].value)
    return Results({name: replace(scores[name], name="importance") for name in order})


def list_drops(
    scorer: Any,
    X: Any,
    names: Sequence[Any],
    max_correlation: float = 0.8,
    n_permutations: int = 5,
    seed: int = 0,
) -> dict[str, ScoreDrop]:
    """Return a scorer for each column, or group of correlated columns, by joined names."""
    return {
        " + ".join(str(names[column]) for column in columns): ScoreDrop(
            scorer, columns, n_permutations, seed
        )
        for columns in group_columns(X, max_correlation)
    }


@dataclass(frozen=True, eq=False)
class ScoreDrop:
    """Scorer of the mean decrease of another score when some columns are shuffled together."""

    scorer: Any
    columns: list[int]
    n_permutations: int
    seed: int

    def __call__(self, model: Any, X: Any, y: Any) -> float:
        """Return the decrease on some test samples."""
        rng, n = np.random.default_rng(self.seed), len(y)
        score = self.scorer(model, X, y)
        # differences first, so that equal scores have a drop of exactly 0
        drops = [
            score - self.scorer(model, shuffle_columns(X, self.columns, rng.permutation(n)), y)
            for _ in range(self.n_permutations)
        ]
        return float(np.mean(drops))


def group_columns(X: Any, max_correlation: float) -> list[list[int]]:
    """Return the columns of each group connected by chains of correlations above a limit."""
    dense = X.toarray() if sparse.issparse(X) else X
    names = getattr(dense, "columns", None)
    columns = np.asarray(dense).T if names is None else [np.asarray(dense[name]) for name in names]
    # only numeric columns have correlations
    numeric = [place for place, column in enumerate(columns) if column.dtype.kind in "biuf"]
    group = np.arange(len(columns))
    if max_correlation < 1 and len(numeric) > 1:
        # Spearman correlations are those of ranks; constant columns correlate with none
        ranks = rankdata([columns[place] for place in numeric], axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            distances = 1 - np.abs(np.nan_to_num(np.corrcoef(ranks)))
        np.fill_diagonal(distances, 0)
        # single linkage joins columns by chains of correlations above the limit
        tree = linkage(squareform(distances, checks=False), "single")
        group[numeric] = len(columns) + fcluster(tree, 1 - max_correlation, "distance")
    # groups in the order of their first columns
    firsts = np.unique(group, return_index=True)[1]
    return [np.flatnonzero(group == group[first]).tolist() for first in np.sort(firsts)]


def shuffle_columns(X: Any, columns: list[int], order: np.ndarray) -> Any:
    """Return X with the rows of some columns in another order, in the container of X."""
    if sparse.issparse(X):
        kept = np.setdiff1d(np.arange(X.shape[1]), columns)
        parts = sparse.hstack([X[:, kept], X[order][:, columns]], format="csc")
        return parts[:, np.argsort(np.r_[kept, columns])].asformat(X.format)
    if hasattr(X, "with_columns"):  # polars
        return X.with_columns(X[order].select(X.columns[column] for column in columns))
    X = X.copy()
    if hasattr(X, "isetitem"):  # pandas
        for column in columns:
            X.isetitem(column, X.iloc[:, column].array.take(order))
    else:
        X[:, columns] = X[order][:, columns]
    return X
