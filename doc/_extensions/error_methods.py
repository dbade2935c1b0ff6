"""The methods of `error_interval` as a table of the guide: ``.. error-methods::``."""

import inspect

from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from skeval.model_selection._interval_methods import AUTO, ERROR_METHODS


class ErrorMethods(SphinxDirective):
    """A row for each method, by the rows that the functions iterate.

    What a method does, and how many fits it takes, is the first line of its docstring.
    """

    def run(self):
        """Return the table."""
        rows = [("``method``", "what it does", "fits")]
        for name, method in ERROR_METHODS.items():
            line = inspect.getdoc(method.estimate).splitlines()[0]
            what, joint, fits = line.rpartition(", with ")
            if not joint:
                raise ValueError(f"the docstring of {name} must end in ', with K fits.': {line}")
            shown = f'``"{name}"``{", the default" * (name == AUTO)}'
            rows.append((shown, what, fits.removesuffix(".").rpartition(" ")[0]))
        lines = [".. list-table::", "   :header-rows: 1", "   :widths: 28 58 14", ""]
        for first, *rest in rows:
            lines += [f"   * - {first}", *(f"     - {cell}" for cell in rest)]
        return self.parse_text_to_nodes(StringList([*lines, ""], source="error-methods"))


def setup(app):
    """Add the directive."""
    app.add_directive("error-methods", ErrorMethods)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
