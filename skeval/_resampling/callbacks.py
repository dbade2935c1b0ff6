"""What scikit-learn's callbacks (from 1.9) are told of the fits that an estimator makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

__all__ = ["fit_task", "jobs_task"]

Advance = Callable[[int], object]
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
    """Yield what tells the callbacks of the fit under way of jobs done; None without a fit.

    A fit within the jobs is one by itself.
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
