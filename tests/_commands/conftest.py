"""What holds for all tests of the command line."""

import pytest

from skeval._commands.evaluate import QUICK


@pytest.fixture(autouse=True)
def _clock_does_not_count(monkeypatch):
    """What is printed and left out depends on how long fits take, on a loaded machine longer."""
    monkeypatch.setattr("skeval.__main__.SECONDS_A_LINE", 3600)
    monkeypatch.setattr("skeval._commands.evaluate.WORTH_TELLING", 3600)
    monkeypatch.setattr("skeval._commands.evaluate.QUICK_BUDGET", 3600)


@pytest.fixture(autouse=True)
def _few_perturbations(monkeypatch):
    """They have no option, and behind a preparation of columns each takes fits one by one."""
    monkeypatch.setitem(QUICK, "n_resamples", 10)
