"""The regions of the solvers as a table of the internals: ``.. solver-regions::``."""

from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from skeval._adapters.regions import REGIONS


def describe(region):
    """Return the estimators and the conditions of a region, from its docstring."""
    solver, _, conditions = " ".join(region.__doc__.split()).partition(": ")
    return solver, conditions.removesuffix(".")


class SolverRegions(SphinxDirective):
    """A row for each region, from the docstrings of the rules that the adapters ask."""

    def run(self):
        """Return the table."""
        lines = [".. list-table::", "   :header-rows: 1", "   :widths: 40 60", ""]
        for solver, region in [("solver", "region"), *map(describe, REGIONS)]:
            lines += [f"   * - {solver}", f"     - {region}"]
        return self.parse_text_to_nodes(StringList([*lines, ""], source="solver-regions"))


def setup(app):
    """Add the directive."""
    app.add_directive("solver-regions", SolverRegions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
