"""The simulated coverage that a report states, and the cases that were not simulated."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import skeval
from skeval.report._sentences import (
    MEASURED,
    MEASURED_CERTAIN,
    MEASURED_GROUPS,
    MEASURED_HEAVY,
    MEASURED_NUMBERS,
    MEASURED_RARE,
    MEASURED_SHARES,
)
from skeval.report._warnings import COVERAGE_UNDETERMINED

NEAREST = KNeighborsClassifier(1)
FEW = {"n_bootstraps": 2, "n_permutations": 0, "random_state": 0}


def draw_rare(n=300, n_cases=12, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 3)), np.where(np.arange(n) < n_cases, "case", "none")
    X[y == "case", 0] += 1.5
    return X, y


def test_what_is_said_of_coverage_is_what_the_benchmark_has():
    path = Path(__file__).parents[2] / "benchmarks" / "results" / "inflation.csv"
    with path.open(newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if (row["folds"], row["repeats"], row["rule"]) == ("10", "5", "chosen")
            and row["population"] != "chen 10 null"  # whose truth cannot be found
            and not row["population"].startswith("rare step")  # of which nothing is promised
        ]

    def ends(loss, chosen):
        held = [float(row["coverage"]) for row in rows if row["loss"] == loss and chosen(row)]
        return round(100 * min(held)), round(100 * max(held))

    def undetermined(row):
        return (row["population"], row["learner"]) == ("blocks regression", "linear")

    for n, told in MEASURED.items():
        assert ends("zero_one", lambda row, n=n: int(row["n"]) == n) == told
    for share, population in ((0.1, "gaussian 1:9"), (1 / 31, "gaussian 1:30")):
        found = ends("zero_one", lambda row, p=population: row["population"] == p)
        assert found == next(told for least, _, told in MEASURED_RARE if share >= least)
    tails = {"heavy tails", "lognormal"}
    assert ends("squared", lambda row: row["population"] in tails) == MEASURED_HEAVY
    for loss, told in MEASURED_NUMBERS.items():
        heavy = tails if loss == "squared" else set()
        found = ends(
            loss, lambda row, h=heavy: row["population"] not in h and not undetermined(row)
        )
        assert found == told
    assert [ends(x, undetermined)[0] for x in ("absolute", "squared")] == list(
        COVERAGE_UNDETERMINED
    )
    for loss, told in MEASURED_SHARES.items():
        every = loss == "brier"
        assert ends(loss, lambda row, e=every: e or "neighbour" not in row["learner"]) == told
    assert ends("log_loss", lambda row: "neighbour" in row["learner"]) == MEASURED_CERTAIN
    with path.with_name("coverage_groups.csv").open(newline="") as file:
        held = [
            float(row["coverage"])
            for row in csv.DictReader(file)
            if row["statistic"].startswith("error_interval")
        ]
    assert (round(100 * min(held)), round(100 * max(held))) == MEASURED_GROUPS


def test_log_loss_of_certain_probabilities_is_not_trusted():
    X, y = draw_rare(60, 30)
    few = FEW | {"include": "holdout"}
    sentences = {
        model: str(skeval.evaluate(model, X, y, loss="log_loss", **few))
        for model in (KNeighborsClassifier(3), LinearDiscriminantAnalysis())
    }
    certain, smooth = sentences.values()
    assert "models that, as here, predict some probabilities of 0" in certain
    assert "probabilities of 0" not in smooth
    assert "nominal 95 % intervals" in smooth


def draw_steps(n, n_high, slope=0.0):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    high = X[:, 0] > np.sort(X[:, 0])[-n_high - 1]
    return X, 30.0 * high + slope * X[:, 1] + rng.normal(size=n)


def test_coverage_is_not_promised_where_few_samples_carry_the_target():
    rare = skeval.evaluate(KNeighborsRegressor(3), *draw_steps(80, 3), random_state=0)
    if np.isfinite(rare.answer.interval.low):
        assert "targets with only a few values far from the mean" in str(rare)
    else:
        assert rare.answer.details["caution"] in str(rare)
        assert "few samples carry most of it" in rare.verdict
    plain = skeval.evaluate(KNeighborsRegressor(5), *draw_steps(80, 0, slope=3.0), random_state=0)
    assert "large errors rarer than 1 in 26 samples" in str(plain)
