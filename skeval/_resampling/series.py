"""Folds of panels, whose test sets contain later periods and, on request, other groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import TimeSeriesSplit

from skeval.utils import _checks
from skeval.utils._compat import num_samples, params_of_rows
from skeval.utils._text import read_times


class GroupTimeSeriesSplit(TimeSeriesSplit):
    r"""Splitter for panels, which tests on later periods and, on request, on other groups.

    It is a scikit-learn cross-validator for the argument `cv`. A period is a distinct value of
    `time`, so rows of the same time are never separated. Of :math:`m` sorted periods, the last
    ``n_splits * test_size`` are tested, `test_size` in each split. Let :math:`t_1` be the first
    period of the test set :math:`T`, and :math:`g_i` the group of row :math:`i`. The training set
    is

    .. math:: \{i : t_i + \mathrm{gap} < t_1\} ,

    without the groups :math:`\{g_j : j \in T\}` if ``other_groups=True``. Without `time` and
    `other_groups`, the splits equal those from `sklearn.model_selection.TimeSeriesSplit`.

    Parameters
    ----------
    n_splits : int, default=5
        Number of splits, at least 2.
    time : array-like of shape (n_samples,), str or None, default=None
        Numbers or dates of the rows, in any order, or the name of a column of `X`. None means the
        row number. It is passed here because `split` has no argument for it. Searches within folds
        pass only some of the rows to `split`, so they need the name of a column.
    max_train_size : int or None, default=None
        Maximum number of periods in a training set. The latest periods are kept.
    test_size : int or None, default=None
        Number of periods in a test set. None means ``m // (n_splits + 1)``.
    gap : number or timedelta, default=0
        Time omitted before each test set, in units of `time`. Use it if labels or features span
        some time (purging). For dates, pass a `datetime.timedelta` or `numpy.timedelta64`.
    other_groups : bool, default=False
        Whether to omit the groups of a test set from its training set. `split` then requires
        `groups`. Otherwise, `groups` are ignored.

    See Also
    --------
    cross_val_error : Estimates the error with these folds.
    error_interval : Adds a confidence interval to the estimate.

    Notes
    -----
    No training row follows a test set, so an embargo after the test set, as in purged K-fold
    cross-validation [1]_, has no effect. Such blocks of time are also discussed in [2]_. If
    ``cv=TimeSeriesSplit(...)`` is passed with ``groups=``, all functions use this splitter with
    ``other_groups=True``. The rows must be in time order.

    References
    ----------
    .. [1] López de Prado, M. (2018). Advances in Financial Machine Learning, chapter 7. Wiley.

    .. [2] Bergmeir, C. and Benítez, J. M. (2012). On the use of cross-validation for time series
       predictor evaluation. Information Sciences 191, 192-213.
       https://doi.org/10.1016/j.ins.2011.12.028

    Examples
    --------
    Two machines are measured each day. The day before a test set is left out.

    >>> import numpy as np
    >>> from skeval.model_selection import GroupTimeSeriesSplit
    >>> days = np.repeat(np.arange("2026-01-01", "2026-01-07", dtype="datetime64[D]"), 2)
    >>> cv = GroupTimeSeriesSplit(2, time=days, gap=np.timedelta64(1, "D"))
    >>> for train, test in cv.split(np.zeros((12, 1))):
    ...     print(train, test)
    [0 1] [4 5 6 7]
    [0 1 2 3 4 5] [ 8  9 10 11]
    """

    # scikit-learn passes groups to this splitter, with metadata routing and without
    __metadata_request__split: ClassVar[dict[str, bool]] = {"groups": True}

    def __init__(
        self,
        n_splits: int = 5,
        *,
        time: ArrayLike | str | None = None,
        max_train_size: int | None = None,
        test_size: int | None = None,
        gap: Any = 0,
        other_groups: bool = False,
    ) -> None:
        for name, value in {"max_train_size": max_train_size, "test_size": test_size}.items():
            if value is not None:
                _checks.check_count(name, value)
        _checks.check_flag("other_groups", other_groups)
        n_splits = _checks.check_count("n_splits", n_splits, 2)
        super().__init__(n_splits, max_train_size=max_train_size, test_size=test_size, gap=gap)
        self.time = time
        self.other_groups = other_groups

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the indices of the training and the test samples of each split.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Samples. Only their number matters, and the column `time` if it is a name.
        y : array-like of shape (n_samples,), default=None
            Ignored, except for its length.
        groups : array-like of shape (n_samples,), default=None
            Group of each sample, such as the patient, for ``other_groups=True``.

        Yields
        ------
        train, test : int ndarray
            Indices in ascending order.

        Raises
        ------
        ValueError
            If lengths differ, `time` or `groups` have missing values, there are too few periods, or
            a training set is empty.
        """
        _checks.check_same_length(X=X, y=y, groups=groups)
        time = read_time(self.time, X)
        gap = _read_gap(self.gap, time)
        groups = _checks.check_groups(groups, len(time)) if self.other_groups else None
        if self.other_groups and groups is None:
            raise ValueError(
                "groups must be passed to split if other_groups=True, got None. Pass groups= to "
                "the function that receives cv=. For a function of scikit-learn, enable metadata "
                "routing and pass params={'groups': groups}."
            )
        # the last periods are tested, as in TimeSeriesSplit
        periods, period = np.unique(time, return_inverse=True)
        size = self.test_size or max(1, len(periods) // (self.n_splits + 1))
        start = len(periods) - self.n_splits * size
        if start < 1:
            raise ValueError(
                f"time must have at least {self.n_splits * size + 1} distinct values for n_splits="
                f"{self.n_splits} test sets of {size}, got {len(periods)}. Use fewer splits or a "
                "smaller test_size."
            )
        for fold, first in enumerate(range(start, len(periods), size)):
            # periods that are more than the gap before the test set
            stop = int(np.sum(periods + gap < periods[first]))
            # at most the latest max_train_size periods
            oldest = max(0, stop - (self.max_train_size or stop))
            train = np.flatnonzero((oldest <= period) & (period < stop))
            test = np.flatnonzero((first <= period) & (period < first + size))
            if not train.size:
                raise ValueError(
                    f"gap must leave periods to train on, got gap={self.gap!r} with {first} "
                    f"periods before fold {fold}. Use a smaller gap, or fewer or shorter test sets."
                )
            # without the groups of the test set
            if groups is not None:
                train = train[~np.isin(groups[train], groups[test])]
            if not train.size:
                raise ValueError(
                    f"cv must train on groups outside its test set. All groups before fold {fold} "
                    "are also tested in it. Use fewer or shorter test sets, or other_groups=False."
                )
            yield train, test


def read_time(time: Any, X: Any) -> np.ndarray:
    """Return the time of each row of `X`, or its row number for None."""
    n = num_samples(X)
    if time is None:
        return np.arange(n)
    # a column of X stays with its rows when a search selects some of them
    if isinstance(time, str):
        if time not in getattr(X, "columns", ()):
            raise ValueError(
                f"time must name a column of the data frame X, got {time!r} for X of type "
                f"{type(X).__name__}. Pass the times themselves if X is no data frame."
            )
        time = X[time]
    with _checks.naming("time"):
        values = np.asarray(time)
    if values.shape != (n,):
        raise ValueError(
            f"time must have one value for each of the {n} rows of X, got the shape "
            f"{values.shape}. In a search, which passes only some rows of X, time must name a "
            "column of X."
        )
    # numbers or dates; dates with a time zone are Python objects in NumPy
    if values.dtype.kind not in "iufM":
        raise ValueError(
            f"time must contain numbers or dates without a time zone, got {values.dtype}. Convert "
            "dates with pandas.to_datetime(time, utc=True).to_numpy('datetime64[ns]')."
        )
    _checks.check_complete("time", values)
    return values


def _read_gap(gap: Any, time: np.ndarray) -> Any:
    """Return the gap in units of the times. For dates, the only number is 0."""
    dated, is_step = time.dtype.kind == "M", isinstance(gap, np.timedelta64 | timedelta)
    valid = isinstance(gap, Real) and not is_step
    if dated:
        if valid and gap == 0:
            return np.timedelta64(0)
        # months cannot be added to days
        unit = time.dtype.str.replace("M8", "m8")
        valid = is_step and np.can_cast(np.timedelta64(gap).dtype, unit, "same_kind")
    if not valid or not gap >= 0 * gap:
        wanted = "timedelta, as in gap=numpy.timedelta64(7, 'D')," if dated else "number"
        raise ValueError(f"gap must be a {wanted} of at least 0, got {gap!r}.")
    return np.timedelta64(gap) if dated else gap


def check_rows_in_order(splitter: GroupTimeSeriesSplit, X: Any) -> None:
    """Raise unless the times ascend, since blocks of time and naive forecasts use row numbers."""
    time = read_time(splitter.time, X)
    later = np.flatnonzero(time[1:] < time[:-1])
    if later.size:
        raise ValueError(
            "time must ascend with the rows, because intervals use blocks of consecutive rows, "
            f"got {time[later[0] + 1]} after {time[later[0]]}. Sort X, y, groups and time using "
            "numpy.argsort(time, kind='stable')."
        )


# --- the order of time of `evaluate`


def sort_rows(X: Any, time: Any, rows: dict[str, Any]) -> tuple[Any, np.ndarray, dict[str, Any]]:
    """Return `X`, the times, and the arguments with a row for each sample, in time order.

    If the samples have no names, the names are their row numbers.
    """
    _checks.check_same_length(X=X, y=rows["y"], time=time)
    _checks.refuse_shuffled_index({"X": X, **rows, "time": time})
    # numbers, or dates in each possible reading
    values = np.asarray(time)
    readings = [values.astype(float)] if values.dtype.kind in "biuf" else read_times(values)
    if values.ndim != 1 or not readings:
        raise ValueError(
            "time must have a number, or a date such as 2024-01-31 10:30, for each sample, got "
            f"{values.ravel().tolist()[0]!r} in an array of shape {values.shape}."
        )
    if (missing := ~np.isfinite(readings[0])).any():
        raise ValueError(
            "time must not have missing or infinite values, got one at position "
            f"{missing.argmax()}. Leave such samples out."
        )
    # all readings of ambiguous dates must give the same order
    orders = [np.argsort(reading, kind="stable") for reading in readings]
    if any(not np.array_equal(order, orders[0]) for order in orders):
        raise ValueError(
            "time must have dates with a clear order of day and month, got "
            f"{values.tolist()[0]!r}, where either may come first. Write 2024-01-31, or use "
            "pandas.to_datetime(time, dayfirst=True)."
        )
    rows = rows | {"names": np.arange(len(values)) if rows["names"] is None else rows["names"]}
    index = None if _checks.index_of(X) is None else X.index[orders[0]]

    def sort(values: Any) -> Any:
        if isinstance(values, Mapping):
            return {name: sort(one) for name, one in values.items()}
        # other values than rows stay as they are
        placed = params_of_rows(X, {"": values}, orders[0])[""]
        if index is not None and _checks.index_of(placed) is not None:
            placed.index = index
        return placed

    return sort(X), readings[0][orders[0]], sort(rows)
