"""Checks name the argument, the rule and the value; seeds repeat; versions of scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.ensemble import IsolationForest
from sklearn.metrics import get_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import skeval
from skeval.cluster import predictive_power
from skeval.metrics.cluster import silhouette_score
from skeval.model_selection import BootstrapSplit, cross_val_error, resubstitution_error
from skeval.utils import _compat


@pytest.mark.parametrize(
    "labels", [[2**53, 2**53 + 1, 0.5], [2**63, 2**63 + 1, -1], [2**70, 2**70 + 1], ["a", 1]]
)
def test_labels_that_one_dtype_would_merge_are_refused(labels):
    of_numbers = r"y must contain only numbers of at most 64 bits"
    with pytest.raises(ValueError, match=of_numbers):
        cross_val_error(GaussianNB(), np.eye(len(labels)), np.array(labels, dtype=object))


@pytest.mark.parametrize(
    "make", [lambda: 7, lambda: np.random.RandomState(7), lambda: np.random.default_rng(7)]
)
def test_same_random_state_same_streams(make):
    first, second = (
        [train.tolist() for train, _ in BootstrapSplit(3, random_state=make()).split(np.eye(20))]
        for _ in range(2)
    )
    assert first == second
    assert first[0] != first[1] != first[2]


def test_small_seed_of_an_int_is_the_int():
    def seed_of(random_state):
        y, predicted = [0, 1] * 9, [0, 1, 1] * 6
        return skeval.evaluate_predictions(y, predicted, random_state=random_state).seed

    assert [seed_of(seed) for seed in (0, 7, np.int64(2**32 - 1))] == [0, 7, 2**32 - 1]
    large = seed_of(2**40)
    assert large == seed_of(2**40) < 2**32
    assert seed_of(np.random.default_rng(3)) == seed_of(np.random.default_rng(3))
    assert seed_of(None) != seed_of(None)
    with pytest.raises(ValueError, match="random_state must be >= 0, got -1"):
        seed_of(-1)


@pytest.mark.parametrize(
    "y",
    [
        np.arange(60),
        [f"{1000 + 7 * i:,}" for i in range(60)],
        np.arange(300) // 4,
        np.r_[np.arange(40), np.full(500, 99)],
    ],
)
def test_about_as_many_classes_as_samples_are_refused(y):
    with pytest.raises(
        ValueError, match=r"y must contain at least 5 samples of each class .*, got"
    ):
        resubstitution_error(GaussianNB(), one_column(y), np.asarray(y))


def one_column(y):
    """Return a column of different numbers, one for each of the labels."""
    return np.arange(float(len(y)))[:, None]


@pytest.mark.parametrize("y", [[0, 0, 1, 1], np.arange(200) // 5, np.arange(12) // 2])
def test_few_samples_of_few_classes_are_none_too_many(y):
    found = resubstitution_error(GaussianNB(), one_column(y), np.asarray(y))
    assert 0 <= found.value < 1


def test_numbers_are_no_classes():
    y = np.array([1.0, 0.5, 2.0])
    with pytest.raises(ValueError, match=r"got the number 0\.5[.] Use a regressor"):
        resubstitution_error(GaussianNB(), one_column(y), y)


def test_the_order_of_arguments_is_named():
    clusterer, X = KMeans(2, n_init=1, random_state=0), np.arange(12.0).reshape(6, 2)
    options = {"n_repeats": 2, "random_state": 0}
    by_place = predictive_power(clusterer, X, **options).value
    assert by_place == predictive_power(clusterer=clusterer, X=X, **options).value
    call = r"predictive_power\(clusterer, X\)"
    with pytest.raises(TypeError, match=rf"the call must be {call}, .* too many"):
        predictive_power(clusterer, X, 3)
    with pytest.raises(TypeError, match="multiple values for argument 'clusterer'"):
        predictive_power(X, clusterer=1)
    with pytest.raises(TypeError, match=rf"the order of arguments must be {call}, go"):
        predictive_power(X, clusterer)
    with pytest.raises(TypeError, match=r"^X must be a table of features"):
        predictive_power(clusterer, {})


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (KMeans(), "got the clusterer KMeans. Use skeval.evaluate_clusterer"),
        (IsolationForest(), "got the outlier detector IsolationForest. Pass its scores"),
    ],
)
def test_estimators_without_a_target(estimator, message):
    with pytest.raises(TypeError, match=message):
        resubstitution_error(estimator, np.eye(6), np.arange(6) % 2)


def test_a_vector_and_a_table_look_swapped():
    with pytest.raises(ValueError, match=r"X and y look swapped.*\(estimator, X, y\)"):
        cross_val_error(GaussianNB(), np.arange(6) % 2, np.eye(6))


def test_a_clusterer_is_no_array_of_labels():
    with pytest.raises(TypeError, match=r"labels must be an array, got KMeans. Pass the labels"):
        silhouette_score(np.eye(6), KMeans(2))


def test_groups_need_a_column():
    with pytest.raises(
        ValueError, match=r"groups must have at least one column, got shape \(6, 0\)"
    ):
        cross_val_error(GaussianNB(), np.eye(6), np.arange(6) % 2, groups=np.empty((6, 0)))


def test_names_instead_of_data_are_refused():
    X, y = pd.DataFrame({"a": range(20), "b": range(20)}), np.arange(20) % 2
    with pytest.raises(TypeError, match=r"y must contain the label .* pass frame\['b'\] as y, and"):
        skeval.evaluate(KNeighborsClassifier(), X, "b")
    with pytest.raises(TypeError, match=r"X must be a table of features, got the string 'a.csv'"):
        skeval.evaluate(KNeighborsClassifier(), "a.csv", y)


def test_none_follows_the_global_seed_as_in_scikit_learn():
    from skeval.model_selection import permutation_test

    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    results = []
    for seed in (0, 0, 1):
        np.random.seed(seed)  # noqa: NPY002
        results.append(permutation_test(GaussianNB(), X, y, cv=3, n_permutations=20))
        results.append(permutation_test(GaussianNB(), X, y, cv=3, n_permutations=20))
    scores = [result.null_distribution.tolist() for result in results]
    assert scores[0] == scores[2] != scores[4]
    assert scores[1] == scores[3] != scores[0]


class Without:
    """An object like another one that lacks some attributes, as in another version."""

    def __init__(self, inner, *names):
        self.inner, self.names = inner, names

    def __getattr__(self, name):
        if name in self.names:
            raise AttributeError(name)
        return getattr(self.inner, name)


@pytest.mark.parametrize("missing", ["_parameter_constraints", "_validate_params"])
def test_parameters_that_cannot_be_validated_are_left_to_fit(missing):
    assert _compat.has_valid_params(Without(SVC(C=-1.0), missing))
    assert not _compat.has_valid_params(SVC(C=-1.0))


@pytest.mark.parametrize("missing", ["_score_func", "_kwargs", "_sign", "_response_method"])
def test_a_scorer_without_its_parts_is_not_read(missing, monkeypatch):
    scorer = get_scorer("roc_auc")
    assert _compat.is_plain_scorer(scorer)
    monkeypatch.delattr(scorer, missing)
    assert not _compat.is_plain_scorer(scorer)
