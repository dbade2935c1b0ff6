"""Support vector machines with an honest estimate of the error."""

from skeval.svm._perturbation_svc import PerturbationResamplingSVC

__all__ = ["PerturbationResamplingSVC"]
