"""Checks of a table, and of the order of its rows, for faults that bias an error estimate.

A check is one row of `CHECKS`, with its code, its title, the target that it needs, and a function
of the table that yields findings.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from skeval._resampling.sampling_units import Target
from skeval.report._data_checks.duplicates import (
    check_copies,
    check_identifiers,
    check_near_duplicates,
)
from skeval.report._data_checks.leakage import (
    check_perfection,
    check_target_copies,
    check_target_encodings,
    check_target_formula,
    check_telling_features,
)
from skeval.report._data_checks.table import (
    TableDescription,
    check_constants,
    convert_rows,
    describe_table,
    is_dense_table,
    list_columns,
)
from skeval.report._data_checks.time_order import (
    check_order,
    check_row_numbers,
    check_series,
    check_split_order,
)
from skeval.report._page import CheckResult, note

__all__ = ["check_order", "check_perfection", "check_split_order", "describe_table"]
"""Names of other files that reports use."""


class Check(NamedTuple):
    """A check, with the code and title of its results, the required target, and its function.

    The function yields findings whose outcome is "note", "serious" or "not run".
    """

    code: str
    title: str
    needs: str
    find: Callable[[TableDescription], Iterable[CheckResult]]


ANY, TARGET, ONE, NUMBERS = "any", "target", "one target", "numbers"
CHECKS = (
    Check("copies", "Exact copies", ANY, check_copies),
    Check("near-duplicates", "Near-duplicates", TARGET, check_near_duplicates),
    Check("target-copy", "Copy of the target", ONE, check_target_copies),
    Check("telling-feature", "Perfect feature", ONE, check_telling_features),
    Check("target-formula", "Target computed from features", NUMBERS, check_target_formula),
    Check("target-encoded", "Category replaced by its mean target", ONE, check_target_encodings),
    Check("identifier", "Identifier", TARGET, check_identifiers),
    Check("row-number", "Row number", ANY, check_row_numbers),
    Check("constant", "Constant features", ANY, check_constants),
)
"""Checks in the order of their results."""


def run_checks(
    table: TableDescription, *, ignore: Collection[str] = (), target: bool = True
) -> list[CheckResult]:
    """Return the results of all checks, at least one for each.

    Checks whose code is in `ignore` are not run. Without a target, few checks are run.
    """
    kinds = {ANY, TARGET} if target else {ANY}
    if target and (table.target.classes is not None or table.target.y.ndim == 1):
        kinds |= {ONE} if table.target.classes is not None else {ONE, NUMBERS}
    results = [
        CheckResult("not run", why, code="unchecked", title="Not checked")
        for why in table.unchecked
    ]
    with np.errstate(all="ignore"):  # missing values
        # every check has a result, so that a report can list what was checked
        for code, title, needs, find in CHECKS:
            outcome = "passed" if needs in kinds else "not applicable"
            outcome = "ignored" if code in ignore else outcome
            found = find(table) if outcome == "passed" else ()
            named = [replace(one, code=code, title=one.title or title) for one in found]
            results += named or [CheckResult(outcome, code=code, title=title)]
    return results


SAID_BY = {
    "Perfect predictions": {"target-copy", "telling-feature", "target-formula", "identifier"},
    "Similar neighboring rows": {"copies", "near-duplicates", "identifier", "row-number"},
    "Row number": {"time-order"},
    "Batches of one class": {"target-copy", "telling-feature"},
}
"""Codes of findings that are more specific than a note with this title. Notes may share a code."""


def drop_repeated(results: Iterable[CheckResult]) -> list[CheckResult]:
    """Return findings without those that another finding states.

    A serious finding about perfect predictions already names the features. `SAID_BY` lists the
    notes that other findings replace.
    """
    found = [result for result in results if result.outcome in ("serious", "note", "not run")]
    codes = {result.code for result in found if result.outcome != "not run"}
    perfect = any(one.code == "perfect" and one.outcome == "serious" for one in found)
    return [
        one
        for one in found
        if not (perfect and one.code == "telling-feature")
        and not (one.outcome == "note" and SAID_BY.get(one.title, set()) & codes)
    ]


def write_cautions(results: Iterable[CheckResult]) -> list[CheckResult]:
    """Return the findings as warnings, the serious ones first.

    The last warning lists the parts that were not checked, with the reasons.
    """
    results = list(results)
    cautions = [r for o in ("serious", "note") for r in results if r.outcome == o]
    if reasons := [result.evidence for result in results if result.outcome == "not run"]:
        advice, listed = "Such problems would not be reported.", "; ".join(reasons)
        cautions.append(note("unchecked", "Not checked", listed, advice))
    return cautions


def warn_of_points(X: Any, feature_names: Sequence[str] | None) -> list[CheckResult]:
    """Return the warnings about a table without a target, and about rows in time order."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    names = None if feature_names is None else [str(name) for name in feature_names]
    # zeros stand for the missing target
    table = describe_table(X, Target(np.zeros(n), None, np.zeros(n)), None, names, {})
    columns = dict(zip(table.names, table.columns.T, strict=False))
    results = run_checks(table, target=False)
    return write_cautions([*results, *(check_series(columns) if columns else ())])


def name_columns(X: Any, feature_names: Sequence[str] | None) -> dict[str, np.ndarray]:
    """Return the columns of a table as a dict, empty if the samples are not rows."""
    X = convert_rows(X)
    if not is_dense_table(X):
        return {}
    names = feature_names or [f"x{position}" for position in range(X.shape[1])]
    return dict(zip(names, list_columns(X), strict=True))
