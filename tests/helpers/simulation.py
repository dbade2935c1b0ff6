"""Many data sets of two Gaussian classes, and the bootstrap's estimates on each of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import SeedSequence

from skeval._adapters.runner import Runner
from skeval._resampling.inputs import validate_inputs
from skeval.datasets import GaussianClasses
from skeval.model_selection._bootstrap import estimate_bootstraps


@dataclass(frozen=True)
class GaussianDesign:
    """``y`` is 0 or 1 with equal odds (or in equal numbers), ``x ~ N(+-separation/2 e_1, I_p)``."""

    n_samples: int
    n_features: int
    separation: float
    balanced: bool = False

    def draw(self, rng: np.random.Generator) -> GaussianClasses:
        y = np.arange(self.n_samples) % 2
        if not self.balanced:
            y = rng.integers(0, 2, self.n_samples)
            while min(np.bincount(y, minlength=2)) < 3:
                y = rng.integers(0, 2, self.n_samples)
        X = rng.normal(size=(self.n_samples, self.n_features))
        X[:, 0] += (y - 0.5) * self.separation
        mean = np.zeros(self.n_features)
        mean[0] = self.separation / 2
        return GaussianClasses(X, y, mean, 0.5)

    def true_error(self, data: GaussianClasses, model: Any) -> float:
        """Return the error of a fitted rule, nan if it is not linear."""
        linear = hasattr(model, "coef_") or hasattr(model, "centroids_")
        return data.true_error(*linear_rule(model)) if linear else np.nan


@dataclass(frozen=True)
class GroupedDesign(GaussianDesign):
    """Samples come in groups of four that share a label and a shift; groups are independent."""

    shift: float = 0.7

    @property
    def groups(self) -> np.ndarray:
        return np.arange(self.n_samples) // 4

    def draw(self, rng: np.random.Generator) -> GaussianClasses:
        whole = GaussianDesign(self.n_samples // 4, self.n_features, self.separation).draw(rng)
        centers, labels = whole.X, whole.y
        centers[:, 0] -= (labels - 0.5) * self.separation
        centers *= self.shift
        centers[:, 0] += (labels - 0.5) * self.separation
        noise = rng.normal(size=(self.n_samples, self.n_features))
        X = centers[self.groups] + noise
        return GaussianClasses(X, labels[self.groups], whole.mean, whole.prior)

    def true_error(self, data: GaussianClasses, model: Any) -> float:
        """Return nan: the samples of a class are not standard normal about its mean."""
        return np.nan


def linear_rule(model: Any) -> tuple[np.ndarray, float]:
    """Normal vector and offset of a fitted LDA or nearest-centroid rule."""
    if hasattr(model, "coef_"):
        return model.coef_[0], float(model.intercept_[0])
    low, high = model.centroids_
    return 2 * (high - low), float(low @ low - high @ high)


@dataclass(frozen=True)
class Simulated:
    """Columns are the methods "oob", ".632", ".632+", rows the data sets."""

    errors: np.ndarray
    standard_errors: np.ndarray
    intervals: np.ndarray
    true_errors: np.ndarray

    @property
    def ratio(self) -> np.ndarray:
        """Root mean square standard error over the true standard deviation."""
        return np.sqrt(np.mean(self.standard_errors**2, axis=0)) / self.errors.std(axis=0, ddof=1)

    def coverage(self, target: np.ndarray | float) -> np.ndarray:
        low, high = self.intervals[..., 0], self.intervals[..., 1]
        target = np.asarray(target).reshape(-1, 1)
        return np.mean((low <= target) & (target <= high), axis=0)


def simulate(
    estimator: Any,
    design: GaussianDesign,
    *,
    n_sets: int,
    n_resamples: int,
    seed: int,
    groups: np.ndarray | None = None,
    **options: Any,
) -> Simulated:
    """Estimate the error of an estimator on many data sets."""
    errors, standard_errors, intervals, true_errors = [], [], [], []
    for child in SeedSequence(seed).spawn(n_sets):
        rng = np.random.default_rng(child)
        data = design.draw(rng)
        runner = Runner(validate_inputs(estimator, data.X, data.y, groups=groups))
        seed = SeedSequence(rng.integers(0, 2**32, size=4).tolist())
        estimates = estimate_bootstraps(runner, seed, n_resamples=n_resamples, **options)
        results = [estimates[method] for method in ("oob", ".632", ".632+")]
        errors.append([result.value for result in results])
        standard_errors.append([result.standard_error for result in results])
        spans = [result.confidence_interval() for result in results]
        intervals.append([(span.low, span.high) for span in spans])
        true_errors.append(design.true_error(data, estimator.fit(data.X, data.y)))
    return Simulated(*map(np.array, (errors, standard_errors, intervals, true_errors)))
