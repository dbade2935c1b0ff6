"""Helpers shared by the subpackages; not part of the public interface."""

from __future__ import annotations

__all__: list[str] = []
