"""The text of the documentation is doctested; what Sphinx runs or generates is not."""

collect_ignore_glob = [
    "*.py",
    "_build/*",
    "auto_examples/*",
    "generated/*",
    "_extensions/*",
    "examples/*",
    "api/*",
]
