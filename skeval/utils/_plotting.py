"""What the displays share: axes to draw on, and the import of matplotlib at the last moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np

__all__ = [
    "CurveDisplay",
    "Display",
    "axes_and_figure",
    "column_of_axes",
    "mark_integers",
    "place_names",
    "put_legend_above",
    "read_fields",
    "shorten_name",
]

LONGEST_NAME = 32
DISTANCES = (
    5,
    16,
    28,
    42,
)  # points between a point and its name; the nearest that is free is taken
DIRECTIONS = ((1, 1), (-1, 1), (1, -1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1))
HORIZONTAL, VERTICAL = ("center", "left", "right"), ("center", "bottom", "top")  # at 0, 1, -1
POINT_SIZE = 8  # pixels


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


def read_fields(display: Any, result: Any) -> dict[str, Any]:
    """Return what a display shows of a result: fields and details that both have, by name."""
    details = getattr(result, "details", {})
    return {
        field.name: details[field.name] if field.name in details else getattr(result, field.name)
        for field in fields(display)
    }


@dataclass(eq=False, repr=False)
class Display:
    """A picture of the numbers in its fields; a subclass, a dataclass, says how to draw them."""

    @classmethod
    def from_result(cls, result: Any, *, ax: Any = None) -> Self:
        """Draw a result: the fields of that name.

        Parameters
        ----------
        result : object
            What the function under See Also returns.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : object of this class
        """
        return cls(**read_fields(cls, result)).plot(ax)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw on the given axes, or on those of a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            Options of the display, and of the matplotlib function that draws what it is about.

        Returns
        -------
        self : object of this class
        """
        self.ax_, self.figure_ = axes_and_figure(ax, figsize=self._find_size(**kwargs))
        self._draw(self.ax_, **kwargs)
        return self

    def _find_size(self, **options: Any) -> tuple[float, float] | None:
        """Return width and height of a new figure in inches; None leaves them to matplotlib."""
        return None

    _draw: ClassVar[Callable[..., None]]
    """Draws the fields on axes, with the options of `plot`."""


@dataclass(eq=False, repr=False)
class CurveDisplay(Display):
    """A curve with its interval at each point and the band of the whole, as far as it has them."""

    curve: Any
    _: KW_ONLY
    name: str | None = None

    _area: ClassVar[str] = "area"
    """What the legend calls the area under the curve."""
    _style: ClassVar[dict[str, Any]] = {}
    _corner: ClassVar[str] = "best"

    def _draw(self, ax: Any, **kwargs: Any) -> None:
        curve = self.curve
        self._draw_reference(ax, color="0.5", linewidth=1)
        options = {"label": self._write_label(), **self._style, **kwargs}
        (self.line_,) = ax.plot(*self._find_points(), **options)
        level, color = f"{100 * curve.confidence_level:g} %", self.line_.get_color()
        for ends, name, alpha in (
            ((curve.low, curve.high), "interval at each point", 0.25),
            (curve.band, "band of the whole curve", 0.12),
        ):
            if ends is not None and ends[0] is not None:
                shade = {"color": color, "linewidth": 0, "alpha": alpha}
                ax.fill_between(curve.x, *ends, label=f"{level} {name}", **shade)
        ax.set(**self._describe_axes())
        ax.legend(loc=self._corner, fontsize="small")

    def _draw_reference(self, ax: Any, **style: Any) -> None:
        """Draw the curve of a score without information."""

    def _find_points(self) -> Any:
        """Return the points to join, x and y."""
        return self.curve.x, self.curve.y

    def _write_label(self) -> str:
        name, area = self.name or self.curve.name, self.curve.area
        if area is None:
            return name
        ends = f", {area.interval.low:.3f} to {area.interval.high:.3f}"
        known = np.isfinite(area.interval.low)
        return f"{name} ({self._area} {area.value:.3f}{ends if known else ''})"

    def _describe_axes(self) -> dict[str, Any]:
        """Return the settings of the axes."""
        across, up = (axis.replace("_", " ").capitalize() for axis in self.curve.axes)
        return {"xlabel": across, "ylabel": up}


def mark_integers(ax: Any) -> None:
    """Put ticks of the vertical axis at whole numbers, whatever ticks the axes had before."""
    from matplotlib.ticker import MaxNLocator

    ax.yaxis.set_major_locator(MaxNLocator("auto", integer=True))


def put_legend_above(ax: Any, share: float, **options: Any) -> None:
    """Draw the legend within the axes, in a share of their height that nothing else takes.

    Beyond the axes it would stand where a title may stand.
    """
    low, high = ax.get_ylim()
    ticks = [tick for tick in ax.get_yticks() if low <= tick <= high]
    ax.set_ylim(low, high + share / (1 - share) * (high - low))
    ax.set_yticks(ticks)
    ax.legend(loc="upper center", fontsize="small", **options)


def place_names(ax: Any, names: Sequence[str], points: np.ndarray) -> list[Any]:
    """Write a name beside each point so that it covers no other name, no point and no legend.

    A name that finds no room at its point stands further away, at the end of a line. To be called
    when all else is drawn, for where there is room depends on the limits of the axes.
    """
    ax.figure.draw_without_rendering()  # the layout decides where points are
    centres = ax.transData.transform(np.asarray(points, dtype=float))
    taken = [(*(centre - POINT_SIZE / 2), *(centre + POINT_SIZE / 2)) for centre in centres]
    if ax.get_legend() is not None:
        taken.append(tuple(ax.get_legend().get_window_extent().extents))
    frame = ax.get_window_extent().extents
    written = []
    for name, point in zip(names, points, strict=True):
        text = _find_room(ax, name, point, np.array(taken), frame)
        taken.append(tuple(text.get_window_extent().extents))
        written.append(text)
    return written


def _find_room(ax: Any, name: str, point: np.ndarray, taken: np.ndarray, frame: np.ndarray) -> Any:
    """Return a name written where it covers least of what is taken, and leaves the frame least."""
    best, least = (DIRECTIONS[0], DISTANCES[0]), np.inf
    for distance, direction in product(DISTANCES, DIRECTIONS):
        text = _write_beside(ax, name, point, direction, distance)
        box = text.get_window_extent().extents
        covered = _measure_overlap(box, taken).sum() + _measure_outside(box, frame)
        text.remove()
        if covered < least:
            best, least = (direction, distance), covered
        if least == 0:
            break
    return _write_beside(ax, name, point, *best)


def _write_beside(ax: Any, name: str, point: Any, direction: tuple[int, int], distance: int) -> Any:
    """Write a name in a direction from a point, with a line to it from further away."""
    line = {"arrowstyle": "-", "color": "grey", "linewidth": 0.6, "shrinkA": 0, "shrinkB": 3}
    across, up = direction
    return ax.annotate(
        name,
        point,
        xytext=(across * distance, up * distance),
        textcoords="offset points",
        fontsize="small",
        ha=HORIZONTAL[across],
        va=VERTICAL[up],
        arrowprops=line if distance > DISTANCES[0] else None,
    )


def _measure_overlap(box: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the areas that a box (left, bottom, right, top) shares with others."""
    sides = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    return np.prod(np.clip(sides, 0, None), axis=1)


def _measure_outside(box: np.ndarray, frame: np.ndarray) -> float:
    """Return the area of a box outside a frame."""
    inside = _measure_overlap(box, frame[np.newaxis])[0]
    return max(float(np.prod(box[2:] - box[:2]) - inside), 0.0)


def shorten_name(name: object) -> str:
    """Return a name that fits beside an axis."""
    text = " ".join(str(name).split())
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"
