"""``skeval compare``: whether new predictions are worse than old ones, as a gate in automation."""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from dataclasses import replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from skeval._commands import _shared

if TYPE_CHECKING:
    import numpy as np

    from skeval._commands._data import Rows
    from skeval.report._arguments import PredictionKind

EXAMPLES = """\
examples:
  two files with the columns target and prediction, and id if rows are matched:
    skeval compare old.csv new.csv
  exit with status 0 only if new.csv is significantly less than one percentage
  point worse, and write an HTML page on both files:
    skeval compare old.csv new.csv --margin 1% --html page.html
"""


def add_compare(commands: Any) -> None:
    """Add the command to the subparsers."""
    parser = commands.add_parser(
        "compare",
        help="compare the predictions in two files",
        description="Compare predictions of the same samples in two files.\n\n"
        "exit status 0: B is not significantly worse than A\n"
        "  with --margin, B is not worse than A by the margin or more (non-inferiority)\n"
        "exit status 1: B is significantly worse than A\n"
        "  with --margin, no evidence of non-inferiority\n"
        "exit status 2: an error",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    # options of tables that have no meaning here
    parser.set_defaults(run=_run_compare, memory=None, drop=[], date_features=False, data="")
    options, add = _shared.Options(parser), parser.add_argument
    add("first", metavar="A", help="file with the predictions in use")
    add("second", metavar="B", help="file with the new predictions")
    options.column("--target", "column of true values (default: target)")
    options.column(
        "--predictions",
        "column of predictions, which are labels, probabilities, scores or numbers (default: "
        "prediction)",
        default=["prediction"],
        nargs=1,
    )
    options.column("--id", "column that matches the rows (default: id, or a name that ends in id)")
    options.task()
    options.positive("the second in sorted order")
    default = "brier_score_loss for probabilities, otherwise accuracy"
    add("--metric", help=f"name of a metric, such as roc_auc, f1 or r2 (default: {default})")
    margin = "largest acceptable difference, such as 0.01 or 1%%"
    add("--margin", type=_read_margin, help=margin)
    _shared.add_reading(options)
    options.number("--seed", 0, "random seed (default: 0)", default=0)
    _shared.add_outputs(options)
    options.flag("--methods", _shared.METHODS)
    options.flag("--debug", "print the traceback of an error")


def _read_margin(text: str) -> float:
    """Return a positive number. "1%" is 0.01."""
    try:
        margin = _shared.read_number(text)
    except ValueError:
        margin = 0.0
    if not 0 < margin < math.inf:
        raise argparse.ArgumentTypeError(f"must be a positive number or percentage, got {text!r}")
    return margin


class System(NamedTuple):
    """A file of predictions: its path, its table, and the values of --id, or an empty list."""

    path: str
    table: Rows
    ids: list[str]

    def name_row(self, place: int) -> str:
        """Return the number of a row of the file."""
        return f"row {self.table.rows[place]} of {self.path}"


class Values(NamedTuple):
    """True values and the predictions of both models: labels, probabilities, scores or numbers.

    Two classes are 1 for the positive one and 0. `y` and `labels` are as in the files.
    """

    kind: PredictionKind
    y: np.ndarray
    labels: list[np.ndarray]
    true: np.ndarray
    columns: list[np.ndarray]
    positive: Any = None


def _run_compare(options: argparse.Namespace) -> int:
    """Compare two files, print the result, and return the exit status."""
    from skeval.model_selection import compare_predictions
    from skeval.report._page import fill_lines
    from skeval.utils._text import fill_text, write_file

    # the true values and predictions of both files, in the same rows
    systems, key = _read_systems(options)
    old = systems[0].table
    values = _read_values(systems, options)
    metric = _choose_metric(values, options)
    names = [Path(system.path).name for system in systems]
    names = names if names[0] != names[1] else ["A", "B"]
    # the new predictions against the old ones
    predictions = dict(zip(names[::-1], values.columns[::-1], strict=True))
    compare = partial(
        compare_predictions,
        values.true,
        predictions,
        margin=options.margin,
        random_state=options.seed,
    )
    comparison, notes = _shared.collect_notes(old, compare, metric=metric)
    difference = comparison.difference
    if identical := values.columns[0].tolist() == values.columns[1].tolist():
        notes = []  # of the undefined interval
    if options.margin is not None:
        alternative = "non-inferiority"
        passed = identical or difference.pvalue_noninferior <= difference.level
    else:
        alternative = "worse"
        worse = difference.value < 0 if difference.greater_is_better else difference.value > 0
        passed = not (worse and difference.pvalue <= difference.level)
    # the output
    shown = [] if identical else [comparison]
    matched = "their order" if key is None else f"the column {key!r}"
    notes += [f"the rows of both files are matched by {matched}.", *old.notes[1:]]
    notes += [*systems[1].table.notes[1:], *old.hints, *systems[1].table.hints]
    if values.kind in ("probabilities", "scores") and values.y.dtype.kind == "U":
        other = next(label for label in values.y.tolist() if label != values.positive)
        notes.append(
            f"the {values.kind} refer to the class {values.positive!r}. --pos-label {other} means "
            "that they refer to the other class."
        )
    if options.metric is None and values.kind == "probabilities" and not identical:
        shown.append(_shared.collect_notes(old, compare, metric="roc_auc", margin=None)[0])
        notes.append("the exit status depends on the Brier score. --metric chooses another metric.")
        notes += [
            f"{system.path} contains only 0 and 1. If these are labels and not probabilities, "
            "compare the labels of both models."
            for system, column in zip(systems, values.columns, strict=True)
            if not (column % 1).any()
        ]
    notes = [*dict.fromkeys(notes)]
    width, lines = _shared.find_width(), ["Both files have the same predictions."] * identical
    for one in shown:
        lines += str(one).removesuffix(fill_text(one.conclusion)).rstrip().splitlines()
        lines += [f"  {line}" for line in fill_lines(one.conclusion, width - 2)]
    for note in notes:
        lines += fill_lines(f"note: {note}", width)
    _shared.print_lines(lines)
    # the requested files: the numbers of the gate, and the page of both models
    if options.json is not None:
        gate = {"passed": bool(passed), "alternative": alternative, "margin": options.margin}
        # A and B are the first and second file, and the difference is that of B minus A
        text = json.dumps(gate | difference.to_dict() | dict(zip("ab", names, strict=True)))
        numbers = json.loads(text, parse_constant=lambda _: None)  # JSON has no nan
        write_file(options.json, json.dumps(numbers, indent=2) + "\n")
    if options.methods or options.html is not None or options.markdown is not None:
        named = f"{names[1]} compared with {names[0]}"
        result = f"Exit status {0 if passed else 1}"
        noted = f"{result}: {'the same predictions.' if identical else difference.conclusion}"
        report = _report_both(names, values, metric, comparison, options)
        written = _shared.write_pages(report, options, named, [noted, *notes])
        methods = _shared.list_methods(report, options)
        lines = [line for text in methods for line in fill_lines(text, width)]
        _shared.print_lines([*lines, *written])
    return int(not passed)


def _report_both(
    names: list[str], values: Values, metric: Any, comparison: Any, options: argparse.Namespace
) -> Any:
    """Return the report of both models, with the comparison of the gate as its own."""
    from skeval.metrics import get_scorer_names
    from skeval.report import evaluate_predictions

    # the metric that decides, under the name of its scorer if it has one
    scoring: Any = ["accuracy"] if metric is None else None
    if options.metric is not None:
        name, known = options.metric.removeprefix("neg_"), get_scorer_names()
        scoring = [one for one in (name, f"neg_{name}") if one in known][:1] or {name: metric}
    report: Any = evaluate_predictions(
        values.y,
        dict(zip(names[::-1], values.labels[::-1], strict=True)),
        kind=values.kind,
        scoring=scoring,
        pos_label=values.positive if values.kind in ("probabilities", "scores") else None,
        random_state=options.seed,
    )
    comparison = replace(comparison, scoring=report.comparison.scoring)
    return replace(report, comparison=comparison, answer=comparison)


def _read_systems(options: argparse.Namespace) -> tuple[list[System], str | None]:
    """Return both files, the second in the order of the first, and the column of the names."""
    from skeval._commands._data import find_id

    paths = options.first, options.second
    files = [argparse.Namespace(**{**vars(options), "data": path}) for path in paths]
    key = options.id or find_id(files)
    systems = []
    for file in files:
        file.id = key
        table = _shared.read_columns(file, needs_target=True)
        ids = [str(value).strip() for value in table.left_out[key]] if key else []
        systems.append(System(file.data, table, ids))
    if key is not None:
        systems[1] = _match_rows(systems, key)
    _check_targets(systems, options.target or "target", key)
    return systems, key


def _match_rows(systems: list[System], key: str) -> System:
    """Return the second model with its rows in the order of the first one."""
    for system, other in (systems, systems[::-1]):
        n_rows = Counter(system.ids)
        for place, value in enumerate(other.ids):
            if n_rows[value] != 1:
                raise ValueError(
                    f"the column {key!r} must match each row with one of the other file, but "
                    f"{system.path} has {n_rows[value] or 'no'} rows with {value!r}, as in "
                    f"{other.name_row(place)}. Write the same rows and {key} to both files, or "
                    "pass --id COLUMN with another column."
                )
    places = {value: place for place, value in enumerate(systems[1].ids)}
    order = [places[value] for value in systems[0].ids]
    table = systems[1].table
    table = table._replace(X=table.X[order], y=table.y[order], rows=table.rows[order])
    return systems[1]._replace(table=table, ids=systems[0].ids)


def _check_targets(systems: list[System], target: str, key: str | None) -> None:
    """Raise an error unless the rows of both files have the same true values."""
    old, new = (system.table.y.tolist() for system in systems)
    first, second = systems
    named = "pass --id COLUMN if a column of both files names the rows"
    if len(old) != len(new):
        raise ValueError(
            f"{first.path} has {len(old)} rows and {second.path} {len(new)}, but both files must "
            f"have the same rows. Delete the others, or {named}."
        )
    differ = [
        place for place, (one, other) in enumerate(zip(old, new, strict=True)) if one != other
    ]
    if not differ:
        return
    place = differ[0]
    order = f" Sort both files alike, or {named}." if key is None else ""
    raise ValueError(
        f"the target {target!r} differs in {len(differ)} of {len(old)} rows: "
        f"{first.name_row(place)} has {old[place]!r}, and {second.name_row(place)} has "
        f"{new[place]!r}. Write the same true values to both files.{order}"
    )


def _read_values(systems: list[System], options: argparse.Namespace) -> Values:
    """Return the true values and both predictions as labels, probabilities, scores or numbers."""
    import numpy as np

    from skeval.report._arguments import read_predictions

    table, numbers = _shared.choose_task(systems[0].table, options)
    positive = _shared.find_positive(table, options, numbers)
    y, classes = table.y, np.unique(table.y).tolist()
    kind: PredictionKind = "numbers" if numbers else "auto" if len(classes) == 2 else "labels"
    parsed: list[Any] = []
    for system in systems:
        column = system.table.X[:, 0]
        # the positive class is for predictions with other values than the classes
        known = kind != "auto" or {*column.tolist()} <= {*classes}
        given = y, column, kind, None, None if known else positive, None
        try:
            parsed += _shared.collect_notes(system.table, read_predictions, *given)[:1]
        except ValueError as error:
            raise ValueError(f"{system.path}: {error}") from error
    columns, kinds = [one.original for one in parsed], {one.kind for one in parsed}
    predicted = {label for column in columns for label in column.tolist()}
    if numbers or (kinds == {"labels"} and len(predicted.union(classes)) != 2):
        return Values(parsed[0].kind, y, columns, y, columns)
    # the positive class is 1, and labels beside scores are 0 and 1
    positive = classes[1] if positive is None else positive
    coded = [
        (column == positive) * 1 if one.kind == "labels" else column.astype(float)
        for one, column in zip(parsed, columns, strict=True)
    ]
    kind = "labels" if kinds == {"labels"} else "scores" if "scores" in kinds else "probabilities"
    labels = columns if kind == "labels" else coded
    return Values(kind, y, labels, (y == positive).astype(int), coded, positive)


def _choose_metric(values: Values, options: argparse.Namespace) -> Any:
    """Return the metric that decides, None for accuracy."""
    import sklearn.metrics

    metric: Any = options.metric
    if metric is None and values.kind in ("numbers", "scores"):
        kind, such = "a numeric target", "mean_absolute_error"
        if values.kind == "scores":
            kind, such = "scores, which are not all between 0 and 1", "roc_auc"
            such += ". Divide percentages by 100"
        raise ValueError(f"--metric must be passed for {kind}, such as --metric {such}.")
    if metric is None and values.kind == "probabilities":
        metric = "brier_score_loss"
    bare = str(metric).removeprefix("neg_")
    # scorers have the sign of losses changed, and some functions there are no metrics
    function = getattr(sklearn.metrics, bare, None)
    is_metric = callable(function) and "y_true" in signature(function).parameters
    return function if is_metric else metric
