"""How often `structure_test` of DBCV finds structure, with DBSCAN as in `evaluate_clusterer`.

80 samples in two dimensions, 39 draws of the reference. Data with fewer than two clusters count as
the lowest DBCV, -1. The radius is a quantile of the distances to the fifth neighbor.

    python benchmarks/density_clusterers.py --sets 100
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.cluster import DBSCAN
from sklearn.datasets import make_moons
from sklearn.neighbors import NearestNeighbors

from skeval.cluster import structure_test
from skeval.report._evaluate_clusterer import measure_density

RESULTS = Path(__file__).parent / "results" / "density_clusterers.csv"
POPULATIONS: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "normal": lambda rng: rng.standard_normal((80, 2)),
    "exponential": lambda rng: rng.exponential(size=(80, 2)),
    "correlated": lambda rng: rng.standard_normal((80, 2)) @ [[1.0, 0.8], [0.0, 0.6]],
    "two moons": lambda rng: make_moons(80, noise=0.08, random_state=int(rng.integers(1e6)))[0],
}


def measure(name: str, quantile: float, n_sets: int) -> dict[str, str | int]:
    """Return the row of a population and a radius."""
    n_rejected = 0
    for seed in range(n_sets):
        X = POPULATIONS[name](np.random.default_rng([11, seed]))
        distances = NearestNeighbors(n_neighbors=6).fit(X).kneighbors(X)[0][:, -1]
        clusterer = DBSCAN(eps=float(np.quantile(distances, quantile)))
        test = structure_test(
            clusterer, X, index=measure_density, n_references=39, random_state=seed
        )
        n_rejected += test.pvalue <= 0.05
    return {
        "population": name,
        "quantile": f"{quantile}",
        "n_sets": n_sets,
        "rejected": f"{n_rejected / n_sets:.3f}",
    }


def main() -> None:
    """Measure all cells, and store one row for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=100)
    n_sets, rows = parser.parse_args().sets, []
    warnings.simplefilter("ignore")
    for name in POPULATIONS:
        for quantile in (0.5, 0.9):
            rows.append(measure(name, quantile, n_sets))
            print(*rows[-1].values(), sep="  ", flush=True)
    with RESULTS.open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
