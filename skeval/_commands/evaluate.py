"""``python -m skeval evaluate``: the error of a classifier in every way."""

import argparse
from typing import Any

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skeval._commands._shared import (
    add_common,
    check_classes,
    check_outputs,
    collect_notes,
    deliver,
    parse_whole_number,
    progress_level,
)
from skeval.datasets import load_table
from skeval.datasets._tables import Table
from skeval.report import evaluate
from skeval.utils._seeds import small_seed

__all__ = ["ESTIMATORS", "add_evaluate"]

ESTIMATORS = {
    "linear-svm": lambda seed: SVC(kernel="linear"),
    "rbf-svm": lambda seed: SVC(),
    "logistic": lambda seed: LogisticRegression(max_iter=5000),
    "lda": lambda seed: LinearDiscriminantAnalysis(),
    "knn": lambda seed: KNeighborsClassifier(),
    "forest": lambda seed: RandomForestClassifier(random_state=small_seed(seed)),
}
QUICK: dict[str, Any] = {
    "n_bootstraps": 50,
    "n_permutations": 50,
    "n_resamples": 100,
    "leave_one_out": False,
}


def add_evaluate(commands: Any) -> None:
    """Add the command to the subparsers."""
    parser = commands.add_parser(
        "evaluate", help="estimate the error of a classifier in every way, side by side"
    )
    parser.set_defaults(run=_run_evaluate)
    add_common(parser, target="column of the labels in a file (default: target)")
    add = parser.add_argument
    add("--estimator", choices=ESTIMATORS, default="linear-svm", help="behind a StandardScaler")
    add(
        "--select",
        type=parse_whole_number,
        metavar="K",
        help="keep the K best features, inside the loop",
    )
    add("--folds", type=parse_whole_number, help="folds of the cross-validation (default: 10)")
    add("--bootstraps", type=parse_whole_number, help="bootstrap resamples (default: 200)")
    add(
        "--permutations",
        type=parse_whole_number,
        help="label permutations for the P-value (default: 200)",
    )
    add("--confidence-level", type=float, default=0.95, help="of the intervals (default: 0.95)")
    add("--quick", action="store_true", help="fewer resamples and permutations, no leave-one-out")


def _run_evaluate(options: argparse.Namespace) -> None:
    """Evaluate one estimator and print what was found."""
    table, table_notes = collect_notes(
        load_table, options.data, target=options.target, header=options.header
    )
    check_classes(table)
    _check_selected(table, options.select)
    check_outputs(options)
    asked = {"n_bootstraps": options.bootstraps, "n_permutations": options.permutations}
    given = {name: value for name, value in asked.items() if value is not None}
    sizes = (QUICK if options.quick else {}) | given
    report, notes = collect_notes(
        evaluate,
        _make_estimator(options.estimator, options.select, options.seed),
        table.X,
        table.y,
        cv=options.folds,
        **sizes,
        confidence_level=options.confidence_level,
        feature_names=table.feature_names,
        random_state=options.seed,
        n_jobs=options.jobs,
        verbose=progress_level(),
    )
    selected = "" if options.select is None else f" on the {options.select} best features"
    procedure = f"{options.estimator}{selected}, seed {options.seed}"
    deliver(report, options, table, procedure, [*table_notes, *notes])


def _check_selected(table: Table, n_selected: int | None) -> None:
    """Raise when there are not that many features to select."""
    if n_selected is not None and not 1 <= n_selected <= table.X.shape[1]:
        raise ValueError(
            f"--select must lie between 1 and the {table.X.shape[1]} features, got {n_selected}."
        )


def _make_estimator(name: str, n_selected: int | None, seed: int) -> Pipeline:
    """Return a pipeline: scaling, selection if wanted, classifier."""
    steps = [StandardScaler()]
    if n_selected is not None:
        steps.append(SelectKBest(k=n_selected))
    return make_pipeline(*steps, ESTIMATORS[name](seed))
