"""Every public name, in the family of those that take the same kind of data.

A family maps a name to a function of its data alone: options that a call cannot do without are
bound here, so that a property is written once for each family. Names that scikit-learn defines
and skeval hands on are in REEXPORTED as well: what they do with bad data is not ours.
"""

import importlib
import inspect
from functools import partial

import numpy as np
from helpers.public_modules import MODULES
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import KMeans
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_array

from skeval import cluster, datasets, feature_selection, metrics, model_selection, report, svm
from skeval.metrics import cluster as partitions


def with_options_of(function):
    """Say whose options a function of data hands on, and so whose arguments its errors name."""

    def mark(wrapper):
        wrapper.options_of = function
        return wrapper

    return mark


def named(module, names):
    return {name: getattr(module, name) for name in names.split()}


# (y_true, y_pred): class labels
CLASSES = {
    **named(metrics, "error_rate accuracy_score confusion_matrix averaged_precision_recall_fscore"),
    **named(metrics, "macro_fbeta_score micro_fbeta_score precision_recall_fscore_support"),
    "weighted_fbeta_score": partial(metrics.weighted_fbeta_score),
    "cost_sensitive_error": partial(metrics.cost_sensitive_error, cost_matrix=1 - np.eye(3)),
    "f1_score": partial(metrics.f1_score, average="macro"),
    "fbeta_score": partial(metrics.fbeta_score, beta=2.0, average="macro"),
    "precision_score": partial(metrics.precision_score, average="macro"),
    "recall_score": partial(metrics.recall_score, average="macro"),
    **{
        name: partial(getattr(metrics, name), pos_label=1)
        for name in ("sensitivity_score", "specificity_score", "ppv_score", "npv_score")
    },
    "holdout_error": model_selection.holdout_error,
    "evaluate_predictions": partial(report.evaluate_predictions, kind="labels", random_state=0),
    "compare_predictions": with_options_of(model_selection.compare_predictions)(
        lambda y_true, y_pred, **options: model_selection.compare_predictions(
            y_true, [y_pred, y_true], **{"n_resamples": 20, "random_state": 0} | options
        )
    ),
    "metric_interval": partial(
        model_selection.metric_interval, metrics.macro_fbeta_score, n_resamples=100, random_state=0
    ),
}
# (y_true, y_pred): numbers
NUMBERS = {
    **named(metrics, "error_norm mean_absolute_error mean_squared_error root_mean_squared_error")
}
# (y_true, y_score): two classes and what ranks them
SCORES = {
    **named(metrics, "break_even_point ranking_loss expected_cost cost_curve roc_auc_score"),
    **named(metrics, "precision_at_k"),
    **named(metrics, "average_precision_score precision_recall_curve roc_curve"),
    **named(metrics, "reliability_curve expected_calibration_error score_decomposition"),
    "net_benefit": metrics.net_benefit,
    "threshold_measures": partial(
        model_selection.threshold_measures, n_resamples=20, random_state=0
    ),
    "calibration_measures": partial(metrics.calibration_measures, random_state=0),
    **{
        name: partial(getattr(metrics, name), n_resamples=5, n_points=5, random_state=0)
        for name in ("cost_curve_band", "roc_curve_band", "precision_recall_curve_band")
    },
}
# (labels_true, labels_pred): two partitions
PARTITIONS = named(
    partitions,
    "purity_score inverse_purity_score class_f_measure pair_precision_recall_fscore "
    "pair_fbeta_score pair_jaccard_score fowlkes_mallows_score minkowski_score pair_counts "
    "external_indices adjusted_rand_score rand_score contingency_matrix pair_confusion_matrix "
    "homogeneity_score completeness_score v_measure_score normalized_mutual_info_score "
    "adjusted_mutual_info_score",
)
# (labels,): one partition
PARTITION = {"coassociation_matrix": partial(partitions.coassociation_matrix, sparse_output=False)}
# (X, labels): a partition of points
CLUSTERED = {
    **named(partitions, "silhouette_samples silhouette_score dunn_score davies_bouldin_index"),
    **named(partitions, "compactness_score"),
    **named(partitions, "within_cluster_distances between_cluster_distances centroid_distances"),
    **named(
        partitions,
        "mst_compactness internal_indices dbcv_score calinski_harabasz_score davies_bouldin_score",
    ),
    "connectivity_score": partial(partitions.connectivity_score, n_neighbors=3),
    "compare_clusterings": with_options_of(cluster.compare_clusterings)(
        lambda X, labels, **options: cluster.compare_clusterings(X, {"one": labels}, **options)
    ),
}
# (texts, texts)
TEXTS = {
    **named(metrics, "bleu_score log_bleu_score"),
    "sentence_bleu_score": partial(metrics.sentence_bleu_score, smoothing="exp"),
}
# (curve, curve) and (x, y)
CURVES = {
    "curve_dominance": metrics.curve_dominance,
    "auc": lambda curve_a, curve_b: metrics.auc(*curve_a[:2]),
}
# (masks_true, masks_pred)
MASKS = named(partitions, "mask_rand_score mask_adjusted_rand_score")


def as_confusion_matrix(table):
    """Return a square table of numbers >= 0 from a table of numbers, and all else unchanged."""
    if np.ndim(table) != 2 or np.asarray(table).dtype.kind not in "biuf":
        return table
    return np.abs(table).T @ np.abs(table)


# (table of numbers,)
TABLES = {
    "selection_stability": feature_selection.selection_stability,
    "compare_scores": partial(model_selection.compare_scores, over="datasets", random_state=0),
    "pareto_dominance": partial(cluster.pareto_dominance, greater_is_better=True),
    "matrices_precision_recall_fscore": with_options_of(metrics.matrices_precision_recall_fscore)(
        lambda table, **options: metrics.matrices_precision_recall_fscore(
            [as_confusion_matrix(table)], **options
        )
    ),
}


# (scores,): of one candidate, and of the candidates of a search
VECTORS = {
    "score_632": with_options_of(model_selection.score_632)(
        lambda scores, **options: model_selection.score_632(
            {"test_score": scores, "estimator": [DummyClassifier()]},
            np.eye(4),
            [0, 1] * 2,
            **options,
        )
    )
}


def as_search(scores):
    """Return the table of a search with two splits, of the same scores."""
    params = [{} for _ in range(np.size(scores))]
    return {"split0_test_score": scores, "split1_test_score": scores, "params": params}


for rule in (model_selection.tuning_bias, model_selection.refit_one_se):
    VECTORS[rule.__name__] = with_options_of(rule)(
        lambda scores, rule=rule, **options: rule(as_search(scores), **options)
    )
# numbers and names only
OPTIONS = {
    **named(metrics, "probability_cost get_scorer get_scorer_names"),
    **named(model_selection, "holdout_size BootstrapSplit GroupTimeSeriesSplit WholeSample"),
    "make_gaussian_classes": datasets.make_gaussian_classes,
}
# functions of numbers
FUNCTIONS = {
    "expected_loss": with_options_of(metrics.expected_loss)(
        lambda predict, target, **options: metrics.expected_loss(predict, target, norm(), **options)
    )
}

# A tree grows on float32 copies, so that no representation of small whole numbers changes it.
TREE = DecisionTreeClassifier(max_depth=2, random_state=0)
STUMP = DecisionTreeClassifier(max_depth=1, random_state=0)


def fitted(estimator):
    """Fit on every sample and return the predictions, the error and the interval."""

    @with_options_of(type(estimator))
    def fit(X, y, **options):
        own = clone(estimator).set_params(**options).fit(X, y)
        found = [own.predict(X)]
        for name in ("cv_error_", "resubstitution_error_", "cv2_error_", "fold_supports_"):
            if hasattr(own, name):
                found.append(np.asarray(getattr(own, name)))
        return found

    return fit


@with_options_of(model_selection.make_bootstrap_scorer)
def bootstrap_scorer(X, y, **options):
    scorer = model_selection.make_bootstrap_scorer(
        **{"n_resamples": 5, "random_state": 0} | options
    )
    return scorer(clone(TREE).fit(X, y), X, y)


@with_options_of(model_selection.make_permutation_scorer)
def permutation_scorer(X, y, **options):
    options = {"n_permutations": 9, "random_state": 0} | options
    return model_selection.make_permutation_scorer("accuracy", **options)(
        clone(TREE).fit(X, y), X, y
    )


@with_options_of(model_selection.make_interval_scorer)
def interval_scorer(X, y, **options):
    options = {"n_repeats": 1, "n_folds": 2, "random_state": 0} | options
    return model_selection.make_interval_scorer(**options)(clone(TREE).fit(X, y), X, y)


class Alternating(ClusterMixin, BaseEstimator):
    """Two clusters, whatever the data: no arithmetic of its own."""

    def fit(self, X, y=None):
        return self

    def predict(self, X):
        return np.arange(check_array(X, accept_sparse=True, input_name="X").shape[0]) % 2


@with_options_of(metrics.make_clustering_scorer)
def clustering_scorer(X, **options):
    scorer = metrics.make_clustering_scorer(partitions.silhouette_score, **options)
    return scorer(Alternating().fit(X), X)


# (X, y): a supervised task; the estimator is bound
SUPERVISED = {
    name: partial(getattr(model_selection, name), TREE, random_state=0, **options)
    for name, options in {
        "cross_val_error": {"cv": 3},
        "bootstrap_error": {"n_resamples": 5},
        "bootstrap_score": {"n_resamples": 5},
        "perturbation_interval": {"n_resamples": 4, "cv": 3},
        "error_interval": {"n_folds": 3, "n_repeats": 2},
        "feature_importance": {"n_folds": 3, "n_repeats": 1, "n_permutations": 1},
        "score_interval": {"n_folds": 3, "n_repeats": 2},
        "learning_curve_band": {"train_sizes": [0.4, 0.6, 0.8, 1.0], "cv": 3, "n_repeats": 2},
        "permutation_test": {"n_permutations": 4, "cv": 3},
    }.items()
} | {
    "resubstitution_error": partial(model_selection.resubstitution_error, TREE),
    "new_site_error": with_options_of(model_selection.new_site_error)(
        lambda X, y, **options: model_selection.new_site_error(
            TREE, X, y, np.arange(len(y)) * 4 // len(y), **options
        )
    ),
    "make_bootstrap_scorer": bootstrap_scorer,
    "make_permutation_scorer": permutation_scorer,
    "make_interval_scorer": interval_scorer,
    "compare_classifiers": partial(
        model_selection.compare_classifiers, [TREE, STUMP], cv=3, random_state=0
    ),
    "tuning_optimism": partial(
        model_selection.tuning_optimism,
        GridSearchCV(TREE, {"max_depth": [1, 2]}, cv=2),
        cv=3,
        random_state=0,
    ),
    "selection_bias": partial(
        feature_selection.selection_bias, SelectKBest(k=1), TREE, cv=3, random_state=0
    ),
    "evaluate": partial(report.evaluate, TREE, cv=3, n_permutations=4, random_state=0),
    "CV2FeatureSelectionPipeline": fitted(
        feature_selection.CV2FeatureSelectionPipeline(SelectKBest(k=1), TREE, cv=3, random_state=0)
    ),
    # libsvm does not stop by itself on data of any scale
    "PerturbationResamplingSVC": fitted(
        svm.PerturbationResamplingSVC(n_resamples=4, cv=3, max_iter=1000, random_state=0)
    ),
}

KMEANS = KMeans(2, n_init=1, max_iter=20)
# (X,): points to be clustered; the clusterer is bound
UNSUPERVISED = {
    "predictive_power": partial(cluster.predictive_power, KMEANS, n_repeats=2, random_state=0),
    "choose_n_clusters": partial(
        cluster.choose_n_clusters, KMEANS, n_clusters=[2, 3], n_repeats=2, random_state=0
    ),
    "cluster_stability": partial(cluster.cluster_stability, KMEANS, n_resamples=2, random_state=0),
    "structure_test": partial(cluster.structure_test, KMEANS, n_references=2, random_state=0),
    "gap_statistic": partial(
        cluster.gap_statistic, KMEANS, n_clusters=[1, 2], n_references=2, random_state=0
    ),
    "evaluate_clusterer": partial(
        report.evaluate_clusterer, KMEANS, n_clusters=[2, 3], n_repeats=2, random_state=0
    ),
    "make_clustering_scorer": clustering_scorer,
}

FAMILIES = {
    "classes": CLASSES,
    "numbers": NUMBERS,
    "scores": SCORES,
    "partitions": PARTITIONS,
    "partition": PARTITION,
    "clustered": CLUSTERED,
    "texts": TEXTS,
    "curves": CURVES,
    "masks": MASKS,
    "tables": TABLES,
    "vectors": VECTORS,
    "options": OPTIONS,
    "functions": FUNCTIONS,
    "supervised": SUPERVISED,
    "unsupervised": UNSUPERVISED,
}


def public_names():
    """Return every public name with what it stands for."""
    modules = map(importlib.import_module, MODULES)
    return {name: getattr(module, name) for module in modules for name in module.__all__}


def is_result(member):
    """Whether a public name is a class that functions return: a result or a display."""
    return inspect.isclass(member) and not (
        hasattr(member, "fit") or hasattr(member, "get_n_splits")
    )


REEXPORTED = {
    name
    for name, member in public_names().items()
    if getattr(member, "__module__", "").startswith("sklearn")
}
