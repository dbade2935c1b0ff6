"""Two Gaussian classes for which the error of linear classifiers is known exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from scipy.stats import norm

from skeval.utils._checks import RandomStateLike, check_count, check_data, in_order, root_seed


@dataclass(frozen=True, eq=False)
class GaussianClasses:
    """Sample of two Gaussian classes, with the population parameters.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples.
    y : int ndarray of shape (n_samples,)
        Labels 0 and 1.
    mean : ndarray of shape (n_features,)
        Mean of class 1. Class 0 has the negative mean. Both covariances are the identity.
    prior : float
        Probability of class 1.
    """

    X: np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)
    mean: np.ndarray = field(repr=False)
    prior: float

    def true_error(self, coef: Any, intercept: Any) -> float:
        r"""Return the exact error of the classifier "class 1 where ``x @ coef + intercept > 0``".

        .. math:: P_1 \Phi(-(w'\mu + b)/\|w\|) + P_0 \Phi((-w'\mu + b)/\|w\|)

        Parameters
        ----------
        coef : array-like of shape (n_features,) or (1, n_features)
            Normal vector `w`, as in the `coef_` of a linear classifier.
        intercept : float or array-like of one element
            Offset `b`, as in the `intercept_` of a linear classifier.

        Returns
        -------
        float
            Error, between `bayes_error` and 1.

        Raises
        ------
        ValueError
            If `coef` does not have one value per feature, `intercept` is not a single value, or a
            value is not finite.
        """
        w = check_data("coef", np.ravel(coef), ensure_2d=False, dtype=np.float64)
        if w.shape != self.mean.shape:
            raise ValueError(f"coef must have {self.mean.size} values, got {w.size}.")
        offset = check_data("intercept", np.ravel(intercept), ensure_2d=False, dtype=np.float64)
        if offset.shape != (1,):
            raise ValueError(f"intercept must be one value, got {offset.size}.")
        b, largest = float(offset[0]), float(np.abs(w).max())
        if largest == 0:  # all points are on the same side
            return 1 - self.prior if b > 0 else self.prior
        # only the ratio of w and b matters; squares of the scaled w neither overflow nor underflow
        w = w / largest
        with np.errstate(over="ignore"):  # if the quotient overflows, the offset alone decides
            b = float(np.divide(b, largest))
        # w'x + b is normal with mean +-shift + b and standard deviation |w|
        norm_of_w = np.linalg.norm(w)
        shift = w @ self.mean
        missed = norm.cdf(-(shift + b) / norm_of_w)
        return float(self.prior * missed + (1 - self.prior) * norm.cdf((-shift + b) / norm_of_w))

    @property
    def bayes_error(self) -> float:
        """Smallest error of any classifier."""
        if not self.mean.any() or self.prior in (0, 1):
            return min(self.prior, 1 - self.prior)
        return self.true_error(2 * self.mean, np.log(self.prior / (1 - self.prior)))


@in_order()
def make_gaussian_classes(
    n_samples: int = 100,
    n_features: int = 20,
    *,
    n_informative: int | None = None,
    separation: float = 2.0,
    prior: float = 0.5,
    random_state: RandomStateLike = None,
) -> GaussianClasses:
    r"""Draw independent samples of two Gaussian classes with a known Bayes error.

    With probability `prior`, a sample belongs to class 1, :math:`x \sim N(\mu, I)`, and otherwise
    to class 0, :math:`x \sim N(-\mu, I)`. The distance between the means, `separation`, is spread
    evenly over the first `n_informative` features. For equal priors, the Bayes error is
    :math:`\Phi(-separation/2)`.

    Parameters
    ----------
    n_samples : int, default=100
        Number of samples. Class sizes are random, but each class has at least two samples.
    n_features : int, default=20
        Number of features.
    n_informative : int, default=None
        Number of features with different class means. None means all.
    separation : float, default=2.0
        Euclidean distance between the class means. It must be >= 0.
    prior : float, default=0.5
        Probability of class 1, between 0 and 1.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. An int gives the same result in each call.

    Returns
    -------
    GaussianClasses
        Object with `X`, `y`, `bayes_error` and the method `true_error` for linear classifiers.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from skeval.datasets import make_gaussian_classes
    >>> data = make_gaussian_classes(50, 5, separation=2, random_state=0)
    >>> model = SVC(kernel="linear").fit(data.X, data.y)
    >>> round(data.bayes_error, 4)
    0.1587
    >>> data.true_error(model.coef_, model.intercept_) > data.bayes_error
    True
    """
    n_samples = check_count("n_samples", n_samples, 4)
    n_features = check_count("n_features", n_features)
    if n_informative is None:
        n_informative = n_features
    n_informative = check_count("n_informative", n_informative)
    if n_informative > n_features:
        raise ValueError(f"n_informative must be <= {n_features}, got {n_informative}.")
    if not isinstance(separation, Real) or not 0 <= separation < np.inf:
        raise ValueError(f"separation must be >= 0, got {separation!r}.")
    if not isinstance(prior, Real) or not 0 < prior < 1:
        raise ValueError(f"prior must satisfy 0 < prior < 1, got {prior!r}.")
    rng = np.random.default_rng(root_seed(random_state))
    # the distance of the means is twice the norm of this vector
    mean = np.zeros(n_features)
    mean[:n_informative] = separation / 2 / np.sqrt(n_informative)
    y = (rng.random(n_samples) < prior).astype(int)
    # rare classes get two members, which cross-validation needs
    for label in (0, 1):
        missing = max(0, 2 - np.sum(y == label))
        y[np.flatnonzero(y != label)[:missing]] = label
    X = rng.normal(size=(n_samples, n_features)) + np.where(y[:, None] == 1, mean, -mean)
    return GaussianClasses(X, y, mean, float(prior))
