"""Rows of a table as lines of text."""

from __future__ import annotations

from collections.abc import Container, Sequence

__all__ = ["align_rows"]


def align_rows(rows: Sequence[Sequence[str]], left: Container[int] = ()) -> list[str]:
    """Return rows as lines in which each column is aligned to the right, those of `left` not."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
