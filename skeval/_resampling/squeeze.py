"""Arrays of a plan in few bytes, for the way to another process."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Squeezed", "squeeze", "squeeze_rows"]


@dataclass(frozen=True, eq=False)
class Squeezed:
    """An array in few bytes.

    Attributes
    ----------
    content : ndarray
        The same numbers in the smallest type that holds them, or one bit each.
    dtype : dtype
        What the type was.
    shape : tuple of int or None
        The shape, where `content` is bits.
    repeats : int ndarray or None
        How often each row of `content` follows itself.
    """

    content: np.ndarray
    dtype: np.dtype
    shape: tuple[int, ...] | None = None
    repeats: np.ndarray | None = None

    def unpack(self) -> np.ndarray:
        """Return the array as it was."""
        content = self.content
        if self.shape is not None:
            content = np.unpackbits(content, count=int(np.prod(self.shape))).reshape(self.shape)
        content = content.astype(self.dtype)
        return content if self.repeats is None else np.repeat(content, self.repeats, axis=0)


def squeeze(array: np.ndarray) -> Squeezed:
    """Return an array of non-negative integers, of booleans or of numbers in few bytes.

    Counts of 0 and 1 and booleans take a bit, other integers a byte or two, numbers what they do.
    """
    if array.dtype.kind not in "biu" or not array.size:
        return Squeezed(array, array.dtype)
    largest = array.max()
    if largest <= 1:
        return Squeezed(np.packbits(array.astype(bool)), array.dtype, array.shape)
    return Squeezed(array.astype(np.min_scalar_type(largest)), array.dtype)


def squeeze_rows(array: np.ndarray) -> Squeezed:
    """Return an array of which rows follow that are equal, each once."""
    starts = np.flatnonzero(np.r_[True, (array[1:] != array[:-1]).any(axis=1)])
    squeezed = squeeze(array[starts])
    repeats = np.diff(np.r_[starts, len(array)])
    return Squeezed(squeezed.content, squeezed.dtype, squeezed.shape, repeats)
