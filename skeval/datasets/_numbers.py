"""Parser of numbers with thousands separators, percent and currency signs, units, or limits.

Percent and currency signs are dropped ("45.3 %" is 45.3, "$45,000" is 45000), and so is a unit that
all values of a column have ("12 kg" is 12). A detection limit such as "<0.1" counts as the limit.
Other texts are not numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from skeval.datasets._files import marks_missing, parse_number
from skeval.utils._text import count

MIN_SHARE = 0.8
"""Minimum share of numbers of a numeric column; other texts are missing values."""
MIN_NUMBERS = 3
"""Minimum number of distinct numbers in such a column."""
MAX_NAMED = 3
SPACES = "\u0020\u00a0\u2009\u202f"
CURRENCIES = "$€£¥₹"
WRITTEN = re.compile(
    rf"(?P<limit><=?|>=?|≤|≥)?[{SPACES}]*(?P<sign>[+-])?(?P<before>[{CURRENCIES}]|[A-Z]{{3}}(?=[{SPACES}\d]))?"
    rf"[{SPACES}]*(?P<sign_behind>[+-])?(?P<digits>\d(?:[\d.,'’{SPACES}]*\d)?)"
    rf"[{SPACES}]*(?P<after>%|‰|[{CURRENCIES}]|[^\W\d_][^\s\d]{{0,11}})?"
)
GROUPS = r"[1-9]\d{{0,2}}(?:[{marks}]\d{{3}})+"


class WrittenNumbers(NamedTuple):
    """Column of texts parsed as numbers.

    Attributes
    ----------
    values : ndarray of shape (n_rows,)
        Numbers; nan for missing values and other texts.
    share : float
        Share of numbers among the texts that are not missing.
    limits, others : Counter
        Frequency of each detection limit, and of each text that is not a number.
    example : tuple of str and float, or None
        A text with a sign or separator that was dropped, and its number.
    """

    values: np.ndarray
    share: float
    limits: Counter[str]
    others: Counter[str]
    example: tuple[str, float] | None

    @property
    def holds_numbers(self) -> bool:
        """Whether the column is numeric, apart from a few texts."""
        distinct = np.unique(self.values[~np.isnan(self.values)])
        return self.share >= MIN_SHARE and len(distinct) >= MIN_NUMBERS

    def describe_others(self) -> str:
        """Return the share of numbers and the most frequent texts that are not numbers."""
        shown = [f"{text!r} ({n})" for text, n in self.others.most_common(MAX_NAMED)]
        more = f" and {len(self.others) - MAX_NAMED} more" if len(self.others) > MAX_NAMED else ""
        return f"{100 * self.share:.0f} % are numbers; others: {', '.join(shown)}{more}"

    def describe_limits(self) -> str:
        """Return the most frequent detection limits."""
        n = sum(self.limits.values())
        common = self.limits.most_common(MAX_NAMED)
        shown = [f"{text!r} in {count(n_rows, 'row')}" for text, n_rows in common]
        share = 100 * n / len(self.values)
        return f"{', '.join(shown)} ({share:.0f} % of all)"


def read_written_numbers(texts: Sequence[str], *, decimal_comma: bool) -> WrittenNumbers:
    """Return texts as numbers, with any signs or units."""
    rows = Counter(texts)
    words = {text: text.strip() for text in rows}
    present = {text: word for text, word in words.items() if not marks_missing(word)}
    matches = {text: WRITTEN.fullmatch(word) for text, word in present.items()}
    digits = [match["digits"] for match in matches.values() if match]
    commas = have_decimal_commas(digits, default=decimal_comma)
    marks = _find_marks(matches)
    values = dict.fromkeys(rows, np.nan)
    limits: Counter[str] = Counter()
    example = None
    for text, word in present.items():
        match = matches[text]
        number = np.nan if match is None else _read_match(match, marks, commas)
        if np.isnan(number):  # plain numbers such as 1e-3
            number = parse_number(word)
        values[text] = number
        if np.isnan(number):
            continue
        if match is not None and match["limit"]:
            limits[word] += rows[text]
        elif example is None and np.isnan(parse_number(word)) and _is_dressed(word, number):
            example = word, number
    others = Counter({word: rows[text] for text, word in present.items() if np.isnan(values[text])})
    n_present = sum(rows[text] for text in present)
    share = 1 - sum(others.values()) / n_present if n_present else 0.0
    return WrittenNumbers(
        np.array([values[text] for text in texts]), share, limits, others, example
    )


def have_decimal_commas(digits: Collection[str], *, default: bool) -> bool:
    """Return whether numbers have decimal commas; `default` if commas and points decide nothing."""
    return _separates_decimals(",", ".", digits) or (
        default and not _separates_decimals(".", ",", digits)
    )


def _separates_decimals(mark: str, other: str, digits: Collection[str]) -> bool:
    """Return whether a mark certainly separates decimals, not thousands.

    It does if, in some number, it is preceded by the other mark, a leading zero or more than three
    digits, or not followed by exactly three digits. It does not if a number contains it twice, or
    the other mark after it.
    """
    marked = [text for text in digits if mark in text]
    if any(text.count(mark) > 1 or other in text.partition(mark)[2] for text in marked):
        return False
    pairs = [text.split(mark) for text in marked]
    return any(
        len(fraction) != 3 or other in whole or whole.startswith("0") or len(whole) > 3
        for whole, fraction in pairs
    )


def _is_dressed(word: str, number: float) -> bool:
    """Return whether a text is more than a number with a decimal comma."""
    return parse_number(word.replace(",", ".", 1)) != number


def _find_marks(matches: Mapping[str, re.Match[str] | None]) -> Collection[str]:
    """Return the sign or unit of the numbers of a column, empty if there is none.

    Percent and currency signs may be missing from some numbers; other units must be present in all.
    If there are two different signs or units, the numbers are not comparable and the result is
    empty.
    """
    matched = [match for match in matches.values() if match is not None]
    marks = {match[side] for match in matched for side in ("before", "after")} - {None}
    if len(marks) != 1:
        return ()
    (mark,) = marks
    is_sign = mark in {"%", "‰", *CURRENCIES}
    alone = all(match["before"] or match["after"] for match in matched)
    return (mark,) if is_sign or (alone and len(matched) == len(matches)) else ()


def _read_match(match: re.Match[str], marks: Collection[str], commas: bool) -> float:
    """Return the number in a text; nan if it has another sign or unit, or is not a number."""
    if any(match[side] and match[side] not in marks for side in ("before", "after")):
        return np.nan
    if match["sign"] and match["sign_behind"]:
        return np.nan
    digits = match["digits"]
    point, thousands = (",", ".") if commas else (".", ",")
    whole, _, fraction = digits.partition(point)
    grouped = GROUPS.format(marks=re.escape(thousands + "'’" + SPACES))
    if re.fullmatch(grouped, whole):
        separators = re.sub(r"\d", "", whole)
        if len(set(separators)) > 1:
            return np.nan
        whole = re.sub(r"\D", "", whole)
    if not whole.isdecimal() or (fraction and not fraction.isdecimal()):
        return np.nan
    negative = "-" in (match["sign"], match["sign_behind"])
    return float(f"{'-' if negative else ''}{whole}.{fraction or '0'}")
