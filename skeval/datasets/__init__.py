"""Simulated data with a known error, and loaders."""

from skeval.datasets._gaussian_classes import GaussianClasses, make_gaussian_classes
from skeval.datasets._item_scores import load_item_scores
from skeval.datasets._tables import load_table

__all__ = ["GaussianClasses", "load_item_scores", "load_table", "make_gaussian_classes"]
