"""Simulated data with a known error, and a loader of logs."""

from skeval.datasets._gaussian_classes import GaussianClasses, make_gaussian_classes
from skeval.datasets._item_scores import load_item_scores

__all__ = ["GaussianClasses", "load_item_scores", "make_gaussian_classes"]
