"""Reports of all kinds, their results in the order of the page, and the code to repeat the run.

A kind of report is a dataclass whose fields are results, with functions that write its sections.
`Report` turns them into text, a page, JSON and data frames.
"""

from __future__ import annotations

import json
import math
import platform
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from datetime import date
from functools import wraps
from html import escape
from importlib import import_module
from inspect import signature
from os import PathLike
from textwrap import shorten
from typing import Any, ClassVar, cast

import joblib
import numpy as np
import scipy
import sklearn
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from skeval._version import __version__
from skeval.metrics._table import REPORTED
from skeval.report._page import (
    CheckResult,
    Figure,
    Section,
    Table,
    escape_markdown,
    fill_lines,
    render,
)
from skeval.utils import _text
from skeval.utils._checks import FunctionT, check_calls, check_count, check_option, name_missing
from skeval.utils._text import DataFrame


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Report(Mapping[str, Any]):
    """Report of an estimator, of predictions, of several models, or of a clusterer.

    It is made by `evaluate`, `evaluate_predictions` and `evaluate_clusterer`. The attributes below
    `date` depend on the kind of the report. As a mapping, a report contains its `estimates`, and a
    comparison contains its reports by name.

    Attributes
    ----------
    warnings : tuple of CheckResult
        Warnings to read before reporting a number, each with its `code`, `title`, `evidence`,
        `advice` and `headline`, which is "" unless it is serious. ``str(warning)`` is its text.
    checks : tuple of CheckResult
        For an estimator, the result of every check, with its `code`, `title` and `outcome`
        ("passed", "note", "serious", "not applicable", "not run" or "ignored").
    seed : int
        Seed of all random steps. ``random_state=seed`` repeats the evaluation.
    settings : dict of str to str
        Other arguments of the call, as source text.
    versions : dict of str to str
        Versions of the packages that affect the results.
    call : str
        Program that creates the report, as source text with its imports. The reports of several
        models have the program of their comparison.
    date : str
        Date of the report.
    answer : Estimate, Comparison or NClustersChoice
        The main estimate, which is the number to report. For several models, it is their
        comparison. For a clusterer, it is the choice of the number of clusters.
    estimates : dict of Estimate
        For an estimator, other estimates of its error, from the most optimistic to the most
        conservative. For predictions, the main metric for all samples and for each subgroup. For
        several models, the main estimate of each model. For a clusterer, the choice by each rule.
    metrics : dict of Estimate
        Metrics of the predictions, for all samples and for each class or output, and the metrics
        in `scoring`. For several models, a dict with the metrics of each. For a clusterer, the
        `ClusteringComparison` of its internal indices.
    confusion : ConfusionRates or None
        Confusion matrix with intervals of its rates.
    hard_samples : HardSamples
        Samples with the worst predictions (out of fold for an estimator). None for several
        outputs.
    subgroups : dict of Estimate, or None
        Main estimate, or metric of a rare class, in each subgroup of `by`. Its attribute
        `less_the_rest` contains the differences from all other samples.
    baseline : Baseline or None
        Best constant prediction, with its difference from the model on the same samples. None for
        scores and custom losses.
    rare_class : RareClass or None
        Rarest class, with the metric that is used instead of the error. None if no class is rare.
    never_predicted : tuple of str
        Classes or labels that are never predicted.
    out_of_fold : Predictions
        Evaluated predictions. `predictions` returns them as a table.
    splits : dict of str to ndarray of shape (n_fits,)
        For an estimator, every metric of each test set, by repeat and fold, and the times of its
        fit and of its scores in seconds.
    confidence_level : float
        Nominal coverage of the intervals.
    n_samples, n_groups, n_features : int or None
        Size of the data. None for groups if there are none, and for features if samples are not
        rows of a table.
    class_sizes : dict or None
        Number of samples of each class or label, or None for regression.
    estimator, estimator_name, estimator_steps, clusterer : str
        Source text of the estimator, names of the classes of its steps, its steps with the
        parameters that differ from their defaults, and source text of the clusterer.
    feature_names : tuple of str or None
        Names of the features, or None if they have none.
    tuning : TuningOptimism or None
        For an estimator, the optimism of the best scores of its hyperparameter searches, and the
        selected settings.
    permutation : PermutationTest or None
        For an estimator, the permutation test of the whole procedure.
    perturbation : tuple of PerturbationEstimate or None
        For a linear two-class `SVC`, the intervals with the cross-validation statistic and with
        the resubstitution statistic.
    selection_bias, selection_stability, candidate_names : SelectionBias, SelectionStability, tuple
        For a pipeline that selects features, the bias of selection on all samples, the agreement
        between the features selected in the folds, and the names of the candidates.
    importance : dict of Estimate, or None
        For an estimator, the permutation importance of each feature, if requested.
    omitted : dict of str to str
        For an estimator, parts that were not run, with the reason.
    kind, positive, threshold : str, object, float or None
        For predictions, the kind ("labels", "probabilities", "scores" or "numbers"), the class to
        which probabilities or scores of two classes refer, and the value from which a sample is
        predicted as positive.
    calibration, net_benefit : dict of Estimate, or None
        For probabilities of two classes, results of `calibration_measures`, and the net benefit at
        the prevalence and at 0.5. For an estimator, of one repeat of the folds.
    at_threshold : dict of Estimate, or None
        For predictions, results of `threshold_measures`.
    reports, comparison : dict of Report, Comparison or None
        For several models, a report for each, and the comparison of all pairs on the same test
        sets or samples. `comparison` is None if fits failed or there is a single test set.
    deciding : str
        For several models, the metric that is compared. It is the first one in `scoring`, the
        metric of a rare class, or "" for the main estimate.
    measures : tuple of dict
        For several models with scores of two classes, the difference of each pair in each further
        measure, with its interval and P-value.
    n_clusters, choice, choices : int, NClustersChoice, dict
        For a clusterer, the chosen number of clusters (1 if there is no evidence of more), its
        tests, and the choices by all rules.
    stability : NClustersChoice
        For a clusterer, the agreement between halves for each number of clusters.
    external : tuple of dict of str to float, or None
        For a clusterer, the agreement of each clustering with known classes.
    partitions : dict of int to ndarray of shape (n_samples,)
        For a clusterer, the labels of all samples, with the number of clusters as key.
    shown : ShownClusters or None
        For a clusterer, the clustering that a page draws.
    """

    SECTIONS: ClassVar[tuple[Callable[[Any], Section | None], ...]]
    """Functions that write a section, or return None if there is nothing to show."""
    MAIN_TABLE: ClassVar[tuple[str, str]]
    """Name of the main table of `to_dict` and `to_frame`, and of its index."""

    answer: Any
    estimates: Mapping[str, Any] = field(repr=False)
    n_samples: int
    warnings: tuple[CheckResult, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    seed: int = field(repr=False)
    settings: dict[str, str] = field(default_factory=dict, repr=False)
    versions: dict[str, str] = field(default_factory=dict, repr=False)
    call: str = field(default="", repr=False)
    date: str = field(default="", repr=False)

    __hash__, __eq__ = object.__hash__, object.__eq__

    def __getattr__(self, name: str) -> Any:
        """Raise an error that says where a metric is. Kinds of reports have further fields."""
        metrics = vars(self).get("metrics") or {}
        inside = [
            f"[{key!r}].metrics"
            for key, one in metrics.items()
            if name in getattr(one, "keys", list)()
        ]
        where = ".metrics" if name in metrics else inside[0] if inside else ""
        hint = f". The metric is report{where}.{name}" if where else ""
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}{hint}", name=name, obj=self
        )

    @property
    def _entries(self) -> Mapping[str, Any]:
        """Contents of the report as a mapping."""
        return self.estimates

    def __getitem__(self, name: str) -> Any:
        """Return the estimate or metric with this name, or the report of a model."""
        metrics = getattr(self, "metrics", None)
        entries = {**(metrics if isinstance(metrics, Mapping) else {}), **self._entries}
        if name not in entries:
            raise KeyError(name_missing(name, entries))
        return entries[name]

    def __contains__(self, name: object) -> bool:
        """Return whether it is one of the entries. `__getitem__` also accepts metrics."""
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    # --- a kind of report also has `title`, `facts`, `_write_verdict` and `_list_rows`

    @property
    def basis(self) -> list[str]:
        """Evidence for the verdict, in sentences."""
        return []

    def _draw_main(self) -> Figure | None:
        """Return the figure below the headline."""
        return None

    @property
    def predictions(self) -> DataFrame:
        """Return a data frame with one row for each prediction. Requires pandas.

        The columns are sample (row of X), repeat, fold, truth and prediction. Classifiers with
        scores add "score_<class>" (decision value or probability) for the positive one of two
        classes, or for each of more classes. For several models, the column "name" has their
        names. For a clusterer, there is a column of labels for each number of clusters.
        """
        raise NotImplementedError

    @property
    def verdict(self) -> str:
        """The result in a few sentences. The first one is the headline of the page."""
        return " ".join(self._write_verdict())

    @property
    def headline(self) -> str:
        """The first sentence of the verdict."""
        return self._write_verdict()[0]

    @property
    def sections(self) -> list[Section]:
        """The sections in the order of text and page, the warnings first."""
        warnings = sorted(self.warnings, key=lambda one: not one.headline)
        warned = Section(
            "Before you report a number",
            explains=() if self.warnings else ["No problems were detected."],
            items=warnings,
        )
        return [warned, *filter(None, (make(self) for make in self.SECTIONS))]

    def _add_notes(self, notes: Sequence[str]) -> list[Section]:
        """Return the sections with notes after the warnings."""
        before, *sections = self.sections
        items = [notes] if isinstance(notes, str) else notes
        noted = Section("Notes on the data and on the run", items=items)
        return [before, *([noted] if notes else []), *sections]

    def _list_methods(self) -> list[Section]:
        """Return the closing section with the methods paragraph, empty for a clustering."""
        try:
            paragraphs = self.to_methods().split("\n")
        except TypeError:
            return []
        return [Section("Methods", explains=[text for text in paragraphs if text])]

    def plot(self, ax: Any = None) -> Any:
        """Draw the estimates with their intervals. Requires matplotlib.

        For a clusterer, the stability of each number of clusters is drawn.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None creates a new figure.

        Returns
        -------
        EstimatesDisplay or StabilityDisplay
        """
        raise NotImplementedError

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"Report({self.verdict!r})"

    def to_text(self, *, full: bool = False, width: int | None = None) -> str:
        """Return the report as text.

        Parameters
        ----------
        full : bool, default=False
            Whether to include all rows of the tables of the page.
        width : int, default=None
            Maximum length of a line, at least 20. None means that lines are not divided.

        Returns
        -------
        str
        """
        if width is not None:
            check_count("width", width, 20)
        lines = [line for text in (self.verdict, *self.basis) for line in fill_lines(text, width)]
        for section in self.sections:
            for line in section.write_lines(full=full, width=width):
                if line or lines[-1]:
                    lines.append(line)
        return "\n".join(lines).rstrip()

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain Python objects, without arrays and replicates.

        Returns
        -------
        dict
        """
        # the results in the order of the page, and how to repeat them
        entries = {"verdict": self.verdict, **self._list_results()}
        entries |= {"seed": self.seed, "settings": self.settings, "versions": self.versions}
        return {name: _make_plain(value) for name, value in entries.items()}

    def _list_results(self) -> dict[str, Any]:
        """Return the results without arrays by name, with the main table."""
        results = {one.name: getattr(self, one.name) for one in fields(self) if one.repr}
        return results | {self.MAIN_TABLE[0]: self._list_rows()}

    def to_frame(self, part: str | None = None) -> DataFrame:
        """Return a part of the report as a data frame. Requires pandas.

        Parameters
        ----------
        part : str, default=None
            "predictions", "splits" of an estimator, or a name in `to_dict` of rows or a result,
            such as "metrics", "confusion", "hard_samples" or "subgroups". None means the main
            table. Depending on the report, it has the estimates of an estimator, the metrics of
            predictions, the outputs, the models, or the numbers of clusters.

        Returns
        -------
        pandas.DataFrame
            One row for each estimate, sample, class or other item.
        """
        others = [name for name in ("predictions", "splits") if hasattr(type(self), name)]
        if part in others:
            return _text.make_frame(getattr(self, part))
        # results have a frame of their own, or rows
        tables = {}
        for name, result in self._list_results().items():
            rows = _make_plain(result)
            rows = rows if isinstance(rows, list) else [rows]
            if result is not None and all(isinstance(row, dict) for row in rows):
                tables[name] = result, rows
        main, row_name = self.MAIN_TABLE
        part = check_option("part", main if part is None else part, (*tables, *others))
        result, rows = tables[part]
        if hasattr(result, "to_frame"):
            return result.to_frame()
        # agreement with known classes gets a column for each index
        frame = _text.make_frame([row | row.pop("external", {}) for row in rows])
        return frame.set_index(row_name) if part == main and len(frame) > 0 else frame

    def to_latex(self, part: str | None = None, **options: Any) -> str:
        """Return names, estimates and intervals as a LaTeX table. Requires pandas and jinja2.

        Parameters
        ----------
        part : str, default=None
            Part of the report, as in `to_frame`.
        **options : dict
            Options of `pandas.DataFrame.to_latex`, such as `caption` or `float_format`. `columns`
            instead selects columns of `to_frame`.

        Returns
        -------
        str
        """
        frame = self.to_frame(part)
        if frame.index.dtype.kind == "O":  # names of rows, printed as in the report
            frame = frame.rename(index={name: row.label for name, row in REPORTED.items()})
        return _text.write_latex(frame, **options)

    def to_methods(self) -> str:
        """Return a paragraph for the methods section, with references.

        Each sentence describes a step of this evaluation. For several models, a second paragraph
        describes the comparison.

        Returns
        -------
        str

        Raises
        ------
        TypeError
            If no predictions were scored, as in reports of clusterings.
        """
        raise TypeError(
            "to_methods() is not available for clustering reports. Use `call` and `settings` of "
            "the report."
        )

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """Return `to_dict` as JSON, and write it to a file if a path is passed.

        JSON does not support infinity and nan. Infinity, such as Dunn's index of clusters of equal
        points, is written as the string "Infinity" or "-Infinity", which `float` can read. A nan
        is written as null.

        Parameters
        ----------
        path : str or path-like, default=None
            File to write.

        Returns
        -------
        str
        """
        numbers = json.loads(json.dumps(self.to_dict()), parse_constant=NOT_IN_JSON.__getitem__)
        text = json.dumps(numbers, indent=2, allow_nan=False)
        return _text.write_file(path, text + "\n").rstrip()

    def to_markdown(
        self,
        path: str | PathLike[str] | None = None,
        *,
        title: str | None = None,
        notes: Sequence[str] = (),
    ) -> str:
        """Return the sentences and tables as Markdown, for example for a pull request.

        Parameters
        ----------
        path : str or path-like, default=None
            File to write.
        title : str, default=None
            Heading, for example the name of the data.
        notes : sequence of str, default=()
            Further notes, shown after the warnings.

        Returns
        -------
        str
        """
        lines = [f"# {escape_markdown(title or self.title)}"]
        lines += (f"\n{escape_markdown(text)}" for text in (self.verdict, *self.basis))
        for section in [*self._add_notes(notes), *self._list_methods()]:
            lines += section.write_markdown()
        return _text.write_file(path, "\n".join(lines).rstrip() + "\n")

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        *,
        title: str | None = None,
        command: str | None = None,
        notes: Sequence[str] = (),
    ) -> str:
        """Return the report as a standalone HTML page, and write it to a file if a path is passed.

        The page has the main result in one sentence, the warnings, figures and tables, and the
        code to reproduce them. It loads no files and runs no script. Requires matplotlib, Jinja2
        and pandas: ``pip install matplotlib jinja2 pandas``.

        Parameters
        ----------
        path : str or path-like, default=None
            File to write.
        title : str, default=None
            Heading of the page, for example the name of the data.
        command : str, default=None
            Command line that reproduces the report. It is shown instead of the program in `call`.
        notes : sequence of str, default=()
            Further notes, such as columns of a file that were omitted. They are shown after the
            warnings.

        Returns
        -------
        str
            HTML.
        """
        return _text.write_file(path, self._render("page.html", title, command, notes))

    def _repr_html_(self) -> str:
        """Return the page for a notebook, or the text if dependencies are missing."""
        try:
            return self._render("fragment.html", None, None, ())
        except Exception:  # a missing extra, or any error, must not hide the results
            return f"<pre>{escape(str(self))}</pre>"

    def _render(
        self, template: str, title: str | None, command: str | None, notes: Sequence[str]
    ) -> str:
        """Return the page, with notes, and with the program or command line that repeats it."""
        # the warnings beside the verdict, notes below them, and the program at last
        before, *sections = self._add_notes(notes)
        sentence = f"Created on {self.date}. The same data and versions give the same numbers"
        if self.settings.get("budget", "None") != "None":
            sentence += ", unless the time limit (--quick, --budget) skips other parts"
        versions = Table("Versions", ["package", "version"], list(self.versions.items()))
        code, heading = command or self.call, "How to reproduce"
        reproduce = Section(heading, [f"{sentence}:"], code=code, tables=[versions])
        sections = [*sections, *self._list_methods(), reproduce]
        # the page
        headline, *verdict = self._write_verdict()
        return render(
            template,
            report=self,
            title=title or self.title,
            headline=headline,
            verdict=verdict,
            before=before,
            sections=[section for section in sections if not section.is_empty],
            beside=[table for section in sections for table in section.tables if table.beside],
        )


def _make_plain(value: Any) -> Any:
    """Return a result, or nested results, as plain Python objects."""
    # results, and containers of them
    if hasattr(value, "to_records"):
        return value.to_records()
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return _make_plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(name): _make_plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_make_plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


NOT_IN_JSON = {"NaN": None, "Infinity": "Infinity", "-Infinity": "-Infinity"}
"""Replacements of numbers that JSON does not support."""

# --- how to repeat a run: source text of the call

PLAIN = (type(None), bool, int, float, complex, str, bytes, range)
MAX_ITEMS, MAX_NAME, MAX_TEXT = 50, 60, 10**6
DATA = ("estimator", "clusterer", "X", "y", "y_true", "predictions")
NO_SETTING = {*DATA, "n_jobs", "verbose", "memory"}


def recorded(function: FunctionT) -> FunctionT:
    """Add the program, settings and versions of the call to the report that a function returns.

    The call of a comparison makes the reports of all its models.
    """

    check = check_calls(function)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Report:
        check(args, kwargs)

        def record(report: Report) -> Report:
            bound = signature(function).bind(*args, **kwargs)
            bound.apply_defaults()
            name = f"skeval.{function.__name__}"
            run = describe_run(name, dict(bound.arguments), report.seed)
            # each of the compared models has the call that made all of them
            if hasattr(report, "reports"):
                run["reports"] = {key: replace(one, **run) for key, one in report.reports.items()}
            return replace(report, **run)

        try:
            return record(function(*args, **kwargs))
        except KeyboardInterrupt as stop:
            # a run that was interrupted also tells how to repeat it
            if hasattr(stop, "report"):
                vars(stop)["report"] = record(stop.report)
            raise

    return cast(FunctionT, call)


def describe_run(function: str, arguments: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return the fields that reproduce a report, from a function and its arguments.

    An estimator is the first argument, followed by the data. Arguments that do not change the
    results are omitted.
    """
    needed: dict[str, str] = {}
    imports = set[str]()
    # arguments that change the results
    settings = {
        name: _write_value(value, name, needed, imports)
        for name, value in (arguments | {"random_state": seed}).items()
        if name not in NO_SETTING
    }
    # the estimator and the data, which the reader may have to define
    lines, before = [], []
    for name in [name for name in arguments if name in DATA and arguments[name] is not None]:
        if name in ("estimator", "clusterer"):
            text = _write_value(arguments[name], name, needed, imports)
            before += [f"{name} = {text}"] if text != name else []
        else:
            needed[name] = describe_kind(arguments[name])
        lines.append(f"    {name},")
    # the call leaves out arguments that have their default values
    module, _, own_name = function.rpartition(".")
    defaults = signature(getattr(import_module(module), own_name)).parameters
    lines += [
        f"    {name}={value},"
        for name, value in settings.items()
        if value != repr(defaults[name].default)
    ]
    # the program
    call = [
        "# Define these first:",
        *sorted(f"# {name}: {kind}" for name, kind in needed.items()),
        "",
        "import skeval",
        *sorted(imports, key=lambda line: line.split()[1:]),
        "",
        *before,
        f"report = {function}(",
        *lines,
        ")",
        "print(report)",
    ]
    # versions on which the numbers may depend
    modules = {"scikit-learn": sklearn, "numpy": np, "scipy": scipy, "joblib": joblib}
    return {
        "seed": seed,
        "settings": settings,
        "versions": {
            "skeval": __version__,
            **{name: module.__version__ for name, module in modules.items()},
            "python": platform.python_version(),
            "platform": f"{platform.system()} {platform.machine()}",
        },
        "call": "\n".join(call),
        "date": date.today().isoformat(),
    }


def _write_value(value: Any, name: str, needed: dict[str, str], imports: set[str]) -> str:
    """Return the source text of an argument, or its name if the reader must define it."""
    # values whose repr is source text
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if _is_plain(value):
        return repr(value)
    # functions, arrays and objects with addresses or shortened arrays are named
    parts = list(_list_parts(value))
    text = _write_object(value) if parts else ""
    if not parts or "<" in text or "..." in text:
        called = getattr(value, "__name__", name)  # of a function
        name = called if called.isidentifier() else name
        needed[name] = write_estimator(value) if parts else describe_kind(value)
        return name
    # estimators and splitters, with their imports
    imports |= {"from numpy import array"} if "array(" in text else set()
    for cls in {type(part) for part in parts}:
        # the public module, of splitters on a lower floor, too
        modules = [cls.__module__.split("._")[0], "skeval.model_selection"]
        public = [m for m in modules if getattr(import_module(m), cls.__name__, None) is cls]
        if public and public[0] != "__main__":
            imports.add(f"from {public[0]} import {cls.__name__}")
        else:
            needed[cls.__name__] = f"class of {cls.__module__}"
    return text


def _is_plain(value: Any) -> bool:
    """Whether the `repr` of a value is its source text."""
    if type(value) in (list, tuple, set, dict) and len(value) <= MAX_ITEMS:
        items = value.items() if isinstance(value, dict) else value
        return all(map(_is_plain, items))
    return type(value) in PLAIN and not (isinstance(value, float) and not math.isfinite(value))


def describe_kind(value: Any) -> str:
    """Return a description of a value without source text, with its type and, if any, its size."""
    name = type(value).__name__
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"{name} of shape {shape}"
    return f"{name} of length {len(value)}" if hasattr(value, "__len__") else name


def _write_object(value: Any) -> str:
    """Return the `repr` of an estimator or splitter, with changed arguments and no address."""
    # defaults are left out, and addresses, which differ between runs
    with sklearn.config_context(print_changed_only=True):
        text = value.__repr__(MAX_TEXT) if isinstance(value, BaseEstimator) else repr(value)
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)


def write_estimator(estimator: Any) -> str:
    """Return the source text of an estimator, on one line."""
    return re.sub(r"\n\s*", " ", _write_object(estimator))


def name_steps(estimator: Any) -> str:
    """Return the steps of an estimator as a short text, such as StandardScaler → SVC."""
    text = type(estimator).__name__
    if isinstance(estimator, Pipeline):
        text = " → ".join(name_steps(step) for _, step in estimator.steps if hasattr(step, "fit"))
    elif hasattr(inner := getattr(estimator, "estimator", None), "fit"):
        text = f"{text} of {name_steps(inner)}"
    return shorten(text, MAX_NAME, placeholder=" …")


def describe_steps(estimator: Any) -> str:
    """Return the steps of an estimator with the parameters that differ from their defaults."""
    if isinstance(estimator, Pipeline):
        return " → ".join(describe_steps(one) for _, one in estimator.steps if hasattr(one, "fit"))
    if isinstance(estimator, ColumnTransformer):
        parts = [one for _, one, _ in estimator.transformers if hasattr(one, "fit")]
        return f"ColumnTransformer({', '.join(map(describe_steps, parts))})"
    return write_estimator(estimator).removesuffix("()")


def _list_parts(value: Any) -> Iterator[Any]:
    """Yield an estimator or splitter and all in its parameters."""
    if isinstance(value, list | tuple | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _list_parts(item)
    elif hasattr(value, "get_params") and not isinstance(value, type):
        yield value
        yield from _list_parts(value.get_params(deep=False))
    elif hasattr(value, "get_n_splits"):
        yield value
