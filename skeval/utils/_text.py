"""Aligned lines for people, shared by the results."""

from collections.abc import Iterable

__all__ = ["align_text", "mean_loss_name"]

MEAN_LOSSES = {
    "zero_one": "error rate",
    "squared": "mean squared error",
    "absolute": "mean absolute error",
}


def align_text(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """Return a title and indented rows whose values start in one column."""
    rows = list(rows)
    width = max(len(name) for name, _ in rows)
    return "\n".join([title, *(f"  {name:<{width}}  {value}" for name, value in rows)])


def mean_loss_name(loss: str) -> str:
    """Return what the mean of a loss is called."""
    return MEAN_LOSSES.get(loss, f"mean {loss.replace('_', ' ')}")
