"""Every metric as a scorer, and scorers of clusterings."""

import pickle
import re
from functools import partial

import numpy as np
import pytest
from helpers.crossed import each_value
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin, RegressorMixin
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris, make_blobs, make_classification
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import davies_bouldin_score, make_scorer, roc_auc_score, silhouette_score
from sklearn.metrics import get_scorer as sklearn_get_scorer
from sklearn.metrics import get_scorer_names as sklearn_scorer_names
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import skeval
from skeval import model_selection
from skeval.cluster import compare_clusterings
from skeval.metrics import get_scorer, get_scorer_names, make_clustering_scorer
from skeval.metrics._scorers import SCORERS
from skeval.model_selection import metric_interval


class Parrot(BaseEstimator):
    """Translates by dropping the last `drop` words."""

    def __init__(self, drop=0):
        self.drop = drop

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return [" ".join(row[0].split()[: len(row[0].split()) - self.drop]) for row in X]


class Limits(RegressorMixin, BaseEstimator):
    """Predicts limits around the mean."""

    def __init__(self, width=1.0):
        self.width = width

    def fit(self, X, y):
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full((len(X), 2), self.mean_) + [-self.width, self.width]


class Sets(ClassifierMixin, BaseEstimator):
    """Predicts the set of the classes whose probability exceeds a level."""

    def __init__(self, level=0.5):
        self.level = level

    def fit(self, X, y):
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict_proba(X) > self.level


def numbers():
    return classes()[0]


def classes():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["set", "ver", "vir"])[y]


def two_classes():
    X, y = load_iris(return_X_y=True)
    return X[50:], np.where(y[50:] == 1, "ver", "vir")


def texts():
    rng = np.random.default_rng(0)
    text = [" ".join(f"w{w}" for w in rng.integers(0, 9, size=9)) for _ in range(12)]
    return np.array(text, dtype=object)[:, None], [[t] for t in text]


def blobs():
    return make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)


COSTS = 1.0 - np.eye(3)
C = {"C": [0.02, 1.0]}
KMEANS = KMeans(n_init=2, random_state=0)
MERGED, SPLIT = {"n_clusters": [2, 3]}, {"n_clusters": [8, 3]}
# name -> (arguments, estimator, grid, data)
CASES = {
    "bleu": ({}, Parrot(), {"drop": [3, 0]}, texts),
    "break_even_point": ({"pos_label": "vir"}, LogisticRegression(max_iter=500), C, two_classes),
    "log_bleu": ({}, Parrot(), {"drop": [3, 0]}, texts),
    "macro_fbeta": ({"beta": 2.0}, LogisticRegression(max_iter=500), C, classes),
    "micro_fbeta": ({}, LogisticRegression(max_iter=500), C, classes),
    "neg_cost_sensitive_error": (
        {"cost_matrix": COSTS, "labels": ["set", "ver", "vir"]},
        LogisticRegression(max_iter=500),
        C,
        classes,
    ),
    "neg_error_norm": ({"ord": 1}, Ridge(), {"alpha": [1e6, 1.0]}, lambda: (classes()[0],) * 2),
    "neg_error_rate": ({}, LogisticRegression(max_iter=500), C, classes),
    "neg_expected_cost": ({"pos_label": "ver"}, LogisticRegression(max_iter=500), C, two_classes),
    **{
        name: ({"pos_label": "ver"}, LogisticRegression(max_iter=500), C, two_classes)
        for name in ("ks_statistic", "lift_at_k", "precision_at_k", "recall_at_k")
    },
    "neg_ranking_loss": ({"pos_label": "ver"}, LogisticRegression(max_iter=500), C, two_classes),
    **{
        name: ({"pos_label": "vir"}, LogisticRegression(max_iter=500), C, classes)
        for name in ("npv", "ppv", "sensitivity", "specificity")
    },
    "geometric_mean": ({}, LogisticRegression(max_iter=500), C, classes),
    **{
        name: (arguments, Ridge(), {"alpha": [1e6, 1.0]}, lambda: (numbers(), numbers()[:, 0]))
        for name, arguments in {"neg_smape": {}, "neg_mase": {"y_train": [1, 2, 4]}}.items()
    },
    **{
        name: (arguments, Limits(), {"width": width}, lambda: (numbers(), numbers()[:, 0]))
        for name, arguments, width in (
            ("interval_coverage", {}, [0.1, 1.0]),
            ("neg_winkler_loss", {"confidence_level": 0.9}, [9.0, 1.0]),
            ("neg_mean_quantile_loss", {"quantiles": [0.05, 0.95]}, [9.0, 1.0]),
        )
    },
    **{
        name: ({"labels": ["set", "ver", "vir"]}, Sets(), {"level": levels}, classes)
        for name, levels in (("set_coverage", [0.9, 0.01]), ("neg_mean_set_size", [0.01, 0.9]))
    },
    "weighted_fbeta": ({}, LogisticRegression(max_iter=500), C, classes),
    "class_f_measure": ({"beta": 2.0}, KMEANS, SPLIT, blobs),
    "fowlkes_mallows": ({}, KMEANS, MERGED, blobs),
    "inverse_purity": ({}, KMEANS, SPLIT, blobs),
    "neg_minkowski": ({}, KMEANS, SPLIT, blobs),
    "pair_fbeta": ({"beta": 0.5}, KMEANS, MERGED, blobs),
    "pair_jaccard": ({}, KMEANS, SPLIT, blobs),
    "purity": ({}, KMEANS, MERGED, blobs),
}
# Internal indices of clusterings: name -> (arguments, grid of KMeans)
INTERNAL = {
    "centroid_separation": ({}, SPLIT),
    "mean_separation": ({"metric": "cityblock"}, SPLIT),
    "min_centroid_separation": ({}, SPLIT),
    "max_centroid_separation": ({}, MERGED),
    "max_separation": ({}, MERGED),
    "min_separation": ({}, SPLIT),
    "neg_diameter": ({"metric": "cityblock"}, MERGED),
    "neg_min_within": ({}, MERGED),
    "neg_mean_within": ({}, MERGED),
    "neg_mst_compactness": ({}, MERGED),
    "dbcv": ({"metric": "sqeuclidean"}, SPLIT),
    "dunn": ({"metric": "cityblock"}, SPLIT),
    "neg_compactness": ({}, MERGED),
    "neg_connectivity": ({"n_neighbors": 3}, SPLIT),
    "neg_davies_bouldin_centroid": ({}, SPLIT),
    "neg_davies_bouldin_pairwise": ({}, SPLIT),
    "neg_sse": ({}, MERGED),
    "neg_within_cluster_variance": ({}, MERGED),
    "silhouette": ({}, SPLIT),
}


def test_every_scorer_has_a_case():
    assert sorted({**CASES, **INTERNAL}) == sorted(SCORERS)
    assert sorted(INTERNAL) == sorted(n for n, r in SCORERS.items() if r.response == "partition")


@pytest.mark.parametrize("name", SCORERS)
def test_name_says_the_metric_and_its_direction(name):
    row = SCORERS[name]
    metric = name.removeprefix("neg_")
    if isinstance(row.function, partial):  # a form of an index, which has a name of its own
        two = {"a": np.arange(90) % 2, "b": np.arange(90) % 3}
        assert compare_clusterings(in_another_space(), two, indices=[metric]).indices == (metric,)
    else:
        assert row.function.__name__ in (metric, f"{metric}_score")
    assert row.greater_is_better == (not name.startswith("neg_"))


@pytest.mark.parametrize("name", CASES)
def test_search_picks_the_better_model_by_every_metric(name):
    arguments, estimator, grid, data = CASES[name]
    X, y = data()
    by_name = get_scorer(name, **arguments)
    row = SCORERS[name]
    by_hand = make_scorer(
        row.function,
        greater_is_better=row.greater_is_better,
        response_method=row.response,
        **arguments,
    )
    search = GridSearchCV(
        estimator, grid, scoring={"name": by_name, "hand": by_hand}, refit="name", cv=3
    )
    search.fit(X, y)
    mean = search.cv_results_["mean_test_name"]
    np.testing.assert_array_equal(mean, search.cv_results_["mean_test_hand"])
    assert mean[1] >= mean[0]
    if data is not two_classes:
        assert mean[1] > mean[0]  # the ranking of two iris species hardly depends on C
    again = pickle.loads(pickle.dumps(by_name))
    assert again(search.best_estimator_, X, y) == by_name(search.best_estimator_, X, y)


def test_names_hold_both_packages():
    names = get_scorer_names()
    assert names == sorted(set(names))
    assert not set(SCORERS) & set(sklearn_scorer_names())
    assert {"accuracy", "roc_auc", "neg_mean_squared_error"} <= set(names)
    needed = {"neg_cost_sensitive_error", "neg_mase", "neg_mean_quantile_loss"}
    assert set(SCORERS) - set(names) == needed
    for name in names:
        assert callable(get_scorer(name))
    assert get_scorer("roc_auc") == sklearn_get_scorer("roc_auc") or repr(
        get_scorer("roc_auc")
    ) == repr(sklearn_get_scorer("roc_auc"))


def test_bad_names():
    with pytest.raises(
        ValueError, match=r"one of skeval.metrics.get_scorer_names\(\), got 'nonsense'"
    ):
        get_scorer("nonsense")
    with pytest.raises(ValueError, match="must have the argument cost_matrix"):
        get_scorer("neg_cost_sensitive_error")
    with pytest.raises(
        TypeError, match=r"^confidence_leve is not an argument .*'confidence_level'"
    ):
        get_scorer("neg_winkler_loss", confidence_leve=0.9)
    with pytest.raises(ValueError, match=r"scoring='f1' must be passed without arguments"):
        get_scorer(scoring="f1", beta=2)
    scorer = make_scorer(silhouette_score)
    assert get_scorer(scorer) is scorer
    with pytest.raises(TypeError, match="scoring must be a string or a scorer, got 3"):
        get_scorer(3)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("davies_bouldin", "'neg_davies_bouldin_centroid' or 'neg_davies_bouldin_pairwise'"),
        ("dunn_score", "'dunn'"),
        ("silhouette_score", "'silhouette'"),
        ("sse", "'neg_sse'"),
        ("acuracy", "'accuracy'"),
        ("jc", "'pair_jaccard'"),
        ("macro-F1", "'macro_fbeta' or 'f1_macro'"),
        ("linf", "'neg_error_norm' or 'neg_max_error'"),
        ("rank_loss", "'neg_ranking_loss'"),
        ("lift_curve", "'lift_at_k'"),
        ("kolmogorov_smirnov", "'ks_statistic'"),
        ("mean_absolute_scaled_error", "'neg_mase'"),
        ("symmetric_mape", "'neg_smape'"),
        ("mape", "'neg_mean_absolute_percentage_error'"),
        ("winkler_interval_score", "'neg_winkler_loss'"),
        ("classification_coverage_score", "'interval_coverage' or 'set_coverage'"),
        ("prediction_set_size", "'set_coverage' or 'neg_mean_set_size'"),
    ],
)
def test_a_wrong_name_is_answered_with_the_right_one(wrong, right):
    with pytest.raises(ValueError, match=rf"got {wrong!r}. Did you mean {right}"):
        get_scorer(wrong)


ABBREVIATED = """
auc auroc auprc acc mcc mae mse rmse l1 l2 linf tpr fnr tnr fpr f_beta fbeta fscore f_score
f1score logloss cross_entropy pr_auc error f_measure macro_f1 micro_f1 g_mean gmean winkler
coverage picp interval_score set lift ks kolmogorov youden top_k_precision mape symmetric
scaled pinball crps rank_loss bep fmi ari ri jc nmi ami cluster_accuracy clustering_accuracy
rand_index adjusted_rand_index dbi di dunn_index smallest_within largest_within max_within
mean_between min_between smallest_between max_between largest_between
"""


@pytest.mark.parametrize("word", ABBREVIATED.split())
def test_abbreviations_are_answered_by_scorers(word):
    with pytest.raises(ValueError, match=r"Did you mean '\w+'( or '\w+')*\?$") as error:
        get_scorer(word)
    meant = str(error.value).rpartition("Did you mean ")[2]
    assert {*re.findall(r"'(\w+)'", meant)} <= {*get_scorer_names(), *SCORERS}


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("predictive_power", r"skeval\.cluster\.predictive_power\(clusterer, X\)"),
        ("equalized_odds_difference", "largest_difference"),
        ("partial_auc", "max_fpr"),
        ("gains_chart", "kind='gains'"),
        ("decision_curve", r"skeval\.metrics\.net_benefit"),
    ],
)
def test_what_is_no_scorer_has_another_place(name, place):
    with pytest.raises(ValueError, match=place):
        get_scorer(name)
    with pytest.raises(ValueError, match=place):
        metric_interval(name, [0, 1], [0, 1])


def test_a_name_that_needs_an_argument_says_so():
    for name in ("mase", "neg_mase"):
        with pytest.raises(
            ValueError, match=r"must have the argument y_train.*get_scorer\('neg_mase'"
        ):
            metric_interval(name, [1.0, 2.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="Did you mean 'mase'"):
        metric_interval("scaled", [1.0, 2.0], [1.0, 2.0])


class OnlyLabels(ClusterMixin, BaseEstimator):
    """A clusterer with neither predict nor fit_predict."""

    fit_predict = property()

    def fit(self, X, y=None):
        self.labels_ = np.arange(len(X)) % 2
        return self


BLOBS = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)[0]


def test_kinds_of_clusterer():
    scorer = make_clustering_scorer(silhouette_score)
    model = KMeans(3, n_init=1, random_state=0).fit(BLOBS[:60])
    assert scorer(model, BLOBS) == silhouette_score(BLOBS, model.predict(BLOBS))
    assert scorer(OnlyLabels(), BLOBS) == silhouette_score(BLOBS, np.arange(90) % 2)
    assert type(scorer(model, BLOBS, None)) is float


def test_arguments_reach_the_index_and_survive_pickling():
    scorer = make_clustering_scorer(silhouette_score, metric="cityblock")
    model = KMeans(3, n_init=1, random_state=0).fit(BLOBS)
    expected = silhouette_score(BLOBS, model.labels_, metric="cityblock")
    assert pickle.loads(pickle.dumps(scorer))(model, BLOBS) == expected
    assert repr(scorer) == (
        "make_clustering_scorer(silhouette_score, greater_is_better=True, undefined='nan', "
        "space='transformed', metric='cityblock')"
    )


def test_undefined_policies():
    everything_is_noise = DBSCAN(eps=1e-9, min_samples=5)
    one_cluster_and_noise = DBSCAN(eps=1.0, min_samples=25)
    with pytest.warns(
        UndefinedMetricWarning, match="at least two clusters, not counting noise, got 0"
    ):
        assert np.isnan(make_clustering_scorer(silhouette_score)(everything_is_noise, BLOBS))
    shifted = np.vstack([BLOBS[:30] * 0.1, [[50.0, 50.0]]])
    with pytest.warns(UndefinedMetricWarning, match="got 1"):
        assert np.isnan(make_clustering_scorer(silhouette_score)(one_cluster_and_noise, shifted))
    with pytest.raises(ValueError, match="at least two clusters, not counting noise, got 0"):
        make_clustering_scorer(silhouette_score, undefined="raise")(everything_is_noise, BLOBS)
    worst = make_clustering_scorer(davies_bouldin_score, greater_is_better=False, undefined=-99)
    assert worst(everything_is_noise, BLOBS) == -99.0
    singletons = AgglomerativeClustering(n_clusters=90)  # silhouette refuses n clusters
    with pytest.warns(UndefinedMetricWarning, match="Number of labels is 90"):
        assert np.isnan(make_clustering_scorer(silhouette_score)(singletons, BLOBS))


def test_undefined_candidates_rank_last_in_a_search():
    everything = [(np.arange(90), np.arange(90))]
    scorer = make_clustering_scorer(silhouette_score)
    search = GridSearchCV(DBSCAN(), {"eps": [1e-9, 2.0]}, scoring=scorer, cv=everything)
    with (
        pytest.warns(UndefinedMetricWarning),
        pytest.warns(UserWarning, match="One or more of the test scores are non-finite"),
    ):
        search.fit(BLOBS)
    assert search.best_params_ == {"eps": 2.0}


def in_another_space():
    """Three groups in two columns, and a column of a large scale without any."""
    rng = np.random.default_rng(0)
    return np.column_stack([BLOBS, 1e4 * rng.normal(size=len(BLOBS))])


FIRST_TWO = ColumnTransformer([("keep", "passthrough", [0, 1])])
PIPELINES = {
    "k-means": make_pipeline(FIRST_TWO, KMeans(3, n_init=2, random_state=0)),
    "no predict": make_pipeline(FIRST_TWO, AgglomerativeClustering(3)),
    "nested": make_pipeline(FIRST_TWO, make_pipeline(StandardScaler(), AgglomerativeClustering(3))),
    "alone": Pipeline([("cluster", KMeans(3, n_init=2, random_state=0))]),
}


@each_value
@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("index", ["silhouette", "neg_davies_bouldin_pairwise"])
def test_pipelines_are_judged_where_they_cluster(name, index):
    X, model = in_another_space(), PIPELINES[name].fit(in_another_space())
    labels = model.predict(X) if hasattr(model, "predict") else model.fit_predict(X)
    spaces = {"nested": StandardScaler().fit_transform(X[:, :2]), "alone": X}
    row = SCORERS[index]
    sign = 1 if row.greater_is_better else -1
    for space, points in {"transformed": spaces.get(name, X[:, :2]), "input": X}.items():
        expected = sign * row.function(points, labels)
        assert get_scorer(index, space=space)(model, X) == pytest.approx(expected, rel=1e-9)
    assert get_scorer(index)(model, X) == get_scorer(index, space="transformed")(model, X)


TEXTS = np.array(["red apple", "red pear", "green apple", "old car", "new car", "old bus"] * 5)


@pytest.mark.parametrize("undefined", ["nan", "raise", -1.0])
def test_what_fails_for_every_candidate_is_an_error(undefined):
    """Data that an index cannot take are no property of one partition."""
    model = make_pipeline(TfidfVectorizer(), KMeans(2, n_init=2, random_state=0)).fit(TEXTS)
    scorer = get_scorer("silhouette", space="input", undefined=undefined)
    with pytest.raises(ValueError, match="X"):
        scorer(model, TEXTS)
    search = GridSearchCV(
        model, {"kmeans__n_clusters": [2, 3]}, scoring=scorer, cv=3, error_score="raise"
    )
    with pytest.raises(ValueError, match="X"):
        search.fit(TEXTS)


def rank_labels(call, **options):
    """Call a function with an area of predicted labels as its score."""
    X, y = make_classification(60, random_state=0)
    return call(LogisticRegression(), X, y, scoring=make_scorer(roc_auc_score), **options)


@pytest.mark.parametrize(
    ("call", "options"),
    [
        (skeval.evaluate, {"cv": 2}),
        (model_selection.score_interval, {"n_folds": 2}),
        (model_selection.permutation_test, {"n_permutations": 5}),
        (model_selection.bootstrap_score, {"n_resamples": 5}),
    ],
)
def test_a_score_that_ranks_labels_warns(call, options):
    with pytest.warns(UserWarning, match="ranks the labels"):
        rank_labels(call, **options)
