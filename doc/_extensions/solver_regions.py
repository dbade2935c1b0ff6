"""The regions of the solvers as a table of the internals: ``.. solver-regions::``."""

from math import inf

from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from skeval._adapters.regions import REGIONS


def describe(region):
    """Return the conditions of a region in words."""
    least = f"at least {region.min_fits} fits" + " for each pair of classes" * region.per_pair
    if region.large < inf:
        least += f", or any number for two classes and {region.large:,} or more samples"
    for size, what in ((region.samples_per_fit, "samples"), (region.numbers_per_fit, "numbers")):
        least += f", and one more for each {size:,} {what}" if size < inf else ""
    bounds = [
        (f"at most {region.max_samples:,} samples", region.max_samples),
        (f"at most {region.max_classes} classes", region.max_classes),
        (f"n q² at most {region.max_products:,.0f}", region.max_products),
        (f"n q² at most {region.products_per_fit:,.0f} for each fit", region.products_per_fit),
    ]
    if region.lists:
        least += f", and {region.lists:g} n² at most {region.distances_per_fit:,.0f} for each fit"
        least += " plus n for each tested sample"
    return [least, *(text for text, bound in bounds if bound < inf)]


class SolverRegions(SphinxDirective):
    """A row for each region, from the numbers that the adapters read."""

    def run(self):
        """Return the table."""
        lines = [".. list-table::", "   :header-rows: 1", "   :widths: 40 60", ""]
        rows = [("solver", "region")]
        rows += [(region.solves, ", ".join(describe(region))) for region in REGIONS.values()]
        for solver, region in rows:
            lines += [f"   * - {solver}", f"     - {region}"]
        return self.parse_text_to_nodes(StringList([*lines, ""], source="solver-regions"))


def setup(app):
    """Add the directive."""
    app.add_directive("solver-regions", SolverRegions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
