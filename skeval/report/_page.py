"""Templates of a page, and drawings in its colors.

Drawings are inline SVG that uses the colors of the page and unique ids.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from html import escape
from io import StringIO
from math import isfinite
from typing import Any
from xml.etree import ElementTree


def load_template(name: str) -> Any:
    """Return the template "page.html", a document, or "fragment.html", for a notebook.

    ``render`` fills it with a report, its title and its sections; every value is escaped except the
    SVG of figures.
    """
    check_extra()
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("skeval.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["join_units"] = _join_units
    return environment.get_template(name)


def _join_units(text: str) -> str:
    """Return a sentence without line breaks within "5 %" or "P = 0.1"."""
    return re.sub(r"(?<=\d) (?=%)|(?<=P) (?==)|(?<==) (?=\d)", "\u00a0", text)


WIDTH = 4.4  # inches: a phone shows the figure at 370 px and its text at 9 px or more
INK, PAPER, MUTED = "#1f2328", "#ffffff", "#57606a"
SERIES = ("#1f6fb4", "#c2560c")
COLORS = {  # colors of the displays -> CSS variables of the page, which have dark values
    INK: "ink",
    PAPER: "paper",
    MUTED: "muted",
    "#808080": "muted",  # "gray" and "0.5" of the displays
    SERIES[0]: "series-1",
    SERIES[1]: "series-2",
}
STYLE = {
    "axes.edgecolor": MUTED,
    "axes.facecolor": PAPER,  # also the background of the legend
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 9.5,
    "grid.color": MUTED,
    "legend.edgecolor": MUTED,
    "legend.framealpha": 0.85,
    "savefig.transparent": True,
    "svg.fonttype": "none",  # keep text as text, not as paths
    "svg.hashsalt": "skeval",
    "text.color": INK,
    "text.parse_math": False,  # a dollar sign in a name does not start a formula
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
}
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def draw_svg(
    draw: Callable[..., Any], *, label: str, height: float, n_panels: int | None = None
) -> str:
    """Return the drawing of `draw(ax=...)` as inline SVG for a page.

    It receives one axes, or an array of `n_panels` axes, one below another.
    """
    check_extra()
    from matplotlib import style
    from matplotlib.figure import Figure
    from matplotlib.rcsetup import cycler

    with style.context(["default", STYLE | {"axes.prop_cycle": cycler(color=SERIES)}]):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        draw(ax=figure.subplots() if n_panels is None else figure.subplots(n_panels, sharex=True))
        text = StringIO()
        with warnings.catch_warnings():  # the browser renders the text with its own fonts
            warnings.filterwarnings("ignore", "Glyph", UserWarning)
            warnings.filterwarnings("ignore", "Matplotlib currently does not support", UserWarning)
            figure.savefig(text, format="svg", metadata={"Date": None})
    return _adapt_svg(NOT_XML.sub("\ufffd", text.getvalue()), label)


LEFT, RIGHT, END = 128.0, 356.0, 420.0
"""Ends of the axis of a line, and of the drawing; names are left of the axis."""
ROW, TEXT = 17.0, 12.5
MAX_NAME, MAX_QUANTITY = 18, 12


def draw_line(
    quantity: str,
    answers: Mapping[str, tuple[float, float, float]],
    others: Mapping[str, float],
    baseline: tuple[str, float] | None,
    best: float,
    write: Callable[[float], str],
) -> str:
    """Return an SVG of the main estimates with intervals, above other estimates on the same axis.

    The axis extends from the `best` value, 0 for errors, to the baseline, or further if a value
    lies beyond it.
    """
    shown = [end for answer in answers.values() for end in answer] + list(others.values())
    shown = [
        value for value in [best, *shown, *([baseline[1]] if baseline else [])] if isfinite(value)
    ]
    low, high = min(shown), max(shown)
    if not low < high:
        return ""

    def place(value: float) -> float:
        return LEFT + (RIGHT - LEFT) * (value - low) / (high - low)

    parts, descriptions = list[str](), list[str]()
    y, bottom = 2.4 * ROW, ROW * (3.2 + len(answers) + len(others))
    if baseline:
        at, text = place(baseline[1]), f"{baseline[0]}: {write(baseline[1])}"
        half = len(text) * TEXT * 0.27
        middle = min(max(at, half), END - half)
        parts += [_stroke(at, at, "muted", 1, ROW * 1.3, y + ROW * (len(answers) - 0.4), True)]
        parts += [_write(middle, ROW, text, "muted", "middle")]
        descriptions.append(text)
    for name, (value, first, last) in answers.items():
        parts += [_write(LEFT - 10, y, _shorten(name), "ink", "end")]
        ends = "no confidence interval"
        if isfinite(first) and isfinite(last):
            parts += [_stroke(place(first), place(last), "series-1", 5, y - 4, y - 4)]
            ends = f"CI {write(first)} to {write(last)}"
        parts += [*_mark(place(value), y - 4, 6), _write(END, y, write(value), "ink", "end")]
        descriptions.append(f"{name} {write(value)}, {ends}")
        y += ROW
    parts += [_stroke(LEFT, RIGHT, "muted", 1, y - ROW * 0.4, y - ROW * 0.4)]
    y += ROW * 0.5
    for value, side in ((low, "start"), (high, "end")):
        parts += [_write(place(value), y, write(value), "muted", side)]
    if len(quantity) > MAX_QUANTITY:
        y, bottom = y + ROW, bottom + ROW
    parts += [_write((LEFT + RIGHT) / 2, y, quantity, "muted", "middle")]
    for name, value in others.items():
        y += ROW
        parts += [*_mark(place(value), y - 4, 3), _write(END, y, write(value), "muted", "end")]
        parts += [_write(LEFT - 10, y, _shorten(name), "muted", "end")]
        descriptions.append(f"{name} {write(value)}")
    label = escape(f"{quantity} on a line: {'; '.join(descriptions)}.")
    size = f"0 0 {END:g} {bottom:g}"
    return f'<svg viewBox="{size}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def _shorten(name: str) -> str:
    """Return a name that fits left of the axis."""
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"


def _write(x: float, y: float, text: str, color: str, anchor: str) -> str:
    """Return a text element."""
    style = f"fill: var(--{color}); font-size: {TEXT}px; text-anchor: {anchor}"
    return f'<text x="{x:.1f}" y="{y:.1f}" style="{style}">{escape(text)}</text>'


def _stroke(
    x1: float, x2: float, color: str, width: float, y1: float, y2: float, dashed: bool = False
) -> str:
    """Return a line element."""
    style = f"stroke: var(--{color}); stroke-width: {width:g}{'; stroke-dasharray: 4 3' * dashed}"
    ends = f'x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} style="{style}"/>'


def _mark(x: float, y: float, radius: float) -> Iterator[str]:
    """Yield a point; nothing if the value is not finite."""
    if isfinite(x):
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" style="fill: var(--series-1)"/>'


def check_extra() -> None:
    """Raise if a package required for a page is missing."""
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f'an HTML report needs {error.name}: pip install "skeval[report]"'
        ) from error


def _adapt_svg(svg: str, label: str) -> str:
    """Return SVG clipped to its size, in the colors of the page."""
    prefix = f"f{sha256(svg.encode()).hexdigest()[:8]}-"
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            if _strip_namespace(child.tag) in ("metadata", "style"):
                parent.remove(child)
    for element in root.iter():
        element.tag = _strip_namespace(element.tag)
        attributes = {_strip_namespace(name): value for name, value in element.attrib.items()}
        element.attrib.clear()
        element.attrib.update(
            {name: _adapt_value(name, value, prefix) for name, value in attributes.items()}
        )
    for size in ("width", "height"):
        root.attrib.pop(size)
    root.attrib.update({"role": "img", "aria-label": label})
    return ElementTree.tostring(root, encoding="unicode")


def _strip_namespace(name: str) -> str:
    """Return an XML name without its namespace, which HTML does not use."""
    return name.rpartition("}")[2]


def _adapt_value(name: str, value: str, prefix: str) -> str:
    """Return the value of an attribute with unique ids and the colors of the page."""
    if name == "id":
        return prefix + value
    if name == "href":
        return value.replace("#", f"#{prefix}")
    value = value.replace("url(#", f"url(#{prefix}")
    if name != "style":
        return value
    return re.sub("#[0-9a-f]{6}", lambda match: _find_page_color(match[0]), value)


def _find_page_color(color: str) -> str:
    """Return the CSS variable for a color, or the color if there is none."""
    return f"var(--{COLORS[color]})" if color in COLORS else color
