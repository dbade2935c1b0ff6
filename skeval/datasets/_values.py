"""What a field of a table may hold: the rules that every kind of file shares."""

from __future__ import annotations

import re
import reprlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from typing import Any

import numpy as np

__all__ = [
    "DASHES",
    "DECIMAL_COMMA",
    "LARGEST_EXACT",
    "MISSING",
    "check_stored_labels",
    "find_missing",
    "has_decimal_commas",
    "is_unnamed",
    "list_records",
    "looks_like_value",
    "make_missing_label_error",
    "make_name_error",
    "make_value_error",
    "name_spellings",
    "note_rounding",
    "parse_number",
    "parse_numbers",
    "parse_plain_numbers",
    "read_class_labels",
    "read_times",
]

LARGEST_EXACT = 2**53  # up to here different whole numbers are different floats
UNNAMED = re.compile(r"\s*|Unnamed: \d+(\.\d+)*")  # pandas names empty columns "Unnamed: 0"
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
NAN = re.compile(r"\s*[+-]?nan\s*", re.IGNORECASE)
DATE = re.compile(
    r"(?:(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?|(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}))"
    r"(?:[ T]+(\d{1,2}):(\d{2})(?::(\d{2}))?(\.\d{1,9})?)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?",
    re.ASCII,
)
FEW_RECORDS = 5
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


def make_name_error(source: str, position: int, name: str) -> ValueError:
    """Return the error of a column that has no name."""
    return ValueError(
        f"{source}: column {position + 1} has no name in the header, but {name!r}; name it if it "
        "is a feature, delete it if it is a row number or label."
    )


def make_value_error(source: str, position: int, name: str, record: str, value: Any) -> ValueError:
    """Return the error of a feature's value that is no finite number."""
    if is_unnamed(name):  # such a column most likely holds row names
        return make_name_error(source, position, name)
    text = str(value)
    word = text.strip().lower()
    if not word or value is None or value != value:
        return ValueError(f"{source}: column {name!r} has no value in {record}; impute or drop it.")
    if word in MISSING:
        advice = "impute what is missing or drop it"
    elif word in BOOLEANS:
        advice = "write 1 and 0"
    elif DECIMAL_COMMA.fullmatch(text):
        advice = "write decimals with a point"
    elif np.isinf(parse_number(text)):
        advice = "they must be finite"
    else:
        advice = "encode it (one-hot, for example), drop it, or name it as the target"
    shown = reprlib.repr(text) if isinstance(value, str) else text
    return ValueError(
        f"{source}: column {name!r} must hold numbers, {record} has {shown}; {advice}."
    )


def note_rounding(source: str, name: str, record: str, value: Any) -> str | None:
    """Return what to note of a whole number that no float equals; None for any other value."""
    text = str(value)
    if not WHOLE.fullmatch(text) or Decimal(text) == Decimal(float(text)):
        return None
    return (
        f"{source}: column {name!r} holds whole numbers beyond 2**53, which are rounded: {record} "
        f"has {text.strip()}, read as {int(float(text))}."
    )


def read_class_labels(
    texts: list[str],
    records: Sequence[str],
    name: str,
    source: str,
    notes: list[str],
    *,
    as_text: bool,
) -> np.ndarray:
    """Return the labels that distinct texts stand for: one label for each text.

    They are numbers where one way of writing numbers gives all texts back, unless `as_text`.
    """
    for text in texts:
        check_no_nul(text, name, source)
    if not as_text:
        check_finite_labels(texts, records, name, source)
        labels = parse_labels(texts)
        if labels is not None:
            return labels
    check_measurements(texts, records, name, source)
    note_missing(texts, name, source, notes)
    return np.array(texts)


def check_finite_labels(
    texts: Sequence[str], records: Sequence[str], name: str, source: str
) -> None:
    """Raise where all labels are numbers and one of them is infinite or nan."""
    values = [parse_number(text) for text in texts]
    pairs = list(zip(texts, values, strict=True))
    if not all(value == value or NAN.fullmatch(text) for text, value in pairs):
        return
    for (text, value), record in zip(pairs, records, strict=True):
        if not np.isfinite(value):
            raise make_infinite_label_error(source, name, record, text)


def check_measurements(
    texts: Sequence[str], records: Sequence[str], name: str, source: str
) -> None:
    """Raise where numbers with fractions are mistaken for the names of classes.

    They are if one is missing, or if they have a decimal comma.
    """
    absent = [text.strip().lower() in MISSING | DASHES for text in texts]
    known = [text for text, missing in zip(texts, absent, strict=True) if not missing]
    values = [parse_number(text.replace(",", ".") if has_comma(text) else text) for text in known]
    if not known or not np.isfinite(values).all():
        return
    for text, record in zip(texts, records, strict=True):
        if has_comma(text):
            raise ValueError(
                f"{source}: the target column {name!r} has {text!r} in {record}; write decimals "
                "with a point."
            )
    if any(absent) and any(value % 1 for value in values):
        raise make_missing_label_error(source, name, [records[absent.index(True)]])


def has_comma(text: str) -> bool:
    """Whether a text is a number with a decimal comma."""
    return DECIMAL_COMMA.fullmatch(text) is not None


def parse_labels(texts: list[str]) -> np.ndarray | None:
    """Return the numbers from which one way of writing makes all the texts, or None.

    The ways are whole numbers, shortest decimals, and a fixed number of decimals with or without
    an exponent. So "01" and "1" stay two classes, and "1.50" and "2.00" are numbers.
    """
    decimals = len(re.split("[eE]", texts[0])[0].partition(".")[2])
    ways: list[tuple[Callable[[str], Any], Callable[[Any], str]]] = [
        (int, str),
        (float, repr),
        (float, f"{{:.{decimals}f}}".format),
        (float, f"{{:.{decimals}e}}".format),
    ]
    for read, write in ways:
        try:
            values = [read(text) for text in texts]
        except ValueError:
            continue
        distinct = len(set(values)) == len(texts) and max(map(abs, values)) <= LARGEST_EXACT
        if distinct and list(map(write, values)) == texts:
            return np.array(values)
    return None


def check_stored_labels(y: np.ndarray, name: str, source: str) -> np.ndarray:
    """Return labels that are stored with a type; raise where one is not finite."""
    if y.dtype.kind == "f" and np.isinf(y).any():
        row = int(np.argmax(np.isinf(y)))
        raise make_infinite_label_error(source, name, f"row {row + 1}", str(y[row]))
    if y.dtype.kind in "iu" and ((y > LARGEST_EXACT) | (y < -LARGEST_EXACT)).any():
        return y.astype(str)  # as floats, labels that differ in the last digits would be one class
    return y


def check_no_nul(text: str, name: str, source: str) -> None:
    """Raise where an array of labels would lose the end of a text."""
    if "\0" in text:
        raise ValueError(f"{source}: the target column {name!r} has a label with a NUL character.")


def make_missing_label_error(
    source: str, name: str, records: Sequence[str], *, remedy: str = ""
) -> ValueError:
    """Return the error of samples without a label, of which the first few are named."""
    return ValueError(
        f"{source}: the target column {name!r} has no value in {list_records(records)}{remedy}."
    )


def list_records(records: Sequence[str]) -> str:
    """Name a few rows of a table, and count the others."""
    if len(records) == 1:
        return records[0]
    more = f" and {len(records) - FEW_RECORDS} more" if len(records) > FEW_RECORDS else ""
    return f"{len(records)} rows: {', '.join(records[:FEW_RECORDS])}{more}"


def make_infinite_label_error(source: str, name: str, record: str, text: str) -> ValueError:
    """Return the error of a numeric label that is not finite."""
    return ValueError(
        f"{source}: the target column {name!r} must be finite, {record} has {text!r}."
    )


def note_missing(texts: list[str], name: str, source: str, notes: list[str]) -> None:
    """Note the classes whose names often stand for a missing value."""
    notes += [
        f"{source}: {text!r} in the target column {name!r} is read as the name of a class; delete "
        "its rows (--drop-missing-target) if it marks missing labels."
        for text in texts
        if text.strip().lower() in MISSING
    ]


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
