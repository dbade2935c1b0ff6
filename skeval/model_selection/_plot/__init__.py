"""Displays of intervals and P-values."""

__all__: list[str] = []
