"""Tables as the checks read them: arrays, lists of rows, and inputs that are no table."""

import numpy as np
from helpers.tables import warnings_of
from scipy.sparse import csr_matrix


def test_samples_that_are_no_table_are_listed_as_unchecked(noise):
    X, y = noise
    twice = np.vstack([X[:25], X[:25]])
    (kernel,) = warnings_of(twice @ twice.T, y)
    assert kernel.startswith("Not checked: Copies and features, because the samples are not rows")
    assert not kernel.headline
    texts = [f"a text of some length with the number {k}" for k in range(50)]
    (unchecked,) = warnings_of(texts, y)
    assert unchecked.code == "unchecked"
    copies, _ = warnings_of([text.upper() for text in texts[:25]] + texts[:25], y)
    assert copies.headline == "50 of 50 samples are exact copies of another sample"
    assert [text.code for text in warnings_of(["one text"] * 50, y)] == ["unchecked"]
    assert [text.code for text in warnings_of(csr_matrix(twice), np.tile(y[:25], 2))] == ["copies"]
    assert [text.code for text in warnings_of(csr_matrix(twice), y)] == ["equal-rows"]
    assert warnings_of(np.where(X > 2, np.inf, np.where(X < -1, np.nan, X)), y) == []


def test_lists_of_rows_are_checked_as_tables(noise):
    X, y = np.tile(noise[0], (3, 1)), np.tile(noise[1], 3)
    assert warnings_of(X.tolist(), y) == warnings_of(X, y)
