"""Numbers to predict, and dashes among numbers: never the names of classes without a word."""

import numpy as np
import pandas as pd
import pytest

from skeval.datasets import load_table
from skeval.datasets._tables import load_columns

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


def test_whole_numbers_with_a_decimal_comma_are_classes_of_numbers(tmp_path):
    path = write(tmp_path, "a;target\n1,5;1,0\n2,5;2,0\n3,5;1,0\n")
    table = load_columns(path, **TARGET)
    assert table.y.tolist() == [1, 2, 1]
    assert table.X.ravel().tolist() == [1.5, 2.5, 3.5]


def test_in_quotes_between_commas_they_are_an_error(tmp_path):
    path = write(tmp_path, 'a,target\n1,"1,5"\n2,"2,5"\n')
    for load in (load_table, lambda source: load_columns(source, **TARGET)):
        with pytest.raises(ValueError, match="write decimals with a point"):
            load(path)


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
