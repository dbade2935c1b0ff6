"""Displays of the metrics."""

from __future__ import annotations

__all__: list[str] = []
