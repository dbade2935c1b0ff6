"""Simulated data with a known error."""

from skeval.datasets._gaussian_classes import GaussianClasses, make_gaussian_classes

__all__ = ["GaussianClasses", "make_gaussian_classes"]
