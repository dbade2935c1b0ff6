"""Support vector machines with an honest error."""

from skeval.svm._difference import perturbation_difference
from skeval.svm._perturbation_svc import PerturbationResamplingSVC

__all__ = ["PerturbationResamplingSVC", "perturbation_difference"]
