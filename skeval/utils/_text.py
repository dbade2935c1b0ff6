"""Aligned lines for people, shared by the results."""

from collections.abc import Iterable
from html import escape
from textwrap import fill
from typing import Any

__all__ = [
    "ShownAsText",
    "align_text",
    "fill_text",
    "mean_loss_name",
    "name_estimators",
    "name_scoring",
]

MEAN_LOSSES = {
    "zero_one": "error rate",
    "squared": "mean squared error",
    "absolute": "mean absolute error",
}


class ShownAsText:
    """A result that a notebook shows as it is printed, not as Python writes its fields."""

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def align_text(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """Return a title and indented rows whose values start in one column."""
    rows = list(rows)
    width = max(len(name) for name, _ in rows)
    return "\n".join([title, *(f"  {name:<{width}}  {value}" for name, value in rows)])


def fill_text(sentences: str) -> str:
    """Return sentences as indented lines of at most 88 characters."""
    return fill(sentences, 88, initial_indent="  ", subsequent_indent="  ")


def name_scoring(scoring: Any) -> str:
    """Return what a score is called: its name, or that of the function."""
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", str(scoring))


def mean_loss_name(loss: str) -> str:
    """Return what the mean of a loss is called."""
    return MEAN_LOSSES.get(loss, f"mean {loss.replace('_', ' ')}")


def name_estimators(*estimators: Any) -> list[str]:
    """Return the names of some estimators: a pipeline goes by its last step.

    Where two would have one name, pipelines go by all their steps, and what still has the same name
    is numbered.
    """
    names = [_name_steps(estimator)[-1] for estimator in estimators]
    if len(set(names)) < len(names):
        names = [" + ".join(_name_steps(estimator)) for estimator in estimators]
    if len(set(names)) < len(names):
        names = [f"{name} ({place})" for place, name in enumerate(names, 1)]
    return names


def _name_steps(estimator: Any) -> list[str]:
    """Return the class names of an estimator's steps, or its own."""
    steps = getattr(estimator, "steps", None)
    if not isinstance(steps, list) or not steps:
        return [type(estimator).__name__]
    used = [step for _, step in steps if step is not None and step != "passthrough"]
    return [name for step in used for name in _name_steps(step)] or [type(estimator).__name__]
