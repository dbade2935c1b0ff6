"""The methods of `error_interval` as a table of the guide: ``.. error-methods::``."""

from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from skeval.model_selection._interval_methods import AUTO, ERROR_METHODS


class ErrorMethods(SphinxDirective):
    """A row for each method: its name, what the interval is, and how many fits it takes."""

    def run(self):
        """Return the table, from the rows that the functions themselves iterate."""
        lines = [".. list-table::", "   :header-rows: 1", "   :widths: 28 58 14", ""]
        head = ("``method``", "the interval", "fits")
        rows = [
            (f'``"{name}"``{", the default" * (name == AUTO)}', row.interval, row.fits)
            for name, row in ERROR_METHODS.items()
        ]
        for first, *rest in (head, *rows):
            lines += [f"   * - {first}", *(f"     - {cell}" for cell in rest)]
        return self.parse_text_to_nodes(StringList([*lines, ""], source="error-methods"))


def setup(app):
    """Add the directive."""
    app.add_directive("error-methods", ErrorMethods)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
