"""Tables as people have them, on the command line."""

import json
import re
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
from helpers.outcomes import without_progress
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import skeval
from skeval.__main__ import main
from skeval.datasets._tables import load_columns

PARTS = ["holdout", "bootstrap", "permutation", "selection"]
QUICK = [
    "--full",
    "--bootstraps",
    "5",
    "--cv",
    "2",
    "--permutations",
    "5",
    "--include",
    ",".join(PARTS),
]
LEAST = ["--full", "--cv", "2", "--include", "cross_validation"]


def draw_people(n=80):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "No": np.arange(1, n + 1),
            "Name": [f"Person {i}" for i in range(n)],
            "Sex": rng.choice(["m", "f"], n),
            "Age": rng.normal(40, 12, n).round(1),
            "Port": rng.choice(["Genova", "Napoli", None], n),
            "Family": np.arange(n) // 2,
        }
    )
    chance = frame.Age / 20 + (frame.Sex == "f") * 1.5 + rng.normal(size=n)
    frame["Survived"] = np.where(chance > 3, "yes", "no")
    frame.loc[::9, "Age"] = np.nan
    return frame


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    draw_people().to_csv(path, index=False, sep=";", decimal=",")
    return str(path)


def test_numbers_are_those_of_a_pipeline_that_prepares_within_the_folds(people, capsys):
    words = ["--target", "Survived", "--id", "No", "--drop", "Family"]
    assert main(["evaluate", people, *words, *QUICK]) == 0
    captured = capsys.readouterr()
    frame = draw_people()
    X = frame[["Sex", "Age", "Port"]].fillna({"Port": "missing"}).to_numpy(dtype=object)
    numeric = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    )
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer(
        (numeric, [1]), (encoder, [0, 2]), verbose_feature_names_out=False
    )
    report = skeval.evaluate(
        make_pipeline(columns, SVC(kernel="linear")),
        X,
        frame.Survived.to_numpy(dtype=str),
        cv=2,
        include=PARTS,
        n_bootstraps=5,
        n_permutations=5,
        feature_names=["Sex", "Age", "Port"],
        random_state=0,
    )
    assert report._write_text(full=True) in captured.out
    assert without_progress(captured.err) == ""
    first, second, *_ = captured.out.splitlines()
    assert first == "people.csv: 80 samples, 3 features, 2 classes (no: 41, yes: 39)"
    assert second == (
        "linear-svm, medians for missing values (Age) and one-hot encoding of text (Sex, Port), "
        "fitted in each fold, seed 0"
    )
    assert "note: people.csv: column 'Name' holds 80 different texts in 80 rows" in captured.out


def test_selection_names_the_columns_that_it_chose_from(people, capsys, tmp_path):
    page = tmp_path / "page.html"
    words = ["--target", "Survived", "--drop", "No", "--drop", "Name", "--drop", "Family"]
    assert main(["evaluate", people, *words, "--select", "3", "--html", str(page), *QUICK]) == 0
    assert f"written to {page}" in capsys.readouterr().out
    assert "Sex_f" in page.read_text()
    assert main(["evaluate", people, *words, "--select", "7", *QUICK]) == 2
    assert "between 1 and the 6 features, got 7" in capsys.readouterr().err


def test_groups_stay_together(people, capsys):
    assert main(["evaluate", people, "--target", "Survived", "--groups", "Famly"]) == 2
    assert "'Famly' for --groups (did you mean 'Family'?)" in capsys.readouterr().err
    words = ["--target", "Survived", "--drop", "Name", "--groups", "Family"]
    assert main(["evaluate", people, *words, *LEAST]) == 0
    assert "people.csv: 80 samples, 4 features, 40 groups, 2 classes" in capsys.readouterr().out
    assert main(["evaluate", "iris", "--groups", "x"]) == 2
    assert "iris has no column 'x' for --groups; its columns" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--target", "survived"], r"no column 'survived' for --target \(did you mean 'Survived'"),
        (["--target", "Survived", "--drop", "name"], "did you mean 'Name'"),
        (["--target", "Survived", "--groups", "Familie"], "did you mean 'Family'"),
        (["--target", "Survived", "--task", "numbers"], "it holds 'no'|it holds 'yes'"),
        (["--target", "Age"], "the target column 'Age' has no value in 9 rows: line 2, "),
    ],
)
def test_what_is_wrong_is_said_in_one_line(people, words, message, capsys):
    assert main(["evaluate", people, *words, *QUICK]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert re.search(message, captured.err)


def test_a_sorted_number_of_the_rows_is_suspected(people, capsys):
    assert main(["evaluate", people, "--target", "Survived", "--drop", "Name", *LEAST]) == 0
    assert "Feature 'No' counts the samples" in capsys.readouterr().out


def test_whole_numbers_by_the_score_are_predicted_as_numbers(tmp_path, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "price": rng.integers(0, 500, 60)})
    frame.to_csv(tmp_path / "p.csv", index=False)
    words = ["evaluate", str(tmp_path / "p.csv"), "--target", "price", *LEAST]
    assert main([*words, "--estimator", "knn", "--scoring", "explained_variance"]) == 0
    printed = capsys.readouterr().out
    assert "distinct whole numbers and is treated as numeric; use --task classes" in printed
    assert "explained_variance" in printed
    assert main([*words, "--estimator", "lda"]) == 2
    assert "--estimator must be one of ridge, linear-svm" in capsys.readouterr().err


def test_the_error_by_a_column(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame["site"] = rng.choice(["north", "south", None], 60)
    frame["target"] = np.where(X[:, 0] > 0, "yes", "no")
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = ["evaluate", str(tmp_path / "t.csv"), "--estimator", "lda", *LEAST]
    assert main([*words, "--by", "site", "--json", str(tmp_path / "t.json")]) == 0
    found = json.loads((tmp_path / "t.json").read_text())["subgroups"]
    assert set(found) == {"missing", "north", "south"}
    assert sum(row["n_samples"] for row in found.values()) == 60
    assert "The largest difference between subgroups is" in capsys.readouterr().out
    assert main([*words, "--by", "nowhere"]) == 2
    assert "--by must be one of the columns a, b, site" in capsys.readouterr().err


def test_an_estimator_of_ones_own(tmp_path, capsys, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "from sklearn.linear_model import LogisticRegression\n"
        "def make():\n    return LogisticRegression(C=0.1)\n"
        "model = make()\nnothing = 3\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    X, y, names = skeval.datasets.load_table("iris")
    options = {"cv": 2, "include": ["cross_validation"]}
    report = skeval.evaluate(
        LogisticRegression(C=0.1), X, y, feature_names=names, random_state=0, **options
    )
    for path in ("mine:make", "mine:model"):
        assert main(["evaluate", "iris", "--estimator", path, *LEAST]) == 0
        assert report._write_text(full=True) in capsys.readouterr().out
    for path, message in {
        "mine:absent": "cannot be imported: module 'mine' has no attribute 'absent'",
        "absent_module:x": "cannot be imported: No module named 'absent_module'",
        "mine:nothing": "must name an estimator",
        "tree": "--estimator must be one of linear-svm, rbf-svm",
    }.items():
        assert main(["evaluate", "iris", "--estimator", path]) == 2
        assert message in capsys.readouterr().err


def test_clusters_of_a_messy_table(people, capsys):
    words = ["--target", "Survived", "--drop", "No", "--k", "2:3", "--quick"]
    assert main(["cluster", people, *words]) == 0
    second = capsys.readouterr().out.splitlines()[1]
    assert second.startswith("kmeans, features scaled to variance 1, medians for missing values")


def test_parquet_is_read_alike(people, tmp_path):
    draw_people().to_parquet(tmp_path / "people.parquet")
    options = {"target": "Survived", "needs_target": True, "header": None, "drop": ["Name"]}
    text = load_columns(people, **options)
    stored = load_columns(tmp_path / "people.parquet", **options)
    assert stored.feature_names == text.feature_names == ["No", "Sex", "Age", "Port", "Family"]
    assert (stored.texts, stored.missing) == (text.texts, text.missing) == ([1, 3], [2])
    np.testing.assert_array_equal(stored.y, text.y)
    for column in range(5):
        pd.testing.assert_series_equal(
            *(pd.Series(X[:, column].tolist()) for X in (stored.X, text.X))
        )


def test_a_stop_is_one_line_that_says_how_to_go_on(capsys, monkeypatch, tmp_path):
    def stop(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("skeval.report.evaluate", stop)
    assert main(["evaluate", "iris", *QUICK]) == 130
    error = capsys.readouterr().err
    assert error.startswith("\nskeval: interrupted; there is nothing to report yet; with --memory ")
    assert main(["evaluate", "iris", "--memory", str(tmp_path), *QUICK]) == 130
    assert "the same command again goes on where it stopped" in capsys.readouterr().err


def test_a_row_without_a_group_is_refused_and_blanks_make_no_group(tmp_path):
    frame = pd.DataFrame(
        {"a": [1.5, 2, 3, 4], "g": ["p1", "p1 ", "p2", " p2"], "target": [0, 1, 0, 1]}
    )
    frame.to_csv(tmp_path / "g.csv", index=False)
    options = {"target": "target", "needs_target": True, "header": None, "groups": "g"}
    table = load_columns(tmp_path / "g.csv", **options)
    assert table.groups.tolist() == ["p1", "p1", "p2", "p2"]
    frame.loc[2, "g"] = "NA"
    frame.to_csv(tmp_path / "g.csv", index=False)
    with pytest.raises(ValueError, match=r"column of groups 'g' has no value in line 4"):
        load_columns(tmp_path / "g.csv", **options)


def test_a_number_to_predict_that_is_missing_is_named(tmp_path):
    frame = pd.DataFrame(
        {"a": [1, 2, 3, 4], "b": [1, 1, 2, 2], "target": ["1.5", "2.5", "NA", "3.0"]}
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(ValueError, match="the target column 'target' has no value in line 4"):
        load_columns(
            tmp_path / "t.csv", target="target", needs_target=True, header=None, drop=["b"]
        )


def test_a_misspelled_file_is_named_whatever_is_asked_of_it(capsys):
    assert main(["evaluate", "absent.csv", "--groups", "g"]) == 2
    assert "no file 'absent.csv'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("write", "what"),
    [
        ("2024-03-{:02d}", "dates or times"),
        ("2024-03-{:02d}T07:30:00Z", "dates or times"),
        ("{:02d}.3.2024 17:05", "dates or times"),
        ("3/{}/2024", "dates or times"),
        ("patient {}", "different texts"),
        ("1.{}.0-rc", "different texts"),
    ],
)
def test_dates_are_no_names(tmp_path, write, what):
    path = tmp_path / "visits.csv"
    rows = [f"{write.format(1 + k)},{k % 5},{k % 2}" for k in range(28)]
    path.write_text("\n".join(["when,a,target", *rows, "NA,1,0"]))
    table = load_columns(path, target=None, needs_target=True, header=None)
    (note,) = (note for note in table.notes if "left out" in note)
    assert what in note
    assert "28 different" in note


def write_labels(path, labels):
    """Write a table with labels, of which the first feature tells the class."""
    lines = [
        f"{len(label.strip()) + row % 7 / 10},{row % 5},{label}" for row, label in enumerate(labels)
    ]
    path.write_text("\n".join(["a,b,target", *lines]), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("n_missing", "told"), [(1, "in line 2;"), (7, "in 7 rows: line 2, line 3, line 4, line 5, ")]
)
def test_missing_targets_are_counted_named_and_dropped_on_demand(tmp_path, capsys, n_missing, told):
    labels = [("yes", "no")[row % 2] for row in range(40)]
    labels[:n_missing] = n_missing * [" "]
    path = write_labels(tmp_path / "a.csv", labels)
    assert main(["evaluate", path]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert "--drop-missing-target leaves such rows out." in error
    if n_missing == 1:
        return
    assert main(["evaluate", path, "--drop-missing-target", *LEAST]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"a.csv: {40 - n_missing} samples, 2 features, 2 classes (no: ")
    assert "without a value of 'target' are left out." in printed
    assert load_columns(path, target=None, needs_target=True, header=None, drop_missing_target=True)


def test_words_for_a_missing_label_are_dropped_with_it(tmp_path):
    labels = ["NA", "-", "yes", "no", "?", "yes", "no"]
    options = {"target": None, "needs_target": True, "header": None}
    path = write_labels(tmp_path / "a.csv", labels)
    assert len(set(load_columns(path, **options).y)) == 5
    assert load_columns(path, **options, drop_missing_target=True).y.tolist() == ["yes", "no"] * 2


def test_spellings_of_a_class_are_named_and_joined_on_demand(tmp_path):
    labels = ["yes", "no", "Yes ", "yes", "NO", "no", "maybe"]
    options = {"target": None, "needs_target": True, "header": None}
    path = write_labels(tmp_path / "a.csv", labels)
    apart = load_columns(path, **options)
    assert set(apart.y) == set(labels)
    assert any("--merge-labels merges them" in note for note in apart.notes)
    joined = load_columns(path, **options, merge_labels=True)
    assert joined.y.tolist() == ["yes", "no", "yes", "yes", "no", "no", "maybe"]
    (note,) = joined.notes
    assert note.endswith("'Yes ', 'no', 'NO' differ by spelling alone and are read as 'yes', 'no'.")


def test_missing_labels_and_spellings_are_told_at_once(tmp_path):
    path = write_labels(tmp_path / "a.csv", ["yes", "y", "n", "", "no", "No"])
    options = {"target": None, "needs_target": True, "header": None}
    with pytest.raises(
        ValueError, match=r"no value in line 5; --drop-missing.*'y'.*'n'.*--merge-l"
    ):
        load_columns(path, **options)
    table = load_columns(path, **options, drop_missing_target=True, merge_labels=True)
    assert table.y.tolist() == ["yes", "yes", "no", "no", "no"]
    with pytest.raises(ValueError, match="the target 'target' must not be dropped"):
        load_columns(path, **options, drop=["target"])


def test_short_forms_of_no_word_are_classes_of_their_own(tmp_path):
    path = write_labels(tmp_path / "a.csv", ["y", "n", "f", "m"] * 3)
    assert load_columns(path, target=None, needs_target=True, header=None).notes == []
    path = write_labels(tmp_path / "a.csv", ["false", "female", "f"] * 3)  # f may be either
    assert load_columns(path, target=None, needs_target=True, header=None).notes == []


@pytest.mark.parametrize(
    ("values", "expected"),
    [(["1,5", "2", "-3,25"], [1.5, 2, -3.25]), (["1,5", "1,500,000", "2"], None)],
)
def test_quoted_decimal_commas(tmp_path, values, expected):
    path = tmp_path / "a.csv"
    lines = [f'"{value}",{row},c{row % 2}' for row, value in enumerate(values)]
    path.write_text("\n".join(["a,b,target", *lines]))
    table = load_columns(path, target=None, needs_target=True, header=None)
    assert (table.texts == []) == (expected is not None)
    if expected:
        np.testing.assert_array_equal(table.X[:, 0].astype(float), expected)
        assert "column 'a': '1,5' is read as 1.5." in table.notes[0]


@pytest.mark.parametrize(
    ("header", "words", "meant"),
    [
        ("a,name,Outcome", [], "did you mean --target Outcome?"),
        ("a,name,Traget", [], "did you mean --target Traget?"),
        ("a,name,died", [], "did you mean --target died?"),
        ("a,outcomes,outcome", ["--target", "outcoms"], "did you mean 'outcome'?"),
    ],
)
def test_the_target_that_is_meant_is_plausible(tmp_path, capsys, header, words, meant):
    path = tmp_path / "a.csv"
    lines = [f"{row / 7:.3f},person {row},{row % 2}" for row in range(60)]
    path.write_text("\n".join([header, *lines]))
    assert main(["evaluate", str(path), *words]) == 2
    assert meant in capsys.readouterr().err


def test_dates_make_numbers_on_demand(tmp_path):
    days = pd.date_range("2023-12-30 06:00", periods=50, freq="31h")
    texts = [f"{day:%Y-%m-%d %H:%M}" for day in days]
    texts[3] = ""
    frame = pd.DataFrame({"a": range(50), "when": texts, "target": np.arange(50) % 2})
    frame.to_csv(tmp_path / "a.csv", index=False)
    options = {"target": None, "needs_target": True, "header": None}
    table = load_columns(tmp_path / "a.csv", **options, date_features=True)
    found = pd.DataFrame(table.X, columns=table.feature_names).drop(index=3)
    days = days.delete(3)
    names = ["days since 1970", "year", "month", "day", "weekday", "hour"]
    assert list(found) == ["a", *(f"when: {name}" for name in names)]
    for name in names[1:]:
        expected = getattr(days, name.replace("weekday", "day_of_week"))
        np.testing.assert_array_equal(found[f"when: {name}"], expected)
    elapsed = (days - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    np.testing.assert_allclose(found["when: days since 1970"], elapsed)
    assert np.isnan(table.X[3, 1:]).all()


def write_columns(path, **columns):
    """Write a table with a target of two classes; return what `load_columns` needs."""
    n = len(next(iter(columns.values())))
    target = {"target": np.arange(n) % 2} if "target" not in columns else {}
    pd.DataFrame({**columns, "x": np.arange(n) % 7, **target}).to_csv(path, index=False)
    return partial(load_columns, path, target=None, needs_target=True, header=None)


AMOUNTS = np.random.default_rng(1).integers(1_000, 2_000_000, 60)


@pytest.mark.parametrize(
    ("write", "scale", "note"),
    [
        ("{:,}".format, 1, "is read as"),
        ("${:,}".format, 1, "'${:,}' is read as"),
        ("{:,} €".format, 1, "is read as"),
        ("USD {}".format, 1, "is read as"),
        ("{}%".format, 1, "is read as"),
        ("{} kg".format, 1, "is read as"),
        (lambda value: f"{value:,}".replace(",", " "), 1, "is read as"),
        (lambda value: f"{value / 10:,.1f}", 0.1, "is read as"),
        (lambda value: f"{value / 100:,.2f}".translate({44: 46, 46: 44}), 0.01, "is read as"),
    ],
)
@pytest.mark.parametrize("column", ["a", "target"])
def test_signs_and_separators_are_dropped_and_noted(tmp_path, write, scale, note, column):
    load = write_columns(tmp_path / "a.csv", **{column: [write(value) for value in AMOUNTS]})
    table = load()
    found = table.y if column == "target" else table.X[:, 0]
    np.testing.assert_allclose(found.astype(float), AMOUNTS * scale)
    assert table.texts == []
    assert note.format(AMOUNTS[0]) in " ".join(table.notes)


@pytest.mark.parametrize(
    "write",
    [
        "P{}".format,  # an identifier
        lambda value: f"{value} {'kg' if value % 2 else 'lb'}",
        lambda value: f"{'$' if value % 2 else '€'}{value}",
        "{}/7".format,
    ],
)
def test_texts_that_hold_digits_are_no_numbers(tmp_path, write):
    load = write_columns(tmp_path / "a.csv", a=[write(value) for value in AMOUNTS])
    table = load()
    assert table.feature_names == ["x"]
    assert "'a' holds 60 different texts in 60 rows" in " ".join(table.notes)


def test_limits_count_as_their_numbers_and_other_texts_as_missing(tmp_path):
    values = [f"{value / 1e5:.2f}" for value in AMOUNTS]
    limited = ["<0.1", ">20", *values[2:]]
    load = write_columns(tmp_path / "a.csv", a=limited)
    table = load()
    np.testing.assert_allclose(table.X[:3, 0], [0.1, 20, float(values[2])])
    assert table.notes == [
        "a.csv: column 'a': limits are read as their numbers: '<0.1' in 1 row, '>20' in 1 row (3 % "
        "of all); --text a keeps them as categories."
    ]
    load = write_columns(tmp_path / "a.csv", a=["hemolyzed"] * 6 + values[6:])
    table = load()
    assert np.isnan(table.X[:, 0]).tolist() == [True] * 6 + [False] * 54
    assert "90 % are numbers; others: 'hemolyzed' (6), read as missing" in table.notes[0]
    table = load(texts=["a"])
    assert table.texts == []
    assert "'a' holds 55 different texts in 60 rows" in table.notes[0]


def test_half_a_column_of_numbers_is_named_with_its_share(tmp_path):
    values = [f"{value / 1e5:.2f}" for value in AMOUNTS]
    load = write_columns(tmp_path / "a.csv", a=[f"see note {k}" for k in range(30)] + values[30:])
    table = load()
    assert table.feature_names == ["x"]
    assert "50 % are numbers; others: 'see note 0' (1)" in table.notes[0]
    assert "--numeric a" in table.notes[0]
    table = load(numeric=["a"])
    assert np.isnan(table.X[:, 0]).sum() == 30


def test_few_levels_beside_numbers_stay_texts_and_are_named(tmp_path):
    load = write_columns(tmp_path / "a.csv", a=["1", "2", "3", "4", "5 or more"] * 12)
    table = load()
    assert table.texts == [0]
    assert "80 % are numbers; others: '5 or more' (12); --numeric a" in table.notes[0]


def test_a_target_of_numbers_and_others_is_refused_with_their_share(tmp_path):
    values = [f"{value / 1e5:.2f}" for value in AMOUNTS]
    limit, other = "limits: '<0.1' in 1 row", "98 % are numbers; others: 'lo"
    for first, told in (("<0.1", limit), ("lost", other)):
        load = write_columns(tmp_path / "a.csv", target=[first, *values[1:]])
        with pytest.raises(ValueError, match=f"must hold numbers or names.*{told}.*--numeric targ"):
            load()
    with pytest.raises(ValueError, match="has no value in line 2; --drop-missing-target"):
        load(numeric=["target"])
    assert len(load(numeric=["target"], drop_missing_target=True).y) == 59


def test_unknown_columns_are_named_at_once(tmp_path):
    load = write_columns(tmp_path / "a.csv", age=AMOUNTS)
    with pytest.raises(
        ValueError, match=r"no column 'Age' for --drop.* and no column 'ill' for --n"
    ):
        load(drop=["Age"], numeric=["ill"])


def test_free_texts_and_names_have_a_remedy(tmp_path):
    words = np.array(["good", "bad", "slow", "fast", "room", "food", "staff", "clean"])
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words, 6)) for _ in range(40)]
    load = write_columns(tmp_path / "a.csv", review=texts, name=[f"P{k}" for k in range(40)])
    review, name = load().notes
    assert "and is left out; to use free text, evaluate a pipeline that begins with Tfidf" in review
    assert name.endswith("and is left out; --id name names the rows by it.")


def test_an_infinite_value_has_a_remedy(tmp_path):
    load = write_columns(tmp_path / "a.csv", a=["inf", *map(str, range(59))])
    with pytest.raises(ValueError, match="line 2 is not; correct the value or leave it empty"):
        load()


def test_a_summary_says_what_to_do_about_an_error_that_must_not_be_quoted(tmp_path, capsys):
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(20), 4)
    X = np.repeat(rng.normal(size=(20, 4)), 4, axis=0) + 0.1 * rng.normal(size=(80, 4))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(patient=patient, target=patient % 2)
    frame["patient"] = [f"P{number}" for number in patient]
    frame.to_csv(tmp_path / "visits.csv", index=False)
    assert main(["evaluate", str(tmp_path / "visits.csv"), "--include", "holdout"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Do not quote this error" in text
    assert "! Identifier [identifier]: Pass it as groups (--groups patient, or groups= in" in text
