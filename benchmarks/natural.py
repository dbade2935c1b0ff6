"""Calls of a user's notebook, each against the loop of scikit-learn.

A row of `CALLS` is a call as it is written. The other side is the plain loop over the same kind of
folds, permutations or resamples, with `cross_validate` or with `fit` and `predict`. A loop that
takes long is run in part, and its time is scaled up.

Both sides run in turn in one process, on one thread, in processor time, because machines are
shared. A row gives the median of the paired ratios, loop / skeval, and their range. The exit code
is 1 if a median is below 0.95. Each side draws its own folds: tests/_adapters compares the numbers.

``--only kNN`` measures the calls that contain a text, ``--shapes 150x4`` chooses shapes of `CALLS`.
The calls of `LARGE` have at least 20,000 samples each, and the shape "large". Rows are stored in
benchmarks/results/natural.csv. Stored rows are measured again with ``--again`` only.
doc/user_guide/scale.rst has a table of them.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import skeval
from skeval import model_selection

MIN_RATIO = 0.95
RESULTS = Path(__file__).parent / "results" / "natural.csv"
SHAPES = ("150x4", "500x20", "100x500")
KEYS = "shape", "call"
SECONDS = 0.3
"""Processor time after which a loop is run in part."""

REPEATS = {"cross_val_error": 1, "permutation_test": 51, "bootstrap_error": 51}
"""Number of passes over the folds, or of resamples and one fit to all samples.

The other calls choose their number of repeats, and the loop makes as many.
"""

DEFAULTS = {"permutation_test": ", n_permutations=50", "bootstrap_error": ", n_resamples=50"}
METRICS = [
    "accuracy",
    "balanced_accuracy",
    "precision_macro",
    "recall_macro",
    "f1_macro",
    "matthews_corrcoef",
]
MODULES = (
    "decomposition cross_decomposition discriminant_analysis dummy ensemble feature_selection "
    "gaussian_process kernel_ridge linear_model model_selection naive_bayes neighbors "
    "preprocessing svm tree"
)


class Call(NamedTuple):
    """A call: function, estimator, samples and target, and further arguments."""

    function: str
    estimator: str
    data: str = "X, y"
    options: str = ""

    @property
    def text(self) -> str:
        """The call as it is written."""
        options = self.options + DEFAULTS.get(self.function, "")
        return f"{self.function}({self.estimator}, {self.data}{options})"


CALLS = [
    *[
        Call("cross_val_error", estimator, data, options)
        for estimator, data, options in (
            ("KNeighborsClassifier()", "X, y", ", cv=TimeSeriesSplit(10)"),
            ("KNeighborsRegressor()", "X, z", ", cv=TimeSeriesSplit(10)"),
            ("scaled(KNeighborsClassifier(3))", "X, y", ", cv=TimeSeriesSplit(10)"),
            ("scaled(KNeighborsRegressor())", "X, z", ", cv=TimeSeriesSplit(10)"),
            ("GaussianNB()", "X, y", ", cv=TimeSeriesSplit(12)"),
            ("RidgeClassifier()", "X, y", ", cv=LeaveOneOut()"),
            ("Ridge()", "X, z", ", cv=RepeatedKFold(n_splits=5, n_repeats=4)"),
            ("LinearRegression()", "X, z", ", cv=KFold(5)"),
            ("GaussianNB()", "X, y", ", groups=groups, cv=GroupKFold(5)"),
            ("LinearSVC()", "X, y", ""),
            ("ElasticNet(0.1)", "X, z", ""),
            ("Lasso(0.1)", "X, z", ""),
            ("LogisticRegression(max_iter=1000)", "X, y10", ""),
            ("SVC()", "1000 * X, y", ""),
            ("NuSVC(nu=0.3)", "X, y", ""),
            ("SVR()", "X, z", ""),
            ("DummyClassifier()", "X, y", ""),
            ("Perceptron()", "X, y", ""),
            ("SGDClassifier()", "X, y", ""),
            ("make_pipeline(RobustScaler(), Ridge())", "X, z", ""),
        )
    ],
    *[
        Call("error_interval", estimator, data)
        for estimator, data in (
            ("SVC(kernel='sigmoid')", "10 * X, y"),
            ("SVC()", "10 * X, y"),
            ("LogisticRegression(C=0.01)", "X, y"),
            ("scaled(SVC(C=10, gamma=0.01))", "X, y"),
            ("LinearRegression()", "X, z"),
            ("KNeighborsClassifier(weights='distance')", "X, y"),
            ("make_pipeline(MinMaxScaler(), SVC(kernel='linear'))", "X, y"),
            ("LinearDiscriminantAnalysis()", "frame, y"),
            ("GaussianNB()", "X.astype(np.float32), y"),
            ("LogisticRegression()", "sparse, y"),
            ("ExtraTreeClassifier()", "X, y"),
        )
    ],
    Call("score_interval", "LinearDiscriminantAnalysis()", options=", scoring='roc_auc'"),
    Call("score_interval", "GaussianNB()", options=", scoring='neg_log_loss'"),
    Call("score_interval", "RidgeClassifier()", options=", scoring='average_precision'"),
    Call("score_interval", "KNeighborsClassifier()", options=", scoring='f1_macro'"),
    *[
        Call("permutation_test", estimator, data)
        for estimator, data in (
            ("PLSRegression(2)", "X, z"),
            ("Lasso(0.1)", "X, z"),
            ("KernelRidge(kernel='rbf')", "X, z"),
        )
    ],
    *[
        Call("bootstrap_error", estimator)
        for estimator in ("scaled(KNeighborsClassifier())", "LinearSVC()")
    ],
    Call("evaluate", "LinearDiscriminantAnalysis()"),
    Call("evaluate", "scaled(LogisticRegression())"),
]

LARGE = [
    ("20000x20", Call("cross_val_error", "LogisticRegression()")),
    ("100000x10", Call("cross_val_error", "scaled(LogisticRegression())")),
    ("50000x20", Call("cross_val_error", "Ridge()", "X, z")),
    ("100000x5", Call("cross_val_error", "LinearRegression()", "X, z")),
    ("20000x200", Call("cross_val_error", "scaled(RidgeClassifier())")),
    ("50000x50", Call("cross_val_error", "LinearDiscriminantAnalysis()")),
    ("100000x20", Call("cross_val_error", "GaussianNB()")),
    ("20000x5", Call("cross_val_error", "KNeighborsClassifier()")),
    ("50000x10", Call("cross_val_error", "QuadraticDiscriminantAnalysis()")),
    ("20000x10", Call("error_interval", "GaussianNB()")),
    ("50000x5", Call("score_interval", "Ridge()", "X, z", ", scoring='r2'")),
    ("20000x10", Call("permutation_test", "RidgeClassifier()")),
    ("20000x5", Call("bootstrap_error", "LinearDiscriminantAnalysis()")),
]
"""Calls with many samples, by shape, except of an SVC, whose loop takes minutes there."""


def scaled(model: Any) -> Any:
    """Return a pipeline that scales first."""
    return make_pipeline(StandardScaler(), model)


def namespace(shape: str) -> dict[str, Any]:
    """Return the names that calls use: functions, estimators and data of a shape."""
    names: dict[str, Any] = {"np": np, "make_pipeline": make_pipeline, "scaled": scaled}
    for name in MODULES.split():
        module = importlib.import_module(f"sklearn.{name}")
        keys = [key for key in getattr(module, "__all__", dir(module)) if key[0].isupper()]
        names |= {key: getattr(module, key) for key in keys if "Halving" not in key}
    names |= {key: getattr(model_selection, key) for key in model_selection.__all__}
    names["evaluate"] = skeval.evaluate
    n, p = map(int, shape.split("x"))
    rng = np.random.default_rng(0)
    y, X = rng.permutation(np.arange(n) % 2), rng.normal(size=(n, p))
    X[:, :5] += 0.6 * y[:, None]
    counts = rng.poisson(1 + np.abs(X))
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(p)])
    z = X[:, :5].sum(axis=1) + rng.normal(size=n)
    data = {"X": X, "y": y, "z": z, "y10": rng.permutation(np.arange(n) % 10)}
    groups = np.arange(n) * 20 // n
    return names | data | {"frame": frame, "sparse": csr_array(counts), "groups": groups}


def loop(call: Call, names: dict[str, Any]) -> Iterator[None]:
    """Do one pass over the folds, or one resample, at each step."""
    estimator, (X, y) = eval(call.estimator, names), eval(call.data, names)
    options = eval(f"dict({call.options.removeprefix(', ')})", names)
    rng, folds = np.random.default_rng(0), StratifiedKFold if len(set(y)) < len(y) / 2 else KFold
    options.setdefault("cv", folds(n_folds(call, len(y)), shuffle=True))
    if call.function == "evaluate":
        options["scoring"] = METRICS
    while True:
        if call.function == "bootstrap_error":
            rows = rng.integers(len(y), size=len(y))
            out = np.setdiff1d(np.arange(len(y)), rows)
            np.mean(clone(estimator).fit(X[rows], y[rows]).predict(X[out]) != y[out])
        else:
            labels = rng.permutation(y) if call.function == "permutation_test" else y
            cross_validate(estimator, X, labels, **options)
        yield


def n_folds(call: Call, n_samples: int) -> int:
    """Return the default number of folds, which is 5 for an interval of many samples."""
    return 10 if call.function in REPEATS or n_samples <= 5000 else 5


def cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor time of one call, and its result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def time_pair(call: Call, names: dict[str, Any]) -> tuple[float, float]:
    """Return the processor time of the call and of the whole loop."""
    mine, result = cpu(lambda: eval(call.text, names))
    steps, n_done, spent = loop(call, names), 0, 0.0
    if call.function in REPEATS:
        n_steps = REPEATS[call.function]
    elif call.function == "evaluate":
        n_steps = result.estimates["cross_validation"].extra.n_fits // n_folds(
            call, len(names["y"])
        )
        if result.permutation is not None:
            n_steps += len(result.permutation.null_distribution)
    else:
        n_steps = result.extra.n_fits // n_folds(call, len(names["y"]))
    while n_done < n_steps and spent < SECONDS:
        spent, n_done = spent + cpu(lambda: next(steps))[0], n_done + 1
    return mine, spent * n_steps / n_done


def measure(call: Call, shape: str, rounds: int) -> dict[str, str]:
    """Return the numbers of a row of the results."""
    names = namespace(shape)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs = [time_pair(call, names) for _ in range(rounds + 1)][1:]  # the first warms up
    ratios = sorted(theirs / mine for mine, theirs in pairs)
    seconds = statistics.median(mine for mine, _ in pairs)
    values = {"ratio": statistics.median(ratios), "low": ratios[0], "high": ratios[-1]}
    numbers = {name: f"{value:.3g}" for name, value in (values | {"seconds": seconds}).items()}
    return dict.fromkeys(KEYS, "") | numbers


def read_rows(path: Path) -> dict[tuple[str, str], dict[str, str]]:
    """Return the stored rows by shape and call."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {(row["shape"], row["call"]): row for row in csv.DictReader(file)}


def write_rows(path: Path, rows: dict[tuple[str, str], dict[str, str]]) -> None:
    """Write all rows."""
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, list(next(iter(rows.values()))), lineterminator="\n")
        table.writeheader()
        table.writerows(rows.values())


def main() -> None:
    """Measure the calls and print a line for each, and the worst ratio last."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=[""], help="texts that calls contain")
    parser.add_argument("--shapes", nargs="+", help="such as 2000x10, of all small calls")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--again", action="store_true", help="measure stored rows again")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    rows = read_rows(options.results)
    calls = {(s, call.text): (s, call) for s in options.shapes or SHAPES for call in CALLS}
    if not options.shapes:
        calls |= {("large", f"{call.text}, {s}"): (s, call) for s, call in LARGE}
    chosen = [key for key in calls if any(part in key[1] for part in options.only)]
    for key in chosen:
        if options.again or key not in rows:
            shape, call = calls[key]
            rows[key] = measure(call, shape, options.rounds) | dict(zip(KEYS, key, strict=True))
            cells = "{ratio:>6} ({low} to {high})".format(**rows[key])
            print(f"{key[0]:8s}{key[1]:90s}{rows[key]['seconds']:>8} s   x {cells}", flush=True)
            write_rows(options.results, rows)
    ratios = sorted(float(rows[key]["ratio"]) for key in chosen)
    print(f"median of {len(ratios)} calls: {statistics.median(ratios):.2f}")
    print(f"ratio: {ratios[0]:.2f}")
    sys.exit(ratios[0] < MIN_RATIO)


if __name__ == "__main__":
    main()
