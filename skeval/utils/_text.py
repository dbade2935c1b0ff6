"""Aligned lines for people, shared by the results."""

from collections.abc import Iterable

__all__ = ["aligned"]


def aligned(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """Return a title and indented rows whose values start in one column."""
    rows = list(rows)
    width = max(len(name) for name, _ in rows)
    return "\n".join([title, *(f"  {name:<{width}}  {value}" for name, value in rows)])
