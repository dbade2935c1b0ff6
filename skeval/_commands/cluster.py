"""``skeval cluster``: indices and stability over a range of numbers of clusters."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from skeval._commands import _shared

if TYPE_CHECKING:
    from skeval._commands._data import Table

REPEATS, QUICK_REPEATS = 10, 3
"""Number of random splits into halves, and of starts of k-means."""
MAX_LABELS = 10
"""Maximum number of values of a column that may have labels."""
TARGET = """
--target COLUMN    column of known classes, excluded from the features and compared with the
                   clusters at the end (default: target, if present)"""
CLUSTERING = f"""
--k A:B            from A to B clusters, both included (default: 2:8, or up to half of the samples)
--algorithm kmeans|ward|gmm   clustering algorithm (default: kmeans)
--repeats N>=2     number of random splits into halves (default: {REPEATS})
--[no-]scale       scale every feature to mean 0 and variance 1 (default: yes)
--quick            {QUICK_REPEATS} splits and {QUICK_REPEATS} starts of k-means, not 10
"""
EXAMPLES = """\
examples:
  two to eight clusters by k-means:
    skeval cluster iris
  two to six clusters by Ward's method:
    skeval cluster iris --algorithm ward --k 2:6
  known classes, which are no features and are compared with the clusters:
    skeval cluster people.csv --target diagnosis
  a page with figures within seconds:
    skeval cluster people.csv --id name --quick --html people.html
"""


def make_clusterer(name: str, n_starts: int) -> Any:
    """Return the algorithm with this name. `evaluate_clusterer` draws a seed for each half."""
    from sklearn.cluster import AgglomerativeClustering, KMeans
    from sklearn.mixture import GaussianMixture

    return {
        "kmeans": KMeans(n_init=n_starts),
        "ward": AgglomerativeClustering(linkage="ward"),
        "gmm": GaussianMixture(),
    }[name]


def add_cluster(commands: Any) -> None:
    """Add the command to the subparsers."""
    texts = (
        "choose the number of clusters, using tests, internal indices and stability",
        "Choose the number of clusters by tests against data without clusters. Compare\n"
        "all numbers by internal indices, and by the agreement of clusterings of halves.",
        EXAMPLES,
    )
    groups = {
        "": _shared.FILE,
        "data": TARGET + _shared.DATA + _shared.READING,
        "run and output": _shared.RUN + _shared.OUTPUT,
        "clustering": CLUSTERING,
    }
    defaults = {"algorithm": "kmeans", "scale": True, "whole": True}
    _shared.add_command(commands, "cluster", texts, groups, {}, run=_run, **defaults)


def _run(options: argparse.Namespace) -> None:
    """Evaluate an algorithm and print the report."""
    candidates = None if options.k is None else parse_range(options.k)
    table = _shared.read_columns(options, needs_target=False)
    note_labels(table)
    # features are prepared before clustering, since there are no folds
    repeats = QUICK_REPEATS if options.quick else REPEATS
    from sklearn.pipeline import make_pipeline

    from skeval.report import evaluate_clusterer
    from skeval.report._data_checks import warn_of_points

    steps = _shared.make_preparation(table, scale=options.scale)
    X = make_pipeline(*steps).fit_transform(table.X) if steps else table.X

    def evaluate() -> Any:
        report: Any = evaluate_clusterer(
            make_clusterer(options.algorithm, repeats),
            X,
            n_clusters=candidates,
            labels_true=table.y,
            n_repeats=options.repeats or repeats,
            random_state=options.seed,
            n_jobs=options.jobs,
            memory=options.memory,
        )
        # the checks read the table before scaling
        table_warnings = warn_of_points(table.X, table.feature_names)
        others = [warning for warning in report.warnings if warning.code == "clusters"]
        n_features = table.X.shape[1]  # the columns of the table, not those of the encoded texts
        return replace(report, warnings=(*table_warnings, *others), n_features=n_features)

    scaled = "features scaled to variance 1" if options.scale else "unscaled features"
    # there are no folds in which the preparation could be fitted
    prepared = _shared.describe_preparation(table).removesuffix(_shared.IN_FOLDS)
    procedure = f"{options.algorithm}, {scaled}{prepared}, seed {options.seed}"
    _shared.run(table, options, procedure, evaluate)


def note_labels(table: Table) -> None:
    """Note that a feature may have the labels of known classes, if none are passed."""
    from skeval._commands._data import write_option

    kinds = {}
    for name, column in zip(table.feature_names, table.X.T, strict=True):
        # a few whole numbers or texts may be the labels of classes
        values = {*column.tolist()}
        whole = all(isinstance(value, str) or value % 1 == 0 for value in values)
        kinds[name] = whole and 2 <= len(values) <= MAX_LABELS
    labels = [name for name, is_label in kinds.items() if is_label]
    # if all columns are of this kind, none of them stands out
    if table.y is not None or not labels or all(kinds.values()):
        return
    name, few = labels[-1], ", ".join(map(repr, labels))
    table.notes.append(
        f"the features include columns with at most {MAX_LABELS} values ({few}), which may be "
        f"labels. {write_option('--target', name)} compares labels with the clusters, and "
        f"{write_option('--drop', name)} leaves them out."
    )


def parse_range(text: str) -> range:
    """Return the numbers of clusters of ``A:B`` or of one number."""
    match = re.fullmatch(r"(\d{1,9})(?::(\d{1,9}))?", text)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 2 <= first <= last:
        raise ValueError(
            f"--k must be an ascending range from 2 or more clusters, such as 2:8, or one number, "
            f"got {text!r}. A single cluster is always tested."
        )
    return range(first, last + 1)
