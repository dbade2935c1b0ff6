"""Files in, numbers out; what is wrong with a file is said by row and column."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine

from skeval.datasets import load_table


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


def test_parquet_without_pandas(tmp_path, wine, monkeypatch):
    wine.to_parquet(tmp_path / "wine.parquet")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ValueError, match="a Parquet file needs pandas: pip install"):
        load_table(tmp_path / "wine.parquet")


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
        ("a.csv", "x,target\n1,0\n2\n", "row 3 has 1 fields, the header has 2"),
        ("a.csv", "x,target\n1,0\nred,1\n", "column 'x' must hold numbers, row 3 has 'red'"),
        ("a.csv", "x,target\n1,0\n,1\n", "column 'x' has no value in row 3"),
        ("a.csv", "x,target\n1,0\n2,\n", "target column 'target' has no value in row 3"),
        ("a.csv", "x,target\n1,0\n2,inf\n", "target column 'target' must be finite"),
        ("a.csv", b"\xff\xfe\x00x", "must be UTF-8 text"),
        ("a.csv", 'x,target\n"1"2,0\n', "is not a CSV file"),
        ("a.npz", b"not a zip", r"a\.npz cannot be read"),
        ("a.parquet", b"not parquet", "is not a Parquet file"),
        ("a.xls", "x", "must end in .csv, .tsv, .npz or .parquet"),
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
        load_table(path)


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
        ("a,,target", "a.csv: column 2 of 3 has no name in the header, but ''"),
        ("a,target,", "column 3 of 3 has no name"),
        ("a,Unnamed: 1,target", "column 2 of 3 has no name in the header, but 'Unnamed: 1'"),
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
    with pytest.raises(ValueError, match="column 1 of 3 has no name"):
        load_table(tmp_path / "a.csv")


@pytest.mark.parametrize("header", ['""', "Unnamed: 0"])
def test_a_count_alone_leaves_no_features(tmp_path, header):
    (tmp_path / "a.csv").write_text(f"{header}\n0\n1\n")
    with pytest.raises(ValueError, match="column 1 of 1 has no name"):
        load_table(tmp_path / "a.csv", needs_target=False)


def test_a_count_with_a_name_is_the_users_own(tmp_path, noise):
    noise.to_csv(tmp_path / "a.csv", index_label="week")
    assert load_table(tmp_path / "a.csv").feature_names == ["week", "a", "b"]


def test_a_nameless_column_can_be_the_target(tmp_path):
    (tmp_path / "a.csv").write_text(",a\n0,5\n1,6\n")
    X, y, names = load_table(tmp_path / "a.csv", target="")
    assert (X.tolist(), y.tolist(), names) == ([[5], [6]], [0, 1], ["a"])
