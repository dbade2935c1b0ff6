"""``skeval compare``: whether new predictions are worse than old ones, as a gate for automation."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from skeval._commands import _shared

EXAMPLES = """\
examples:
  two files with the columns target and prediction, in the same order of rows:
    skeval compare old.csv new.csv
  exit with status 1 unless new.csv is shown to be worse by less than one percentage point:
    skeval compare old.csv new.csv --margin 0.01 --json result.json
"""


def add_compare(commands: Any) -> None:
    """Add the command to the subparsers."""
    parser = commands.add_parser(
        "compare",
        help="compare the predictions in two files",
        description="Compare predictions of the same samples in two files.\n\n"
        "exit status 0: B is not significantly worse than A; with --margin, B is shown to be\n"
        "               worse by less than the margin\nexit status 1: otherwise\n"
        "exit status 2: an error",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    # options of tables that have no meaning here
    parser.set_defaults(run=_run_compare, memory=None, id=None, drop=[], html=None)
    parser.set_defaults(date_features=False)
    options, add = _shared.Options(parser), parser.add_argument
    add("first", metavar="A", help="file with the predictions in use")
    add("second", metavar="B", help="file with the new predictions")
    options.column("--target", "column of true values (default: target)")
    options.column(
        "--prediction", "column of predictions (default: prediction)", default="prediction"
    )
    metrics = "balanced_accuracy, f1, r2 or mean_absolute_error"
    add("--metric", help=f"name of a metric, such as {metrics} (default: accuracy)")
    add("--margin", type=float, help="largest difference that does not matter, such as 0.01")
    _shared.add_reading(options)
    options.number("--seed", 0, "random seed (default: 0)", default=0)
    add("--json", metavar="FILE", help="also write all numbers to this file")
    options.flag("--debug", "print the traceback of an error")


def _run_compare(options: argparse.Namespace) -> int:
    """Compare two files, print the result, and return the exit status."""
    import sklearn.metrics

    from skeval.model_selection import compare_predictions

    # the true values and predictions of both files, in the same rows
    old, new = (
        _shared.read_columns(argparse.Namespace(**vars(options), data=path), needs_target=True)
        for path in (options.first, options.second)
    )
    if old.y.tolist() != new.y.tolist():
        target = options.target or "target"
        raise ValueError(
            f"both files must have the same true values in {target!r}, in the same order, got "
            f"{len(old.y)} and {len(new.y)} rows."
        )
    # the metric; scorers have the sign of losses changed
    metric: Any = options.metric
    if metric is None and old.y.dtype.kind == "f":
        raise ValueError("--metric must name a metric of numbers, such as mean_absolute_error.")
    if metric is not None:
        metric = getattr(sklearn.metrics, metric.removeprefix("neg_"), metric)
    # the new predictions against the old ones
    names = [Path(path).name for path in (options.first, options.second)]
    names = names if names[0] != names[1] else ["A", "B"]
    predictions = dict(zip(names, (old.X[:, 0], new.X[:, 0]), strict=True))
    comparison = compare_predictions(
        old.y, predictions, random_state=options.seed, metric=metric, margin=options.margin
    )
    difference = comparison[names[1], names[0]]
    worse = difference.value < 0 if difference.greater_is_better else difference.value > 0
    is_worse = worse and difference.pvalue <= difference.level
    identical = old.X.tolist() == new.X.tolist()
    if options.margin is not None:
        is_worse = not (identical or difference.pvalue_noninferior <= difference.level)
    # the output
    if options.json is not None:
        text = json.dumps({"is_worse": bool(is_worse), **difference.to_dict()})
        numbers = json.loads(text, parse_constant=lambda _: None)  # JSON has no nan
        Path(options.json).write_text(json.dumps(numbers, indent=2) + "\n", encoding="utf-8")
    print("Both files have the same predictions." if identical else difference)
    for note in dict.fromkeys([*old.notes[1:], *new.notes[1:], *old.hints, *new.hints]):
        print(f"note: {note}")
    return int(is_worse)
