"""Parts of the reader of files; `test_tables` reads whole files."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skeval.datasets._files import (
    find_missing,
    is_unnamed,
    looks_like_value,
    name_spellings,
    parse_number,
    parse_numbers,
    parse_plain_numbers,
)


def test_only_ascii_digits_without_underscores_are_numbers():
    texts = ["1.5", " 2", "1_000", "\u0663", "one"]
    assert_array_equal([parse_number(text) for text in texts], [1.5, 2, np.nan, np.nan, np.nan])
    assert_array_equal(parse_numbers(texts), [1.5, 2, np.nan, np.nan, np.nan])
    assert parse_plain_numbers(texts) is None
    assert_array_equal(parse_plain_numbers(["1", "-2e3"]), [1, -2000])


@pytest.mark.parametrize("words", [True, False])
def test_missing_values(words):
    assert_array_equal(find_missing(["", "a", "NA", " "], words=words), [True, False, words, True])
    assert_array_equal(find_missing(np.array([1.0, np.nan]), words=words), [False, True])
    assert not find_missing(np.array([1, 2]), words=words).any()


def test_spellings_of_a_label_are_merged():
    found = name_spellings(["yes", "Yes ", "y", "yes", "no", "maybe"])
    assert set(found.values()) == {"yes"}
    assert set(found) == {"yes", "Yes ", "y"}


def test_names_of_columns():
    assert looks_like_value("1,5")
    assert looks_like_value("true")
    assert not looks_like_value("age")
    assert is_unnamed("Unnamed: 0")
    assert not is_unnamed("age")
