"""Tables as people have them, on the command line."""

import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
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
QUICK = ["--bootstraps", "5", "--cv", "3", "--permutations", "5", "--include", ",".join(PARTS)]


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
        cv=3,
        include=PARTS,
        n_bootstraps=5,
        n_permutations=5,
        feature_names=["Sex", "Age", "Port"],
        random_state=0,
    )
    assert str(report) in captured.out
    assert captured.err == ""
    first, second, *_ = captured.out.splitlines()
    assert first == "people.csv: 80 samples, 3 features, 2 classes (no: 41, yes: 39)"
    assert second == (
        "linear-svm, medians for missing numbers (Age) and a column for each text (Sex, Port) "
        "within every fold, seed 0"
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
    words = ["--target", "Survived", "--drop", "Name", "--groups", "Family"]
    assert main(["evaluate", people, *words, *QUICK]) == 0
    assert "people.csv: 80 samples, 4 features, 40 groups, 2 classes" in capsys.readouterr().out
    assert main(["evaluate", "iris", "--groups", "x"]) == 2
    assert "iris has no column 'x' for --drop, --id, --groups and --time" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--target", "survived"],
            "no column 'survived' for --target; .* you mean 'Survived'",
        ),
        (["--target", "Survived", "--drop", "name"], "did you mean 'Name'"),
        (["--target", "Survived", "--groups", "Familie"], "did you mean 'Family'"),
        (["--target", "Survived", "--task", "numbers"], "it holds 'no'|it holds 'yes'"),
        (["--target", "Age"], "the target column 'Age' has no value in line 2"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(people, words, message, capsys):
    assert main(["evaluate", people, *words, *QUICK]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert re.search(message, captured.err)


def test_a_sorted_number_of_the_rows_is_suspected(people, capsys):
    assert main(["evaluate", people, "--target", "Survived", "--drop", "Name", *QUICK]) == 0
    assert "Feature 'No' counts the samples" in capsys.readouterr().out


def test_whole_numbers_by_the_score_are_predicted_as_numbers(tmp_path, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "price": rng.integers(0, 500, 60)})
    frame.to_csv(tmp_path / "p.csv", index=False)
    words = ["evaluate", str(tmp_path / "p.csv"), "--target", "price", *QUICK]
    assert main([*words, "--estimator", "knn", "--scoring", "explained_variance"]) == 0
    printed = capsys.readouterr().out
    assert "distinct whole numbers, which are predicted as numbers; --task classes" in printed
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
    words = ["evaluate", str(tmp_path / "t.csv"), "--estimator", "lda", *QUICK]
    assert main([*words, "--by", "site", "--json", str(tmp_path / "t.json")]) == 0
    found = json.loads((tmp_path / "t.json").read_text())["subgroups"]
    assert set(found) == {"missing", "north", "south"}
    assert sum(row["n_samples"] for row in found.values()) == 60
    assert "The largest difference is that of" in capsys.readouterr().out
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
    options = {"cv": 3, "include": PARTS, "n_bootstraps": 5, "n_permutations": 5}
    report = skeval.evaluate(
        LogisticRegression(C=0.1), X, y, feature_names=names, random_state=0, **options
    )
    for path in ("mine:make", "mine:model"):
        assert main(["evaluate", "iris", "--estimator", path, *QUICK]) == 0
        assert str(report) in capsys.readouterr().out
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
    assert second.startswith("kmeans, features scaled to variance 1, medians for missing numbers")


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
    expected = "\nskeval: stopped; with --memory FOLDER a run goes on where it stopped.\n"
    assert capsys.readouterr().err == expected
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


def test_a_misspelt_file_is_named_whatever_is_asked_of_it(capsys):
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
