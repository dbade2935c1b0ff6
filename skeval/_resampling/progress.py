"""Progress of the fits: the line of a command, a bar of tqdm, and scikit-learn's callbacks.

After an error, a display shows nothing more, and the run continues. Callbacks (from scikit-learn
1.9) belong to the current fit. The command line imports this module first, so it must not import
slow packages.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from shutil import get_terminal_size
from time import monotonic
from typing import Any

SECONDS_A_FRAME = 0.1
CLEAR = "\r\x1b[K"

Advance = Callable[[int], object]
"""Callback that receives the number of newly completed fits."""


def write_seconds(seconds: float) -> str:
    """Return a duration in seconds, minutes or hours."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def tell(line: str) -> None:
    """Write a permanent line, or nothing if standard error is closed."""
    Progress().write(f"{line}\n")


class Progress:
    """Line with the progress of a command and its preliminary result.

    The `headline` is written just before the first fit, so errors of the input appear without it.
    On a terminal, the line is redrawn. Elsewhere, lines are written at increasing intervals.

    Parameters
    ----------
    every : float
        Seconds between two lines if they are not redrawn.
    redraws : bool
        Whether one line is redrawn.
    """

    def __init__(self, every: float = 0.0, *, redraws: bool = False) -> None:
        self.every, self.redraws = SECONDS_A_FRAME if redraws else every, redraws
        self.headline = self.step = self.estimate = ""
        self.start: float | None = None
        self.due = 0.0
        self.n_done = self.total = 0
        self.works = True

    def say(self, text: str) -> None:
        """Write a permanent line."""
        self.write(f"{CLEAR if self.redraws else ''}skeval: {text}\n")

    def begin(self, total: int) -> None:
        """Begin a run of fits."""
        if self.start is None:
            self.start = monotonic()
            self.due = self.start + self.every
        if self.headline:
            self.say(self.headline)
            self.headline = ""
        self.n_done, self.total = 0, total

    def update(self, n_more: int) -> None:
        """Count fits that are done. Write a line if one is due."""
        self.n_done += n_more
        now = monotonic()
        if self.start is None or now < self.due:
            return
        # number of fits, time, and the preliminary result
        passed = now - self.start
        text = f"{self.n_done} of {self.total} fits, {write_seconds(passed)}"
        if self.step and not (self.redraws and self.estimate):
            text = f"{self.step}: {text}"
        text += f"; {self.estimate}" if self.estimate else ""
        # a terminal redraws one line, other outputs get lines at increasing intervals
        if self.redraws:
            self.due = now + self.every
            self.write(f"{CLEAR}{f'skeval: {text}'[: get_terminal_size().columns - 1]}")
        else:
            self.due = now + max(self.every, passed / 5)
            self.say(text)

    def close(self) -> None:
        """Clear a line that is redrawn."""
        if self.redraws:
            self.write(CLEAR)

    def write(self, text: str) -> None:
        """Write a text, unless an earlier attempt failed."""
        if not self.works:
            return
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):  # standard error is closed or missing
            self.works = False


displayed: ContextVar[Progress | None] = ContextVar("progress", default=None)
bar_shown: ContextVar[Any] = ContextVar("bar", default=None)
"""Bar of tqdm."""


@contextmanager
def show_progress(progress: Progress) -> Iterator[None]:
    """Show the progress of all fits in this context, for any `verbose`."""
    token = displayed.set(progress)
    try:
        yield
    finally:
        progress.close()
        displayed.reset(token)


def begin_step(name: str, verbose: int) -> None:
    """Name the step of a longer computation when it begins."""
    progress = displayed.get()
    if progress is not None:
        progress.step, progress.estimate = name, ""
    elif verbose:
        tell(f"skeval: {name} ...")


def show_estimate(write: Callable[[], str]) -> None:
    """Show a preliminary result. `write` is called only if there is a display."""
    progress, bar = displayed.get(), bar_shown.get()
    with suppress(Exception):  # a display that fails must not end the fits
        if progress is not None:
            progress.estimate = write()
        elif bar is not None:
            bar.set_postfix_str(write())


def ignore_errors(function: Callable[..., object]) -> Callable[..., None]:
    """Return a function of a display whose errors do not end the fits."""

    def call(*arguments: Any) -> None:
        with suppress(Exception):
            function(*arguments)

    return call


@contextmanager
def show_bar(total: int) -> Iterator[Advance]:
    """Show a bar of tqdm, or a line if tqdm is not installed. Yield its listener."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        tell(f"skeval: {total} fits")
        yield lambda _: None
        return
    try:
        bar = tqdm(total=total)
    except Exception:  # there is nothing to write to
        bar = tqdm(total=total, disable=True)
    token = bar_shown.set(bar)
    try:
        # an error of the bar must not stop the fits
        yield ignore_errors(bar.update)
    finally:
        bar_shown.reset(token)
        ignore_errors(bar.close)()


TICKS = 100
"""Maximum number of subtasks of a task with many jobs."""

task_opener: ContextVar[Callable[[int], AbstractContextManager[Advance]] | None] = ContextVar(
    "open_task", default=None
)


@contextmanager
def fit_task(estimator: Any, n_tasks: int, X: Any, y: Any) -> Iterator[None]:
    """Report the begin and end of a fit to the callbacks, and the `n_tasks` runs of jobs in it."""
    from skeval.utils._compat import callback_context

    context = callback_context(estimator, n_tasks)
    if context is None:  # scikit-learn before 1.9
        yield
        return
    context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    # jobs that open within this fit report to it
    outer = task_opener.get()
    task_opener.set(partial(open_ticks, estimator, context))
    try:
        yield
    finally:
        task_opener.set(outer)
    context.call_on_fit_task_end(estimator=estimator, X=X, y=y)


@contextmanager
def open_ticks(estimator: Any, parent: Any, total: int) -> Iterator[Advance]:
    """Open a task of some jobs, whose at most `TICKS` subtasks end as the jobs are done."""
    n_ticks = min(total, TICKS)
    context = parent.subcontext(task_name="resampling", max_subtasks=n_ticks)
    context.call_on_fit_task_begin(estimator=estimator)
    n_done = n_reported = 0

    def advance(n_more: int) -> None:
        nonlocal n_done, n_reported
        n_done += n_more
        # subtasks end in proportion to the finished fits
        while n_reported < n_ticks * n_done // total:
            tick = context.subcontext(task_name="fits")
            tick.call_on_fit_task_begin(estimator=estimator)
            tick.call_on_fit_task_end(estimator=estimator)
            n_reported += 1

    yield advance
    context.call_on_fit_task_end(estimator=estimator)
