"""``skeval evaluate``: the error of a classifier or regressor in every way.

Its options, the estimators that it knows by name or imports, and how long the answer will take.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterator
from contextlib import suppress
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

from skeval._commands._shared import (
    add_common,
    collect_notes,
    count_columns,
    deliver,
    describe_preparation,
    make_preparation,
    parse_whole_number_from,
    progress_level,
    read_columns,
)

if TYPE_CHECKING:
    from skeval.datasets._tables import ColumnTable

__all__ = ["CLASSIFIERS", "add_evaluate"]

QUICK_BUDGET = 10.0
FOLDS, N_FITS = 10, 112
"""Of an answer: folds, and fits with those that every report needs beside it."""
WORTH_TELLING = 10.0
MOST_CLASSES = 20


def add_evaluate(commands: Any) -> None:
    """Add the command to the subparsers."""
    parser = commands.add_parser(
        "evaluate", help="estimate the error of a classifier or regressor in every way"
    )
    parser.set_defaults(run=_run_evaluate)
    add_common(parser, target="column to predict in a file (default: target)")
    add = parser.add_argument
    add("--groups", metavar="COLUMN", help="samples that share its value stay together")
    add(
        "--time",
        metavar="COLUMN",
        help="numbers or dates: each fold is predicted from what came before it; no feature",
    )
    add(
        "--task",
        choices=("classes", "numbers"),
        help="what the target holds (default: numbers where there are fractions or more than "
        f"{MOST_CLASSES} whole numbers)",
    )
    add(
        "--estimator",
        metavar="NAME",
        help=f"behind a StandardScaler: {', '.join(CLASSIFIERS)} (default: linear-svm); of numbers "
        f"{', '.join(REGRESSORS)} (default: ridge); or module:object, your own",
    )
    add(
        "--select",
        type=parse_whole_number_from(1),
        metavar="K",
        help="keep the K best features, inside the loop",
    )
    add(
        "--scoring",
        metavar="NAME",
        action="append",
        help="a score beside the usual ones, such as f1_weighted; more than once for more",
    )
    add("--by", metavar="COLUMN", help="the error of each subgroup, by a column that stays")
    _add_sizes(parser)


def _add_sizes(parser: argparse.ArgumentParser) -> None:
    """Add how much is repeated, and for how long."""
    add = parser.add_argument
    add(
        "--cv",
        metavar="FOLDS",
        type=parse_whole_number_from(2),
        help="folds of the cross-validation (default: 10; with --time so many that the first "
        "trains on two classes)",
    )
    add(
        "--include",
        metavar="NAMES",
        default="auto",
        choices=Parts(),
        help="what to run beside the answer: auto, what costs little (default); all; or, with "
        "commas between them, some of %(choices)s",
    )
    add(
        "--bootstraps",
        type=parse_whole_number_from(1),
        default=200,
        help="bootstrap resamples (default: 200)",
    )
    add(
        "--permutations",
        type=parse_whole_number_from(0),
        default=200,
        help="label permutations for the P-value, at most (default: 200)",
    )
    add(
        "--confidence-level",
        type=_parse_level,
        default=0.95,
        help="of the intervals (default: 0.95)",
    )
    add(
        "--budget",
        type=_parse_budget,
        metavar="SECONDS",
        help="begin nothing after so long: fewer repeats of the folds, fewer estimates",
    )
    add("--quick", action="store_true", help=f"the same as --budget {QUICK_BUDGET:g}")


class Parts:
    """What `include` of `evaluate` names, looked up where help is asked for: it takes a second."""

    def __iter__(self) -> Iterator[str]:
        from skeval.report._evaluate import OPTIONAL

        return iter(OPTIONAL)

    def __contains__(self, text: object) -> bool:
        """Let `evaluate` say what it does not know."""
        return True


def _parse_level(text: str) -> float:
    """Return a level that an interval can have."""
    return _parse_number_below(1, "must lie between 0 and 1", text)


def _parse_budget(text: str) -> float:
    """Return a time that something can be done in."""
    return _parse_number_below(float("inf"), "must be a number of seconds above 0", text)


def _parse_number_below(end: float, rule: str, text: str) -> float:
    """Return a number above 0 and below an end."""
    with suppress(ValueError):
        if 0 < float(text) < end:
            return float(text)
    raise argparse.ArgumentTypeError(f"{rule}, got {text!r}")


def _run_evaluate(options: argparse.Namespace) -> None:
    """Evaluate one estimator and print what was found."""
    if options.time is not None and options.groups is not None:
        raise ValueError("--time keeps no groups together: leave out --groups, or --time.")
    table = read_columns(options, needs_target=True)
    numbers, notes = _choose_task(table, options.task)
    if numbers:
        table = table._replace(y=table.y.astype(float))
    _check_selected(table, options.select)
    estimator, procedure = _make_estimator(table, options, numbers)
    budget = options.budget or (QUICK_BUDGET if options.quick else None)
    if budget is None and options.time is None:
        _tell_seconds(estimator, table, options.jobs)
    from skeval.report import evaluate

    report, found = collect_notes(
        evaluate,
        estimator,
        table.X,
        table.y,
        cv=_make_folds(table, options, numbers),
        groups=table.groups,
        scoring=options.scoring,
        by=_find_subgroups(table, options.by),
        include=_parse_include(options.include),
        budget=budget,
        n_bootstraps=options.bootstraps,
        n_permutations=options.permutations,
        confidence_level=options.confidence_level,
        feature_names=table.feature_names,
        left_out=table.left_out or None,
        random_state=options.seed,
        n_jobs=options.jobs,
        verbose=progress_level(),
        memory=options.memory,
    )
    deliver(report, options, table, procedure, [*notes, *found], numbers=numbers)


def _make_folds(table: ColumnTable, options: argparse.Namespace, numbers: bool) -> Any:
    """Return the number of folds, or folds that test what comes after all that they train on."""
    if options.time is None:
        return options.cv
    from sklearn.model_selection import TimeSeriesSplit

    n = len(table.y)
    for n_folds in [options.cv] if options.cv else range(min(FOLDS, n - 1), 1, -1):
        n_first = n - n_folds * (n // (n_folds + 1))  # the first fold trains on
        if n > n_folds and (numbers or len(set(table.y[:n_first].tolist())) > 1):
            return TimeSeriesSplit(n_folds)
    raise ValueError(
        f"--time: the first of {n_folds} folds would train on {max(0, n_first)} of {n} rows, which "
        f"hold one class{'; take fewer folds (--cv)' if n_folds > 2 else ''}."
    )


def _find_subgroups(table: ColumnTable, by: str | None) -> Any:
    """Return the column that holds the subgroups."""
    names = list(table.feature_names)
    if by is None:
        return None
    if by not in names:
        raise ValueError(f"--by must be one of the columns {', '.join(names)}, got {by!r}.")
    values = [str(value) for value in table.X[:, names.index(by)]]
    return ["missing" if value in ("", "nan", "None") else value for value in values]


def _choose_task(table: ColumnTable, task: str | None) -> tuple[bool, list[str]]:
    """Return whether numbers are predicted, not classes, and what to note of it."""
    import numpy as np

    y = table.y
    notes = [f"note: {note}" for note in table.notes]
    if task == "classes":
        if y.dtype.kind == "f" and (y % 1 != 0).any():
            raise ValueError(
                "--task classes needs a target of classes, it holds "
                f"{len(np.unique(y))} distinct fractional numbers."
            )
        return False, notes
    if y.dtype.kind not in "iuf":
        if task == "numbers":
            raise ValueError(f"--task numbers needs a target of numbers, it holds {str(y[0])!r}.")
        return False, notes
    if task == "numbers" or (y % 1 != 0).any():
        return True, notes
    n_distinct = len(np.unique(y))
    if n_distinct <= MOST_CLASSES:
        return False, notes
    note = (
        f"note: the target holds {n_distinct} distinct whole numbers, which are predicted as "
        "numbers; --task classes takes them for names."
    )
    return True, [*notes, note]


def _check_selected(table: ColumnTable, n_selected: int | None) -> None:
    """Raise when there are not that many features to select."""
    n_features = count_columns(table)
    if n_selected is not None and not 1 <= n_selected <= n_features:
        raise ValueError(
            f"--select must lie between 1 and the {n_features} features, got {n_selected}."
        )


def _make_estimator(
    table: ColumnTable, options: argparse.Namespace, numbers: bool
) -> tuple[Any, str]:
    """Return a pipeline (what the table needs, scaling, selection, estimator) and its name."""
    from sklearn.feature_selection import SelectKBest, f_regression
    from sklearn.pipeline import make_pipeline

    name = options.estimator or ("ridge" if numbers else "linear-svm")
    own = ":" in name
    final = parse_path(name) if own else make_named(name, options.seed, numbers=numbers)
    steps = make_preparation(table, scale=not own)
    selected = ""
    if options.select is not None:
        selector = SelectKBest(k=options.select)
        steps.append(selector.set_params(score_func=f_regression) if numbers else selector)
        selected = f" on the {options.select} best features"
    estimator = make_pipeline(*steps, final) if steps else final
    return estimator, f"{name}{selected}{describe_preparation(table)}, seed {options.seed}"


def _parse_include(text: str) -> str | list[str]:
    """Return what `include` of `evaluate` takes."""
    return text if text in ("auto", "all") else [name.strip() for name in text.split(",")]


def _tell_seconds(estimator: Any, table: ColumnTable, n_jobs: int | None) -> None:
    """Say how long the answer will take, where that is long, and what can be done about it.

    What other programs take of the machine meanwhile does not count.
    """
    from joblib import effective_n_jobs
    from sklearn.base import clone

    start = perf_counter(), process_time()
    try:
        model = clone(estimator).fit(table.X, table.y)
        model.predict(table.X)
    except Exception:  # evaluate says it better
        return
    fit = min(perf_counter() - start[0], process_time() - start[1])
    seconds = N_FITS * fit / effective_n_jobs(n_jobs)
    if seconds > WORTH_TELLING:
        print(
            f"skeval: a fit takes {fit:.2g} s, so the answer will take about {seconds:.0f} s, less "
            "where a solver does many fits at once; --budget SECONDS does with fewer.",
            file=sys.stderr,
        )


CLASSIFIERS = ("linear-svm", "rbf-svm", "logistic", "lda", "knn", "forest")
REGRESSORS = ("ridge", "linear-svm", "rbf-svm", "knn", "forest")


def make_named(name: str, seed: int, *, numbers: bool) -> Any:
    """Return the classifier of a name, or the regressor where numbers are predicted."""
    from sklearn import ensemble, linear_model, neighbors, svm
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    from skeval.utils._seeds import small_seed

    known = REGRESSORS if numbers else CLASSIFIERS
    if name not in known:
        kind = "numbers" if numbers else "classes"
        raise ValueError(
            f"--estimator must be one of {', '.join(known)} or module:object where the target "
            f"holds {kind}, got {name!r}."
        )
    if name == "forest":
        forest = ensemble.RandomForestRegressor if numbers else ensemble.RandomForestClassifier
        return forest(random_state=small_seed(seed))
    if numbers:
        return {
            "ridge": linear_model.Ridge(),
            "linear-svm": svm.SVR(kernel="linear"),
            "rbf-svm": svm.SVR(),
            "knn": neighbors.KNeighborsRegressor(),
        }[name]
    return {
        "linear-svm": svm.SVC(kernel="linear"),
        "rbf-svm": svm.SVC(),
        "logistic": linear_model.LogisticRegression(max_iter=5000),
        "lda": LinearDiscriminantAnalysis(),
        "knn": neighbors.KNeighborsClassifier(),
    }[name]


def parse_path(path: str) -> Any:
    """Return the estimator that ``module:object`` names: an estimator, or what makes one.

    The module is imported, from the current folder too, and nothing is unpickled.
    """
    module_name, _, name = path.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = importlib.import_module(module_name)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"--estimator {path!r} cannot be imported: {error}.") from error
    makes = isinstance(found, type) or (callable(found) and not hasattr(found, "fit"))
    made = found() if makes else found
    if not hasattr(made, "fit"):
        raise ValueError(f"--estimator {path!r} must name an estimator, got {made!r}.")
    return made
