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
    assert have_decimal_commas(digits, default=False) == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["1.234 kg", "0.512 kg", "2.5 kg"], [1.234, 0.512, 2.5]),
        (["1'234.5", "-13'066.607", "974.420"], [1234.5, -13066.607, 974.42]),
        (["1.234,5 kg", "12,5 kg", "7 kg"], [1234.5, 12.5, 7]),
        (["1.234 kg", "2.345 kg", "3.456 kg"], [1234, 2345, 3456]),
    ],
)
def test_decimal_points_where_commas_do_not_separate_fields(texts, expected):
    """Points that cannot separate thousands are decimal; otherwise the comma is the default."""
    assert_array_equal(read_written_numbers(texts, decimal_comma=True).values, expected)


def test_written_numbers_are_read():
    texts = ["1.5", "2 %", "<3", "1e-3", "", "much"]
    found = read_written_numbers(texts, decimal_comma=False)
    assert_array_equal(found.values, [1.5, 2, 3, 0.001, np.nan, np.nan])
    assert found.limits == {"<3": 1}
    assert found.others == {"much": 1}
    assert found.share == pytest.approx(0.8)


@pytest.mark.parametrize("text", ["-$-5", "1,234'567"])
def test_two_signs_or_two_separators_are_no_number(text):
    numbers = read_written_numbers([text, "$5", "$6", "$7"], decimal_comma=False)
    assert_array_equal(numbers.values, [np.nan, 5, 6, 7])
