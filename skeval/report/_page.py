"""Pages from templates, and drawings in their colors.

Drawings are inline SVG that uses the colors of the page and unique ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from io import StringIO
from typing import Any
from xml.etree import ElementTree

from skeval.utils._checks import ignored_warnings


def render(
    report: Any, template: str, title: str | None, before: Any, sections: Sequence[Any]
) -> str:
    """Return the page of a report, or with "fragment.html" the page for a notebook.

    The section `before` the others stands beside the verdict. Every value is escaped except the
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
    layout, heading = report.layout, report.layout.title
    headline, *verdict = layout.verdict(report)
    html: str = environment.get_template(template).render(
        title=title or (heading if isinstance(heading, str) else heading(report)),
        headline=headline,
        verdict=verdict,
        figure=layout.figure(report),
        facts=layout.facts(report),
        evaluated=layout.evaluated(report),
        basis=layout.basis(report),
        before=before,
        sections=[section for section in sections if not section.is_empty],
        beside=[table for section in sections for table in section.tables if table.beside],
    )
    return html


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
        # the browser renders the text with its own fonts
        with ignored_warnings(UserWarning, "Glyph|Matplotlib currently does not support"):
            figure.savefig(text, format="svg", metadata={"Date": None})
    return _adapt_svg(NOT_XML.sub("\ufffd", text.getvalue()), label)


def check_extra() -> None:
    """Raise if a package required for a page is missing."""
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"an HTML report needs {error.name}: pip install matplotlib jinja2 pandas"
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
