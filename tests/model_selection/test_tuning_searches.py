"""The table of a search: Tibshirani's estimate, the one-standard-error rule."""

from functools import partial

import numpy as np
import pytest
from reference.tuning import one_standard_error, tibshirani
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.neighbors import KNeighborsClassifier

from skeval.model_selection import refit_one_se, tuning_bias

X, Y = (data[::4] for data in load_breast_cancer(return_X_y=True))


def as_results(table, **columns):
    return {f"split{k}_test_score": np.array(row) for k, row in enumerate(table)} | columns


@pytest.mark.parametrize("seed", range(5))
def test_against_the_reference(seed):
    table = np.random.default_rng(seed).random((4, 6)).tolist()
    assert tuning_bias(as_results(table)) == pytest.approx(tibshirani(table))
    order = np.random.default_rng(seed).permutation(6).tolist()
    params = [{"rank": order.index(j)} for j in range(6)]
    chosen = refit_one_se(as_results(table, params=params), complexity=lambda p: p["rank"])
    assert chosen == one_standard_error(table, order)
    assert refit_one_se(as_results(table)) == one_standard_error(table, range(6))


def test_candidates_that_failed_and_rounds_before_the_last_are_left_out():
    table = [[np.nan, 0.8, 0.7, 1.0], [1.0, 0.6, 0.7, 1.0]]
    rounds = {"iter": np.array([1, 1, 1, 0])}
    assert tuning_bias(as_results(table, **rounds)) == pytest.approx(0.05)
    assert refit_one_se(as_results(table, **rounds)) == 1
    with pytest.raises(ValueError, match="candidate with 'score' in all splits"):
        tuning_bias(as_results([[np.nan], [1.0]]))


@pytest.mark.parametrize("order", [[25, 15, 9, 5, 3, 1], [1, 3, 5, 9, 15, 25]])
def test_one_standard_error_in_a_grid(order):
    """Simplest is first in the grid, whichever the direction; or what `complexity` says."""
    grid = {"n_neighbors": order}
    plain = GridSearchCV(KNeighborsClassifier(), grid).fit(X, Y)
    table = plain.cv_results_
    scores = np.array([table[f"split{k}_test_score"] for k in range(5)])
    enough = table["mean_test_score"].max() - scores[:, plain.best_index_].std(ddof=1) / 5**0.5
    close = [n for n, mean in zip(order, table["mean_test_score"], strict=True) if mean >= enough]
    assert 1 < len(close) < 6
    by_order = GridSearchCV(KNeighborsClassifier(), grid, refit=refit_one_se).fit(X, Y)
    assert by_order.best_params_ == {"n_neighbors": close[0]}
    smooth = partial(refit_one_se, complexity=lambda params: -params["n_neighbors"])
    rough = partial(refit_one_se, complexity=lambda params: params["n_neighbors"])
    for rule, expected in ((smooth, max(close)), (rough, min(close))):
        search = GridSearchCV(KNeighborsClassifier(), grid, refit=rule).fit(X, Y)
        assert search.best_params_ == {"n_neighbors": expected}
    drawn = RandomizedSearchCV(
        KNeighborsClassifier(), grid, n_iter=6, refit=smooth, random_state=0
    ).fit(X, Y)
    assert drawn.best_params_ == {"n_neighbors": max(close)}


def test_of_several_metrics_one_is_named():
    rule = partial(refit_one_se, metric="f1")
    search = GridSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [9, 1]}, scoring=["f1", "accuracy"], refit=rule
    ).fit(X, Y)
    assert search.best_index_ == refit_one_se(search.cv_results_, metric="f1")
    assert tuning_bias(search.cv_results_, metric="f1") >= 0
    with pytest.raises(ValueError, match="for the metric 'score', got 0"):
        tuning_bias(search.cv_results_)


def test_equally_simple_ones_are_told_by_their_score():
    results = as_results([[0.70, 0.75, 0.74], [0.80, 0.85, 0.84]], params=[{}, {}, {}])
    assert refit_one_se(results, complexity=lambda params: 0) == 1


def test_refusals():
    with pytest.raises(ValueError, match="at least two splits for the metric 'score', got 1"):
        refit_one_se(as_results([[0.5, 0.6]]))
    with pytest.raises(ValueError, match="complexity must be None or a function"):
        refit_one_se(as_results([[0.5], [0.6]]), complexity="n_neighbors")
