"""Checks of a table, and of the order of its rows, for faults that bias an error estimate.

`CHECKS` lists the checks of a table. A check is a generator of findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from skeval._resampling.sampling_units import Target
from skeval.report._data_checks.duplicates import (
    check_copies,
    check_identifiers,
    check_near_duplicates,
    check_synthetic_samples,
)
from skeval.report._data_checks.leakage import (
    are_codes,
    check_boundaries,
    check_target_copies,
    check_target_formula,
    list_sufficient_features,
)
from skeval.report._data_checks.table import (
    UNCHECKED,
    Finding,
    TableDescription,
    convert_rows,
    describe_table,
    is_table,
    list_features,
)
from skeval.report._data_checks.time_order import (
    check_row_numbers,
    check_series,
    check_split_order,
    warn_of_order,
)
from skeval.report._data_checks.traces import (
    check_class_imputation,
    check_constants,
    check_decimals_by_class,
    check_missing_by_class,
    check_target_encodings,
)
from skeval.report._page import Caution

__all__ = [
    "check_split_order",
    "name_columns",
    "warn_of_order",
    "warn_of_perfection",
    "warn_of_points",
    "write_data_warnings",
]

Check = Callable[[TableDescription], Iterator[Finding]]
ANY, TARGET, ONE, CLASSES, NUMBERS = "any", "target", "one target", "classes", "numbers"
CHECKS: dict[Check, str] = {
    check_copies: ANY,
    check_near_duplicates: TARGET,
    check_synthetic_samples: CLASSES,
    check_target_copies: ONE,
    check_target_formula: NUMBERS,
    check_boundaries: CLASSES,
    check_target_encodings: ONE,
    check_class_imputation: CLASSES,
    check_missing_by_class: CLASSES,
    check_decimals_by_class: CLASSES,
    check_identifiers: TARGET,
    check_row_numbers: ANY,
    check_constants: ANY,
}
"""Checks in the order of their warnings, and the target that each needs."""


def write_data_warnings(
    X: Any,
    target: Target,
    groups: Any,
    feature_names: Sequence[str] | None,
    left_out: Mapping[str, Any],
) -> list[Caution]:
    """Return the warnings for a table and for the columns left out of it, the serious ones first.

    The last warning lists what was not checked, with the reasons.
    """
    # run the checks for this kind of target
    table = describe_table(X, target, groups, feature_names, left_out)
    kinds = {ANY, TARGET}
    if target.classes is not None or target.y.ndim == 1:
        kinds |= {ONE, NUMBERS if target.classes is None else CLASSES}
    findings = list(_run(table, kinds))
    unchecked = [*table.unchecked, *(f.evidence for f in findings if f.code == UNCHECKED)]
    findings = [finding for finding in findings if finding.code != UNCHECKED]
    if any(finding.code == "copies" for finding in findings):
        # copies repeat the values of every feature
        findings = [f for f in findings if f.code != "identifier" or f.title == "Shared values"]
    # serious findings first, and what was not checked last
    findings.sort(key=lambda finding: not finding.grave)
    if unchecked:
        advice = "Such problems would not be reported."
        findings.append(Finding(UNCHECKED, "Not checked", "; ".join(unchecked), advice))
    return [finding.to_caution() for finding in findings]


def _run(table: TableDescription, kinds: set[str]) -> Iterator[Finding]:
    """Yield the findings of the checks that need a target of these kinds."""
    with np.errstate(all="ignore"):  # infinite and missing values
        for check, kind in CHECKS.items():
            if kind in kinds:
                yield from check(table)


def warn_of_points(X: Any, feature_names: Sequence[str] | None) -> list[Caution]:
    """Return the warnings about a table without a target, and about rows in time order."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    names = None if feature_names is None else [str(name) for name in feature_names]
    table = describe_table(X, Target(np.zeros(n), None, np.zeros(n)), None, names, {})
    columns = dict(zip(table.names, table.columns.T, strict=False))
    findings = [*_run(table, {ANY}), *(check_series(columns) if columns else ())]
    return [finding.to_caution() for finding in findings]


def warn_of_perfection(
    X: Any, target: Target, feature_names: Sequence[str] | None
) -> list[Caution]:
    """Return a warning about predictions without error, with the features that give them.

    It is serious if these features are categories or codes; a measurement may separate the classes.
    """
    table = describe_table(X, target, None, feature_names, {})
    # features that predict the target alone
    features = list_sufficient_features(table) if table.columns.shape[1] else []
    what = "every prediction" if target.classes is not None else "nearly every number"
    cause = headline = ""
    if features:
        listed = list_features(features, table.names).removeprefix("each of the ")
        verb = "predicts" if len(features) == 1 else "together predict"
        cause = f" {listed[0].upper()}{listed[1:]} {verb} the target without error."
        if are_codes(table, features):
            headline = f"{listed} {verb} the target without error"
    text = (
        f"Perfect predictions: {what} is correct.{cause} Check that no feature is derived from the "
        "target, or known only after it."
    )
    return [Caution("perfect", text, headline)]


def name_columns(X: Any, feature_names: Sequence[str] | None) -> dict[str, np.ndarray]:
    """Return the columns of a table by name; none if the samples are not rows."""
    X = convert_rows(X)
    if not is_table(X):
        return {}
    columns = np.asarray(X).T
    names = feature_names or [f"x{position}" for position in range(len(columns))]
    return dict(zip(names, columns, strict=True))
