"""Displays of several estimates side by side."""

from __future__ import annotations

__all__: list[str] = []
