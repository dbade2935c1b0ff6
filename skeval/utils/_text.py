"""Results as aligned text and as data frames, and dates in columns of text.

pandas is optional, and imported only to make a frame.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Collection, Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import fields
from datetime import datetime
from html import escape
from pathlib import Path
from textwrap import fill, shorten
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pandas import DataFrame as DataFrame  # for the other modules
else:
    DataFrame = "pandas.DataFrame"


def make_frame(data: Any, index: Any = None, name: str | None = None) -> DataFrame:
    """Return a data frame from a dict of columns, or from dicts as rows, with an optional index."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("a data frame needs pandas: pip install pandas") from error
    return pd.DataFrame(data, index=None if index is None else pd.Index(index, name=name))


def write_latex(frame: DataFrame, **options: Any) -> str:
    """Return a frame as a LaTeX table. A table of estimates has names, values and intervals.

    An option `columns` selects columns of the frame instead.
    """
    if "columns" not in options and {"value", "low", "high"} <= {*frame.columns}:
        # names, estimates and intervals in one column each
        named = type(frame.index).__name__ != "RangeIndex"
        names = [] if named else [name for name in ("name", "a", "b") if name in frame.columns]
        ends = map(write_ends, frame["low"], frame["high"])
        levels = set(frame["confidence_level"]) if "confidence_level" in frame else set()
        head = f"{100 * levels.pop():g} % CI" if len(levels) == 1 else "interval"
        table = frame[names].assign(**{"estimate": frame["value"], head: list(ends)})
        frame, options = table, {"index": named} | options
    return frame.to_latex(**{"escape": True, "float_format": "%.4g"} | options)


MAX_VALUE_LENGTH, MAX_REPR_LENGTH = 60, 400
CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, which a terminal obeys, and undecodable bytes of names of files."""


class ShownAsText:
    """Dataclass that notebooks show as printed text, with a short `repr`."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__repr__" not in vars(cls):  # the one of `dataclass` would print whole arrays
            setattr(cls, "__repr__", write_fields)  # noqa: B010

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def write_fields(result: Any) -> str:
    """Return the name of a dataclass and its fields. Long values are shown as type and size."""
    shown = [(field.name, getattr(result, field.name)) for field in fields(result) if field.repr]
    texts = ", ".join(f"{name}={_write_short(value)}" for name, value in shown)
    return f"{type(result).__name__}({shorten(texts, MAX_REPR_LENGTH, placeholder=' ...')})"


def _write_short(value: Any) -> str:
    """Return a short text for a value, that is, its repr, or its type and size."""
    if isinstance(value, float):
        return f"{value:.6g}"
    # short texts as they are, others by type and size
    text = str(value) if isinstance(value, ShownAsText) else repr(value)
    if len(text) <= MAX_VALUE_LENGTH and "\n" not in text:
        return text
    if isinstance(value, str):
        return f"{text[: MAX_VALUE_LENGTH - 4]}...{text[0]}"
    size = getattr(value, "shape", None) or (len(value) if hasattr(value, "__len__") else "")
    return f"<{type(value).__name__}{f' of {size}' if size != '' else ''}>"


def write_file(path: str | os.PathLike[str] | None, text: str) -> str:
    """Write a text beside a file and rename it, so that no file is half written.

    The text is returned. Pipes and terminals are written directly. If the path is None, nothing is
    written.
    """
    if path is None:
        return text
    path = Path(path).resolve()
    if not path.parent.is_dir():
        raise FileNotFoundError(f"path must be in an existing folder, got {path.parent}.")
    # a pipe or a terminal cannot be replaced by a file
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return text
    # a complete file in the same folder replaces the old one in one step
    handle, part = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        mask = os.umask(0)  # as `open` makes it, not private as `mkstemp` does
        os.umask(mask)
        os.chmod(part, path.stat().st_mode if path.exists() else 0o666 & ~mask)
        os.replace(part, path)
    finally:
        Path(part).unlink(missing_ok=True)
    return text


def align_text(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """Return a title and indented rows with aligned values."""
    rows = list(rows)
    width = max(len(name) for name, _ in rows)
    return "\n".join([title, *(f"  {name:<{width}}  {value}" for name, value in rows)])


def fill_text(sentences: str) -> str:
    """Return sentences as indented lines of at most 88 characters."""
    return fill(sentences, 88, initial_indent="  ", subsequent_indent="  ")


def count(n: int, noun: str) -> str:
    """Return a number with its noun, such as "1 sample" or "2 samples"."""
    plural = "es" if noun.endswith("s") else "s"
    return f"{n:,} {noun}{'' if n == 1 else plural}"


def escape_controls(text: str) -> str:
    """Return a text whose control characters and undecodable bytes are escaped."""
    return CONTROLS.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def name_label(label: Any) -> str:
    """Return a label for use in a sentence, in quotes if it has spaces at its ends."""
    text = str(label)
    return text if text and text.isprintable() and text == text.strip() else repr(text)


def quote_label(label: Any) -> str:
    """Return a label for use in a sentence, in double quotes if it is a word."""
    text = name_label(label)
    return f'"{text}"' if text[0].isalpha() else text


SIGNS = str.maketrans({"<": "lt ", ">": "gt ", "=": "eq ", "+": " plus", "%": " percent"})
"""Words for signs of labels that differ in nothing else, such as <50 and >50."""


def name_of(metric: str, label: Any, taken: Container[str] = ()) -> str:
    """Return the name of a class's metric, such as "recall of 1", unless the name is in use.

    It consists of letters, digits, spaces and ``_ - . /``, as MLflow requires.
    """
    name = re.sub(r"[^\w./ -]", "_", f"{metric} of {str(label).translate(SIGNS)}")
    while name in taken:
        name += "_"
    return name


def write_number(value: float, beside: float = 0.0) -> str:
    """Return a number as text, with four decimals in mid range, else four significant figures.

    A small number `beside` a larger one has four decimals, or one digit.
    """
    if np.isnan(value):
        return "undefined"
    # no sign for a negative zero, nor digits for a limit just beside 0
    value = 0.0 if abs(value) <= np.finfo(float).tiny else value
    if abs(value) < 0.00005 and value != 0 and abs(beside) >= 0.001:
        return f"{value:.1g}"
    if value == 0 or (abs(value) < 10 and max(abs(value), abs(beside)) >= 0.001):
        return f"{value:.4f}"
    return write_figures(value)


def write_figures(value: float) -> str:
    """Return a number with four significant figures."""
    return _write_plain(float(f"{value:.4g}"))


def write_threshold(threshold: float, scores: np.ndarray) -> str:
    """Return a threshold with the fewest digits, at least three, that give the same decisions."""
    above = scores >= threshold
    texts = (f"{threshold:.{digits}g}" for digits in range(3, 18))
    return next(text for text in texts if np.array_equal(scores >= float(text), above))


def _write_plain(rounded: float) -> str:
    """Return a rounded number without an exponent up to 1e15, as 264,000."""
    return f"{rounded:,.0f}" if 1e4 <= abs(rounded) < 1e15 else f"{rounded:.4g}"


def write_ends(low: float, high: float) -> str:
    """Return the limits of an interval as text, or "undefined" if there is none."""
    if np.isnan(low) and np.isnan(high):
        return "undefined"
    if np.isinf(low) and np.isinf(high):
        return "unbounded"
    return f"[{write_number(low, high)}, {write_number(high, low)}]"


def write_range(low: float, high: float) -> str:
    """Return the limits of an interval in words, or "undefined" if there is none."""
    if not (np.isfinite(low) or np.isfinite(high)):
        return write_ends(low, high)
    return f"{write_number(low, high)} to {write_number(high, low)}"


def write_spread(standard_error: float) -> str:
    """Return a standard error as text.

    A value of 0 is written as unknown, because values that do not vary in this sample may vary in
    others.
    """
    return write_number(standard_error) if standard_error > 0 else "unknown"


def write_estimate(value: float, spread: float) -> str:
    """Return a number rounded to the precision of its standard error or interval.

    The last digit shown is the second significant digit of the spread, or the fourth of the number
    if the spread is unknown.
    """
    if not np.isfinite(value) or not (np.isfinite(spread) and spread > 0):
        return write_number(value)
    # decimals of the second digit of the spread
    decimals = 1 - int(np.floor(np.log10(spread)))
    if decimals > 6:
        return f"{value:.4g}"
    rounded = round(value, decimals) + 0.0
    return f"{rounded:,.{decimals}f}" if decimals > 0 else _write_plain(rounded)


def write_pvalue(pvalue: float) -> str:
    """Return a P-value as text with two significant digits, or "< 0.001" for smaller values.

    Smaller values exceed the accuracy of the assumptions of any test.
    """
    if np.isnan(pvalue):
        return "undefined"
    return "< 0.001" if pvalue < 0.001 else f"{pvalue:#.2g}"


def say_pvalue(pvalue: float) -> str:
    """Return a P-value as part of a sentence."""
    text = write_pvalue(pvalue)
    return f"P {text}" if text.startswith("<") else f"P = {text}"


def write_with_spread(value: float, standard_error: float) -> str:
    """Return a number of about 0 to 1, with its standard error."""
    if standard_error == 0:
        return f"{value:.3f} (no variation)"
    spread = f"{standard_error:.3f}"
    if not standard_error >= 0.0005:
        spread = write_number(standard_error, 1.0) if standard_error > 0 else "unknown"
    return f"{value:.3f} +/- {spread}"


def name_estimators(*estimators: Any) -> list[str]:
    """Return distinct names of estimators. A pipeline is named after its last step.

    If two names are equal, pipelines are named after all their steps, and remaining duplicates are
    numbered.
    """
    names = [_name_steps(estimator)[-1] for estimator in estimators]
    if len(set(names)) < len(names):
        names = [" + ".join(_name_steps(estimator)) for estimator in estimators]
    if len(set(names)) < len(names):
        names = [f"{name} ({place})" for place, name in enumerate(names, 1)]
    return names


def _name_steps(estimator: Any) -> list[str]:
    """Return the class names of the steps of a pipeline, or of an estimator."""
    steps = getattr(estimator, "steps", None)
    if not isinstance(steps, list) or not steps:
        return [type(estimator).__name__]
    used = [step for _, step in steps if step is not None and step != "passthrough"]
    return [name for step in used for name in _name_steps(step)] or [type(estimator).__name__]


def align_rows(
    rows: Sequence[Sequence[str]], left: Collection[int] = (), width: int | None = None
) -> list[str]:
    """Return rows as lines with right-aligned columns, except the columns in `left`.

    Columns beyond the `width` are placed below, and begin with the first column again.
    """
    rows = [[escape_controls(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    ends = np.cumsum([length + 2 for length in widths]) - 2
    n = len(widths) if width is None else max(2, int(np.searchsorted(ends, width, "right")))
    if n < len(widths):
        first, others = [row[:n] for row in rows], [[row[0], *row[n:]] for row in rows]
        moved = {0} & {*left} | {column - n + 1 for column in left if column >= n}
        return [*align_rows(first, left), "", *align_rows(others, moved, width)]
    return [
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


DATE = re.compile(
    r"(?:(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?|(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}))"
    r"(?:[ T]{1,3}(\d{1,2}):(\d{2})(?::(\d{2}))?(\.\d{1,9})?)?\s?(Z|UTC|[+-]\d{2}:?\d{2})?",
    re.ASCII,
)
N_FIRST = 100
"""Number of texts of a column that are read before all others."""
MISSING_DATES = {"", "na", "n/a", "nan", "nat", "none", "null", "<na>", "?", "-", "--", "\u2013"}
"""Texts of a missing date, in lower case."""


def read_times(column: Any) -> list[np.ndarray]:
    """Return the possible readings of a column of dates or times, in seconds, or nan if missing.

    Ambiguous dates such as 3/4/2024 have two readings, first with the day first, then with the
    month first. Other dates have one reading, and columns with other texts have none.
    """
    values = np.asarray(column)
    if values.dtype.kind == "M":
        seconds = values.astype("datetime64[us]").astype(np.int64) / 1e6
        return [np.where(np.isnat(values), np.nan, seconds)]
    if values.dtype.kind not in "OUST":
        return []
    # every text must be a date or missing; the first ones refute most columns
    for part in (values[:N_FIRST], values):
        distinct, place = np.unique(part.astype(str), return_inverse=True)
        matches: list[re.Match[str] | None] = []
        for text in map(str.strip, distinct.tolist()):
            missing = text.lower() in MISSING_DATES
            match = None if missing else DATE.fullmatch(text)
            if match is None and not missing:
                return []
            matches.append(match)
    # day first and month first, if both are dates
    readings = []
    for day_first in (True, False):
        with suppress(ValueError):  # no month has the number 13
            times = [_count_seconds(match, day_first) for match in matches]
            readings.append(np.array(times)[place])
    same = len(readings) == 2 and np.array_equal(readings[0], readings[1], equal_nan=True)
    return [] if not any(matches) else readings[:1] if same else readings


def _count_seconds(match: re.Match[str] | None, day_first: bool) -> float:
    """Return the seconds since 1970 of a date, or nan if it is missing."""
    if match is None:
        return np.nan
    year, month, day, first, second, last, hour, minute, seconds, fraction, zone = match.groups()
    if year is None:
        year, month, day = (last, second, first) if day_first else (last, first, second)
    text = f"{year}-{month:0>2}-{day or '1':0>2}T{hour or '0':0>2}:{minute or '00'}"
    zone = "+00:00" if zone in (None, "Z", "UTC") else zone
    moment = datetime.fromisoformat(f"{text}:{seconds or '00'}{zone}")
    return moment.timestamp() + float(fraction or 0)
