"""Which fits the adapters take: a rule of the data and the number of fits, not of a clock."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skeval._adapters.fits import fit_plan
from skeval._adapters.svc import FitShape, batch_pays
from skeval._adapters.trials import choose_solver, settles
from skeval._resampling.fit_outputs import FitOutput
from skeval._resampling.fit_request import FitRequest
from skeval._resampling.fit_worker import make_worker
from skeval._resampling.inputs import Inputs
from skeval._resampling.plans import PlanBlock, ResamplingPlan
from skeval._resampling.target import validate_data
from skeval.model_selection import bootstrap_error


def two_classes(n, p, shift):
    rng = np.random.default_rng(0)
    y = np.resize([0, 1], n)
    X = rng.normal(size=(n, p))
    X += shift * y[:, None]
    return X, y


def is_served(model, X, y, n_fits, shuffled=False):
    X, target, _ = validate_data(model, X, y)
    order = np.random.default_rng(0).permutation(len(y))[None] if shuffled else None
    everything = np.ones((1, len(y)), dtype=int)
    tested = np.arange(len(y))[None] % (len(y) // 20) == 0
    block = PlanBlock(everything, tested, order)
    plan = ResamplingPlan(len(y), n_fits, lambda _: block)
    inputs = Inputs(model, X, target)
    return choose_solver(inputs, make_worker(inputs, plan, FitRequest()), plan) is not None


def count_fits(monkeypatch):
    sizes = []
    original = SVC.fit
    monkeypatch.setattr(SVC, "fit", lambda *a, **k: sizes.append(len(a[1])) or original(*a, **k))
    return sizes


@pytest.mark.parametrize("steps", [[], [SelectKBest(k=50)]], ids=str)
def test_many_features_and_many_fits_need_three_trials(steps, monkeypatch):
    X, y = two_classes(60, 2000, 0.1)
    fits = count_fits(monkeypatch)
    assert is_served(make_pipeline(*steps, SVC(kernel="linear")), X, y, 1000)
    assert len(fits) == 1  # The three trials are one fit here, and it is kept.


@pytest.mark.parametrize("steps", [[], [StandardScaler()], [SelectKBest(k=10)]], ids=str)
def test_separated_classes_are_left_to_libsvm(steps, monkeypatch):
    """It takes a few steps there, a Newton system as many operations as ever."""
    X, y = two_classes(4000, 12, 60.0)
    fits = count_fits(monkeypatch)
    assert not is_served(make_pipeline(*steps, SVC(kernel="linear")), X, y, 100)
    assert fits == [4000]


@pytest.mark.parametrize("steps", [[], [StandardScaler()]], ids=str)
def test_overlapping_classes_are_taken(steps):
    X, y = two_classes(1000, 12, 0.2)
    model = make_pipeline(*steps, SVC(kernel="linear", C=10.0, tol=1e-7))
    assert is_served(model, X, y, 100)
    assert model[-1].max_iter == -1


def test_shuffled_labels_are_tried_as_such():
    """Classes that lie far apart no longer do: libsvm takes thousands of steps."""
    X, y = two_classes(1000, 40, 3.0)
    model = SVC(kernel="linear", tol=1e-7)
    assert not is_served(model, X, y, 100)
    assert is_served(model, X, y, 100, shuffled=True)


def test_a_batch_pays_sooner_the_more_fits_there_are():
    for n, k in ((50, 5), (500, 10), (500, 200), (100, 1000)):
        shape = FitShape(n, k, k)
        seconds = [shape.batch_seconds(n_fits) for n_fits in (1, 10, 100, 1000)]
        assert seconds == sorted(seconds, reverse=True)


def test_one_fit_is_left_to_scikit_learn():
    X, y = two_classes(30, 3, 1.0)
    shape, model = FitShape(30, 3, 3), SVC(kernel="linear").fit(X, y)
    assert not batch_pays(shape, 1, model)
    assert batch_pays(shape, 1000, model)


@pytest.mark.parametrize("shift", [0.1, 60.0])
def test_the_choice_does_not_depend_on_workers(shift):
    """Nor on the blocks that the fits come in."""
    X, y = two_classes(300, 30, shift)
    one, two = (
        bootstrap_error(
            SVC(kernel="linear"), X, y, n_resamples=30, random_state=0, n_jobs=n_jobs
        ).replicates
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


def test_a_trial_that_fails_leaves_the_fits_to_the_loop():
    X, y = np.zeros((40, 1)), np.tile([0, 1], 20)
    assert not is_served(make_pipeline(VarianceThreshold(), SVC()), X, y, 100)


class Leaves:
    """An adapter that leaves some fits to the estimator, and says how many it was given."""

    def __init__(self, share):
        self.share, self.given = share, []

    def __call__(self, block):
        self.given.append(len(block))
        first = block.train[:, 0]  # marks the fits that it would solve
        failed = first > self.share
        kept = block.test & ~failed[:, None]
        return FitOutput(block.test, failed, np.repeat(first, kept.sum(axis=1)))


def marked_plan(n_fits):
    """Fits that the weight of the first sample tells apart, tested on all samples."""

    def draw(repetition):
        train = np.ones((1, 6))
        train[:, 0] = (1 + repetition) / n_fits
        return PlanBlock(train, np.ones(train.shape, dtype=bool))

    return ResamplingPlan(6, n_fits, draw)


@pytest.mark.parametrize(("share", "settled"), [(0.3, False), (0.9, True)])
def test_a_solver_that_leaves_most_of_a_few_fits_is_given_no_others(share, settled):
    adapter = Leaves(share)
    assert settles(adapter, marked_plan(100)) == settled
    assert adapter.given == [8]


def test_few_fits_are_not_tried():
    adapter = Leaves(0.0)
    assert settles(adapter, marked_plan(20))
    assert adapter.given == []


def test_verbose_says_how_many_fits_were_solved(capsys):
    """A kernel that hardly varies settles few fits, and the loop does the others: it says so."""
    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(0)
    labels = np.array([rng.permutation(len(y)) for _ in range(64)])
    trained = np.arange(len(y)) % 3 > 0

    def draw(r):
        return PlanBlock(trained[None].astype(int), ~trained[None], labels[[r]])

    given, target, _ = validate_data(SVC(), X, y)
    inputs = Inputs(SVC(), given, target, verbose=1)
    plan = ResamplingPlan(len(y), 64, draw)
    outputs = [output for _, output in fit_plan(inputs, plan)]
    n_solved = sum(output.n_solved for output in outputs)
    said = capsys.readouterr().err
    if n_solved:
        left = "" if n_solved == 64 else f", {64 - n_solved} one by one"
        assert f"used a solver for {n_solved} fits{left}" in said
    else:
        assert "skeval runs 64 fits one by one: " in said
    assert not any(output.failed.any() for output in outputs)
