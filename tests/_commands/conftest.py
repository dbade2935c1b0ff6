"""What holds for all tests of the command line."""

import pytest


@pytest.fixture(autouse=True)
def _clock_does_not_count(monkeypatch):
    """What is printed and left out depends on how long fits take, on a loaded machine longer."""
    monkeypatch.setattr("skeval.__main__.SECONDS_A_LINE", 3600)
    monkeypatch.setattr("skeval._commands.evaluate.QUICK_BUDGET", 3600)
