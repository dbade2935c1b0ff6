"""Evaluation of large tables within a limited time: fewer folds, and checks of a sample of rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from time import monotonic, process_time
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit

from skeval._adapters.fits import fit_plan
from skeval._resampling.inputs import Inputs
from skeval._resampling.plans import DEFAULT_FOLDS, fold_plan
from skeval._resampling.sampling_units import Target
from skeval.report._sections import Caution
from skeval.utils._compat import safe_indexing

MIN_SAMPLES = 10_000
"""Fits to fewer samples are not timed beforehand."""
MIN_TIMED, MAX_TIMED_SHARE, TIMING_SHARE = 1000, 0.05, 0.02
"""Number of samples of the first timed fit; timing ends at these shares of samples and budget."""
GROWTH = 4
"""Ratio of the numbers of samples of two timed fits."""
MAX_ANSWER_SHARE = 0.5
"""Maximum share of the remaining time for the fits of the main estimate."""
SECONDS_PER_SAMPLE = 5e-6
"""Time of the metrics of one repeat, per sample."""
MAX_FOLDS, TEST_SHARE = 5, 0.2
CELLS_PER_SECOND, MIN_CELLS = 1_000_000, 50_000
"""Number of table cells checked per second, and minimum number of checked cells."""
MIN_ROWS = 100
"""Minimum number of rows of a sample that is checked."""


def choose_folds_in_time(
    every_inputs: Sequence[Inputs], seconds: float, seed: int
) -> tuple[Any, list[Caution]]:
    """Return folds whose fits take about half of the time, and a note; None for the default folds.

    That is up to five folds, or a single hold-out of a fifth of the samples or groups. All
    estimators are fitted on the same folds.
    """
    inputs = every_inputs[0]
    n = len(inputs.target)
    if n < MIN_SAMPLES:
        return None, []
    stop = monotonic() + seconds
    timed = TIMING_SHARE * seconds / len(every_inputs)
    fit = sum(time_fit(inputs, timed, seed) for inputs in every_inputs)
    left = MAX_ANSWER_SHARE * (stop - monotonic()) - SECONDS_PER_SAMPLE * n
    n_folds = max(0, math.floor(left / fit)) if fit > 0 else DEFAULT_FOLDS
    if n_folds >= DEFAULT_FOLDS:
        return None, []
    cv: Any = min(n_folds, MAX_FOLDS)
    chosen = f"{cv} folds"
    if n_folds < 2:
        chosen = f"a single hold-out of {100 * TEST_SHARE:g} % of the samples"
        splitter = ShuffleSplit if inputs.target.classes is None else StratifiedShuffleSplit
        splitter = splitter if inputs.groups is None else GroupShuffleSplit
        cv = splitter(1, test_size=TEST_SHARE, random_state=seed)
    of_all = "of each estimator " if len(every_inputs) > 1 else ""
    text = (
        f"Few folds: one fit {of_all}takes about {fit:.2g} seconds, so the budget allows {chosen} "
        f"instead of {DEFAULT_FOLDS} folds. Increase the budget for a more precise estimate."
    )
    return cv, [Caution("few-folds", text)]


def time_fit(inputs: Inputs, seconds: float, seed: int) -> float:
    """Return the expected seconds of a fit to all samples, 0 where fits to fewer samples fail.

    Samples are quadrupled until a fit takes long enough. The time is then extrapolated as a power
    of the number of samples, between linear and cubic. The power describes processor time, which
    depends less on the load of the machine.
    """
    n, inputs = len(inputs.target), inputs.with_options(n_jobs=None, verbose=0, memory=None)
    order = np.random.default_rng(seed).permutation(n)

    def fit(size: int) -> tuple[float, float]:
        train, test = np.sort(order[:size]), np.sort(order[size : 2 * size])
        start, used = monotonic(), process_time()
        list(fit_plan(inputs, fold_plan(n, [(train, test)])))
        return monotonic() - start, max(process_time() - used, 1e-6)

    try:
        fit(MIN_TIMED)  # imports and first calls
        size = MIN_TIMED
        taken, used = fit(size)
        power = 1.0
        while taken < seconds and GROWTH * size <= MAX_TIMED_SHARE * n:
            size, before = GROWTH * size, used
            taken, used = fit(size)
            power = min(max(math.log(used / before, GROWTH), 1.0), 3.0)
    except Exception:  # the evaluation itself reports the error
        return 0.0
    return taken * (n / size) ** power


def check_rows_in_time(
    check: Callable[..., list[Caution]],
    seconds: float,
    X: Any,
    target: Target,
    groups: Any,
    names: Any,
    left_out: Any,
) -> list[Caution]:
    """Return the warnings about a table, from as many random rows as time permits.

    Fewer than a hundred rows are too few for any check.
    """
    n = len(target)
    is_matrix = issparse(X) or len(getattr(X, "shape", ())) == 2
    n_columns = X.shape[1] if is_matrix else 1
    n_rows = int(max(MIN_CELLS, CELLS_PER_SECOND * min(seconds, n))) // max(1, n_columns)
    is_square = is_matrix and X.shape[0] == n_columns  # possibly a kernel
    if n_rows >= n or not is_matrix or is_square:
        return check(X, target, groups, names, left_out)
    if n_rows < MIN_ROWS:
        text = (
            f"Not checked: the table has {n_columns} columns, too many for the budget. Problems of "
            "the table, such as copies of samples, would not be reported."
        )
        return [Caution("unchecked", text)]
    rows = np.sort(np.random.default_rng(0).choice(n, n_rows, replace=False))
    warnings = check(
        safe_indexing(X, rows),
        Target(target.y[rows], target.classes, target.codes[rows]),
        None if groups is None else np.asarray(groups)[rows],
        names,
        {name: np.asarray(column)[rows] for name, column in left_out.items()},
    )
    text = (
        f"Not fully checked: because of the budget, the checks of the table read {n_rows} random "
        f"rows of {n}. Problems in the other rows would not be reported."
    )
    return [*warnings, Caution("unchecked", text)]
