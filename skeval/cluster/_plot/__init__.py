"""Displays of the stability and the comparison of clusterings."""

__all__: list[str] = []
