"""Displays of the stability and the comparison of clusterings."""

from __future__ import annotations

__all__: list[str] = []
