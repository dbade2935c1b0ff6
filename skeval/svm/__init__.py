"""Support vector machines with an honest error."""

from skeval.svm import _adapter  # noqa: F401 (registers the adapter)
from skeval.svm._perturbation_svc import PerturbationResamplingSVC

__all__ = ["PerturbationResamplingSVC"]
