"""One form of what fits answer: it comes apart, is joined, sent and placed without a change.

Decision values that differ by rounding errors only are tied, and no others.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from helpers.adapters import adapter_of_steps
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

import skeval
from skeval._adapters import fits
from skeval._resampling.fit_outputs import (
    FitOutput,
    join_outputs,
    place_outputs,
    tie_rows,
    tie_values,
)
from skeval._resampling.plans import PlanBlock
from skeval._resampling.target import validate_data

COLUMNS = ("predicted", "decision", "probability")


def some_output(rng, n_fits=7, n_samples=9, *, share_failed=0.3):
    test = rng.random((n_fits, n_samples)) < 0.6
    failed = rng.random(n_fits) < share_failed
    n = int(test[~failed].sum())
    scores = [
        None if bad else float(score) for bad, score in zip(failed, rng.random(n_fits), strict=True)
    ]
    return FitOutput(
        test, failed, rng.integers(0, 3, n), rng.normal(size=n), rng.random((n, 3)), scores, scores
    )


def check_same(one, other):
    assert_array_equal(one.test, other.test)
    assert_array_equal(one.failed, other.failed)
    for name in COLUMNS:
        assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.scores == other.scores
    assert one.notes == other.notes


@pytest.mark.parametrize("share_failed", [0.0, 0.3, 1.0])
def test_fits_come_apart_and_are_joined_again(share_failed):
    rng = np.random.default_rng(0)
    for _ in range(20):
        output = some_output(rng, share_failed=share_failed)
        parts = list(output)
        assert len(parts) == len(output) == 7
        for fit, part in enumerate(parts):
            expected = [] if output.failed[fit] else np.flatnonzero(output.test[fit])
            assert part.rows.tolist() == list(expected)
            assert part.scores == [output.scores[fit]]
        joined = join_outputs(parts)
        if share_failed < 1:
            check_same(joined, output)
        assert_array_equal(joined.rows, output.rows)
        assert_array_equal(joined.sizes, output.sizes)


def test_it_is_sent_without_a_change():
    rng = np.random.default_rng(1)
    output = some_output(rng)
    check_same(pickle.loads(pickle.dumps(output)), output)


def test_answers_that_some_fits_lack_are_those_of_none():
    rng = np.random.default_rng(2)
    one, other = (some_output(rng, share_failed=0) for _ in range(2))
    lacking = FitOutput(other.test, other.failed, other.predicted, None, other.probability[:, :2])
    joined = join_outputs([one, lacking])
    assert_array_equal(joined.predicted, np.concatenate([one.predicted, other.predicted]))
    assert joined.decision is None
    assert joined.probability is None
    assert joined.scores == one.scores + [None] * 7


def test_parts_are_placed_where_their_fits_stand():
    rng = np.random.default_rng(3)
    for _ in range(20):
        tests = rng.random((2, 9)) < 0.6
        of_part = rng.integers(0, 3, 8)  # those of part 2 are done by nobody
        test = tests[np.minimum(of_part, 1)]
        expected = np.full((8, 9), -1)
        parts = []
        for part in (0, 1):
            fits, n = np.flatnonzero(of_part == part), int(tests[part].sum())
            certain = rng.random(len(fits)) < 0.7
            predicted = rng.integers(0, 3, (len(fits), n))
            expected[np.ix_(fits[certain], tests[part])] = predicted[certain]
            parts.append((fits, FitOutput.of_same_samples(predicted, certain)))
        found = place_outputs(test, parts)
        assert_array_equal(found.failed, (expected < 0).all(axis=1))
        assert_array_equal(found.predicted, expected[found.mask])
        assert (expected[~found.mask] < 0).all()


EPS = np.finfo(float).eps
scales = st.sampled_from([1e-300, 1e-9, 1.0, 1e6, 1e300])


@given(st.integers(0, 10**6), scales)
def test_equal_values_and_those_an_ulp_apart_are_tied(seed, scale):
    rng = np.random.default_rng(seed)
    values = scale * rng.normal(size=30)
    pairs = np.concatenate([values, np.nextafter(values, np.inf)])
    tied = tie_values(pairs)
    assert_array_equal(tied[:30], tied[30:])
    assert_array_equal(np.argsort(tied[:30]), np.argsort(values))


@given(st.integers(0, 10**6), scales)
def test_values_that_are_constant_but_for_rounding_are_constant(seed, scale):
    noise = np.random.default_rng(seed).integers(-2, 3, 50) * EPS
    assert len(np.unique(tie_values(-scale * (1 + noise)))) == 1


@given(st.integers(0, 10**6), st.sampled_from([1e-7, 1e-10, 1e-12]))
def test_small_differences_beside_a_large_intercept_are_kept(seed, slope):
    values = np.random.default_rng(seed).permutation(np.arange(50.0))
    assert len(np.unique(tie_values(-1 + slope * values))) == 50
    assert len(np.unique(tie_rows(-1 + slope * values[None], np.array([2 * slope])))) == 1


def test_an_outlier_ties_no_others_and_columns_are_tied_by_themselves():
    values = np.r_[np.arange(20.0), 1e12]
    assert_array_equal(tie_values(values), values)
    both = tie_values(np.column_stack([values, np.full(21, 3.0) + EPS * (values % 3)]))
    assert_array_equal(both[:, 0], values)
    assert len(np.unique(both[:, 1])) == 1
    assert_array_equal(tie_values(np.array([])), [])
    assert np.isnan(tie_values(np.array([np.nan, 1.0]))[0])


def rare(seed=0, n=600):
    """A class of a fiftieth, of which a linear SVC finds nothing: its optimum has no slope."""
    rng = np.random.default_rng(seed)
    X, u = rng.normal(size=(n, 4)), rng.random(n)
    return X, (1 / (1 + np.exp(-(1.2 * X[:, 0] + 0.8 * X[:, 1] - 4.6))) > u).astype(int)


def solve_folds(estimator, X, y):
    X, target, _ = validate_data(estimator, X, y)
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    test = np.array([np.isin(np.arange(len(y)), rows) for _, rows in folds])
    return adapter_of_steps(estimator, X, target)(PlanBlock((~test).astype(int), test))


@pytest.mark.parametrize(
    "estimator",
    [
        SVC(kernel="linear"),
        SVC(kernel="poly", degree=1, gamma=1.0),
        SVC(kernel="poly", degree=1, gamma=100.0),
    ],
)
def test_a_rule_without_slope_ranks_nothing(estimator):
    X, y = rare()
    found = solve_folds(estimator, X, y)
    assert not found.failed.any()
    for fit in found:
        assert len(np.unique(fit.tie_decision())) == 1


@pytest.mark.parametrize("C", [1e-8, 1e-7, 1e-3, 1.0])
def test_a_rule_with_a_slope_ranks_all(C):
    rng = np.random.default_rng(1)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 3)) + y[:, None]
    for fit in solve_folds(SVC(kernel="linear", C=C), X, y):
        assert fit.failed[0] or len(np.unique(fit.tie_decision())) == 40


def area(estimator, X, y, cv=10):
    few = {"cv": cv, "n_permutations": 0, "n_bootstraps": 2}
    report = skeval.evaluate(estimator, X, y, random_state=0, **few)
    return report.metrics["roc_auc"], [each.code for each in report.warnings]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.usefixtures("always_solve")
def test_constant_scores_are_said_and_have_no_interval():
    found, codes = area(SVC(kernel="linear"), *rare(), cv=4)
    assert found.value == 0.5
    assert np.isnan(found.interval.low)
    assert "constant-scores" in codes


def test_repeated_rows_tie():
    """Every row is there twice, once of each class: nothing can be ranked but by rounding."""
    rng = np.random.default_rng(2)
    X = np.repeat(rng.normal(size=(40, 3)) * 1e3, 2, axis=0)
    y = np.tile([0, 1], 40)
    test = np.tile(np.arange(40) % 4, (2, 1)).T.ravel()
    X_train, y_train = rng.normal(size=(60, 3)) * 1e3, np.arange(60) % 2
    for fold in range(4):
        model = SVC(kernel="linear", C=1e-3).fit(X_train, y_train)
        values = tie_values(model.decision_function(X[test == fold]))
        assert roc_auc_score(y[test == fold], values) == 0.5


def test_the_area_is_that_of_the_loop(monkeypatch):
    X, y = np.random.default_rng(3).normal(size=(60, 2)), np.arange(60) % 2
    estimator = SVC(kernel="linear", C=1e-7, tol=1e-12)
    solved, codes = area(estimator, X, y)
    monkeypatch.setattr(fits, "choose_solver", lambda *_, **__: None)
    looped, _ = area(estimator, X, y)
    assert solved.value == pytest.approx(looped.value, abs=1e-3)
    assert "constant-scores" not in codes
