"""Options, data and output of the commands.

Each command parses its options, reads a table, calls a function of the package, writes its report,
and returns an exit status. Missing values and texts are handled by steps before the estimator,
within every fold.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from skeval._commands import BUNDLED

if TYPE_CHECKING:
    from skeval._commands._data import Table

PAGE_ENDINGS = {".html", ".htm", ""}
MAX_DISTINCT = 20
"""Maximum number of distinct whole numbers of a target of classes."""
FILE = f"DATA   {', '.join(BUNDLED)}, or a CSV, NPZ, Parquet, Feather or Excel file"
DATA = """
--drop COLUMN...   column to exclude from the features
--id COLUMN        column that identifies the rows in the report and is not a feature
--date-features    convert dates to numbers (days since 1970, year, month, day, weekday and hour)
"""
READING = """
--text COLUMN...   column of categories, even if they are numbers or NA
--sep MARK         separator of a CSV file (default: the one of , ; tab and | that gives the most
                   columns)
--decimal MARK     decimal sign of a CSV or Excel file (default: .)
--thousands MARK   separator of thousands (default: none)
--encoding NAME    encoding of a CSV file (default: UTF-8)
--na TEXT...       text or number that means a missing value, in addition to empty cells, NA, N/A,
                   NaN, NULL and None
--skiprows N>=0    number of lines to skip above the column names (default: 0)
--[no-]header      whether the first line has the column names (default: yes, but in a CSV file
                   a name that looks like a value is an error). Without a header, the names are x0,
                   x1, ...
--drop-missing-target   drop rows without a value of the target
"""
RUN = """
--jobs N>=-10000   number of joblib workers
--memory FOLDER    folder of completed fits, to resume an interrupted run
--full             print the whole report instead of a summary
"""
OUTPUT = """
--seed N>=0        random seed (default: 0)
--json FILE        also write all numbers to this file
--html FILE        also write a page with figures to this file
--markdown FILE    also write the report as Markdown to this file
--debug            print the traceback of an error
"""
TASK = f"""
--task classes|numbers   type of the target (default: numbers if it has fractions or more than
                   {MAX_DISTINCT} distinct whole numbers)
"""
POSITIVE = "positive class, to which probabilities, scores or 1 in a column refer"
METHODS = "--methods   also write the methods paragraph for a paper, with references\n"
DEFAULTS = dict.fromkeys(
    ("memory", "predictions", "groups", "by", "time", "methods", "scoring", "whole")
)
"""Options that some commands lack."""


class Once(argparse.Action):
    """Store the value of an option. A second value would replace it, so it is an error."""

    def __call__(self, parser: Any, options: Any, value: Any, name: Any = None) -> None:
        """Store the value."""
        if getattr(options, self.dest) != self.default:
            raise argparse.ArgumentError(self, "may be passed only once")
        setattr(options, self.dest, value)


def add_command(
    commands: Any,
    name: str,
    texts: Sequence[str],
    groups: Mapping[str, str],
    types: Mapping[str, Callable[[str], Any]],
    **defaults: Any,
) -> None:
    """Add a command with its help, description and examples, and with groups of options.

    A row of a group has an option, its metavar and its help. An option without a metavar is a flag.
    "N>=2" is a whole number with a minimum, "X..." may be repeated, "X+" has several values, and
    "a|b" are choices. `types` are functions that read a value.
    """
    about, description, examples = texts
    parser = commands.add_parser(
        name,
        help=about,
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(**DEFAULTS | {"seed": 0} | defaults)
    for title, table in groups.items():
        add = (parser.add_argument_group(title) if title else parser).add_argument
        # a line that starts with a space continues the row above it
        for row in re.split(r"\n(?=\S)", table.strip()):
            head, text = re.split(" {2,}", " ".join(row.split("\n")), maxsplit=1)
            option, _, metavar = head.partition(" ")
            metavar, _, least = metavar.partition(">=")
            how: dict[str, Any] = {"metavar": metavar.rstrip(".+")}
            # the notation of the metavar determines the action and the type
            if option[:1] != "-":
                option, how = option.lower(), {"metavar": option}
            elif "[no-]" in option:
                option, how = (
                    option.replace("[no-]", ""),
                    {"action": argparse.BooleanOptionalAction},
                )
            elif not metavar:
                how = {"action": "store_true"}
            elif metavar.endswith("..."):
                how |= {"action": "append", "default": []}
                text += " (may be repeated)"
            elif "|" in metavar:
                how = {"choices": metavar.split("|")}
            elif least:
                how["type"] = partial(parse_whole_number, int(least))
            elif option in types:
                how["type"] = types[option]
            # a second name would replace the first one without a message
            if metavar.rstrip("+") == "COLUMN":
                how |= {"action": Once, "nargs": "+" if "+" in metavar else None}
            add(option, help=" ".join(text.split()), **how)


def parse_whole_number(least: int, text: str) -> int:
    """Return a whole number that has only digits. In contrast, `int` also accepts "1_0"."""
    if re.fullmatch("[+-]?[0-9]+", text) is None:
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}")
    if int(text) < least:
        raise argparse.ArgumentTypeError(f"must be {least} or more, got {text}")
    return int(text)


class Percentage(float):
    """A number that was passed as a percentage."""


def read_number(text: str) -> float:
    """Return a number. "1%" is 0.01."""
    return Percentage(float(text[:-1]) / 100) if text.endswith("%") else float(text)


def parse_positive(end: float, rule: str, text: str) -> float:
    """Return a number above 0 and below a limit, such as a level, a margin or a time."""
    with suppress(ValueError):
        if 0 < (number := read_number(text)) < end:
            return number
    raise argparse.ArgumentTypeError(f"{rule}, got {text!r}")


def check_files(options: argparse.Namespace) -> None:
    """Raise an error without slow imports if a file to read or to write is in doubt."""
    path = Path(options.data)
    if options.data not in BUNDLED and not path.is_file():
        # the file that may be meant has the same name and an ending, or a similar name
        names = [file.name for file in path.parent.glob("*") if file.is_file()]
        near = [file for file in names if Path(file).stem == path.name]
        near = near or get_close_matches(path.name, [*names, *BUNDLED], n=1, cutoff=0.75)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        there = "is a folder, not a file" if path.is_dir() else "does not exist"
        bundled = f"Bundled data are {', '.join(BUNDLED)}."
        raise FileNotFoundError(f"{options.data!r} {there}{hint}. {bundled}")
    # results that could not be written after the work
    if options.memory is not None and Path(options.memory).is_file():
        raise ValueError(f"--memory must name a folder, got the file {options.memory!r}.")
    # each file must be writable, and distinct from the others
    taken = {Path(options.data).resolve(): "the data"} if Path(options.data).is_file() else {}
    for name in ("json", "html", "markdown"):
        if getattr(options, name) is None:
            continue
        path = Path(getattr(options, name))
        if not path.absolute().parent.is_dir():
            raise ValueError(f"--{name}: the folder {str(path.parent)!r} does not exist.")
        place = path if path.exists() else path.absolute().parent
        if path.is_dir() or not os.access(place, os.W_OK):
            raise ValueError(f"--{name}: {str(path)!r} cannot be written. Choose another file.")
        other = taken.setdefault(path.resolve(), f"--{name}")
        if other != f"--{name}":
            raise ValueError(f"--{name} must differ from {other}, got {path}.")
    if options.html is not None:
        from skeval.report._page import check_extra

        if Path(options.html).suffix.lower() not in PAGE_ENDINGS:
            raise ValueError(
                f"--html must name a file that ends in .html, got {options.html!r}. For a PDF, "
                "print the page from a browser."
            )
        check_extra()


def read_columns(options: argparse.Namespace, **how: Any) -> Table:
    """Return the table that the options name."""
    check_files(options)
    from skeval._commands._data import Table

    return Table(options, **how)


def write_pages(
    report: Any, options: argparse.Namespace, title: str, notes: Sequence[str], width: int | None
) -> Iterator[str]:
    """Write the requested pages of a report. Yield the methods and the names of the files."""
    from skeval.report._page import fill_lines
    from skeval.utils._text import escape_controls

    methods = f"methods: {report.to_methods()}".splitlines() if options.methods else []
    for text in filter(None, methods):
        yield from fill_lines(text, width)

    # names in a file may contain control characters
    title, notes = escape_controls(title), [*map(escape_controls, notes)]
    if options.markdown is not None:
        report.to_markdown(options.markdown, title=title, notes=notes)
        yield f"written to {options.markdown}"
    if options.html is not None:
        command = escape_controls(options.line)
        report.to_html(options.html, title=title, command=command, notes=notes)
        yield f"written to {options.html}"


def run(
    table: Table, options: argparse.Namespace, procedure: str, function: Callable[..., Any]
) -> None:
    """Call a function that reports on a procedure, and write the report with all notes.

    After Ctrl-C, the report of the completed fits is written.
    """
    from skeval.report._page import fill_lines

    start = f"{describe_data(table, options)}; {procedure}"
    options.progress.headline = "\n  ".join(fill_lines(start, LINE_WIDTH))
    try:
        report, notes = collect_notes(table, function)
    except KeyboardInterrupt as stop:
        if hasattr(stop, "report"):
            deliver(stop.report, table, options, procedure, [])
        raise
    deliver(report, table, options, procedure, notes)


def deliver(
    report: Any, table: Table, options: argparse.Namespace, procedure: str, notes: Sequence[str]
) -> None:
    """Write a report on a procedure to the requested files, and always print it.

    Only a summary is printed, unless --full is passed or the command prints the whole report.
    """
    from skeval.report._page import fill_lines

    options.progress.close()
    # the report as text: all of it, or a summary
    report, notes = _name_samples(report, table, options), [*table.notes, *table.hints, *notes]
    whole = options.full or options.whole
    # a whole report in a file or pipe is not divided, so that it can be searched
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    width = find_width() if is_terminal or not whole else None
    lines = [*fill_lines(_write_headline(table, options), width), *fill_lines(procedure, width), ""]
    if whole:
        lines.append(report.to_text(full=options.full, width=width))
    else:
        lines += summarize(report, options)
    for note in notes:
        lines += fill_lines(f"note: {note}", width)
    # the requested files, then the text, which an error of a file does not prevent
    try:
        if options.json is not None:
            report.to_json(options.json)
            lines.append(f"written to {options.json}")
        title = f"{Path(options.data).name}: {procedure}"
        lines += write_pages(report, options, title, notes, width)
    finally:
        print_lines(lines)
        # Ctrl-C from here on loses nothing
        options.printed = True


def print_lines(lines: Sequence[str]) -> None:
    """Print lines, with escapes for what the encoding of standard output lacks."""
    if sys.stdout is not None:  # None if standard output is closed
        encoding = sys.stdout.encoding or "utf-8"
        print("\n".join(lines).encode(encoding, "backslashreplace").decode(encoding), flush=True)


def _name_samples(report: Any, table: Table, options: argparse.Namespace) -> Any:
    """Return a report with its samples, and those of its models, named by --id or their rows.

    The rows are those of the file, as in the notes. Bundled data have no file.
    """
    if hasattr(report, "reports"):
        named = {name: _name_samples(one, table, options) for name, one in report.reports.items()}
        return replace(report, reports=named)
    hard = getattr(report, "hard_samples", None)
    if hard is None or options.data in BUNDLED:
        return report
    places = [*map(int, hard.name)]
    rows = table.rows[places]
    names = rows if options.id is None else table.left_out[options.id][places]
    return replace(report, hard_samples=replace(hard, sample=rows, name=names.astype(str)))


MAX_WIDTH, LINE_WIDTH = 100, 70
"""Maximum width of the output, and width of the line above the progress."""
MAX_ROWS = 4
"""Maximum number of rows in the table of a summary."""


def summarize(report: Any, options: argparse.Namespace) -> list[str]:
    """Return a summary of a report: verdict, advice of warnings, a few metrics, subgroups.

    If scores were requested, all metrics are printed.
    """
    from skeval.report._page import fill_lines

    # the warnings, each with what to do
    first, *others = report.sections
    warned = dict.fromkeys(map(_shorten_warning, first.items))
    # the first table with rows for text, and requested subgroups
    tables = (table for section in others for table in section.tables if table.n_in_text != 0)
    rows = next((_fit_lines(table) for table in tables), [])
    shown = rows if options.scoring else rows[: 1 + MAX_ROWS]
    for section in others:
        shown += section.write_lines() if section.in_summary else ()
    parts = "" if getattr(options, "include", "auto") == "auto" else " with the parts of --include"
    more = f"--full prints the whole report{parts}. --html FILE writes a page with figures."
    caution = report.basis[1:][-1:]  # after the target of the intervals
    texts = [report.verdict, *caution, *warned]
    start = [line for text in texts for line in fill_lines(text, find_width())]
    return [*start, "", *shown, *([""] if shown else []), more]


def _shorten_warning(warning: Any) -> str:
    """Return the title of a warning, its code, its fact, and the last sentence, the advice."""
    fact = warning.evidence.partition(". ")[0].removesuffix(".")
    advice = warning.advice.removesuffix(".").rpartition(". ")[2]
    told = ". ".join(filter(None, (fact, advice)))
    return f"! {warning.title} [{warning.code}]: {told}."


def _fit_lines(table: Any) -> list[str]:
    """Return the lines of a table without columns beyond the width of the terminal."""
    lines: list[str] = table.write_lines()
    width = find_width()
    while len(table.head) > 1 and max(map(len, lines)) > width:
        rows = [row[:-1] for row in table.rows]
        table = replace(table, head=table.head[:-1], rows=rows)
        lines = table.write_lines()
    return [line[:width] for line in lines]


def find_width() -> int:
    """Return the width of the terminal, at most `MAX_WIDTH`, the width of files and pipes."""
    if sys.stdout is None or not sys.stdout.isatty():
        return MAX_WIDTH
    return max(40, min(MAX_WIDTH, get_terminal_size((MAX_WIDTH, 24)).columns))


def describe_data(table: Table, options: argparse.Namespace) -> str:
    """Return the name and the size of the data."""
    from skeval.utils._text import count, escape_controls

    n_samples, n_columns = table.X.shape
    size = count(n_columns, "feature")
    if options.predictions is not None:
        size = count(len(options.predictions), "prediction")
    return f"{escape_controls(table.source)}: {count(n_samples, 'sample')}, {size}"


def _write_headline(table: Table, options: argparse.Namespace) -> str:
    """Return the name and size of the data and, with a target, the classes or the range."""
    import numpy as np

    from skeval.report._page import list_few
    from skeval.utils._text import count, name_label, write_figures

    size = describe_data(table, options)
    if table.groups is not None:
        size += f", {count(len(set(table.groups)), 'group')}"
    if table.y is None:
        return f"{size}, no labels"
    # the range of numbers, or the classes with their sizes
    classes, sizes = np.unique(table.y, return_counts=True)
    if table.is_numeric:
        return f"{size}, target from {write_figures(classes[0])} to {write_figures(classes[-1])}"
    listed = [f"{name_label(name)}: {n}" for name, n in zip(classes, sizes, strict=True)]
    return f"{size}, {count(len(classes), 'class')} ({list_few(listed, MAX_CLASSES)})"


def find_positive(table: Table, options: argparse.Namespace) -> Any:
    """Return the class of --pos-label, or None without this option."""
    from skeval.utils._checks import suggest

    if options.pos_label is None:
        return None
    if table.is_numeric:
        raise ValueError("--pos-label requires a target of classes. Also pass --task classes.")
    if options.pos_label not in (classes := table.name_classes()):
        raise ValueError(
            f"--pos-label must be one of the classes {', '.join([*classes][:10])}, got "
            f"{options.pos_label!r}{suggest(options.pos_label, classes)}."
        )
    return classes[options.pos_label]


def choose_task(table: Table, options: argparse.Namespace) -> None:
    """Choose between a target of classes, and a numeric target, which becomes floats."""
    import numpy as np

    y, task = table.y, options.task
    fractions = y.dtype.kind == "f" and bool((y % 1 != 0).any())
    n_distinct = len(np.unique(y))
    if n_distinct < 2:
        raise ValueError(
            f"{table.source}: the target {table.roles['target'][0]!r} must have several values, "
            f"but is {y.tolist()[0]!r} in all {len(y)} rows. --target COLUMN names another column."
        )
    # texts and Booleans are classes
    if y.dtype.kind not in "iuf":
        if task == "numbers":
            raise ValueError(
                f"--task numbers needs a numeric target, got {str(y[0])!r}. Leave it out for "
                "classes."
            )
        return
    numeric = task == "numbers" or (task is None and (fractions or n_distinct > MAX_DISTINCT))
    # predicted fractions of more than two whole numbers are numbers
    if task is None and n_distinct > 2 and len(options.predictions or ()) == 1:
        column = table.X[:, table.feature_names.index(options.predictions[0])]
        numeric |= column.dtype.kind == "f" and bool((column % 1 != 0).any())
    # whole numbers may be both, so a hint says how they are treated
    unclear = numeric or (n_distinct > 2 and options.data not in BUNDLED)
    if task is None and not fractions and unclear:
        kind, other = ("numeric", "classes") if numeric else ("classes", "numbers")
        table.hints.append(
            f"the target has {n_distinct} distinct whole numbers and is treated as {kind}. --task "
            f"{other} treats it as {other}."
        )
    table.y, table.is_numeric = y.astype(float) if numeric else y, numeric


def collect_notes(
    table: Table, function: Callable[..., Any], *args: Any, **kwargs: Any
) -> tuple[Any, list[str]]:
    """Return the result of a function and its warnings. Hints of a table explain errors."""
    from skeval._commands._data import explain_errors

    with explain_errors(table.hints), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            result = function(*args, **kwargs)
        except (ValueError, TypeError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            # rows of arrays count from 0, and without those that were left out
            text = re.sub(r"(?<=, row )\d+", lambda row: str(table.rows[int(row[0])]), str(error))
            raise kind(name_options(text)) from error
    return result, sorted({name_options(str(item.message)) for item in caught})


OPTIONS = {
    "n_clusters": "--k", "n_repeats": "--repeats", "n_permutations": "--permutations",
    "pos_label": "--pos-label", "confidence_level": "--confidence-level", "scoring": "--scoring",
    "include": "--include", "ignore": "--ignore", "metric": "--metric", "margin": "--margin",
    "threshold": "--threshold", "groups": "--groups", "time": "--time", "cv": "--cv", "by": "--by",
    "n_jobs": "--jobs", "memory": "--memory", "predictions": "--predictions",
    "labels_true": "--target", "y_true": "the target", "y": "the target", "X": "the features",
    "estimator": "--estimator",
}  # fmt: skip
"""Options of the command line for the arguments of the Python functions."""
ARGUMENT = re.compile(
    # an argument at the start, one with a value, or one that is no other word
    rf"^(?P<start>{'|'.join(OPTIONS)})(?=:| (?:must|needs|contains|takes|has)\b)"
    rf"|\b(?P<name>{'|'.join(OPTIONS)})=(?P<value>'[^']*'|[\w.-]*)"
    r"|\b(?P<word>n_clusters|pos_label|confidence_level|y_true)\b|predictions\['(?P<file>[^']*)'\]"
)
REMEDIES = {
    r"skeval\.metrics\.get_scorer_names\(\)": "the names of metrics, as in scikit-learn",
    r", or LeaveOneOut\(\)": ", or --include leave_one_out",
    r"Use fewer or shorter test sets, or other_groups=False": "Use fewer folds, or no --groups",
    r" Otherwise pass kind='scores'\.": "",
    r" Pass kind='probabilities' if the predictions are probabilities\.": "",
    r"See kind=": "Pass columns of one kind, such as probabilities",
    r"Pass kind='scores' if they are scores, and use compare_.*?models": (
        "If they are models, rename the columns, because these are the names of the classes"
    ),
    r"kind='numbers'": "--task numbers",
    r"a dict with .* above 0": "sensitivity=0.9, specificity=0.9 or cost_ratio=5",
    r"got \{'(\w+)': (.*?)(\.0)?\}": r"got '\1=\2'",
    r"For a numeric target, use a regressor": "For a numeric target, pass --task numbers",
    r"pandas\.Series\(y\)\S+ makes them equal": "Write each in one way in the file",
    r"Use a regressor, or convert the numbers to classes": "Leave out --task classes",
    r"pass predictions\[[^]]*\]\.astype\(float\)": "pass --task numbers",
    r", or convert them, as by y_proba >= 0\.5": ", or write the predicted classes to the file",
    r"as the estimator": "as --estimator",
    r"skeval\.evaluate_clusterer\(clusterer, X\)": "skeval cluster",
    r"must be None or ": "must be ",
    r"must be None ": "must not be passed ",
    r"but y has": "but the target has",
    r"pos_label=1 is not a valid label.*?\]": "the classes must be 0 and 1",
    r"Encode the positive class as 1, as in \(y == (.*?)\)": r"Write \1 as 1 in the file",
    r"such as LogisticRegression": "such as --estimator logistic",
    r"continuous (format )?is not supported": "it is for classes. For numbers, use one such as r2",
    r" for method='delong'": " for an area under the ROC curve",
    r"multi_class must be in \('ovo', 'ovr'\)": "it is for two classes. Pass roc_auc_ovr",
    r"Please choose another average setting[^.]*": "Choose a variant such as f1_macro",
}
"""Remedies in Python, and those on the command line."""


def name_options(text: str) -> str:
    """Return an error or a warning of a Python function with the options of the command line."""
    text = " ".join(text.split())
    for remedy, own in REMEDIES.items():
        text = re.sub(remedy, own, text)

    def replace_one(match: re.Match[str]) -> str:
        name = match["start"] or match["name"] or match["word"]
        if name is None:
            return f"the predictions in {match['file']}"
        return f"{OPTIONS[name]} {match['value']}".strip() if match["name"] else OPTIONS[name]

    return ARGUMENT.sub(replace_one, text)


MAX_LISTED, MAX_CLASSES = 4, 5
"""Maximum number of columns, and of classes, that are named."""


def make_preparation(table: Table, *, scale: bool) -> list[Any]:
    """Return the transformers of a table: medians for missing values, one-hot encoding of texts.

    They are steps of the evaluated pipeline, so that they are fitted within each fold.
    """
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    # numbers
    imputers = [SimpleImputer(strategy="median", keep_empty_features=True)]
    numeric = [*(imputers if table.missing else []), *([StandardScaler()] if scale else [])]
    if not table.texts:
        return numeric
    numbers = [column for column in range(table.X.shape[1]) if column not in table.texts]
    # texts
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    parts = [(encoder, table.texts)]
    if numbers:
        parts.insert(0, (make_pipeline(*numeric) if numeric else "passthrough", numbers))
    return [make_column_transformer(*parts, verbose_feature_names_out=False)]


IN_FOLDS = ", fitted in each fold"


def describe_preparation(table: Table) -> str:
    """Describe how missing values and strings are handled, or "" if there are none."""
    from skeval.report._page import list_few

    steps = []
    for step, columns in (
        ("medians for missing values", table.missing),
        ("one-hot encoding of text", table.texts),
    ):
        names = [table.feature_names[column] for column in columns]
        steps += [f"{step} ({list_few(names, MAX_LISTED)})"] * bool(names)
    return f", {' and '.join(steps)}{IN_FOLDS}" if steps else ""
