"""The loop over fits: blocks, failures, and errors that name the fit."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from skeval import model_selection as ms
from skeval._resampling.fit_loop import NoFitLeftError, fit_each, run_plan, score_plan
from skeval._resampling.fold_plans import repeated_folds
from skeval._resampling.inputs import validate_inputs
from skeval.utils._checks import root_seed

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
W = RNG.uniform(0.5, 2.0, 60)


def folds_of(inputs, n_folds=5, n_repeats=2):
    return repeated_folds(inputs.units, n_folds, n_repeats, root_seed(0))


def test_blocks_hold_every_fit_in_order():
    inputs = validate_inputs(GaussianNB(), X, Y)
    plan = folds_of(inputs)
    outputs = [(block, output) for block, output in run_plan(inputs, plan)]
    assert sum(map(len, (block for block, _ in outputs))) == plan.n_fits
    fit = 0
    for block, output in outputs:
        for position, part in enumerate(output):
            train, test = block.train[position] > 0, block.test[position]
            assert_array_equal(plan.draw(fit).test[0], test)
            assert_array_equal(
                part.predicted, GaussianNB().fit(X[train], Y[train]).predict(X[test])
            )
            fit += 1


def test_finished_fits_are_not_run_again():
    class Once(GaussianNB):
        n_fits = 0

        def fit(self, *arguments):
            Once.n_fits += 1
            return super().fit(*arguments)

    inputs = validate_inputs(Once(), X, Y).with_options(finished=[])
    plan = folds_of(inputs)
    first, again = ([output.predicted for _, output in run_plan(inputs, plan)] for _ in range(2))
    assert Once.n_fits == plan.n_fits
    for one, other in zip(first, again, strict=True):
        assert_array_equal(one, other)


def test_a_first_block_is_small_for_a_caller_that_may_stop():
    inputs = validate_inputs(GaussianNB(), X, Y)
    plan = folds_of(inputs, n_repeats=8).take(0, 8)
    blocks = [len(block) for block, _ in run_plan(inputs, plan, first_block=2)]
    assert sum(blocks) == plan.n_fits
    assert blocks[0] <= 2


def test_scores_are_means_over_the_fits_of_a_draw():
    inputs = validate_inputs(GaussianNB(), X, Y)
    plan = folds_of(inputs)
    scores = [score for part in score_plan(inputs, plan, "accuracy") for score in part]
    outputs = fit_each(inputs, plan)
    expected = [np.mean(output.predicted == Y[output.rows]) for output in outputs]
    assert_allclose(scores, expected)


def test_failures_are_reported():
    class Failing(GaussianNB):
        def fit(self, X, y):
            raise ArithmeticError("no")

    inputs = validate_inputs(Failing(), X, Y, error_score=np.nan)
    with pytest.raises(NoFitLeftError, match="all 10 fits failed"):
        list(run_plan(inputs, folds_of(inputs)))
    inputs = validate_inputs(Failing(), X, Y, method="cv")
    with pytest.raises(ArithmeticError, match="no") as caught:
        list(run_plan(inputs, folds_of(inputs)))
    (note,) = caught.value.__notes__
    assert "method='cv': estimator failed without fold 1 of repeat 1" in note
    inputs = validate_inputs(Failing(), X, Y, error_score=0)
    with pytest.raises(ValueError, match="error_score must be"):
        list(run_plan(inputs, folds_of(inputs)))


class FailsWithoutTheFirst(GaussianNB):
    """Refuses to be fitted where a certain sample is missing."""

    def fit(self, X, y, sample_weight=None):
        if not (X[:, 0] == FIRST).any():
            raise RuntimeError("the first sample is missing")
        return super().fit(X, y, sample_weight)


FIRST = X[0, 0]


def test_fits_that_fail_are_left_out():
    cv, model = StratifiedKFold(5), FailsWithoutTheFirst()
    folds = list(cv.split(X, Y))
    kept = [fold for fold in folds if 0 in fold[0]]
    assert len(kept) == 4
    with pytest.warns(FitFailedWarning, match="fits failed"):
        test = ms.permutation_test(
            model, X, Y, cv=folds, n_permutations=5, random_state=0, error_score=np.nan
        )
    expected = ms.permutation_test(model, X, Y, cv=kept, n_permutations=5, random_state=0)
    assert test.statistic == pytest.approx(expected.statistic)
    assert_allclose(test.null_distribution, expected.null_distribution)
    pair = model, DecisionTreeClassifier(max_depth=2, random_state=0)
    with pytest.warns(FitFailedWarning, match="1 of 5 fits failed"):
        comparison = ms.compare_classifiers(pair, X, Y, cv=folds, error_score=np.nan)
    assert len(comparison.split_scores) == 4
    with pytest.raises(ValueError, match="error_score must be 'raise' for method='mcnemar'"):
        ms.compare_classifiers(pair, X, Y, cv=folds, method="mcnemar", error_score=np.nan)


def test_a_repetition_without_a_fit_has_no_draw():
    weights = np.random.default_rng(0).exponential(size=(60, 60))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        found = ms.perturbation_interval(
            FailsWithoutTheFirst(),
            X,
            Y,
            weights=weights,
            statistic="resubstitution",
            error_score=np.nan,
        )
    assert len(found.statistics) == 60  # the fit to all samples has the first one
