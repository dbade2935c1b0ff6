"""Support vector machines with an honest error."""

from skeval.svm._perturbation_svc import PerturbationResamplingSVC

__all__ = ["PerturbationResamplingSVC"]
