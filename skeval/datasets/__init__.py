"""Simulated data with a known error, and loaders."""

__all__: list[str] = []
