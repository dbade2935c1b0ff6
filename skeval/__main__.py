"""The command line: ``python -m skeval evaluate DATA``."""

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.multiclass import type_of_target

import skeval
from skeval.datasets import load_table
from skeval.datasets._tables import BUNDLED, Table

__all__ = ["main"]

ESTIMATORS = {
    "linear-svm": lambda seed: SVC(kernel="linear"),
    "rbf-svm": lambda seed: SVC(),
    "logistic": lambda seed: LogisticRegression(max_iter=5000),
    "lda": lambda seed: LinearDiscriminantAnalysis(),
    "knn": lambda seed: KNeighborsClassifier(),
    "forest": lambda seed: RandomForestClassifier(random_state=seed),
}
QUICK: dict[str, Any] = {
    "n_bootstraps": 50,
    "n_permutations": 50,
    "n_resamples": 100,
    "leave_one_out": False,
}


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """Print the message and leave with status 2."""
        self.exit(2, f"skeval: error: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, default=None
        The words behind ``python -m skeval``; None takes them from `sys.argv`.

    Returns
    -------
    int
        0, or 2 for bad input.
    """
    options = make_parser().parse_args(arguments)
    try:
        print(options.run(options))
    except (ValueError, TypeError, OSError) as error:
        print(f"skeval: error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = Parser(prog="python -m skeval", description=skeval.__doc__)
    parser.add_argument("--version", action="version", version=skeval.__version__)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    evaluate = commands.add_parser(
        "evaluate", help="estimate the error of a classifier in every way, side by side"
    )
    evaluate.set_defaults(run=run_evaluate)
    add = evaluate.add_argument
    add("data", metavar="DATA", help=f"{', '.join(BUNDLED)}, or a CSV, NPZ or Parquet file")
    add("--target", metavar="COLUMN", help="column of the labels in a file (default: target)")
    add("--estimator", choices=ESTIMATORS, default="linear-svm", help="behind a StandardScaler")
    add("--select", type=int, metavar="K", help="keep the K best features, inside the loop")
    add("--folds", type=int, help="folds of the cross-validation (default: 10)")
    add("--bootstraps", type=int, help="bootstrap resamples (default: 200)")
    add("--permutations", type=int, help="label permutations for the P-value (default: 200)")
    add("--seed", type=int, default=0, help="seed of all splits and resamples (default: 0)")
    add("--jobs", type=int, help="number of joblib workers")
    add("--level", type=float, default=0.95, help="level of the intervals (default: 0.95)")
    add("--json", metavar="FILE", help="write all numbers to a file, too")
    add("--quick", action="store_true", help="fewer resamples and permutations, no leave-one-out")
    return parser


def run_evaluate(options: argparse.Namespace) -> str:
    """Evaluate one estimator and return the text to print."""
    table = load_table(options.data, target=options.target)
    check_table(table, options.select)
    check_writable(options.json)
    sizes = QUICK if options.quick else {}
    for name, value in (
        ("n_bootstraps", options.bootstraps),
        ("n_permutations", options.permutations),
    ):
        sizes = sizes if value is None else sizes | {name: value}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        report = skeval.evaluate(
            make_estimator(options.estimator, options.select, options.seed),
            table.X,
            table.y,
            cv=options.folds,
            **sizes,
            confidence_level=options.level,
            random_state=options.seed,
            n_jobs=options.jobs,
            verbose=int(sys.stderr.isatty()),
        )
    if options.json:
        report.to_json(options.json)
    notes = sorted({f"note: {' '.join(str(item.message).split())}" for item in caught})
    return "\n".join([headline(options, table), "", str(report), *notes])


def check_table(table: Table, n_selected: int | None) -> None:
    """Raise when the data cannot be classified."""
    if table.y.ndim == 1 and type_of_target(table.y) == "continuous":
        raise ValueError(
            "the target must hold classes, it holds "
            f"{len(np.unique(table.y))} distinct fractional numbers."
        )
    if n_selected is not None and not 1 <= n_selected <= table.X.shape[1]:
        raise ValueError(
            f"--select must lie between 1 and the {table.X.shape[1]} features, got {n_selected}."
        )


def check_writable(path: str | None) -> None:
    """Raise before the work, rather than after it, when a result has nowhere to go."""
    if path is not None and not Path(path).absolute().parent.is_dir():
        raise ValueError(f"--json: there is no folder {str(Path(path).parent)!r}.")


def make_estimator(name: str, n_selected: int | None, seed: int) -> Pipeline:
    """Return a pipeline: scaling, selection if wanted, classifier."""
    steps = [StandardScaler()]
    if n_selected is not None:
        steps.append(SelectKBest(k=n_selected))
    return make_pipeline(*steps, ESTIMATORS[name](seed))


def headline(options: argparse.Namespace, table: Table) -> str:
    """Name the data, their size and classes, and the estimator."""
    classes, sizes = np.unique(table.y, return_counts=True)
    counts = ", ".join(f"{name}: {size}" for name, size in zip(classes, sizes, strict=True))
    selected = "" if options.select is None else f" on the {options.select} best features"
    return (
        f"{Path(options.data).name}: {table.X.shape[0]} samples, {table.X.shape[1]} features, "
        f"{len(classes)} classes ({counts})\n{options.estimator}{selected}, seed {options.seed}"
    )


if __name__ == "__main__":
    sys.exit(main())
