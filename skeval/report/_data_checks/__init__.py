"""Checks of a table, and of the order of its rows, for faults that bias an error estimate."""

from skeval.report._data_checks.run_checks import (
    name_columns,
    warn_of_perfection,
    warn_of_points,
    write_data_warnings,
)
from skeval.report._data_checks.time_order import check_split_order, warn_of_order

__all__ = [
    "check_split_order",
    "name_columns",
    "warn_of_order",
    "warn_of_perfection",
    "warn_of_points",
    "write_data_warnings",
]
