"""The label orders of a permutation test: plain, within groups, or of whole groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skeval.utils._checks import warn_user
from skeval.utils._seeds import repetition_rng

__all__ = ["check_orders", "draw_orders"]

Orders = Callable[[int], np.ndarray]


def check_orders(permutations: Any, n_samples: int) -> np.ndarray:
    """Return the given permutations, rows of sample indices, as an int array."""
    orders = np.asarray(permutations)
    if orders.ndim != 2 or orders.shape[1] != n_samples or not len(orders):
        raise ValueError(
            f"permutations must have shape (n_permutations, {n_samples}), got {orders.shape}."
        )
    wrong = np.flatnonzero((np.sort(orders, axis=1) != np.arange(n_samples)).any(axis=1))
    if orders.dtype.kind not in "iu" or len(wrong):
        row = wrong[0] if len(wrong) else 0
        raise ValueError(
            f"permutations must hold each index 0 to {n_samples - 1} once in a row, row {row} does "
            "not."
        )
    return orders.astype(np.intp)


def draw_orders(y: np.ndarray, groups: Any, root: np.random.SeedSequence) -> Orders:
    """Return the function that draws the order of repetition `r`."""
    if groups is None:
        return lambda r: repetition_rng(root, r).permutation(len(y))
    names, unit = np.unique(np.asarray(groups), return_inverse=True)
    members = [np.flatnonzero(unit == group) for group in range(len(names))]
    pure = sum(bool(np.all(y[rows] == y[rows[0]])) for rows in members)
    if pure == len(members):
        first = np.array([rows[0] for rows in members])
        return lambda r: first[repetition_rng(root, r).permutation(len(first))][unit]
    if pure:
        warn_user(
            f"{pure} of {len(members)} groups hold one label, the others several: labels are "
            "shuffled within groups, which moves none in the former. What is tested is whether "
            "the procedure finds more than chance *within* groups; leave out the groups that hold "
            "several labels to test whether it tells groups apart."
        )
    return lambda r: shuffle_within(members, repetition_rng(root, r))


def shuffle_within(members: list[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """Return an order that leaves every label in its group."""
    order = np.empty(sum(map(len, members)), dtype=np.intp)
    for rows in members:
        order[rows] = rng.permutation(rows)
    return order
