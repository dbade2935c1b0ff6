"""``skeval compare``: whether new predictions are worse than old ones, as a gate in automation."""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skeval._commands import _shared

if TYPE_CHECKING:
    import numpy as np

    from skeval._commands._data import Rows

EXAMPLES = """\
examples:
  two files with the columns target and prediction, whose rows are matched by the column id, if any:
    skeval compare old.csv new.csv
  exit with status 0 only if new.csv is significantly less than one percentage point worse, and
  write an HTML page on both files:
    skeval compare old.csv new.csv --margin 1% --json result.json --html page.html
"""


def add_compare(commands: Any) -> None:
    """Add the command to the subparsers."""
    parser = commands.add_parser(
        "compare",
        help="compare the predictions in two files",
        description="Compare predictions of the same samples in two files.\n\n"
        "exit status 0: B is not significantly worse than A; with --margin, B is not worse than A\n"
        "               by the margin or more (non-inferiority)\n"
        "exit status 1: B is significantly worse; with --margin, no evidence of non-inferiority\n"
        "exit status 2: an error",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    # options of tables that have no meaning here
    parser.set_defaults(run=_run_compare, memory=None, drop=[], date_features=False)
    options, add = _shared.Options(parser), parser.add_argument
    add("first", metavar="A", help="file with the predictions in use")
    add("second", metavar="B", help="file with the new predictions")
    options.column("--target", "column of true values (default: target)")
    options.column(
        "--prediction", "column of predictions (default: prediction)", default="prediction"
    )
    options.column("--id", "column that matches the rows (default: id, or a name that ends in id)")
    default = "brier_score_loss for probabilities, otherwise accuracy"
    add("--metric", help=f"name of a metric, such as roc_auc, f1 or r2 (default: {default})")
    margin = "largest acceptable difference, such as 0.01 or 1%%"
    add("--margin", type=_read_margin, help=margin)
    _shared.add_reading(options)
    options.number("--seed", 0, "random seed (default: 0)", default=0)
    _shared.add_outputs(options)
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


def _run_compare(options: argparse.Namespace) -> int:
    """Compare two files, print the result, and return the exit status."""
    import numpy as np

    from skeval.model_selection import compare_predictions
    from skeval.utils._text import write_file

    # the true values and predictions of both files, in the same rows
    old, new = _read_systems(options)
    names = [Path(path).name for path in (options.second, options.first)]
    names = names if names[0] != names[1] else ["B", "A"]
    columns = np.column_stack([new.X[:, 0], old.X[:, 0]])
    predictions = dict(zip(names, columns.T, strict=True))
    metric = _choose_metric(old.y, columns, options)
    # the new predictions against the old ones
    comparison = compare_predictions(
        old.y, predictions, random_state=options.seed, metric=metric, margin=options.margin
    )
    difference = comparison.difference
    identical = old.X.tolist() == new.X.tolist()
    if options.margin is not None:
        alternative = "non-inferiority"
        passed = identical or difference.pvalue_noninferior <= difference.level
    else:
        alternative = "worse"
        worse = difference.value < 0 if difference.greater_is_better else difference.value > 0
        passed = not (worse and difference.pvalue <= difference.level)
    # the output
    print("Both files have the same predictions." if identical else difference)
    notes = [*old.notes[1:], *new.notes[1:], *old.hints, *new.hints]
    if options.metric is None and metric is not None and not identical:
        area = compare_predictions(old.y, predictions, metric="roc_auc", random_state=options.seed)
        print(area.difference)
        notes.append("the exit status depends on the Brier score. --metric chooses another metric.")
        files = {options.first: old.X, options.second: new.X}
        whole = [path for path, system in files.items() if not (system[:, 0] % 1).any()]
        notes += [
            f"{path} contains only 0 and 1. If these are labels and not probabilities, compare the "
            "labels of both models."
            for path in whole
        ]
    for note in dict.fromkeys(notes):
        print(f"note: {note}")
    # the requested files: the numbers of the gate, and the page of both systems
    if options.json is not None:
        gate = {"passed": bool(passed), "alternative": alternative, "margin": options.margin}
        text = json.dumps(gate | difference.to_dict())
        numbers = json.loads(text, parse_constant=lambda _: None)  # JSON has no nan
        write_file(options.json, json.dumps(numbers, indent=2) + "\n")
    if options.html is not None or options.markdown is not None:
        named = f"{names[0]} compared with {names[1]}"
        result = f"Exit status {0 if passed else 1}"
        noted = f"{result}: {'the same predictions.' if identical else difference.conclusion}"
        report = _report_both(old.y, predictions, metric, comparison, options)
        for line in _shared.write_pages(report, options, named, [noted, *dict.fromkeys(notes)]):
            print(line)
    return int(not passed)


def _report_both(
    y: np.ndarray, predictions: Any, metric: Any, comparison: Any, options: argparse.Namespace
) -> Any:
    """Return the report of both models, with the comparison of the gate as its own."""
    from skeval.metrics import get_scorer_names
    from skeval.report import evaluate_predictions

    # the metric that decides, under the name of its scorer if it has one
    scoring: Any = ["accuracy"] if metric is None else None
    if options.metric is not None:
        name, names = options.metric.removeprefix("neg_"), get_scorer_names()
        known = [one for one in (name, f"neg_{name}") if one in names]
        scoring = known[:1] or {name: metric}
    report: Any = evaluate_predictions(y, predictions, scoring=scoring, random_state=options.seed)
    comparison = replace(comparison, scoring=report.comparison.scoring)
    return replace(report, comparison=comparison, answer=comparison)


def _read_systems(options: argparse.Namespace) -> tuple[Rows, Rows]:
    """Return the tables of both files, with the rows of the second in the order of the first."""
    from skeval._commands._data import find_id

    paths = options.first, options.second
    files = [argparse.Namespace(**vars(options), data=path) for path in paths]
    key = options.id or find_id(files)
    for file in files:
        file.id = key
    old, new = (_shared.read_columns(file, needs_target=True) for file in files)
    if key is not None:
        # each row of the first file in the second
        ids = [[str(value).strip() for value in table.left_out[key]] for table in (old, new)]
        for path, own, other in zip(paths, ids, ids[::-1], strict=True):
            if len({*own}) < len(own):
                raise ValueError(f"{path}: column {key!r} must have a different value in each row.")
            if lacking := sorted({*other} - {*own}):
                raise ValueError(
                    f"{path} has no row with {key} {lacking[0]}, unlike the other file."
                )
        places = {value: place for place, value in enumerate(ids[1])}
        order = [places[value] for value in ids[0]]
        new = new._replace(X=new.X[order], y=new.y[order])
    differ = [a != b for a, b in zip(old.y.tolist(), new.y.tolist(), strict=False)]
    if len(old.y) != len(new.y) or any(differ):
        first = f", and row {differ.index(True) + 1} differs" if any(differ) else ""
        raise ValueError(
            f"both files must have the same true values in {options.target or 'target'!r}, in the "
            f"same order, but they have {len(old.y)} and {len(new.y)} rows{first}. Pass --id "
            "COLUMN if a column names the rows."
        )
    return old, new


def _choose_metric(y: np.ndarray, columns: np.ndarray, options: argparse.Namespace) -> Any:
    """Return the metric that decides, None for accuracy."""
    import sklearn.metrics

    metric: Any = options.metric
    if metric is None and y.dtype.kind == "f":
        raise ValueError(
            "--metric must be passed for a numeric target, such as --metric mean_absolute_error."
        )
    if metric is None and columns.dtype.kind == "f" and (columns % 1 != 0).any():
        metric = "brier_score_loss"
    if y.dtype.kind == "f" and isinstance(options.margin, _shared.Percentage):
        raise ValueError(
            "--margin must be in the unit of the metric for a numeric target, got "
            f"{100 * options.margin:g}%. Write it as a number."
        )
    # scorers have the sign of losses changed, and some functions there are no metrics
    function = getattr(sklearn.metrics, str(metric).removeprefix("neg_"), None)
    is_metric = callable(function) and "y_true" in signature(function).parameters
    return function if is_metric else metric
