"""Displays of intervals and P-values."""

from __future__ import annotations

__all__: list[str] = []
