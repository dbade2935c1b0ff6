"""What follows from the numbers: intervals, standard errors and tests. Numbers in, numbers out."""

from __future__ import annotations

__all__: list[str] = []
