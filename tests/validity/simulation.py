"""Two Gaussian classes, linear rules whose true error is known, and many data sets of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from skeval.model_selection._bootstrap import bootstrap_estimates
from skeval.model_selection._point632 import METHODS


@dataclass(frozen=True)
class GaussianClasses:
    """``y`` is 0 or 1 with equal odds (or in equal numbers), ``x ~ N(+-separation/2 e_1, I_p)``."""

    n_samples: int
    n_features: int
    separation: float
    balanced: bool = False

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        y = np.arange(self.n_samples) % 2
        if not self.balanced:
            y = rng.integers(0, 2, self.n_samples)
            while min(np.bincount(y, minlength=2)) < 3:
                y = rng.integers(0, 2, self.n_samples)
        X = rng.normal(size=(self.n_samples, self.n_features))
        X[:, 0] += (y - 0.5) * self.separation
        return X, y

    def true_error(self, model: Any) -> float:
        """Error of a fitted linear rule "1 where w.x + b > 0", in closed form."""
        direction, offset = linear_rule(model)
        length = np.linalg.norm(direction)
        shift = direction[0] * self.separation / 2
        missed = norm.cdf(-(shift + offset) / length)
        false_alarm = norm.cdf((-shift + offset) / length)
        return float((missed + false_alarm) / 2)


@dataclass(frozen=True)
class GroupedClasses(GaussianClasses):
    """Samples come in groups of four that share a label and a shift; groups are independent."""

    shift: float = 0.7

    @property
    def groups(self) -> np.ndarray:
        return np.arange(self.n_samples) // 4

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        whole = GaussianClasses(self.n_samples // 4, self.n_features, self.separation)
        centres, labels = whole.draw(rng)
        centres[:, 0] -= (labels - 0.5) * self.separation
        centres *= self.shift
        centres[:, 0] += (labels - 0.5) * self.separation
        noise = rng.normal(size=(self.n_samples, self.n_features))
        return centres[self.groups] + noise, labels[self.groups]

    def true_error(self, model: Any) -> float:
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
    classes: GaussianClasses,
    *,
    n_sets: int,
    n_resamples: int,
    seed: int,
    **options: Any,
) -> Simulated:
    """Estimate the error of an estimator on many data sets."""
    errors, standard_errors, intervals, true_errors = [], [], [], []
    for child in np.random.SeedSequence(seed).spawn(n_sets):
        rng = np.random.default_rng(child)
        X, y = classes.draw(rng)
        estimates = bootstrap_estimates(
            estimator, X, y, n_resamples=n_resamples, random_state=rng, **options
        )
        results = [estimates[method] for method in METHODS]
        errors.append([result.error for result in results])
        standard_errors.append([result.standard_error for result in results])
        spans = [result.confidence_interval() for result in results]
        intervals.append([(span.low, span.high) for span in spans])
        model = estimator.fit(X, y)
        linear = hasattr(model, "coef_") or hasattr(model, "centroids_")
        true_errors.append(classes.true_error(model) if linear else np.nan)
    return Simulated(*map(np.array, (errors, standard_errors, intervals, true_errors)))
