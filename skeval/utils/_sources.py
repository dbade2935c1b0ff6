"""Where a table comes from: checked before what reads it is imported."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

__all__ = ["BUNDLED", "check_source"]

BUNDLED = ("breast_cancer", "iris", "wine", "digits")


def check_source(source: str | PathLike) -> None:
    """Raise where a source is neither a bundled set nor a file."""
    if str(source) not in BUNDLED and not Path(source).is_file():
        raise FileNotFoundError(
            f"no file {str(source)!r}, and no bundled set of that name: {', '.join(BUNDLED)}."
        )
