"""A workload within a time: what goes first, what stays, and lines of progress."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from skeval._commands.evaluate import Workload, fit_to_budget, time_fits
from skeval._resampling.progress import progress_lines
from skeval.model_selection import cross_val_error

WORK = Workload(
    n_samples=100,
    n_folds=10,
    n_bootstraps=200,
    n_permutations=200,
    n_resamples=0,
    leave_one_out=True,
    perturbed=False,
    n_others=0,
    fit=0.1,
    shuffled=0.2,
)


def test_seconds_are_those_of_all_fits():
    assert WORK.n_fits == 2 + 10 + 100 + 200
    assert WORK.seconds == pytest.approx(31.2 + 400)


@pytest.mark.parametrize(
    ("budget", "told"),
    [
        (1000, []),
        (425, ["no leave-one-out"]),
        (100, ["no leave-one-out", "39 permutations instead of 200"]),
        (
            50,
            [
                "no leave-one-out",
                "19 permutations instead of 200",
                "107 bootstrap resamples instead of 200",
            ],
        ),
        (
            10,
            [
                "no leave-one-out",
                "no permutations",
                "20 bootstrap resamples instead of 200",
            ],
        ),
        (
            1,
            ["no leave-one-out", "no permutations", "20 bootstrap resamples instead of 200"],
        ),
    ],
)
def test_what_says_least_goes_first(budget, told):
    work, said = fit_to_budget(WORK, budget, frozenset())
    assert said == told
    assert work.seconds <= max(budget, 3.2)


def test_what_was_asked_for_stays():
    work, said = fit_to_budget(WORK, 1, frozenset({"n_permutations"}))
    assert work.n_permutations == 200
    assert said == ["no leave-one-out", "20 bootstrap resamples instead of 200"]


def test_fits_are_timed():
    rng = np.random.default_rng(0)
    seconds = time_fits(GaussianNB(), rng.normal(size=(20, 2)), np.tile([0, 1], 10), 0)
    assert all(0 < one < 10 for one in seconds)


def test_lines_of_progress_come_when_they_are_due(capsys):
    rng = np.random.default_rng(0)
    task = GaussianNB(), rng.normal(size=(40, 2)), np.tile([0, 1], 20)
    with progress_lines(0):
        cross_val_error(*task, cv=4)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("skeval: 4 of 4 fits of this step, ")
    with progress_lines(3600):
        cross_val_error(*task, cv=4)
    cross_val_error(*task, cv=4)
    assert capsys.readouterr().err == ""
