"""Displays of what selecting features does."""

__all__: list[str] = []
