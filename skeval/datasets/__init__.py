"""Simulated data with a known error, and loaders."""

from skeval.datasets._tables import load_table

__all__ = ["load_table"]
