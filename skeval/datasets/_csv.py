"""Features and labels of a text file whose fields are separated.

There are two readers. The careful one goes by Python's `csv` module and knows the line of
every value, so all errors are its errors. The fast one needs pyarrow and gives up, with a
ValueError, wherever the careful one might say anything else.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple, TextIO

import numpy as np

from skeval.datasets._values import LARGEST_EXACT, make_value_error, note_rounding, parse_numbers

__all__ = ["Labels", "find_separator", "read_carefully", "read_fast", "read_records"]

SEPARATORS = ",;\t"
BLOCK = 2**20  # bytes searched together
FIELDS = 10**5  # fields held as text at a time


class Labels(NamedTuple):
    """The labels of the samples, as text.

    Attributes
    ----------
    texts : list of str
        The distinct labels.
    records : list of str
        Where each of them stands first.
    codes : int ndarray of shape (n_samples,)
        Which of them each sample has.
    """

    texts: list[str]
    records: list[str]
    codes: np.ndarray


def read_records(file: TextIO, delimiter: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which each record starts, and its fields; a blank line is no record."""
    file.seek(0)
    reader = csv.reader(file, delimiter=delimiter, strict=True)
    line = 1
    try:
        for fields in reader:
            if fields:
                yield line, fields
            line = reader.line_num + 1
    except csv.Error as error:
        raise ValueError(f"{source}: line {line} is not CSV: {error}.") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{source}: {explain_undecodable(Path(file.name))}.") from error


def explain_undecodable(path: Path) -> str:
    """Say which line of a file is not UTF-8."""
    for line, content in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            byte = content[error.start]
            return f"line {line} must be UTF-8 text, it has the byte 0x{byte:02x}; save it as UTF-8"
    raise AssertionError


def find_separator(file: TextIO, target: str, source: str) -> str:
    """Return what separates the fields of a file.

    That is what finds the target in the first record, splits the first two records into equally
    many fields, and into the most: names and labels may have other separators within.
    """

    def rank(delimiter: str) -> tuple[bool, bool, int]:
        try:
            names, *others = [
                fields for _, fields in islice(read_records(file, delimiter, source), 2)
            ]
        except ValueError:  # the file is empty, or this separator does not split it
            return False, False, 0
        alike = len(names) > 1 and all(len(fields) == len(names) for fields in others)
        return target in names, alike, len(names)

    return max(SEPARATORS, key=rank)


def read_carefully(
    rows: Iterator[tuple[int, list[str]]], names: list[str], label: int | None, source: str
) -> tuple[np.ndarray, Labels, list[str]]:
    """Return the features, the labels from the column `label`, and what to note of them."""
    features = [name for position, name in enumerate(names) if position != label]
    blocks, notes = [np.empty((0, len(features)))], dict[str, str]()
    seen: dict[str, tuple[int, int]] = {}
    codes = []
    while chunk := list(islice(rows, max(1, FIELDS // len(names)))):
        for line, fields in chunk:
            if len(fields) != len(names):
                raise ValueError(
                    f"{source}: line {line} has {len(fields)} fields, the header has {len(names)}."
                )
            if label is not None:
                codes.append(seen.setdefault(fields.pop(label), (len(seen), line))[0])
        blocks.append(read_block(chunk, features, source, notes))
    first_lines = [f"line {line}" for _, line in seen.values()]
    labels = Labels(list(seen), first_lines, np.array(codes, dtype=int))
    return np.concatenate(blocks), labels, list(notes.values())


def read_block(
    chunk: list[tuple[int, list[str]]], names: list[str], source: str, notes: dict[str, str]
) -> np.ndarray:
    """Return the numbers of some records; raise at the first field that is none."""
    block = parse_numbers([fields for _, fields in chunk])
    for row, column in np.argwhere(~np.isfinite(block))[:1]:
        line, fields = chunk[row]
        raise make_value_error(source, column, names[column], f"line {line}", fields[column])
    for row, column in np.argwhere(np.abs(block) >= LARGEST_EXACT):
        line, fields = chunk[row]
        note = note_rounding(source, names[column], f"line {line}", fields[column])
        if note is not None:
            notes.setdefault(names[column], note)
    return block


def read_fast(
    path: Path, delimiter: str, skipped: int, n_columns: int, label: int | None
) -> tuple[np.ndarray, Labels, list[str]]:
    """Return what `read_carefully` returns of a plain file; any other is a ValueError."""
    import pyarrow
    from pyarrow import csv as arrow_csv

    names = [str(position) for position in range(n_columns)]
    types = {
        name: pyarrow.string() if position == label else pyarrow.float64()
        for position, name in enumerate(names)
    }
    with path.open("rb") as file:
        head = b"".join(file.readline() for _ in range(skipped))
        start = file.tell()
        if b"\r" in head.rstrip(b"\r\n"):
            raise ValueError("a line ends where readline does not")
        check_plain(file)
        file.seek(start)
        # A record spans two blocks at most, so that longer fields than csv takes are refused.
        # With threads, pyarrow may wait for ever where a file is no table (arrow #38676, #43892).
        size = csv.field_size_limit() // 2
        table = arrow_csv.read_csv(
            file,
            arrow_csv.ReadOptions(column_names=names, block_size=size, use_threads=False),
            arrow_csv.ParseOptions(delimiter=delimiter, quote_char=False),
            arrow_csv.ConvertOptions(column_types=types, null_values=[], strings_can_be_null=False),
        )
    X = np.empty((table.num_rows, n_columns - (label is not None)))
    for position, name in enumerate(name for name in names if name != str(label)):
        X[:, position] = table[name].to_numpy()
        if not np.abs(X[:, position]).max(initial=0) < LARGEST_EXACT:
            raise ValueError("a number is missing, infinite or perhaps rounded")
    if label is None:
        return X, Labels([], [], np.empty(0, int)), []
    found = table[str(label)].combine_chunks().dictionary_encode()
    texts = found.dictionary.to_pylist()
    return X, Labels(texts, [""] * len(texts), found.indices.to_numpy()), []


def check_plain(file: BinaryIO) -> None:
    """Raise when a file has quotes, or characters that readers take for different things."""
    while block := file.read(BLOCK) + file.readline():
        bare_returns = block.count(b"\r") != block.count(b"\r\n")
        if b'"' in block or b"\0" in block or bare_returns:
            raise ValueError("not plain")
