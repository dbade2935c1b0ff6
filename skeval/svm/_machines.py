"""What solves the two-class problems of a block: linear machines, and machines on Gram matrices."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.sparse import issparse

from skeval._resampling.plan import PlanBlock, whole_plan
from skeval._solvers.kernel_svm import KernelSVMBatch, is_positive
from skeval._solvers.kernels import (
    FixedKernels,
    KernelForm,
    Kernels,
    ScaledKernels,
    SharedKernels,
    squared_distances,
)
from skeval._solvers.svm import LinearSVMBatch
from skeval.svm._columns import ColumnMaps, ColumnSteps

__all__ = [
    "GramMachine",
    "KernelMachine",
    "LinearMachine",
    "Machine",
    "PairProblems",
    "Solutions",
    "take_block",
]

FITS_OF_KERNEL = 4
"""So many fits with the same kernel, on average, are worth a Gram matrix of all samples."""

KEPT_KERNELS = 2**23
"""Numbers in the Gram matrices that are kept at a time."""


class PairProblems(NamedTuple):
    """Two-class problems, one for each fit of a block.

    Attributes
    ----------
    block : PlanBlock
        The fits, with the training samples of all classes.
    rows : ndarray of shape (m,)
        The samples of the two classes.
    signs : ndarray of shape (m,) or (n_fits, m)
    box : ndarray of shape (n_fits, m)
    """

    block: PlanBlock
    rows: np.ndarray
    signs: np.ndarray
    box: np.ndarray


class Solutions(NamedTuple):
    """Decisions (n_fits, n_samples), nan for fits that do not settle, and alpha (n_fits, m)."""

    decision: np.ndarray
    alpha: np.ndarray


class Machine(Protocol):
    """Solves two-class problems."""

    def solve(self, problems: PairProblems) -> Solutions:
        """Return the solutions."""


class LinearMachine:
    """Linear SVMs on columns that each fit may scale."""

    def __init__(self, steps: ColumnSteps) -> None:
        self._steps = steps
        self._batches: dict[bytes, LinearSVMBatch] = {}

    def solve(self, problems: PairProblems) -> Solutions:
        batch = self._prepare(problems.rows)
        steps, maps = self._steps, None
        if steps.drops or steps.scaler is not None:
            maps = steps.maps(problems.block)
        # Columns that are constant in a fit have no part in it: unscaled they may stay.
        scales = None if maps is None or steps.scaler is None else maps.scale
        solution = batch.solve(problems.signs, problems.box, scales=scales)
        decision = solution.decision
        if len(problems.rows) < len(steps.X):
            decision = batch.decide(steps.X, problems.signs, solution, scales=scales)
        return leave_empty(Solutions(decision, solution.alpha), maps)

    def _prepare(self, rows: np.ndarray) -> LinearSVMBatch:
        key = rows.tobytes()
        if key not in self._batches:
            self._batches[key] = LinearSVMBatch(self._steps.X[rows])
        return self._batches[key]


class GramMachine:
    """SVMs on one Gram matrix K (n, n) that all fits share."""

    def __init__(self, K: np.ndarray) -> None:
        self._K = 0.5 * (K + K.T)
        self._batches: dict[bytes, KernelSVMBatch] = {}

    def solve(self, problems: PairProblems) -> Solutions:
        kernels = FixedKernels(self._K[None], np.zeros(len(problems.box), dtype=np.intp))
        return self.solve_with(kernels, problems)

    def solve_with(self, kernels: Kernels, problems: PairProblems) -> Solutions:
        """Solve with kernels that are near the matrix."""
        rows = problems.rows
        key = rows.tobytes()
        if key not in self._batches:
            self._batches[key] = KernelSVMBatch(self._K[np.ix_(rows, rows)], rows)
        batch = self._batches[key]
        found = batch.solve(kernels, problems.signs, problems.box, len(self._K))
        return Solutions(found.decision, found.alpha[:, rows])


class KernelMachine:
    """SVMs with a kernel of scikit-learn, on columns that each fit may scale.

    `gamma` is that of the estimator: a number, "scale" or "auto".
    """

    def __init__(self, X: Any, steps: ColumnSteps | None, form: KernelForm, gamma: Any) -> None:
        self._X, self._steps, self._form, self._gamma = X, steps, form, gamma
        self._n, self._p = X.shape

    def solve(self, problems: PairProblems) -> Solutions:
        maps = None if self._steps is None else self._steps.maps(problems.block)
        gamma = self._gammas(problems.block, maps)
        groups = group_equal(gamma, maps)
        if self._form.positive and len(groups) * FITS_OF_KERNEL > len(gamma):
            found = self._near.solve_with(self._kernels(gamma, maps), problems)
            return leave_empty(found, maps)
        size = max(1, KEPT_KERNELS // self._n**2)
        parts = [groups[start : start + size] for start in range(0, len(groups), size)]
        found = Solutions(np.full((len(gamma), self._n), np.nan), np.zeros(problems.box.shape))
        for part in parts:
            fits = np.concatenate(part)
            kernels = self._fix(part, self._kernels(gamma, maps))
            solved = self._near.solve_with(kernels, take_fits(problems, fits))
            found.decision[fits], found.alpha[fits] = solved
        return leave_empty(found, maps)

    def _fix(self, groups: list[np.ndarray], kernels: Kernels) -> FixedKernels:
        """Return a Gram matrix for each group of fits; nan where it is not positive."""
        firsts = np.array([fits[0] for fits in groups])
        K = kernels.stack(firsts, np.arange(self._n))
        if not self._form.positive:
            # Where SVC ends depends on its steps.
            K[[not is_positive(one) for one in K]] = np.nan
        return FixedKernels(K, np.repeat(np.arange(len(groups)), [len(fits) for fits in groups]))

    @cached_property
    def _near(self) -> GramMachine:
        """Return the machine on the Gram matrix of the fit to all samples."""
        block = whole_plan(self._n).draw(0)
        maps = None if self._steps is None else self._steps.maps(block)
        kernels = self._kernels(self._gammas(block, maps), maps)
        return GramMachine(kernels.stack(np.zeros(1, dtype=np.intp), np.arange(self._n))[0])

    def _kernels(self, gamma: np.ndarray, maps: ColumnMaps | None) -> Kernels:
        """Return the kernels of some fits."""
        if maps is None:
            return SharedKernels(self._pairs, self._form, gamma)
        return ScaledKernels(self._X, maps.shift, maps.scale, self._form, gamma)

    @cached_property
    def _pairs(self) -> np.ndarray:
        """Return the products, or squared distances, of all pairs of samples."""
        X = self._X
        if self._form.takes_distances and not issparse(X):
            X = X - X.mean(axis=0)  # no distance changes, but they are more exact
        products = X @ X.T
        products = products.toarray() if issparse(products) else products
        if not self._form.takes_distances:
            return np.asarray(products)
        squares = np.diagonal(products).copy()
        pairs = squared_distances(products, squares, squares)
        np.fill_diagonal(pairs, 0.0)
        return pairs

    def _gammas(self, block: PlanBlock, maps: ColumnMaps | None) -> np.ndarray:
        """Return gamma (n_fits,) of each fit."""
        kept = np.full(len(block), self._p)
        if maps is not None:
            kept = np.maximum(1, maps.n_kept)
        if self._gamma == "auto":
            return 1.0 / kept
        if self._gamma != "scale":
            return np.full(len(block), float(self._gamma))
        counts = block.train if block.train.dtype.kind in "iu" else block.train > 0
        variance = self._variances(counts.astype(float), maps, kept)
        flat = variance == 0
        return np.where(flat, 1.0, 1.0 / (kept * np.where(flat, 1.0, variance)))

    def _variances(
        self, counts: np.ndarray, maps: ColumnMaps | None, kept: np.ndarray
    ) -> np.ndarray:
        """Return the variance (n_fits,) of all numbers that each fit trains on."""
        shares = counts / counts.sum(axis=1, keepdims=True)
        first, second, centre = self._moments
        first, second = shares @ first, shares @ second  # (n_fits, p)
        if maps is not None:
            shift, scale = maps.shift - centre, maps.scale
            second = (second - 2.0 * shift * first + shift**2) / scale**2
            first = (first - shift) / scale
        mean, square = first.sum(axis=1) / kept, second.sum(axis=1) / kept
        variance = square - mean**2
        for fit in np.flatnonzero(
            ~(variance > 1e-6 * square)
        ).tolist():  # cancellation has spoilt it
            rows = np.flatnonzero(counts[fit])
            variance[fit] = self._direct_variance(rows, counts[fit, rows], maps, fit)
        return variance

    @cached_property
    def _moments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the numbers, their squares, and what they are centred by, a column for each map.

        Without maps only sums of rows are needed.
        """
        X = self._X
        if issparse(X):
            return X.sum(axis=1).reshape(-1, 1), X.power(2).sum(axis=1).reshape(-1, 1), np.zeros(1)
        if self._steps is None:
            centre = X.mean()
            X = X - centre
            return X.sum(axis=1)[:, None], (X**2).sum(axis=1)[:, None], np.array([centre])
        centre = X.mean(axis=0)
        return X - centre, (X - centre) ** 2, centre

    def _direct_variance(
        self, rows: np.ndarray, counts: np.ndarray, maps: ColumnMaps | None, fit: int
    ) -> float:
        part = self._X[rows]
        part = part.toarray() if issparse(part) else part
        if maps is not None:
            kept = np.isfinite(maps.scale[fit])
            part = ((part - maps.shift[fit]) / maps.scale[fit])[:, kept]
        return float(np.repeat(part, counts.astype(np.intp), axis=0).var()) if part.size else 0.0


def leave_empty(found: Solutions, maps: ColumnMaps | None) -> Solutions:
    """Take back the solutions of fits that keep no column, which the transformers refuse."""
    if maps is not None:
        found.decision[maps.n_kept == 0] = np.nan
    return found


def group_equal(gamma: np.ndarray, maps: ColumnMaps | None) -> list[np.ndarray]:
    """Return the fits that share a kernel, group after group."""
    groups: dict[bytes, list[int]] = {}
    for fit, value in enumerate(gamma):
        parts = [value] if maps is None else [value, *(rows[fit] for rows in maps)]
        groups.setdefault(b"".join(part.tobytes() for part in parts), []).append(fit)
    return [np.array(fits) for fits in groups.values()]


def take_fits(problems: PairProblems, fits: np.ndarray) -> PairProblems:
    """Return the problems of some fits."""
    block, rows, signs, box = problems
    part = take_block(block, fits)
    return PairProblems(part, rows, signs if signs.ndim == 1 else signs[fits], box[fits])


def take_block(block: PlanBlock, fits: np.ndarray) -> PlanBlock:
    """Return some fits of a block."""
    order = None if block.order is None else block.order[fits]
    return PlanBlock(block.train[fits], block.test[fits], order)
