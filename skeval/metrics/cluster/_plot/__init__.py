"""Displays of partitions."""

__all__: list[str] = []
