"""``skeval evaluate``: the error of a classifier or regressor, or of predictions.

The module contains the options, and named and imported estimators.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
from collections.abc import Callable
from contextlib import suppress
from difflib import get_close_matches
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from skeval._commands import _shared

if TYPE_CHECKING:
    from skeval._commands._data import Table

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
TARGET = "--target COLUMN   column to predict in a file (default: target)"
PROBLEM = f"""
--groups COLUMN    column of groups, such as patients, which are never split
--time COLUMN      column of numbers or dates that is not a feature. Each fold is predicted from
                   earlier rows
--by COLUMN        report the error by subgroups of this column, which remains a feature
{_shared.TASK.strip()}
--estimator NAME   classifier: {", ".join(CLASSIFIERS)} (default: linear-svm, or logistic for more
                   than {MAX_SVM_ROWS} rows); regressor: {", ".join(REGRESSORS)} (default: ridge).
                   A StandardScaler precedes each of them. Your own estimator is passed as
                   module:object
--select N>=1      select the N best features within the folds
--scoring NAME...  additional scorer, such as f1_weighted
--ignore CODE...   code of a check to skip, such as copies. The code stands in brackets after the
                   warning
--predictions COLUMN+   column of existing predictions, which are labels, probabilities of the
                   second class, scores or numbers. Several columns are the probabilities of the
                   classes if they have the names of the classes, otherwise they are models to
                   compare. No model is fitted
--pos-label CLASS  {_shared.POSITIVE} (default: 1, yes, true or positive, otherwise the rarer class,
                   or with --predictions the second in sorted order)
--threshold VALUE  with --predictions, the probability or score from which the second class is
                   predicted. youden, sensitivity=0.9, specificity=0.9 or cost_ratio=5 choose it
--cv N>=2          number of folds (default: 10, or 5 for more than 5000 rows; with --time fewer if
                   a training set would have only one class)
--include NAMES    parts to run besides the main estimate, which are auto (default), all, or a
                   comma-separated list of holdout, permutation, selection, importance,
                   leave_one_out, bootstrap, perturbation
--permutations N>=0     maximum number of label permutations for the P-value (default: 200)
--confidence-level LEVEL   confidence level of the intervals (default: 0.95)
--budget SECONDS   time limit in seconds. If it is short, fewer repeats and parts are computed
--quick            the same as --budget {QUICK_BUDGET:g}
"""


def add_evaluate(commands: Any) -> None:
    """Add the command to the subparsers."""
    texts = (
        "estimate the error of a classifier or regressor",
        "Estimate the error of a classifier, a regressor or existing predictions with a\n"
        "confidence interval, and warn of leakage and other problems of the table.",
        EXAMPLES,
    )
    groups = {
        "": _shared.FILE,
        "data": TARGET + _shared.DATA + _shared.READING,
        "run and output": _shared.RUN + _shared.OUTPUT + _shared.METHODS,
        "problem and model": PROBLEM,
    }
    level = "must lie between 0 and 1, for example 0.95 or 95%"
    seconds = "must be a number of seconds above 0"
    types: dict[str, Callable[[str], Any]] = {
        "--threshold": read_threshold,
        "--confidence-level": partial(_shared.parse_positive, 1, level),
        "--budget": partial(_shared.parse_positive, math.inf, seconds),
    }
    defaults = {"include": "auto", "permutations": 200, "confidence_level": 0.95}
    _shared.add_command(commands, "evaluate", texts, groups, types, run=_run, **defaults)


def read_threshold(text: str) -> Any:
    """Return a number, or the rule that chooses a threshold. `evaluate_predictions` checks it."""
    name, _, wanted = text.rpartition("=")
    with suppress(ValueError):
        number = _shared.read_number(wanted)
        return {name: number} if name else number
    return text.lower()


def _run(options: argparse.Namespace) -> None:
    """Evaluate an estimator or predictions, and print the report."""
    # options that have no meaning with or without fits
    unused = ("estimator", "select", "time", "cv", "budget", "include", "ignore")
    for name in unused if options.predictions else ():
        if getattr(options, name) not in (None, "auto", []):
            raise ValueError(f"--{name} must not be used with --predictions, which fits no model.")
    if options.threshold is not None and not options.predictions:
        raise ValueError("--threshold must be used with --predictions.")
    # a wrong path is an error before the data are read
    own = parse_path(options.estimator) if ":" in (options.estimator or "") else None
    table = _shared.read_columns(options)
    # a column of dates, for example, was left out when the table was read
    for name in options.predictions or ():
        if name not in table.feature_names:
            raise ValueError(f"--predictions: the column {name!r} does not contain predictions.")
    _shared.choose_task(table, options)
    from skeval.report import evaluate, evaluate_predictions

    common: dict[str, Any] = {
        "groups": table.groups,
        "by": _find_subgroups(table, options),
        "scoring": options.scoring or None,
        "pos_label": _shared.find_positive(table, options),
        "confidence_level": float(options.confidence_level),
        "random_state": options.seed,
    }
    # existing predictions are scored as they are, without fits
    if options.predictions:
        columns, labels = _take_predictions(table, options)
        call = partial(
            evaluate_predictions,
            table.y,
            columns,
            kind="numbers" if table.is_numeric else "auto",
            threshold=options.threshold,
            labels=labels,
            **common,
        )
        _shared.run(table, options, f"predictions in {', '.join(options.predictions)}", call)
        return
    estimator, procedure = _make_estimator(table, options, own)
    # both limits count from the start of the command
    budget, include = options.budget or (QUICK_BUDGET if options.quick else None), options.include
    call = partial(
        evaluate,
        estimator,
        table.X,
        table.y,
        cv=options.cv,
        time=table.time,
        include=include if include in ("auto", "all") else include.replace(" ", "").split(","),
        budget=None if budget is None else max(1e-3, budget - (monotonic() - options.start)),
        n_permutations=options.permutations,
        feature_names=table.feature_names,
        left_out=table.left_out or None,
        ignore=tuple(options.ignore),
        n_jobs=options.jobs,
        memory=options.memory,
        **common,
    )
    _shared.run(table, options, procedure, call)


def _take_predictions(table: Table, options: argparse.Namespace) -> tuple[Any, Any]:
    """Return a column of predictions, of each class with the classes, or of each model."""
    from skeval.utils._checks import suggest

    names, classes = options.predictions, table.name_classes()
    columns = table.X[:, [table.feature_names.index(name) for name in names]]
    if len(names) == 1:
        return columns[:, 0], None
    # columns with the names of all classes contain their probabilities or scores
    if {*classes} <= {*names}:
        return columns, [classes.get(name, name) for name in names]
    # columns of some of the classes, or of classes in another case
    missing = [name for name in classes if name not in names]
    if {*map(str.casefold, classes)} & {*map(str.casefold, names)}:
        others = [name for name in names if name not in classes]
        raise ValueError(
            "--predictions must name a column for each class, or only models, got none for "
            f"{missing[0]!r}{suggest(missing[0], others)}. A column must have the name of its "
            "class, and no model that of a class. Rename the columns in the file."
        )
    # other columns are the predictions of several models
    return dict(zip(names, columns.T, strict=True)), None


def _find_subgroups(table: Table, options: argparse.Namespace) -> list[str] | None:
    """Return the column of the subgroups. It need not be a feature."""
    by = options.by
    if by is None:
        return None
    if by in table.roles["target"] + table.roles["time"]:
        raise ValueError(f"--by must not be the target or the time, got {by!r}.")
    column = table.columns[by]
    n_numbers = len({*column[column == column].tolist()}) if column.dtype.kind in "iuf" else 0
    if n_numbers > _shared.MAX_DISTINCT:
        table.notes.append(
            f"--by names {by!r}, which has {n_numbers} different numbers, so its subgroups are "
            "small. Pass a column of ranges instead, for example made by pandas.cut."
        )
    # the values as texts
    values = [f"{v:.15g}" if isinstance(v, float) else str(v).strip() for v in column.tolist()]
    return ["missing" if value in ("", "nan", "None") else value for value in values]


def _make_estimator(table: Table, options: argparse.Namespace, own: Any) -> tuple[Any, str]:
    """Return a pipeline (preparation, scaling, selection, estimator) and its name.

    `own` is the estimator of the user, or None for one with a name.
    """
    from sklearn.feature_selection import SelectKBest, f_regression
    from sklearn.pipeline import make_pipeline

    # the final estimator
    default = "linear-svm" if len(table.X) <= MAX_SVM_ROWS else "logistic"
    name = options.estimator or ("ridge" if table.is_numeric else default)
    final = own
    if own is None:
        final = make_named(name, options.seed, numbers=table.is_numeric)
    # its preparation and the selection are fitted within the folds
    steps = _shared.make_preparation(table, scale=own is None)
    selected = ""
    if options.select is not None:
        n_features = table.X.shape[1] + sum(len(set(table.X[:, k])) - 1 for k in table.texts)
        if options.select > n_features:
            raise ValueError(
                f"--select must be at most {n_features}, the number of features"
                f"{', with one for each text' * bool(table.texts)}, got {options.select}."
            )
        selector = SelectKBest(k=options.select)
        steps.append(selector.set_params(score_func=f_regression) if table.is_numeric else selector)
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
        if name in MODELS:
            hint = f", which is a {'classifier' if numbers else 'regressor'}"
        raise ValueError(
            f"for --task {kind}, --estimator must be one of {', '.join(models)}, or module:object "
            f"such as sklearn.svm:SVC, got {name!r}{hint}."
        )
    # a name may have a classifier and a regressor, each with its own path
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
    return value() if makes else value
