"""What a field of a table may hold: the rules that every kind of file shares."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import numpy as np

__all__ = [
    "BOOLEANS",
    "DASHES",
    "DECIMAL_COMMA",
    "LARGEST_EXACT",
    "MISSING",
    "find_missing",
    "has_decimal_commas",
    "is_unnamed",
    "looks_like_value",
    "name_spellings",
    "parse_number",
    "parse_numbers",
    "parse_plain_numbers",
    "read_times",
]

LARGEST_EXACT = 2**53  # up to here different whole numbers are different floats
UNNAMED = re.compile(r"\s*|Unnamed: \d+(\.\d+)*")  # pandas names empty columns "Unnamed: 0"
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
DATE = re.compile(
    r"(?:(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?|(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}))"
    r"(?:[ T]+(\d{1,2}):(\d{2})(?::(\d{2}))?(\.\d{1,9})?)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?",
    re.ASCII,
)
BOOLEANS = {"true", "false"}
MISSING = {"na", "n/a", "nan", "none", "null", "<na>", "?"}  # other ways to write a missing value
DASHES = {"-", "--", "\u2013", "\u2014"}  # in a column of numbers a missing value, too


def parse_number(text: str) -> float:
    """Return the number that a text holds, nan where it holds none.

    Python reads "1_000" and the digits of any script as numbers; in a table they are text.
    """
    try:
        return float(text) if text.isascii() and "_" not in text else np.nan
    except ValueError:
        return np.nan


def parse_numbers(texts: Sequence[str]) -> np.ndarray:
    """Return texts as numbers, with nan for every text that is none."""
    plain = parse_plain_numbers(texts)
    return np.fromiter(map(parse_number, texts), float, len(texts)) if plain is None else plain


def parse_plain_numbers(texts: Sequence[str]) -> np.ndarray | None:
    """Return texts as numbers, None where one of them is none."""
    joined = "".join(texts)
    if joined.isascii() and "_" not in joined:
        with suppress(ValueError):
            return np.fromiter(map(float, texts), float, len(texts))
    return None


def has_decimal_commas(texts: Collection[str]) -> bool:
    """Whether the commas in a column stand before decimals, and not between thousands."""
    commas = [text.strip() for text in texts if "," in text]
    if not all(map(DECIMAL_COMMA.fullmatch, commas)):
        return False
    return any(len(text.partition(",")[2]) != 3 for text in commas)


def find_missing(values: Any, *, words: bool) -> np.ndarray:
    """Return which values of a column are missing; words that say so count as well, if asked."""
    if isinstance(values, np.ndarray):
        return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
    known = {"", *(MISSING | DASHES if words else ())}
    absent = {text for text in set(values) if text.strip().lower() in known}
    return np.array([text in absent for text in values], dtype=bool)


def name_spellings(texts: Iterable[str]) -> dict[str, str]:
    """Return texts that differ from others by case or spaces alone, and the most frequent of them.

    That has no blanks around it.
    """
    alike: dict[str, list[str]] = {}
    for text, _ in Counter(texts).most_common():
        alike.setdefault(" ".join(text.split()).casefold(), []).append(text)
    several = [found for found in alike.values() if len(found) > 1]
    return {text: found[0].strip() for found in several for text in found}


def looks_like_value(text: str) -> bool:
    """Whether a text in the place of a column's name could be a value instead."""
    word = text.strip().lower()
    return word in BOOLEANS | MISSING or not np.isnan(parse_number(word.replace(",", ".", 1)))


def is_unnamed(name: str) -> bool:
    """Whether a column has no name of its own."""
    return UNNAMED.fullmatch(name) is not None


def read_times(column: Any) -> list[np.ndarray]:
    """Return a column of dates, with or without hours, as seconds; nan where one is missing.

    There are two readings of dates such as 3/4/2024 throughout, the day first in the first of
    them, one of others, and none of a column that holds anything else.
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
        missing = not text or text.lower() in MISSING | DASHES | {"nat"}
        match = None if missing else DATE.fullmatch(text)
        if match is None and not missing:
            return []
        fields.append(match)
    readings = []
    for day_first in (True, False):
        with suppress(ValueError):  # no month has the number 13
            readings.append(np.array([_count_seconds(each, day_first) for each in fields])[place])
    same = len(readings) == 2 and np.array_equal(readings[0], readings[1], equal_nan=True)
    return [] if not any(fields) else readings[:1] if same else readings


def _count_seconds(match: re.Match[str] | None, day_first: bool) -> float:
    """Return the seconds since 1970 of a date, nan of none."""
    if match is None:
        return np.nan
    year, month, day, first, second, last, hour, minute, seconds, fraction, zone = match.groups()
    if year is None:
        year, month, day = (last, second, first) if day_first else (last, first, second)
    text = f"{year}-{month:0>2}-{day or '1':0>2}T{hour or '0':0>2}:{minute or '00'}"
    zone = "+00:00" if zone in (None, "Z", "UTC") else zone
    moment = datetime.fromisoformat(f"{text}:{seconds or '00'}{zone}")
    return moment.timestamp() + float(fraction or 0)
