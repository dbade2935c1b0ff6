"""``skeval evaluate``: the error of a classifier or regressor, or of predictions.

The module contains the options, and named and imported estimators.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
from contextlib import suppress
from difflib import get_close_matches
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from skeval._commands import _shared

if TYPE_CHECKING:
    from skeval._commands._data import Rows

QUICK_BUDGET = 10.0
MAX_SVM_ROWS = 20_000
"""Maximum number of rows for which a support vector machine is the default."""
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
    skeval evaluate iris --estimator logistic --scoring roc_auc_ovo
  your own estimator; the same command resumes an interrupted run:
    skeval evaluate iris --estimator my_module:make_model --memory runs
  existing predictions with a threshold of 0.3, without fitting:
    skeval evaluate answers.csv --predictions p_ill --threshold 0.3
"""


MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "ridge": ("", "linear_model:Ridge", {}),
    "linear-svm": ("svm:SVC", "svm:SVR", {"kernel": "linear"}),
    "rbf-svm": ("svm:SVC", "svm:SVR", {}),
    "logistic": ("linear_model:LogisticRegression", "", {"max_iter": 5000}),
    "lda": ("discriminant_analysis:LinearDiscriminantAnalysis", "", {}),
    "knn": ("neighbors:KNeighborsClassifier", "neighbors:KNeighborsRegressor", {}),
    "forest": ("ensemble:RandomForestClassifier", "ensemble:RandomForestRegressor", {}),
}
"""Classifier and regressor of scikit-learn ("" if there is none) and parameters of each name."""
CLASSIFIERS = [name for name, (classifier, _, _) in MODELS.items() if classifier]
REGRESSORS = [name for name, (_, regressor, _) in MODELS.items() if regressor]
INCLUDED = (
    "holdout", "permutation", "selection", "importance", "leave_one_out", "bootstrap",
    "perturbation",
)  # fmt: skip
"""Names in `include` of `evaluate`, repeated here (and tested) because its import is slow."""


def add_evaluate(commands: Any) -> None:
    """Add the command to the subparsers."""
    parser = commands.add_parser(
        "evaluate",
        help="estimate the error of a classifier or regressor",
        description="Estimate the error of a classifier, a regressor or existing predictions with "
        "a\nconfidence interval, and warn of leakage and other problems of the table.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=_run)
    target = "column to predict in a file (default: target)"
    options = _shared.add_common(parser, target=target)
    options.add = add = parser.add_argument_group("problem and model").add_argument
    # the problem
    options.column("--groups", "column of groups, such as patients, which are never split")
    before = "Each fold is predicted from earlier rows"
    options.column("--time", f"column of numbers or dates that is not a feature. {before}")
    options.column("--by", "report the error by subgroups of this column, which remains a feature")
    options.task()
    # the estimator
    add(
        "--estimator",
        metavar="NAME",
        help=f"classifier: {', '.join(CLASSIFIERS)} (default: linear-svm, or logistic for more "
        f"than {MAX_SVM_ROWS} rows); regressor: {', '.join(REGRESSORS)} (default: ridge). A "
        "StandardScaler precedes each of them. Your own estimator is passed as module:object",
    )
    options.number("--select", 1, "select the N best features within the folds")
    options.several("--scoring", "NAME", "additional scorer, such as f1_weighted")
    code = "code of a check to skip, such as copies. The code stands in brackets after the warning"
    options.several("--ignore", "CODE", code)
    options.flag("--methods", _shared.METHODS)
    _add_predictions(options)
    _add_sizes(options)


def _add_predictions(options: _shared.Options) -> None:
    """Add the options for existing predictions."""
    options.column(
        "--predictions",
        "column of existing predictions, which are labels, probabilities of the second class, "
        "scores or numbers. Several columns are the probabilities of the classes if they have the "
        "names of the classes, otherwise they are models to compare. No model is fitted",
        nargs="+",
    )
    options.positive(
        "1, yes, true or positive, otherwise the rarer class, or with --predictions the second in "
        "sorted order"
    )
    options.add(
        "--threshold",
        type=_read_threshold,
        help="with --predictions, the probability or score from which the second class is "
        "predicted. youden, sensitivity=0.9, specificity=0.9 or cost_ratio=5 choose it",
    )


def _read_threshold(text: str) -> Any:
    """Return a number, or the rule that chooses a threshold."""
    name, equals, wanted = text.partition("=")
    if text == "youden":
        return text
    ends = {"sensitivity": 1.0, "specificity": 1.0, "cost_ratio": math.inf}
    with suppress(ValueError):
        number = float(_shared.read_number(wanted if equals else text))
        if not equals:
            return number
        if 0 < number <= ends.get(name, 0):
            return {name: number}
    raise argparse.ArgumentTypeError(
        f"must be a number, youden, sensitivity=0.9, specificity=0.9 or cost_ratio=5, got {text!r}"
    )


def _add_sizes(options: _shared.Options) -> None:
    """Add the options for repeats and time."""
    options.number(
        "--cv",
        2,
        "number of folds (default: 10, or 5 for more than 5000 rows; with --time fewer if a "
        "training set would have only one class)",
    )
    options.add(
        "--include",
        metavar="NAMES",
        default="auto",
        help="parts to run besides the main estimate, which are auto (default), all, or a "
        f"comma-separated list of {', '.join(INCLUDED)}",
    )
    most = "maximum number of label permutations for the P-value (default: 200)"
    options.number("--permutations", 0, most, default=200)
    options.add(
        "--confidence-level",
        metavar="LEVEL",
        type=partial(_parse_number_below, 1, "must lie between 0 and 1, for example 0.95 or 95%"),
        default=0.95,
        help="confidence level of the intervals (default: 0.95)",
    )
    options.add(
        "--budget",
        type=partial(_parse_number_below, math.inf, "must be a number of seconds above 0"),
        metavar="SECONDS",
        help="time limit in seconds. If it is short, fewer repeats and parts are computed",
    )
    options.flag("--quick", f"the same as --budget {QUICK_BUDGET:g}")


def _parse_number_below(end: float, rule: str, text: str) -> float:
    """Return a number above 0 and below a limit, a level, or a time."""
    with suppress(ValueError):
        if 0 < (number := float(_shared.read_number(text))) < end:
            return number
    raise argparse.ArgumentTypeError(f"{rule}, got {text!r}")


def _run(options: argparse.Namespace) -> None:
    """Evaluate an estimator, or predictions."""
    if options.predictions is not None:
        _run_predictions(options)
        return
    if options.threshold is not None:
        raise ValueError("--threshold must be used with --predictions.")
    # the data, its preparation and the estimator
    table, numbers = _shared.choose_task(_shared.read_columns(options, needs_target=True), options)
    subgroups = _find_subgroups(table, options)
    estimator, procedure = _make_estimator(table, options, numbers)
    options.progress.headline = f"{_shared.describe_data(options.data, table)}; {procedure}"
    from skeval.report import evaluate

    # both limits count from the start of the command
    budget, include = options.budget or (QUICK_BUDGET if options.quick else None), options.include
    run = partial(
        evaluate,
        estimator,
        table.X,
        table.y,
        cv=options.cv,
        groups=table.groups,
        time=table.time,
        scoring=options.scoring or None,
        by=subgroups,
        include=include if include in ("auto", "all") else include.replace(" ", "").split(","),
        budget=None if budget is None else max(1e-3, budget - (monotonic() - options.start)),
        n_permutations=options.permutations,
        confidence_level=options.confidence_level,
        feature_names=table.feature_names,
        left_out=table.left_out or None,
        ignore=tuple(options.ignore),
        pos_label=_shared.find_positive(table, options, numbers),
        random_state=options.seed,
        n_jobs=options.jobs,
        memory=options.memory,
    )
    # the report, or that of the completed fits after Ctrl-C
    deliver = partial(_shared.deliver, options=options, table=table, procedure=procedure)
    try:
        report, notes = _shared.collect_notes(table, run)
    except KeyboardInterrupt as stop:
        if hasattr(stop, "report"):
            deliver(stop.report, notes=[], numbers=numbers)
        raise
    deliver(report, notes=notes, numbers=numbers)


def _run_predictions(options: argparse.Namespace) -> None:
    """Evaluate the predictions in a file and print the report."""
    # options that have no meaning without fits
    for name in ("estimator", "select", "time", "cv", "budget", "include", "ignore"):
        if getattr(options, name) not in (None, "auto", []):
            raise ValueError(f"--{name} must not be used with --predictions, which fits no model.")
    table = _shared.read_columns(options, needs_target=True)
    unknown = [name for name in options.predictions if name not in table.feature_names]
    if unknown:
        raise ValueError(f"--predictions: the column {unknown[0]!r} does not contain predictions.")
    table, numbers = _shared.choose_task(table, options)
    # a column of each class, of each model, or a single one
    places = [table.feature_names.index(name) for name in options.predictions]
    columns: Any = table.X[:, places]
    classes = _shared.name_classes(table)
    labels: Any = [classes.get(name, name) for name in options.predictions]
    if len(places) == 1:
        columns, labels = columns[:, 0], None
    elif not {*classes} <= {*options.predictions}:
        columns, labels = dict(zip(options.predictions, columns.T, strict=True)), None
    from skeval.report import evaluate_predictions

    report, notes = _shared.collect_notes(
        table,
        evaluate_predictions,
        table.y,
        columns,
        kind="numbers" if numbers else "auto",
        threshold=options.threshold,
        scoring=options.scoring or None,
        groups=table.groups,
        by=_find_subgroups(table, options),
        pos_label=_shared.find_positive(table, options, numbers),
        labels=labels,
        confidence_level=options.confidence_level,
        random_state=options.seed,
    )
    _shared.deliver(
        report,
        options,
        table._replace(X=table.X[:, : len(places)]),
        f"predictions in {', '.join(options.predictions)}",
        notes,
        numbers=numbers,
        column="prediction",
    )


def _find_subgroups(table: Rows, options: argparse.Namespace) -> list[str] | None:
    """Return the column of the subgroups. It need not be a feature."""
    by = options.by
    if by is None:
        return None
    # the values as texts
    columns = dict(zip(table.feature_names, table.X.T, strict=True)) | table.left_out
    if table.groups is not None:
        columns[options.groups] = table.groups
    if by not in columns:
        raise ValueError(f"--by must not be the target or the time, got {by!r}.")
    values = [
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        for value in columns[by]
    ]
    return ["missing" if value in ("", "nan", "None") else value for value in values]


def _make_estimator(table: Rows, options: argparse.Namespace, numbers: bool) -> tuple[Any, str]:
    """Return a pipeline (preparation, scaling, selection, estimator) and its name."""
    from sklearn.feature_selection import SelectKBest, f_regression
    from sklearn.pipeline import make_pipeline

    # the final estimator
    default = "linear-svm" if len(table.X) <= MAX_SVM_ROWS else "logistic"
    name = options.estimator or ("ridge" if numbers else default)
    own = ":" in name
    final = parse_path(name) if own else make_named(name, options.seed, numbers=numbers)
    # its preparation and the selection are fitted within the folds
    steps = _shared.make_preparation(table, scale=not own)
    selected = ""
    if options.select is not None:
        n_features = table.X.shape[1] + sum(len(set(table.X[:, k])) - 1 for k in table.texts)
        if options.select > n_features:
            raise ValueError(f"--select must be at most {n_features} here, got {options.select}.")
        selector = SelectKBest(k=options.select)
        steps.append(selector.set_params(score_func=f_regression) if numbers else selector)
        selected = f" on the {options.select} best features"
    estimator = make_pipeline(*steps, final) if steps else final
    return estimator, f"{name}{selected}{_shared.describe_preparation(table)}, seed {options.seed}"


def make_named(name: str, seed: int, *, numbers: bool) -> Any:
    """Return the classifier with this name, or the regressor for numeric targets."""
    from skeval.utils._checks import small_seed

    models = REGRESSORS if numbers else CLASSIFIERS
    if name not in models:
        kind = "numbers" if numbers else "classes"
        # a path with dots, or a name or class that resembles a model
        word = name.lower()
        known = {MODELS[one][:2][numbers].partition(":")[2].lower(): one for one in models}
        known |= {one: one for one in models}
        near = [one for one in known if word in one or one in word]
        near = near or get_close_matches(word, known, n=1)
        meant = ":".join(name.rsplit(".", 1)) if "." in name else known[near[0]] if near else ""
        hint = f" (did you mean {meant!r}?)" if meant else ""
        raise ValueError(
            f"--estimator must be one of {', '.join(models)} for a target of {kind}, or "
            f"module:object such as sklearn.svm:SVC, got {name!r}{hint}."
        )
    *paths, parameters = MODELS[name]
    estimator = parse_path(f"sklearn.{paths[numbers]}").set_params(**parameters)
    return estimator.set_params(random_state=small_seed(seed)) if name == "forest" else estimator


def parse_path(path: str) -> Any:
    """Return the estimator at ``module:object``, an estimator or a function that creates one.

    The module may be in the current folder. It is imported, and no object is unpickled.
    """
    # the object, from an installed module or the current folder
    module_name, _, name = path.partition(":")
    if "" not in sys.path:
        sys.path.append("")  # last, so that no file there replaces an installed module
    try:
        value: Any = importlib.import_module(module_name)
        for part in name.split("."):
            value = getattr(value, part)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"--estimator {path!r} cannot be imported: {error}.") from error
    # a class or a function makes the estimator
    makes = isinstance(value, type) or (callable(value) and not hasattr(value, "fit"))
    made = value() if makes else value
    if not hasattr(made, "fit"):
        raise ValueError(f"--estimator {path!r} must name an estimator, got {made!r}.")
    return made
