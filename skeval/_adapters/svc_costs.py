"""What an SVM costs in a batch and in libsvm, so that no adapter takes what it does slower.

Seconds of one core, fitted to ``benchmarks/solver_cost.py``; only their ratio matters, and that is
much the same on other machines. Nothing is timed, so the choice depends on the data alone.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from skeval._solvers.newton import uses_features
from skeval.utils._compat import safe_split

__all__ = ["FitShape", "batch_pays"]

# The seconds of a fit and a prediction of an SVC on the smallest data.
_CALL = 2.5e-3
# The seconds that libsvm takes for each product in a kernel value, and the number of products that
# take as long as what else a kernel value costs.
_KERNEL, _CELL = 7e-10, 15
# The seconds that libsvm takes for each sample in each step.
_STEP = 3.5e-9
# From half of the samples to all of them, support vectors and steps grow by about this factor,
# which lies between 1, for classes that are separable, and 2.
_GROWTH = 1.4
# A batch must be faster by this factor.
_MARGIN = 1.1


class FitShape(NamedTuple):
    """The size of one fit.

    `n_solved` is the number of columns that the SVM sees of `n_features`; `selects` says that each
    fit selects its columns, `scaled` that it scales them, `grams` that fits share a Gram matrix.
    Of `n_classes` each two are a problem on their own samples; where labels are `shuffled` for each
    fit, so that these differ, the problems of a batch are those of all samples.
    """

    n_samples: int
    n_features: int
    n_solved: int
    selects: bool = False
    scaled: bool = False
    grams: bool = False
    n_classes: int = 2
    shuffled: bool = False

    @property
    def _pair_samples(self) -> int:
        """Number of samples of two classes."""
        return max(2, 2 * self.n_samples // self.n_classes)

    def batch_seconds(self, n_fits: int) -> float:
        """Return the time of one of so many fits: Newton systems in features or in samples."""
        if self.n_classes > 2:
            n_pairs = self.n_classes * (self.n_classes - 1) // 2
            n_samples = self.n_samples if self.shuffled else self._pair_samples
            pair = self._replace(n_samples=n_samples, n_classes=2)
            return n_pairs * pair.batch_seconds(n_fits)
        n, k = float(self.n_samples), float(self.n_solved)
        start = 2e-4 + 8e-3 / n_fits
        if self.grams:
            return start + 2.5e-6 * n + 4e-9 * n**2 + 4e-10 * n**3 / n_fits
        if uses_features(self.n_samples, self.n_solved):
            system = n * (1.35e-6 + 4e-8 * k + 1.25e-9 * k**2)
            # Where all fits share the columns, the problem of mean weights is solved first.
            system *= 2.5 if self.selects else 1.0 + 8.0 / n_fits
        else:
            system = 1.5e-7 * n**2 + 2.5e-10 * n**3
            if self.selects or self.scaled:
                system += 1e-10 * n**2 * k
        select = 4e-9 * n * self.n_features if self.selects else 0.0
        return start + system + select

    def loop_seconds(self, n_support: float, n_steps: float) -> float:
        """Return the time of one fit by scikit-learn, given what libsvm went through."""
        cells = float(self.n_samples * self.n_features)
        transform = 2e-3 + 1.2e-8 * cells if self.selects else 0.0
        transform += 8e-4 + 2e-8 * cells if self.scaled else 0.0
        n_pair, n_shared = float(self._pair_samples), self.n_classes - 1  # problems of a sample
        kernel = _KERNEL * n_shared * n_support * n_pair * (self.n_solved + _CELL)
        return _CALL + 5e-9 * cells + transform + kernel + _STEP * n_steps * n_pair


def batch_pays(
    pipeline: Pipeline, X: Any, labels: np.ndarray, shape: FitShape, n_fits: int, times: float = 1.0
) -> bool:
    """Whether a batch of fits is faster by `times` than a loop of them.

    What libsvm takes depends on the data: from ten steps where classes lie far apart to millions.
    Unless its calls alone cost more than the batch, a fit to half of the samples tells, which is
    stopped where a whole fit would have cost more than the batch.
    """
    batch = _MARGIN * times * shape.batch_seconds(n_fits)
    if batch <= shape.loop_seconds(0, 0):
        return True
    budget = int(batch / (_GROWTH * _STEP * shape.n_samples)) + 1
    pilot = clone(pipeline)
    pilot[-1].set_params(max_iter=budget, verbose=False)
    half = np.concatenate([np.flatnonzero(labels == name)[::2] for name in np.unique(labels)])
    samples, names = safe_split(pilot, X, labels, half)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            svc = pilot.fit(samples, names)[-1]
        except ConvergenceWarning:
            return True
        except Exception:  # The loop meets the same, and raises or leaves the fit out.
            return False
    n_support, n_steps = float(svc.n_support_.sum()), float(np.sum(svc.n_iter_))
    return batch <= shape.loop_seconds(_GROWTH * n_support, _GROWTH * n_steps)
