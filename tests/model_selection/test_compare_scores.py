"""Scores of splits and of data sets: forms of the input, the default test, and wrong input."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from skeval.model_selection import compare_scores

RNG = np.random.default_rng(0)
A = RNG.normal(0.8, 0.03, 10)
B = A - 0.02 + RNG.normal(scale=0.01, size=10)


@pytest.mark.parametrize(("n", "method"), [(12, "wilcoxon"), (4, "nemenyi")])
def test_default_over_datasets_depends_on_their_number(n, method):
    scores = RNG.normal(size=(n, 1)) + [0.5, 0, -0.5] + RNG.normal(scale=0.1, size=(n, 3))
    found = compare_scores(scores, over="datasets", random_state=0)
    assert found.method == method
    frame = pd.DataFrame(scores, columns=["a", "b", "c"])
    named = compare_scores(frame, over="datasets", random_state=0)
    assert named.names == ("a", "b", "c")
    assert_allclose(named.to_matrix("pvalue"), found.to_matrix("pvalue"))


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ({"a": A, "b": B}, {}, "test_train_ratio must be given"),
        ({"a": A, "b": B[:5]}, {"test_train_ratio": 0.1}, "scores must have the same splits"),
        ({"a": A, "b": A * np.nan}, {"test_train_ratio": 0.1}, "must have no missing scores"),
        ({"a": A[:1], "b": B[:1]}, {"test_train_ratio": 0.1}, "at least two splits"),
        ({"a": A, "b": B}, {"test_train_ratio": -1}, "test_train_ratio must be a number > 0"),
        (
            np.ones((5, 2)),
            {"over": "datasets", "test_train_ratio": 0.1},
            "test_train_ratio must be None",
        ),
    ],
)
def test_wrong_input_is_named(scores, options, message):
    with pytest.raises(ValueError, match=message):
        compare_scores(scores, **options)
