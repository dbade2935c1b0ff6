"""Displays of several estimates side by side."""

__all__: list[str] = []
