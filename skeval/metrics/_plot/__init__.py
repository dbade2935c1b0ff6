"""Displays of the metrics."""

__all__: list[str] = []
