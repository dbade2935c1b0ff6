"""One entropy per call, one independent stream per repetition."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.random import Generator, RandomState, SeedSequence

__all__ = ["RandomStateLike", "child_seed", "repetition_rng", "root_seed", "small_seed"]

RandomStateLike = int | RandomState | Generator | SeedSequence | None


def root_seed(random_state: RandomStateLike) -> SeedSequence:
    """Turn any scikit-learn `random_state` into the root seed of a call.

    None gives fresh entropy from the operating system, an int is that entropy, and a generator
    is advanced once, so that two calls with the same generator differ.
    """
    if random_state is None:
        return SeedSequence()
    if isinstance(random_state, SeedSequence):  # only passed on inside the package
        return random_state
    if isinstance(random_state, Integral):
        if random_state < 0:
            raise ValueError(f"random_state must be >= 0, got {random_state}.")
        return SeedSequence(int(random_state))
    if isinstance(random_state, Generator):
        return SeedSequence(random_state.integers(0, 2**32, size=4).tolist())
    if isinstance(random_state, RandomState):
        return SeedSequence(random_state.randint(0, 2**32, size=4, dtype=np.uint64).tolist())
    raise TypeError(
        "random_state must be None, an int, a numpy RandomState or a numpy Generator, "
        f"got {type(random_state).__name__}."
    )


def small_seed(random_state: RandomStateLike) -> int:
    """Turn any scikit-learn `random_state` into an int that any of its splitters takes.

    An int below 2**32 stands for itself, so the result can be given back for the same numbers.
    """
    root = root_seed(random_state)
    if isinstance(random_state, Integral) and random_state < 2**32:
        return int(random_state)
    return int(root.generate_state(1)[0])


def child_seed(root: SeedSequence, use: int) -> SeedSequence:
    """Return the root of one of several uses of a root."""
    return SeedSequence(root.entropy, spawn_key=(*root.spawn_key, use))


def repetition_rng(root: SeedSequence, repetition: int) -> Generator:
    """Return the stream of one repetition: child `repetition` of ``root.spawn``.

    The child is addressed directly, so any block of repetitions can be drawn on its own and the
    first 100 of 200 repetitions are the 100.
    """
    return np.random.default_rng(child_seed(root, repetition))
