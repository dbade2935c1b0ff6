"""Files and options that no command expects: a table and status 0, or one line and status 2."""

import os
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.crossed import each_value
from helpers.outcomes import without_progress
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skeval.__main__ import main

QUICK = {
    "evaluate": ["--quick", "--cv", "2", "--include", "cross_validation"],
    "cluster": ["--quick", "--k", "2:3", "--repeats", "2"],
}
ROWS = [f"{i},{i % 3},{i % 2}" for i in range(24)]
ROWS_OF_TWO = [f"{i},{i % 2}" for i in range(24)]
GOOD = "a,b,target\n" + "\n".join(ROWS) + "\n"
FUZZ = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def status_of(capsys, *arguments):
    """Run a command; return its status, which must fit what it printed."""
    try:
        status = main(list(map(str, arguments)))
    except SystemExit as error:  # argparse's own way out
        status = error.code
    captured = capsys.readouterr()
    told = without_progress(captured.err)
    if status == 0:
        assert captured.out.count("\n") > 3
        assert told == ""
    else:
        assert status == 2
        assert captured.out == ""
        assert told.startswith("skeval: error: ")
        assert told.count("\n") == 1
    return status


def with_rows(header, rows):
    return f"{header}\n" + "\n".join(rows) + "\n"


TEXTS = {
    "good": (GOOD, 0),
    "with a byte order mark": (b"\xef\xbb\xbf" + GOOD.encode(), 0),
    "lines that end in CR": (GOOD.replace("\n", "\r"), 0),
    "a newline in a header": (with_rows('"a\nb",target', [f"{i},{i % 2}" for i in range(24)]), 0),
    "a formula for a header": (with_rows("=cmd(),target", [f"{i},{i % 2}" for i in range(24)]), 0),
    "no header": ("\n".join(ROWS), 2),
    "a class called None": (with_rows("a,target", ["1,None", "2,x"] * 12), 2),
    "a decimal comma": (with_rows("a;target", ["1,5;1", "2,5;0", "3,5;0"] * 8), 2),
    "names of many digits": (
        with_rows("a,target", [f"{i},{10**30 + i % 2}" for i in range(24)]),
        0,
    ),
    "two columns of a name": (with_rows("a,a,target", [f"{i},{i},{i % 2}" for i in range(24)]), 2),
    "UTF-16": (GOOD.encode("utf-16"), 2),
    "half of UTF-16": (GOOD.encode("utf-16")[:-1], 2),
    "Latin-1": (("é" + GOOD).encode("latin-1"), 2),
    "NUL bytes": (b"a,target\n1\x00,0\n2,1\n", 2),
    "ragged": ("a,target\n1,0\n2\n3,4,5\n", 2),
    "an open quote": ('a,target\n"1,0\n2,1\n', 2),
    "a formula for a cell": ("a,target\n=cmd|'/C calc'!A0,0\n2,1\n", 2),
    "empty": ("", 2),
    "header alone": ("a,target\n", 2),
    "missing values": (with_rows("a,target", ["nan,1", ",0", *ROWS_OF_TWO]), 0),
    "a mark of missing values": (with_rows("a,target", ["1,1", "?,0", *ROWS_OF_TWO]), 2),
    # pandas before 2.2 reads 1e999 as a large number
    "infinite values": (with_rows("a,target", ["inf,1", "2,0"] * 12), 2),
    "a very long cell": ("a,target\n" + "1" * 200_000 + ",0\n2,1\n", 2),
}


# Of files that are read alike, one is evaluated.
READ_ALIKE = ["with a byte order mark", "lines that end in CR"]


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (command, text)
        for text in TEXTS
        for command in QUICK
        if command == "cluster" or text not in READ_ALIKE
    ],
)
def test_texts(command, text, tmp_path, capsys):
    content, expected = TEXTS[text]
    path = tmp_path / "data.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert status_of(capsys, command, path, *QUICK[command]) == expected


@pytest.mark.parametrize("command", QUICK)
def test_a_single_class_and_values_beyond_squares(command, tmp_path, capsys):
    (tmp_path / "one.csv").write_text(with_rows("a,target", [f"{i},1" for i in range(24)]))
    expected = 2 if command == "evaluate" else 0
    assert status_of(capsys, command, tmp_path / "one.csv", *QUICK[command]) == expected
    (tmp_path / "huge.csv").write_text(with_rows("a,target", ["1e300,1", "-1e300,0"] * 12))
    assert status_of(capsys, command, tmp_path / "huge.csv", *QUICK[command]) in (0, 2)


@pytest.mark.filterwarnings("ignore")  # in Python's own words for a process that is left
@pytest.mark.parametrize("ending", ["csv", "npz", "parquet", "txt"])
@FUZZ
@given(content=st.binary(max_size=300))
def test_random_bytes(ending, content, tmp_path, capsys):
    path = tmp_path / f"data.{ending}"
    path.write_bytes(content)
    for command, options in QUICK.items():
        assert status_of(capsys, command, path, *options) == 2


@pytest.mark.parametrize("ending", ["npz", "parquet"])
@FUZZ
@given(place=st.integers(0, 10**6), value=st.integers(0, 255))
def test_a_byte_that_has_changed(ending, place, value, tmp_path, capsys):
    path = tmp_path / f"data.{ending}"
    X, y = np.arange(48.0).reshape(24, 2), np.arange(24) % 2
    if ending == "npz":
        np.savez(path, X=X, y=y)
    else:
        pd.DataFrame(X, columns=["a", "b"]).assign(target=y).to_parquet(path)
    content = bytearray(path.read_bytes())
    content[place % len(content)] = value
    path.write_bytes(content)
    assert status_of(capsys, "evaluate", path, *QUICK["evaluate"]) in (0, 2)


class Bomb:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def arrays(tmp_path):
    X, y = np.arange(48.0).reshape(24, 2), np.arange(24) % 2
    bomb = np.array([Bomb(tmp_path / "executed")] * 24, dtype=object)
    return {
        "pickle in y": {"X": X, "y": bomb},
        "pickle in X": {"X": bomb[:, None], "y": y},
        "two columns of labels": {"X": X, "y": np.column_stack([y, y])},
        "too few labels": {"X": X, "y": y[:5]},
        "complex": {"X": X + 1j, "y": y},
        "records": {"X": X, "y": np.zeros(24, dtype=[("a", int)])},
        "one label": {"X": X, "y": np.array(1)},
        "no samples": {"X": X[:0], "y": y[:0]},
        "no features": {"X": X[:, :0], "y": y},
        "infinite": {"X": np.where(X > 9, np.inf, X), "y": y},
        "infinite labels": {"X": X, "y": np.where(y, np.inf, 0.0)},
    }


@each_value
@pytest.mark.parametrize("command", QUICK)
@pytest.mark.parametrize("case", arrays(Path("/")))
def test_arrays(command, case, tmp_path, capsys):
    np.savez(tmp_path / "data.npz", **arrays(tmp_path)[case])
    assert status_of(capsys, command, tmp_path / "data.npz", *QUICK[command]) == 2
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("member", ["X", "X.npy"])
def test_an_archive_without_arrays(member, tmp_path, capsys):
    with zipfile.ZipFile(tmp_path / "data.npz", "w") as archive:
        archive.writestr(member, "hello")
        archive.writestr(member.replace("X", "y"), "world")
    assert status_of(capsys, "cluster", tmp_path / "data.npz") == 2


@each_value
@pytest.mark.parametrize("command", QUICK)
@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"a": pd.date_range("2020", periods=24), "target": [0, 1] * 12},
        {"a": [None] * 24, "target": [0, 1] * 12},
        {"a": [[1]] * 24, "target": [0, 1] * 12},
    ],
    ids=["no columns", "dates", "nothing", "lists"],
)
def test_parquet(command, columns, tmp_path, capsys):
    pd.DataFrame(columns).to_parquet(tmp_path / "data.parquet")
    assert status_of(capsys, command, tmp_path / "data.parquet") == 2


def test_what_is_no_file(tmp_path, capsys):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "noextension").write_text(GOOD)
    for path in (tmp_path, tmp_path / "folder.csv", tmp_path / "noextension", "/dev/null"):
        assert status_of(capsys, "evaluate", path) == 2
    for name in ("a\0b.csv", "x" * 5000 + ".csv", ""):
        assert status_of(capsys, "evaluate", name) == 2


OPTIONS = {
    "evaluate": [
        *[["--cv", value] for value in ("999999999", "1e3")],
        *[["--confidence-level", value] for value in ("2", "nan", "inf", "-1", "0")],
        ["--target", ""],
        ["--groups", "a", "--groups", "b"],
        ["--threshold", "0.5"],
    ],
    "cluster": [
        *[["--k", value] for value in ("0", "-1:3", "", "2:100000", "2:" + "9" * 30, "3:2")]
    ],
}
COMMON = [["--jobs", "9" * 20], ["--json", "/no/such/f.json"]]
COMMON += [["--seed", "1_0"], ["--seed", "١"], ["--jobs", "1_0"], ["--header", "--target", "c"]]


@pytest.mark.parametrize(
    ("command", "option"),
    [(command, option) for command in QUICK for option in OPTIONS[command] + COMMON],
)
def test_options(command, option, tmp_path, capsys):
    path = tmp_path / "data.csv"
    path.write_text(GOOD)
    assert status_of(capsys, command, path, *QUICK[command], *option) == 2
