"""Formulas as MathML, which browsers draw by themselves: no script, no font, no network."""

import re
from html import unescape
from xml.etree import ElementTree

from docutils import nodes
from docutils.utils.math import MathError, pick_math_environment
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

# What TeX reads and the converter does not, or as something else: \frac12 is a half, not 12 over
# what follows; brackets of a size open or close; dots.
REWRITTEN = [
    (re.compile(r"(\\[dt]?frac)\s*(\d)\s*(\d)"), r"\1{\2}{\3}"),
    (re.compile(r"(\\[bB]igg?)([(\[/|])"), r"\1l\2"),
    (re.compile(r"(\\[bB]igg?)([)\]])"), r"\1r\2"),
    (re.compile(r"\\dots\b"), r"\\ldots"),
]

MATHML = "http://www.w3.org/1998/Math/MathML"
ElementTree.register_namespace("", MATHML)

logger = logging.getLogger(__name__)


def convert(node, *, as_block):
    """Return a formula as MathML; what cannot be converted is a warning and nothing."""
    tex = node.astext()
    for pattern, written in REWRITTEN:
        tex = pattern.sub(written, tex)
    if as_block and pick_math_environment(tex).startswith("align"):
        tex = rf"\begin{{aligned}}{tex}\end{{aligned}}"
    try:
        return attach_scripts(tex2mathml(tex, as_block=as_block))
    except MathError as error:
        logger.warning("no MathML for %r: %s", tex, error, location=node)
        return ""


def attach_scripts(mathml):
    """Move the index of an accented letter, as in ``\\hat y_i``, from below to beside it."""
    # XML knows no other entities, such as &nbsp;
    root = ElementTree.fromstring(
        re.sub(r"&(?!lt;|gt;|amp;)\w+;", lambda m: unescape(m[0]), mathml)
    )
    for element in root.iter():
        children = list(element)
        if element.tag.endswith("}munderover") and is_accent(children[2]):
            base, index, accent = children
            element.tag = f"{{{MATHML}}}msub"
            accented = ElementTree.Element(f"{{{MATHML}}}mover", {"accent": "true"})
            accented.extend([base, accent])
            element[:] = [accented, index]
    return ElementTree.tostring(root, encoding="unicode")


def is_accent(element):
    """Return whether an element is an accent, not the upper limit of a sum."""
    return element.get("stretchy") == "false" or element.get("accent") == "true"


def visit_math(self, node):
    """Write a formula within a line."""
    self.body.append(f'<span class="math notranslate">{convert(node, as_block=False)}</span>')
    raise nodes.SkipNode


def visit_math_block(self, node):
    """Write a formula on a line of its own, with its number where it has one."""
    self.body.append(self.starttag(node, "div", CLASS="math notranslate"))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append(f"{convert(node, as_block=True)}</div>\n")
    raise nodes.SkipNode


def setup(app):
    """Add the renderer, which `html_math_renderer` chooses."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
