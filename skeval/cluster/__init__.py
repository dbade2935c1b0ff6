"""Stability and comparison of clusterings."""

__all__: list[str] = []
