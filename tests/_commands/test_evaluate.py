"""``python -m skeval evaluate``: what it prints, what it returns, one clear line for bad input."""

import json
import os
import re
import shlex
import subprocess
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
from helpers.outcomes import without_progress
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import skeval
from skeval.__main__ import main, make_parser

PARTS = ["holdout", "bootstrap", "permutation", "selection"]
LEAST = ["--full", "--cv", "2", "--include", "cross_validation"]
QUICK = [*LEAST[:-1], ",".join(PARTS), "--permutations", "5"]


def test_numbers_are_those_of_evaluate(capsys, tmp_path):
    path, page = tmp_path / "out.json", tmp_path / "out.html"
    files = ["--json", str(path), "--html", str(page)]
    words = ["evaluate", "wine", "--seed", "7", "--confidence-level", "90%", *files, *QUICK]
    status = main(words)
    X, y = load_wine(return_X_y=True)
    names = load_wine().feature_names
    report = skeval.evaluate(
        make_pipeline(StandardScaler(), SVC(kernel="linear")),
        X,
        y,
        cv=2,
        include=PARTS,
        n_permutations=5,
        confidence_level=0.9,
        feature_names=names,
        random_state=7,
    )
    assert status == 0
    assert report.to_text(full=True) in capsys.readouterr().out
    assert json.loads(path.read_text()) == report.to_dict()
    line = shlex.join(["skeval", *words])
    assert page.read_text() == report.to_html(title="wine: linear-svm, seed 7", command=line)
    assert line in page.read_text()


@pytest.fixture
def small_forests(monkeypatch):
    small = partial(RandomForestClassifier, 3)
    monkeypatch.setattr("sklearn.ensemble.RandomForestClassifier", small)


CLASSIFIERS = ["linear-svm", "rbf-svm", "logistic", "lda", "knn", "forest"]


def test_a_wrong_estimator_is_told_which_there_are(capsys):
    assert main(["evaluate", "wine", "--estimator", "no-such"]) == 2
    (names,) = re.findall("--estimator must be one of (.*), or module", capsys.readouterr().err)
    assert set(names.split(", ")) == set(CLASSIFIERS)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_estimator_with_selection_inside(name, capsys, tmp_path, small_forests):
    path = tmp_path / "out.json"
    words = ["--estimator", name, "--select", "4", "--json", str(path)]
    assert main(["evaluate", "wine", *words, *QUICK]) == 0
    printed = capsys.readouterr().out
    assert f"{name} on the 4 best features, seed 0" in printed
    assert "of 5 runs of the whole procedure on shuffled labels" in printed
    bias = json.loads(path.read_text())["selection_bias"]
    claimed, honest = (f"{100 * bias[key]:.1f} %" for key in ("cv1_error", "cv2_error"))
    assert f"within the folds (CV2), the error is {honest}." in printed
    assert f"on all samples (CV1), it would have been {claimed}" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.csv"], "'absent.csv' does not exist. Bundled data are"),
        (["iris", "--cv", "99"], "--cv 99 folds need a class with at least 99 samples"),
        (["iris", "--target", "x"], "iris has no column 'x' for --target. Its columns are"),
        (
            ["iris", "--scoring", "f1"],
            "Its variants are f1_macro, f1_micro, f1_samples, f1_weighted.",
        ),
        (
            ["iris", "--html", "iris.pdf"],
            "--html must name a file that ends in .html, got 'iris.pdf'",
        ),
        (["iris", "--json", "no/such/out.json"], "--json: the folder 'no/such' does not exist"),
        (["iris", "--html", "no/such/out.html"], "--html: the folder 'no/such' does not exist"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments, message, capsys):
    assert main(["evaluate", *arguments, "--quick"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("skeval: error: ")
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_debug_keeps_the_traceback():
    with pytest.raises(ValueError, match="cannot be computed for this target"):
        main(["evaluate", "iris", "--scoring", "f1", "--debug"])


def test_measurements_are_predicted_as_numbers(tmp_path, capsys):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "r.npz", X=rng.normal(size=(30, 2)), y=rng.normal(size=30))
    assert main(["evaluate", str(tmp_path / "r.npz"), *LEAST]) == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("r.npz: 30 samples, 2 features, target from -")
    assert second == "ridge, seed 0"
    words = ["evaluate", str(tmp_path / "r.npz"), "--task", "classes"]
    assert main(words) == 2
    assert "must contain classes, got the number" in capsys.readouterr().err


def test_a_missing_extra_is_told_before_the_work(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setattr("skeval.report.evaluate", None)
    assert main(["evaluate", "iris", "--html", str(tmp_path / "out.html")]) == 2
    message = "skeval: error: an HTML report needs jinja2: pip install matplotlib jinja2 pandas\n"
    assert capsys.readouterr().err == message


def test_a_file_without_a_header(tmp_path, capsys):
    X, y = load_iris(return_X_y=True)
    np.savetxt(tmp_path / "bare.csv", np.column_stack([X, y]), delimiter=",", fmt="%.1f")
    assert main(["evaluate", str(tmp_path / "bare.csv"), "--target", "x4"]) == 2
    assert "so it may be data instead of column names" in capsys.readouterr().err
    words = [str(tmp_path / "bare.csv"), "--no-header", "--target", "x4"]
    assert main(["evaluate", *words, *LEAST]) == 0
    expected = "bare.csv: 150 samples, 4 features, 3 classes (0: 50, 1: 50, 2: 50)"
    assert capsys.readouterr().out.startswith(expected)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (["--json", "."], "--json: '.' cannot be written."),
        (["--json", "out", "--html", "out"], "--html must differ from --json, got out."),
        (["--json", "data.csv"], "--json must differ from the data, got data.csv."),
        (["--html", "link.csv"], "--html must differ from the data, got link.csv."),
    ],
)
def test_outputs_are_tried_before_the_work(files, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("skeval.report.evaluate", None)
    load_iris(as_frame=True).frame.to_csv("data.csv", index=False)
    (tmp_path / "link.csv").symlink_to("data.csv")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert main(["evaluate", "data.csv", *files]) == 2
    assert message in capsys.readouterr().err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_process_whose_terminal_cannot_show_every_name(tmp_path):
    frame = load_iris(as_frame=True).frame
    names = np.array(["été", "a\nb", "c"])[frame.target]
    path = os.fsencode(tmp_path) + b"/a b\xff.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        frame.assign(target=names).to_csv(file, index=False)
    result = subprocess.run(
        [sys.executable, "-m", "skeval", "evaluate", path, "--json", tmp_path / "ü.json", *LEAST],
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )
    assert result.returncode == 0
    told = result.stderr.decode()
    head = ": 150 samples, 4 features; linear-svm, seed 0"
    assert told.splitlines()[0].endswith(head)
    assert without_progress(told) == ""
    first = result.stdout.splitlines()[0]
    assert first.startswith(
        rb"a b\udcff.csv: 150 samples, 4 features, 3 classes ('a\nb': 50, c: 50"
    )
    assert rb"\xe9t\xe9: 50" in first
    assert (tmp_path / "ü.json").is_file()


def write_walks(path, n=120, form="{:%Y-%m-%d}"):
    """Write random walks, mixed, with their dates; return the rows in order of time."""
    rng = np.random.default_rng(0)
    walks = np.cumsum(rng.normal(size=(n, 3)), axis=0)
    y = np.where(np.arange(n) // 10 % 2, "up", "down")
    frame = pd.DataFrame(walks, columns=list("abc")).assign(target=y)
    frame.insert(0, "date", [form.format(day) for day in pd.date_range("2023-01-25", periods=n)])
    frame.sample(frac=1, random_state=0).to_csv(path, index=False)
    return frame


@pytest.mark.parametrize("form", ["{:%Y-%m-%d}", "{:%d.%m.%Y %H:%M}", "{:%m/%d/%Y}", "{:%j}"])
def test_time_sorts_and_tests_what_comes_later(tmp_path, capsys, form):
    frame = write_walks(tmp_path / "walks.csv", form=form)
    path, out = str(tmp_path / "walks.csv"), tmp_path / "out.json"
    words = ["evaluate", path, "--time", "date", "--cv", "4", "--estimator", "knn"]
    assert main([*words, "--json", str(out)]) == 0
    capsys.readouterr()
    found = json.loads(out.read_text())
    report = skeval.evaluate(
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        frame[list("abc")].to_numpy(),
        frame["target"],
        cv=TimeSeriesSplit(4),
        random_state=0,
    )
    assert found["answer"]["value"] == report.answer.value
    assert "ordered" in [each["code"] for each in found["warnings"]]


def test_dates_are_left_out_by_name_and_told_in_the_first_warning(tmp_path, capsys):
    write_walks(tmp_path / "walks.csv").to_csv(tmp_path / "walks.csv", index=False)
    page = tmp_path / "page.html"
    main(["evaluate", str(tmp_path / "walks.csv"), *LEAST, "--html", str(page)])
    text = capsys.readouterr().out
    assert "is left out. To use it, pass --time date to predict later rows" in text
    assert "--date-features to convert dates to numbers." in text
    assert "('date' rises)" in text
    assert "to predict later rows from earlier ones" in page.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--time", "a b"], "no column 'a b' for --time"),
        (["--time", "name"], "time must have a number, or a date"),
        (["--time", "gap"], "'gap' of --time has no value in row 3"),
        (["--time", "us"], "dates with a clear order of day and month"),
        (["--time", "x", "--cv", "29"], "got class 0 only in one"),
    ],
)
def test_times_that_order_nothing_are_refused(tmp_path, capsys, words, message):
    n = 30
    columns = {
        "name": [f"n{k}" for k in range(n)],
        "gap": ["" if k == 2 else str(k) for k in range(n)],
        "us": [f"{k % 12 + 1}/{(k + 3) % 12 + 1}/2024" for k in range(n)],
        "x": np.arange(n) * 0.1,
        "z": np.arange(n) % 7,
        "target": np.arange(n) // 5 % 2,
    }
    pd.DataFrame(columns).to_csv(tmp_path / "t.csv", index=False)
    assert main(["evaluate", str(tmp_path / "t.csv"), *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["--budget", "0.001"]])
def test_whole_numbers_are_numbers_on_demand_and_a_short_limit_is_told(capsys, tmp_path, words):
    path = tmp_path / "counts.csv"
    rows = [f"{k % 7},{k * k % 11},{k % 4}" for k in range(40)]
    path.write_text("\n".join(["a,b,target", *rows]))
    assert main(["evaluate", str(path), "--task", "numbers", "--cv", "2", "--full", *words]) == 0
    printed = capsys.readouterr()
    first = printed.out.splitlines()[0]
    assert first == "counts.csv: 40 samples, 2 features, target from 0 to 3"
    assert ("fit, more than the time limit allows" in printed.out) == bool(words)


def test_predictions_in_a_file_are_evaluated(tmp_path, capsys):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    p = 1 / (1 + np.exp(-rng.normal(2 * y - 1)))
    frame = pd.DataFrame({"y": np.array(["no", "yes"])[y], "p": p, "patient": np.arange(80) // 2})
    frame["label"], frame["yes"], frame["no"] = np.where(p > 0.5, "yes", "no"), p, 1 - p
    frame.to_csv(tmp_path / "p.csv", index=False)
    words = ["evaluate", str(tmp_path / "p.csv"), "--target", "y"]
    found = str(tmp_path / "p.json")

    def run(*more):
        assert main([*words, "--json", found, *more]) == 0
        return capsys.readouterr().out, json.loads((tmp_path / "p.json").read_text())

    text, one = run("--groups", "patient", "--predictions", "p")
    assert text.startswith("p.csv: 80 samples, 1 prediction, 40 groups, 2 classes (no: ")
    assert one["answer"]["value"] == pytest.approx(np.mean((p - y) ** 2))
    assert run("--predictions", "no", "yes")[1]["answer"]["value"] == one["answer"]["value"]
    errors = np.mean((p > 0.5) != y)
    assert run("--predictions", "label")[1]["answer"]["value"] == pytest.approx(errors)
    assert main([*words, "--predictions", "p", "--cv", "5"]) == 2
    assert "--cv must not be used" in capsys.readouterr().err
    assert main([*words, "--predictions", "q"]) == 2
    assert "no column 'q'" in capsys.readouterr().err
    assert main([*words, "--predictions", "y"]) == 2
    assert "--target and --predictions both name 'y'" in capsys.readouterr().err
    for column in ("p", "label"):
        gaps = frame.assign(**{column: frame[column].astype(object).where(frame.index != 3, None)})
        gaps.to_csv(tmp_path / "p.csv", index=False)
        assert main([*words, "--predictions", column]) == 2
        assert f"{column!r} of --predictions has no value in row 4" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["evaluate", "cluster"])
def test_the_examples_of_the_help_run(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    told = capsys.readouterr().out
    lines = [line.split() for line in told.splitlines() if line.startswith("    skeval ")]
    assert len(lines) >= 4
    for _, *words in lines:
        assert make_parser().parse_args(words).run
        if "iris" in words and "my_module:make_model" not in words:
            few = ["--k", "2:3", "--repeats", "2"] if words[0] == "cluster" else []
            assert main([*words, "--quick", *few]) == 0
    assert capsys.readouterr().err.count("error") == 0


def test_help_names_the_parts_that_there_are(capsys):
    with pytest.raises(SystemExit):
        main(["evaluate", "--help"])
    (said,) = re.findall(r"comma-separated list of ([\w,\s]+)", capsys.readouterr().out)
    with pytest.raises(ValueError, match="include must") as refused:
        skeval.evaluate(SVC(), [[0.0], [1.0]] * 9, [0, 1] * 9, include=["none"])
    parts = re.findall(r"'(\w+)'", str(refused.value).partition(" some of ")[2])[:-1]
    assert set(re.findall(r"\w+", said)) == set(parts) - {"resubstitution", "cross_validation"}


@pytest.fixture
def answers(tmp_path):
    """Return a file of the probabilities of two systems, with the truth and a site."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 90)
    shares = {name: 1 / (1 + np.exp(rng.normal(2 * y - 1))) for name in ("ours", "theirs")}
    frame = pd.DataFrame({**shares, "truth": np.where(y, "ill", "well")})
    frame["site"] = np.where(np.arange(90) % 3, "A", "B")
    frame["called"] = (frame["ours"] < 0.5).astype(int)
    frame.to_csv(tmp_path / "answers.csv", index=False)
    return frame, ["--full", str(tmp_path / "answers.csv"), "--target", "truth", "--predictions"]


@pytest.mark.parametrize("words", [["breast_cancer"], ["digits", "--estimator", "lda"]])
def test_a_summary_has_fifteen_lines_of_a_hundred_columns(words, capsys):
    assert main(["evaluate", *words, "--quick"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 15
    assert max(map(len, lines)) <= 100
    assert main(["evaluate", *words, "--quick", "--full"]) == 0
    full = " ".join(capsys.readouterr().out.split())
    told = " ".join(" ".join(lines[3:5]).split())
    assert told in full
    table = next(k for k, line in enumerate(lines) if line.startswith("accuracy"))
    assert all(" ".join(line.split()) in full for line in lines[table:-2])


def test_a_summary_has_what_was_asked_for(answers, capsys):
    _, words = answers
    words = [*words[1:], "ours", "theirs", "--by", "site"]
    assert main(["evaluate", *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines if line[:2] in ("A ", "B ")] == [
        [site, size, name] for site, size in (("A", "60"), ("B", "30")) for name in words[4:6]
    ]
    assert main(["evaluate", "wine", "--cv", "2", "--scoring", "f1_weighted"]) == 0
    assert "f1_weighted" in capsys.readouterr().out


def test_the_positive_class_is_named(answers, capsys):
    frame, words = answers
    assert main(["evaluate", *words, "ours", "--pos-label", "ill"]) == 0
    report = skeval.evaluate_predictions(
        frame["truth"].to_numpy(), frame["ours"].to_numpy(), pos_label="ill", random_state=0
    )
    assert report.verdict in capsys.readouterr().out
    assert main(["evaluate", *words, "called", "--pos-label", "ill"]) == 0
    assert "Error rate" in capsys.readouterr().out
    assert main(["evaluate", *words, "called"]) == 2
    assert "--pos-label must be passed" in capsys.readouterr().err
    assert main(["evaluate", *words, "ours", "--pos-label", "sick"]) == 2
    assert "--pos-label must be one of the classes" in capsys.readouterr().err
    for label in ("ill", "well"):
        assert main(["evaluate", *words[1:4], *LEAST, "--pos-label", label]) == 0
        assert f'average precision (class "{label}")' in capsys.readouterr().out


def test_subgroups_may_be_the_groups_or_a_dropped_column(answers, capsys):
    _, words = answers
    for more in (["--groups", "site"], ["--drop", "site"]):
        assert main(["evaluate", *words, "ours", "--by", "site", *more]) == 0
        assert "minus the rest" in capsys.readouterr().out


@pytest.fixture
def doses(tmp_path):
    """Table of numbers with an identifier, a forecast, and one row that is far off."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    y[7] += 5
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(target=y, forecast=X[:, 0])
    frame.insert(0, "patient", [f"P{number:03d}" for number in range(60)])
    path = tmp_path / "doses.csv"
    frame.to_csv(path, index=False)
    return str(path)


@pytest.mark.parametrize("predictions", [[], ["--predictions", "forecast"]])
def test_samples_have_their_ids(doses, predictions, capsys, tmp_path):
    page = tmp_path / "doses.html"
    words = ["evaluate", doses, "--full", *predictions]
    assert main([*words, "--id", "patient", "--html", str(page)]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^P007 +3\.78 ", printed, re.MULTILINE)
    assert "P007" in page.read_text()
    assert main([*words, "--drop", "patient"]) == 0
    assert re.search(r"^8 +3\.78 ", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize("predictions", [["p"], ["q"], ["p", "q"], []])
def test_misclassified_samples_are_named_by_their_row_of_the_file(predictions, tmp_path):
    rng = np.random.default_rng(0)
    y, p, q = rng.integers(0, 2, 90), rng.random(90).round(3), rng.random(90).round(3)
    frame = pd.DataFrame({"p": p, "q": q, "target": y}).astype({"target": object})
    frame.loc[[3, 40], "target"] = None
    frame.loc[[10, 70]] = None  # empty rows
    frame.insert(0, "name", [f"s{k}" if y else "" for k, y in enumerate(frame.p > 0)])
    path, record = tmp_path / "a.csv", tmp_path / "a.json"
    frame.to_csv(path, index=False)
    words = ["evaluate", str(path), "--drop-missing-target", "--json", str(record)]
    words += ["--predictions", *predictions] if predictions else ["--cv", "3", *LEAST]
    for more, names in ([], [str(k + 1) for k in range(90)]), (["--id", "name"], frame.name):
        assert main([*words, *more]) == 0
        found = json.loads(record.read_text())
        for part in found.get("reports", {"": found}).values():
            assert part["hard_samples"]
            for sample in part["hard_samples"]:
                row = sample["sample"] - 1  # with the target that the file has there
                assert sample["truth"] == str(frame.target[row])
                assert sample["name"] == names[row]


def test_many_subgroups_are_all_printed(doses, capsys, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.read_csv(doses).assign(age=rng.permutation(np.arange(20, 80)))
    frame.to_csv(tmp_path / "ages.csv", index=False)
    words = ["evaluate", str(tmp_path / "ages.csv"), "--drop", "patient", "--quick", "--by", "age"]
    assert main(words) == 0
    printed = capsys.readouterr().out
    listed = [int(cell) for cell in re.findall(r"^(\d+) +1 ", printed, re.MULTILINE)]  # not 20.0
    assert listed == list(range(20, 80))
    assert "No subgroup has enough samples to be compared with the rest." in printed
    assert "'age', which has 60 different numbers" in printed
    frame.assign(age=(frame.age - 20) // 3).to_csv(tmp_path / "ages.csv", index=False)
    assert main(words) == 0  # at most 20 values are listed without a note
    assert "different numbers" not in capsys.readouterr().out


def test_columns_of_predictions_that_cannot_be_meant_are_refused_with_a_remedy(tmp_path, capsys):
    rng, path = np.random.default_rng(0), str(tmp_path / "a.csv")
    shares = rng.dirichlet([1, 1, 1], 60).round(6)
    frame = pd.DataFrame(shares, columns=["cat", "dog", "Frog"])
    frame["target"] = rng.choice(["cat", "dog", "frog"], 60)
    frame["ill"] = rng.integers(0, 2, 60)
    frame["p"], frame["called"] = rng.random(60), rng.integers(0, 2, 60)
    frame["prediction"], frame["true"] = rng.normal(size=(2, 60))
    frame.to_csv(path, index=False)

    def explain(*words):
        assert main(["evaluate", path, *words]) == 2
        return capsys.readouterr().err

    # a column with another case, one that is missing, and all of them
    assert "'frog' (did you mean 'Frog'?)" in explain("--predictions", "cat", "dog", "Frog")
    assert "none for 'frog'. " in explain("--predictions", "cat", "dog")
    frame.rename(columns={"Frog": "frog"}).to_csv(path, index=False)
    assert main(["evaluate", path, "--predictions", "cat", "dog", "frog"]) == 0
    # a row is that of the file
    broken = frame.rename(columns={"Frog": "frog"})
    broken.loc[41, ["cat", "dog", "frog"]] = 0.1
    broken.loc[7] = None
    broken.to_csv(path, index=False)
    assert "row 42 has [0.1, 0.1, 0.1]" in explain("--predictions", "cat", "dog", "frog")
    frame.to_csv(path, index=False)
    # predictions of two kinds, and the target in their place
    said = explain("--target", "ill", "--predictions", "p", "called")
    assert "kind=" not in said
    assert "columns of one kind" in said
    said = explain("--predictions", "p", "--task", "numbers")
    assert f"--task numbers needs a numeric target, got {frame['target'][0]!r}. Leave it" in said
    said = explain("--target", "prediction", "--predictions", "true")
    assert "'prediction'" in said
    assert "swapped" in said
    assert main(["evaluate", path, "--target", "true", "--predictions", "prediction"]) == 0


def test_a_threshold_in_percent_is_a_fraction(tmp_path, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"p": rng.random(60)}).assign(target=rng.integers(0, 2, 60))
    frame.to_csv(tmp_path / "p.csv", index=False)
    values = []
    for threshold in ("30%", "0.3", "sensitivity=90%", "sensitivity=0.9"):
        out = tmp_path / "out.json"
        words = ["evaluate", str(tmp_path / "p.csv"), "--predictions", "p", "--json", str(out)]
        assert main([*words, "--threshold", threshold]) == 0
        values.append(json.loads(out.read_text())["at_threshold"])
    capsys.readouterr()
    assert values[0] == values[1] != values[2] == values[3]


@pytest.mark.parametrize("threshold", ["high", "sensitivity=2", "lift=0.3"])
def test_a_threshold_that_cannot_be_read_is_one_line(tmp_path, capsys, threshold):
    frame = pd.DataFrame({"p": np.linspace(0, 1, 40), "target": np.arange(40) % 2})
    frame.to_csv(tmp_path / "p.csv", index=False)
    words = ["evaluate", str(tmp_path / "p.csv"), "--predictions", "p"]
    assert main([*words, "--threshold", threshold]) == 2
    error = without_progress(capsys.readouterr().err)
    assert "--threshold must be a number, 'youden', or sensitivity=0.9" in error
    assert f"got {threshold!r}" in error
    assert error.count("\n") == 1


def write_visits(folder, **columns):
    """Write probabilities of 40 patients with three visits each. Return the words."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    base = {"patient no": [f"P{k // 3}" for k in range(120)], "target": y}
    base["p"] = (1 / (1 + np.exp(-rng.normal(2 * y - 1)))).round(3)
    pd.DataFrame(base | columns).to_csv(folder / "visits.csv", index=False)
    return ["evaluate", str(folder / "visits.csv"), "--predictions", "p"]


@pytest.mark.parametrize(
    ("name", "more", "advised"),
    [
        ("patient_id", [], True),
        ("Patient", [], True),
        ("visit", [], False),
        ("visit", ["--id", "visit"], True),
        ("patient id", ["--groups", "patient id"], False),
        ("patient id", ["--by", "patient id"], False),
    ],
)
def test_repeated_patients_of_predictions_are_advised_as_groups(
    tmp_path, capsys, name, more, advised
):
    words = write_visits(tmp_path)
    frame = pd.read_csv(words[1]).rename(columns={"patient no": name})
    frame.to_csv(words[1], index=False)
    assert main([*words, *more]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert (f"Pass --groups {shlex.quote(name)}." in printed) == advised
    # a name of each row is no group, nor is one of all rows
    for values in ([f"P{k}" for k in range(120)], ["P"] * 120):
        frame.assign(**{name: values}).to_csv(words[1], index=False)
        assert main([*words, *more][: 4 + 2 * ("--id" in more)]) == 0
        assert "Pass --groups" not in capsys.readouterr().out


def test_advice_quotes_names_with_spaces(tmp_path, capsys):
    path, rng = str(tmp_path / "a.csv"), np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    frame = pd.DataFrame(X, columns=["a b", "c", "d"]).assign(target=X[:, 0] > 0)
    frame["patient no"] = [f"P{k // 3}" for k in range(120)]
    frame.to_csv(path, index=False)
    assert main(["evaluate", path, *LEAST[1:], "--estimator", "lda"]) == 0
    assert "--groups 'patient no'" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        (lambda p: f"{100 * p:.1f} %", ["%", "without units", "70 % as 0.7"]),
        (lambda p: f"{p:.3f}".replace(".", ","), ["0,", "--decimal ,"]),
    ],
)
def test_written_probabilities_are_shown_with_a_way_to_read_them(tmp_path, capsys, written, parts):
    words = write_visits(tmp_path)
    values = pd.read_csv(words[1])["p"].map(written)
    assert values.nunique() > 60
    words = write_visits(tmp_path, p=values)
    assert main(words) == 2
    error = capsys.readouterr().err
    assert any(value in error for value in values)
    assert "identifies" not in error
    assert [part for part in parts[1:] if part not in error] == []
    if "--decimal" in parts[1]:
        assert main([*words, "--decimal", ","]) == 0


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["--estimator", "logistic"], ["ridge", "a classifier"]),
        (["--target", "c", "--estimator", "ridge"], ["linear-svm", "a regressor"]),
        (["--target", "c", "--scoring", "roc_auc"], ["Pass roc_auc_ovr"]),
        (["--target", "same"], ["'same'", "'x' in all 30 rows", "--target COLUMN"]),
        (["--predictions", "p", "--target", "b", "--threshold", "90"], ["did you mean 0.9?"]),
    ],
)
def test_mistakes_have_a_remedy(tmp_path, capsys, words, parts):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"target": rng.normal(size=30), "p": rng.random(30), "same": "x"})
    frame["c"], frame["b"] = ["u", "v", "w"] * 10, ["u", "v"] * 15
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert main(["evaluate", str(tmp_path / "a.csv"), "--quick", *words]) == 2
    error = capsys.readouterr().err
    assert [part for part in parts if part not in error] == []


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_an_empty_file_is_called_empty(tmp_path, capsys, text):
    (tmp_path / "a.csv").write_text(text)
    assert main(["evaluate", str(tmp_path / "a.csv")]) == 2
    assert "a.csv is empty" in capsys.readouterr().err


@pytest.mark.parametrize("classes", [False, True])
def test_a_table_of_genes_in_rows_is_recognized(tmp_path, capsys, classes):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 12)), columns=[f"s{k}" for k in range(12)])
    frame.insert(0, "gene", [f"G{k}" for k in range(200)])
    if classes:
        frame = frame.astype(object)
        frame.loc[200] = ["cancer", *["ill", "well"] * 6]
    for known in (False, True):
        # a name that repeats, or another text, is a column of a table of samples
        own = {"gene": ["G1"] * len(frame)} if known else {}
        frame.assign(**own).to_csv(tmp_path / "a.csv", index=False)
        assert main(["evaluate", str(tmp_path / "a.csv"), "--target", "cancer"]) == 2
        assert ("transpose the file" in capsys.readouterr().err) == (not known)


def test_the_line_above_the_progress_fits_a_terminal(tmp_path, capsys):
    frame = draw_table_with_gaps()
    frame.to_csv(tmp_path / "a_file_with_a_name_of_some_length.csv", index=False)
    assert main(["evaluate", str(tmp_path / "a_file_with_a_name_of_some_length.csv"), *LEAST]) == 0
    error = capsys.readouterr().err
    assert error.startswith("skeval: a_file")
    assert "seed 0" in error
    assert max(map(len, error.splitlines())) <= 80


def draw_table_with_gaps():
    """Return two columns of numbers with gaps, one of texts, and the target."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["height", "blood pressure"])
    frame.loc[::7, "height"] = frame.loc[::5, "blood pressure"] = np.nan
    return frame.assign(city=["Rome", "Oslo"] * 30, target=rng.integers(0, 2, 60))


def test_no_line_ends_within_an_interval():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 90)
    report = skeval.evaluate_predictions(y, 1 / (1 + np.exp(rng.normal(1 - 2 * y))))
    lines = [line for width in range(50, 100) for line in report.to_text(width=width).splitlines()]
    assert not [line for line in lines if re.search(r"(\(95 % CI|CI -?[\d.]+( to)?)$", line)]


def test_an_estimator_that_is_missing_is_reported_before_the_table(tmp_path, capsys):
    words = ["evaluate", str(tmp_path / "missing.csv"), "--estimator", "no_such_module:make"]
    assert main(words) == 2
    assert "no_such_module" in capsys.readouterr().err


def test_a_summary_says_where_the_parts_of_include_are(capsys):
    for words in ([], ["--include", "holdout"]):
        assert main(["evaluate", "iris", "--budget", "2", *words]) == 0
        assert ("--include" in capsys.readouterr().out) == bool(words)
