"""The passes over distances: arrays in, arrays out."""

from __future__ import annotations

__all__: list[str] = []
