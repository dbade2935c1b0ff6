r"""Analysis of variance of several readers who read the same cases.

After Obuchowski and Rockette (1995), the accuracy of reader j with system i is

.. math:: \hat\theta_{ij} = \mu + \tau_i + R_j + (\tau R)_{ij} + \epsilon_{ij} ,

where readers R are random and the errors, which stem from the sample of cases, have the variance
:math:`\sigma^2` and three covariances: Cov1 for one reader with two systems, Cov2 for two readers
with one system, Cov3 for two readers with two systems. With I systems, J readers and MS the mean
squares of the accuracies, the difference of two systems has the variance

.. math:: \frac{2}{J} \{MS(TR) + J \max(Cov2 - Cov3, 0)\}

and the degrees of freedom of Hillis (2007), with D the expression in braces:
:math:`D^2 (I - 1)(J - 1) / MS(TR)^2`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]


class AccuracySpread(NamedTuple):
    """Standard error and degrees of freedom."""

    error: float
    degrees_of_freedom: float


@dataclass(frozen=True, eq=False)
class ReaderStudy:
    """Accuracies of readers with several systems, and their covariance.

    Attributes
    ----------
    readers : tuple of str
        Names of the readers.
    values : ndarray of shape (n_systems, n_readers)
        Accuracy of each reader with each system.
    covariance : ndarray of shape (n_systems * n_readers, n_systems * n_readers)
        Covariance of the errors of `values.ravel()`, which stem from the sample of cases.
    n_cases : int
        Number of cases.
    n_missing : int
        Number of pairs of a reader and a case without a score, summed over the systems.
    random_readers : bool
        Whether readers are a sample of all readers.
    """

    readers: tuple[str, ...]
    values: Floats
    covariance: Floats
    n_cases: int
    n_missing: int = 0
    random_readers: bool = True

    @property
    def mean_squares(self) -> tuple[float, float]:
        """Mean square of the systems, and of the interaction of systems and readers."""
        n_systems, n_readers = self.values.shape
        of_systems = self.values.mean(axis=1, keepdims=True)
        of_readers = self.values.mean(axis=0)
        rest = self.values - of_systems - of_readers + self.values.mean()
        interaction = np.sum(rest**2) / max(1, (n_systems - 1) * (n_readers - 1))
        return float(n_readers * of_systems.var(ddof=1)), float(interaction)

    @cached_property
    def components(self) -> tuple[float, float, float, float]:
        """Variance of the errors, Cov1, Cov2 and Cov3."""
        n_systems, n_readers = self.values.shape
        blocks = self.covariance.reshape(2 * self.values.shape)
        own = np.einsum("ijij->", blocks)
        same_reader = np.einsum("ijkj->", blocks) - own
        same_system = np.einsum("ijik->", blocks) - own
        sums = [own, same_reader, same_system, blocks.sum() - own - same_reader - same_system]
        n_others = [1, n_systems - 1, n_readers - 1, (n_systems - 1) * (n_readers - 1)]
        variance, *covariances = (
            float(total / (n_systems * n_readers * max(1, n)))
            for total, n in zip(sums, n_others, strict=True)
        )
        return variance, covariances[0], covariances[1], covariances[2]

    @property
    def _shared(self) -> float:
        """Cov2 - Cov3, at least 0: error of a difference that all readers share."""
        return max(self.components[2] - self.components[3], 0.0)

    def of_system(self, system: int) -> AccuracySpread:
        """Return the spread of the mean accuracy of one system."""
        values, n_readers = self.values[system], self.values.shape[1]
        block = self.covariance.reshape(2 * self.values.shape)[system, :, system]
        if not self.random_readers:
            return AccuracySpread(float(np.sqrt(block.mean())), np.inf)
        shared = (block.sum() - np.trace(block)) / (n_readers * (n_readers - 1))
        return _combine(
            float(values.var(ddof=1)), max(float(shared), 0.0), n_readers, n_readers - 1
        )

    def of_difference(self, a: int, b: int) -> AccuracySpread:
        """Return the spread of the difference of the mean accuracies of two systems."""
        n_systems, n_readers = self.values.shape
        if not self.random_readers:
            contrast = np.zeros(self.values.shape)
            contrast[a], contrast[b] = 1 / n_readers, -1 / n_readers
            variance = contrast.ravel() @ self.covariance @ contrast.ravel()
            return AccuracySpread(float(np.sqrt(max(float(variance), 0.0))), np.inf)
        degrees = (n_systems - 1) * (n_readers - 1)
        spread = _combine(self.mean_squares[1], self._shared, n_readers, degrees)
        return AccuracySpread(float(np.sqrt(2)) * spread.error, spread.degrees_of_freedom)

    def test_equality(self) -> tuple[float, float]:
        """Return F and the P-value of the hypothesis that all systems are equal."""
        error, degrees = self.of_difference(0, 1)
        numerator = 2 * self.mean_squares[0] / self.values.shape[1]
        statistic = numerator / error**2 if error > 0 else np.nan
        return statistic, float(stats.f.sf(statistic, len(self.values) - 1, degrees))

    def power(
        self,
        difference: float,
        level: float,
        n_readers: int,
        n_cases: float,
        alternative: str = "two-sided",
    ) -> float:
        r"""Return the power of a study of another size, after Hillis et al. (2011).

        The errors of the cases are inversely proportional to the number of cases. The variance of
        the interaction of readers and systems is
        :math:`\max(0, MS(TR) - \sigma^2 + Cov1 + \max(Cov2 - Cov3, 0))`.
        """
        variance, same_reader = self.components[:2]
        alone = max(variance - same_reader - self._shared, 0.0)
        ratio = self.n_cases / n_cases
        interaction, degrees = ratio * alone, np.inf
        if self.random_readers:
            interaction += max(self.mean_squares[1] - alone, 0.0)
            degrees = (len(self.values) - 1) * (n_readers - 1)
        error, degrees = _combine(interaction, ratio * self._shared, n_readers, degrees)
        if error == 0:
            return 1.0
        shift = difference / (np.sqrt(2) * error)
        if alternative != "two-sided":
            shift = shift if alternative == "greater" else -shift
            if np.isinf(degrees):
                return float(stats.norm.sf(stats.norm.isf(level), shift))
            return float(stats.nct.sf(stats.t.isf(level, degrees), degrees, shift))
        if np.isinf(degrees):
            return float(stats.ncx2.sf(stats.chi2.isf(level, 1), 1, shift**2))
        return float(stats.ncf.sf(stats.f.isf(level, 1, degrees), 1, degrees, shift**2))


def _combine(mean_square: float, shared: float, n_readers: int, degrees: float) -> AccuracySpread:
    """Return the spread of a mean over readers whose errors share the variance `shared`."""
    total = mean_square + n_readers * shared
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.divide(total, mean_square) ** 2 if total > 0 else 1.0
    return AccuracySpread(float(np.sqrt(total / n_readers)), float(degrees * scale))
