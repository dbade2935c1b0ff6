"""The calls that a user writes, each against the loop of scikit-learn that gives the same number.

Every call stands in `CALLS` as it is written, with default arguments but for the few numbers that
keep a call at some seconds. The other side is the plain loop: `cross_val_score` over the same kind
of folds, permutations or resamples; for clusterings the fits that the call makes, made again by
themselves. A loop that takes long is run in part, and its time is scaled up.

Both sides run in turn in one process, in processor time, since the machine is shared, on one
thread. Each row is the median of the paired ratios, loop / skeval, on each shape; below come the
worst three of each shape. The exit code is 1 where one of them is below 0.95. Each side draws its
own random folds: tests/_adapters compares the numbers.

Rows are kept in benchmarks/results/natural.csv as they come, and a row that stands there is not
measured again: take it out of the file, or ask for `--again`.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest, SelectPercentile, VarianceThreshold, f_classif
from sklearn.linear_model import LogisticRegression, RidgeClassifier, RidgeClassifierCV
from sklearn.metrics import (
    adjusted_rand_score,
    calinski_harabasz_score,
    davies_bouldin_score,
    silhouette_samples,
    silhouette_score,
)
from sklearn.metrics.cluster import contingency_matrix
from sklearn.model_selection import (
    GridSearchCV,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from skeval import (
    compare_classifiers,
    error_interval,
    evaluate,
    evaluate_clusterer,
    internal_indices,
    permutation_test,
)
from skeval.cluster import (
    choose_n_clusters,
    cluster_stability,
    gap_statistic,
    predictive_power,
    structure_test,
)
from skeval.feature_selection import selection_bias
from skeval.model_selection import (
    bootstrap_error,
    cross_val_error,
    perturbation_interval,
    run_over_datasets,
    score_interval,
    tuning_optimism,
)
from skeval.svm import PerturbationResamplingSVC

SMALLEST = 0.95
"""No call may take longer than the loop divided by this."""

RESULTS = Path(__file__).parent / "results" / "natural.csv"

SKIPPED = {"569x30": "(SVC(linear)", "100x2000": "(QDA"}
"""libsvm takes minutes for a fit to columns of scales that differ much, and scikit-learn refuses a
covariance of more columns than samples."""

MOST_SETS = 3
"""Below that, rounds are added up to so many times their number: a busy machine is noisy."""

Data = tuple[np.ndarray, np.ndarray]


class Call(NamedTuple):
    """A call as it is written, what it does with data, and the loop, part by part.

    `loop(X, y)` yields the number of parts and then does one part at each step.
    """

    text: str
    ours: Callable[[Any, Any], object]
    loop: Callable[[Any, Any], Iterator]


def draw_classes(n: int, p: int, shares: tuple[float, ...] = (0.5, 0.5), *, told: int = 50) -> Data:
    """Return samples of classes of these shares; each of the first columns tells them a little."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(len(shares)), np.round(n * np.array(shares)).astype(int))
    X = rng.normal(size=(n, p))
    X[:, :told] += 0.5 * rng.normal(size=(len(shares), min(told, p)))[y]
    order = rng.permutation(n)
    return X[order], y[order]


def wide() -> Data:
    """Return 100 samples of 2,000 columns, of which 50 tell the classes a little."""
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    X = rng.normal(size=(100, 2000))
    X[:, :50] += 0.5 * y[:, None]
    return X, y


SHAPES: dict[str, Callable[[], Data]] = {
    "150x4": lambda: load_iris(return_X_y=True),
    "569x30": lambda: load_breast_cancer(return_X_y=True),
    "100x2000": wide,
    "62x2000": lambda: draw_classes(62, 2000),
    "300x5": lambda: draw_classes(300, 5),
    "600x20, 5 classes": lambda: draw_classes(600, 20, (0.2,) * 5),
    "1000x20, 1 in 20": lambda: draw_classes(1000, 20, (0.95, 0.05)),
    "1000x100": lambda: draw_classes(1000, 100),
    "2000x20": lambda: draw_classes(2000, 20),
    "10000x20": lambda: draw_classes(10_000, 20),
}
MAIN = ("150x4", "569x30", "100x2000")
"""Shapes of which every call is measured; of the others the calls of `CHEAP`."""

CHEAP = (
    "cross_val_error(logistic)", "cross_val_error(scaler + logistic)", "cross_val_error(SVC())",
    "cross_val_error(GaussianNB)", "cross_val_error(kNN)", "cross_val_error(ridge)",
    "error_interval(ridge)", "error_interval(kNN)", "error_interval(LDA)",
    "error_interval(GaussianNB)", "error_interval(scaler + logistic)", "error_interval(tree)",
    "bootstrap_error(GaussianNB)", "bootstrap_error(ridge)", "permutation_test(SVC())",
    "gap_statistic(KMeans, n_references=10)", "predictive_power(KMeans)",
    "internal_indices(X, labels)",
)  # fmt: skip


def scaled(model: Any) -> Any:
    """Return a pipeline that scales first, as most users write it."""
    return make_pipeline(StandardScaler(), model)


ridge, knn, lda, nb = (
    RidgeClassifier(), KNeighborsClassifier(), LinearDiscriminantAnalysis(), GaussianNB()
)  # fmt: skip
logistic, tree, centroid = (
    LogisticRegression(max_iter=1000),
    DecisionTreeClassifier(),
    NearestCentroid(),
)
forest, searched = RandomForestClassifier(), RidgeClassifierCV()
qda = QuadraticDiscriminantAnalysis(reg_param=0.1)
rbf, linear, poly, sigmoid = (SVC(kernel=kind) for kind in ("rbf", "linear", "poly", "sigmoid"))
best = make_pipeline(SelectKBest(k=4), SVC(kernel="linear"))
percentile = make_pipeline(SelectPercentile(f_classif), SVC(kernel="linear"))
variance = make_pipeline(VarianceThreshold(), StandardScaler(), SVC())
NAMES = {
    id(model): name
    for name, model in {
        "ridge": ridge, "kNN": knn, "LDA": lda, "GaussianNB": nb, "logistic": logistic,
        "tree": tree, "QDA": qda, "centroid": centroid, "forest": forest, "RidgeCV": searched,
        "SVC()": rbf,
        "SVC(linear)": linear, "SVC(poly)": poly, "SVC(sigmoid)": sigmoid,
        "SelectKBest + SVC(linear)": best, "SelectPercentile + SVC(linear)": percentile,
        "VarianceThreshold + scaler + SVC()": variance,
    }.items()
}  # fmt: skip
TEN = StratifiedKFold(10, shuffle=True)
METRICS = [
    "accuracy", "balanced_accuracy", "precision_macro", "recall_macro", "f1_macro",
    "matthews_corrcoef",
]  # fmt: skip


def name_of(model: Any) -> str:
    """Return the short name of a model."""
    if id(model) in NAMES:
        return NAMES[id(model)]
    return f"scaler + {NAMES[id(model[-1])]}"


def crossed(function: Callable, model: Any, n_repeats: int = 1, **asked: Any) -> Call:
    """Return a call whose number is that of ten folds, repeated or not.

    The report gives more metrics than those that the loop computes for it.
    """
    scoring = METRICS if function is evaluate else asked.get("scoring")

    def loop(X: Any, y: Any) -> Iterator:
        yield n_repeats
        while True:
            yield cross_validate(model, X, y, cv=TEN, scoring=scoring)

    return Call(written(function, model, asked), lambda X, y: function(model, X, y, **asked), loop)


def left_out(model: Any) -> Call:
    """Return leave-one-out."""

    def loop(X: Any, y: Any) -> Iterator:
        folds = list(LeaveOneOut().split(X))
        parts = [folds[start::20] for start in range(20)]
        yield 20
        for part in parts * 9:
            yield cross_val_score(model, X, y, cv=part)

    return Call(
        f"cross_val_error({name_of(model)}, cv=LeaveOneOut())",
        lambda X, y: cross_val_error(model, X, y, cv=LeaveOneOut()),
        loop,
    )


def permuted(model: Any, n_permutations: int = 200, **asked: Any) -> Call:
    """Return a permutation test, of a quarter of the permutations where columns are many."""

    def count(X: Any) -> int:
        return n_permutations // 4 if X.shape[1] > X.shape[0] else n_permutations

    def loop(X: Any, y: Any) -> Iterator:
        rng = np.random.default_rng(0)
        yield 1 + count(X)
        while True:
            labels = rng.permutation(y)
            yield cross_validate(
                model, X, labels, cv=asked.get("cv", TEN), scoring=asked.get("scoring")
            )

    return Call(
        written(permutation_test, model, asked),
        lambda X, y: permutation_test(model, X, y, n_permutations=count(X), **asked),
        loop,
    )


def resampled(model: Any) -> Call:
    """Return the bootstrap, of 200 resamples."""

    def loop(X: Any, y: Any) -> Iterator:
        rng = np.random.default_rng(0)
        yield 201
        while True:
            rows = rng.integers(len(y), size=len(y))
            out = np.setdiff1d(np.arange(len(y)), rows)
            yield np.mean(clone(model).fit(X[rows], y[rows]).predict(X[out]) != y[out])

    return Call(
        written(bootstrap_error, model, {}), lambda X, y: bootstrap_error(model, X, y), loop
    )


def perturbed(model: Any, n_resamples: int = 100) -> Call:
    """Return an interval by random weights."""
    name = f"{model.steps[-1][0]}__sample_weight" if hasattr(model, "steps") else "sample_weight"

    def loop(X: Any, y: Any) -> Iterator:
        rng = np.random.default_rng(0)
        yield 1 + n_resamples
        while True:
            weights = rng.exponential(size=len(y))
            for train, test in TEN.split(X, y):
                fitted = clone(model).fit(X[train], y[train], **{name: weights[train]})
                fitted.predict(X[test])
            yield

    return Call(
        written(perturbation_interval, model, {}),
        lambda X, y: perturbation_interval(model, X, y, n_resamples=n_resamples),
        loop,
    )


def weighted_svc() -> Call:
    """Return the estimator that fits an SVM and its interval."""
    return perturbed(linear)._replace(
        text="PerturbationResamplingSVC(n_resamples=100).fit",
        ours=lambda X, y: PerturbationResamplingSVC(n_resamples=100).fit(X, y),
    )


def compared(*models: Any) -> Call:
    """Return the comparison of some classifiers on the same repeated folds."""

    def loop(X: Any, y: Any) -> Iterator:
        yield 10
        while True:
            yield [cross_val_score(model, X, y, cv=TEN) for model in models]

    named = {name_of(model): model for model in models}
    return Call(
        f"compare_classifiers({', '.join(named)})",
        lambda X, y: compare_classifiers(named, X, y),
        loop,
    )


def over_datasets(*models: Any) -> Call:
    """Return scores on several data sets, here the same under two names."""

    def loop(X: Any, y: Any) -> Iterator:
        yield 2
        while True:
            yield [cross_val_score(model, X, y, cv=TEN) for model in models]

    named = {name_of(model): model for model in models}
    return Call(
        f"run_over_datasets({', '.join(named)})",
        lambda X, y: run_over_datasets(named, {"one": (X, y), "two": (X, y)}),
        loop,
    )


def biased(selector: Any, model: Any) -> Call:
    """Return the bias of selecting features on all samples."""

    def loop(X: Any, y: Any) -> Iterator:
        yield 1
        while True:
            inside = cross_val_score(make_pipeline(selector, model), X, y, cv=TEN)
            yield inside, cross_val_score(model, clone(selector).fit_transform(X, y), y, cv=TEN)

    return Call(
        f"selection_bias({type(selector).__name__}, {name_of(model)})",
        lambda X, y: selection_bias(selector, model, X, y),
        loop,
    )


def tuned(model: Any, grid: dict) -> Call:
    """Return nested cross-validation of a search."""
    search = GridSearchCV(model, grid)

    def loop(X: Any, y: Any) -> Iterator:
        yield 1
        while True:
            clone(search).fit(X, y)
            yield cross_val_score(search, X, y, cv=StratifiedKFold(5, shuffle=True))

    return Call(
        f"tuning_optimism(GridSearchCV({name_of(model)}))",
        lambda X, y: tuning_optimism(search, X, y),
        loop,
    )


def match(data: Any, labels: np.ndarray) -> None:
    """Draw a resample and compare its partition with that of the whole, as resamples are."""
    rows = np.random.default_rng(0).integers(len(data), size=len(data))
    data[rows], np.unique(rows)
    table = contingency_matrix(labels, labels[rows])
    union = table.sum(axis=1, keepdims=True) + table.sum(axis=0) - table
    np.max(table / union, axis=1)


def draw(data: Any) -> None:
    """Draw data without structure."""
    np.random.default_rng(0).uniform(data.min(axis=0), data.max(axis=0), size=data.shape)


def silhouette(data: Any, labels: np.ndarray) -> None:
    """Draw a reference and find the silhouette, as the test of structure does."""
    draw(data)
    silhouette_score(data, labels)


def transfer(data: Any, labels: np.ndarray) -> None:
    """Carry clusters over to other samples and see how far they agree, as halves are compared."""
    carried = KNeighborsClassifier(1).fit(data, labels).predict(data)
    adjusted_rand_score(labels, carried)


def clustered(
    function: Callable, clusterer: Any, extra: Callable | None = None, **asked: Any
) -> Call:
    """Return a call whose loop is the fits that it makes, and `extra` on what each has found.

    What is drawn for a fit and read off it is part of the loop, as of the call.
    """

    def loop(X: Any, y: Any) -> Iterator:
        fits: list[tuple] = []

        class Watched(type(clusterer)):  # type: ignore[misc]
            def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
                fits.append((X, self.get_params()))
                return super().fit(X)

            def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
                return self.fit(X).labels_

        Watched.__name__ = type(clusterer).__name__
        function(Watched(**clusterer.get_params()), X, random_state=0, **asked)
        parts = [fits[start::20] for start in range(20)]
        yield 20
        for part in parts * 9:
            for data, params in part:
                labels = clone(clusterer).set_params(**params).fit(data).labels_
                if extra is not None:
                    extra(data, labels)
            yield

    said = "".join(f", {name}={value!r}" for name, value in asked.items())
    return Call(
        f"{function.__name__}({type(clusterer).__name__}{said})",
        lambda X, y: function(clusterer, X, random_state=0, **asked),
        loop,
    )


def gaps(clusterer: Any, n_references: int) -> Call:
    """Return the gap statistic: each draw is clustered into 1 to 10 clusters, as the data are."""

    def disperse(data: Any, labels: np.ndarray) -> float:
        within = [data[labels == cluster] for cluster in np.unique(labels)]
        return np.log(sum(np.sum((part - part.mean(axis=0)) ** 2) for part in within))

    def loop(X: Any, y: Any) -> Iterator:
        rng, centre = np.random.default_rng(0), X.mean(axis=0)
        axes = np.linalg.svd(X - centre, full_matrices=False)[2]
        scores, data = (X - centre) @ axes.T, X
        yield 1 + n_references
        while True:
            for k in range(1, 11):
                fitted = clone(clusterer).set_params(n_clusters=k)
                disperse(data, fitted.fit_predict(data) if k > 1 else np.zeros(len(data)))
            yield
            box = rng.uniform(scores.min(axis=0), scores.max(axis=0), size=scores.shape)
            data = centre + box @ axes

    return Call(
        f"gap_statistic({type(clusterer).__name__}, n_references={n_references})",
        lambda X, y: gap_statistic(clusterer, X, random_state=0, n_references=n_references),
        loop,
    )


def indexed() -> Call:
    """Return all internal indices, against those that scikit-learn has."""

    def count(X: Any) -> int:
        return 20 if len(X) < 2000 else 1

    def loop(X: Any, y: Any) -> Iterator:
        yield count(X)
        while True:
            for _ in range(5):
                silhouette_samples(X, y), silhouette_score(X, y)
                calinski_harabasz_score(X, y), davies_bouldin_score(X, y)
            yield

    def ours(X: Any, y: Any) -> None:
        for _ in range(5 * count(X)):
            internal_indices(X, y)

    return Call("internal_indices(X, labels)", ours, loop)


def written(function: Callable, model: Any, asked: dict) -> str:
    """Return a call as it is written."""
    said = "".join(f", {name}={value!r}" for name, value in asked.items())
    return f"{function.__name__}({name_of(model)}{said})"


THREE = ["accuracy", "balanced_accuracy", "f1_macro"]
KMEANS = KMeans(3, random_state=0)
CALLS = [
    *[crossed(evaluate, model, 10) for model in (scaled(logistic), rbf, scaled(rbf), tree, nb)],
    *[
        crossed(error_interval, model, 10)
        for model in (ridge, knn, lda, nb, qda, rbf, linear, scaled(linear), scaled(logistic), tree)
    ],
    *[crossed(score_interval, model, 10) for model in (rbf, scaled(logistic))],
    crossed(score_interval, knn, 10, scoring="balanced_accuracy"),
    *[
        crossed(cross_val_error, model)
        for model in (logistic, scaled(logistic), rbf, linear, scaled(rbf), nb, knn, ridge, forest)
    ],
    *[left_out(model) for model in (rbf, knn, lda, nb, scaled(logistic))],
    *[
        resampled(model)
        for model in (rbf, linear, scaled(rbf), tree, nb, ridge, knn, scaled(logistic))
    ],
    *[perturbed(model) for model in (scaled(linear), rbf, nb, ridge)],
    weighted_svc(),
    *[
        permuted(model)
        for model in (ridge, knn, lda, scaled(ridge), scaled(knn), scaled(logistic), nb, centroid)
    ],
    *[permuted(model, 50) for model in (searched, scaled(searched))],
    *[permuted(model, 50) for model in (rbf, linear, scaled(rbf), sigmoid, tree)],
    permuted(poly, 20),
    *[permuted(model, 50) for model in (best, percentile, variance, scaled(poly))],
    permuted(rbf, 50, scoring="balanced_accuracy"),
    permuted(ridge, scoring=THREE),
    permuted(knn, cv=StratifiedKFold(5)),
    permuted(rbf, 50, cv=RepeatedStratifiedKFold(n_splits=5, n_repeats=2)),
    compared(scaled(logistic), nb),
    compared(rbf, tree),
    over_datasets(ridge, rbf, nb),
    biased(SelectKBest(k=4), lda),
    biased(SelectKBest(k=4), linear),
    tuned(rbf, {"C": [0.1, 1, 10]}),
    tuned(tree, {"max_depth": [2, 4]}),
    clustered(choose_n_clusters, KMEANS, transfer, n_repeats=3),
    clustered(cluster_stability, KMEANS, match),
    clustered(cluster_stability, AgglomerativeClustering(3), match),
    gaps(KMEANS, 10),
    clustered(predictive_power, KMEANS, transfer),
    clustered(structure_test, KMEANS, silhouette, n_references=99),
    clustered(evaluate_clusterer, KMEANS, transfer),
    indexed(),
]  # fmt: skip


def cpu(work: Callable[[], object]) -> float:
    """Return the processor time of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def time_pair(call: Call, X: Any, y: Any, seconds: float) -> tuple[float, float]:
    """Return the processor time of the call and of the whole loop."""
    mine = cpu(lambda: call.ours(X, y))
    loop = call.loop(X, y)
    n_parts, done, spent = next(loop), 0, 0.0
    while done < n_parts and (not done or spent < seconds):
        spent, done = spent + cpu(lambda: next(loop)), done + 1
    return mine, spent * n_parts / done


def parse() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=[""], help="parts of the texts of calls")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(MAIN))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.5, help="of a loop, in each round")
    parser.add_argument("--again", action="store_true", help="measure rows of the file again")
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser.parse_args()


def measure(call: Call, X: Any, y: Any, options: argparse.Namespace) -> tuple[float, float]:
    """Return the median ratio and the median time of the call."""
    pairs: list[tuple[float, float]] = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while True:
            pairs += [time_pair(call, X, y, options.seconds) for _ in range(options.rounds)]
            ratio = statistics.median(theirs / mine for mine, theirs in pairs)
            if ratio >= SMALLEST or len(pairs) >= MOST_SETS * options.rounds:
                return ratio, statistics.median(mine for mine, _ in pairs)


def warm_up(X: Any, y: Any) -> None:
    """Import what is imported late."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        str(evaluate(ridge, X, y))
        cross_val_score(ridge, X, y)


def read_rows(path: Path) -> dict[tuple[str, str], tuple[float, float]]:
    """Return ratio and seconds of the calls that were measured, by shape and text."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {
            (row["shape"], row["call"]): (float(row["ratio"]), float(row["seconds"]))
            for row in csv.DictReader(file)
        }


def write_rows(path: Path, rows: dict[tuple[str, str], tuple[float, float]]) -> None:
    """Write all rows."""
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["shape", "call", "ratio", "seconds"])
        table.writerows(
            [*key, f"{ratio:.3g}", f"{mine:.3g}"] for key, (ratio, mine) in rows.items()
        )


def main() -> None:
    """Print a line for each call on each shape, and the worst three of each shape."""
    options = parse()
    calls = [call for call in CALLS if any(part in call.text for part in options.only)]
    rows = read_rows(options.results)
    for shape in options.shapes:
        X, y = SHAPES[shape]()
        warm_up(X, y)
        for call in calls:
            if SKIPPED.get(shape, "nothing") in call.text:
                continue
            if shape not in MAIN and call.text not in CHEAP:
                continue
            if options.again or (shape, call.text) not in rows:
                rows[shape, call.text] = ratio, mine = measure(call, X, y, options)
                print(f"{shape:19s}{call.text:65s}{mine:8.3f} s   x {ratio:7.2f}", flush=True)
                write_rows(options.results, rows)
    texts = {call.text for call in calls}
    print("\nworst three of each shape")
    for shape in options.shapes:
        found = sorted(
            (ratio, text)
            for (at, text), (ratio, _) in rows.items()
            if at == shape and text in texts
        )
        for ratio, text in found[:3]:
            print(f"{shape:19s}{text:65s} x {ratio:7.2f}")
    smallest = min(
        ratio for (at, text), (ratio, _) in rows.items() if at in options.shapes and text in texts
    )
    print(f"ratio: {smallest:.2f}")
    sys.exit(smallest < SMALLEST)


if __name__ == "__main__":
    main()
