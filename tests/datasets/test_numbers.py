"""Numbers written with signs, units, detection limits and decimal commas."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skeval.datasets._numbers import have_decimal_commas, read_written_numbers


@pytest.mark.parametrize(
    ("digits", "expected"),
    [(["1,5", "2,25"], True), (["1,000", "12,000"], False), (["1", "2"], False)],
)
def test_commas_separate_decimals_or_thousands(digits, expected):
    assert have_decimal_commas(digits) == expected


def test_written_numbers_are_read():
    texts = ["1.5", "2 %", "<3", "1e-3", "", "much"]
    found = read_written_numbers(texts, decimal_comma=False)
    assert_array_equal(found.values, [1.5, 2, 3, 0.001, np.nan, np.nan])
    assert found.limits == {"<3": 1}
    assert found.others == {"much": 1}
    assert found.share == pytest.approx(0.8)
