"""What the displays share: axes to draw on, and the import of matplotlib at the last moment."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

__all__ = ["axes_and_figure", "column_of_axes", "read_fields", "shorten_name"]

LONGEST_NAME = 32


def import_pyplot() -> Any:
    """Return `matplotlib.pyplot`, or say how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('a display needs matplotlib: pip install "skeval[plot]"') from error
    return plt


def axes_and_figure(ax: Any = None, **options: Any) -> tuple[Any, Any]:
    """Return the axes, or those of a new figure made with `options`, and their figure."""
    if ax is None:
        _, ax = import_pyplot().subplots(layout="constrained", **options)
    return ax, ax.figure


def column_of_axes(axes: Any, names: Sequence[str], what: str, **options: Any) -> np.ndarray:
    """Return one axes for each name, those given or those of a new figure, one below another."""
    if axes is None:
        _, axes = import_pyplot().subplots(
            len(names), squeeze=False, layout="constrained", **options
        )
    axes = np.ravel(np.asarray(axes, dtype=object))
    if len(axes) != len(names):
        raise ValueError(f"axes must hold one for each of {len(names)} {what}, got {len(axes)}.")
    return axes


def read_fields(display: type, result: Any) -> dict[str, Any]:
    """Return what a display shows of a result: the fields that both have, by name."""
    return {field.name: getattr(result, field.name) for field in fields(display)}


def shorten_name(name: object) -> str:
    """Return a name that fits beside an axis."""
    text = " ".join(str(name).split())
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"
