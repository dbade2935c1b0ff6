"""Kernel matrices of many problems over the same samples, from what the problems share.

Numbers in parentheses are the equations of doc/derivations/kernels.rst.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

__all__ = [
    "FixedKernels",
    "KernelForm",
    "Kernels",
    "ScaledKernels",
    "SharedKernels",
    "squared_distances",
]


class KernelForm(NamedTuple):
    """What makes a kernel of inner products, or of squared distances where `name` is "rbf".

    name: "linear", "poly", "rbf" or "sigmoid". degree, coef0: of the last three.
    """

    name: str
    degree: int = 3
    coef0: float = 0.0

    @property
    def takes_distances(self) -> bool:
        """Whether the kernel is a function of squared distances."""
        return self.name == "rbf"

    @property
    def positive(self) -> bool:
        """Whether the kernel is positive semi-definite whatever the samples are."""
        return self.name in ("linear", "rbf") or (self.name == "poly" and self.coef0 >= 0)

    def apply(self, pairs: np.ndarray, gamma: float) -> np.ndarray:
        """Return the kernel values of products or distances of pairs (1)."""
        if self.name == "rbf":  # (1)
            return np.exp(-gamma * pairs)
        if self.name == "poly":
            values: np.ndarray = (gamma * pairs + self.coef0) ** self.degree
            return values
        return np.tanh(gamma * pairs + self.coef0) if self.name == "sigmoid" else pairs


class Kernels(Protocol):
    """The kernels of B problems over n samples."""

    def groups(self, problems: np.ndarray) -> list[np.ndarray]:
        """Return the places in `problems` of those that share a kernel, or are solved as if."""

    def stack(self, problems: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the Gram matrices of a group on some samples: (r, r) if all are the same, else
        (b, r, r).
        """

    def cross(self, problem: int, rows: np.ndarray) -> np.ndarray:
        """Return the kernel values (r, n) of some samples and all."""


class FixedKernels:
    """Some Gram matrices K (g, n, n), and which of them (B,) each problem has."""

    def __init__(self, K: np.ndarray, which: np.ndarray) -> None:
        self.K, self.which = K, which

    def groups(self, problems: np.ndarray) -> list[np.ndarray]:
        which = self.which[problems]
        return [np.flatnonzero(which == number) for number in np.unique(which)]

    def stack(self, problems: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return self.K[self.which[problems[0]]][np.ix_(rows, rows)]

    def cross(self, problem: int, rows: np.ndarray) -> np.ndarray:
        return self.K[self.which[problem], rows]


class SharedKernels:
    """One matrix of products or squared distances (n, n), and gamma (B,) of each problem."""

    def __init__(self, pairs: np.ndarray, form: KernelForm, gamma: np.ndarray) -> None:
        self.pairs, self.form, self.gamma = pairs, form, gamma

    def groups(self, problems: np.ndarray) -> list[np.ndarray]:
        return [np.arange(len(problems))]

    def stack(self, problems: np.ndarray, rows: np.ndarray) -> np.ndarray:
        pairs = self.pairs[np.ix_(rows, rows)]
        return np.stack([self.form.apply(pairs, gamma) for gamma in self.gamma[problems]])

    def cross(self, problem: int, rows: np.ndarray) -> np.ndarray:
        return self.form.apply(self.pairs[rows], self.gamma[problem])


class ScaledKernels:
    """Columns X (n, p) of which problem `b` sees ``(X - shift[b]) / scale[b]``, and gamma (B,)."""

    def __init__(
        self,
        X: np.ndarray,
        shift: np.ndarray,
        scale: np.ndarray,
        form: KernelForm,
        gamma: np.ndarray,
    ) -> None:
        self.X, self.shift, self.scale, self.form, self.gamma = X, shift, scale, form, gamma

    def groups(self, problems: np.ndarray) -> list[np.ndarray]:
        return [np.arange(len(problems))]

    def stack(self, problems: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return np.stack([self._values(problem, rows, rows) for problem in problems])

    def cross(self, problem: int, rows: np.ndarray) -> np.ndarray:
        return self._values(problem, rows, slice(None))

    def _values(self, problem: int, rows: np.ndarray, columns: np.ndarray | slice) -> np.ndarray:
        left, right = (
            (self.X[part] - self.shift[problem]) / self.scale[problem] for part in (rows, columns)
        )
        pairs = left @ right.T
        if self.form.takes_distances:
            pairs = squared_distances(pairs, np.sum(left**2, axis=1), np.sum(right**2, axis=1))
        return self.form.apply(pairs, self.gamma[problem])


def squared_distances(products: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return ``|x - z|^2`` (r, c) from products x'z (r, c) and the squares |x|^2 and |z|^2 (2)."""
    distances = left[:, None] + right - 2.0 * products  # (2)
    return np.maximum(distances, 0.0, out=distances)
