"""Tables of the command line: readers of files, and the role of each column.

Files are read by pandas. Bundled data sets and NPZ files do not need it. Columns are arrays of
numbers, or of texts, where an empty text is a missing value.
"""

from __future__ import annotations

import argparse
import re
import shlex
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from difflib import get_close_matches
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
import sklearn.datasets

from skeval._commands import BUNDLED
from skeval.utils._text import read_times

TEXT_FILES, EXCEL_FILES = (".csv", ".tsv", ".txt"), (".xlsx", ".xls")
WRITTEN_FILES = TEXT_FILES + EXCEL_FILES
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip")
PACKAGES = dict.fromkeys((".parquet", ".pq", ".feather"), "pyarrow")
PACKAGES |= {".xlsx": "openpyxl", ".xls": "xlrd"}
"""Packages beside pandas that read a type of file."""
TEXT_OPTIONS = ("sep", "encoding")
WRITTEN_OPTIONS = ("decimal", "thousands", "na", "skiprows", "header")
SEPARATORS = ",;\t|"
MAX_LISTED, MAX_ROWS_LISTED = 8, 5
MAX_TEXTS = 20
"""Maximum number of distinct strings in a text feature, or half of the rows if that is more."""
UNNAMED = re.compile(r"Unnamed: \d{1,9}")
"""Name that pandas gives to a column without one."""
MAX_EXACT = 2**53
"""Largest integer up to which different whole numbers are different floats."""
WRITTEN_NUMBER = re.compile(
    r"(?:=?[\"'])?(?:[<>≤≥~]=?)?\s?(?P<before>[$€£¥₹]|(?:AUD|CAD|CHF|CNY|EUR|GBP|INR|JPY|USD))?\s?"
    r"[+\-\u2212]?\d{1,20}(?:[.,'’\s]\d{3}){0,6}(?:[.,]\d{1,20})?(?:[eE][+-]?\d{1,3})?"
    r"(?P<after>\s?[^\d\s.,][^\d\s]{0,11})?"
)
"""A number with a limit, a currency, separators of thousands, an exponent, or a unit."""
DOTTED_NUMBER = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})*|0")
"""A whole number, in which dots may separate thousands."""
MAX_WRITTEN, MIN_NUMBERS, N_SHOWN = 60, 3, 3
"""Maximum length of such a text, the minimum number of distinct numbers in a column to be noticed,
and number of values shown."""
NO_BREAK = dict.fromkeys(map(ord, "\u00a0\u202f\u2009"))
"""Non-breaking spaces, which separate thousands in spreadsheets."""
NOT_PLAIN = re.compile(r"\([\d.,]+\)|\d[\u00a0\u202f\u2009]\d")
NA = ["", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-nan", "NULL", "null", "None"]
"""Texts of missing values in CSV and Excel files."""
SENTINELS = (-8, -9, -77, -88, -99, -999, -9999, 77, 88, 99, 999, 9999)
"""Numbers that often mark missing values."""
PREDICTED = re.compile("(y_?)?(pred(iction|icted)?|forecast|hat)s?")
TRUE = {"target", "y", "y_true", "true", "truth", "label", "labels", "observed", "actual"}
"""Names of columns of predictions, and of true values."""
MIN_ROWS = 5
"""Minimum number of rows to look for totals in the last one."""
TOTALS = {"total", "totals", "grand total", "sum", "subtotal", "mean", "average", "gesamt", "summe"}
ROLES = ("drop", "text", "groups", "time", "id", "predictions", "by")
"""Options that name columns, beside the target."""
COMPLETE = ("predictions", "groups", "time")
"""Those of columns without missing values."""
FREE_TEXT = "Free text needs a pipeline with a TfidfVectorizer, which is passed in Python."


class Table:
    """Features, labels and groups of the rows of a file.

    The methods raise an error if the role of a column is in doubt. If there are existing
    predictions, only they and the column of subgroups are features.

    Attributes
    ----------
    columns : dict of str to ndarray of shape (n_samples,)
        All columns that are used, as numbers or texts.
    rows : ndarray of shape (n_samples,)
        Numbers of the rows in the file, from 1 below the names.
    roles : dict of str to list of str
        Columns that options name.
    X : ndarray of shape (n_samples, n_features)
        Floats, or objects if `texts` is not empty. Missing numbers are nan.
    y : ndarray of shape (n_samples,), or None
        Labels, or None if a file has no labels.
    is_numeric : bool
        Whether `y` is a numeric target.
    feature_names : list of str
    texts, missing : list of int
        Columns of X that contain text, and numeric columns with missing values.
    groups, time : ndarray of shape (n_samples,), or None
    left_out : dict of str to ndarray of shape (n_samples,)
        Columns that are not features.
    notes : list of str
        The role of each column, and notes on columns and rows.
    hints : list of str
        Notes that may explain an error.
    """

    def __init__(
        self,
        options: argparse.Namespace,
        columns: dict[str, np.ndarray] | None = None,
        *,
        needs_target: bool = True,
    ) -> None:
        self.options, self.source = options, Path(options.data).name
        self.is_written = find_ending(options.data) in WRITTEN_FILES
        self.notes, self.hints = list[str](), list[str]()
        # the columns that options name, without empty rows
        roles: dict[str, list[str]] = {"target": []}
        for role in ROLES:
            value = getattr(options, role, None)
            roles[role] = value if isinstance(value, list) else [] if value is None else [value]
        self.roles = roles
        as_text = roles["groups"] + roles["id"]
        self.columns = columns or read_source(options, as_text.__contains__)
        self._check_roles(needs_target)
        self._drop_empty()
        excluded = {*roles["drop"], *roles["id"]}
        if options.data not in BUNDLED:
            self._note_values(excluded)
        # the target, whose type is chosen later
        self.y: Any = None
        self.is_numeric = False
        for target in roles["target"]:
            with explain_errors(self.hints):
                self.y = self._read_target(target)
        for name in roles["predictions"]:
            self._check_numbers(name)
            self._refuse_identifier("predictions", name)
        # predictions, groups and times must be known in every row
        for role, name in [(key, name) for key in COMPLETE for name in roles[key]]:
            if (missing := find_blanks(self.columns[name])).any():
                keeps = f" ({write_option('--text', name)} keeps texts like None)"
                raise ValueError(
                    f"{self.source}: the column {name!r} of --{role} has no value in "
                    f"{self._name_rows(missing)}. Complete or delete them"
                    f"{keeps * (role != 'time')}."
                )
        # the features in one array, of objects if there are texts
        used = {*excluded, *roles["target"], *roles["groups"], *roles["time"]}
        features, left_out = self._read_features(
            [name for name in self.columns if name not in used]
        )
        if options.data not in BUNDLED:
            self._note_roles(features, left_out)
        self.feature_names, values = list(features), list(features.values())
        self.X = np.column_stack(values)
        self.texts = [k for k, column in enumerate(values) if column.dtype == object]
        numbers = {*range(len(values))} - {*self.texts}
        self.missing = [k for k in sorted(numbers) if np.isnan(values[k]).any()]
        # other columns
        columns = self.columns
        self.left_out = {name: columns[name] for name in columns if name in {*excluded, *left_out}}
        groups = [[str(value).strip() for value in columns[name]] for name in roles["groups"]]
        self.groups = np.array(groups[0]) if groups else None
        self.time = columns[roles["time"][0]] if roles["time"] else None

    def name_classes(self) -> dict[str, Any]:
        """Return a dict from texts to classes."""
        return {str(label): label for label in sorted(set(self.y.tolist()), key=str)}

    def _check_roles(self, needs_target: bool) -> None:
        """Check the names of all options at once. No column is both the target and a feature."""
        options, columns, roles = self.options, self.columns, self.roles
        named = {name: f"--{role}" for role, names in roles.items() for name in names}
        default = "y" if self.source.lower().endswith(".npz") else "target"
        target = default if options.target is None else options.target
        # clustering uses a column of the default name only if there is one
        if needs_target or options.target is not None or target in columns:
            roles["target"] = [target]
            named[target] = "--target (the default)" if options.target is None else "--target"
        _check_names(named, columns, self.source)
        for true, predicted in product(roles["target"], roles["predictions"]):
            if PREDICTED.fullmatch(true.lower()) and predicted.lower() in TRUE:
                raise ValueError(
                    f"{self.source}: --target names {true!r} and --predictions names "
                    f"{predicted!r}, which seem to be swapped. Swap them, or rename the columns in "
                    "the file."
                )
        # --text only says how to read a column, so it may name any of them
        for role, other in product(("target", "predictions"), roles):
            for name in {*roles[role]} & {*roles[other]} if other not in (role, "text") else ():
                others = _shorten([one for one in columns if one not in named])
                raise ValueError(
                    f"{self.source}: --{role} and --{other} both name {name!r}. Pass different "
                    f"columns. The other columns are {others}."
                )
        # existing predictions need no other columns than those named
        if roles["predictions"]:
            if not roles["groups"]:
                self._advise_groups()
            self.columns = {name: columns[name] for name in columns if name in named}

    def _advise_groups(self) -> None:
        """Note the columns of objects that have several predictions."""
        from skeval.report._data_checks.duplicates import OBJECT

        others = {*self.roles["target"], *self.roles["predictions"], *self.roles["by"]}
        for name, column in self.columns.items():
            n_values, n_rows = len({*column.tolist()}), len(column)
            names_objects = name in self.roles["id"] or OBJECT.fullmatch(name)
            if name not in others and names_objects and 1 < n_values < n_rows:
                self.notes.append(
                    f"the values of {name!r} repeat ({n_values} values in {n_rows} rows). If "
                    "each value identifies an object, such as a patient, its rows are not "
                    "independent, and intervals are too narrow. Pass "
                    f"{write_option('--groups', name)}."
                )

    def _drop_empty(self) -> None:
        """Drop empty rows, and nameless columns that are empty or, if first, count the rows."""
        missing = np.array([find_blanks(column) for column in self.columns.values()])
        empty = np.atleast_1d(missing.all(axis=0))
        # rows keep their numbers in the file, which messages name
        self.rows = 1 + np.arange(len(empty))
        if empty.any():
            self.notes.append(f"rows without any value are left out ({self._name_rows(empty)}).")
            self.columns = {name: column[~empty] for name, column in self.columns.items()}
            self.rows = self.rows[~empty]
        named = {name for names in self.roles.values() for name in names}
        # a nameless column is often the index of a saved data frame, or an empty last one
        for place, (name, column) in enumerate([*self.columns.items()]):
            if name in named or not UNNAMED.fullmatch(name):
                continue
            numbers = np.arange(len(column))
            counts = any(np.array_equal(column, numbers + start) for start in (0, 1))
            if not missing[place].all() and (place or not counts):
                raise ValueError(
                    f"{self.source}: column {place + 1} has no name. Name it, or pass "
                    f"{write_option('--drop', name)} to leave it out (--id if it identifies the "
                    "rows). Skip lines above the names with --skiprows N."
                )
            del self.columns[name]
            if counts:
                self.notes.append(
                    "the first column has no name and contains row numbers. It is left out."
                )
        if len(self.rows) < 2:
            raise ValueError(
                f"{self.source} must contain at least two rows of data, got {len(self.rows)}."
            )

    def _note_roles(self, features: Mapping[str, np.ndarray], left_out: Sequence[str]) -> None:
        """Insert a note on the role of each column."""
        roles = self.roles | {"numbers": [], "categories": []}
        for name, values in features.items():
            if not roles["predictions"]:
                roles["categories" if values.dtype == object else "numbers"].append(name)
        others = [name for name in (*roles["drop"], *left_out) if name not in roles["by"]]
        shown = roles | {"left out": others, "drop": [], "text": []}
        listed = [f"{role}: {_shorten(names)}" for role, names in shown.items() if names]
        self.notes.insert(0, f"columns: {'; '.join(listed)}")

    def _refuse_identifier(self, role: str, name: str) -> None:
        """Raise an error if a column of the target or of predictions identifies the rows."""
        column = self.columns[name]
        n_rows, n_values = len(column), len(set(column.tolist()))
        texts = column.dtype == object and n_values > max(MAX_TEXTS, n_rows / 2)
        if name not in self.options.text and (texts or (is_id(name) and n_values == n_rows)):
            others = _shorten([other for other in self.columns if other != name])
            raise ValueError(
                f"{self.source}: --{role} names {name!r}, which identifies the rows, with "
                f"{n_values} different values in {n_rows} rows. Pass another column. The other "
                f"columns are {others}."
            )

    def _refuse_infinite(self, start: str, numbers: np.ndarray) -> None:
        """Raise an error if a number is infinite."""
        infinite = np.isinf(numbers)
        if infinite.any():
            raise ValueError(
                f"{self.source}: {start} must be finite, got inf in {self._name_rows(infinite)}. "
                "Correct or empty the cell."
            )

    def _name_rows(self, mask: np.ndarray) -> str:
        """Return how many rows a mask selects, and the first few of their numbers."""
        numbers = self.rows[mask].tolist()
        if len(numbers) == 1:
            return f"row {numbers[0]}"
        more = len(numbers) - MAX_ROWS_LISTED
        listed = ", ".join(map(str, numbers[:MAX_ROWS_LISTED]))
        return f"{len(numbers)} rows: {listed}{f' and {more} more' if more > 0 else ''}"

    def _note_values(self, excluded: set[str]) -> None:
        """Add notes on numbers that may mark missing values, and a hint on a final row of totals.

        Such a row contains the word, or the sum of all other rows.
        """
        totals = list[str]()
        for name, column in self.columns.items():
            if column.dtype == object and column[-1].strip(" :.").casefold() in TOTALS:
                totals.insert(0, f"it contains {column[-1]!r}")
            if name in excluded or column.dtype.kind not in "iuf":
                continue
            # numbers far from all others, or negative beside none, may mark missing values
            numbers = column.astype(float)
            marks = [mark for mark in SENTINELS if (numbers == mark).any()]
            others = numbers[~np.isnan(numbers) & ~np.isin(numbers, marks)]
            for mark in marks if others.size else ():
                if np.abs(others - mark).min() > np.ptp(others) or mark < 0 <= others.min():
                    remedy = f"{write_option('--na', str(mark))} treats {mark} as missing"
                    remedy = remedy if self.is_written else "store missing values as nan"
                    self.notes.append(
                        f"column {name!r} has {mark} in {np.sum(numbers == mark)} of "
                        f"{len(numbers)} rows, far from all other values. It may mark missing "
                        f"values. If so, {remedy}."
                    )
            # a sum up to the rounding of its last digit
            last, rest, digits = numbers[-1], numbers[:-1], f"{numbers[-1]:.15g}".partition(".")[2]
            rounding = max(0.5 * 10.0 ** -max(1, len(digits)), 1e-9 * abs(last))
            if last > np.nanmax(rest, initial=0) and abs(last - np.nansum(rest)) <= rounding:
                totals.append(f"{name!r} is the sum of all other rows")
        # in very few rows, one value may be the sum of the others by chance
        if totals and len(self.rows) >= MIN_ROWS:
            self.hints.append(
                f"the last row may contain totals ({totals[0]}). If so, delete it in the file."
            )

    def _read_target(self, target: str) -> np.ndarray:
        """Return the labels, as they are written with --text. Raise an error if one is missing.

        With --drop-missing-target, rows without one are left out instead.
        """
        self._check_numbers(target)
        missing = find_blanks(self.columns[target])
        if missing.any() and self.options.drop_missing_target and not missing.all():
            dropped = self._name_rows(missing)
            self.notes.append(f"rows without a value of {target!r} are left out ({dropped}).")
            if missing[-1]:
                self.hints.clear()  # the row of totals is left out
            self.rows = self.rows[~missing]
            # a column of a CSV or Excel file is one of numbers without the dropped texts
            texts = {*self.options.text, *self.roles["groups"], *self.roles["id"]}
            for name, column in self.columns.items():
                column = self.columns[name] = column[~missing]
                if column.dtype == object and name not in texts and self.is_written:
                    self.columns[name] = read_numbers(column, self.options)
        y = self.columns[target]
        missing = find_blanks(y)
        if missing.any():
            more = f", and {write_option('--text', target)} keeps strings such as None as classes"
            more = more if y.dtype == object and find_ending(self.source) in TEXT_FILES else ""
            more += ". Delete row 1 if it contains units" if missing[0] else ""
            raise ValueError(
                f"{self.source}: the target column {target!r} has no value in "
                f"{self._name_rows(missing)}. --drop-missing-target leaves such rows out{more}."
            )
        self._refuse_identifier("target", target)
        # --text keeps labels as they are written, and others lose surrounding spaces
        if y.dtype == object:
            keeps = target in self.options.text
            return y.astype(str) if keeps else np.array([text.strip() for text in y.tolist()])
        self._refuse_infinite(f"the target column {target!r}", y)
        if y.dtype.kind in "iu" and ((y > MAX_EXACT) | (y < -MAX_EXACT)).any():
            return y.astype(str)  # as floats, labels that differ in the last digits would be equal
        # whole numbers that were read as floats, so that a class is named 1 and not 1.0
        whole = y.dtype.kind == "f" and (y % 1 == 0).all() and np.abs(y).max() < MAX_EXACT
        return y.astype(np.int64) if whole else y

    def _read_features(self, names: Iterable[str]) -> tuple[dict[str, np.ndarray], list[str]]:
        """Return the features, and the names of other columns. The notes contain the reasons."""
        features: dict[str, np.ndarray] = {}
        left_out = []
        for name in names:
            column, reason = self.columns[name], ""
            # empty columns, then numbers, then dates and other texts
            if find_blanks(column).all():
                reason = "has no value and is left out."
            elif column.dtype != object and name not in self.options.text:
                features[name] = column.astype(float)
                self._refuse_infinite(f"column {name!r}", features[name])
            else:
                reason = self._read_texts(name, features)
            if reason:
                left_out.append(name)
                self.notes.append(f"column {name!r} {reason}")
        if not features:
            notes = " ".join(self.notes)
            raise ValueError(f"{self.source} has no column left as a feature. {notes}".rstrip())
        return features, left_out

    def _read_texts(self, name: str, features: dict[str, np.ndarray]) -> str:
        """Add a column of dates or other texts to the features, or return why it is none."""
        column = self.columns[name]
        # a missing text is a category of its own
        texts = [str(value).strip() or "missing" for value in column.tolist()]
        different = len({*texts} - {"missing"})
        many = f"{different} different strings in {len(column)} rows"
        # dates are features only on request, and only if day and month cannot be confused
        if readings := read_times(column):
            if len(readings) == 1 and self.options.date_features:
                features |= self._split_dates(name, readings[0])
                return ""
            way = "write dates as 2024-01-31, because the day or the month may come first"
            if len(readings) == 1:
                later = f"pass {write_option('--time', name)} to predict later rows"
                later = "" if self.options.whole else f"{later} from earlier ones, or "
                way = f"{later}pass --date-features to convert dates to numbers"
            return f"contains dates ({many}) and is left out. To use it, {way}."
        self._check_numbers(name)
        # texts that differ in most rows are names or free text, and no categories
        predicted = name in self.roles["predictions"]
        if not predicted and different > max(MAX_TEXTS, len(column) / 2):
            way = f"{write_option('--id', name)} uses it as row names"
            return f"contains {many} and is left out. {way}. {FREE_TEXT}"
        features[name] = np.array(texts, dtype=object)
        return ""

    def _split_dates(self, name: str, seconds: np.ndarray) -> dict[str, np.ndarray]:
        """Return a dict of the varying parts of dates as numbers, nan for missing dates."""
        import pandas

        moments = pandas.to_datetime(seconds, unit="s")
        # the time itself shows trends, and its parts show seasons
        parts = {f"{name}: days since 1970": seconds / 86400}
        for part in ("year", "month", "day", "weekday", "hour"):
            # a part that is the same in all dates is no feature
            numbers = getattr(moments, part.replace("weekday", "day_of_week"))
            values = np.asarray(numbers, dtype=float)
            if len(np.unique(values[~np.isnan(values)])) > 1:
                parts[f"{name}: {part}"] = values
        if taken := [part for part in parts if part in self.columns]:
            raise ValueError(
                f"--date-features would make a column named {taken[0]!r} from {name!r}, but "
                f"{self.source} has a column of this name. Rename or drop that column."
            )
        return parts

    def _check_numbers(self, name: str) -> None:
        """Raise an error if most strings of a column are nearly numbers, and note if some are."""
        column = self.columns[name]
        if column.dtype != object or name in self.options.text or read_times(column):
            return
        # texts that are not numbers
        counts = Counter(text.strip() for text in column.tolist() if text.strip())
        marks = self.options.decimal, self.options.thousands
        odd = [text for text, _ in counts.most_common() if _parse(text, *marks) is None]
        # numbers with a limit, separators of thousands, or the most common unit
        short = [text for text in odd if len(text) <= MAX_WRITTEN]
        matches = {text: match for text in short if (match := WRITTEN_NUMBER.fullmatch(text))}
        unit_of = {text: match["after"] or match["before"] or "" for text, match in matches.items()}
        units = Counter(filter(None, map(str.strip, unit_of.values()))).most_common()
        written = [text for text, unit in unit_of.items() if unit.strip() in ("", *dict(units[:1]))]
        numeric = [text for text in counts if text not in odd] + written
        n_numeric = sum(counts[text] for text in numeric)
        mostly = 2 * n_numeric > counts.total()
        # codes have several units (12a, 7b), or letters in a few of the values (2, 3, 4, 5more)
        lettered = sum(counts[text] for text in odd if unit_of.get(text, "")[:1].isalpha())
        few = len(counts) <= MAX_TEXTS and 0 < 2 * lettered < counts.total()
        are_codes = len(units) > 1 or few
        if len(numeric) < MIN_NUMBERS or (are_codes and not mostly):
            return
        # what to do
        words = [text for text in odd if text not in matches]
        remedies = ["store numbers as numbers"]
        if self.is_written:
            is_unit = column[0].strip() in words and sum(counts[word] for word in words) == 1
            remedies = ["delete row 1 if it contains units"] * is_unit
            if written:
                plain = "write plain numbers, without units, in the file"
                plain += " (70 % as 0.7 if these are probabilities)" * ([*dict(units[:1])] == ["%"])
                remedies.append(" or ".join(_list_marks(numeric, written, marks[0])) or plain)
            if 0 < len(words) <= N_SHOWN:
                missing = " ".join(write_option("--na", word) for word in words)
                remedies.append(f"pass {missing} if it means a missing value")
        remedies.append(f"{write_option('--text', name)} treats all values as categories")
        remedy, shown = "; or ".join(remedies), ", ".join(map(repr, (odd or numeric)[:N_SHOWN]))
        # nearly numeric columns are an error, and mixed ones are only noted
        if mostly and not are_codes:
            n_odd = sum(counts[text] for text in odd)
            what = (
                f"{n_odd} of {counts.total()} values are not numbers" if odd else "stored as text"
            )
            raise ValueError(
                f"{self.source}: column {name!r} is nearly numeric: {shown} ({what}). Remedies: "
                f"{remedy}."
            )
        self.notes.append(
            f"column {name!r} has numbers in {n_numeric} of {len(column)} rows, beside values such "
            f"as {shown}, and is treated as text. Remedies: {remedy}."
        )


@contextmanager
def explain_errors(hints: Sequence[str]) -> Iterator[None]:
    """Append hints to an error of the data."""
    try:
        yield
    except ValueError as error:
        texts = [f"{text[:1].upper()}{text[1:]}" for text in hints]
        text = f"{error}{'' if str(error).endswith(('.', '?')) else '.'}"
        raise ValueError(" ".join([text, *texts])) from error


# --- readers of files


def find_ending(name: str | Path) -> str:
    """Return the ending of a file name, without the ending of a compression."""
    path = Path(name)
    path = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    return path.suffix.lower()


def read_source(
    options: argparse.Namespace, is_text: Callable[[str], bool]
) -> dict[str, np.ndarray]:
    """Return the named columns of a bundled data set or a file.

    Columns that are texts by their name keep leading zeros in CSV and Excel files.
    """
    path, ending = Path(options.data), find_ending(options.data)
    if options.thousands is not None and options.thousands == (options.decimal or "."):
        raise ValueError(f"--thousands and --decimal must differ, got {options.thousands!r}.")
    # stored tables have types, so options for written numbers have no meaning
    for name in (*WRITTEN_OPTIONS, *TEXT_OPTIONS):
        endings = TEXT_FILES if name in TEXT_OPTIONS else WRITTEN_FILES
        if getattr(options, name) not in (None, []) and ending not in endings:
            kind = "CSV" if name in TEXT_OPTIONS else "CSV or Excel"
            raise ValueError(f"--{name} is only for a {kind} file, got {options.data!r}.")
    # bundled data sets and arrays are read without pandas
    if options.data in BUNDLED:
        data = getattr(sklearn.datasets, f"load_{options.data}")()
        names = map(str, data.feature_names)
        return dict(zip(names, data.data.T, strict=True)) | {"target": data.target}
    if ending == ".npz":
        return _read_arrays(path)
    if ending not in (*TEXT_FILES, *PACKAGES):
        raise ValueError(
            f"{path.name} must end in .csv, .tsv, .npz, .parquet, .feather or .xlsx to be read."
        )
    # pandas is optional, so an error names what to install
    try:
        frame = _read_frame(path, ending, options, is_text)
    except ImportError as error:
        packages = " ".join(["pandas", *filter(None, [PACKAGES.get(ending)])])
        raise ValueError(f"{path.name} needs {packages}: pip install {packages}") from error
    columns = {name: _read_column(frame[name]) for name in frame.columns}
    for name, column in columns.items():
        # numbers in parentheses, or with spaces that do not break
        may_be = ending in WRITTEN_FILES and name not in options.text and not is_text(name)
        if may_be and column.dtype == object and any(map(NOT_PLAIN.search, column)):
            columns[name] = read_numbers(column, options)
    return columns


def is_id(name: str) -> bool:
    """Return whether a column has the name of an identifier."""
    return name.lower() == "id" or name.lower().endswith(("_id", " id"))


def _read_frame(
    path: Path, ending: str, options: argparse.Namespace, is_text: Callable[[str], bool]
) -> Any:
    """Return a file, read by pandas, as a data frame with distinct names."""
    import pandas

    # stored tables have names and types
    if ending not in WRITTEN_FILES:
        read_stored = pandas.read_feather if ending == ".feather" else pandas.read_parquet
        with _name_file(path):
            frame = read_stored(path)
        frame = frame if frame.index.names == [None] else frame.reset_index()
        frame.columns = _check_header([str(name) for name in frame.columns], options)
        return frame
    # text files are separated by the mark that makes the most columns of the first line
    how: dict[str, Any] = {"skiprows": options.skiprows, "keep_default_na": False}
    read: Any = partial(pandas.read_excel, path)
    ways = [how]
    if ending in TEXT_FILES:
        read = partial(pandas.read_csv, path)
        how |= {"encoding": options.encoding or "utf-8-sig"}
        marks = SEPARATORS if options.sep is None else [options.sep.replace("\\t", "\t")]
        # the fast reader of pandas takes one byte, or any white space
        if len(marks[0].encode()) != 1 and marks[0] != r"\s+":
            raise ValueError(
                f"--sep must be one character, got {options.sep!r}. For a tab, pass --sep '\\t'."
            )
        ways = [how | {"sep": mark} for mark in marks]
    with _name_file(path):
        heads = [read(**way, header=None, nrows=1, dtype=str) for way in ways]
    how, first = max(zip(ways, heads, strict=True), key=lambda pair: pair[1].shape[1])
    # the names of the columns are checked before the values are read
    names = ["" if name != name else str(name).strip() for name in first.to_numpy().ravel()]
    if options.header is False:
        names = [f"x{k}" for k in range(len(names))]
    names = _check_header(names, options)
    how |= {"header": None if options.header is False else 0, "names": names}
    how |= {"index_col": False, "low_memory": False} if ending in TEXT_FILES else {}
    # in a column of categories, "None" may be one
    na = {name: [""] if name in options.text else [*NA, *options.na] for name in names}
    texts = {name: str for name in names if name in options.text or is_text(name)}
    signs = {"decimal": options.decimal or ".", "thousands": options.thousands}
    with _name_file(path):
        frame = read(**how, **signs, dtype=texts, na_values=na)
    if ending in EXCEL_FILES and options.na:  # pandas ignores marks among whole numbers of Excel
        numbers = frame.select_dtypes("number")
        frame[numbers.columns] = numbers.mask(numbers.isin([*map(_parse, options.na)]))
    if how.get("sep") in (";", "\t") and options.decimal is None and options.thousands is None:
        _check_dots(path.name, frame, partial(read, **how, dtype=str))
    return frame


def _check_dots(source: str, frame: Any, read_texts: Callable[..., Any]) -> None:
    """Raise if each dot in a column of numbers may separate thousands, as in 850 and 1.200."""
    # columns of numbers with at most three decimals, and some
    numbers = frame.select_dtypes("float")
    rounded = (numbers - numbers.round(3)).abs().max() < 1e-9
    suspects = numbers.columns[rounded & (numbers % 1 > 0).any()]
    for name, column in read_texts(usecols=suspects).items() if len(suspects) else ():
        texts = [text.strip() for text in column if text == text and text.strip() not in NA]
        if all(DOTTED_NUMBER.fullmatch(text) for text in texts):
            dotted = next(text for text in texts if "." in text)
            raise ValueError(
                f"{source}: column {name!r} has three digits after each dot, as in {dotted!r}. "
                "Pass --thousands . if dots separate thousands, or --decimal . if they are decimal."
            )


@contextmanager
def _name_file(path: Path) -> Iterator[None]:
    """Name the file in an error of pandas, with a remedy."""
    import pandas

    try:
        with warnings.catch_warnings():
            # a row longer than the header would lose its end
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            yield
    except (ImportError, MemoryError):
        # these are no faults of the file, and callers explain them
        raise
    except pandas.errors.EmptyDataError as error:
        raise ValueError(f"{path.name} is empty, or --skiprows N skips all of it.") from error
    except Exception as error:  # readers raise many kinds of errors for files of other formats
        text = " ".join(str(error).removeprefix("Error tokenizing data. C error: ").split())
        if isinstance(error, pandas.errors.ParserWarning):
            text = "the first row has more values than column names"
        remedy = "The ending of the file name must match the format of the file"
        if find_ending(path) in TEXT_FILES:
            remedy = (
                "Check --sep and --encoding, such as cp1252, utf-8 or utf-16. All columns must "
                "have a name, row names included. Skip lines above the names with --skiprows N"
            )
        raise ValueError(f"{path.name} cannot be read: {text.rstrip(' .')}. {remedy}.") from error


def _check_header(names: Sequence[str], options: argparse.Namespace) -> list[str]:
    """Return the names of columns as pandas writes them. Raise if they are not distinct names."""
    source = Path(options.data).name
    if not names:
        raise ValueError(f"{source} has no columns. Skip empty lines on top with --skiprows N.")
    # a first line of values, or names that occur twice
    numbers = [name for name in names if _parse(name) is not None]
    is_text = find_ending(source) in TEXT_FILES
    if numbers and is_text and options.header is None and options.target not in names:
        raise ValueError(
            f"{source}: the first line contains {numbers[0]!r}, so it may be data instead of "
            "column names. Pass --header if it has the names, otherwise --no-header."
        )
    # options name the columns, so each name must be unique
    twice = [name for name, n in Counter(names).items() if n > 1 and name.strip()]
    if twice:
        raise ValueError(f"{source} has several columns named {twice[0]!r}. Rename them.")
    # a column without a name gets the one that pandas would give it
    return [name if name.strip() else f"Unnamed: {k}" for k, name in enumerate(names)]


def _read_column(column: Any) -> np.ndarray:
    """Return a column of a data frame as numbers, Booleans or strings."""
    # categories as their values, and durations in seconds
    if str(column.dtype) == "category":
        column = column.astype(column.cat.categories.dtype)
    if getattr(column.dtype, "kind", "O") == "m":
        column = column.dt.total_seconds()
    missing = column.isna().to_numpy()
    if getattr(column.dtype, "kind", "O") in "biuf":
        # nullable types of pandas have a NumPy type, which keeps large integers exact
        exact = getattr(column.dtype, "numpy_dtype", None)
        return column.to_numpy(float, na_value=np.nan) if missing.any() else column.to_numpy(exact)
    # decimal numbers, and all other values as texts
    values = column.tolist()
    if any(isinstance(value, Decimal) for value in values):
        return np.asarray(column.astype(float), dtype=float)
    texts = ["" if gone else str(value) for value, gone in zip(values, missing, strict=True)]
    return np.array(texts, dtype=object)


def _read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Return the columns of `X`, and `y`, of an NPZ file without executing its contents."""
    rule = f"{path.name} must contain a matrix X of numbers, and may contain a vector y of labels"
    # pickled objects could run code, so they are refused
    try:
        with ZipFile(path), np.load(path, allow_pickle=False) as arrays:
            X = np.asarray(arrays["X"])
            y = np.asarray(arrays["y"]) if "y" in arrays else None
    except (OSError, EOFError, BadZipFile, ValueError, KeyError) as error:
        raise ValueError(f"{rule}. It cannot be read: {error}.") from error
    if X.ndim != 2 or X.dtype.kind not in "fiub" or not X.size:
        raise ValueError(f"{rule}, got X of type {X.dtype} and shape {X.shape}.")
    if y is not None and (y.shape != (len(X),) or y.dtype.kind not in "biufU"):
        raise ValueError(
            f"{rule}, got X of shape {X.shape} and y of type {y.dtype} and shape {y.shape}."
        )
    # the columns have no names in such a file
    columns = {f"x{k}": column for k, column in enumerate(X.T)}
    columns |= {} if y is None else {"y": y.astype(object) if y.dtype.kind == "U" else y}
    return columns


def _check_names(named: Mapping[str, str], columns: Mapping[str, np.ndarray], source: str) -> None:
    """Raise an error if columns are missing, with their options and similar names."""
    missing = []
    folded = {name.strip().lower(): name for name in columns}
    for name, option in named.items():
        if name in columns:
            continue
        word, parts = name.strip().lower(), name.split(",")
        # similar names, or else names that contain the word
        close = get_close_matches(word, folded, n=2, cutoff=0.7)
        close = close or [other for other in folded if word in other][:2]
        hint = " or ".join(repr(folded[other]) for other in close if len(columns) > 1)
        if {*parts} <= {*columns}:  # several names with commas
            several = {"--predictions": " ", "--drop": " --drop ", "--text": " --text "}
            mark = several.get(option)
            hint = f"{option} {mark.join(map(shlex.quote, parts)) if mark else parts[0]}"
        hint = f" (did you mean {hint}?)" if hint else ""
        missing.append(f"no column {name!r} for {option}{hint}")
    if not missing:
        return
    is_excel = source.lower().endswith(EXCEL_FILES)
    columns_of = "The columns of its first sheet" if is_excel else "Its columns"
    text = f"{source} has {' and '.join(missing)}. {columns_of} are {_shorten(columns)}."
    first, *others = columns.values()
    # a single column suggests that the file has another separator
    if not others and find_ending(source) in TEXT_FILES:
        mark = next((mark for mark in ";\t|, " if mark in next(iter(columns))), " ")
        mark = {"\t": "\\t"}.get(mark, mark)
        text += f" If the columns have another separator, pass it, as in --sep '{mark}'."
    elif "x0" in columns:
        text += " Leave out --no-header if the first line has the names."
    # one row is named, or all rows are, beside numbers
    cells = {str(cell).strip().lower() for cell in first}
    numbers = first.dtype == object and all(column.dtype != object for column in others)
    if others and (cells & {*map(str.lower, named)} or (numbers and len(cells) == len(first))):
        text += " Rows must be samples. If the rows are features such as genes, transpose the file."
    raise ValueError(text)


# --- texts of messages


def _shorten(names: Iterable[str]) -> str:
    """Return the first few names and the last one, often the target, as one text."""
    listed = [repr(name) for name in names]
    n_more = len(listed) - MAX_LISTED
    if n_more > 0:
        listed[MAX_LISTED - 1 : -1] = [f"{n_more} more"]
    return ", ".join(listed)


def write_option(option: str, value: str) -> str:
    """Return an option and its value as they are typed in a shell."""
    return f"{option}{'=' if value.startswith('-') else ' '}{shlex.quote(value)}"


# --- values


def find_blanks(column: np.ndarray) -> np.ndarray:
    """Return which values of a column are missing."""
    if column.dtype == object:
        return np.array([not text.strip() for text in column.tolist()], dtype=bool)
    return np.isnan(column) if column.dtype.kind == "f" else np.zeros(len(column), dtype=bool)


def _parse(text: str, decimal: str | None = None, thousands: str | None = None) -> float | None:
    """Return the number in a text, or None if it is not a number, for example "1_000".

    "(3.0)" is a negative number, and non-breaking spaces separate thousands.
    """
    text, decimal = text.translate(NO_BREAK).replace(thousands or "\0", ""), decimal or "."
    text = text.translate({ord("."): decimal, ord(decimal): "."})
    if text[:1] == "(" and text[-1:] == ")" and text[1:2].isdigit():
        text = f"-{text[1:-1]}"
    try:
        return float(text) if text.isascii() and "_" not in text else None
    except ValueError:
        return None


def read_numbers(column: np.ndarray, options: argparse.Namespace) -> np.ndarray:
    """Return a column of texts as numbers, if each text is one."""
    numbers = list[float]()
    for text in map(str.strip, column.tolist()):
        number = _parse(text, options.decimal, options.thousands) if text else np.nan
        if number is None:
            return column
        numbers.append(number)
    return column if np.isnan(numbers).all() else np.array(numbers, dtype=float)


def _list_marks(numeric: Sequence[str], written: Sequence[str], given: str | None) -> list[str]:
    """Return the options of each way to read all texts as numbers.

    Three digits follow each separator of thousands. A decimal sign that is given is right if there
    is a way with it.
    """
    ways, joined = {}, "".join(written)
    for decimal, thousands in product({".", given or ".", *joined} & {*".,"}, ("", *",.' ")):
        if decimal == thousands or thousands not in joined:
            continue
        grouped = rf"[1-9]\d{{0,2}}({re.escape(thousands)}\d{{3}})+"
        number = re.compile(rf"[+-]?(\d+|{grouped})({re.escape(decimal)}\d+)?([eE][+-]?\d+)?")
        texts = all(_parse(text, decimal, thousands) is not None for text in numeric)
        if texts and all(number.fullmatch(text) for text in written):
            marks = {"--decimal": "," * (decimal == ","), "--thousands": thousands}
            options = " ".join(write_option(*item) for item in marks.items() if item[1])
            way = f"pass {options}" if options else "leave out --decimal and --thousands"
            ways[way] = decimal == given
    return sorted(way for way, is_given in ways.items() if is_given >= max(ways.values()))
