"""``skeval evaluate``: the error of a classifier or regressor, or of predictions.

Options, named and imported estimators, and the forecast of the running time.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any

from skeval._commands import BUNDLED, _shared

if TYPE_CHECKING:
    from skeval._commands._data import Table

QUICK_BUDGET = 10.0
FOLDS, REPEATS = 10, 10
MIN_FORECAST = 10.0
PILOT_ROWS, MIN_PILOTS, PILOT_SECONDS = 5000, 500, 1.0
"""Rows from which the running time is forecast, smallest pilot sample, and seconds for pilots."""
MAX_SVM_ROWS = 20_000
"""Maximum number of rows for which a support vector machine is the default."""
MAX_CLASSES, MAX_SUBGROUPS = 20, 20
EXAMPLES = """\
examples:
  a first look, and an HTML page within ten seconds:
    skeval evaluate people.csv --target died --id name
    skeval evaluate people.csv --target died --quick --html people.html
  keep each patient together; report the error by clinic:
    skeval evaluate visits.csv --groups patient --by clinic
  predict each of five folds from earlier rows:
    skeval evaluate sales.csv --target price --time date --cv 5
  additional scores:
    skeval evaluate iris --estimator logistic --scoring f1_weighted --scoring roc_auc_ovo
  your own estimator; the same command resumes an interrupted run:
    skeval evaluate iris --estimator my_module:make_model --memory runs
  existing predictions with a threshold of .3, without fitting:
    skeval evaluate answers.csv --predictions p_ill --threshold 0.3
"""


INCLUDED = ("holdout", "permutation", "selection", "leave_one_out", "bootstrap", "perturbation")
"""Names in `include` of `evaluate`; repeated here (and tested), since importing it is slow."""


def add_evaluate(commands: Any) -> None:
    """Add the command to the subparsers."""
    parser = commands.add_parser(
        "evaluate",
        help="estimate the error of a classifier or regressor",
        description="Estimate the error of a classifier, a regressor or existing predictions with "
        "a confidence interval, and warn of leakage and other problems of the table.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=_run)
    _shared.add_common(parser, target="column to predict in a file (default: target)")
    add = parser.add_argument
    add("--groups", metavar="COLUMN", help="column of groups, which are never split")
    add(
        "--time",
        metavar="COLUMN",
        help="column of numbers or dates: each fold is predicted from earlier rows; not a feature",
    )
    add(
        "--task",
        choices=("classes", "numbers"),
        help="type of the target (default: numbers if there are fractions or more than "
        f"{MAX_CLASSES} whole numbers)",
    )
    add(
        "--estimator",
        metavar="NAME",
        help=f"classifier: {', '.join(CLASSIFIERS)} (default: linear-svm, or logistic for more "
        f"than {MAX_SVM_ROWS} rows); regressor: {', '.join(REGRESSORS)} (default: ridge). These "
        "follow a StandardScaler. Or your own estimator, as module:object",
    )
    add(
        "--select",
        type=_shared.parse_whole_number_from(1),
        metavar="K",
        help="select the K best features within the folds",
    )
    add(
        "--scoring",
        metavar="NAME",
        action="append",
        help="additional scorer, such as f1_weighted; repeat for more",
    )
    add(
        "--by",
        metavar="COLUMN",
        help="report the error by subgroup of this column, which remains a feature",
    )
    _add_predictions(parser)
    _add_sizes(parser)


def _add_predictions(parser: argparse.ArgumentParser) -> None:
    """Add the options for existing predictions."""
    add = parser.add_argument
    add(
        "--predictions",
        metavar="COLUMN",
        nargs="+",
        help="column of existing predictions: labels, probabilities of the "
        "second class, scores or numbers; or the columns of probabilities that have the names of "
        "the classes; or, to compare several systems, a column of each. Nothing is fitted",
    )
    add(
        "--pos-label",
        metavar="CLASS",
        help="positive class (default: the rarer class; with --predictions the class to which "
        "probabilities, scores or 1 refer, by default the second in sorted order)",
    )
    add(
        "--labels",
        metavar="COLUMN",
        nargs="+",
        help="for several labels per sample, instead of --target: the columns of 0 and 1; "
        "pass the same number of columns of labels or probabilities to --predictions",
    )
    add(
        "--threshold",
        type=_read_threshold,
        help="with --predictions: probability or score from which the second class is "
        "predicted; youden, sensitivity=0.9, specificity=0.9 or cost_ratio=5 choose it",
    )


def _read_threshold(text: str) -> Any:
    """Return a number, or the rule that chooses a threshold."""
    name, equals, wanted = text.partition("=")
    if text == "youden":
        return text
    with suppress(ValueError):
        return {name: float(wanted)} if equals else float(text)
    raise argparse.ArgumentTypeError(
        f"must be a number, youden, sensitivity=0.9, specificity=0.9 or cost_ratio=5, got {text!r}"
    )


def _add_sizes(parser: argparse.ArgumentParser) -> None:
    """Add the options for repeats and time."""
    add = parser.add_argument
    add(
        "--cv",
        metavar="FOLDS",
        type=_shared.parse_whole_number_from(2),
        help="number of folds (default: 10; with --time, as many as leave two classes in the "
        "first training set)",
    )
    add(
        "--include",
        metavar="NAMES",
        default="auto",
        help="parts to run besides the main estimate: auto (default), all, "
        f"or a comma-separated list of {', '.join(INCLUDED)}",
    )
    add(
        "--bootstraps",
        metavar="N",
        type=_shared.parse_whole_number_from(1),
        default=200,
        help="bootstrap resamples (default: 200)",
    )
    add(
        "--permutations",
        metavar="N",
        type=_shared.parse_whole_number_from(0),
        default=200,
        help="maximum number of label permutations for the P-value (default: 200)",
    )
    add(
        "--confidence-level",
        metavar="LEVEL",
        type=partial(_parse_number_below, 1, "must lie between 0 and 1"),
        default=0.95,
        help="confidence level of the intervals (default: 0.95)",
    )
    add(
        "--budget",
        type=partial(_parse_number_below, math.inf, "must be a number of seconds above 0"),
        metavar="SECONDS",
        help="time limit in seconds: fewer repeats of the folds, fewer estimates",
    )
    add("--quick", action="store_true", help=f"the same as --budget {QUICK_BUDGET:g}")


def _parse_number_below(end: float, rule: str, text: str) -> float:
    """Return a number above 0 and below a limit: a level, or a time."""
    with suppress(ValueError):
        if 0 < float(text) < end:
            return float(text)
    raise argparse.ArgumentTypeError(f"{rule}, got {text!r}")


def _run(options: argparse.Namespace) -> None:
    """Evaluate an estimator, or predictions."""
    if options.predictions is None and options.labels is not None:
        raise ValueError(
            "--labels needs --predictions: only skeval.evaluate in Python fits several labels."
        )
    if options.predictions is None:
        _run_evaluate(options)
    else:
        _run_predictions(options)


def _run_evaluate(options: argparse.Namespace) -> None:
    """Evaluate one estimator and print the report."""
    if options.time is not None and options.groups is not None:
        raise ValueError("--time does not keep groups together: leave out --groups, or --time.")
    table = _shared.read_columns(options, needs_target=True)
    numbers, notes = _choose_task(table, options)
    if numbers:
        table = table._replace(y=table.y.astype(float))
    n_features = _shared.count_columns(table)
    if options.select is not None and not 1 <= options.select <= n_features:
        raise ValueError(
            f"--select must lie between 1 and the {n_features} features, got {options.select}."
        )
    if options.by is not None and options.by == options.groups:
        notes.append(
            "note: --by and --groups name the same column, so each subgroup is one group, whose "
            "error has no useful interval; use --by with a column of larger subgroups."
        )
    subgroups = _find_subgroups(table, options)
    notes += _note_subgroups(options, subgroups)
    estimator, procedure = _make_estimator(table, options, numbers)
    options.progress.headline = f"{_shared.describe_data(options.data, table)}; {procedure}"
    if len(table.X) > PILOT_ROWS:
        options.progress.say_headline()
        _forecast(estimator, table, options)
    from skeval.report import evaluate

    budget, include = _find_budget(options), options.include
    if options.estimator is None and len(table.X) > MAX_SVM_ROWS and not numbers:
        notes.append(
            f"note: the default for more than {MAX_SVM_ROWS} rows is logistic regression, "
            "because a support vector machine may take hours; use --estimator linear-svm to "
            "get one."
        )
    run = partial(
        evaluate,
        estimator,
        table.X,
        table.y,
        cv=_make_folds(table, options, numbers),
        groups=table.groups,
        scoring=options.scoring,
        by=subgroups,
        include=include if include in ("auto", "all") else include.replace(" ", "").split(","),
        budget=budget,
        n_bootstraps=options.bootstraps,
        n_permutations=options.permutations,
        confidence_level=options.confidence_level,
        feature_names=table.feature_names,
        left_out=table.left_out or None,
        pos_label=_find_positive(table, options),
        random_state=options.seed,
        n_jobs=options.jobs,
        memory=options.memory,
    )
    try:
        with _suggest_numbers(notes):
            report, run_notes = _shared.collect_notes(run)
    except KeyboardInterrupt as stop:
        if hasattr(stop, "report"):
            _shared.deliver(stop.report, options, table, procedure, notes, numbers=numbers)
        raise
    _shared.deliver(report, options, table, procedure, [*notes, *run_notes], numbers=numbers)


def _name_classes(table: Table) -> dict[str, Any]:
    """Return the classes by their text."""
    return {str(label): label for label in sorted(set(table.y.tolist()), key=str)}


def _find_positive(table: Table, options: argparse.Namespace) -> Any:
    """Return the class of --pos-label; None without this option."""
    if options.pos_label is None:
        return None
    classes = _name_classes(table)
    if options.pos_label not in classes:
        raise ValueError(
            f"--pos-label must be one of the classes {', '.join([*classes][:10])}, got "
            f"{options.pos_label!r}."
        )
    return classes[options.pos_label]


def _run_predictions(options: argparse.Namespace) -> None:
    """Evaluate the predictions in a file and print the report."""
    for name in ("estimator", "select", "time", "cv", "budget"):
        if getattr(options, name) is not None:
            raise ValueError(f"--{name} cannot be used with --predictions, which fits nothing.")
    truth = options.labels or ([] if options.target is None else [options.target])
    if shared := [name for name in options.predictions if name in truth]:
        raise ValueError(
            f"--predictions: {shared[0]!r} is the column of true values; name a column that a "
            "system predicted."
        )
    only = dict.fromkeys(options.predictions, "--predictions")
    only |= dict.fromkeys(options.labels or (), "--labels")
    only |= {} if options.by is None else {options.by: "--by"}
    table = _shared.read_columns(options, needs_target=options.labels is None, only=only)
    columns: Any = _find_columns(table, "predictions", options.predictions)
    n_columns, positive = columns.shape[1], None
    source = f"in {', '.join(options.predictions)}"
    if options.labels is not None:
        y, labels, numbers = _find_columns(table, "labels", options.labels), options.labels, False
        notes = [f"note: {note}" for note in table.notes]
        table, source = table._replace(y=None), f"of {', '.join(labels)} {source}"
    else:
        numbers, notes = _choose_task(table, options)
        y, classes = table.y, _name_classes(table)
        labels = [classes.get(name, name) for name in options.predictions]
        if columns.shape[1] == 1:
            columns, labels = columns[:, 0], None
        elif not {*classes} <= {*options.predictions}:  # columns of several systems
            systems = dict(zip(options.predictions, columns.T, strict=True))
            columns, labels = systems, None
        positive = _find_positive(table, options)
    subgroups = _find_subgroups(table, options)
    notes += _note_subgroups(options, subgroups)
    from skeval.report import evaluate_predictions

    with _suggest_numbers(notes):
        report, run_notes = _shared.collect_notes(
            evaluate_predictions,
            y,
            columns,
            kind="numbers" if numbers else "auto",
            threshold=options.threshold,
            scoring=options.scoring,
            groups=table.groups,
            by=subgroups,
            pos_label=positive,
            labels=labels,
            confidence_level=options.confidence_level,
            random_state=options.seed,
        )
    table = table._replace(X=table.X[:, :n_columns])
    notes += run_notes
    _shared.deliver(
        report, options, table, f"predictions {source}", notes, numbers=numbers, column="prediction"
    )


def _find_columns(table: Table, option: str, wanted: list[str]) -> Any:
    """Return the columns of these names."""
    names = list(table.feature_names)
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise ValueError(f"--{option}: there is no column {unknown[0]!r} among {names}.")
    return table.X[:, [names.index(name) for name in wanted]]


def _make_folds(table: Table, options: argparse.Namespace, numbers: bool) -> Any:
    """Return the number of folds, or folds that test later rows than they train on."""
    if options.time is None:
        return options.cv
    from sklearn.model_selection import TimeSeriesSplit

    n = len(table.y)
    for n_folds in [options.cv] if options.cv else range(min(FOLDS, n - 1), 1, -1):
        n_first = n - n_folds * (n // (n_folds + 1))  # training samples of the first fold
        if n > n_folds and (numbers or len(set(table.y[:n_first].tolist())) > 1):
            return TimeSeriesSplit(n_folds)
    raise ValueError(
        f"--time: the first of {n_folds} folds would train on {max(0, n_first)} of {n} rows, which "
        f"contain one class{'; take fewer folds (--cv)' if n_folds > 2 else ''}."
    )


def _find_subgroups(table: Table, options: argparse.Namespace) -> Any:
    """Return the column of the subgroups: a feature, the groups, or a column left out."""
    by = options.by
    if by is None:
        return None
    columns = dict(zip(table.feature_names, table.X.T, strict=True)) | table.left_out
    if table.groups is not None:
        columns[options.groups] = table.groups
    if by not in columns:
        names = ", ".join(columns)
        raise ValueError(f"--by must be one of the columns {names}, got {by!r}.")
    values = [
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        for value in columns[by]
    ]
    return ["missing" if value in ("", "nan", "None") else value for value in values]


def _note_subgroups(options: argparse.Namespace, subgroups: list[str] | None) -> list[str]:
    """Return a note if there are many subgroups, such as one for each age."""
    n = len(set(subgroups or ()))
    if n <= MAX_SUBGROUPS or options.by == options.groups:
        return []
    return [
        f"note: --by {options.by} makes {n} subgroups, too small for useful intervals; use a "
        "column of larger subgroups, such as age bands instead of ages."
    ]


def _choose_task(table: Table, options: argparse.Namespace) -> tuple[bool, list[str]]:
    """Return whether the target is numeric, with a note."""
    import numpy as np

    y, task = table.y, options.task
    notes = [f"note: {note}" for note in table.notes]
    if task == "classes":
        if y.dtype.kind == "f" and (y % 1 != 0).any():
            raise ValueError(
                "--task classes needs a target of classes, it has "
                f"{len(np.unique(y))} distinct fractional numbers."
            )
        return False, notes
    if y.dtype.kind not in "iuf":
        if task == "numbers":
            raise ValueError(f"--task numbers needs a target of numbers, it has {str(y[0])!r}.")
        return False, notes
    if task == "numbers" or (y % 1 != 0).any():
        return True, notes
    n_distinct = len(np.unique(y))
    numbers = n_distinct > MAX_CLASSES
    if numbers or (n_distinct > 2 and options.data not in BUNDLED):
        kind, other = ("numeric", "classes") if numbers else ("classes", "numbers")
        notes.append(
            f"note: the target has {n_distinct} distinct whole numbers and is treated as {kind}; "
            f"use --task {other} to treat them as {other}."
        )
    return numbers, notes


@contextmanager
def _suggest_numbers(notes: list[str]) -> Iterator[None]:
    """Name --task numbers in an error if whole numbers are treated as classes, as `notes` say."""
    try:
        yield
    except ValueError as error:
        if not any("--task numbers" in note for note in notes):
            raise
        text = f"{str(error).rstrip('.')}. If the target is a number, pass --task numbers."
        raise ValueError(text) from error


def _make_estimator(table: Table, options: argparse.Namespace, numbers: bool) -> tuple[Any, str]:
    """Return a pipeline (preparation, scaling, selection, estimator) and its name."""
    from sklearn.feature_selection import SelectKBest, f_regression
    from sklearn.pipeline import make_pipeline

    default = "linear-svm" if len(table.X) <= MAX_SVM_ROWS else "logistic"
    name = options.estimator or ("ridge" if numbers else default)
    own = ":" in name
    final = parse_path(name) if own else make_named(name, options.seed, numbers=numbers)
    steps = _shared.make_preparation(table, scale=not own)
    selected = ""
    if options.select is not None:
        selector = SelectKBest(k=options.select)
        steps.append(selector.set_params(score_func=f_regression) if numbers else selector)
        selected = f" on the {options.select} best features"
    estimator = make_pipeline(*steps, final) if steps else final
    return estimator, f"{name}{selected}{_shared.describe_preparation(table)}, seed {options.seed}"


def _forecast(estimator: Any, table: Table, options: argparse.Namespace) -> None:
    """For a large table, forecast the running time by a power law of fits to few rows."""
    pilots = _time_pilots(estimator, table, options.seed)
    if len(pilots) < 2:
        return
    power, fit = _extrapolate(pilots, 0.9 * len(table.X))
    folds = options.cv or FOLDS
    n_least = 2 * folds + 1
    n_fits = n_least if options.time is not None else n_least + (REPEATS - 1) * folds
    from joblib import effective_n_jobs

    from skeval._resampling.progress import write_seconds

    workers = effective_n_jobs(options.jobs)
    least, answer = n_least * fit / workers, n_fits * fit / workers
    limit = _find_budget(options)
    if (limit is None and answer < MIN_FORECAST) or (limit is not None and least < limit):
        return
    sizes = ", ".join(str(rows) for rows, _ in pilots)
    times = ", ".join(f"{seconds:.2g}" for _, seconds in pilots)
    text = f"fits to {sizes} rows took {times} s, growing as rows^{power:.1f}: "
    if limit is None:
        text += f"the main estimate will take about {write_seconds(answer)} ({n_fits} fits)"
        text += "; use --budget SECONDS for fewer"
    else:
        text += "one cross-validation, the minimum, will take about "
        text += f"{write_seconds(least)}, more than the remaining {write_seconds(limit)}"
    if table.y.dtype.kind != "f" and options.estimator != "logistic" and options.estimator:
        text += "; --estimator logistic is much faster with many rows"
    options.progress.say(text)


def _time_pilots(estimator: Any, table: Table, seed: int) -> list[tuple[int, float]]:
    """Return the numbers of rows, doubled until a second is spent, and the seconds per fit."""
    import numpy as np
    from sklearn.base import clone

    order = np.random.default_rng(seed).permutation(len(table.X))
    pilots, rows, spent = [], MIN_PILOTS, 0.0
    with suppress(Exception):  # evaluate reports a failing fit better
        clone(estimator).fit(table.X[order[:rows]], table.y[order[:rows]])  # warm-up
        while rows <= len(order) // 2 and spent < PILOT_SECONDS:
            train, test = order[:rows], order[rows : rows + rows // 9]
            start = perf_counter()
            model = clone(estimator).fit(table.X[train], table.y[train])
            model.predict(table.X[test])
            pilots.append((rows, perf_counter() - start))
            spent += pilots[-1][1]
            rows *= 2
    return pilots


def _extrapolate(pilots: list[tuple[int, float]], n_rows: float) -> tuple[float, float]:
    """Return the exponent of a power law fitted to the last pilot runs, and its forecast."""
    import numpy as np

    rows, seconds = np.log(np.array(pilots[-3:])).T
    power = float(np.clip(np.polyfit(rows, seconds, 1)[0], 0, 3))
    return power, float(np.exp(seconds[-1] + power * (np.log(n_rows) - rows[-1])))


def _find_budget(options: argparse.Namespace) -> float | None:
    """Return the remaining seconds of the evaluation, None without a limit."""
    budget = options.budget or (QUICK_BUDGET if options.quick else None)
    return None if budget is None else max(1e-3, budget - (monotonic() - options.start))


CLASSIFIERS = ("linear-svm", "rbf-svm", "logistic", "lda", "knn", "forest")
REGRESSORS = ("ridge", "linear-svm", "rbf-svm", "knn", "forest")


def make_named(name: str, seed: int, *, numbers: bool) -> Any:
    """Return the classifier with this name, or the regressor for numeric targets."""
    from sklearn import ensemble, linear_model, neighbors, svm
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    from skeval.utils._checks import small_seed

    models = REGRESSORS if numbers else CLASSIFIERS
    if name not in models:
        kind = "numbers" if numbers else "classes"
        raise ValueError(
            f"--estimator must be one of {', '.join(models)} or module:object where the target "
            f"has {kind}, got {name!r}."
        )
    if name == "forest":
        forest = ensemble.RandomForestRegressor if numbers else ensemble.RandomForestClassifier
        return forest(random_state=small_seed(seed))
    return {
        "ridge": linear_model.Ridge(),
        "linear-svm": (svm.SVR if numbers else svm.SVC)(kernel="linear"),
        "rbf-svm": (svm.SVR if numbers else svm.SVC)(),
        "logistic": linear_model.LogisticRegression(max_iter=5000),
        "lda": LinearDiscriminantAnalysis(),
        "knn": (neighbors.KNeighborsRegressor if numbers else neighbors.KNeighborsClassifier)(),
    }[name]


def parse_path(path: str) -> Any:
    """Return the estimator at ``module:object``, an estimator or a function that creates one.

    The module may be in the current folder. It is imported; nothing is unpickled.
    """
    module_name, _, name = path.partition(":")
    if "" not in sys.path:
        sys.path.append("")  # last, so that no file there replaces an installed module
    try:
        value: Any = importlib.import_module(module_name)
        for part in name.split("."):
            value = getattr(value, part)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"--estimator {path!r} cannot be imported: {error}.") from error
    makes = isinstance(value, type) or (callable(value) and not hasattr(value, "fit"))
    made = value() if makes else value
    if not hasattr(made, "fit"):
        raise ValueError(f"--estimator {path!r} must name an estimator, got {made!r}.")
    return made
