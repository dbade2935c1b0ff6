"""How often do the intervals of metrics by name, partial areas and disparities hold the truth?

Scores of the two classes are normal with a distance between their means, and the metrics at k take
the best tenth of the samples. Forecasts, limits and quantiles are those of standard normal or t5
errors. Prediction sets take the classes whose probability exceeds a level, and the true class is
drawn with these probabilities. Disparities are the largest difference of the rates of subgroups.
True values are formulas, or means over two million samples.

Coverage is among the intervals that are defined; too few samples outside their limits leave a
Winkler score without one.

    python benchmarks/coverage_named_metrics.py --sets 400
"""

import argparse
import csv
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from skeval.metrics import get_scorer, net_benefit
from skeval.model_selection import metric_interval

RESULTS = Path(__file__).parent / "results" / "coverage_named_metrics.csv"
FIELDS = "metric", "cell", "n", "true_value", "sets", "defined", "coverage", "median_width"
K, MAX_FPR, THRESHOLD = 0.1, 0.2, 0.3
MANY = 2_000_000
NORMAL, T5 = stats.norm(), stats.t(5)


def scores(share, shift, n):
    """Yield metrics of scores, their true values, and a draw of classes and scores."""
    cut = brentq(lambda t: share * norm.sf(t - shift) + (1 - share) * norm.sf(t) - K, -9, 9)
    recall = norm.sf(cut - shift)
    area = quad(lambda x: norm.sf(norm.isf(x) - shift), 0, MAX_FPR)[0]
    low = MAX_FPR**2 / 2
    truths = {
        "precision_at_k": recall * share / K,
        "recall_at_k": recall,
        "lift_at_k": recall / K,
        "ks_statistic": 2 * norm.cdf(shift / 2) - 1,
        "partial area": 0.5 + 0.5 * (area - low) / (MAX_FPR - low),
    }

    def draw(rng):
        y = rng.random(n) < share
        while not 2 <= y.sum() <= n - 2:
            y = rng.random(n) < share
        return y, rng.normal(size=n) + shift * y

    for name, truth in truths.items():
        metric = partial(roc_auc_score, max_fpr=MAX_FPR) if name == "partial area" else name
        yield name, f"share {share:g}, shift {shift:g}", n, truth, draw, metric


def forecasts(errors, name, n):
    """Yield metrics of forecasts: the errors have this distribution."""
    past = np.cumsum(np.random.default_rng(1).normal(size=60))
    naive = np.mean(np.abs(np.diff(past)))
    q, alpha = errors.ppf([0.1, 0.5, 0.9]), 0.2
    rng = np.random.default_rng(2)
    y, e = stats.norm(5).rvs(MANY, random_state=rng), errors.rvs(MANY, random_state=rng)
    level = np.array([0.1, 0.5, 0.9])
    miss = e[:, None] - q
    truths = {
        "smape": (np.mean(2 * np.abs(e) / (np.abs(y) + np.abs(y + e))), {}),
        "mase": (errors.expect(abs) / naive, {"y_train": past}),
        "mean_quantile_loss": (
            np.mean(np.maximum(level * miss, (level - 1) * miss)),
            {"quantiles": level},
        ),
        "winkler_loss": (
            q[2] - q[0] + 2 / alpha * 2 * errors.expect(lambda x: x - q[2], lb=q[2]),
            {"confidence_level": 1 - alpha},
        ),
        "interval_coverage": (1 - alpha, {}),
    }

    def draw(rng, of):
        y, e = stats.norm(5).rvs(n, random_state=rng), errors.rvs(n, random_state=rng)
        if of in ("smape", "mase"):
            return y, y + e
        if of == "mean_quantile_loss":
            return y + e, y[:, None] + q
        return y + e, y[:, None] + q[[0, 2]]

    for of, (truth, arguments) in truths.items():
        prefix = "" if of == "interval_coverage" else "neg_"
        metric = get_scorer(prefix + of, **arguments)
        yield of, f"{name} errors", n, truth, partial(draw, of=of), metric


def prediction_sets(level, n_classes, n):
    """Yield the metrics of sets of the classes whose probability exceeds the level."""

    def draw(rng, n=n):
        proba = rng.dirichlet(np.full(n_classes, 0.5), n)
        y = (proba.cumsum(axis=1) < rng.random(n)[:, None]).sum(axis=1).clip(0, n_classes - 1)
        return y, proba > level

    y, sets = draw(np.random.default_rng(3), MANY)
    truths = {"set_coverage": sets[np.arange(MANY), y].mean(), "mean_set_size": sets.sum(1).mean()}
    for name, truth in truths.items():
        scorer = get_scorer(("neg_" if "size" in name else "") + name, labels=range(n_classes))
        yield name, f"{n_classes} classes, level {level:g}", n, truth, draw, scorer


def recalls(shares, rates, n):
    """Yield the geometric mean of the recalls of classes with these shares."""
    shares, rates = np.array(shares), np.array(rates)

    def draw(rng):
        y = rng.choice(len(shares), n, p=shares)
        while len(np.unique(y)) < len(shares):
            y = rng.choice(len(shares), n, p=shares)
        other = (y + rng.integers(1, len(shares), n)) % len(shares)
        return y, np.where(rng.random(n) < rates[y], y, other)

    truth = float(np.exp(np.mean(np.log(rates))))
    yield "geometric_mean", f"shares {shares.tolist()}", n, truth, draw, "geometric_mean"


def benefits(share, shift, n):
    """Yield the standardized net benefit of the true probabilities of normal scores."""
    odds = THRESHOLD / (1 - THRESHOLD)

    def probability(score):
        return 1 / (1 + (1 - share) / share * norm.pdf(score) / norm.pdf(score - shift))

    cut = brentq(lambda t: probability(t) - THRESHOLD, -20, 20)
    truth = norm.sf(cut - shift) - odds * (1 - share) / share * norm.sf(cut)

    def measure(y, score):
        found = net_benefit(y, probability(score), thresholds=[THRESHOLD], standardize=True)
        return float(found.low[0]), float(found.high[0])

    def draw(rng):
        y = rng.random(n) < share
        while not y.any():
            y = rng.random(n) < share
        return y, rng.normal(size=n) + shift * y

    yield "standardized net benefit", f"share {share:g}, shift {shift:g}", n, truth, draw, measure


def disparities(rates, n):
    """Yield the largest difference of the fractions that subgroups of n samples are given."""
    by = np.repeat(np.arange(len(rates)), n)

    def draw(rng):
        called = rng.random(len(by)) < np.array(rates)[by]
        return np.ones(len(by), dtype=bool), called

    def measure(y, called):
        found = metric_interval("recall", y, called, by=by).largest_difference.interval
        return found.low, found.high

    truth = max(rates) - min(rates)
    yield "largest difference", f"rates {list(rates)}", len(by), truth, draw, measure


CELLS = [
    *(
        partial(scores, *cell)
        for cell in ((0.5, 1, 100), (0.1, 1, 100), (0.2, 2, 400), (0.05, 1, 1000))
    ),
    *(
        partial(forecasts, e, name, n)
        for e, name in ((NORMAL, "normal"), (T5, "t5"))
        for n in (150, 400)
    ),
    *(
        partial(prediction_sets, *cell)
        for cell in ((0.1, 3, 50), (0.1, 3, 400), (0.05, 10, 50), (0.05, 10, 400))
    ),
    *(
        partial(recalls, *cell, n)
        for cell in (((0.8, 0.2), (0.9, 0.7)), ((0.6, 0.3, 0.1), (0.8, 0.7, 0.6)))
        for n in (60, 300)
    ),
    *(
        partial(benefits, *cell)
        for cell in ((0.3, 1, 100), (0.1, 1.5, 100), (0.3, 1, 1000), (0.1, 1.5, 1000))
    ),
    *(partial(disparities, rates, n) for rates in ([0.3] * 4, [0.1, 0.1, 0.5]) for n in (40, 200)),
]


def cover(name, cell, n, truth, draw, metric, n_sets):
    """Return the row of a cell."""
    ends = []
    for number in range(n_sets):
        data = draw(np.random.default_rng([number, n]))
        if name in ("standardized net benefit", "largest difference"):
            ends.append(metric(*data))
        else:
            ends.append([*metric_interval(metric, *data).interval])
    low, high = np.array(ends).T
    known = np.isfinite(low)
    held = np.mean((low <= truth + 1e-12) & (truth <= high + 1e-12), where=known)
    width = np.median((high - low)[known])
    numbers = f"{truth:.4g}", n_sets, known.sum(), f"{held:.4g}", f"{width:.4g}"
    return dict(zip(FIELDS, (name, cell, n, *numbers), strict=True))


def main():
    """Make the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = [cover(*case, options.sets) for cell in CELLS for case in cell()]
    order = list(dict.fromkeys(row["metric"] for row in rows))
    rows.sort(key=lambda row: order.index(row["metric"]))
    with options.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
