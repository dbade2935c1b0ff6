"""Estimates of error, their intervals, and P-values."""

__all__: list[str] = []
