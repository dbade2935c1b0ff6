"""``skeval compare``: whether new predictions are worse than old ones, as a gate for automation."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

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
    # options of reading that other commands have
    parser.set_defaults(run=_run_compare, memory=None, text=[], sep=None, decimal=None)
    parser.set_defaults(thousands=None, encoding=None, na=[], skiprows=None, header=None)
    add = parser.add_argument
    add("first", metavar="A", help="file with the predictions in use")
    add("second", metavar="B", help="file with the new predictions")
    add("--target", default="target", help="column of true values (default: target)")
    add("--prediction", default="prediction", help="column of predictions (default: prediction)")
    add("--metric", help="name of a metric, such as balanced_accuracy or f1 (default: accuracy)")
    add("--margin", type=float, help="largest difference that does not matter, such as 0.01")
    add("--seed", type=int, default=0, help="random seed (default: 0)")
    add("--json", metavar="FILE", help="also write all numbers to this file")
    add("--debug", action="store_true", help="print the traceback of an error")


def _run_compare(options: argparse.Namespace) -> int:
    """Compare two files, print the result, and return the exit status."""
    from skeval._commands._data import read_columns
    from skeval.model_selection import compare_predictions

    names = [Path(path).name for path in (options.first, options.second)]
    names = names if names[0] != names[1] else ["A", "B"]
    # the true values and predictions of both files, in the same rows
    columns, wanted = [], [options.target, options.prediction]
    for path in (options.first, options.second):
        table = read_columns(argparse.Namespace(**vars(options), data=path), wanted, [])
        if missing := [name for name in wanted if name not in table]:
            raise ValueError(f"{path} has no column {missing[0]!r}; it has {', '.join(table)}.")
        columns.append([table[name] for name in wanted])
    (truth, first), (other, second) = columns
    if truth.tolist() != other.tolist():
        raise ValueError(
            f"both files must have the same true values in {options.target!r}, in the same order."
        )
    # the new predictions against the old ones
    predictions = dict(zip(names, (first, second), strict=True))
    options_of_test: dict[str, Any] = {"metric": options.metric, "margin": options.margin}
    comparison = compare_predictions(
        truth, predictions, random_state=options.seed, **options_of_test
    )
    new = comparison[names[1], names[0]]
    worse = new.value < 0 if new.greater_is_better else new.value > 0
    is_worse = worse and new.pvalue <= new.level
    identical = first.tolist() == second.tolist()
    if options.margin is not None:
        is_worse = not (identical or new.pvalue_noninferior <= new.level)
    # the result
    if options.json is not None:
        numbers = {"is_worse": bool(is_worse), **new.to_dict()}
        Path(options.json).write_text(json.dumps(numbers, indent=2) + "\n", encoding="utf-8")
    print("Both files have the same predictions." if identical else new)
    return int(is_worse)
