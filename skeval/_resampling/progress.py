"""How far the work has come: a bar on standard error."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from joblib import Parallel

__all__ = ["CountingParallel", "progress_bar"]


def progress_bar(total: int, verbose: int) -> AbstractContextManager[Any]:
    """Return a tqdm bar, or a context that yields None: no bar is wanted, or tqdm is missing."""
    if not verbose:
        return nullcontext()
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return nullcontext()
    return tqdm(total=total)


class CountingParallel(Parallel):
    """`joblib.Parallel` that tells how many more jobs are done, whatever the backend."""

    def __init__(self, listeners: Sequence[Callable[[int], object]], **options: Any) -> None:
        super().__init__(**options)
        self.listeners = listeners
        self._n_told = 0

    def __call__(self, jobs: Any) -> Any:
        self._n_told = 0
        return super().__call__(jobs)

    def print_progress(self) -> None:
        """Take over where joblib prints its own lines."""
        super().print_progress()
        self.advance(self.n_completed_tasks - self._n_told)
        self._n_told = self.n_completed_tasks

    def advance(self, n_more: int) -> None:
        """Tell the listeners that more jobs are done, here or elsewhere."""
        for tell in self.listeners:
            tell(n_more)
