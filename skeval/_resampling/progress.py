"""How far the work has come: the line of a command, a bar, and scikit-learn's callbacks.

A display never endangers a run: if it fails, it is silent from then on. Callbacks (from
scikit-learn 1.9) belong to the current fit. The command line begins with it, before anything slow
is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import partial
from math import inf, nan
from shutil import get_terminal_size
from time import monotonic
from typing import Any

SECONDS_A_FRAME = 0.1


SECONDS_TO_KNOW, FITS_TO_KNOW = 1.0, 3
"""Seconds and fits after which the time of a run is forecast; the first fit is slower."""


CLEAR = "\r\x1b[K"


def write_seconds(seconds: float) -> str:
    """Return a time as people say it."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def tell(line: str) -> None:
    """Write a line that stays; nothing where standard error is closed."""
    Progress(inf).write(f"{line}\n")


class Progress:
    """The line that shows the progress of a command and its results so far.

    Its first words, the `headline` of so many fits, stand there before the first of them. On a
    terminal it is redrawn. Elsewhere it is written as soon as a run of fits is known to take long,
    and then now and then, more seldom as time goes by.

    Parameters
    ----------
    every : float
        Seconds between two lines where none is redrawn.
    redraws : bool
        Whether one line is redrawn.
    """

    def __init__(self, every: float, *, redraws: bool = False) -> None:
        self.every, self.redraws = every, redraws
        self.step = self.known = ""
        self.headline: Callable[[int], str] | None = None
        self.limit = inf
        self.start = self.due = self.begun = nan
        self.n_done = self.total = 0
        self.works = True

    def say(self, text: str) -> None:
        """Write a line that stays."""
        self.write(f"{CLEAR if self.redraws else ''}skeval: {text}\n")

    def begin(self, total: int) -> None:
        """Begin a run of fits."""
        now = monotonic()
        if self.start != self.start:
            self.start, self.due = now, now + (SECONDS_A_FRAME if self.redraws else self.every)
        if self.headline is not None:
            self.say(self.headline(total))
            self.headline = None
        self.n_done, self.total, self.begun = 0, total, now
        self._is_forecast = False

    def update(self, n_more: int) -> None:
        """Count fits that are done; write a line if one is due."""
        self.n_done += n_more
        now = monotonic()
        if now >= self.due or self._is_long(now):
            self._show(now)

    def close(self) -> None:
        """Leave nothing of a line that is redrawn."""
        if self.redraws:
            self.write(CLEAR)

    def _is_long(self, now: float) -> bool:
        """Whether it has just become known that this run takes longer than lines are apart."""
        passed = now - self.begun
        is_known = passed >= SECONDS_TO_KNOW and self.n_done >= FITS_TO_KNOW
        if self._is_forecast or self.redraws or not (is_known or passed >= self.every):
            return False
        self._is_forecast = True
        return passed + self._seconds_left(now) > min(self.every, self.limit)

    def _seconds_left(self, now: float) -> float:
        """Return how long the rest of this run will take, by the fits that are done."""
        return (now - self.begun) * (self.total - self.n_done) / self.n_done

    def _show(self, now: float) -> None:
        passed = now - self.start
        text = f"{self.n_done} of {self.total} fits, {write_seconds(passed)}"
        if self.step and not (self.redraws and self.known):
            text = f"{self.step}: {text}"
        if now - self.begun >= SECONDS_TO_KNOW and FITS_TO_KNOW <= self.n_done < self.total:
            left = self._seconds_left(now)
            text += f", about {write_seconds(left)} left"
            if passed + left > self.limit:
                text += ", beyond the limit of time: these are the fewest that give an answer"
                self.limit = inf
        text += f"; {self.known}" if self.known else ""
        if self.redraws:
            self.due = now + SECONDS_A_FRAME
            room = get_terminal_size().columns - 1
            self.write(f"{CLEAR}{f'skeval: {text}'[:room]}")
        else:
            self.due = now + max(self.every, passed / 5)
            self.say(text)

    def write(self, text: str) -> None:
        """Write a text; nothing from the first that fails on."""
        if not self.works:
            return
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):  # it is closed, or there is none
            self.works = False


Advance = Callable[[int], object]
"""Callback that receives the number of newly completed fits."""


class TqdmBar:
    """A bar of tqdm, with what is known so far behind it."""

    def __init__(self, bar: Any) -> None:
        self.bar: Any = bar

    def update(self, n_more: int) -> None:
        """Count fits that are done."""
        self._do("update", n_more)

    def show(self, known: str) -> None:
        """Write behind the bar what is known."""
        self._do("set_postfix_str", known)

    def close(self) -> None:
        """Leave the bar as it is."""
        self._do("close")

    def _do(self, what: str, *arguments: Any) -> None:
        if self.bar is None:
            return
        try:
            getattr(self.bar, what)(*arguments)
        except Exception:  # a display fails in ways of its own
            self.bar = None


_progress: ContextVar[Progress | None] = ContextVar("progress", default=None)
_bar: ContextVar[TqdmBar | None] = ContextVar("bar", default=None)


@contextmanager
def show_progress(progress: Progress) -> Iterator[None]:
    """Show how far everything within this context has come, whatever `verbose` is."""
    token = _progress.set(progress)
    try:
        yield
    finally:
        progress.close()
        _progress.reset(token)


def begin_step(name: str, verbose: int) -> None:
    """Say which step of a longer computation begins."""
    progress = _progress.get()
    if progress is not None:
        progress.step, progress.known = name, ""
    elif verbose:
        tell(f"skeval: {name} ...")


def show_estimate(write: Callable[[], str]) -> None:
    """Show what is known so far, which is asked for only where there is something to show it."""
    shown = _progress.get() or _bar.get()
    if shown is None:
        return
    try:
        estimate = write()
    except Exception:  # the fits are worth more than what is said of them meanwhile
        return
    if isinstance(shown, Progress):
        shown.known = estimate
    else:
        shown.show(estimate)


@contextmanager
def follow_jobs(total: int, verbose: int) -> Iterator[tuple[list[Advance], int]]:
    """Yield a function that receives the number of finished fits, and joblib's verbosity."""
    with progress_bar(total, verbose) as show, jobs_task(total) as tell:
        listeners = [each for each in (show, tell) if each is not None]
        yield listeners, verbose if show is None else max(0, verbose - 1)


@contextmanager
def progress_bar(total: int, verbose: int) -> Iterator[Advance | None]:
    """Yield what shows fits that are done: the line of a command, a tqdm bar; None for neither."""
    progress = _progress.get()
    if progress is not None:
        progress.begin(total)
        yield progress.update
        return
    made = _make_bar(total) if verbose else None
    if made is None:
        yield None
        return
    token = _bar.set(made)
    try:
        yield made.update
    finally:
        _bar.reset(token)
        made.close()


def _make_bar(total: int) -> TqdmBar | None:
    """Return a tqdm bar, None where tqdm is missing."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    try:
        return TqdmBar(tqdm(total=total))
    except Exception:  # there is nothing to write to
        return TqdmBar(None)


TICKS = 100
"""Subtasks of a task of many jobs at most: a bar has use for no more."""

_open_task: ContextVar[Callable[[int], AbstractContextManager[Advance]] | None] = ContextVar(
    "open_task", default=None
)


@contextmanager
def fit_task(estimator: Any, n_tasks: int, X: Any, y: Any) -> Iterator[None]:
    """Tell the callbacks that a fit begins and ends, and of the `n_tasks` runs of jobs in it."""
    if not hasattr(estimator, "_init_callback_context"):  # scikit-learn before 1.9
        yield
        return
    context = estimator._init_callback_context(max_subtasks=n_tasks)
    context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    outer = _open_task.get()
    _open_task.set(partial(open_ticks, estimator, context))
    try:
        yield
    finally:
        _open_task.set(outer)
    context.call_on_fit_task_end(estimator=estimator, X=X, y=y)


@contextmanager
def jobs_task(total: int) -> Iterator[Advance | None]:
    """Yield a function that reports finished jobs to the callbacks of the current fit, if any.

    It is None without a fit. A fit within a job is not divided further.
    """
    open_task = _open_task.get()
    if open_task is None:
        yield None
        return
    _open_task.set(None)
    try:
        with open_task(total) as advance:
            yield advance
    finally:
        _open_task.set(open_task)


@contextmanager
def open_ticks(estimator: Any, parent: Any, total: int) -> Iterator[Advance]:
    """Open a task of some jobs, whose subtasks end as the jobs are done."""
    n_ticks = min(total, TICKS)
    context = parent.subcontext(task_name="resampling", max_subtasks=n_ticks)
    context.call_on_fit_task_begin(estimator=estimator)
    n_done = n_told = 0

    def advance(n_more: int) -> None:
        nonlocal n_done, n_told
        n_done += n_more
        while n_told < n_ticks * n_done // total:
            tick = context.subcontext(task_name="fits")
            tick.call_on_fit_task_begin(estimator=estimator)
            tick.call_on_fit_task_end(estimator=estimator)
            n_told += 1

    yield advance
    context.call_on_fit_task_end(estimator=estimator)
