"""Check of data sources, which runs before the readers are imported."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

BUNDLED = ("breast_cancer", "iris", "wine", "digits")


def check_source(source: str | PathLike) -> None:
    """Raise unless a source is a bundled data set or a file."""
    if str(source) not in BUNDLED and not Path(source).is_file():
        raise FileNotFoundError(
            f"no file {str(source)!r}, and no bundled set of that name: {', '.join(BUNDLED)}."
        )
