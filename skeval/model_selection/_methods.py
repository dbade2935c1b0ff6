"""The names of the estimates of error: what `method` of a result holds and reports show."""

__all__ = [
    "BOOTSTRAP",
    "BOOTSTRAP_632",
    "BOOTSTRAP_632_PLUS",
    "BOOTSTRAP_OOB",
    "CROSS_VALIDATION",
    "HOLD_OUT",
    "LEAVE_ONE_OUT",
    "RESUBSTITUTION",
    "THIRD_HELD_OUT",
]

RESUBSTITUTION = "resubstitution"
HOLD_OUT = "hold-out"
THIRD_HELD_OUT = f"{HOLD_OUT} (1/3)"
CROSS_VALIDATION = "cross-validation"
LEAVE_ONE_OUT = "leave-one-out"
BOOTSTRAP_OOB = "bootstrap oob"
BOOTSTRAP_632 = "bootstrap .632"
BOOTSTRAP_632_PLUS = "bootstrap .632+"

BOOTSTRAP = {"oob": BOOTSTRAP_OOB, ".632": BOOTSTRAP_632, ".632+": BOOTSTRAP_632_PLUS}
"""The name of each estimate of the bootstrap, by the `method` that asks for it."""
