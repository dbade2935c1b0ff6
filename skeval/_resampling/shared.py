"""What all jobs of a run share reaches each worker once.

joblib's own processes map large arrays from files. On a Dask cluster joblib sends an object anew
with every call, and to one worker, from which the others fetch it; and what the scheduler knows to
be in two places it soon drops in one. Here every worker is given it when the run begins, or when
the worker joins; the scheduler keeps a copy, so no worker holds the only one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import uuid4

from joblib import effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend

__all__ = ["shared_with_workers"]

_held: dict[str, Callable[[Any], Any]] = {}
"""What this process was given, by name."""


@dataclass(frozen=True)
class HeldFunction:
    """Stands for a function that each worker holds.

    What an estimator does in parallel within a job, it does in threads, as in joblib's own
    processes: joblib would send it, with its data, over the cluster for every fit.
    """

    name: str

    def __call__(self, job: Any) -> Any:
        with parallel_config(backend="threading", n_jobs=1):
            return _held[self.name](job)


@contextmanager
def shared_with_workers(function: Callable[[Any], Any]) -> Iterator[Callable[[Any], Any]]:
    """Yield what to send with every job: the function, or what stands for it on a cluster."""
    backend, _ = get_active_backend()
    client = getattr(backend, "client", None)  # that of Dask
    if client is None or effective_n_jobs() == 1:
        yield function
        return
    from distributed import WorkerPlugin

    name = f"skeval-{uuid4().hex}"
    plugin: Any = WorkerPlugin()
    plugin.setup = partial(hold, name, function)
    plugin.teardown = partial(release, name)
    hold(name, function)  # joblib runs jobs here where the cluster shrinks to one worker
    client.register_plugin(plugin, name=name)
    try:
        yield HeldFunction(name)
    finally:
        release(name)
        client.unregister_worker_plugin(name)


def hold(name: str, function: Callable[[Any], Any], worker: Any = None) -> None:
    """Keep a function for the jobs of a run."""
    _held[name] = function


def release(name: str, worker: Any = None) -> None:
    """Forget a function that was kept, as the run that needed it is over."""
    _held.pop(name, None)
