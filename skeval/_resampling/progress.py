"""How far the work has come: a bar or lines on standard error.

The command line begins with it, before anything slow is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from math import isnan, nan
from time import monotonic
from typing import Any

__all__ = ["ProgressLines", "progress_bar", "progress_lines"]


class ProgressLines:
    """Writes how far the work has come where no terminal shows a bar: a line every few seconds.

    `due` is when the next line is, over all the runs of jobs of one command. The clock starts with
    the first of them, so that no line tells of imports.
    """

    def __init__(self, every: float) -> None:
        self.every = every
        self.start = self.due = nan
        self.n_done = self.total = 0

    def update(self, n_more: int) -> None:
        """Count jobs that are done; write a line if one is due."""
        self.n_done += n_more
        now = monotonic()
        if now < self.due:
            return
        self.due = now + self.every
        print(
            f"skeval: {self.n_done} of {self.total} fits of this step, {now - self.start:.0f} s",
            file=sys.stderr,
            flush=True,
        )

    @contextmanager
    def count_to(self, total: int) -> Iterator[ProgressLines]:
        """Count the jobs of one run from 0."""
        if isnan(self.start):
            self.start = monotonic()
            self.due = self.start + self.every
        self.n_done, self.total = 0, total
        yield self


_lines: ContextVar[ProgressLines | None] = ContextVar("lines", default=None)


@contextmanager
def progress_lines(every: float) -> Iterator[None]:
    """Write a line every so many seconds, within this context, whatever `verbose` is."""
    token = _lines.set(ProgressLines(every))
    try:
        yield
    finally:
        _lines.reset(token)


def progress_bar(total: int, verbose: int) -> AbstractContextManager[Any]:
    """Return a tqdm bar, or a context that yields None: no bar is wanted, or tqdm is missing."""
    lines = _lines.get()
    if lines is not None:
        return lines.count_to(total)
    if not verbose:
        return nullcontext()
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return nullcontext()
    return tqdm(total=total)
