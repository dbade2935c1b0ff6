"""Many problems at once: arrays in, arrays out. No estimator, no validation, no randomness."""

__all__: list[str] = []
