"""Many problems at once: arrays in, arrays out. No estimator, no validation, no randomness."""

from __future__ import annotations
