"""``python -m skeval cluster``: what it prints, what it returns, one clear line for bad input."""

import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from helpers.outcomes import without_progress
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.preprocessing import StandardScaler

from skeval.__main__ import main
from skeval.report import evaluate_clusterer

QUICK = ["--quick", "--k", "2:3", "--repeats", "2"]


@pytest.fixture(scope="module")
def iris():
    return load_iris(as_frame=True).frame


@pytest.fixture(scope="module")
def bundled():
    """Return what one quick run prints, on both streams."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        assert main(["cluster", "iris", *QUICK]) == 0
    return out.getvalue(), err.getvalue()


def printed(capsys, *arguments):
    assert main(["cluster", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_labels_among_the_features_are_noted(iris, tmp_path, capsys):
    path, plain = tmp_path / "a.csv", iris.drop(columns="target")
    for kind in (iris["target"], iris["target"].map(str).radd("c")):
        plain.assign(species=kind).to_csv(path, index=False)
        assert "--target species compares" in printed(capsys, path, *QUICK)
        assert "compares labels" not in printed(capsys, path, *QUICK, "--target", "species")
    # no note on decimals, or if all features have few values
    for frame in (plain, iris[["target"]].assign(half=iris["target"] // 2)):
        frame.rename(columns={"target": "b"}).to_csv(path, index=False)
        assert "compares labels" not in printed(capsys, path, *QUICK)


def test_it_says_what_it_did(bundled):
    out, err = bundled
    first, second, _, *lines = out.splitlines()
    assert first == "iris: 150 samples, 4 features, 3 classes (0: 50, 1: 50, 2: 50)"
    assert second == "kmeans, features scaled to variance 1, seed 0"
    assert lines[0].startswith("2 clusters (P = 0.025 for structure); ")
    first = next(place for place, line in enumerate(lines) if line.split()[:1] == ["k"])
    assert [line.split()[0] for line in lines[first + 1 : first + 3]] == ["2", "3"]
    assert "Rand with" in out
    assert without_progress(err) == ""


def test_numbers_are_those_of_evaluate_clusterer(capsys, tmp_path, iris):
    path, page = tmp_path / "out.json", tmp_path / "out.html"
    files = ["--json", path, "--html", page]
    text = printed(capsys, "iris", "--seed", 7, *files, "--no-scale", *QUICK)
    report = evaluate_clusterer(
        KMeans(n_init=3),
        iris.drop(columns="target").to_numpy(),
        n_clusters=range(2, 4),
        labels_true=iris.target.to_numpy(),
        n_repeats=2,
        random_state=7,
    )
    assert str(report) in text
    assert path.read_text() == report.to_json() + "\n"
    procedure = "kmeans, unscaled features, seed 7"
    assert procedure in text
    line = shlex.join(["skeval", "cluster", "iris", "--seed", "7", *map(str, files), "--no-scale"])
    line = f"{line} {shlex.join(QUICK)}"
    assert page.read_text() == report.to_html(title=f"iris: {procedure}", command=line)


def test_a_page_counts_the_columns_of_the_table(tmp_path, capsys):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"])
    table["kind"] = rng.choice(["x", "y", "z"], 40)
    table.to_csv(tmp_path / "t.csv", index=False)
    printed(capsys, tmp_path / "t.csv", "--html", tmp_path / "t.html", *QUICK)
    assert "40 samples, 3 features" in (tmp_path / "t.html").read_text(encoding="utf-8")


def test_features_are_scaled_by_default(bundled, iris):
    X = StandardScaler().fit_transform(iris.drop(columns="target").to_numpy())
    options = {"n_clusters": range(2, 4), "n_repeats": 2, "random_state": 0}
    report = evaluate_clusterer(KMeans(n_init=3), X, labels_true=iris.target, **options)
    assert str(report) in bundled[0]


@pytest.mark.parametrize("algorithm", ["kmeans", "ward", "gmm"])
def test_every_algorithm_finds_three_clear_clusters(algorithm, tmp_path, capsys):
    X, _ = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    np.savez(tmp_path / "blobs.npz", X=X)
    options = ["--algorithm", algorithm, "--k", "2:3", "--repeats", "3"]
    text = printed(capsys, tmp_path / "blobs.npz", *options)
    assert "blobs.npz: 90 samples, 2 features, no labels\n" in text
    assert f"{algorithm}, features scaled" in text
    assert "3 clusters" in text
    assert re.search(r"1\.000 \(no variation\) +yes", text)
    assert "Rand with" not in text


def test_what_the_algorithm_warns_of_is_a_note(tmp_path, capsys):
    np.savez(tmp_path / "few.npz", X=np.repeat(np.eye(3), 10, axis=0))
    text = printed(capsys, tmp_path / "few.npz", "--k", "3:4", "--repeats", "3")
    assert "! Fewer clusters: the algorithm returned 3 clusters instead of 4. Ignore k = 4." in text
    assert "note: Number of distinct clusters (3) found smaller than --k (4)" in text


@pytest.mark.parametrize("n", [4, 8, 12])
def test_few_samples_are_one_cluster_and_errors_name_the_option(n, tmp_path, capsys):
    path = tmp_path / "few.npz"
    np.savez(path, X=np.random.default_rng(n).normal(size=(n, 2)))
    assert "vidence of clusters" in printed(capsys, path, "--repeats", "3")
    message = f"--k must lie between 2 and {n // 2}, half of the {n} samples"
    assert_one_line(["cluster", str(path), "--k", f"2:{n // 2 + 1}"], message, capsys)


RANGES = ["two", "2:", "1:4", "4:2"]
"""Ranges that do not ascend from 2 clusters."""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [*((["iris", "--k", k], f"such as 2:8, or one number, got {k!r}") for k in RANGES)],
)
def test_bad_input_is_one_line_and_status_2(arguments, message, capsys):
    assert_one_line(["cluster", *arguments], message, capsys)


def assert_one_line(arguments, message, capsys):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("skeval: error: ")
    assert message in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (
            {"X": np.where(np.eye(30) > 0, np.inf, 1.0)},
            "column 'x0' must be finite, got inf in row 1",
        ),
        (
            {"X": np.eye(30), "y": np.zeros(29, int)},
            "X of shape (30, 30) and y of type int64 and shape (29,)",
        ),
        ({"X": np.ones((30, 2))}, "partitions['k = 2']: labels must contain at least 2 clusters"),
        ({"X": np.eye(3)}, "Found array with 3 sample(s) (shape=(3, 3)) while a minimum of 4"),
        (
            {"data": np.eye(30)},
            "must contain a matrix X of numbers, and may contain a vector y of labels. It",
        ),
    ],
)
def test_bad_arrays(arrays, message, tmp_path, capsys):
    np.savez(tmp_path / "bad.npz", **arrays)
    assert_one_line(["cluster", str(tmp_path / "bad.npz")], message, capsys)


def test_a_file_of_one_row(tmp_path, capsys):
    pd.DataFrame({"a": [1], "b": [2]}).to_csv(tmp_path / "one.csv", index=False)
    message = "one.csv must contain at least two rows of data, got 1"
    assert_one_line(["cluster", str(tmp_path / "one.csv")], message, capsys)


@pytest.mark.parametrize("sorted_by", ["cluster", "time"])
def test_a_table_that_is_sorted_by_cluster_is_no_series(sorted_by, tmp_path, capsys):
    X, y = make_blobs(120, 4, centers=3, random_state=5)
    X = X[np.argsort(y, kind="stable")]
    if sorted_by == "time":
        X = np.cumsum(np.random.default_rng(0).normal(size=X.shape), axis=0)
    np.savez(tmp_path / "points.npz", X=X)
    text = printed(capsys, tmp_path / "points.npz", *QUICK)
    assert ("[time-order]" in text or "Time order" in text) == (sorted_by == "time")


def test_dates_are_advised_by_the_options_of_this_command(tmp_path, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)) + 6 * (np.arange(60) % 2)[:, None])
    days = pd.date_range("2024-01-01", periods=60).strftime("%Y-%m-%d")
    frame.add_prefix("x").assign(day=days).to_csv(tmp_path / "a.csv", index=False)
    assert main(["cluster", str(tmp_path / "a.csv"), *QUICK]) == 0
    printed = capsys.readouterr().out
    assert "--date-features" in printed
    assert "--time" not in printed
