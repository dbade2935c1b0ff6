"""Adapters by estimator, for tests of what they compute."""

from skeval._adapters.registry import NoSolver, ask_steps


def adapter_of_steps(estimator, X, target):
    """Return the adapter of an estimator or pipeline, None if there is none."""
    adapter = ask_steps(estimator, X, target)
    return None if isinstance(adapter, NoSolver) else adapter
