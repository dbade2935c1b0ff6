"""Sphinx configuration: ``sphinx-build -W -n -b html doc doc/_build/html``, no network needed."""

import importlib
import os
import sys
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx_gallery.sorting import ExplicitOrder

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

import skeval

project = "skeval"
author = "the skeval developers"
copyright = "the skeval developers. BSD-3-Clause"
version = release = skeval.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.extlinks",
    "sphinx.ext.viewcode",  # [source] links to pages of the code, without an address
    "error_methods",
    "mathml",
    "numpydoc",
    "results_table",
    "solver_regions",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = [
    "_build",
    "_templates",
    "_extensions",
    "examples",
    "auto_examples/*.ipynb",
    "**/conftest.py",
]
default_role = "public"

html_theme = "furo"
html_title = f"skeval {release}"
html_static_path = ["_static"]
html_css_files = ["skeval.css"]
html_show_sourcelink = False
html_math_renderer = "mathml"

# Links between versions of the pages, built side by side: SKEVAL_DOC_VERSIONS="stable 0.1 dev".
html_context = {"doc_versions": os.environ.get("SKEVAL_DOC_VERSIONS", "").split()}
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/versions.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}

# What is copied are the lines that were typed.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it shorter
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template lists them
numpydoc_xref_param_type = False

SKLEARN = "https://scikit-learn.org/stable/modules/generated/sklearn.%s.html"
extlinks = {"doi": ("https://doi.org/%s", "doi:%s"), "sklearn": (SKLEARN, "sklearn.%s")}
extlinks_detect_hardcoded_links = False

# Names of other packages, which have no pages here. With SKEVAL_DOC_ONLINE set they become links.
nitpick_ignore_regex = [
    (r"py:.*", r"(sklearn|numpy|scipy|pandas|matplotlib|collections)\..*"),
    (r"py:class", r"skeval\.(\w+\.)*_\w+\..*"),  # a base class that is not public
    (r"py:class", r"D\[k\] if k in D, .*|an? (set-like )?object providing a view .*"),  # Mapping
]
if os.environ.get("SKEVAL_DOC_ONLINE"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {"sklearn": ("https://scikit-learn.org/stable", None)}

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "auto_examples",
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("skeval",),
    "reference_url": {"skeval": None},
    "within_subsection_order": "FileNameSortKey",
    "subsection_order": ExplicitOrder(["*"]),
    "abort_on_example_error": True,
    "matplotlib_animations": False,
    "min_reported_time": 5,
    "show_memory": False,
    "write_computation_times": False,  # its page asks other sites for scripts
    "show_signature": False,
    "remove_config_comments": True,
    "capture_repr": ("_repr_html_", "__repr__"),
}

PUBLIC_MODULES = (
    "skeval.report",
    "skeval",
    "skeval.model_selection",
    "skeval.feature_selection",
    "skeval.svm",
    "skeval.metrics",
    "skeval.metrics.cluster",
    "skeval.cluster",
    "skeval.datasets",
)
PUBLIC_NAMES = {
    name: f"{module}.{name}"
    for module in PUBLIC_MODULES
    for name in importlib.import_module(module).__all__
}


def public_role(role, rawtext, text, lineno, inliner, options=None, content=None):
    """Link single backticks that hold a public name; set all others as code."""
    target = PUBLIC_NAMES.get(text, text if text in PUBLIC_NAMES.values() else None)
    if target is None:
        return [nodes.literal(rawtext, text)], []
    link = pending_xref(
        rawtext,
        nodes.literal(rawtext, text, classes=["xref", "py", "py-obj"]),
        refdomain="py",
        reftype="obj",
        reftarget=target,
        refwarn=True,
        refdoc=inliner.document.settings.env.docname,
    )
    return [link], []


def setup(app):
    """Register the default role."""
    app.add_role("public", public_role)
