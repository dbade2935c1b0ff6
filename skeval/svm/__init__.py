"""Support vector machines with an honest error."""

from skeval.svm import _engine  # noqa: F401 (registers the batch engine)
from skeval.svm._perturbation_svc import PerturbationResamplingSVC

__all__ = ["PerturbationResamplingSVC"]
