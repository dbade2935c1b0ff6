"""Coverage of predictive values, accuracy and net benefit at another prevalence.

At a fixed threshold the coverage is exact: all pairs of numbers of correctly classified samples
in the two classes are enumerated, and the lowest and the mean coverage are taken over 16 pairs of
rates and three prevalences. With groups and with a chosen threshold it is simulated: normal
scores, 1.5 standard deviations apart, half of the samples positive.

    python benchmarks/coverage_prevalence.py --sets 400
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom, norm

from skeval._inference.intervals import score_region_limits
from skeval.model_selection import threshold_measures
from skeval.model_selection._threshold import Population

RESULTS = Path(__file__).parent / "results" / "coverage_prevalence.csv"
SIZES = ((10, 10), (10, 200), (20, 60), (50, 50))
RATES, PREVALENCES, DISTANCE = (0.6, 0.8, 0.95, 0.99), (0.01, 0.1, 0.5), 1.5
DESIGNS: dict[str, dict[str, Any]] = {
    "groups of 5": {"threshold": 0.75},
    "youden": {"threshold": "youden"},
    "sensitivity .9": {"threshold": {"sensitivity": 0.9}},
    "cost ratio 5": {"threshold": {"cost_ratio": 5}},
}


def enumerate_tables(n_positive: int, n_negative: int) -> Iterator[dict[str, Any]]:
    """Yield the exact coverage of each measure at a fixed threshold."""
    hits = [np.arange(n + 1) for n in (n_positive, n_negative)]
    sizes, covered = (n_positive, n_negative), {}
    for prevalence in PREVALENCES:
        population = Population(prevalence, prevalence / (1 - prevalence))
        for name, measure in population.measures.items():
            ends = np.full((2, n_positive + 1, n_negative + 1), np.nan)
            for a, b in product(*hits):
                rates = a / n_positive, b / n_negative
                if np.isfinite(measure(*rates)):
                    ends[:, a, b] = score_region_limits(measure, rates, sizes, 0.0, 0.95)
            for rates in product(RATES, RATES):
                truth = measure(*rates)
                inside = (ends[0] <= truth) & (truth <= ends[1])
                chance = [binom.pmf(*of) for of in zip(hits, sizes, rates, strict=True)]
                covered.setdefault(name, []).append(float(chance[0] @ inside @ chance[1]))
    for name, values in covered.items():
        yield {"design": f"{n_positive} + {n_negative}", "measure": name} | summarize(values)


def simulate(design: str, n: int, n_sets: int) -> Iterator[dict[str, Any]]:
    """Yield the simulated coverage of each measure with groups or a chosen threshold."""
    covered: dict[str, list[list[bool]]] = {}
    for number, prevalence in product(range(n_sets), PREVALENCES):
        rng = np.random.default_rng([number, n, list(DESIGNS).index(design)])
        y, score, options = np.tile([0, 1], n // 2), rng.normal(size=n), {}
        if design.startswith("groups"):
            options["groups"] = np.arange(n) // 5
            score = (score + rng.normal(size=n // 5)[options["groups"]]) / np.sqrt(2)
        score += DISTANCE * y
        measures = threshold_measures(
            y,
            score,
            prevalence=prevalence,
            n_resamples=200,
            random_state=number,
            **DESIGNS[design],
            **options,
        )
        cut = measures["threshold"].value
        population = Population(prevalence, 0.2 if "net_benefit" in measures else None)
        for name, measure in population.measures.items():
            truth = measure(norm.sf(cut - DISTANCE), norm.cdf(cut))
            covered.setdefault(name, [[] for _ in PREVALENCES])
            covered[name][PREVALENCES.index(prevalence)].append(truth in measures[name].interval)
    for name, sets in covered.items():
        yield {"design": f"{design}, {n}", "measure": name} | summarize(np.mean(sets, axis=1))


def summarize(values: Any) -> dict[str, float]:
    """Return the lowest and the mean coverage."""
    return {"lowest": round(float(np.min(values)), 3), "mean": round(float(np.mean(values)), 3)}


def main() -> None:
    """Run all designs and write a row for each measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    runs = [partial(enumerate_tables, *sizes) for sizes in SIZES]
    runs += [
        partial(simulate, design, n, arguments.sets) for design, n in product(DESIGNS, (60, 200))
    ]
    rows = []
    for run in runs:
        for row in run():
            rows.append(row)
            print(row, flush=True)
    with arguments.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
