"""How often do the intervals of calibration and of tuning hold what they are meant to hold?

Three parts, each a CSV with a row for each cell, at a nominal 0.95:

- "bins": the intervals of `reliability_curve`, summed over all outcomes of a bin;
- "error": the interval of `expected_calibration_error` by simulation, against the true distance of
  the scores that were drawn, and against that of unlimited scores in the same bins;
- "tuning": the interval of `tuning_optimism` by simulation, against the mean optimism of the cell.

    python benchmarks/coverage_calibration.py --part bins error tuning
"""

import argparse
import csv
import warnings
from pathlib import Path

import numpy as np
from scipy.special import expit, logit
from scipy.stats import binom, norm
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

from skeval._inference.intervals import exact_interval, wilson_interval
from skeval.metrics import expected_calibration_error
from skeval.metrics._calibration import bin_events
from skeval.metrics._curves import CurveSample
from skeval.model_selection import tuning_bias, tuning_optimism

RESULTS = Path(__file__).parent / "results"
RATES, SIZES = (0.5, 0.1, 0.02), (50, 200)
# What a model says where the true probability is q, of which r is the mean.
MODELS = {
    "calibrated": lambda q, r: q,
    "overconfident": lambda q, r: expit(2 * logit(q) - logit(r)),
    "too low": lambda q, r: q / 2,
    "too high": lambda q, r: np.minimum(1, 1.5 * q + 0.02),
    "flat": lambda q, r: r + 0.2 * (q - r),
}
BINS = [("quantile", 10), ("quantile", 5), ("uniform", 10)]


def bins(_):
    """Yield the coverage of each interval in a bin whose samples have one probability."""
    for rate in RATES:
        for size in (5, 10, 20, 40):
            events = np.arange(size + 1)
            for name, interval in (
                ("clopper_pearson", exact_interval),
                ("wilson", wilson_interval),
            ):
                low, high = np.array([interval(k, size, 0.95) for k in events]).T
                covers = (low <= rate) & (rate <= high)
                mass = binom.pmf(events, size, rate)
                row = {"rate": rate, "samples_of_bin": size, "method": name}
                yield row | {"coverage": mass @ covers, "width": mass @ (high - low)}


def draw(rate, n, rng):
    """Return true probabilities with a mean."""
    return np.clip(rng.beta(4 * rate, 4 * (1 - rate), n), 1e-9, 1 - 1e-9)


def distance(q, p, edges):
    """Return the true mean distance of probabilities in bins."""
    place = np.searchsorted(edges, p)
    size = np.bincount(place, minlength=len(edges) + 1)
    gaps = np.bincount(place, q - p, minlength=len(edges) + 1)
    return np.abs(gaps).sum() / size.sum()


def error(n_sets):
    """Yield what the interval of the calibration error does in each cell."""
    for rate in RATES:
        many = draw(rate, 5_000, np.random.default_rng(0))
        for n in SIZES:
            for model, says in MODELS.items():
                for strategy, n_bins in BINS:
                    rng, seen = np.random.default_rng(1), []
                    for _ in range(n_sets):
                        q = draw(rate, n, rng)
                        p, y = says(q, rate), rng.random(n) < q
                        options = {"n_bins": n_bins, "strategy": strategy}
                        found = expected_calibration_error(y, p, **options)
                        events = CurveSample(y, p, np.ones(n), None, 0.95)
                        edges = bin_events(events, n_bins, strategy).edges[:-1, 1]
                        truth = distance(q, p, edges)
                        unlimited = distance(many, says(many, rate), edges)
                        low, high = found.interval.low - 1e-12, found.interval.high
                        seen.append(
                            {
                                "coverage": low <= truth <= high,
                                "coverage_unlimited": low <= unlimited <= high,
                                "truth": truth,
                                "error": found.value,
                                "corrected": found.details["corrected"],
                                "by_chance": found.details["by_chance"],
                                "width": high - low,
                            }
                        )
                    cell = {"rate": rate, "n": n, "model": model, "bins": f"{strategy} {n_bins}"}
                    yield cell | {name: np.mean([row[name] for row in seen]) for name in seen[0]}


def tuning(n_sets):
    """Yield what the interval of the optimism of tuning does in each cell."""
    grid = {"n_neighbors": [1, 3, 7, 17]}
    search = GridSearchCV(KNeighborsClassifier(algorithm="brute"), grid, cv=3)
    for rate in RATES:
        for n in SIZES:
            results, biases = [], []
            for seed in range(n_sets):
                rng = np.random.default_rng(seed)
                y = np.repeat([0, 1], n // 2)
                X = rng.normal(size=(n, 3))
                X[:, 0] += 2 * norm.isf(rate) * y
                results.append(tuning_optimism(search, X, y, random_state=seed))
                biases.append(tuning_bias(search.fit(X, y).cv_results_))
            optimism = np.array([r.value for r in results])
            truth = optimism.mean()
            low, high = np.array([(r.interval.low, r.interval.high) for r in results]).T
            made = np.isfinite(low)
            yield {
                "rate": rate,
                "n": n,
                "optimism": truth,
                "tuning_bias": np.mean(biases),
                "spread": optimism.std(),
                "coverage": np.mean((low <= truth) & (truth <= high)),
                "coverage_where_made": np.mean(((low <= truth) & (truth <= high))[made]),
                "undefined": np.mean(~made),
                "width": np.mean((high - low)[made]),
            }


PARTS = {"bins": (bins, 0), "error": (error, 250), "tuning": (tuning, 80)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--n-sets", type=int, default=None)
    options = parser.parse_args()
    for part in options.part:
        cells, n_sets = PARTS[part]
        path = RESULTS / f"coverage_calibration_{part}.csv"
        with path.open("w", newline="") as file, threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            writer = None
            for row in cells(options.n_sets or n_sets):
                row = {name: f"{v:.4g}" if isinstance(v, float) else v for name, v in row.items()}
                if writer is None:
                    writer = csv.DictWriter(file, row)
                    writer.writeheader()
                writer.writerow(row)
                file.flush()


if __name__ == "__main__":
    main()
