"""How far the work has come: a bar on standard error."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

__all__ = ["progress_bar"]


def progress_bar(total: int, verbose: int) -> AbstractContextManager[Any]:
    """Return a tqdm bar, or a context that yields None: no bar is wanted, or tqdm is missing."""
    if not verbose:
        return nullcontext()
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return nullcontext()
    return tqdm(total=total)
