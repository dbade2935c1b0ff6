"""Linear discriminant analysis for many label vectors: scikit-learn's fits, one by one."""

import numpy as np
import pytest
from helpers.crossed import each_value
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from skeval._solvers.discriminant import Discriminant

M, N_TESTED, P, N_FITS = 30, 12, 3, 5


@each_value
@pytest.mark.parametrize("shrinkage", [0.0, 0.3])
@pytest.mark.parametrize("priors", [None, (0.3, 0.7)])
def test_discriminant_analysis(shrinkage, priors):
    if shrinkage and priors:
        return  # scikit-learn weighs the covariances of the classes by priors of its own.
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(M, P)), rng.normal(size=(N_TESTED, P))
    codes = rng.permuted(np.tile(np.arange(M) % 2, (N_FITS, 1)), axis=1)
    shrunk = {"solver": "lsqr", "shrinkage": shrinkage} if shrinkage else {"solver": "svd"}
    single = LinearDiscriminantAnalysis(priors=priors, **shrunk)
    # scikit-learn divides the scatter by n or by n - 2, as it may have changed its mind.
    divisors = [M] if shrinkage else [M, M - 2]
    expected = [single.fit(train, labels).decision_function(test) for labels in codes]
    agree = []
    for divisor in divisors:
        # Shrunk covariances are those of columns of unit variance in each class, hence no test
        # of shrinkage on columns of other scales here: the adapter's tests have those.
        found = Discriminant(train, test, shrinkage, divisor, priors).solve(codes)
        assert found.solved.all()
        agree.append(np.allclose(found.values, expected, rtol=1e-8, atol=1e-8))
    assert any(agree)


def test_classes_that_are_all_but_separated_are_not_solved():
    train = np.c_[np.repeat([0.0, 1.0], M // 2), np.random.default_rng(0).normal(size=M)]
    codes = np.repeat([0, 1], M // 2)
    found = Discriminant(train, train, 0.0, M).solve(np.stack([codes, np.roll(codes, 3)]))
    assert found.solved.tolist() == [False, True]
