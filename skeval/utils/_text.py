"""Results as text, aligned for people, and as data frames.

pandas is optional, and imported where a frame is made.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import fields
from functools import partial
from html import escape
from textwrap import fill, shorten
from typing import TYPE_CHECKING, Any

import numpy as np

__all__ = [
    "DataFrame",
    "ShownAsText",
    "align_rows",
    "align_text",
    "count",
    "fill_text",
    "make_frame",
    "mean_loss_name",
    "name_estimators",
    "name_label",
    "name_scoring",
    "say_pvalue",
    "write_ends",
    "write_estimate",
    "write_number",
    "write_probability",
    "write_pvalue",
    "write_range",
    "write_spread",
    "write_with_spread",
]

if TYPE_CHECKING:
    from pandas import DataFrame
else:
    DataFrame = "pandas.DataFrame"


def make_frame(data: Any, index: Any = None, name: str | None = None) -> DataFrame:
    """Return columns by name, or rows as dicts, with an index of that name if one is given."""
    import pandas as pd

    return pd.DataFrame(data, index=None if index is None else pd.Index(index, name=name))


LONGEST_VALUE, LONGEST_REPR = 60, 400
MEAN_LOSSES = {
    "zero_one": "error rate",
    "squared": "mean squared error",
    "absolute": "mean absolute error",
    "log_loss": "log loss",
    "brier": "Brier score",
}


class ShownAsText:
    """A dataclass that a notebook shows as it is printed, and whose `repr` stays short."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__repr__" not in vars(cls):  # else `dataclass` would write one that spells arrays out
            setattr(cls, "__repr__", write_fields)  # noqa: B010

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def write_fields(result: Any) -> str:
    """Return the name of a dataclass and its fields, the long ones by type and size alone."""
    shown = [(field.name, getattr(result, field.name)) for field in fields(result) if field.repr]
    texts = ", ".join(f"{name}={_write_short(value)}" for name, value in shown)
    return f"{type(result).__name__}({shorten(texts, LONGEST_REPR, placeholder=' ...')})"


def _write_short(value: Any) -> str:
    """Return a value as source text where that is short."""
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value) if isinstance(value, ShownAsText) else repr(value)
    if len(text) <= LONGEST_VALUE and "\n" not in text:
        return text
    if isinstance(value, str):
        return f"{text[: LONGEST_VALUE - 4]}...{text[0]}"
    size = getattr(value, "shape", None) or (len(value) if hasattr(value, "__len__") else "")
    return f"<{type(value).__name__}{f' of {size}' if size != '' else ''}>"


def align_text(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """Return a title and indented rows whose values start in one column."""
    rows = list(rows)
    width = max(len(name) for name, _ in rows)
    return "\n".join([title, *(f"  {name:<{width}}  {value}" for name, value in rows)])


def fill_text(sentences: str) -> str:
    """Return sentences as indented lines of at most 88 characters."""
    return fill(sentences, 88, initial_indent="  ", subsequent_indent="  ")


def count(n: int, noun: str) -> str:
    """Return a number of things in words that agree: 1 sample, 2 samples, 3 classes."""
    plural = "es" if noun.endswith("s") else "s"
    return f"{n} {noun}{'' if n == 1 else plural}"


def name_label(label: Any) -> str:
    """Return a label as it stands in a sentence: in quotes where its end could not be seen."""
    text = str(label)
    return text if text and text.isprintable() and text == text.strip() else repr(text)


def write_number(value: float) -> str:
    """Return a number as text: with four decimals, or four figures where these say more or less."""
    if np.isnan(value):
        return "undefined"
    return f"{value:.4f}" if value == 0 or 0.001 <= abs(value) < 10 else f"{value:.4g}"


def write_ends(low: float, high: float) -> str:
    """Return the ends of an interval as text; where there is none, it is undefined."""
    if np.isnan(low) and np.isnan(high):
        return "undefined"
    if np.isinf(low) and np.isinf(high):
        return "unbounded"
    return f"[{write_number(low)}, {write_number(high)}]"


def write_range(low: float, high: float) -> str:
    """Return the ends of an interval as words; where there is none, it is undefined."""
    if not (np.isfinite(low) or np.isfinite(high)):
        return write_ends(low, high)
    return f"{write_number(low)} to {write_number(high)}"


def write_spread(standard_error: float) -> str:
    """Return a standard error as text.

    One of 0 is unknown: it means that nothing varied in the data, and not that nothing would.
    """
    return write_number(standard_error) if standard_error > 0 else "unknown"


def write_estimate(value: float, spread: float) -> str:
    """Return a number without the decimals that its standard error, or its interval, leaves open.

    What is shown ends with the second figure of the spread, and with the fourth of the number where
    the spread is unknown.
    """
    if not np.isfinite(value) or not (np.isfinite(spread) and spread > 0):
        return write_number(value)
    decimals = 1 - int(np.floor(np.log10(spread)))
    if decimals > 6 or decimals < -3:
        return f"{value:.4g}"
    return f"{round(value, decimals) + 0.0:.{max(decimals, 0)}f}"


def write_probability(value: float) -> str:
    """Return a probability with three decimals; none of them is said to be 0 or 1."""
    if value < 0.0005:
        return "below 0.001"
    return "above 0.999" if value > 0.9995 else f"{value:.3f}"


def write_pvalue(pvalue: float, figures: int = 3) -> str:
    """Return a P-value as text; how far it is below 0.0001, the assumptions of no test tell."""
    if np.isnan(pvalue):
        return "undefined"
    return "< 0.0001" if pvalue < 1e-4 else f"{pvalue:.{figures}g}"


def say_pvalue(pvalue: float, figures: int = 2) -> str:
    """Return a P-value as part of a sentence."""
    text = write_pvalue(pvalue, figures)
    return f"P {text}" if text.startswith("<") else f"P = {text}"


def write_with_spread(value: float, standard_error: float) -> str:
    """Return a number between 0 and 1, or about as large, and its standard error."""
    spread = write_spread(standard_error)
    if standard_error >= 0.0005:
        spread = f"{standard_error:.3f}"
    return f"{value:.3f} +/- {spread}"


def name_scoring(scoring: Any) -> str:
    """Return what a score is called: its name, or that of the function, its options aside."""
    scoring = scoring.func if isinstance(scoring, partial) else scoring
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
