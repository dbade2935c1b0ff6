"""``python -m skeval cluster``: indices and stability over a range of numbers of clusters."""

import argparse
import re
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from skeval._commands._shared import (
    add_common,
    check_classes,
    check_outputs,
    collect_notes,
    deliver,
    parse_whole_number,
    progress_level,
)
from skeval.cluster._agreements import AGREEMENTS, PREDICTION_STRENGTH
from skeval.datasets import load_table
from skeval.report import evaluate_clusterer

__all__ = ["ALGORITHMS", "add_cluster", "parse_range"]

# They have no random_state: evaluate_clusterer draws one for each half.
ALGORITHMS: dict[str, BaseEstimator] = {
    "kmeans": KMeans(n_init=10),
    "ward": AgglomerativeClustering(linkage="ward"),
    "gmm": GaussianMixture(),
}
REPEATS, QUICK_REPEATS = 10, 3
MOST_CLUSTERS = 10**6


def add_cluster(commands: Any) -> None:
    """Add the command to the subparsers."""
    parser = commands.add_parser(
        "cluster", help="compare numbers of clusters by internal indices and by stability"
    )
    parser.set_defaults(run=_run_cluster)
    add_common(
        parser,
        target="column of known classes in a file, kept out of the features and compared with "
        "at the end (default: target, if there is one)",
    )
    add = parser.add_argument
    add(
        "--k",
        metavar="A:B",
        help="from A to B clusters, both included (2:8, or to half of the samples if less)",
    )
    add("--algorithm", choices=ALGORITHMS, default="kmeans", help="default: kmeans")
    add(
        "--stability",
        choices=sorted(AGREEMENTS),
        default=PREDICTION_STRENGTH,
        help="what is measured between random halves, and chooses k (prediction_strength)",
    )
    add("--repeats", type=parse_whole_number, help=f"random halvings (default: {REPEATS})")
    add(
        "--scale",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="scale every feature to mean 0 and variance 1 (default: yes)",
    )
    add("--quick", action="store_true", help=f"{QUICK_REPEATS} random halvings")


def _run_cluster(options: argparse.Namespace) -> None:
    """Evaluate one algorithm and print what was found."""
    candidates = None if options.k is None else parse_range(options.k)
    table, table_notes = collect_notes(
        load_table,
        options.data,
        target=options.target,
        needs_target=False,
        header=options.header,
    )
    if table.y is not None:
        check_classes(table)
    check_outputs(options)
    _check_half(options.k, candidates, len(table.X))
    default = QUICK_REPEATS if options.quick else REPEATS
    report, notes = collect_notes(
        evaluate_clusterer,
        ALGORITHMS[options.algorithm],
        StandardScaler().fit_transform(table.X) if options.scale else table.X,
        n_clusters=candidates,
        labels_true=table.y,
        stability=options.stability,
        n_repeats=default if options.repeats is None else options.repeats,
        random_state=options.seed,
        n_jobs=options.jobs,
        verbose=progress_level(),
    )
    scaled = "features scaled to variance 1" if options.scale else "features as they are"
    procedure = f"{options.algorithm}, {scaled}, seed {options.seed}"
    deliver(report, options, table, procedure, [*table_notes, *notes])


def parse_range(text: str) -> range:
    """Return the numbers of clusters that ``A:B``, or one number, stands for."""
    match = re.fullmatch(r"(\d+)(?::(\d+))?", text)
    if match is None:
        raise ValueError(f"--k must be a range such as 2:8, or one number, got {text!r}.")
    first = int(match[1])
    last = int(match[2] or first)
    if not 2 <= first <= last:
        raise ValueError(f"--k must start at 2 or more and end no lower, got {text!r}.")
    if last > MOST_CLUSTERS:
        raise ValueError(f"--k must end at {MOST_CLUSTERS} or lower, got {text!r}.")
    return range(first, last + 1)


def _check_half(text: str | None, candidates: range | None, n_samples: int) -> None:
    """Raise where there are more clusters than half the samples, since halves are clustered."""
    if candidates is not None and candidates[-1] > n_samples // 2:
        raise ValueError(
            f"--k must end at {n_samples // 2} or lower, half of the {n_samples} samples, since "
            f"halves are clustered too; got {text!r}."
        )
