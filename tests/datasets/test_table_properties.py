"""Whatever is written is read back: the same numbers, the same classes, and nothing is dropped."""

import csv
import io
import re
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skeval.datasets import load_table

TABLES = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
NAMES = ["a", "b;c", "d,e", "f\tg", "h\ni", 'j"k', "ä", " l "]

finite = st.floats(allow_nan=False, allow_infinity=False)
numbers = (
    finite | st.integers(-(2**53), 2**53) | st.sampled_from(["+1", " 2 ", "3.", ".5", "1E+05"])
)


def is_infinite_or_nan(text):
    """Whether a text is a number of which a column of labels has none."""
    try:
        return not np.isfinite(float(text))
    except ValueError:
        return False


words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)
words = words.filter(str.strip).filter(lambda text: not is_infinite_or_nan(text))
labels = words | st.sampled_from(["0", "1", "01", "1_0", "10", "1.0", "None", "NA", " 1"])
labels |= st.sampled_from(["9007199254740992", "9007199254740993", "1e3", "1000", "-0", "٣"])


def outcome(path, **options):
    """What a call returns or raises, and what it notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            X, y, names = load_table(path, **options)
        except ValueError as error:
            return str(error)
    found = None if y is None else (y.dtype.kind, y.tolist())
    return X.tobytes(), X.shape, found, names, [str(item.message) for item in caught]


@st.composite
def tables(draw, label=labels):
    """Rows of numbers, the labels, and the names of the columns."""
    n_rows, names = draw(st.integers(2, 6)), draw(st.permutations(NAMES))
    n_columns = draw(st.integers(1, 4))
    row = st.lists(numbers, min_size=n_columns, max_size=n_columns)
    rows = draw(st.lists(row, min_size=n_rows, max_size=n_rows))
    y = draw(st.lists(label, min_size=n_rows, max_size=n_rows))
    return rows, y, names[:n_columns]


# csv.writer quotes a line break only where it is part of the line terminator, or everything is.
dialects = st.builds(
    lambda delimiter, ending: {"delimiter": delimiter} | ending,
    st.sampled_from(",;\t"),
    st.sampled_from(
        [
            {"lineterminator": "\r\n", "quoting": csv.QUOTE_MINIMAL},
            {"lineterminator": "\n", "quoting": csv.QUOTE_NONNUMERIC},
            {"lineterminator": "\r", "quoting": csv.QUOTE_ALL},
        ]
    ),
)


def written(dialect, records, blank=()):
    """The text of a file, with a blank line before some of the records."""
    text = io.StringIO(newline="")
    for position, record in enumerate(records):
        text.write(dialect["lineterminator"] * (position in blank))
        csv.writer(text, **dialect).writerow(record)
    return text.getvalue()


def assert_same_classes(found, texts):
    kind, y = found
    codes = {text: position for position, text in enumerate(dict.fromkeys(texts))}
    classes = {label: position for position, label in enumerate(dict.fromkeys(y))}
    assert [classes[label] for label in y] == [codes[text] for text in texts]
    if kind == "U":
        assert y == texts


@TABLES
@given(tables(), dialects, st.booleans(), st.sets(st.integers(0, 6)), st.data())
def test_csv_in_any_dialect_is_read_as_written(tmp_path, table, dialect, mark, blank, data):
    rows, texts, names = table
    label = data.draw(st.integers(0, len(names)))
    header = [*names[:label], "target", *names[label:]]
    body = [[*row[:label], y, *row[label:]] for row, y in zip(rows, texts, strict=True)]
    path = tmp_path / "a.csv"
    text = written(dialect, [header, *body], blank)
    path.write_text(text, encoding="utf-8-sig" if mark else "utf-8", newline="")
    X, shape, found, read, _ = outcome(path)
    assert np.array([[float(value) for value in row] for row in rows]).tobytes() == X
    assert shape == (len(rows), len(names))
    assert read == names
    assert_same_classes(found, texts)


@TABLES
@given(
    tables(st.integers(-(2**53), 2**53))
    | tables(st.sampled_from([-0.25, 0.1, 1.0, 2.0, 1e-7]))
    | tables(st.sampled_from([1.0, 2.0]))
    | tables(words.map("class {}".format)),
)
def test_csv_npz_and_parquet_are_read_alike(tmp_path, table):
    rows, y, names = table
    X = np.array([[float(value) for value in row] for row in rows])
    columns = [pa.array(column) for column in X.T]
    pa.parquet.write_table(
        pa.table([*columns, pa.array(y)], names=[*names, "target"]), tmp_path / "a.parquet"
    )
    np.savez(tmp_path / "a.npz", X=X, y=y)
    with (tmp_path / "a.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([[*names, "target"]])
        csv.writer(file).writerows([[*row, label] for row, label in zip(X, y, strict=True)])
    from_csv, from_parquet, from_npz = (
        outcome(tmp_path / f"a.{ending}") for ending in ("csv", "parquet", "npz")
    )
    assert from_csv == from_parquet
    assert from_csv[:3] == from_npz[:3]
    assert from_csv[2][1] == y


fields = st.sampled_from(
    ["0", "1", "2", "1.5", "-3e2", "0.0", "", " ", "x", "nan", "inf", "NA", "None", "true", "1_0"]
    + ["01", "1,5", "9007199254740993", "1e300", "1e999", "٣", "é", "2020-01-01", '"a"', '"a""b"']
    + ['"', 'a"b', '"1\n2"', "\0", "1" * 20, "Unnamed: 0", "target", "5 ", "+7", "0x10", "1d5"]
)
plain_fields = st.sampled_from(["0", "1", "2", "1.5", "-3e2", "1e-400", "007", " 4", "1.", "-0"])


@settings(parent=TABLES, max_examples=400)
@given(
    st.lists(
        st.lists(plain_fields, min_size=3, max_size=3)
        | st.lists(fields, min_size=3, max_size=3)
        | st.lists(fields, max_size=4),
        max_size=5,
    ),
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\n \n", "\r\r\n"]),
    st.sampled_from(["", "a|b|target\n", "target|a|b\r\n", "|a|target\n", "a|b|c\r", "\ufeff"]),
    st.sampled_from([{}, {"header": False}, {"needs_target": False}, {"target": "x1"}]),
    st.booleans(),
)
def test_any_file_is_read_or_refused_by_name(
    tmp_path, rows, delimiter, end, header, options, closed
):
    if options == {"target": "x1"}:
        options = {"target": "x1", "header": False}
    text = header.replace("|", delimiter) + end.join(map(delimiter.join, rows)) + end * closed
    (tmp_path / "a.csv").write_text(text, encoding="utf-8", newline="")
    found = outcome(tmp_path / "a.csv", **options)
    if isinstance(found, str):
        assert found.startswith("a.csv")


@TABLES
@given(
    tables(),
    st.sampled_from(["", "nan", "NA", "x", "inf", "1_000", "1,5", "True"]),
    st.sets(st.integers(0, 6)),
    st.data(),
)
def test_a_bad_feature_is_named_by_file_line_and_column(tmp_path, table, bad, blank, data):
    rows, texts, names = table
    row = data.draw(st.integers(0, len(rows) - 1))
    column = data.draw(st.integers(0, len(names) - 1))
    rows[row][column] = bad
    body = [[*row, label] for row, label in zip(rows, texts, strict=True)]
    text = written({"lineterminator": "\r\n"}, [[*names, "target"], *body], blank)
    (tmp_path / "a.csv").write_text(text, encoding="utf-8", newline="")
    message = outcome(tmp_path / "a.csv")
    line = int(re.search(r"line (\d+)", message)[1])
    assert message.startswith(f"a.csv: column {names[column]!r} ")
    records = csv.reader(io.StringIO(text, newline="").readlines()[line - 1 :])
    assert next(records) == list(map(str, body[row]))
    assert bad in message
