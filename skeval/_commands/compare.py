"""``skeval compare``: whether new predictions are worse than old ones, as a gate in automation."""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from skeval._commands import _shared

if TYPE_CHECKING:
    import numpy as np

    from skeval._commands._data import Table
    from skeval.report._arguments import PredictionKind

DESCRIPTION = """\
Compare predictions of the same samples in two files.

exit status 0: B is not significantly worse than A
  with --margin, B is not worse than A by the margin or more (non-inferiority)
exit status 1: B is significantly worse than A
  with --margin, no evidence of non-inferiority
exit status 2: an error
"""
EXAMPLES = """\
examples:
  two files with the columns target and prediction, and id if rows are matched:
    skeval compare old.csv new.csv
  exit with status 0 only if new.csv is significantly less than one percentage
  point worse, and write an HTML page on both files:
    skeval compare old.csv new.csv --margin 1% --html page.html
  several rows of each patient:
    skeval compare old.csv new.csv --groups patient
"""
FILES = """
A                  file with the current predictions
B                  file with the new predictions
"""
COLUMNS = f"""
--target COLUMN    column of true values (default: target)
--predictions COLUMN   column of predictions, which are labels, probabilities, scores or numbers
                   (default: prediction)
--id COLUMN        column that matches the rows (default: id, or a name that ends in _id)
--groups COLUMN    column of groups, such as patients, whose rows are not independent
{_shared.TASK.strip()}
--pos-label CLASS  {_shared.POSITIVE} (default: the second in sorted order)
--metric NAME      name of a metric, such as roc_auc, f1 or r2 (default: brier_score for
                   probabilities, otherwise accuracy)
--margin VALUE     largest acceptable difference, such as 0.01 or 1%%
"""


def add_compare(commands: Any) -> None:
    """Add the command to the subparsers."""
    groups = {
        "": FILES,
        "predictions": COLUMNS,
        "files": _shared.READING,
        "output": _shared.OUTPUT + _shared.METHODS,
    }
    rule = "must be a positive number or percentage"
    types = {"--margin": partial(_shared.parse_positive, math.inf, rule)}
    texts = "compare the predictions in two files", DESCRIPTION, EXAMPLES
    # options of tables that have no meaning here
    defaults = {"drop": [], "date_features": False, "data": "", "predictions": "prediction"}
    _shared.add_command(commands, "compare", texts, groups, types, run=_run, **defaults)


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

    @property
    def of_scores(self) -> bool:
        """Whether the predictions are probabilities or scores of the positive class."""
        return self.kind in ("probabilities", "scores")

    @property
    def identical(self) -> bool:
        """Whether both models have the same predictions."""
        return self.columns[0].tolist() == self.columns[1].tolist()


def _run(options: argparse.Namespace) -> int:
    """Compare two files, print the result, and return the exit status."""
    from skeval.model_selection import compare_predictions

    # the true values and predictions of both files, in the same rows
    tables, key = _read_tables(options)
    old, values = tables[0], _read_values(tables, options)
    metric = _choose_metric(values, options)
    # the new predictions against the old ones
    names = [table.source for table in tables]
    names = names if names[0] != names[1] else ["A", "B"]
    predictions = dict(zip(names[::-1], values.columns[::-1], strict=True))
    run = {"groups": old.groups, "random_state": options.seed}
    compare = partial(compare_predictions, values.true, predictions, **run)
    comparison, notes = _shared.collect_notes(old, compare, metric=metric, margin=options.margin)
    comparison = replace(comparison, scoring=_name_metric(options.metric or comparison.scoring))
    _check_margin(comparison, metric, options.margin)
    passed = _decide(comparison, options.margin, values)
    # the area beside the metric that decides
    shown = [] if values.identical else [comparison]
    if options.metric is None and values.kind == "probabilities" and shown:
        area = _shared.collect_notes(old, compare, metric="roc_auc")[0]
        shown.append(replace(area, scoring="roc_auc"))
    # the text, without notes on the undefined interval of no difference
    notes = [_note_metric(comparison, passed, shown[1:], options.margin), *(notes if shown else [])]
    unsaid = bool(shown) and "single point" not in str(notes)
    notes += _note_files(tables, values, key, metric, two_values=unsaid)
    notes, width = [*dict.fromkeys(notes)], _shared.find_width()
    _shared.print_lines(_write_lines(shown, notes, width))
    # the requested files: the numbers of the gate, and the page of both models
    if options.json is not None:
        _write_gate(comparison, passed, options)
    if options.methods or options.html is not None or options.markdown is not None:
        conclusion = comparison.difference.conclusion if shown else "the same predictions."
        noted = f"Exit status {int(not passed)}: {conclusion}"
        report = _report_both(values, metric, comparison, options, old)
        title = " compared with ".join(comparison.names)
        written = _shared.write_pages(report, options, title, [noted, *notes], width)
        _shared.print_lines([*written])
    return int(not passed)


def _decide(comparison: Any, margin: float | None, values: Values) -> bool:
    """Return whether B is not significantly worse, or with a margin not worse by it or more."""
    difference, new = comparison.difference, comparison.names[0]
    if margin is not None:
        return values.identical or bool(difference.pvalue_noninferior <= difference.level)
    return new in comparison.best or not difference.pvalue <= difference.level


def _note_metric(comparison: Any, passed: bool, areas: Sequence[Any], margin: float | None) -> str:
    """Return a note on the metric that decides, and on an area that contradicts it."""
    from skeval.utils._text import say_pvalue

    result = f"exit status {int(not passed)}: {comparison.scoring} decides"
    for area in areas:
        difference, is_worse = area.difference, comparison.names[0] not in area.best
        if difference.pvalue <= difference.level and is_worse == passed:
            result += (
                ", although the area under the ROC curve is significantly "
                f"{'worse' if is_worse else 'better'} ({say_pvalue(difference.pvalue)}). --metric "
                "roc_auc lets it decide."
            )
            more = " --margin 0.01 also requires evidence that B is not worse."
            return result + more * (passed and margin is None)
    return f"{result}. --metric chooses another metric."


def _name_metric(name: str) -> str:
    """Return the name of a metric, as of r2 for its function r2_score or a loss without "neg_"."""
    from sklearn.metrics import get_scorer, get_scorer_names

    from skeval.metrics._scorers import name_scoring

    bare, scorers = name.removeprefix("neg_"), get_scorer_names()
    if {bare, f"neg_{bare}"} & {*scorers}:
        return bare
    functions = (bare, f"neg_{bare}")
    same = [scorer for scorer in scorers if name_scoring(get_scorer(scorer)) in functions]
    return min(same, key=len, default=bare).removeprefix("neg_")


def _check_margin(comparison: Any, metric: Any, margin: float | None) -> None:
    """Raise an error if a margin is a percentage of a metric without a largest value."""
    from skeval.metrics._table import range_of_metric
    from skeval.model_selection._metric_interval import find_metric

    bounded = metric is None or range_of_metric(find_metric(metric))[1] < math.inf
    if isinstance(margin, _shared.Percentage) and not bounded:
        value = comparison.values[1]  # of the first file
        raise ValueError(
            f"--margin must not be a percentage for {comparison.scoring}, which has no largest "
            f"value, got {100 * margin:g}%. Pass a difference in its unit. The value of A is "
            f"{value:.4g}, so {100 * margin:g}% of it is --margin {margin * value:.3g}."
        )


def _note_files(
    tables: Sequence[Table], values: Values, key: str | None, metric: Any, *, two_values: bool
) -> Iterator[str]:
    """Yield notes on scores that may be labels, the matched rows, and the positive class."""
    from skeval._commands._data import write_option

    # scores with only two values are probably labels
    for table, column in zip(tables, values.columns, strict=True):
        if two_values and values.of_scores and len({*column.tolist()}) == 2:
            yield (
                f"{table.options.data} contains only two values. If these are labels, their area "
                "under the ROC curve and Brier score are not those of the model's scores. Compare "
                "probabilities, or the labels of both models."
            )
    matched = "their order" if key is None else f"the column {key!r}"
    yield f"the rows of both files are matched by {matched}."
    # the first note of a table lists the roles of its columns
    for table in tables:
        yield from (*table.notes[1:], *table.hints)
    if values.positive is None or values.y.dtype.kind != "U":
        return
    opposite = next(label for label in values.y.tolist() if label != values.positive)
    other = write_option("--pos-label", opposite)
    if values.of_scores:
        yield (
            f"the {values.kind} refer to the class {values.positive!r}. {other} means that they "
            "refer to the other class."
        )
    elif metric is not None:
        yield f"the positive class is {values.positive!r}. {other} chooses the other class."


def _write_lines(comparisons: Sequence[Any], notes: Sequence[str], width: int) -> list[str]:
    """Return the lines of the comparisons, if predictions differ, and of the notes."""
    from skeval.report._page import fill_lines
    from skeval.utils._text import fill_text

    lines = [] if comparisons else ["Both files have the same predictions."]
    for one in comparisons:
        lines += str(one).removesuffix(fill_text(one.conclusion)).rstrip().splitlines()
        lines += [f"  {line}" for line in fill_lines(one.conclusion, width - 2)]
    return lines + [line for note in notes for line in fill_lines(f"note: {note}", width)]


def _write_gate(comparison: Any, passed: bool, options: argparse.Namespace) -> None:
    """Write the numbers of the gate as JSON, the difference as that of B minus A."""
    from skeval.utils._text import write_file

    alternative = "worse" if options.margin is None else "non-inferiority"
    gate = {"passed": passed, "alternative": alternative, "margin": options.margin}
    scores = dict(zip(comparison.names, comparison.values.tolist(), strict=True))
    gate |= {"metric": comparison.scoring, "scores": scores, **comparison.difference.to_dict()}
    # A and B are the first and second file
    text = json.dumps(gate | dict(zip("ab", comparison.names[::-1], strict=True)))
    numbers = json.loads(text, parse_constant=lambda _: None)  # JSON has no nan
    write_file(options.json, json.dumps(numbers, indent=2) + "\n")


def _report_both(
    values: Values, metric: Any, comparison: Any, options: argparse.Namespace, old: Table
) -> Any:
    """Return the report of both models, with the comparison of the gate as its own."""
    from skeval.metrics._scorers import get_scorer_names
    from skeval.model_selection._metric_interval import find_metric
    from skeval.report import evaluate_predictions

    # the metric that decides, under the name of its scorer if it has one
    scoring: Any = ["accuracy"] if metric is None else None
    if options.metric is not None:
        same = comparison.scoring, f"neg_{comparison.scoring}"
        scoring = [one for one in same if one in get_scorer_names()][:1] or {
            comparison.scoring: find_metric(metric)
        }
    report: Any = evaluate_predictions(
        values.y,
        dict(zip(comparison.names, values.labels[::-1], strict=True)),
        kind=values.kind,
        scoring=scoring,
        groups=old.groups,
        pos_label=values.positive if values.of_scores else None,
        random_state=options.seed,
    )
    # the page shows the comparison that decides the exit status
    comparison = replace(comparison, scoring=report.comparison.scoring)
    return replace(report, comparison=comparison, answer=comparison)


def _read_tables(options: argparse.Namespace) -> tuple[list[Table], str | None]:
    """Return both files, the second in the order of the first, and the column of the names."""
    from skeval._commands._data import Table, is_id, read_source

    options.predictions = [options.predictions]
    files = [
        argparse.Namespace(**{**vars(options), "data": path}) for path in (options.a, options.b)
    ]
    for file in files:
        _shared.check_files(file)
    # a column with another role does not name the rows
    roles = {options.target or "target", *options.predictions, options.groups} - {None}

    def names_rows(name: str) -> bool:
        return name == options.id or (options.id is None and is_id(name) and name not in roles)

    # names of rows are read as texts, so that they keep leading zeros
    columns = [
        read_source(file, lambda name: names_rows(name) or name == options.groups) for file in files
    ]
    # a column with the name of an identifier that names the rows of a file, best those of both
    found, reordered = dict[str, bool](), dict[str, int]()
    for name in filter(names_rows, sorted(columns[0].keys() & columns[1].keys())):
        one, other = (column[name].tolist() for column in columns)
        if len({*one}) == len(one) or len({*other}) == len(other):
            found[name] = {*one} == {*other}
        elif one != other and Counter(one) == Counter(other):
            reordered[name] = next(k for k in range(len(one)) if one[k] != other[k])
    key = options.id or max(found, key=found.__getitem__, default=None)
    # values that repeat, such as patients, must be in the same order if no column names the rows
    for name, k in reordered.items() if key is None else ():
        one, other = (f"{f.data} has {c[name][k]!r}" for f, c in zip(files, columns, strict=True))
        raise ValueError(
            f"the files have the same values of {name!r} in another order: row {k + 1} of {one}, "
            f"and of {other}. Sort both files alike, or pass --id COLUMN if another column "
            "identifies the rows."
        )
    for file in files:
        file.id = key
    tables = [Table(file, column) for file, column in zip(files, columns, strict=True)]
    if key is not None:
        _match_rows(tables, key)
    _check_rows(tables, f"target {options.target or 'target'!r}", [t.y for t in tables], key)
    if options.groups is not None:
        _check_rows(tables, f"column {options.groups!r}", [t.groups for t in tables], key)
    return tables, key


def _name_row(table: Table, place: int) -> str:
    """Return the number of a row of a file."""
    return f"row {table.rows[place]} of {table.options.data}"


def _match_rows(tables: Sequence[Table], key: str) -> None:
    """Give the rows of the second file the order of the first one."""
    from skeval._commands._data import write_option

    groups = f"{write_option('--groups', key)} instead of --id"
    names = [[str(value).strip() for value in table.left_out[key]] for table in tables]
    # each row must have exactly one partner in the other file
    for this, other in ((0, 1), (1, 0)):
        n_rows = Counter(names[this])
        for place, value in enumerate(names[other]):
            if n_rows[value] != 1:
                raise ValueError(
                    f"the column {key!r} must match each row with one of the other file, but "
                    f"{tables[this].options.data} has {n_rows[value] or 'no'} rows with {value!r}, "
                    f"as in {_name_row(tables[other], place)}. Write the same rows and {key} to "
                    "both files, or pass --id COLUMN with another column."
                    + f" For several rows of one {key}, pass {groups}."
                    * (n_rows[value] > 1)
                )
    # the second file in the order of the first one
    places, new = {value: place for place, value in enumerate(names[1])}, tables[1]
    order = [places[value] for value in names[0]]
    new.X, new.y, new.rows = new.X[order], new.y[order], new.rows[order]
    new.groups = None if new.groups is None else new.groups[order]


def _check_rows(tables: Sequence[Table], what: str, values: Sequence[Any], key: str | None) -> None:
    """Raise an error unless the rows of both files have the same true values, or groups."""
    first, second = (table.options.data for table in tables)
    old, new = (column.tolist() for column in values)
    named = "pass --id COLUMN if both files have a column that identifies the rows"
    if len(old) != len(new):
        raise ValueError(
            f"{first} has {len(old)} rows and {second} {len(new)}, but both files must have the "
            f"same rows. Delete the others, or {named}."
        )
    differ = [k for k, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]]
    if differ:
        place = differ[0]
        # if no column names the rows, another order is the likely cause
        order = f" Sort both files alike, or {named}." if key is None else ""
        # classes with other names, or the target in the place of the predictions
        pairs = [*dict.fromkeys(zip(old, new, strict=True))]
        if 1 < len({*old}) == len({*new}) == len(pairs) < len(old) / 2:
            codes = ", ".join(f"{a!r} as {b!r}" for a, b in pairs[:3])
            order = f" {second} seems to code the classes of {first} differently, {codes}."
        for table, true in zip(tables, (new, old), strict=True):
            if table.X[:, 0].tolist() == true and len({*true}) < len(old) / 2:
                order = f" {table.options.data} seems to have the target in --predictions."
        one, other = (_name_row(table, place) for table in tables)
        raise ValueError(
            f"the {what} differs in {len(differ)} of {len(old)} rows: {one} has {old[place]!r}, "
            f"and {other} has {new[place]!r}. Write the same values to both files.{order}"
        )


def _read_values(tables: Sequence[Table], options: argparse.Namespace) -> Values:
    """Return the true values and both predictions as labels, probabilities, scores or numbers."""
    import numpy as np

    from skeval.report._arguments import read_predictions

    _shared.choose_task(tables[0], options)
    positive = _shared.find_positive(tables[0], options)
    y, numbers = tables[0].y, tables[0].is_numeric
    classes = np.unique(y).tolist()
    # one column can hold the probabilities or scores of two classes only
    kind: PredictionKind = "numbers" if numbers else "auto" if len(classes) == 2 else "labels"
    parsed: list[Any] = []
    for table in tables:
        column = table.X[:, 0]
        # the positive class is for predictions with other values than the classes
        known = kind != "auto" or {*column.tolist()} <= {*classes}
        given = y, column, kind, None, None if known else positive, None
        try:
            parsed += _shared.collect_notes(table, read_predictions, *given)[:1]
        except ValueError as error:
            raise ValueError(f"{table.options.data}: {error}") from error
    columns, kinds = [one.original for one in parsed], {one.kind for one in parsed}
    # numbers, and labels of more than two classes, are compared as they are
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


def _choose_metric(values: Values, options: argparse.Namespace) -> str | None:
    """Return the metric that decides, None for accuracy."""
    metric: Any = options.metric
    if metric is None and values.kind in ("numbers", "scores"):
        kind, such = "a numeric target", "mean_absolute_error"
        if values.kind == "scores":
            kind, such = "scores, which are not all between 0 and 1", "roc_auc"
            such += ". Divide percentages by 100"
        raise ValueError(f"--metric must be passed for {kind}. An example is --metric {such}.")
    if metric is None and values.kind == "probabilities":
        metric = "brier_score"
    return None if metric is None else metric.removeprefix("neg_")
