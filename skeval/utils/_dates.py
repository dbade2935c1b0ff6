"""Dates and times in columns of text."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime
from typing import Any

import numpy as np

DATE = re.compile(
    r"(?:(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?|(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}))"
    r"(?:[ T]{1,3}(\d{1,2}):(\d{2})(?::(\d{2}))?(\.\d{1,9})?)?\s?(Z|UTC|[+-]\d{2}:?\d{2})?",
    re.ASCII,
)
MISSING = {"", "na", "n/a", "nan", "nat", "none", "null", "<na>", "?", "-", "--", "\u2013"}
"""Texts of a missing date, in lower case."""


def read_times(column: Any) -> list[np.ndarray]:
    """Return the possible readings of a column of dates or times, in seconds; nan if missing.

    Ambiguous dates such as 3/4/2024 have two readings, first with the day first, then with the
    month first; other dates have one, and columns with other texts have none.
    """
    values = np.asarray(column)
    if values.dtype.kind == "M":
        seconds = values.astype("datetime64[us]").astype(np.int64) / 1e6
        return [np.where(np.isnat(values), np.nan, seconds)]
    if values.dtype.kind not in "OUST":
        return []
    distinct, place = np.unique(values.astype(str), return_inverse=True)
    fields: list[re.Match[str] | None] = []
    for text in map(str.strip, distinct.tolist()):
        missing = text.lower() in MISSING
        match = None if missing else DATE.fullmatch(text)
        if match is None and not missing:
            return []
        fields.append(match)
    readings = []
    for day_first in (True, False):
        with suppress(ValueError):  # no month has the number 13
            times = [_count_seconds(match, day_first) for match in fields]
            readings.append(np.array(times)[place])
    same = len(readings) == 2 and np.array_equal(readings[0], readings[1], equal_nan=True)
    return [] if not any(fields) else readings[:1] if same else readings


def _count_seconds(match: re.Match[str] | None, day_first: bool) -> float:
    """Return the seconds since 1970 of a date; nan if it is missing."""
    if match is None:
        return np.nan
    year, month, day, first, second, last, hour, minute, seconds, fraction, zone = match.groups()
    if year is None:
        year, month, day = (last, second, first) if day_first else (last, first, second)
    text = f"{year}-{month:0>2}-{day or '1':0>2}T{hour or '0':0>2}:{minute or '00'}"
    zone = "+00:00" if zone in (None, "Z", "UTC") else zone
    moment = datetime.fromisoformat(f"{text}:{seconds or '00'}{zone}")
    return moment.timestamp() + float(fraction or 0)
