"""Displays of what selecting features does."""

from __future__ import annotations

__all__: list[str] = []
