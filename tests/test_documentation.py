"""Every public name is in the API reference and in the user guide; read as text, without Sphinx."""

import importlib
import re
from pathlib import Path

import pytest
from docutils import nodes
from helpers.public_modules import MODULES

DOC = Path(__file__).parents[1] / "doc"
MODULE = re.compile(r"\.\. (?:current)?module:: (\S+)")
ENTRY = re.compile(r"\.\. py:(?:function|data):: (\w+)|   (\w+)")
IN_BACKTICKS = re.compile(r"`~?([\w.]+)`")

pytestmark = pytest.mark.skipif(not DOC.is_dir(), reason="doc/ is not beside the tests")


def reference_entries():
    """Yield (module, name) of what the pages of the API reference list."""
    for page in sorted((DOC / "api").glob("*.rst")):
        module = None
        for line in page.read_text(encoding="utf-8").splitlines():
            if match := MODULE.fullmatch(line):
                module = match[1]
            elif module and (match := ENTRY.fullmatch(line)):
                yield module, match[1] or match[2]


def guide_names():
    """Return the last parts of the names that stand in backticks in the user guide."""
    text = "".join(p.read_text(encoding="utf-8") for p in (DOC / "user_guide").glob("*.rst"))
    return {name.rpartition(".")[2] for name in IN_BACKTICKS.findall(text)}


def public(module_name):
    """Return the public objects of a module by name."""
    module = importlib.import_module(module_name)
    return {name: getattr(module, name) for name in module.__all__}


def test_modules_are_all_that_are_public():
    package = DOC.parent / "skeval"
    found = {
        ".".join(init.parent.relative_to(package.parent).parts)
        for init in package.rglob("__init__.py")
    }
    assert set(MODULES) == {
        name
        for name in found
        if "._" not in name and hasattr(importlib.import_module(name), "__all__")
    }


@pytest.mark.parametrize("module_name", MODULES)
def test_every_name_is_in_the_api_reference(module_name):
    # by identity, for a name may be public in two modules, and is then described once
    listed = {id(public(module)[name]) for module, name in reference_entries()}
    missing = [name for name, thing in public(module_name).items() if id(thing) not in listed]
    assert missing == []


def test_the_api_reference_lists_each_name_once_and_nothing_else():
    entries = list(reference_entries())
    assert len(entries) == len(set(entries)) > 100
    assert [entry for entry in entries if entry[1] not in public(entry[0])] == []


@pytest.mark.parametrize("module_name", MODULES)
def test_every_name_is_in_the_user_guide(module_name):
    assert set(public(module_name)) - {"__version__"} - guide_names() == set()


def test_pictures_of_the_guide_come_from_examples_that_exist():
    named = set()
    for page in DOC.glob("user_guide/*.rst"):
        named |= set(re.findall(r"sphx_glr_(plot_\w+)_\d{3}", page.read_text(encoding="utf-8")))
    assert named
    assert named <= {path.stem for path in (DOC / "examples").glob("plot_*.py")}


def test_each_warning_has_a_place_in_the_guide():
    """Codes are literals of a note, a Check or a CheckResult, except for those listed here."""
    codes = {"interrupted", "unchecked", "runs", "autocorrelation"}
    severities = {"note", "serious", "warning"}
    for file in (DOC.parent / "skeval").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        codes |= set(re.findall(r'(?:note|Check|CheckResult)\(\s*"([\w-]+)"', text))
        codes |= set(re.findall(r'\bcode="([\w-]+)",\s+title', text))
    page = (DOC / "user_guide" / "warnings.rst").read_text(encoding="utf-8")
    places = re.findall(r"^ {3}\* - \.\. _([\w-]+):$", page, re.M)
    codes -= severities
    assert sorted(codes) == sorted(places)
    assert [code for code in codes if f"``{code}``" not in page] == []


@pytest.mark.parametrize(
    ("tex", "above", "below"),
    [
        (r"\frac12", "<mn>1</mn>", "<mn>2</mn>"),
        (r"\tfrac1K", "<mn>1</mn>", "<mi>K</mi>"),
        (r"\frac n4", "<mi>n</mi>", "<mn>4</mn>"),
        (r"\frac{12}{5}", "<mn>12</mn>", "<mn>5</mn>"),
        (r"\big( \dots \frac12 \Big)", "<mn>1</mn>", "<mn>2</mn>"),
    ],
)
def test_fractions_are_those_that_tex_reads(tex, above, below, monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(DOC / "_extensions")
    mathml = importlib.import_module("mathml")
    written = mathml.convert(nodes.math(text=tex, rawsource=tex), as_block=False)
    assert re.sub(r"\s", "", written).partition(above + below)[1]


@pytest.mark.parametrize(
    ("tex", "expected"),
    [
        (r"\hat y_i", "<msub><moveraccent"),
        (r"\overline{x}_{i+1}^*", "<msup><msub><moveraccent"),
        (r"\sum_i^n x", "<munderover><mo"),
        (r"a \text{ if } b < c", "<mo>&lt;</mo>"),
    ],
)
def test_indices_are_beside_accented_letters(tex, expected, monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(DOC / "_extensions")
    mathml = importlib.import_module("mathml")
    written = mathml.convert(nodes.math(text=tex, rawsource=tex), as_block=True)
    assert expected in re.sub(r"\s", "", written)


def test_the_picture_of_a_report_shows_what_its_code_computes(monkeypatch):
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(DOC)
    script = importlib.import_module("make_report_picture")
    assert image.open(script.PICTURE).text["verdict"] == script.make_report().verdict
