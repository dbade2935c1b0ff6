"""Files in, numbers out; what is wrong with a file is said by row and column."""

import csv
import io
import re
import sys
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine

from skeval.datasets import load_table
from skeval.datasets._tables import load_columns


@pytest.fixture(scope="module")
def wine():
    return load_wine(as_frame=True).frame


def test_bundled():
    X, y, names = load_table("wine")
    np.testing.assert_array_equal(X, load_wine().data)
    np.testing.assert_array_equal(y, load_wine().target)
    assert names[0] == "alcohol"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_keeps_every_digit(tmp_path, wine, separator):
    path = tmp_path / "wine.csv"
    wine.rename(columns={"target": "class"}).to_csv(path, index=False, sep=separator)
    X, y, names = load_table(path, target="class")
    np.testing.assert_array_equal(X, load_wine().data)
    np.testing.assert_array_equal(y, load_wine().target)
    assert y.dtype.kind == "i"
    assert names == load_wine().feature_names


def test_csv_quoting_byte_order_mark_and_text_labels(tmp_path):
    path = tmp_path / "quoted.csv"
    path.write_text('"a, b",target,"c\nd"\r\n1,yes,2\r\n3,"n, o",4\r\n', encoding="utf-8-sig")
    X, y, names = load_table(path)
    assert X.tolist() == [[1, 2], [3, 4]]
    assert y.tolist() == ["yes", "n, o"]
    assert names == ["a, b", "c\nd"]


def test_parquet(tmp_path, wine):
    path = tmp_path / "wine.parquet"
    wine.to_parquet(path)
    X, y, _ = load_table(path)
    np.testing.assert_array_equal(X, load_wine().data)
    np.testing.assert_array_equal(y, load_wine().target)


@pytest.mark.parametrize("absent", ["pandas", "pyarrow"])
def test_parquet_without_what_reads_it(tmp_path, wine, monkeypatch, absent):
    wine.to_parquet(tmp_path / "wine.parquet")
    monkeypatch.setitem(sys.modules, absent, None)
    with pytest.raises(ValueError, match=r'needs .*pandas: pip install "skeval\[table\]"'):
        load_table(tmp_path / "wine.parquet")


def test_text_and_arrays_need_nothing_else(tmp_path, wine, monkeypatch):
    wine.to_csv(tmp_path / "wine.csv", index=False)
    monkeypatch.setitem(sys.modules, "pandas", None)
    np.testing.assert_array_equal(load_table(tmp_path / "wine.csv").X, load_wine().data)


@pytest.mark.parametrize("ending", ["feather", "xlsx"])
def test_what_else_pandas_reads(tmp_path, wine, ending):
    path = tmp_path / f"wine.{ending}"
    frame = wine.assign(target=np.take(["a", "b", "01"], wine.target))
    frame.to_feather(path) if ending == "feather" else frame.to_excel(path, index=False)
    X, y, names = load_table(path)
    np.testing.assert_array_equal(X, load_wine().data)
    assert y.tolist() == frame.target.tolist()
    assert names == load_wine().feature_names


def test_npz(tmp_path):
    X, y = load_iris(return_X_y=True)
    np.savez(tmp_path / "iris.npz", X=X, y=y.astype(str))
    table = load_table(tmp_path / "iris.npz")
    np.testing.assert_array_equal(table.X, X)
    assert table.y.tolist() == y.astype(str).tolist()


def test_npz_executes_nothing(tmp_path):
    labels = np.array([{"not": "a label"}, None, "x"], dtype=object)
    np.savez(tmp_path / "objects.npz", X=np.eye(3), y=labels)
    with pytest.raises(ValueError, match="allow_pickle=False"):
        load_table(tmp_path / "objects.npz")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", r"a\.csv is empty"),
        ("a.csv", "\n\n", r"a\.csv is empty"),
        ("a.csv", "x,target\n", "must hold at least two rows of data, it holds 0"),
        ("a.csv", "x,target\n1,0\n", "must hold at least two rows of data, it holds 1"),
        ("a.csv", "x,y\n1,0\n2,1\n", "has no column 'target' for the target; .*'x', 'y'"),
        ("a.csv", "target,target\n1,0\n2,1\n", "has two columns 'target'"),
        ("a.csv", "target\n1\n2\n", "has no column beside the target 'target'"),
        ("a.csv", "x,target\n1,0\n2\n", "line 3 has 1 fields, the header has 2"),
        ("a.csv", "x,target\n1,0\nred,1\n", "column 'x' must hold numbers, line 3 has 'red'"),
        ("a.csv", "x,target\n1,0\n,1\n", "column 'x' has no value in line 3"),
        ("a.csv", "x,target\n1,0\n2,\n", "target column 'target' has no value in line 3"),
        ("a.csv", "x,target\n1,0\n2,inf\n", "target column 'target' must be finite"),
        ("a.csv", b"\xff\xfea", "begins as UTF-16 text and holds something else"),
        ("a.csv", 'x,target\n"1"2,0\n', "a.csv: line 2 is not CSV"),
        ("a.npz", b"not a zip", r"a\.npz cannot be read"),
        ("a.parquet", b"not parquet", "is not a Parquet file"),
        ("a.doc", "x", "must end in .csv, .tsv, .npz, .parquet, .feather or .xlsx"),
    ],
)
def test_bad_files(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=message):
        load_table(path)


def test_npz_without_labels(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(3))
    with pytest.raises(ValueError, match=r"must hold the arrays X and y, it holds \['X'\]"):
        load_table(tmp_path / "a.npz")


@pytest.mark.parametrize("ending", ["csv", "parquet", "npz"])
def test_labels_may_be_missing_where_they_are_not_needed(tmp_path, wine, ending):
    path = tmp_path / f"a.{ending}"
    bare = wine.drop(columns="target")
    if ending == "npz":
        np.savez(path, X=bare.to_numpy())
    elif ending == "csv":
        bare.to_csv(path, index=False)
    else:
        bare.to_parquet(path)
    X, y, names = load_table(path, needs_target=False)
    np.testing.assert_array_equal(X, load_wine().data)
    assert y is None
    assert len(names) == X.shape[1]
    with pytest.raises(ValueError, match=r"no column 'target'|must hold the arrays X and y"):
        load_table(path)


def test_labels_that_are_there_are_found_where_they_are_not_needed(tmp_path, wine):
    wine.to_csv(tmp_path / "a.csv", index=False)
    np.savez(tmp_path / "a.npz", X=load_wine().data, y=load_wine().target)
    for source in ("wine", tmp_path / "a.csv", tmp_path / "a.npz"):
        X, y, _ = load_table(source, needs_target=False)
        np.testing.assert_array_equal(X, load_wine().data)
        np.testing.assert_array_equal(y, load_wine().target)
    renamed = wine.rename(columns={"target": "class"})
    renamed.to_csv(tmp_path / "b.csv", index=False)
    _, y, names = load_table(tmp_path / "b.csv", target="class", needs_target=False)
    np.testing.assert_array_equal(y, load_wine().target)
    assert "class" not in names
    with pytest.raises(ValueError, match="no column 'kind'"):
        load_table(tmp_path / "b.csv", target="kind", needs_target=False)


def test_npz_has_no_columns(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(3))
    with pytest.raises(ValueError, match=r"but the labels of a\.npz are its array y"):
        load_table(tmp_path / "a.npz", target="y", needs_target=False)


@pytest.mark.parametrize("content", ["a,b\n", "a,b\n1,2\n"])
def test_too_few_rows_without_labels(tmp_path, content):
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises(ValueError, match="must hold at least two rows of data"):
        load_table(tmp_path / "a.csv", needs_target=False)


def test_npz_of_the_wrong_shape(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.ones(3), y=np.ones(3))
    with pytest.raises(ValueError, match=r"X must be a matrix of numbers, got float64 of shape"):
        load_table(tmp_path / "a.npz")


def test_target_of_a_set_that_has_its_own():
    with pytest.raises(ValueError, match="target='x' names a column, but the bundled set iris"):
        load_table("iris", target="x")


def test_missing_file():
    with pytest.raises(FileNotFoundError, match=r"no file 'absent\.csv', and no bundled set"):
        load_table("absent.csv")


def test_a_hundred_columns_are_not_all_listed(tmp_path):
    path = tmp_path / "wide.csv"
    pd.DataFrame(np.ones((3, 100))).to_csv(path, index=False)
    with pytest.raises(ValueError, match="'7' and 92 more"):
        load_table(path, header=True)


@pytest.fixture
def noise():
    """Rows sorted by class, whose numbers would tell the class."""
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=["a", "b"])
    return frame.assign(target=np.arange(20) // 10)


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("label", [None, "Unnamed: 0", " "])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_nameless_count_of_the_rows_is_no_feature(tmp_path, noise, start, label, ending):
    path = tmp_path / f"a.{ending}"
    if ending == "csv":
        noise.index += start
        noise.to_csv(path, index_label=label)
    else:
        noise.insert(0, label or "", np.arange(20) + start)
        noise.to_parquet(path)
    with pytest.warns(UserWarning, match=rf"a\.{ending}: the first column, .* counts the rows"):
        X, y, names = load_table(path)
    np.testing.assert_array_equal(X, noise[["a", "b"]])
    np.testing.assert_array_equal(y, noise.target)
    assert names == ["a", "b"]


def test_a_count_written_and_read_and_written_again(tmp_path, noise):
    noise.to_csv(tmp_path / "a.csv")
    for _ in range(2):
        pd.read_csv(tmp_path / "a.csv").to_csv(tmp_path / "a.csv")
    with pytest.warns(UserWarning, match="counts the rows") as caught:
        _, _, names = load_table(tmp_path / "a.csv", target=None, needs_target=False)
    assert names == ["a", "b"]
    assert len(caught) == 3
    assert {item.filename for item in caught} == {__file__}


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("a,,target", "a.csv: column 2 has no name in the header, but ''"),
        ("a,target,", "column 3 has no name"),
        ("a,Unnamed: 1,target", "column 2 has no name in the header, but 'Unnamed: 1'"),
    ],
)
def test_any_other_column_needs_a_name(tmp_path, header, message):
    (tmp_path / "a.csv").write_text(f"{header}\n0,0,0\n1,1,1\n")
    with pytest.raises(ValueError, match=message):
        load_table(tmp_path / "a.csv")


@pytest.mark.parametrize("first", ["1,0", "2,3", "a,b", "0,0", "0,0.5"])
def test_a_nameless_first_column_that_does_not_count_is_refused(tmp_path, first):
    one, two = first.split(",")
    (tmp_path / "a.csv").write_text(f",a,target\n{one},5,0\n{two},6,1\n")
    with pytest.raises(ValueError, match="column 1 has no name"):
        load_table(tmp_path / "a.csv")


@pytest.mark.parametrize("header", ['""', "Unnamed: 0"])
def test_a_count_alone_leaves_no_features(tmp_path, header):
    (tmp_path / "a.csv").write_text(f"{header}\n0\n1\n")
    with pytest.raises(ValueError, match="column 1 has no name"):
        load_table(tmp_path / "a.csv", needs_target=False)


def test_a_count_with_a_name_is_the_users_own(tmp_path, noise):
    noise.to_csv(tmp_path / "a.csv", index_label="week")
    assert load_table(tmp_path / "a.csv").feature_names == ["week", "a", "b"]


def test_a_nameless_column_can_be_the_target(tmp_path):
    (tmp_path / "a.csv").write_text(",a\n0,5\n1,6\n")
    X, y, names = load_table(tmp_path / "a.csv", target="")
    assert (X.tolist(), y.tolist(), names) == ([[5], [6]], [0, 1], ["a"])


def written(tmp_path, content, name="a.csv"):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("5.1,3.5\n4.9,3.0\n4.7,3.2\n", {"needs_target": False}),
        ("5.1,3.5,a\n4.9,3.0,b\n4.7,3.2,a\n", {}),
        ("5.1,3.5,a\n4.9,3.0,b\n4.7,3.2,a\n", {"target": "a", "header": None}),
        ("0,1,0\n1,0,1\n1,1,0\n", {"target": "0"}),
        ("5,NA\n4,3\n4,3\n", {"needs_target": False}),
        ("NA,a\n4,3\n4,3\n", {"needs_target": False}),
        ("True,a\n1,3\n0,3\n", {"needs_target": False}),
        ("5,1;3,5\n4,9;3,0\n4,7;3,2\n", {"needs_target": False}),
    ],
)
def test_a_first_line_that_could_be_a_sample_is_no_header(tmp_path, content, options):
    path = written(tmp_path, content)
    if options.get("target") == "a":  # whoever names a column knows the header
        assert load_table(path, **options).feature_names == ["5.1", "3.5"]
        return
    with pytest.raises(
        ValueError, match=r"a\.csv: line 1 may be data .* header=True or header=Fal"
    ):
        load_table(path, **options)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("blank", ["", "\n"])
def test_without_a_header_every_line_is_a_sample(tmp_path, mark, blank):
    path = written(tmp_path, f"{mark}{blank}5.1,x,3.5\n4.9,y,3.0\n")
    X, y, names = load_table(path, target="x1", header=False)
    assert X.tolist() == [[5.1, 3.5], [4.9, 3.0]]
    assert y.tolist() == ["x", "y"]
    assert names == ["x0", "x2"]


def test_a_header_of_numbers_is_one_when_it_is_called_so(tmp_path):
    path = written(tmp_path, "0,1\n5,6\n7,8\n")
    assert load_table(path, needs_target=False, header=True).X.tolist() == [[5, 6], [7, 8]]


@pytest.mark.parametrize("name", ["iris", "a.npz", "a.parquet"])
def test_only_text_has_a_header(name):
    with pytest.raises(ValueError, match="header=False is for a CSV file, got"):
        load_table(name, header=False)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["01", "1"], ["01", "1"]),
        (["1_0", "10"], ["1_0", "10"]),
        (["9007199254740993", "9007199254740992"], ["9007199254740993", "9007199254740992"]),
        (["1", "1.0"], ["1", "1.0"]),
        (["1e3", "1000.0"], ["1e3", "1000.0"]),
        (["0.0", "-0.0"], ["0.0", "-0.0"]),
        (["None", "a"], ["None", "a"]),
        ([" a", "a"], [" a", "a"]),
        (["2", "1"], [2, 1]),
        (["-1", "1"], [-1, 1]),
        (["0.5", "1.0"], [0.5, 1.0]),
        (["12.30", "7.05"], [12.3, 7.05]),
        (["0.000000e+00", "1.000000e+00"], [0.0, 1.0]),
    ],
)
@pytest.mark.filterwarnings("ignore:.* is read as the name of a class")
def test_labels_are_numbers_only_where_these_give_the_texts_back(tmp_path, texts, expected):
    path = written(tmp_path, "x,target\n" + "".join(f"1,{text}\n" for text in texts))
    y = load_table(path).y
    assert y.tolist() == expected
    assert y.dtype.kind == {str: "U", int: "i", float: "f"}[type(expected[0])]


@pytest.mark.parametrize("ending", ["csv", "npz", "parquet"])
def test_a_class_called_like_a_missing_value_is_noted(tmp_path, ending):
    path, y = tmp_path / f"a.{ending}", ["None", "a"]
    frame = pd.DataFrame({"x": [1.0, 2.0], "target": y})
    if ending == "npz":
        np.savez(path, X=frame[["x"]], y=np.array(y))
    else:
        frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    with pytest.warns(UserWarning, match=r"a\..*: 'None' in the target column .* name of a class"):
        assert load_table(path).y.tolist() == y


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x,target\n\n1,0\n\nred,1\n", "line 5 has 'red'; encode it"),
        ('"x","target"\n1,"a\nb"\nred,1\n', "line 4 has 'red'"),
        ("x,target\n1,0\nnan,1\n", "line 3 has 'nan'; impute"),
        ("x,target\n1,0\ninf,1\n", "line 3 has 'inf'; they must be finite"),
        ("x,target\n1,0\n1_000,1\n", "line 3 has '1_000'"),
        ("x,target\n1,0\nTrue,1\n", "line 3 has 'True'; write 1 and 0"),
        ("x,target\n1,0\n2020-01-31,1\n", "line 3 has '2020-01-31'"),
        ("x;target\n1,5;0\n2,5;1\n", "line 2 has '1,5'; write decimals with a point"),
        ("x,target\n1,0,\n2,1,\n", "line 2 has 3 fields, the header has 2"),
        ("x,target,\n1,0,\n2,1,\n", "column 3 has no name"),
        ("x,target\n1,0\n2,nan\n", "target column 'target' must be finite, line 3 has 'nan'"),
        ("x,target\n1,a\n2,a\0\n", "has a label with a NUL character"),
        ("x,target\n1,0\n2," + "a" * 200_000, "line 3 is not CSV: field larger than"),
    ],
)
def test_what_is_wrong_is_said_by_line(tmp_path, content, message):
    with pytest.raises(ValueError, match=rf"^a\.csv: .*{message}"):
        load_table(written(tmp_path, content))


def test_a_file_of_windows_is_read_as_such_and_others_by_their_encoding(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("x,target\n1,a\n2,é\n".encode("cp1252"))
    with pytest.warns(UserWarning, match="not UTF-8 and is read as cp1252, so line 3 has 'é'"):
        assert load_table(path).y.tolist() == ["a", "é"]
    path.write_bytes("x,target\n1,a\n2,ж\n".encode("cp1251"))
    assert load_table(path, encoding="cp1251").y.tolist() == ["a", "ж"]
    with pytest.raises(ValueError, match="line 3 must be utf-8 text, it has the byte 0xe6; name"):
        load_table(path, encoding="utf-8")
    path.write_bytes(b"x,target\n1,a\n2,\x81\n")
    with pytest.raises(ValueError, match="it has the byte 0x81; name the encoding"):
        load_table(path)
    with pytest.raises(
        ValueError, match=r"encoding must be one that Python knows, .* got 'klingon'"
    ):
        load_table(path, encoding="klingon")
    with pytest.raises(ValueError, match="encoding='cp1252' is for a CSV file"):
        load_table("iris", encoding="cp1252")
    with pytest.raises(TypeError, match="encoding must be the name"):
        load_table(path, encoding=1252)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize(
    "titles",
    [["A study of two patients"], ["A study", "", "2024, final"], ["# exported"], ["# by, whom,,"]],
)
def test_titles_above_the_names_are_left_out(tmp_path, separator, titles):
    if separator != "," and "2024, final" in titles:
        titles = titles[:1]
    rows = [["a", "b", "target"], ["1", "2", "0"], ["3", "4", "1"]]
    lines = [*titles, *map(separator.join, rows)]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    if "2024, final" in titles:
        with pytest.raises(ValueError, match="line 4 has 3 fields, the header has 2"):
            load_table(tmp_path / "a.csv")
        return
    with pytest.warns(UserWarning, match=f"in line {len(titles) + 1}; everything above is ignored"):
        table = load_table(tmp_path / "a.csv")
    assert table.feature_names == ["a", "b"]
    assert table.X.tolist() == [[1, 2], [3, 4]]


def test_titles_of_excel_are_left_out(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["A study"], [], ["a", "b", "target"], [1.5, 2, 0], [3.5, 4, 1]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    with pytest.warns(UserWarning, match="column names are in row 3"):
        table = load_table(tmp_path / "a.xlsx")
    assert table.feature_names == ["a", "b"]
    assert table.X.tolist() == [[1.5, 2], [3.5, 4]]


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ('"a, b";"c, d, e";target\n1;2;0\n3;4;1\n', ["a, b", "c, d, e"]),
        ("x (m, s);y (m, s);target\n1;2;0\n3;4;1\n", ["x (m, s)", "y (m, s)"]),
        ("a;b\tc;d\ttarget\n1\t2\tx,y\n3\t4\tz\n", ["a;b", "c;d"]),
    ],
)
def test_separators_within_names(tmp_path, content, names):
    X, _, found = load_table(written(tmp_path, content))
    assert found == names
    assert X.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("ending", ["csv", "npz", "parquet"])
def test_whole_numbers_that_are_rounded_are_noted(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    frame = pd.DataFrame({"x0": [1, 2, 2**53 + 1], "target": [0, 1, 1]})
    if ending == "npz":
        np.savez(path, X=frame[["x0"]], y=frame.target)
    else:
        frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    place = "line 4" if ending == "csv" else "row 3"
    with pytest.warns(UserWarning, match=f"'x0' .* rounded: {place} has 9007199254740993, read as"):
        assert load_table(path).X.tolist() == [[1], [2], [2**53]]


@pytest.mark.parametrize("value", [np.nan, None])
@pytest.mark.parametrize("column", ["b", "target"])
def test_parquet_has_no_missing_values_either(tmp_path, value, column):
    frame = pd.DataFrame({"a": [1.0, 2, 3], "b": [1.0, 2, 3], "target": [1.0, 0, 1]})
    frame[column] = frame[column].astype(object).where([True, False, True], value)
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=rf"a\.parquet: .*column '{column}' has no value in row 2"):
        load_table(tmp_path / "a.parquet")


def test_what_a_parquet_file_calls_its_index_is_left_out_and_told(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2, 3], "target": [1, 0, 1]}, index=[7, 9, 4])
    frame.rename_axis("patient").to_parquet(tmp_path / "a.parquet")
    with pytest.warns(UserWarning, match=r"a\.parquet: 'patient', an index of pandas, is left out"):
        assert load_table(tmp_path / "a.parquet").feature_names == ["a"]
    with pytest.warns(UserWarning, match="'patient', an index of pandas"):
        table = load_table(tmp_path / "a.parquet", needs_target=False)
    assert table.y.tolist() == [1, 0, 1]
    X, y, _ = load_table(tmp_path / "a.parquet", target="patient")
    assert (X.shape, y.tolist()) == ((3, 2), [7, 9, 4])


def test_kinds_of_parquet_columns(tmp_path):
    frame = pd.DataFrame(
        {
            "flag": [True, False],
            "category": pd.Categorical([3, 4]),
            "text": ["1.5", "2"],
            "target": pd.Categorical(["01", "1"]),
        }
    )
    frame.to_parquet(tmp_path / "a.parquet")
    X, y, _ = load_table(tmp_path / "a.parquet")
    assert X.tolist() == [[1, 3, 1.5], [0, 4, 2]]
    assert y.tolist() == ["01", "1"]
    frame.assign(text=["1_0", "2"]).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="column 'text' must hold numbers, row 1 has '1_0'"):
        load_table(tmp_path / "a.parquet")
    frame.assign(text=pd.Timestamp("2020")).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="column 'text' must hold numbers, row 1 has '2020-01-01"):
        load_table(tmp_path / "a.parquet")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.ones((1, 2)), "y": [0]}, "a.npz must hold at least two rows of data, it holds 1"),
        ({"X": np.eye(3), "y": [0, 1, np.nan]}, "target column 'y' has no value in row 3"),
        (
            {"X": np.eye(3), "y": [0, 1, np.inf]},
            "target column 'y' must be finite, row 3 has 'inf'",
        ),
        ({"X": np.eye(3), "y": [0, 1]}, "X and y must have the same length, got 3 and 2"),
        ({"X": np.eye(3), "y": ["a", "b", ""]}, "target column 'y' has no value in row 3"),
        (
            {"X": np.full((3, 1), np.inf), "y": [0, 1, 1]},
            "column 'x0' must hold numbers, row 1 has inf",
        ),
        ({"X": [[1, np.nan], [1, 2]], "y": [0, 1]}, "column 'x1' has no value in row 1"),
        ({"X": np.ones((3, 0)), "y": [0, 1, 0]}, "X must be a matrix of numbers"),
    ],
)
def test_arrays_go_by_the_same_rules(tmp_path, arrays, message):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        load_table(tmp_path / "a.npz")


def test_stored_labels_keep_their_type_and_never_merge(tmp_path):
    for y, kind in (([True, False], "b"), ([2**53 + 1, 2**53], "U"), ([b"a", b"\xc3\xa9"], "U")):
        np.savez(tmp_path / "a.npz", X=np.eye(2), y=y)
        found = load_table(tmp_path / "a.npz").y
        assert found.dtype.kind == kind
        assert len(set(found)) == 2


TARGET = {"target": "target", "needs_target": True, "header": None}


def write(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text)
    return path


def test_numbers_with_a_decimal_comma_are_numbers_where_it_separates_nothing(tmp_path):
    path = write(tmp_path, "a;target\n1;1,5\n2;2,25\n3;-4,0\n")
    table = load_columns(path, **TARGET)
    assert table.y.tolist() == [1.5, 2.25, -4.0]
    with pytest.raises(
        ValueError, match="'target' has '1,5' in line 2; write decimals with a point"
    ):
        load_table(path)


def test_commas_beside_decimal_points_separate_thousands(tmp_path):
    path = write(tmp_path, "a;target\n1,234;0\n0.5;1\n12.25;0\n2,500;1\n")
    table = load_columns(path, **TARGET)
    assert table.X.ravel().tolist() == [1234, 0.5, 12.25, 2500]
    assert any("'1,234' is read as 1234" in note for note in table.notes)


def test_whole_numbers_with_a_decimal_comma_are_classes_of_numbers(tmp_path):
    path = write(tmp_path, "a;target\n1,5;1,0\n2,5;2,0\n3,5;1,0\n")
    table = load_columns(path, **TARGET)
    assert table.y.tolist() == [1, 2, 1]
    assert table.X.ravel().tolist() == [1.5, 2.5, 3.5]


def test_in_quotes_between_commas_they_are_read_where_tables_are_messy(tmp_path):
    path = write(tmp_path, 'a,target\n1,"1,5"\n2,"2,5"\n')
    assert load_columns(path, **TARGET).y.tolist() == [1.5, 2.5]
    with pytest.raises(ValueError, match="write decimals with a point"):
        load_table(path)
    path = write(tmp_path, 'a,target\n1,"1,0"\n2,"2,0"\n')
    assert load_columns(path, **TARGET).y.tolist() == [1, 2]


@pytest.mark.parametrize("missing", ["NA", "?", "-", "n/a"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_missing_number_to_predict_is_an_error_that_names_its_row(missing, ending, tmp_path):
    frame = pd.DataFrame({"a": [1, 2, 3], "target": ["1.5", missing, "2.5"]})
    path = tmp_path / f"t.{ending}"
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    record = "line 3" if ending == "csv" else "row 2"
    for load in (load_table, lambda source: load_columns(source, **TARGET)):
        with pytest.raises(ValueError, match=f"'target' has no value in {record}"):
            load(path)


def test_names_of_classes_stay_names(tmp_path):
    texts = ["a", "1,5", "NA", "-", "1.5"]
    path = write(tmp_path, "a;target\n" + "".join(f"{i};{t}\n" for i, t in enumerate(texts)))
    assert load_columns(path, **TARGET).y.tolist() == texts
    signs = write(tmp_path, "a,target\n1,+\n2,-\n3,+\n")
    assert load_table(signs).y.tolist() == ["+", "-", "+"]


@pytest.mark.parametrize("dash", ["-", " - ", "--", "\u2013"])
def test_a_dash_among_numbers_is_a_missing_number(dash, tmp_path):
    path = write(tmp_path, f"a,b,target\n1,5,x\n{dash},6,y\n3,7,x\n")
    table = load_columns(path, **TARGET)
    np.testing.assert_array_equal(table.X, [[1, 5], [np.nan, 6], [3, 7]])
    assert table.missing == [0]
    assert table.notes == [f"t.csv: {dash.strip()!r} in column 'a' is read as a missing number."]


def test_a_dash_among_texts_is_a_text(tmp_path):
    path = write(tmp_path, "a,b,target\n+,5,x\n-,6,y\n+,7,x\n")
    table = load_columns(path, **TARGET)
    assert table.X[:, 0].tolist() == ["+", "-", "+"]
    assert table.notes == []


TABLES = settings(
    max_examples=40,
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


def write_table(dialect, records, blank=()):
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
    text = write_table(dialect, [header, *body], blank)
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
    | tables(words.map("class {}".format))
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


@settings(parent=TABLES, max_examples=80)
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
    text = write_table({"lineterminator": "\r\n"}, [[*names, "target"], *body], blank)
    (tmp_path / "a.csv").write_text(text, encoding="utf-8", newline="")
    message = outcome(tmp_path / "a.csv")
    line = int(re.search(r"line (\d+)", message)[1])
    assert message.startswith(f"a.csv: column {names[column]!r} ")
    records = csv.reader(io.StringIO(text, newline="").readlines()[line - 1 :])
    assert next(records) == list(map(str, body[row]))
    assert bad in message


def test_columns_of_stored_numbers_may_be_texts(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.array([[1, 2.5], [1, 3.5], [2, 4.5]]), y=[0, 1, 0])
    table = load_columns(
        tmp_path / "a.npz", target=None, needs_target=True, header=None, texts=["x0"]
    )
    assert table.texts == [0]
    assert table.X[:, 0].tolist() == ["1.0", "1.0", "2.0"]


def test_no_row_is_dropped_where_all_have_a_target(tmp_path):
    path = write(tmp_path, "a,target\n1,x\n2,y\n")
    table = load_columns(path, **TARGET, drop_missing_target=True)
    assert table.y.tolist() == ["x", "y"]
    assert table.notes == []
