"""The simulated coverage that a report states, and the cases that were not simulated."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import skeval
from skeval._resampling.sampling_units import SamplingUnits, UnitKind
from skeval.model_selection import error_interval
from skeval.report._coverage import (
    MEASURED,
    MEASURED_CERTAIN,
    MEASURED_GROUPS,
    MEASURED_HEAVY,
    MEASURED_NUMBERS,
    MEASURED_RARE,
    MEASURED_SHARES,
    write_coverage,
)
from skeval.report._model_checks import COVERAGE_UNDETERMINED

NEAREST = KNeighborsClassifier(1)
FEW = {"n_bootstraps": 2, "n_permutations": 0, "random_state": 0}


def draw_rare(n=300, n_cases=12, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 3)), np.where(np.arange(n) < n_cases, "case", "none")
    X[y == "case", 0] += 1.5
    return X, y


SIZES = {"a": 30, "b": 30}


def change(answer, **options):
    """Return an answer with other fields, of itself or of its `extra`."""
    extra = {
        name: options.pop(name) for name in {"degrees_of_freedom", "parameters"} & options.keys()
    }
    return replace(answer, **options, extra=replace(answer.extra, **extra))


@pytest.fixture(scope="module")
def near_answer():
    return error_interval(NEAREST, *draw_rare(60, 30), random_state=0)


@pytest.mark.parametrize(
    ("options", "sizes", "words"),
    [
        ({}, SIZES, "In simulations with two classes and 50 samples, nominal"),
        ({"n_samples": 400}, SIZES, "In simulations with two classes and 500 samples, nominal"),
        ({}, {"a": 50, "b": 10}, "In simulations with two classes, one with 10 % of the samples,"),
        ({"n_samples": 300}, {"a": 290, "b": 10}, "two classes, one with 3 % of 200"),
        ({"n_samples": 300}, {"a": 292, "b": 8}, "for a class with less than 3 % of the samples."),
        ({"n_samples": 4000}, SIZES, "In simulations with two classes and 5000 samples, nominal"),
        ({"n_samples": 10001}, SIZES, "Coverage has not been simulated with more samples"),
        ({"loss": "squared", "degrees_of_freedom": 30.0}, None, "In simulations with 50 to 5,000"),
        ({"loss": "squared", "degrees_of_freedom": 5.0}, None, "(Student's t with 3 degrees"),
        ({"loss": "absolute", "degrees_of_freedom": 5.0}, None, "In simulations with 50 to 5,000"),
        ({"loss": "absolute", "degrees_of_freedom": 2.0}, None, "for errors with such heavy tails"),
        (
            {"loss": "brier", "n_samples": 1001},
            SIZES,
            "Coverage has not been simulated with more samples",
        ),
        (
            {"loss": "brier"},
            SIZES,
            "In simulations with two classes and 50 to 1,000 samples, nominal",
        ),
        ({"loss": "log_loss"}, {"a": 58, "b": 2}, "a class with less than 10 %"),
        ({"loss": "own"}, None, "has not been simulated for the own loss."),
        ({"n_samples": 49}, SIZES, "for fewer than 50 samples."),
        ({"confidence_level": 0.8}, SIZES, "for 80 % intervals."),
        ({}, {"a": 58, "b": 2}, "for a class with less than 10 % of the samples."),
        ({}, {"a": 20, "b": 20, "c": 20}, "for 3 classes."),
        (
            {"n_groups": 5},
            SIZES,
            "In simulations with two classes, a linear model and 5 to 50 groups",
        ),
        ({"n_groups": 4}, SIZES, "for groups."),
        ({"n_groups": 30}, {"a": 52, "b": 8}, "for groups."),
        ({"n_groups": 30, "loss": "brier"}, SIZES, "for groups."),
        ({"method": "given_folds"}, SIZES, "for user-defined folds."),
        ({"parameters": {"n_folds": 5, "n_repeats": 10}}, SIZES, "for designs other than 10-fold"),
    ],
)
def test_what_was_not_measured_is_not_promised(near_answer, options, sizes, words):
    _, y = draw_rare(60, 30)
    answer = change(near_answer, **options)
    cases = SamplingUnits(np.arange(len(y)), np.asarray(y))
    _, told = write_coverage(answer, sizes, cases, weighted=False)
    assert words in told
    assert ("nominal 95 % intervals" in told) == told.startswith("In simulations")
    assert "sample weights" in write_coverage(answer, sizes, cases, weighted=True)[1]


@pytest.mark.parametrize(
    ("options", "sizes", "words"),
    [
        ({}, SIZES, "In simulations with 100 to 2,000 samples"),
        ({"n_samples": 3000}, SIZES, "Coverage has not been simulated with more samples"),
        ({"loss": "squared"}, None, "In simulations with 100 to 2,000 samples"),
        ({"loss": "log_loss"}, SIZES, "for the log loss."),
        ({"n_samples": 99}, SIZES, "for fewer than 100 samples."),
        ({"confidence_level": 0.8}, SIZES, "for 80 % intervals."),
        ({}, {"a": 50, "b": 3}, "for a class with less than 10 % of the samples."),
        ({}, {"a": 20, "b": 20, "c": 20}, "for 3 classes."),
    ],
)
def test_in_time_order_what_was_not_measured_is_not_promised(near_answer, options, sizes, words):
    level = options.get("confidence_level", 0.95)
    loss = options.get("loss", "zero_one")
    answer = replace(near_answer, method="given_folds", loss=loss, confidence_level=level)
    n = options.get("n_samples", 200)
    cases = SamplingUnits(
        np.arange(n) // 20, np.zeros(-(-n // 20)), -(-n // 20), UnitKind.TIME_BLOCK
    )
    told = write_coverage(answer, sizes, cases, weighted=False)[1]
    assert words in told
    assert ("nominal 95 % intervals" in told) == told.startswith("In simulations")
    assert "sample weights" in write_coverage(answer, sizes, cases, weighted=True)[1]


def test_what_is_said_of_coverage_is_what_the_benchmark_has():
    path = Path(__file__).parents[2] / "benchmarks" / "results" / "inflation.csv"
    with path.open(newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if (row["folds"], row["repeats"], row["rule"]) == ("10", "10", "chosen")
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
        model: " ".join(skeval.evaluate(model, X, y, loss="log_loss", **few)._basis)
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
        assert "targets with only a few values far from the mean" in rare._basis[1]
    else:
        assert rare._basis == [rare.answer.details["caution"]]
        assert "few samples carry most of it" in rare.verdict
    plain = skeval.evaluate(KNeighborsRegressor(5), *draw_steps(80, 0, slope=3.0), random_state=0)
    assert "large errors rarer than 1 in 26 samples" in plain._basis[1]
