"""Files as people have them: what each column becomes, and errors with a remedy."""

import re
import shlex
from decimal import Decimal
from time import process_time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from skeval.__main__ import main, make_parser
from skeval._commands._data import Table

N = 60
AMOUNTS = np.random.default_rng(1).integers(1_000, 9_999, N)
BASE = {"x": np.arange(N) % 7, "target": np.arange(N) % 2}


def load(path, *words, needs_target=True):
    """Return the table that a command reads."""
    options = make_parser().parse_args(["evaluate", str(path), *map(str, words)])
    return Table(options, needs_target=needs_target)


def write_table(path, **columns):
    """Write a CSV file of the columns."""
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def write(path, **columns):
    """Write a CSV file of the columns, a feature and a target of two classes."""
    return write_table(path, **BASE | columns)


def test_a_german_file_is_read_with_its_options(tmp_path):
    path = tmp_path / "a.csv"
    frame = pd.DataFrame(BASE | {"Größe": AMOUNTS / 8, "Ort": ["Köln", "Graz", None] * 20})
    frame.to_csv(path, sep=";", decimal=",", encoding="latin-1", index=False)
    with pytest.raises(ValueError, match=r"can't decode byte 0xf6 .*[.] Check .*--encoding"):
        load(path)
    with pytest.raises(ValueError, match=r"'Größe' is nearly numeric: '.*pass --decimal ,;"):
        load(path, "--encoding", "latin-1")
    table = load(path, "--encoding", "latin-1", "--decimal", ",")
    assert table.feature_names == ["x", "Größe", "Ort"]
    np.testing.assert_allclose(table.X[:, 1].astype(float), AMOUNTS / 8)
    assert set(table.X[:, 2]) == {"Köln", "Graz", "missing"}
    assert table.notes == ["columns: target: 'target'; numbers: 'x', 'Größe'; categories: 'Ort'"]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("words", [False, True])
def test_separators(tmp_path, mark, words):
    path = tmp_path / "a.csv"
    pd.DataFrame({"a,;\n b": AMOUNTS} | BASE).to_csv(path, sep=mark, index=False)
    names = {"\t": "\\t"}
    table = load(path, *(["--sep", names.get(mark, mark)] if words else []))
    assert table.feature_names == ["a,;\n b", "x"]


WRITTEN = {
    "--thousands ,": "{:,}".format,
    "--decimal ,": lambda value: f"{value / 8}".replace(".", ","),
    "--decimal , --thousands .": lambda value: f"{value:_}".replace("_", ".") + ",25",
    "--thousands ' '": lambda value: f"{value:_}".replace("_", " "),
    "--na lost": lambda value: value if value % 4 else "lost",
    "--na '?' --na=-": lambda value: value if value % 4 else "-" if value % 8 else "?",
    "delete row 1": lambda value: "[kg]" if value == AMOUNTS[0] else value,
    "plain numbers": "${:,}.50".format,
    "numbers, without": '="{}"'.format,
    "without units": "{} %".format,
    "in the file": lambda value: "<0.1" if value % 4 else value,
}
"""Numbers as people write them, with the remedy."""


@pytest.mark.parametrize("remedy", WRITTEN)
@pytest.mark.parametrize("column", ["a", "target"])
def test_nearly_numeric_columns_are_refused_and_the_remedy_mends_them(tmp_path, remedy, column):
    values = [str(WRITTEN[remedy](value)) for value in AMOUNTS.tolist()]
    path = write(tmp_path / "a.csv", **{column: values})
    start = f"{column!r} is nearly numeric: "
    with pytest.raises(ValueError, match=rf"{start}.*{re.escape(remedy)}.*--text {column}"):
        load(path)
    table = load(path, "--text", column)
    assert column == "target" or "a" in [*table.feature_names, *table.left_out]
    if remedy.startswith("--"):
        table = load(path, *shlex.split(remedy), "--drop-missing-target")
        read = table.X[:, 1] if column == "a" else table.y
        assert read.dtype.kind in "if"
        assert np.isnan(read).any() == (column == "a" and "--na" in remedy)


@pytest.mark.parametrize("remedy", ["--thousands ,", "without units"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_numbers_among_other_strings_are_noted(tmp_path, remedy, ending):
    values = [str(WRITTEN[remedy](value)) for value in AMOUNTS.tolist()]
    frame = pd.DataFrame(BASE | {"a": np.where(np.arange(N) % 3, ["unknown", "none"] * 30, values)})
    options = {"index": False} if ending == "csv" else {}
    getattr(frame, f"to_{ending}")(tmp_path / f"a.{ending}", **options)
    notes = load(tmp_path / f"a.{ending}").notes
    (note,) = (note for note in notes if "has numbers in 20 of 60 rows" in note)
    assert ("store numbers as numbers" if ending == "parquet" else remedy) in note


@pytest.mark.parametrize(
    "written",
    [
        "P{}".format,
        "{}/77".format,
        "10.0.0.{}".format,
        lambda value: f"{value}{'abc'[value % 3]}",
        lambda value: f"{value}-{value + 1}",
    ],
)
def test_texts_that_contain_digits_are_texts(tmp_path, written):
    table = load(write(tmp_path / "a.csv", a=[written(value) for value in AMOUNTS]))
    assert table.feature_names == ["x"]
    assert "'a' contains 60 different strings in 60 rows and is left out. --id a" in table.notes[1]


def test_long_cells_are_read_in_linear_time(tmp_path):
    long = ["<" + " " * 8_000, "1 " * 4_000, "," * 8_000, "1" * 8_000, "2024-01-01" + " " * 8_000]
    start = process_time()
    table = load(write(tmp_path / "a.csv", a=(12 * long)))
    assert process_time() - start < 1
    assert table.feature_names == ["x", "a"]


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_columns_of_a_name_are_refused(tmp_path, ending):
    frame = pd.DataFrame(np.arange(60).reshape(20, 3), columns=["a", "b", "target"])
    if ending == "parquet":
        frame.to_parquet(tmp_path / "a.parquet")
        assert load(tmp_path / "a.parquet").feature_names == ["a", "b"]
        return
    write_to = frame.to_csv if ending == "csv" else frame.to_excel
    write_to(tmp_path / f"a.{ending}", index=False, header=["a", "a", "target"])
    with pytest.raises(ValueError, match=rf"a\.{ending} has several columns named 'a'. Rename"):
        load(tmp_path / f"a.{ending}")
    write_to(tmp_path / f"a.{ending}", index=False, header=["a", "a.1", "target"])
    assert load(tmp_path / f"a.{ending}").feature_names == ["a", "a.1"]


@pytest.mark.parametrize("ending", ["tsv", "parquet", "feather", "xlsx"])
def test_all_kinds_of_files_are_read_alike(tmp_path, ending):
    ports = ["Genova", "Napoli", None] * 20
    frame = pd.DataFrame(BASE | {"size": AMOUNTS / 8, "port": ports, "kind": ["a", "b", "c"] * 20})
    frame.loc[::9, "size"] = np.nan
    frame.to_csv(tmp_path / "a.csv", index=False)
    path = tmp_path / f"a.{ending}"
    options = {} if ending in ("parquet", "feather") else {"index": False}
    options |= {"sep": "\t"} if ending == "tsv" else {}
    writers = {"tsv": frame.to_csv, "xlsx": frame.to_excel}
    writers.get(ending, getattr(frame, f"to_{ending}", None))(path, **options)
    expected, table = load(tmp_path / "a.csv", "--drop", "kind"), load(path, "--drop", "kind")
    assert table.feature_names == expected.feature_names == ["x", "size", "port"]
    assert (table.texts, table.missing, table.notes) == ([2], [1], expected.notes)
    np.testing.assert_array_equal(table.y, expected.y)
    for column in range(3):
        pairs = (pd.Series(X[:, column].tolist()) for X in (table.X, expected.X))
        pd.testing.assert_series_equal(*pairs)


def test_numbers_stored_as_text_are_features_only_on_demand(tmp_path):
    frame = pd.DataFrame(BASE | {"a": [str(value) for value in AMOUNTS % 9]})
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"stored as text.*store numbers as numbers"):
        load(tmp_path / "a.parquet")
    assert load(tmp_path / "a.parquet", "--text", "a").texts == [1]


@pytest.mark.parametrize(
    ("name", "packages"),
    [
        ("a.csv", "pandas"),
        ("a.parquet", "pandas pyarrow"),
        ("a.feather", "pandas pyarrow"),
        ("a.xlsx", "pandas openpyxl"),
    ],
)
def test_a_missing_package_is_named(tmp_path, capsys, monkeypatch, name, packages):
    (tmp_path / name).write_bytes(b"")
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    assert main(["evaluate", str(tmp_path / name)]) == 2
    assert capsys.readouterr().err.endswith(f": pip install {packages}\n")
    np.savez(tmp_path / "a.npz", X=np.eye(20), y=np.arange(20) % 2)
    assert load(tmp_path / "a.npz").X.shape == (20, 20)
    assert load("iris").X.shape == (150, 4)


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("iris", "--sep=,"),
        ("a.npz", "--na=0"),
        ("a.parquet", "--decimal=,"),
        ("a.xlsx", "--encoding=utf-8"),
        ("a.xlsx", "--sep=,"),
    ],
)
def test_options_of_other_files_are_refused(tmp_path, name, option):
    path = name if name == "iris" else tmp_path / name
    with pytest.raises(ValueError, match=rf"is only for a CSV (or Excel )?file, got '{path}'"):
        load(path, option)


def test_lines_above_the_names_are_skipped_on_demand(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("A study\n\na,b,target\n" + "1,2,0\n3,4,1\n" * 9)
    with pytest.raises(ValueError, match=r"a.csv cannot be read: .* --skiprows N"):
        load(path)
    assert load(path, "--skiprows", "2").feature_names == ["a", "b"]
    frame = pd.DataFrame([["A study", None, None], ["a", "b", "target"], [1, 2, 0], [3, 4, 1]])
    frame.to_excel(tmp_path / "a.xlsx", index=False, header=False)
    with pytest.raises(ValueError, match=r"column 2 has no name[.] .* --skiprows N"):
        load(tmp_path / "a.xlsx", "--target", "A study")
    table = load(tmp_path / "a.xlsx", "--skiprows", "1")
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])
    # a file without names
    table = load(tmp_path / "a.xlsx", "--skiprows", "2", "--no-header", "--target", "x2")
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])


@pytest.mark.parametrize("text", ["a,target\n1,0\n2,1,5\n", "a,target\n1,0,5\n2,1,5\n"])
def test_a_row_longer_than_the_header_is_refused(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ValueError, match=r"a\.csv cannot be read") as error:
        load(tmp_path / "a.csv")
    assert ("more values than column names" in str(error.value)) == ("1,0,5" in text)


def test_a_separator_is_one_character(tmp_path):
    for option, mark in {"\t": "\t", r"\t": "\t", r"\s+": " ", ";": ";"}.items():
        pd.DataFrame(BASE).to_csv(tmp_path / "a.csv", sep=mark, index=False)
        assert load(tmp_path / "a.csv", "--sep", option).feature_names == ["x"]
    for mark in ("tab", "", "§"):
        with pytest.raises(ValueError, match=r"--sep must be one character, got .* --sep"):
            load(tmp_path / "a.csv", f"--sep={mark}")


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_a_first_column_without_a_name(tmp_path, name):
    frame = pd.DataFrame({name: np.arange(1, N + 1)} | BASE)
    frame.to_csv(tmp_path / "a.csv", index=False)
    table = load(tmp_path / "a.csv")
    assert table.feature_names == ["x"]
    assert (
        table.notes[1] == "the first column has no name and contains row numbers. It is left out."
    )
    # a name of pandas for other columns, such as row names in another order
    for order in ([name, "x", "target"], ["x", name, "target"]):
        frame.iloc[::-1][order].to_csv(tmp_path / "a.csv", index=False)
        with pytest.raises(ValueError, match=r"has no name. Name it, or pass --drop 'Unnamed: "):
            load(tmp_path / "a.csv")
    frame[["x", name, "target"]].to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(ValueError, match="column 2 has no name"):
        load(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            ["yes", "no", "", "yes"],
            "in row 3. --drop-missing-target leaves such rows out, and --text",
        ),
        (["None", "no", None, "yes"], "in 2 rows: 1, 3. --drop-missing-target"),
        ([1, 2, None, 1], "in row 3. --drop-missing-target leaves such rows out"),
    ],
)
def test_missing_labels_are_named_and_dropped_on_demand(tmp_path, labels, message):
    path = tmp_path / "a.csv"
    pd.DataFrame({"x": range(4), "target": labels}).to_csv(path, index=False)
    with pytest.raises(ValueError, match=f"'target' has no value {message}"):
        load(path)
    kept = [label for label in labels if label not in ("", "None", None)]
    table = load(path, "--drop-missing-target")
    assert table.y.tolist() == kept
    assert table.notes[1].startswith("rows without a value of 'target' are left out (")
    if "None" in labels:
        table = load(path, "--text", "target", "--drop-missing-target")
        assert table.y.tolist() == ["None", "no", "yes"]


@pytest.mark.parametrize("spelling", ["yes", "yes ", "  yes", "Yes", "y  es"])
def test_blanks_around_labels_are_stripped_and_other_spellings_refused(tmp_path, capsys, spelling):
    labels = ["yes", "no ", spelling, "yes", "no ", "no ", "y es"]
    path = write_table(tmp_path / "a.csv", **{" x ": range(7), "target ": labels})
    if spelling.strip() == "yes":
        table = load(path)
        assert (set(table.y), table.feature_names) == ({"yes", "no", "y es"}, ["x"])
        return
    assert main(["evaluate", str(path)]) == 2
    assert "differ only in case or spaces. Write each in one way in" in capsys.readouterr().err
    assert set(load(path, "--text", "target").y) == set(labels)


@pytest.mark.parametrize("extra", [{}, {"size": [f"{150 + k % 50},5" for k in range(N)]}])
@pytest.mark.parametrize("column", ["amount", "target"])
def test_dots_of_thousands_are_refused_until_an_option_says_what_they_are(tmp_path, extra, column):
    amounts = (np.arange(N) % 7 + 1) ** 5
    texts = [f"{value:_}".replace("_", ".") for value in amounts.tolist()]
    path = tmp_path / "a.csv"
    pd.DataFrame(BASE | extra | {column: texts}).to_csv(path, sep=";", index=False)
    with pytest.raises(ValueError, match=rf"'{column}' has three digits after .* --thousands \."):
        load(path)
    marks = ["--decimal", ","]
    with pytest.raises(ValueError, match=r"pass --decimal , --thousands \."):
        load(path, *marks)
    table = load(path, *marks, "--thousands", ".")
    read = table.y if column == "target" else table.X[:, table.feature_names.index(column)]
    np.testing.assert_array_equal(read, amounts)
    if not extra:
        assert load(path, "--decimal", ".").X.dtype.kind == "f"
    # other numbers of decimals, or a comma between columns, are no thousands
    for values, mark in ([texts, ","], [[*texts[1:], "0.5"], ";"], [[*texts[1:], "0.512"], ";"]):
        pd.DataFrame(BASE | {"amount": values}).to_csv(path, sep=mark, index=False)
        assert load(path).feature_names == ["x", "amount"]


@pytest.mark.parametrize(
    "written",
    ["({})".format, lambda value: f"{value:,}".replace(",", "\u00a0"), "{:,}".format],
    ids=["parentheses", "no-break spaces", "commas"],
)
def test_numbers_of_spreadsheets_are_read(tmp_path, written):
    numbers = np.where(np.arange(N) % 2, AMOUNTS, 5)
    texts = [written(value) for value in numbers.tolist()]
    path = write(tmp_path / "a.csv", a=texts)
    if "," in texts[1]:
        with pytest.raises(ValueError, match="pass --thousands ,"):
            load(path)
        return
    sign = -1 if texts[0].startswith("(") else 1
    np.testing.assert_array_equal(load(path).X[:, 1], sign * numbers)


@pytest.mark.parametrize(
    "values", [["6am", "7am", "9pm"], ["PAL0910", "PAL1011", "PAL1112"], ["2", "3", "4", "5more"]]
)
def test_codes_with_digits_are_texts(tmp_path, values):
    table = load(write(tmp_path / "a.csv", a=(20 * values)[:N]))
    assert set(table.X[:, 1]) == set(values)


def test_numbers_with_a_decimal_comma_and_an_exponent_are_refused(tmp_path):
    texts = [f"{value / 8:.2E}".replace(".", ",") for value in AMOUNTS]
    path = write(tmp_path / "a.csv", a=texts)
    with pytest.raises(ValueError, match=r"nearly numeric: .*pass --decimal ,;"):
        load(path)
    assert load(path, "--decimal", ",").X.dtype.kind == "f"


def test_compressed_files_are_read(tmp_path):
    for ending in ("csv.gz", "csv.zip", "tsv.bz2"):
        path = tmp_path / f"a.{ending}"
        mark = "\t" if ending[0] == "t" else ";"
        pd.DataFrame(BASE | {"a": AMOUNTS}).to_csv(path, sep=mark, index=False)
        np.testing.assert_array_equal(load(path).X[:, 1], AMOUNTS)


def test_rows_are_numbered_as_in_the_file(tmp_path):
    (tmp_path / "a.csv").write_text("x,target\n1,a\n2,b\n,\n,\n3,\n4,b\ninf,a\n")
    with pytest.raises(ValueError, match="has no value in row 5"):
        load(tmp_path / "a.csv")
    with pytest.raises(ValueError, match="must be finite, got inf in row 7"):
        load(tmp_path / "a.csv", "--drop-missing-target")


def test_infinite_targets_are_refused(tmp_path):
    path = write(tmp_path / "a.csv", target=[*AMOUNTS[1:] / 8, np.inf])
    with pytest.raises(ValueError, match="target column 'target' must be finite, got inf in row"):
        load(path)


@pytest.mark.parametrize("name", ["cases", "customers", "plant", "paid", "patient_id", "case ID"])
def test_only_names_of_identifiers_are_refused_as_targets(tmp_path, name):
    path = write(tmp_path / "a.csv", **{name: np.arange(N) * 3})
    if not name.lower().endswith("id") or name == "paid":
        assert load(path, "--target", name).y.tolist() == [*range(0, 3 * N, 3)]
        return
    with pytest.raises(ValueError, match=rf"names '{name}', which identifies the rows"):
        load(path, "--target", name)


def test_labels_that_are_equal_as_floats_stay_apart(tmp_path):
    labels = [2**53, 2**53 + 1] * 10
    pd.DataFrame({"x": range(20), "target": labels}).to_csv(tmp_path / "a.csv", index=False)
    assert set(load(tmp_path / "a.csv").y) == {str(2**53), str(2**53 + 1)}


def test_groups_are_texts_and_none_is_missing(tmp_path):
    path = write(tmp_path / "a.csv", g=["01", "1", " 1"] * 20)
    assert load(path, "--groups", "g").groups[:3].tolist() == ["01", "1", "1"]
    write(path, g=["01", "NA", "1"] * 20)
    with pytest.raises(ValueError, match="--groups has no value in 20 rows: 2, 5, 8, 11, 14 and"):
        load(path, "--groups", "g")


@pytest.mark.parametrize(
    "form", ["2024-03-{:02d}", "2024-03-{:02d}T07:30:00Z", "{:02d}.3.2024 17:05", "3/{}/2024"]
)
def test_dates_are_left_out_with_the_options_that_use_them(tmp_path, form):
    table = load(write(tmp_path / "a.csv", when=[form.format(1 + k % 28) for k in range(N)]))
    assert table.feature_names == ["x"]
    assert (
        "dates (28 different strings in 60 rows) and is left out. To use it, pass --time"
        in table.notes[1]
    )


def test_dates_make_numbers_on_demand(tmp_path):
    days = pd.date_range("2023-12-30 06:00", periods=N, freq="31h")
    texts = [f"{day:%Y-%m-%d %H:%M}" for day in days]
    texts[3] = ""
    path = write(tmp_path / "a.csv", when=texts)
    table = load(path, "--date-features")
    result = pd.DataFrame(table.X, columns=table.feature_names).drop(index=3)
    days = days.delete(3)
    names = ["days since 1970", "year", "month", "day", "weekday", "hour"]
    assert list(result) == ["x", *(f"when: {name}" for name in names)]
    for name in names[1:]:
        expected = getattr(days, name.replace("weekday", "day_of_week"))
        np.testing.assert_array_equal(result[f"when: {name}"], expected)
    elapsed = (days - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    np.testing.assert_allclose(result["when: days since 1970"], elapsed)
    assert np.isnan(table.X[3, 1:]).all()
    write(path, **{"when": texts, "when: year": AMOUNTS})
    with pytest.raises(
        ValueError, match=r"make a column named 'when: year' from 'when', but a\.csv has"
    ):
        load(path, "--date-features")


def test_unknown_columns_are_named_at_once(tmp_path):
    path = write(tmp_path / "a.csv", age=AMOUNTS)
    message = r"no column 'Age' for --drop \(did you mean 'age'\?\) and no column 'ill' for --id"
    with pytest.raises(ValueError, match=message):
        load(path, "--drop", "Age", "--id", "ill")
    with pytest.raises(ValueError, match=r"--drop \(did you mean --drop age --drop x\?"):
        load(path, "--drop", "age,x")
    with pytest.raises(ValueError, match=r"--target \(did you mean --target age\?"):
        load(path, "--target", "age,x")
    with pytest.raises(ValueError, match="--target and --drop both name 'target'"):
        load(path, "--drop", "target")


def test_an_error_lists_the_last_column(tmp_path):
    wide = {f"f{k}": AMOUNTS for k in range(20)} | {"outcome": BASE["target"]}
    path = write_table(tmp_path / "a.csv", **wide)
    with pytest.raises(ValueError, match=r"'f0', .*'f6', 13 more, 'outcome'"):
        load(path)
    with pytest.raises(ValueError, match=r"are 'x', 'target'\.$"):
        load(write(path), "--target", "y")


@pytest.mark.parametrize("row", ["target", " Target "])
def test_a_target_in_a_row_is_the_sign_of_a_transposed_file(tmp_path, row):
    genes = pd.DataFrame(np.arange(40.0).reshape(10, 4), columns=list("abcd"))
    genes.insert(0, "gene", ["g", "g", *"hijklmno"])
    labels = pd.DataFrame([[row, "y", "n", "y", "n"]], columns=genes.columns)
    pd.concat([genes, labels]).to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(ValueError, match=r"Rows must be samples.* transpose"):
        load(tmp_path / "a.csv")
    for name in ("absent", "y"):  # no row
        with pytest.raises(ValueError, match="no column") as error:
            load(tmp_path / "a.csv", "--target", name)
        assert "transpose" not in str(error.value)
    with pytest.raises(ValueError, match=r"no column 'gene'.* Leave out --no-header"):
        load(tmp_path / "a.csv", "--no-header", "--target", "gene")


def test_a_row_of_totals_is_noted_and_explains_errors(tmp_path, capsys):
    counts = [*AMOUNTS[1:], AMOUNTS[1:].sum()]
    (hint,) = load(write(tmp_path / "a.csv", a=counts)).hints
    assert "may contain totals ('a' is the sum of all other rows). If so, delete" in hint
    names = ["s1", "s2", "s3"] * 19 + ["s1", "s2", "Total"]
    assert "it contains 'Total'" in load(write(tmp_path / "a.csv", a=names)).hints[0]
    labels = [*["a", "b"] * 29, "a"]
    for last in ("Total", None):
        write(tmp_path / "a.csv", a=names, target=[*labels, last])
        assert main(["evaluate", str(tmp_path / "a.csv")]) == 2
        assert "The last row may contain totals (it contains 'Total')" in capsys.readouterr().err
    assert load(tmp_path / "a.csv", "--drop-missing-target").hints == []


@pytest.mark.parametrize("mark", [-9, -77, -999, 99, 999])
@pytest.mark.parametrize("column", ["a", "target"])
@pytest.mark.parametrize("ending", ["csv", "npz", "xlsx"])
def test_marks_of_missing_values_are_noted(tmp_path, mark, column, ending):
    path, places = tmp_path / f"a.{ending}", np.arange(N) % 9 == 0
    ages = np.where(places, mark, AMOUNTS % 40)
    if column == "a" and mark != -9:  # beside other negative numbers
        ages = np.where(places, mark, (AMOUNTS % 40 - 20) / 8)
    values = BASE | {column: ages}
    if ending != "npz":
        getattr(pd.DataFrame(values), f"to_{ending.replace('xlsx', 'excel')}")(path, index=False)
    else:
        X = np.column_stack([values["x"], values.get("a", AMOUNTS)])
        np.savez(path, X=X, y=values["target"])
    (note,) = (note for note in load(path).notes if f"has {mark} in 7 of 60 rows, far" in note)
    assert ("--na" in note) == (ending != "npz")
    if ending != "npz":
        table = load(path, f"--na={mark}", "--drop-missing-target")
        assert not any(f"has {mark} " in note for note in table.notes)
    clean = write(tmp_path / "b.csv", a=AMOUNTS % 80 - 40, b=AMOUNTS, c=np.arange(940, 1000))
    assert load(clean).notes[1:] == load(clean).hints == []


def test_a_row_without_a_target_is_dropped_with_its_units(tmp_path):
    text = pd.DataFrame(BASE | {"a": AMOUNTS}).to_csv(index=False)
    head, rest = text.split("\n", 1)
    (tmp_path / "a.csv").write_text(f"{head}\nkg,,cm\n{rest}Source: an office\n")
    table = load(tmp_path / "a.csv", "--drop-missing-target")
    assert table.X.dtype.kind == "f"
    np.testing.assert_array_equal(table.X[:, 1], AMOUNTS)


@pytest.mark.parametrize("words", [["--thousands=."], ["--decimal=,", "--thousands=,"]])
def test_marks_of_numbers_must_differ(tmp_path, words):
    with pytest.raises(ValueError, match="--thousands and --decimal must differ"):
        load(write(tmp_path / "a.csv"), *words)


def test_rows_and_nameless_columns_without_values_are_left_out(tmp_path):
    text = pd.DataFrame(BASE | {"a": AMOUNTS}).to_csv(index=False)
    (tmp_path / "a.csv").write_text(text.replace("\n", ",,\n") + ",,,,\n" * 3)
    table = load(tmp_path / "a.csv")
    assert (table.feature_names, len(table.y)) == (["x", "a"], N)
    assert table.notes[1] == "rows without any value are left out (3 rows: 61, 62, 63)."


def test_numbers_of_arrow_are_numbers(tmp_path):
    columns = {
        "decimal": pa.array([Decimal(value) / 4 for value in AMOUNTS.tolist()]),
        "duration": pa.array((AMOUNTS * 1000).tolist(), pa.duration("ms")),
        "int": pa.array([None, *AMOUNTS[1:].tolist()]),
        "bool": pa.array((AMOUNTS % 2 == 0).tolist()),
        "target": pa.array(["a", "b"] * (N // 2)).dictionary_encode(),
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    table = load(tmp_path / "a.parquet")
    assert table.feature_names == ["decimal", "duration", "int", "bool"]
    expected = np.column_stack([AMOUNTS / 4, AMOUNTS, AMOUNTS, AMOUNTS % 2 == 0])
    np.testing.assert_array_equal(table.X[1:], expected[1:])
    assert table.missing == [2]


def test_whole_numbers_as_classes_are_noted_and_refusals_name_the_option(tmp_path, capsys):
    path = str(write(tmp_path / "a.csv", target=np.arange(N) % 3))
    least = ["--cv", "2", "--include", "cross_validation", "--full"]
    note = "3 distinct whole numbers and is treated as classes. --task numbers"
    assert main(["evaluate", path, *least]) == 0
    assert note in capsys.readouterr().out
    write(tmp_path / "a.csv", target=np.minimum(np.arange(N), 17))
    assert main(["evaluate", path, *least]) == 2
    assert "treated as classes. --task numbers" in capsys.readouterr().err
    assert main(["evaluate", path, *least, "--task", "numbers"]) == 0
    assert "treated as" not in capsys.readouterr().out
    write(tmp_path / "a.csv")
    assert main(["evaluate", path, *least]) == 0
    assert "--task" not in capsys.readouterr().out


def test_bundled_names_and_files_are_sources(tmp_path, capsys):
    file = write(tmp_path / "table.csv")

    def refuse(source):
        assert main(["evaluate", str(source), "--estimator", "no-such"]) == 2
        return capsys.readouterr().err

    for source in ("breast_cancer", "iris", "wine", "digits", file):
        assert "--estimator must be one of" in refuse(source)
    missing = refuse(tmp_path / "missing.csv")
    assert "missing.csv' does not exist. Bundled data are breast_cancer" in missing
    near = refuse(tmp_path / "tabel.csv")
    assert "tabel.csv' does not exist (did you mean 'table.csv'?)" in near
    assert "did you mean 'iris'" in refuse("irsi")
    assert "does not exist" in refuse(tmp_path / "nowhere" / "table.csv")
    assert "is a folder" in refuse(tmp_path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--by site", "by: 'site'; numbers: 'x', 'score'; categories: 'site'"),
        ("--by site --drop site", "by: 'site'; numbers: 'x', 'score'"),
        ("--by site --drop x", "categories: 'site'; left out: 'x'"),
        ("--by site --predictions score", "predictions: 'score'; by: 'site'"),
    ],
)
def test_the_note_on_columns_says_how_each_is_used(tmp_path, words, said):
    data = write(tmp_path / "a.csv", site=[*"pq"] * 30, score=[0.2, 0.4, 0.6] * 20)
    assert load(data, *words.split()).notes[0].endswith(said)
