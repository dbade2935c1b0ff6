"""Dates in columns of text."""

from datetime import UTC, datetime

import numpy as np
import pytest

from skeval.utils._text import read_times


def count_seconds(*date):
    return datetime(*date, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["2024-01-31", "NA", "2024-02"], [[(2024, 1, 31), None, (2024, 2, 1)]]),
        (["31.1.2024 10:30"], [[(2024, 1, 31, 10, 30)]]),
        (["1/2/2024"], [[(2024, 2, 1)], [(2024, 1, 2)]]),
        (["2024-01-31T10:30:00+01:00"], [[(2024, 1, 31, 9, 30)]]),
        (["2024-13-01"], []),
        (["2024-01-31", "soon"], []),
        (["", "-"], []),
        ([1.5, 2.5], []),
    ],
)
def test_dates_have_one_reading_unless_day_and_month_may_be_swapped(texts, expected):
    result = read_times(np.array(texts))
    assert len(result) == len(expected)
    for seconds, dates in zip(result, expected, strict=True):
        wanted = [np.nan if date is None else count_seconds(*date) for date in dates]
        np.testing.assert_array_equal(seconds, wanted)


def test_stored_dates_are_read():
    times = np.array(["2024-01-31T10:30", "NaT"], dtype="datetime64[m]")
    (seconds,) = read_times(times)
    np.testing.assert_array_equal(seconds, [count_seconds(2024, 1, 31, 10, 30), np.nan])
