"""Jobs and estimators that workers of any backend can import."""

import warnings

import joblib
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import GaussianNB

__all__ = ["Complaining", "FailsWithout", "square", "two_workers"]


def two_workers(backend):
    """Return a configuration that is the same for all tests, so that processes start once.

    Arrays above `max_nbytes` come from files there, read-only.
    """
    memory = {"max_nbytes": 100} if backend == "loky" else {}
    return joblib.parallel_config(backend=backend, n_jobs=2, **memory)


def square(number):
    return number**2


class Complaining(GaussianNB):
    """A classifier that warns in each fit, of another number each time."""

    def fit(self, X, y):
        warnings.warn(f"tolerance {X[0, 0]:.3g} is not met", ConvergenceWarning, stacklevel=1)
        return super().fit(X, y)


class FailsWithout(GaussianNB):
    """Refuses training sets without a sample that has a value in the first column."""

    def __init__(self, value=0.0, *, priors=None, var_smoothing=1e-9):
        super().__init__(priors=priors, var_smoothing=var_smoothing)
        self.value = value

    def fit(self, X, y, sample_weight=None):
        if not np.any(X[:, 0] == self.value):
            raise ValueError("the first sample is missing")
        return super().fit(X, y, sample_weight)
