"""Published tables beside what skeval gives for them: doc/reproduced.rst reads what this writes.

Each table has a short form of a few data sets, which a test runs, and a full one, whose rows are
benchmarks/results/reproduced_NAME.csv. A published number stands here only where it is printed in
the source that the page names; where a source makes a claim without a number, the claim stands.

    python -m benchmarks.reproduced demsar                    # the short form, printed
    python -m benchmarks.reproduced gap --full                # the full one, into its CSV file
    python -m benchmarks.reproduced colon --full --data DIR   # where colon.npz lies
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import expit, ndtr
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import RFE
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skeval.cluster import gap_statistic
from skeval.datasets import make_gaussian_classes
from skeval.feature_selection import selection_bias
from skeval.metrics import net_benefit
from skeval.model_selection import (
    bootstrap_error,
    compare_scores,
    cross_val_error,
    error_interval,
    metric_interval,
    perturbation_interval,
    resubstitution_error,
)

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))

from helpers import published_scores as data  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results"
LINEAR = SVC(kernel="linear")


class Row(NamedTuple):
    """A published number beside ours; `standard_error` is that of ours, by chance of the draws."""

    quantity: str
    published: str
    skeval: str
    difference: str
    standard_error: str
    reason: str


def compare(
    quantity: str,
    published: float | str,
    found: float,
    digits: int,
    reason: str = "",
    error: float = 0.0,
) -> Row:
    """Return a row of a number, or of a claim that has none."""
    number = not isinstance(published, str)
    return Row(
        quantity,
        f"{published:.{digits}f}" if number else str(published),
        f"{found:.{digits}f}",
        f"{round(found - float(published), digits) + 0.0:+.{digits}f}" if number else "",
        f"{error:.{digits + 1}f}" if error else "",
        reason,
    )


def rate(hits: np.ndarray) -> tuple[float, float]:
    """Return a share and its standard error, which is not 0 where all or none are hits."""
    n, k = len(hits), np.sum(hits)
    smooth = (k + 1) / (n + 2)
    return float(k / n), float(np.sqrt(smooth * (1 - smooth) / n))


def demsar(full: bool) -> Iterator[Row]:
    """Demsar (2006), tables 2, 5 and 6: four variants of C4.5 on 14 data sets."""
    areas = data.demsar_areas()
    ranks = compare_scores(areas, over="datasets", method="nemenyi", random_state=0)
    means = ranks.extra.mean_ranks
    for name, printed, mean in zip(areas, (3.143, 2.0, 2.893, 1.964), means, strict=True):
        yield compare(f"mean rank of {name}", printed, mean, 3)
    test = ranks.omnibus.details
    tied = "skeval's own F and P-value are those corrected for tied ranks, 4.19 and 0.012"
    yield compare("Friedman's chi-squared", 9.28, test["chi_squared_without_ties"], 2)
    yield compare("Iman and Davenport's F", 3.69, test["f_without_ties"], 2, tied)
    for level, printed in ((0.95, 1.25), (0.9, 1.12)):
        found = compare_scores(
            areas, over="datasets", method="nemenyi", confidence_level=level, random_state=0
        )
        label = f"Nemenyi's critical difference, level {1 - level:.2f}"
        yield compare(label, printed, found.extra.critical_difference, 2)
    error = np.sqrt(4 * 5 / (6 * 14))  # of a distance of mean ranks: sqrt(k (k + 1) / (6 N))
    for name, printed in {"C4.5+m+cf": 0.016, "C4.5+m": 0.019, "C4.5+cf": 0.607}.items():
        label = f"P of the mean ranks of C4.5 and {name}"
        z = abs(ranks.differences["C4.5", name].statistic) / error
        yield compare(label, printed, float(2 * ndtr(-z)), 3)
    signed = compare_scores(areas[["C4.5", "C4.5+m"]], over="datasets", random_state=0)
    yield compare(
        "Wilcoxon, C4.5 and C4.5+m: P",
        "below .05",
        signed.difference.pvalue,
        4,
        "two differences are 0: Demsar splits their ranks, skeval leaves them out, as Wilcoxon did",
    )


def ruspini(full: bool) -> Iterator[Row]:
    """R's clusGap on the Ruspini data, B = 60: the example of its help page."""
    found = gap_statistic(
        KMeans(n_init=10 if full else 4),
        data.RUSPINI,
        n_clusters=range(1, 6),
        metric="euclidean",
        n_references=200 if full else 12,
        random_state=0,
    )
    logs = found.details["log_dispersions"] - np.log(2)
    n_references = found.details["reference_log_dispersions"].shape[1]
    for k in range(4):
        reason = "R counts each pair once: our W is twice as large, and stands here halved"
        yield compare(f"log W of {k + 1} clusters", data.LOG_W[k], logs[k], 6, reason)
    for k in range(4):
        noise = found.standard_errors[k] / np.sqrt(n_references)
        theirs = data.SE[k] / np.sqrt(60)
        reason = f"PAM there, K-means here; standard error of R's, by its draws, {theirs:.4f}"
        yield compare(f"gap of {k + 1} clusters", data.GAP[k], found.values[k], 4, reason, noise)
    yield compare("number of clusters", 4, found.n_clusters, 0)


def gap(full: bool) -> Iterator[Row]:
    """Tibshirani, Walther and Hastie (2001), table 1: how often of 50 the number is right."""
    printed = {"a": (49, 50), "b": (49, 48), "c": (47, 42), "d": (50, 46), "e": (0, 50)}
    told = {
        "a": "one uniform cloud in 10 dimensions",
        "b": "three clusters in the plane",
        "c": "four clusters in 3 dimensions",
        "d": "four clusters in 10 dimensions",
        "e": "two long clusters",
    }
    n_sets, kmeans = 50 if full else 1, KMeans(n_init=2)
    for name, counts in printed.items():
        draw, _, truth = data.SCENARIOS[name]
        for reference, count in zip(("box", "uniform"), counts, strict=True):
            if not full and name not in "be":
                continue
            right = []
            for seed in range(n_sets):
                found = gap_statistic(
                    kmeans,
                    draw(np.random.default_rng(seed)),
                    n_clusters=range(1, 7 if full else 5),
                    reference=reference,
                    n_references=10 if full else 5,
                    random_state=seed,
                )
                right.append(found.n_clusters == truth)
            share, error = rate(np.array(right))
            label = f"({name}) {told[name]}, reference={reference!r}"
            yield compare(label, count / 50, share, 2, "", error)


def decisions(full: bool) -> Iterator[Row]:
    """What R's dcurves 1.1 tests itself against: net benefit of a marker of cancer."""
    y, proba = data.decision_patients()
    curve = net_benefit(y, proba, thresholds=list(data.DCURVES))
    for (threshold, row), value in zip(data.DCURVES.items(), curve.y, strict=True):
        yield compare(f"net benefit of the marker at {threshold:.2f}", row[2], value, 6)
    all_treated = net_benefit(y, proba, thresholds=list(data.TREAT_ALL)).columns["treat_all"]
    for (threshold, value), found in zip(data.TREAT_ALL.items(), all_treated, strict=True):
        yield compare(f"of treating all at {threshold:.2f}", value, found, 6)


def colon(full: bool) -> Iterator[Row]:
    """Guyon et al. (2002) and Ambroise and McLachlan (2002): genes chosen on all 62 tissues."""
    with np.load(DATA / "colon.npz") as file:
        X, y = np.log(file["X"]), file["y"]
    for axis in (1, 0):  # as they do: tissues, then genes; both without a look at the classes
        X = (X - X.mean(axis=axis, keepdims=True)) / X.std(axis=axis, keepdims=True)
    for n_genes in (4, 8, 64) if full else (8,):
        # as they do: to a power of two, then half of what is left
        sizes = [2**power for power in range(10, 1, -1) if 2**power >= n_genes]
        rounds = (RFE(LINEAR, n_features_to_select=size, step=X.shape[1]) for size in sizes)
        chosen = make_pipeline(*rounds)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # which says what the row says
            found = selection_bias(chosen, LINEAR, X, y, n_repeats=10, random_state=0)
        inside, outside = found.extra.cv1_error, found.extra.cv2_error
        claim = 0.02 if n_genes == 4 else "0 for a few genes"
        other = "not found again: how they prepared the data was not at hand"
        label = f"{n_genes} genes, chosen on all tissues: error"
        yield compare(label, claim, inside, 3, other if n_genes == 4 else "")
        yield compare(f"{n_genes} genes, chosen inside every fold: error", "not 0", outside, 3)
        low, high = found.interval.low, found.interval.high
        spread = f"95 % interval {low:.3f} to {high:.3f}"
        yield compare(f"{n_genes} genes: selection bias", "above 0", found.value, 3, spread)


def clusters(full: bool) -> Iterator[Row]:
    """Miller (2024), equation (4): clustered standard errors, of drawn answers."""
    rng = np.random.default_rng(0)
    for n_groups, size in ((600, 16), (1000, 3), (250, 10)):
        groups = np.repeat(np.arange(n_groups), size)
        skill = rng.normal(1.0, 1.0, n_groups)[groups]
        right = (rng.random(len(groups)) < expit(skill)).astype(int)
        n, rest = len(right), right - right.mean()
        sums = np.bincount(groups, weights=rest)
        naive = rest @ rest / n**2
        formula = np.sqrt(naive + (np.sum(sums**2) - rest @ rest) / n**2)
        truth, options = np.ones(n, dtype=int), {"method": "score"}
        alone = metric_interval(accuracy_score, truth, right, **options).standard_error
        found = metric_interval(accuracy_score, truth, right, groups=groups, **options)
        asked = f"{n} questions in {n_groups} groups"
        whole = "the formula has g where we have g - 1, of g groups"
        yield compare(f"{asked}: naive", float(np.sqrt(naive)), alone, 6)
        yield compare(f"{asked}: clustered", formula, found.standard_error, 6, whole)


def efron(full: bool) -> Iterator[Row]:
    """Efron and Tibshirani (1997): .632+ against leave-one-out, root mean squared errors."""
    designs = {
        "LDA, 20 x 2": (LinearDiscriminantAnalysis(), 20, 2, 1.0),
        "LDA, 20 x 5": (LinearDiscriminantAnalysis(), 20, 5, 1.0),
        "1-NN, 20 x 2": (KNeighborsClassifier(1), 20, 2, 1.0),
        "1-NN, 20 x 5": (KNeighborsClassifier(1), 20, 5, 1.0),
        "3-NN, 20 x 5": (KNeighborsClassifier(3), 20, 5, 1.0),
        "tree, 20 x 5": (DecisionTreeClassifier(random_state=0), 20, 5, 1.0),
        "LDA, 20 x 5, no difference": (LinearDiscriminantAnalysis(), 20, 5, 0.0),
        "1-NN, 20 x 5, no difference": (KNeighborsClassifier(1), 20, 5, 0.0),
    }
    n_sets = 200 if full else 6
    for number, (name, (rule, n, p, apart)) in enumerate(designs.items()):
        if not full and number > 1:
            return
        errors = np.empty((n_sets, 2))
        for seed in range(n_sets):
            rng = np.random.default_rng([number, seed])
            y = rng.permutation(np.arange(n) % 2)
            X, y_new = rng.normal(size=(n, p)), np.arange(4000) % 2
            X_new = rng.normal(size=(4000, p))
            for table, labels in ((X, y), (X_new, y_new)):
                table[:, 0] += apart * (labels - 0.5)
            truth = np.mean(clone(rule).fit(X, y).predict(X_new) != y_new)
            plus = bootstrap_error(rule, X, y, method=".632+", n_resamples=50, random_state=seed)
            loo = cross_val_error(rule, X, y, cv=LeaveOneOut())
            errors[seed] = plus.value - truth, loo.value - truth
        squares = errors**2
        ratio = np.sqrt(squares[:, 0].mean() / squares[:, 1].mean())
        rest = squares[:, 0] / squares[:, 0].mean() - squares[:, 1] / squares[:, 1].mean()
        noise = ratio * rest.std(ddof=1) / 2 / np.sqrt(n_sets)
        yield compare(name, "below 1 on the whole", ratio, 2, "", noise)


def jiang(full: bool) -> Iterator[Row]:
    """Jiang, Zhang and Cai (2008): intervals of a linear SVM around two errors, and ours."""
    n_sets = 100 if full else 2
    for n, p in ((200, 5), (100, 20), (100, 50))[: 3 if full else 1]:
        hits = np.empty((n_sets, 3), dtype=bool)
        for seed in range(n_sets):
            drawn = make_gaussian_classes(n, p, n_informative=5, separation=2.0, random_state=seed)
            rule = clone(LINEAR).fit(drawn.X, drawn.y)
            truth = drawn.true_error(rule.coef_, rule.intercept_)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # which says that it is too short
                found = [
                    perturbation_interval(
                        LINEAR,
                        drawn.X,
                        drawn.y,
                        n_resamples=100 if full else 20,
                        statistic=statistic,
                        interval="normal",
                        random_state=seed,
                    )
                    for statistic in ("resubstitution", "cross_validation")
                ]
            half = 1.96 * float(np.std(found[0].extra.statistics, ddof=1)) / np.sqrt(n)
            apparent = resubstitution_error(LINEAR, drawn.X, drawn.y).value
            centres = (apparent, found[0].value)
            hits[seed, :2] = [abs(truth - centre) <= half for centre in centres]
            hits[seed, 2] = found[1].interval.low <= truth <= found[1].interval.high
        texts = (
            ("around the training error", "not recommended", ""),
            ("around the cross-validated error", "recommended", "their theory is of few features"),
            ("statistic='cross_validation'", "(skeval's own)", ""),
        )
        for column, (name, claim, reason) in enumerate(texts):
            share, error = rate(hits[:, column])
            yield compare(f"{n} x {p}, {name}: coverage", claim, share, 2, reason, error)


def study(full: bool) -> Iterator[Row]:
    """Schulz-Kuempel, Fischer et al. (2024): coverage of the expected risk at 100 samples."""
    printed = {
        "nested_cv": (0.949, 0.958, 0.973),
        "corrected_t": (0.937, 0.937, 0.937),
        "cv_wald": (0.902, 0.902, 0.902),
    }
    learners = {
        "logistic, no penalty": LogisticRegression(C=np.inf),
        "logistic, ridge": LogisticRegression(),
        "tree": DecisionTreeClassifier(max_depth=5, random_state=0),
    }
    n_sets, methods = 100 if full else 2, list(printed) if full else ["cv_wald", "corrected_t"]
    for column, (name, learner) in enumerate(learners.items()):
        if not full and column != 1:
            continue
        risks, ends = np.empty(n_sets), np.empty((len(methods) + 1, n_sets, 2))
        for seed in range(n_sets):
            rng = np.random.default_rng([7, seed])
            X = rng.normal(size=(10_100, 20))
            y = (rng.random(len(X)) < expit(X[:, :5].sum(axis=1))).astype(int)
            risks[seed] = np.mean(clone(learner).fit(X[:100], y[:100]).predict(X[100:]) != y[100:])
            for place, method in enumerate([*methods, "repeated_cv"]):
                options = {"n_repeats": 10} if method == "corrected_t" else {}
                found = error_interval(
                    learner, X[:100], y[:100], method=method, random_state=seed, **options
                )
                ends[place, seed] = found.interval.low, found.interval.high
        for place, method in enumerate([*methods, "repeated_cv"]):
            hits = (ends[place, :, 0] <= risks.mean()) & (risks.mean() <= ends[place, :, 1])
            share, error = rate(hits)
            value = printed[method][column] if method in printed else "(skeval's default)"
            overall = method in ("corrected_t", "cv_wald")
            reason = "theirs is of all learners and sizes" if overall else ""
            yield compare(f"{name}, {method}: coverage", value, share, 3, reason, error)


TABLES: dict[str, Callable[[bool], Iterator[Row]]] = {
    each.__name__: each
    for each in (demsar, ruspini, gap, decisions, clusters, colon, efron, jiang, study)
}
DATA = Path(os.environ.get("SKEVAL_DATA", "/nowhere"))


def main() -> None:
    """Print the short form of a table, or write the full one."""
    global DATA
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=list(TABLES))
    parser.add_argument("--full", action="store_true", help="write the CSV file of the page")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of colon.npz")
    options = parser.parse_args()
    DATA = options.data
    rows = list(TABLES[options.name](options.full))
    for row in rows:
        print(*row, sep=" | ")
    if options.full:
        path = RESULTS / f"reproduced_{options.name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([Row._fields, *rows])


if __name__ == "__main__":
    main()
