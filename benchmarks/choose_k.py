"""How often each rule finds the number of clusters, by population and on bundled tables.

`POPULATIONS` have clusters or none; `NOT_COVERED` have none and columns or shapes that the
reference of the default rule does not have. Each is drawn with 100 and 500 samples. `PAIRS` are two
clusters of given sizes and distance, for the default rule alone. K-means with
two starts and one to eight clusters; the rules of `choose_n_clusters` with 10 halvings or draws,
the largest silhouette, and the BIC of a Gaussian mixture. Finished data sets are kept in
``--folder``.
"""

import argparse
import csv
import json
import re
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import scale

from skeval.cluster import choose_n_clusters

RESULTS = Path(__file__).parent / "results"
METHODS = ["sequential", "prediction_strength", "adjusted_rand", "silhouette", "gap"]
RULES = [*METHODS, "largest silhouette", "BIC of a mixture"]
SIZES = (100, 500)
FIRST_SEED = 1000  # the rule was chosen on smaller seeds


class Population(NamedTuple):
    """Number of clusters, and a function of a generator and n that draws n samples."""

    n_clusters: int
    draw: Callable[[np.random.Generator, int], np.ndarray]


def clusters(centers, scales=1.0, shares=None, noise="normal"):
    """Clusters of scaled noise around centers; `scales` is (K,), or (K, p) by columns."""
    centers = np.asarray(centers, dtype=float)
    scales = np.broadcast_to(np.transpose(scales), centers.T.shape).T
    draw_noise = {
        "normal": lambda rng, shape: rng.normal(size=shape),
        "exponential": lambda rng, shape: rng.exponential(size=shape),
        "t": lambda rng, shape: rng.standard_t(5, size=shape),
        "disc": draw_disc,
    }[noise]

    def draw(rng, n):
        labels = rng.choice(len(centers), size=n, p=shares)
        return centers[labels] + scales[labels] * draw_noise(rng, (n, centers.shape[1]))

    return Population(len(centers), draw)


def draw_disc(rng, shape):
    radius, angle = np.sqrt(rng.random(shape[0])), 2 * np.pi * rng.random(shape[0])
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def triangle(side):
    return side * np.array([[0, 0], [1, 0], [0.5, np.sqrt(0.75)]])


def ring(n_centers, radius):
    angles = 2 * np.pi * np.arange(n_centers) / n_centers
    return radius * np.column_stack([np.cos(angles), np.sin(angles)])


def rotated_gaussian(rng, n):
    return rng.normal(size=(n, 2)) * [4, 1] @ [[0.8, 0.6], [-0.6, 0.8]]


def correlated_lognormal(rng, n):
    return np.exp(0.6 * rng.multivariate_normal(np.zeros(3), 0.6 + 0.4 * np.eye(3), size=n))


def factor_items(cuts):
    """Return a function that draws eight ordinal items of one factor, cut at these values."""

    def draw(rng, n):
        latent = 0.8 * rng.normal(size=(n, 1)) + 0.6 * rng.normal(size=(n, 8))
        return np.digitize(latent, cuts).astype(float)

    return draw


def multivariate_t(n_columns, df):
    """Return a function that draws a spherical t distribution."""

    def draw(rng, n):
        scale = np.sqrt(rng.chisquare(df, size=(n, 1)) / df)
        return rng.normal(size=(n, n_columns)) / scale

    return draw


def indicator_columns(rng, n):
    return np.hstack([np.eye(4)[rng.integers(4, size=n)] for _ in range(3)])


def arc(rng, n, angle=2 * np.pi):
    angles = angle * rng.random(n)
    return np.column_stack([np.cos(angles), np.sin(angles)]) + 0.05 * rng.normal(size=(n, 2))


def sphere(rng, n):
    points = rng.normal(size=(n, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def banana(rng, n):
    x = 2 * rng.normal(size=n)
    return np.column_stack([x, x**2 / 2 + 0.5 * rng.normal(size=n)])


def funnel(rng, n):
    x = rng.normal(size=n)
    return np.column_stack([x, np.exp(x) * rng.normal(size=n)])


CUBE = np.array(np.meshgrid([0, 6], [0, 6], [0, 6])).reshape(3, -1).T
POPULATIONS = {
    "touching": clusters(triangle(4)),
    "unequal sizes": clusters(triangle(6), shares=[0.8, 0.1, 0.1]),
    "unequal spreads": clusters(triangle(9), [0.5, 1, 2]),
    "five separated": clusters(ring(5, 8)),
    "elongated": clusters([[0, 0], [0, 5], [0, 10]], [[4, 0.7]] * 3),
    "nested": clusters([[0, 0], [6, 0], [20, 0], [26, 0]]),
    "discs": clusters(triangle(2.4), noise="disc"),
    "skewed clusters": clusters(triangle(6), noise="exponential"),
    "heavy-tailed clusters": clusters(triangle(7), noise="t"),
    "eight in a cube": clusters(CUBE),
    "two in 10 dimensions": clusters(5 * np.eye(2, 10) * [[0], [1]]),
    "four in 50 dimensions": clusters(8 / np.sqrt(2) * np.eye(4, 50)),
    "uniform, 2 columns": Population(1, lambda rng, n: rng.uniform(size=(n, 2))),
    "uniform, 5 columns": Population(1, lambda rng, n: rng.uniform(size=(n, 5))),
    "Gaussian, 2 columns": Population(1, lambda rng, n: rng.normal(size=(n, 2))),
    "Gaussian, 10 columns": Population(1, lambda rng, n: rng.normal(size=(n, 10))),
    "Gaussian, correlated": Population(1, rotated_gaussian),
    "exponential": Population(1, lambda rng, n: rng.exponential(size=(n, 2))),
    "heavy-tailed": Population(1, lambda rng, n: rng.standard_t(3, size=(n, 3))),
    "lognormal, correlated": Population(1, correlated_lognormal),
    "tight and wide": clusters([[0, 0], [9, 0]], [0.6, 2.4]),
    "yes / no items": Population(1, factor_items([0])),
    "Likert items": Population(1, factor_items([-1.2, -0.4, 0.4, 1.2])),
    "Likert items, skewed": Population(1, factor_items([0.8, 1.2, 1.6, 2.0])),
    "multivariate t, 3 df, 8 columns": Population(1, multivariate_t(8, 3)),
    "multivariate t, 5 df, 20 columns": Population(1, multivariate_t(20, 5)),
}
NOT_COVERED = {
    "indicator columns": Population(1, indicator_columns),
    "shares of five": Population(1, lambda rng, n: rng.dirichlet(np.ones(5), size=n)),
    "circle": Population(1, arc),
    "half circle": Population(1, lambda rng, n: arc(rng, n, np.pi)),
    "sphere": Population(1, sphere),
    "banana": Population(1, banana),
    "funnel": Population(1, funnel),
}
ALL = POPULATIONS | NOT_COVERED
PAIRS = {
    f"{first} + {second}, {distance} apart": (first, second, distance)
    for first, second, distance in ((50, 10, 5), (50, 10, 6), (100, 20, 5), (30, 30, 4))
}
TABLES = {
    "iris": (lambda: load_iris(return_X_y=True), 8),
    "wine": (lambda: load_wine(return_X_y=True), 8),
    "breast cancer": (lambda: load_breast_cancer(return_X_y=True), 8),
    "digits": (lambda: load_digits(return_X_y=True), 15),
}


def draw_pair(rng: np.random.Generator, first: int, second: int, distance: float) -> np.ndarray:
    """Draw two normal clusters of given sizes, in two columns."""
    X = rng.normal(size=(first + second, 2))
    X[first:, 0] += distance
    return X


def list_cells(default_only: bool) -> list[tuple[str, int, int]]:
    """Return the name, the number of clusters and the number of samples of each cell."""
    populations = ALL if default_only else POPULATIONS
    cells = [(name, each.n_clusters, n) for n in SIZES for name, each in populations.items()]
    if default_only:
        cells += [(name, 2, first + second) for name, (first, second, _) in PAIRS.items()]
    return cells


def choose(X: np.ndarray, largest: int, seed: int) -> dict[str, int]:
    """Return the number of clusters by each rule; 0 if a mixture needs too many parameters."""
    candidates = np.arange(1, largest + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # gaps that still increase, few distinct clusters
        choices = choose_n_clusters(
            KMeans(n_init=2), X, n_clusters=candidates, method=METHODS, n_repeats=10,
            random_state=seed,
        )  # fmt: skip
        silhouettes = choices["sequential"].values  # of all samples
        chosen = {name: choice.n_clusters for name, choice in choices.items()}
        chosen["largest silhouette"] = int(candidates[1:][np.argmax(silhouettes)])
        chosen["BIC of a mixture"] = 0
        if X.shape[1] <= 15:
            mixtures = [GaussianMixture(int(k), random_state=seed).fit(X) for k in candidates]
            bic = [mixture.bic(X) for mixture in mixtures]
            chosen["BIC of a mixture"] = int(candidates[np.argmin(bic)])
    return chosen


def stem_of(name: str, n: int) -> str:
    """Return the beginning of the names of the files of a population and size."""
    return f"{re.sub('[^a-zA-Z0-9]+', '_', name)}-{n}-"


def choose_in_sample(name: str, n: int, seed: int, folder: Path, default_only: bool) -> None:
    """Draw a data set and keep the choices of all rules, or of the default, in a file."""
    path = folder / f"{stem_of(name, n)}{seed}{'-default' if default_only else ''}.json"
    if path.exists():
        return
    rng = np.random.default_rng([[*ALL, *PAIRS].index(name), n, seed])
    X = draw_pair(rng, *PAIRS[name]) if name in PAIRS else ALL[name].draw(rng, n)
    if default_only:
        choice = choose_n_clusters(KMeans(n_init=2), X, n_clusters=range(1, 9), random_state=seed)
        result = {"sequential": choice.n_clusters, "cautions": len(choice.cautions)}
        path.write_text(json.dumps(result))
    else:
        path.write_text(json.dumps(choose(X, 8, seed)))


def write_rates(folder: Path) -> None:
    """Write the share of data sets with the right choice, by population, size and rule."""
    rows = []
    for name, population in POPULATIONS.items():
        for n in SIZES:
            paths = sorted(folder.glob(f"{stem_of(name, n)}*[0-9].json"))
            if not paths:
                continue
            sets = [json.loads(path.read_text()) for path in paths]
            right = [np.mean([s[rule] == population.n_clusters for s in sets]) for rule in RULES]
            if name == "four in 50 dimensions":
                right[-1] = np.nan
            rows.append([name, population.n_clusters, n, len(sets), *right])
    for title, keep in (
        ("mean with clusters", lambda k: k > 1),
        ("mean without", lambda k: k == 1),
    ):
        for n in SIZES:
            kept = [row for row in rows if isinstance(row[1], int) and keep(row[1]) and row[2] == n]
            means = np.nanmean([row[4:] for row in kept], axis=0).tolist()
            rows.append([title, "", n, sum(row[3] for row in kept), *means])
    with (RESULTS / "choose_k.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["population", "k", "n", "sets", *RULES])
        for row in rows:
            rates = ["" if np.isnan(rate) else f"{rate:.2f}" for rate in row[4:]]
            writer.writerow([*row[:4], *rates])


def write_default(folder: Path) -> None:
    """Write the number of right, smaller and larger choices of the default rule, with cautions."""
    names = [*ALL, *PAIRS]
    with (RESULTS / "choose_k_default.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["population", "k", "n", "sets", "right", "fewer", "more", "cautions"])
        for name, n_clusters, n in sorted(list_cells(True), key=lambda cell: names.index(cell[0])):
            paths = sorted(folder.glob(f"{stem_of(name, n)}*-default.json"))
            results = [json.loads(path.read_text()) for path in paths]
            if results:
                signs = Counter(int(np.sign(r["sequential"] - n_clusters)) for r in results)
                cautions = sum(r["cautions"] > 0 for r in results)
                counts = [signs[0], signs[-1], signs[1], cautions]
                writer.writerow([name, n_clusters, n, len(results), *counts])


def write_tables(n_seeds: int) -> None:
    """Write the choices for the standardized bundled tables, by rule."""
    rows = []
    for name, (load, largest) in TABLES.items():
        X, y = load()
        X = X if name == "digits" else scale(X)
        runs = [choose(X, largest, seed) for seed in range(n_seeds)]
        cells = []
        for rule in RULES:
            counts = Counter(run[rule] for run in runs).most_common()
            cells.append(" or ".join(str(k) for k, _ in counts if k))
        rows.append([name, len(np.unique(y)), *cells])
        print(*rows[-1], flush=True)
    with (RESULTS / "choose_k_tables.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([["table", "classes", *RULES], *rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=20, help="data sets per population and size")
    parser.add_argument("--seeds", type=int, default=3, help="seeds for each bundled table")
    parser.add_argument("--folder", type=Path, default=Path("choose_k_sets"))
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--only", choices=["populations", "tables", "rates"])
    parser.add_argument("--default-only", action="store_true", help="the default rule, no others")
    arguments = parser.parse_args()
    arguments.folder.mkdir(exist_ok=True)
    if arguments.only in (None, "populations"):
        Parallel(n_jobs=arguments.n_jobs)(
            delayed(choose_in_sample)(
                name, n, FIRST_SEED + number, arguments.folder, arguments.default_only
            )
            for number in range(arguments.sets)
            for name, _, n in list_cells(arguments.default_only)
        )
    if arguments.only in (None, "populations", "rates"):
        if not arguments.default_only:
            write_rates(arguments.folder)
        write_default(arguments.folder)
    if arguments.only in (None, "tables") and not arguments.default_only:
        write_tables(arguments.seeds)


if __name__ == "__main__":
    main()
