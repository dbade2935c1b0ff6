"""BootstrapSplit inside scikit-learn, score_632 and refit_632."""

import pickle
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from skeval.model_selection import (
    BootstrapSplit,
    bootstrap_error,
    make_bootstrap_scorer,
    refit_632,
    score_632,
)


def test_cross_validate_and_score_632_give_the_bootstrap_estimate(cancer):
    cv = BootstrapSplit(25, include_resubstitution=True, random_state=2)
    scores = cross_validate(GaussianNB(), *cancer, cv=cv)["test_score"]
    assert len(scores) == cv.get_n_splits() == 26
    result = bootstrap_error(
        GaussianNB(), *cancer, method=".632", n_resamples=25, average="bootstraps", random_state=2
    )
    assert scores[0] == pytest.approx(1 - result.details["resubstitution"])
    np.testing.assert_allclose(1 - scores[1:], result.replicates)
    assert score_632(scores, cv=cv) == pytest.approx(1 - result.value)


def with_resubstitution(n_splits):
    return BootstrapSplit(n_splits, include_resubstitution=True)


def test_score_632_by_hand():
    assert score_632([1.0, 0.5, 0.7], cv=with_resubstitution(2)) == pytest.approx(
        0.368 + 0.632 * 0.6
    )
    assert isinstance(score_632((1, 0), cv=with_resubstitution(1)), float)


def test_scores_without_the_resubstitution_score_are_refused(cancer):
    cv = BootstrapSplit(25, random_state=2)
    scores = cross_validate(GaussianNB(), *cancer, cv=cv)["test_score"]
    with pytest.raises(ValueError, match=r"first .* has to be the resubstitution score; got Boo"):
        score_632(scores, cv=cv)
    with pytest.raises(ValueError, match=r"there are 25; it makes 26"):
        score_632(scores, cv=with_resubstitution(25))
    with pytest.raises(ValueError, match=r"got 5\."):
        score_632(scores, cv=5)
    grid = {"n_neighbors": [1, 5]}
    search = GridSearchCV(KNeighborsClassifier(), grid, cv=cv, refit=partial(refit_632, cv=cv))
    with pytest.raises(ValueError, match="has to be the resubstitution score"):
        search.fit(*cancer)


def test_splits_are_resamples(cancer):
    X, y = cancer
    splits = list(BootstrapSplit(10, random_state=0).split(X, y))
    assert len(splits) == 10
    for train, test in splits:
        assert len(train) == len(y)
        assert sorted({*train, *test}) == list(range(len(y)))
        assert not set(train) & set(test)
        assert len(set(y[train])) == 2
    first = next(iter(BootstrapSplit(10, include_resubstitution=True).split(X, y)))
    assert [part.tolist() for part in first] == [list(range(len(y)))] * 2


def test_grid_search_picks_the_best_632(cancer):
    grid = {"n_neighbors": [1, 5, 25]}
    cv = BootstrapSplit(15, include_resubstitution=True, random_state=0)
    search = GridSearchCV(KNeighborsClassifier(), grid, cv=cv, refit=partial(refit_632, cv=cv))
    search.fit(*cancer)
    by_hand = [
        score_632(cross_validate(KNeighborsClassifier(k), *cancer, cv=cv)["test_score"], cv=cv)
        for k in grid["n_neighbors"]
    ]
    assert len(set(by_hand)) == 3
    assert search.best_index_ == np.argmax(by_hand)
    # the mean over all splits prefers no other weight than 1/16 for the resubstitution score
    assert search.best_params_ == {"n_neighbors": grid["n_neighbors"][np.argmax(by_hand)]}


def test_weights_of_the_two_parts_decide():
    results = {
        "split0_test_score": [1.0, 0.0, 0.5],
        "split1_test_score": [0.3, 0.9, 0.5],
        "split2_test_score": [0.3, 0.9, 0.5],
    }
    assert refit_632(results, cv=with_resubstitution(2)) == 1  # 0.5576, 0.5688, 0.5
    results["split0_test_score"] = [1.0, -0.05, 0.5]
    assert refit_632(results, cv=with_resubstitution(2)) == 0
    results["split1_test_score"] = [np.nan, 0.9, 0.5]
    assert refit_632(results, cv=with_resubstitution(2)) == 1


def test_several_metrics(cancer):
    cv = BootstrapSplit(8, include_resubstitution=True, random_state=0)
    search = GridSearchCV(
        KNeighborsClassifier(),
        {"n_neighbors": [1, 25]},
        cv=cv,
        scoring=["accuracy", "neg_log_loss"],
        refit=partial(refit_632, cv=cv, metric="neg_log_loss"),
    ).fit(*cancer)
    # one neighbour is certain and wrong now and then
    assert search.best_params_ == {"n_neighbors": 25}
    assert refit_632(search.cv_results_, cv=cv, metric="accuracy") == 0


def test_regression_target_of_whole_numbers_is_no_set_of_classes():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:60], y[:60]
    assert np.all(y == np.floor(y))
    assert min(np.unique(y, return_counts=True)[1]) == 1
    cv = BootstrapSplit(5, include_resubstitution=True, random_state=0)
    scores = cross_validate(Ridge(), X, y, cv=cv, scoring="neg_mean_squared_error")["test_score"]
    result = bootstrap_error(
        Ridge(), X, y, method=".632", n_resamples=5, random_state=0, average="bootstraps"
    )
    assert score_632(scores, cv=cv) == pytest.approx(-result.value)


@pytest.mark.parametrize("y", [None, np.eye(12)[:, :3], np.linspace(0, 1, 12)])
def test_targets_without_classes(y):
    splits = list(BootstrapSplit(4, random_state=0).split(np.zeros((12, 1)), y))
    assert all(len(train) == 12 for train, _ in splits)


def test_repr_pickle_and_seed():
    cv = BootstrapSplit(3, stratify=True, random_state=1)
    expected = (
        "BootstrapSplit(n_splits=3, stratify=True, include_resubstitution=False, random_state=1)"
    )
    assert repr(cv) == expected
    X, y = np.zeros((10, 1)), np.repeat([0, 1], 5)

    def trains(split):
        return [train.tolist() for train, _ in split.split(X, y)]

    assert trains(cv) == trains(cv) == trains(pickle.loads(pickle.dumps(cv)))
    assert trains(BootstrapSplit(3)) != trains(BootstrapSplit(3))
    moving = BootstrapSplit(3, random_state=np.random.RandomState(0))
    assert trains(moving) != trains(moving)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BootstrapSplit(0), "n_splits must be an integer >= 1, got 0"),
        (lambda: BootstrapSplit(2.0), r"n_splits must be an integer >= 1, got 2\.0"),
        (
            lambda: next(BootstrapSplit(stratify=True).split(np.zeros((4, 1)), [0.1, 0.2, 0.3, 1])),
            "stratify=True needs class labels in y",
        ),
        (
            lambda: next(BootstrapSplit(stratify=True).split(np.zeros((4, 1)), list("aaab"))),
            "y must hold at least 2 members of each class for a bootstrap, class 'b' has 1",
        ),
        (
            lambda: next(
                BootstrapSplit(stratify=True).split(np.zeros((4, 1)), [0, 0, 1, 1], list("abab"))
            ),
            "stratify=True cannot be combined with groups",
        ),
        (
            lambda: next(BootstrapSplit().split(np.zeros((4, 1)), [0, 0, 1, 1], list("aaaa"))),
            "groups must hold at least two groups, got one: 'a'",
        ),
        (
            lambda: next(BootstrapSplit().split(np.zeros((1, 1)), [0])),
            "X must hold at least 2 samples for a bootstrap, got 1",
        ),
        (lambda: score_632([0.5], cv=with_resubstitution(1)), "there are 1; it makes 2"),
        (
            lambda: score_632([[0.5, 1]], cv=with_resubstitution(1)),
            r"scores must be a vector, got shape \(1, 2\)",
        ),
        (lambda: score_632([0.5, np.nan], cv=with_resubstitution(1)), "scores contains NaN"),
        (lambda: refit_632({}, cv=with_resubstitution(1)), "split scores of the metric 'score'"),
        (
            lambda: refit_632(
                {f"split{i}_test_score": [np.nan] for i in range(2)}, cv=with_resubstitution(1)
            ),
            "no candidate whose 'score' is a number",
        ),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y": [0, 1]}, "X and y must have the same length, got 6 and 2"),
        ({"groups": [0, 1]}, "X and groups must have the same length, got 6 and 2"),
        ({"y": [np.nan, 1, 2, 3, 4, 5]}, "y contains NaN"),
        ({"groups": [np.nan, 1, 1, 2, 2, 3]}, "groups must name .*, 1 of 6 are missing"),
        ({"groups": [None, "a", "a", "b", "b", None]}, "groups must name .*, 2 of 6 are"),
    ],
)
def test_bad_labels_and_groups(given, message):
    with pytest.raises(ValueError, match=message):
        list(BootstrapSplit(2, random_state=0).split(np.ones((6, 1)), **given))


@pytest.mark.parametrize("several", [False, True])
def test_a_search_by_the_bootstrap_scorer_keeps_its_best_score(cancer, several):
    """It is the estimate of the best candidate, and all candidates see the same resamples."""
    X, y = cancer
    scorer = pickle.loads(pickle.dumps(make_bootstrap_scorer(n_resamples=12, random_state=3)))
    scoring = {"plus": scorer, "accuracy": "accuracy"} if several else scorer
    everything = np.arange(len(y))
    search = GridSearchCV(
        KNeighborsClassifier(),
        {"n_neighbors": [1, 5, 25]},
        scoring=scoring,
        refit="plus" if several else True,
        cv=[(everything, everything)],
    ).fit(X, y)
    expected = [
        1 - bootstrap_error(KNeighborsClassifier(k), X, y, n_resamples=12, random_state=3).value
        for k in (1, 5, 25)
    ]
    found = search.cv_results_["mean_test_plus" if several else "mean_test_score"]
    assert found.tolist() == pytest.approx(expected)
    assert search.best_index_ == np.argmax(expected)
    assert search.best_score_ == pytest.approx(max(expected))


def test_the_bootstrap_scorer_draws_its_seed_once_and_turns_losses():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:60], y[:60]
    scorer = make_bootstrap_scorer(".632", n_resamples=5)
    assert scorer(Ridge(), X, y) == scorer(Ridge(), X, y) < 0
    options = {"n_resamples": 5, "random_state": scorer.random_state}
    assert scorer(Ridge(), X, y) == -bootstrap_error(Ridge(), X, y, method=".632", **options).value
    with pytest.raises(ValueError, match=r"method must be one of .*; got '633'"):
        make_bootstrap_scorer("633")
