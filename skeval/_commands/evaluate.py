"""``skeval evaluate``: the error of a classifier or regressor in every way.

Its options, the estimators that it knows by name or imports, and how long an evaluation will take
and what it does without to keep within a time.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
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

__all__ = ["CLASSIFIERS", "Workload", "add_evaluate", "fit_to_budget", "time_fits"]

SIZES: dict[str, Any] = {"n_bootstraps": 200, "n_permutations": 200, "n_resamples": 500}
QUICK: dict[str, Any] = {"n_bootstraps": 50, "n_permutations": 50, "n_resamples": 100}
QUICK_BUDGET = 10.0
LEAVE_ONE_OUT_LIMIT, FOLDS = 1000, 10
WORTH_TELLING = 10.0
MOST_CLASSES = 20
REPEATS = 10


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
    add("--bootstraps", type=parse_whole_number_from(1), help="bootstrap resamples (default: 200)")
    add(
        "--permutations",
        type=parse_whole_number_from(0),
        help="label permutations for the P-value (default: 200)",
    )
    add(
        "--confidence-level",
        type=_parse_level,
        default=0.95,
        help="of the intervals (default: 0.95)",
    )
    add("--budget", type=_parse_budget, metavar="SECONDS", help="leave out what would take longer")
    add(
        "--quick",
        action="store_true",
        help="fewer resamples and permutations, no leave-one-out, and less still where that would "
        f"take more than {QUICK_BUDGET:g} s",
    )


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
    sizes, told = _choose_sizes(estimator, table, options)
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
        **sizes,
        confidence_level=options.confidence_level,
        feature_names=table.feature_names,
        left_out=table.left_out or None,
        random_state=options.seed,
        n_jobs=options.jobs,
        verbose=progress_level(),
        memory=options.memory,
    )
    deliver(report, options, table, procedure, [*notes, *told, *found], numbers=numbers)


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


def _choose_sizes(
    estimator: Any, table: ColumnTable, options: argparse.Namespace
) -> tuple[dict[str, Any], list[str]]:
    """Return how much is repeated, and what is left out to keep within a time."""
    from joblib import effective_n_jobs

    n = len(table.y)
    asked = {"n_bootstraps": options.bootstraps, "n_permutations": options.permutations}
    given = {name: value for name, value in asked.items() if value is not None}
    sizes = (QUICK if options.quick else SIZES) | given
    sizes["leave_one_out"] = not options.quick and n <= LEAVE_ONE_OUT_LIMIT
    if options.time is not None:  # nothing is repeated in another order
        return sizes, []
    try:
        fit, shuffled = time_fits(estimator, table.X, table.y, abs(options.seed))
    except Exception:  # evaluate says it better
        return sizes, []
    final = estimator[-1] if hasattr(estimator, "steps") else estimator
    linear = getattr(final, "kernel", None) == "linear" and table.y.dtype.kind != "f"
    perturbed = linear and table.groups is None and len(set(table.y.tolist())) == 2
    work = Workload(
        n_samples=n,
        n_folds=min(options.cv or FOLDS, n),
        **sizes,
        perturbed=perturbed,
        n_others=REPEATS * min(options.cv or FOLDS, n),
        fit=fit,
        shuffled=shuffled,
    )
    workers = effective_n_jobs(options.jobs)
    budget = options.budget or (QUICK_BUDGET if options.quick else None)
    told: list[str] = []
    if budget is not None:
        work, told = fit_to_budget(work, budget * workers, frozenset(given))
    seconds = work.seconds / workers
    _tell_seconds(seconds, fit, budget)
    if budget is not None and told:
        aim = "keep within" if seconds <= budget else "come nearer to"
        told = [f"note: left out to {aim} {budget:g} s: {', '.join(told)}."]
    return {name: getattr(work, name) for name in sizes}, told


def _tell_seconds(seconds: float, fit: float, budget: float | None) -> None:
    """Say how long all fits will take, where that is long, and what can be done about it."""
    if seconds <= WORTH_TELLING:
        return
    advice = "--budget SECONDS does with fewer"
    if budget is not None and seconds > budget:
        advice = f"{budget:g} s are too few, for fewer fits would tell too little"
    print(
        f"skeval: a fit takes {fit:.2g} s, so all will take about {seconds:.0f} s, less where a "
        f"solver does many fits at once; {advice}.",
        file=sys.stderr,
    )


FEWEST_RESAMPLES = 20
SMALLEST_TEST = 19
"""Permutations with which P can be .05."""


WISHES: list[tuple[str, Any, str]] = [
    ("leave_one_out", False, "leave-one-out"),
    ("n_permutations", SMALLEST_TEST, "permutations"),
    ("n_resamples", FEWEST_RESAMPLES, "perturbations"),
    ("n_bootstraps", FEWEST_RESAMPLES, "bootstrap resamples"),
    ("n_resamples", 0, "perturbations"),
    ("n_permutations", 0, "permutations"),
]
"""What is lowered, how far, and what it is called; what says least comes first."""


@dataclass(frozen=True)
class Workload:
    """The sizes of an evaluation, and what a fit to true and to shuffled labels takes.

    `seconds` is what the fits take on one core; a solver that does many at once takes less.
    """

    n_samples: int
    n_folds: int
    n_bootstraps: int
    n_permutations: int
    n_resamples: int
    leave_one_out: bool
    perturbed: bool
    n_others: int
    fit: float
    shuffled: float

    @property
    def n_fits(self) -> int:
        """The number of fits to true labels."""
        loo = self.n_samples if self.leave_one_out else 0
        perturbations = self.n_resamples * (1 + self.n_folds) if self.perturbed else 0
        return 2 + self.n_others + self.n_folds + loo + self.n_bootstraps + perturbations

    @property
    def seconds(self) -> float:
        """What all fits take, one after another."""
        return self.n_fits * self.fit + self.n_permutations * self.n_folds * self.shuffled


def time_fits(estimator: Any, X: Any, y: Any, seed: int) -> tuple[float, float]:
    """Return the seconds of a fit and prediction, with true and with shuffled labels.

    What other programs take of the machine meanwhile does not count.
    """
    import numpy as np
    from sklearn.base import clone

    seconds = []
    for labels in (y, np.random.default_rng(seed).permutation(y)):
        start = perf_counter(), process_time()
        model = clone(estimator).fit(X, labels)
        model.predict(X)
        if hasattr(model, "predict_proba"):  # which an evaluation asks for, too
            model.predict_proba(X)
        seconds.append(min(perf_counter() - start[0], process_time() - start[1]))
    return seconds[0], seconds[1]


def fit_to_budget(
    work: Workload, budget: float, fixed: frozenset[str]
) -> tuple[Workload, list[str]]:
    """Return a workload within so many seconds, and what was left out for it.

    It goes by `WISHES`; what is `fixed` stays.
    """
    asked, names = work, dict[str, str]()
    for field, least, words in WISHES:
        if work.seconds <= budget or field in fixed or getattr(work, field) <= least:
            continue
        share = _find_share(work, field, least, budget)
        if _resize(work, field, share).seconds < work.seconds:
            work, names[field] = _resize(work, field, share), words
    told = []
    for field, words in names.items():
        now = getattr(work, field)
        told.append(f"{now} {words} instead of {getattr(asked, field)}" if now else f"no {words}")
    return work, told


def _find_share(work: Workload, field: str, least: int, budget: float) -> int:
    """Return how much of something fits in, at least `least`; nothing where that is 0.

    What is left at last would be too little to tell anything, as a single permutation is.
    """
    now, without = getattr(work, field), _resize(work, field, 0)
    if isinstance(now, bool) or least == 0:
        return 0
    each = (work.seconds - without.seconds) / now
    room = int((budget - without.seconds) / each) if each > 0 else now
    return min(now, max(least, room))


def _resize(work: Workload, field: str, size: Any) -> Workload:
    """Return a workload with another size of one of its fields."""
    changes: dict[str, Any] = {field: size}
    return replace(work, **changes)


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
