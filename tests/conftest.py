"""What holds for all tests."""

import gc
import os
import sys

import numpy as np
import pytest
from helpers.cases import CASES, few_of
from helpers.golden import FEW_RESAMPLES
from hypothesis import settings
from sklearn.datasets import load_breast_cancer, load_iris

# Tests start dozens of processes: the first to import a module compiles it for all others.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Tests that run side by side share the cores, so the time of one example says nothing.
# Where CI is set the examples are the same in every run; elsewhere they go on searching. Other
# numbers of them are tried by --hypothesis-profile=long and =few.
FIXED = "CI" in os.environ
settings.register_profile("shared cores", deadline=None, derandomize=FIXED, max_examples=15)
settings.register_profile("few", deadline=None, derandomize=FIXED, max_examples=8)
settings.register_profile("long", deadline=None, max_examples=1000)
settings.load_profile("shared cores")


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist chooses for itself
def pytest_cmdline_main(config):
    """Keep neighboring tests in one process of several, which makes once what a file shares."""
    if getattr(config.option, "numprocesses", None) and config.option.dist == "no":
        config.option.dist = "worksteal"


def pytest_collection_finish():
    """Spare the garbage collector what lasts as long as the run: modules and thousands of tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _few_resamples():
    """Reports of all parts would otherwise take most of the time of the tests."""
    with FEW_RESAMPLES:
        yield


@pytest.fixture(autouse=True)
def _same_draws():
    """A call without a seed draws the same in every run."""
    np.random.seed(0)  # noqa: NPY002 - a call without a seed draws from this state


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def always_solve(monkeypatch):
    """Small problems go to the solver even where a loop over fits is as fast."""
    monkeypatch.setattr("skeval._adapters.svc.SVCSolver.is_faster", lambda *_: True)


@pytest.fixture(params=CASES, ids=str)
def case(request):
    return CASES[request.param]


@pytest.fixture(scope="session")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="session")
def cancer():
    """60 samples of two classes."""
    return few_of(load_breast_cancer, 60)
