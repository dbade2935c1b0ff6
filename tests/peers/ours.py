"""Our functions under the signatures of scikit-learn's. No adapter touches a value.

What ours does not do (another average, a partial area) is left to theirs. Where ours refuses what
theirs refuses too, theirs says so: its tests ask for its words.
"""

from functools import wraps
from unittest.mock import patch

import numpy as np
from sklearn import metrics as theirs
from sklearn import model_selection
from sklearn.base import is_classifier
from sklearn.metrics import cluster as their_partitions
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target

from skeval import metrics
from skeval.metrics import cluster as partitions
from skeval.model_selection import BootstrapSplit, permutation_test


def in_place_of(theirs):
    """Give ours the name and signature of theirs, and its words where both refuse."""

    def decorate(ours):
        @wraps(theirs)
        def call(*args, **options):
            try:
                return ours(*args, **options)
            except (TypeError, ValueError):
                theirs(*args, **options)
                raise

        return call

    return decorate


@in_place_of(their_partitions.silhouette_samples)
def silhouette_samples(X, labels, *, metric="euclidean", **kwds):
    return partitions.silhouette_samples(X, labels, metric=metric, noise="cluster", **kwds)


@in_place_of(their_partitions.silhouette_score)
def silhouette_score(X, labels, *, metric="euclidean", sample_size=None, random_state=None):
    if sample_size is not None:
        rows = check_random_state(random_state).permutation(X.shape[0])[:sample_size]
        X, labels = (X[rows].T[rows].T if metric == "precomputed" else X[rows]), labels[rows]
    return partitions.silhouette_score(X, labels, metric=metric, noise="cluster")


@in_place_of(their_partitions.davies_bouldin_score)
def davies_bouldin_index(X, labels):
    return partitions.davies_bouldin_index(X, labels, dispersion="centroid", noise="cluster")


@in_place_of(their_partitions.calinski_harabasz_score)
def calinski_harabasz_score(X, labels):
    indices = partitions.internal_indices(X, labels, noise="cluster", n_neighbors=1)
    return indices["calinski_harabasz"]


@in_place_of(their_partitions.pair_confusion_matrix)
def pair_confusion_matrix(labels_true, labels_pred):
    pairs = partitions.pair_counts(labels_true, labels_pred)
    ordered = [[pairs["neither"], pairs["pred_only"]], [pairs["true_only"], pairs["both"]]]
    return 2 * np.array(ordered)


@in_place_of(their_partitions.rand_score)
def rand_score(labels_true, labels_pred):
    return partitions.external_indices(labels_true, labels_pred)["rand"]


@in_place_of(their_partitions.adjusted_rand_score)
def adjusted_rand_score(labels_true, labels_pred):
    return partitions.external_indices(labels_true, labels_pred)["adjusted_rand"]


@in_place_of(their_partitions.fowlkes_mallows_score)
def fowlkes_mallows_score(labels_true, labels_pred, **options):
    return partitions.fowlkes_mallows_score(labels_true, labels_pred)


PARTITIONS = {
    function.__name__: function
    for function in (
        silhouette_samples,
        silhouette_score,
        davies_bouldin_index,
        calinski_harabasz_score,
        pair_confusion_matrix,
        rand_score,
        adjusted_rand_score,
        fowlkes_mallows_score,
    )
}


@in_place_of(theirs.zero_one_loss)
def zero_one_loss(y_true, y_pred, *, normalize=True, sample_weight=None):
    if not normalize:
        return theirs.zero_one_loss(y_true, y_pred, normalize=False, sample_weight=sample_weight)
    return metrics.error_rate(y_true, y_pred, sample_weight=sample_weight)


def pooled(their_function):
    """Our micro F in the place of theirs, for the calls that ask for it."""

    @in_place_of(their_function)
    def score(y_true, y_pred, *, average="binary", pos_label=1, **options):
        if average != "micro":
            return their_function(y_true, y_pred, average=average, pos_label=pos_label, **options)
        return metrics.micro_fbeta_score(y_true, y_pred, **({"beta": 1.0} | options))

    return score


@in_place_of(theirs.precision_recall_fscore_support)
def precision_recall_fscore_support(y_true, y_pred, *, average=None, **options):
    if average != "micro":
        return theirs.precision_recall_fscore_support(y_true, y_pred, average=average, **options)
    kept = {name: value for name, value in options.items() if name not in ("pos_label", "warn_for")}
    return (
        *metrics.averaged_precision_recall_fscore(y_true, y_pred, average="micro", **kept),
        None,
    )


@in_place_of(theirs.roc_auc_score)
def roc_auc_score(y_true, y_score, *, sample_weight=None, **options):
    two_classes = type_of_target(y_true) == "binary" and np.ndim(y_score) == 1
    if not two_classes or options.get("max_fpr") not in (None, 1):
        return theirs.roc_auc_score(y_true, y_score, sample_weight=sample_weight, **options)
    positive = np.unique(y_true)[-1]
    return 1 - metrics.ranking_loss(
        y_true, y_score, pos_label=positive, sample_weight=sample_weight
    )


CLASSES = {
    "zero_one_loss": zero_one_loss,
    "precision_recall_fscore_support": precision_recall_fscore_support,
    "f1_score": pooled(theirs.f1_score),
    "fbeta_score": pooled(theirs.fbeta_score),
}
SCORES = {"roc_auc_score": roc_auc_score}


@in_place_of(model_selection.permutation_test_score)
def permutation_test_score(
    estimator, X, y, *, cv=None, n_permutations=100, random_state=0, params=None, **options
):
    cv = check_cv(cv, y, classifier=is_classifier(estimator))
    given = {} if params is None else {"params": params}
    result = permutation_test(
        estimator,
        X,
        y,
        cv=cv,
        n_permutations=n_permutations,
        random_state=random_state,
        **given,
        **options,
    )
    return result.statistic, result.null_distribution, result.pvalue


PERMUTATION = {"permutation_test_score": permutation_test_score}

THEIR_SCORERS = {"get_scorer": theirs.get_scorer, "get_scorer_names": theirs.get_scorer_names}


def looking_theirs_up(function):
    """Ours finds the scorers of scikit-learn where it exports them, as the tests find ours."""

    @wraps(function)
    def call(*args, **options):
        with patch.multiple(theirs, **THEIR_SCORERS):
            return function(*args, **options)

    return call


SCORERS = {name: looking_theirs_up(getattr(metrics, name)) for name in THEIR_SCORERS}


class GroupShuffleSplit(BootstrapSplit):
    """A bootstrap has no sizes to set: those that the tests give are not used."""

    def __init__(self, n_splits=5, *, test_size=None, train_size=None, random_state=None):
        super().__init__(n_splits, random_state=random_state)


SPLITTERS = {"GroupShuffleSplit": GroupShuffleSplit}
