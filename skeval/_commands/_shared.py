"""What the commands share: their data, their common options, the frame of what they print."""

import argparse
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from skeval.datasets._tables import BUNDLED, Table
from skeval.report._svg import check_extra

__all__ = [
    "add_common",
    "check_classes",
    "check_outputs",
    "headline",
    "noted",
    "progress_level",
    "write_outputs",
]

MOST_WORKERS = 10**6


def add_common(parser: argparse.ArgumentParser, *, target: str) -> None:
    """Add the data and the options that every command has."""
    add = parser.add_argument
    add("data", metavar="DATA", help=f"{', '.join(BUNDLED)}, or a CSV, NPZ or Parquet file")
    add("--target", metavar="COLUMN", help=target)
    add("--seed", type=int, default=0, help="seed of everything random (default: 0)")
    add("--jobs", type=n_workers, help="number of joblib workers")
    add("--json", metavar="FILE", help="write all numbers to a file, too")
    add("--html", metavar="FILE", help="write a page with figures to a file, too")


def n_workers(text: str) -> int:
    """Return a number of workers that a machine could have."""
    if not -MOST_WORKERS <= int(text) <= MOST_WORKERS:
        raise argparse.ArgumentTypeError(f"must be at most {MOST_WORKERS}, got {text}")
    return int(text)


def check_classes(table: Table) -> None:
    """Raise when the labels are measurements."""
    if table.y.ndim == 1 and type_of_target(table.y) == "continuous":
        raise ValueError(
            "the target must hold classes, it holds "
            f"{len(np.unique(table.y))} distinct fractional numbers."
        )


def check_outputs(options: argparse.Namespace) -> None:
    """Raise before the work, rather than after it, when a result has nowhere to go."""
    for name in ("json", "html"):
        path = getattr(options, name)
        if path is not None and not Path(path).absolute().parent.is_dir():
            raise ValueError(f"--{name}: there is no folder {str(Path(path).parent)!r}.")
    if options.html is not None:
        check_extra()


def write_outputs(report: Any, options: argparse.Namespace, procedure: str) -> None:
    """Write a report on a procedure to the files that were asked for."""
    if options.json is not None:
        report.to_json(options.json)
    if options.html is not None:
        report.to_html(options.html, title=f"{Path(options.data).name}: {procedure}")


def headline(source: str, table: Table) -> str:
    """Name the data, their size and, where they have labels, the classes."""
    n_samples, n_features = table.X.shape
    size = f"{Path(source).name}: {n_samples} samples, {n_features} features"
    if table.y is None:
        return f"{size}, no labels"
    classes, sizes = np.unique(table.y, return_counts=True)
    counts = ", ".join(f"{name}: {count}" for name, count in zip(classes, sizes, strict=True))
    return f"{size}, {len(classes)} classes ({counts})"


def noted(function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, list[str]]:
    """Call a function; return what it returns, and its warnings as one line each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        result = function(*args, **kwargs)
    return result, sorted({f"note: {' '.join(str(item.message).split())}" for item in caught})


def progress_level() -> int:
    """Return 1 where somebody watches: progress is for terminals."""
    return int(sys.stderr.isatty())
