"""The commands of ``python -m skeval``, one module each, not part of the public interface."""

from __future__ import annotations

from difflib import get_close_matches
from os import PathLike
from pathlib import Path

BUNDLED = ("breast_cancer", "iris", "wine", "digits")


def check_source(source: str | PathLike) -> None:
    """Raise an error unless a source is a bundled data set or a file."""
    if str(source) not in BUNDLED and not Path(source).is_file():
        names = [file.name for file in Path(source).parent.glob("*") if file.is_file()]
        name = Path(source).name
        near = [file for file in names if Path(file).stem == name]
        near = near or get_close_matches(name, [*names, *BUNDLED], n=1, cutoff=0.75)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        there = "is a folder, not a file" if Path(source).is_dir() else "does not exist"
        raise FileNotFoundError(
            f"{str(source)!r} {there}{hint}. Bundled data are {', '.join(BUNDLED)}."
        )
