"""BootstrapSplit inside scikit-learn, and score_632."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB

from skeval.model_selection import BootstrapSplit, bootstrap_error, score_632


def run(model, data, n=25, seed=2, **options):
    cv = BootstrapSplit(n, random_state=seed)
    return cross_validate(model, *data, cv=cv, return_estimator=True, **options)


def test_the_mean_is_the_out_of_bag_score_and_score_632_the_estimate(cancer):
    options = {"n_resamples": 25, "average": "bootstraps", "random_state": 2}
    result = bootstrap_error(GaussianNB(), *cancer, method=".632", **options)
    res = run(GaussianNB(), cancer)
    assert res["test_score"].mean() == pytest.approx(1 - result.extra.oob)
    np.testing.assert_allclose(1 - res["test_score"], result.replicates)
    assert score_632(res, *cancer) == pytest.approx(1 - result.value)


def test_score_632_of_several_scores(cancer):
    res = run(GaussianNB(), cancer, scoring=["accuracy", "neg_log_loss"])
    one = run(GaussianNB(), cancer, scoring="neg_log_loss")
    several = score_632(res, *cancer, scoring="neg_log_loss", metric="neg_log_loss")
    assert several == score_632(one, *cancer, scoring="neg_log_loss")
    assert several == score_632(res, *cancer, metric="neg_log_loss")


def test_score_632_fits_with_the_arguments_of_the_fits(cancer):
    X, y = cancer
    params = {"sample_weight": np.linspace(0.1, 9, len(y))}
    res = run(GaussianNB(), cancer, params=params)
    apparent = GaussianNB().fit(X, y, **params).score(X, y)
    expected = 0.368 * apparent + 0.632 * res["test_score"].mean()
    assert score_632(res, X, y, params=params) == pytest.approx(expected)
    assert score_632(res, X, y) != score_632(res, X, y, params=params)


def test_score_632_refuses_folds_without_repeated_samples(cancer):
    options = {"return_estimator": True, "return_indices": True}
    assert score_632(run(GaussianNB(), cancer, return_indices=True), *cancer) > 0.5
    with pytest.raises(ValueError, match=r"results must be from cv=BootstrapSplit\(\)"):
        score_632(cross_validate(GaussianNB(), *cancer, cv=3, **options), *cancer)


def test_splits_are_resamples(cancer):
    X, y = cancer
    splits = list(BootstrapSplit(10, random_state=0).split(X, y))
    assert len(splits) == 10
    for train, test in splits:
        assert len(train) == len(y)
        assert sorted({*train, *test}) == list(range(len(y)))
        assert not set(train) & set(test)
        assert len(set(y[train])) == 2


def test_regression_target_of_whole_numbers_is_no_set_of_classes():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:60], y[:60]
    assert np.all(y == np.floor(y))
    assert min(np.unique(y, return_counts=True)[1]) == 1
    res = run(Ridge(), (X, y), 5, 0, scoring="neg_mean_squared_error")
    result = bootstrap_error(
        Ridge(), X, y, method=".632", n_resamples=5, random_state=0, average="bootstraps"
    )
    found = score_632(res, X, y, scoring="neg_mean_squared_error")
    assert found == pytest.approx(-result.value)


def test_repr_pickle_and_seed():
    cv = BootstrapSplit(3, stratify=True, random_state=1)
    assert repr(cv) == "BootstrapSplit(n_splits=3, stratify=True, random_state=1)"
    X, y = np.zeros((10, 1)), np.repeat([0, 1], 5)

    def trains(split):
        return [train.tolist() for train, _ in split.split(X, y)]

    assert trains(cv) == trains(cv) == trains(pickle.loads(pickle.dumps(cv)))
    assert trains(BootstrapSplit(3)) != trains(BootstrapSplit(3))
    moving = BootstrapSplit(3, random_state=np.random.RandomState(0))
    assert trains(moving) != trains(moving)
