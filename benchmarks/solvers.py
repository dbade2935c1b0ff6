"""Time of the loop divided by that of each solver, over sizes of the data and numbers of fits.

A row is an estimator, a shape and a number of fits. Both sides are those of `natural.py`: one call
and scikit-learn's loop, in turn, in one process, on one thread, in processor time. The column
`fits` gives the number of fits, and `solved` those that the solver did. A solver that refuses a
cell leaves it to the loop, so its ratio shows the work around the fits. A cell is repeated up to
five times if its ratio is below 1.1. Cells that exceed `LARGEST` or `WIDEST`, or whose loop
takes longer than `MOST` seconds, are left out.

Rows are stored in benchmarks/results/solvers.csv. doc/derivations/regions.rst has the table. The
exit code is 1 if a ratio is below 0.95.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import warnings
from pathlib import Path
from typing import Any

from natural import MIN_RATIO, Call, cpu, loop, namespace, read_rows, write_rows
from threadpoolctl import threadpool_limits

from skeval._adapters.runner import Runner

RESULTS = Path(__file__).parent / "results" / "solvers.csv"
ESTIMATORS = [
    ("Ridge()", "X, z"),
    ("scaled(RidgeClassifier())", "X, y"),
    ("LinearRegression()", "X, z"),
    ("KernelRidge(kernel='rbf')", "X, z"),
    ("GaussianNB()", "X, y"),
    ("LinearDiscriminantAnalysis()", "X, y"),
    ("KNeighborsClassifier()", "X, y"),
    ("scaled(KNeighborsClassifier())", "X, y"),
    ("LogisticRegression()", "X, y"),
    ("LogisticRegression()", "X, y4"),
    ("SVC(kernel='linear')", "X, y"),
    ("SVC()", "X, y"),
]
SHAPES = (
    *("500x5", "500x50", "500x500", "500x2000", "2000x5", "2000x50", "2000x500"),
    *("10000x5", "10000x50", "10000x500", "50000x5", "50000x50", "100000x5", "100000x50"),
)
CALLS = [("cross_val_error", ""), ("permutation_test", ", n_permutations=20")]
LARGEST = {"Kernel": 2000, "SVC": 2000}
"""Maximum number of samples of estimators with a kernel, whose loop takes minutes or 20 GB."""

WIDEST = 500_000
"""Maximum number of elements of X for nearest neighbors, whose loop takes minutes beyond it."""

MOST = 20.0
MIN_ROUNDS, MAX_ROUNDS = 3, 5
SAFE = 1.1
KEYS = "shape", "call"


class Counter:
    """Counts fits of plans, and those for which a solver is chosen."""

    def __init__(self) -> None:
        self.fits = self.solved = 0
        choose = Runner.choose_solver

        def count(runner: Runner, worker: Any, plan: Any) -> Any:
            solver = choose(runner, worker, plan)
            self.fits += plan.n_fits
            self.solved += plan.n_fits * (solver is not None)
            return solver

        Runner.choose_solver = count  # type: ignore[method-assign]


def main() -> None:
    """Measure the cells and print a line for each, and the worst ratio last."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=[""], help="texts that calls contain")
    parser.add_argument("--shapes", nargs="+", default=SHAPES)
    parser.add_argument("--again", action="store_true", help="measure stored rows again")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows, counter = read_rows(options.results), Counter()
    for shape in options.shapes:
        names = namespace(shape)
        names["y4"] = names["y"] + 2 * (names["X"][:, 0] > 0)
        for function, extra in CALLS:
            for estimator, data in ESTIMATORS:
                call = Call(function, estimator, data, extra)
                key = shape, f"{function}({estimator}, {data}{extra})"
                wanted = any(part in key[1] for part in options.only)
                n = len(names["y"])
                wanted &= all(n <= most for kind, most in LARGEST.items() if kind in estimator)
                wanted &= "KNeighbors" not in estimator or names["X"].size <= WIDEST
                if not wanted or (key in rows and not options.again):
                    continue
                row = measure(call, names, counter)
                if row is not None:
                    rows[key] = dict(zip(KEYS, key, strict=True)) | row
                    print(*rows[key].values(), flush=True)
                    write_rows(options.results, rows)
    worst = min(rows.values(), key=lambda row: float(row["ratio"]))
    print(worst)
    print(f"ratio: {worst['ratio']}")
    sys.exit(float(worst["ratio"]) < MIN_RATIO)


def measure(call: Call, names: dict[str, Any], counter: Counter) -> dict[str, str] | None:
    """Return the numbers of a row, or None if the loop takes too long."""
    with threadpool_limits(1):
        # time of a pass of the loop
        one = cpu(lambda: next(loop(call._replace(options=""), names)))[0]
        n_passes = 21 if call.function == "permutation_test" else 1
        if one * n_passes > MOST:
            return None
        counter.fits = counter.solved = 0
        time_call(call, names, n_passes)  # warms up
        counts = counter.fits, counter.solved
        pairs = []
        while len(pairs) < MIN_ROUNDS or (len(pairs) < MAX_ROUNDS and median(pairs) < SAFE):
            pairs.append(time_call(call, names, n_passes))
    ratios = sorted(theirs / mine for mine, theirs in pairs)
    values = {"ratio": median(pairs), "low": ratios[0], "high": ratios[-1]}
    values["seconds"] = statistics.median(mine for mine, _ in pairs)
    numbers = {name: f"{value:.3g}" for name, value in values.items()}
    return {"fits": str(counts[0]), "solved": str(counts[1])} | numbers


def time_call(call: Call, names: dict[str, Any], n_passes: int) -> tuple[float, float]:
    """Return the processor time of the call, and of the passes of the loop."""
    text = f"{call.function}({call.estimator}, {call.data}{call.options})"
    mine, _ = cpu(lambda: eval(text, names))
    steps, spent, n_done = loop(call._replace(options=""), names), 0.0, 0
    while n_done < n_passes and (spent < max(0.3, mine / 4) or n_done < 1):
        spent, n_done = spent + cpu(lambda: next(steps))[0], n_done + 1
    return mine, spent * n_passes / n_done


def median(pairs: list[tuple[float, float]]) -> float:
    """Return the median of the paired ratios."""
    return statistics.median(theirs / mine for mine, theirs in pairs)


if __name__ == "__main__":
    main()
