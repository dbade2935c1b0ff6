"""The kinds of data that every estimate must serve, as fixtures."""

import pytest
from helpers.cases import CASES, few_of
from sklearn.datasets import load_breast_cancer, load_iris


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
