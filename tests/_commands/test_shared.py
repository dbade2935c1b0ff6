"""Tables as people have them, on the command line."""

import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
from helpers.outcomes import without_progress
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import skeval
from skeval.__main__ import main

PARTS = ["holdout", "bootstrap", "permutation", "selection"]
LEAST = ["--full", "--cv", "2", "--include", "cross_validation"]
QUICK = [*LEAST[:-1], ",".join(PARTS), "--permutations", "5"]


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
    draw_people().to_csv(path, index=False, sep=";")
    return str(path)


def test_numbers_are_those_of_a_pipeline_that_prepares_within_the_folds(people, capsys):
    draw_people().to_csv(people, index=False, sep=";", decimal=",", encoding="latin-1")
    words = ["--target", "Survived", "--id", "No", "--drop", "Family", "--decimal", ","]
    assert main(["evaluate", people, *words, *QUICK]) == 0
    captured = capsys.readouterr()
    frame = draw_people()
    X = frame[["Sex", "Age", "Port"]].fillna({"Port": "missing"}).set_axis(frame["No"])
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
        n_permutations=5,
        feature_names=["Sex", "Age", "Port"],
        random_state=0,
    )
    assert report.to_text(full=True) in captured.out
    assert without_progress(captured.err) == ""
    first, second, *_ = captured.out.splitlines()
    assert first == "people.csv: 80 samples, 3 features, 2 classes (no: 41, yes: 39)"
    assert second == (
        "linear-svm, medians for missing values (Age) and one-hot encoding of text (Sex, Port), "
        "fitted in each fold, seed 0"
    )
    assert "note: column 'Name' contains 80 different strings in 80 rows" in captured.out
    roles = "target: 'Survived'; id: 'No'; numbers: 'Age'; categories: 'Sex', 'Port'; left out: "
    assert f"note: columns: {roles}'Family', 'Name'" in captured.out


def test_selection_names_the_columns_that_it_chose_from(people, capsys, tmp_path):
    page, chosen = tmp_path / "page.html", [*LEAST[:-1], "selection"]
    words = ["--target", "Survived", "--drop", "No", "--drop", "Name", "--drop", "Family"]
    assert main(["evaluate", people, *words, "--select", "3", "--html", str(page), *chosen]) == 0
    assert f"written to {page}" in capsys.readouterr().out
    assert "Sex_f" in page.read_text()
    assert main(["evaluate", people, *words, "--select", "7", *LEAST]) == 2
    assert (
        "--select must be at most 6, the number of features, with one for each text, got 7"
        in capsys.readouterr().err
    )


def test_groups_stay_together(people, capsys):
    assert main(["evaluate", people, "--target", "Survived", "--groups", "Famly"]) == 2
    assert "'Famly' for --groups (did you mean 'Family'?)" in capsys.readouterr().err
    words = ["--target", "Survived", "--drop", "Name", "--groups", "Family"]
    assert main(["evaluate", people, *words, *LEAST]) == 0
    assert "people.csv: 80 samples, 4 features, 40 groups, 2 classes" in capsys.readouterr().out
    assert main(["evaluate", "iris", "--groups", "x"]) == 2
    assert "iris has no column 'x' for --groups. Its columns" in capsys.readouterr().err


def test_whole_numbers_by_the_score_are_predicted_as_numbers(tmp_path, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "price": rng.integers(0, 500, 60)})
    frame.to_csv(tmp_path / "p.csv", index=False)
    words = ["evaluate", str(tmp_path / "p.csv"), "--target", "price", *LEAST]
    assert main([*words, "--estimator", "knn", "--scoring", "explained_variance"]) == 0
    printed = capsys.readouterr().out
    assert "distinct whole numbers and is treated as numeric. --task classes" in printed
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
    assert "significantly from the rest" in " ".join(capsys.readouterr().out.split())
    assert main([*words, "--by", "nowhere"]) == 2
    assert "no column 'nowhere' for --by. Its columns are 'a', 'b'" in capsys.readouterr().err


def test_an_estimator_of_ones_own(tmp_path, capsys, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "from sklearn.linear_model import LogisticRegression\n"
        "def make():\n    return LogisticRegression(C=0.1)\n"
        "model = make()\nnothing = 3\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    X, y = load_iris(return_X_y=True)
    names = load_iris().feature_names
    options = {"cv": 2, "include": ["cross_validation"]}
    report = skeval.evaluate(
        LogisticRegression(C=0.1), X, y, feature_names=names, random_state=0, **options
    )
    for path in ("mine:make", "mine:model"):
        assert main(["evaluate", "iris", "--estimator", path, *LEAST]) == 0
        assert report.to_text(full=True) in capsys.readouterr().out
    for path, message in {
        "mine:absent": "cannot be imported: module 'mine' has no attribute 'absent'",
        "absent_module:x": "cannot be imported: No module named 'absent_module'",
        "mine:nothing": "--estimator must have the methods",
        "tree": "--estimator must be one of linear-svm, rbf-svm",
    }.items():
        assert main(["evaluate", "iris", "--estimator", path]) == 2
        assert message in capsys.readouterr().err


def test_clusters_of_a_messy_table(people, capsys):
    words = ["--target", "Survived", "--drop", "No", "--k", "2:3", "--quick"]
    assert main(["cluster", people, *words]) == 0
    second = capsys.readouterr().out.splitlines()[1]
    assert second.startswith("kmeans, features scaled to variance 1, medians for missing values")


def test_a_stop_is_one_line_that_says_how_to_go_on(capsys, monkeypatch, tmp_path):
    def stop(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("skeval.report.evaluate", stop)
    assert main(["evaluate", "iris", *QUICK]) == 130
    error = capsys.readouterr().err
    assert error.startswith("\nskeval: interrupted; there is nothing to report yet; with --memory ")
    assert main(["evaluate", "iris", "--memory", str(tmp_path), *QUICK]) == 130
    assert "the same command again continues where it stopped" in capsys.readouterr().err


def test_a_summary_says_what_to_do_about_an_error_that_must_not_be_quoted(tmp_path, capsys):
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(20), 4)
    X = np.repeat(rng.normal(size=(20, 4)), 4, axis=0) + 0.1 * rng.normal(size=(80, 4))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(patient=patient, target=patient % 2)
    frame["patient"] = [f"P{number}" for number in patient]
    frame.to_csv(tmp_path / "visits.csv", index=False)
    command = ["evaluate", str(tmp_path / "visits.csv"), "--include", "holdout"]
    assert main([*command, "--markdown", str(tmp_path / "visits.md")]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Do not report this error" in text
    page = (tmp_path / "visits.md").read_text(encoding="utf-8")
    assert page.startswith("# ")
    assert "| metric on new samples | estimate | 95 % CI |" in page
    # a check that is ignored
    again = ["--ignore", "identifier", "--ignore", "copies", "--json", str(tmp_path / "a.json")]
    assert main([*command, *again]) == 0
    assert "[identifier]" not in capsys.readouterr().out
    checks = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["checks"]
    outcomes = {check["code"]: check["outcome"] for check in checks}
    assert outcomes["identifier"] == outcomes["copies"] == "ignored"
    assert main([*command, "--ignore", "identifer"]) == 2
    assert "did you mean" in capsys.readouterr().err
    (warning,) = [part for part in text.split("! ") if part.startswith("Identifier [")]
    fact, _, advice = warning.partition(": ")[2].partition(". ")
    assert fact in page.replace("\\", "")
    assert advice.startswith("Pass 'patient' as groups (--groups patient, or groups= in")


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("--scoring acuracy", ["--scoring must", "'accuracy'"]),
        ("--scoring r2", ["--scoring 'r2' needs"]),
        ("--scoring neg_brier_score", ["--scoring 'neg_brier_score'", "--estimator logistic"]),
        ("--include permutaton", ["--include must", "'permutation'"]),
        ("--include loo", ["'leave_one_out'"]),
        ("--cv 70", ["--cv 70 folds", "--include leave_one_out"]),
        ("--time Sex", ["--time must"]),
        ("--ignore copy", ["--ignore must", "'copies'"]),
        ("--target Name", ["--target names 'Name', which identifies the rows", "'Survived'"]),
        ("--drop Age,Sex", ["--drop Age --drop Sex"]),
        ("--predictions Age,Sex", ["--predictions Age Sex"]),
        ("--sep ,", ["--sep ';'"]),
        ("--encoding utf9", ["utf-8"]),
    ],
)
def test_errors_name_options_and_not_arguments(people, capsys, words, parts):
    words = words.split() if "--target" in words else ["--target", "Survived", *words.split()]
    assert main(["evaluate", people, *words]) == 2
    error = capsys.readouterr().err
    assert [part for part in parts if part not in error] == []
    assert not re.search(r"get_scorer_names|LeaveOneOut|y_true|pos_label|\w=|\bNone\b", error)
    assert without_progress(error).count("\n") == 1


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("logistc", "logistic"),
        ("LogisticRegression", "logistic"),
        ("sklearn.svm.SVC", "sklearn.svm:SVC"),
        ("svm", "linear-svm"),
        ("randomforest", "forest"),
        ("tree", None),
    ],
)
def test_an_estimator_that_is_meant_is_named(people, capsys, name, meant):
    assert main(["evaluate", people, "--target", "Survived", "--estimator", name]) == 2
    error = capsys.readouterr().err
    assert (f"(did you mean {meant!r}?)" in error) == (meant is not None)
    assert ("did you mean" in error) == (meant is not None)


@pytest.mark.parametrize("predictions", [False, True])
def test_the_methods_paragraph_is_on_the_pages_and_printed_on_request(
    people, capsys, tmp_path, predictions
):
    frame = draw_people().assign(p=np.linspace(0, 1, 80))
    frame.to_csv(people, index=False, sep=";")
    words = ["--predictions", "p"] if predictions else ["--drop", "p", *LEAST[1:]]
    words += ["--html", str(tmp_path / "a.html"), "--markdown", str(tmp_path / "a.md")]
    for more in ([], ["--methods"]):
        assert main(["evaluate", people, "--target", "Survived", *words, *more]) == 0
        texts = [capsys.readouterr().out, (tmp_path / "a.html").read_text()]
        texts.append((tmp_path / "a.md").read_text())
        counts = [" ".join(text.split()).count("Computed with skeval") for text in texts]
        assert counts == [len(more), 1, 1]
