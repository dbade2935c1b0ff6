"""The loop over fits: blocks, failures, and errors that name the fit."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import FitFailedWarning
from sklearn.naive_bayes import GaussianNB

from skeval import model_selection as ms
from skeval._resampling.fit_loop import NoFitLeftError, run_plan
from skeval._resampling.fit_outputs import FitOutput, join_outputs
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.fit_worker import make_worker
from skeval._resampling.fold_plans import repeated_folds
from skeval._resampling.inputs import validate_inputs
from skeval.utils._checks import root_seed

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
W = RNG.uniform(0.5, 2.0, 60)


def folds_of(inputs, n_folds=5, n_repeats=2):
    return repeated_folds(inputs.units, n_folds, n_repeats, root_seed(0))


def run(inputs, plan, **options):
    """Run a plan without looking for a solver."""
    return run_plan(plan, make_worker(inputs, plan, FitRequest()), {}, **options)


class EveryOther:
    """A solver that predicts class 1, and leaves every other fit to the estimator."""

    max_fits = None

    def __init__(self, worker, stays_here):
        self.worker, self.stays_here = worker, stays_here

    def solve(self, block):
        failed = np.arange(len(block)) % 2 == 1
        predicted = np.ones(block.test[~failed].sum(), dtype=int)
        return FitOutput(block.test, failed, predicted)

    def __call__(self, block):
        return self.worker.complete(self.solve(block), block)


@pytest.mark.parametrize("stays_here", [True, False])
def test_fits_that_a_solver_leaves_are_done_by_the_estimator(stays_here):
    inputs = validate_inputs(GaussianNB(), X, Y)
    plan = folds_of(inputs)
    loop = join_outputs([output for _, output in run(inputs, plan)])
    worker = make_worker(inputs, plan, FitRequest())
    solver = EveryOther(worker, stays_here)
    output = join_outputs([out for _, out in run_plan(plan, worker, {}, solver=solver)])
    assert not output.failed.any()
    for fit, (ours, expected) in enumerate(zip(output, loop, strict=True)):
        assert_array_equal(ours.predicted, expected.predicted if fit % 2 else 1)


def test_blocks_hold_every_fit_in_order():
    inputs = validate_inputs(GaussianNB(), X, Y)
    plan = folds_of(inputs)
    outputs = [(block, output) for block, output in run(inputs, plan)]
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


def test_a_first_block_is_small_for_a_caller_that_may_stop():
    inputs = validate_inputs(GaussianNB(), X, Y)
    plan = folds_of(inputs, n_repeats=8).take(0, 8)
    blocks = [len(block) for block, _ in run(inputs, plan, first_block=2)]
    assert sum(blocks) == plan.n_fits
    assert blocks[0] <= 2


def test_failures_are_reported():
    class Failing(GaussianNB):
        def fit(self, X, y):
            raise ArithmeticError("no")

    inputs = validate_inputs(Failing(), X, Y, error_score=np.nan)
    with pytest.raises(NoFitLeftError, match="all 10 fits failed"):
        list(run(inputs, folds_of(inputs)))
    inputs = validate_inputs(Failing(), X, Y)
    with pytest.raises(ArithmeticError, match="no") as caught:
        list(run(inputs, folds_of(inputs)))
    assert len(caught.value.training_rows) == 48
    with pytest.raises(ValueError, match="error_score must be"):
        validate_inputs(Failing(), X, Y, error_score=0)


class FailsWithoutTheFirst(GaussianNB):
    """Refuses to be fitted where a certain sample is missing."""

    def fit(self, X, y, sample_weight=None):
        if not (X[:, 0] == FIRST).any():
            raise RuntimeError("the first sample is missing")
        return super().fit(X, y, sample_weight)


FIRST = X[0, 0]


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
