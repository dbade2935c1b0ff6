"""The regions of the solvers as a table of the internals: ``.. solver-regions::``."""

from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from skeval._adapters.regions import REGIONS


class SolverRegions(SphinxDirective):
    """A row for each region, from the numbers that the adapters read."""

    def run(self):
        """Return the table."""
        lines = [".. list-table::", "   :header-rows: 1", "   :widths: 40 60", ""]
        rows = [("solver", "region")]
        rows += [(region.solves, ", ".join(region.describe())) for region in REGIONS.values()]
        for solver, region in rows:
            lines += [f"   * - {solver}", f"     - {region}"]
        return self.parse_text_to_nodes(StringList([*lines, ""], source="solver-regions"))


def setup(app):
    """Add the directive."""
    app.add_directive("solver-regions", SolverRegions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
