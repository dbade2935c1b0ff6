"""One form of what fits answer: it comes apart, is joined, sent and placed without a change."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skeval._resampling.outputs import FitOutput, join_outputs, place_outputs

COLUMNS = ("predicted", "decision", "probability")


def some_output(rng, n_fits=7, n_samples=9, *, share_failed=0.3):
    test = rng.random((n_fits, n_samples)) < 0.6
    failed = rng.random(n_fits) < share_failed
    n = int(test[~failed].sum())
    scores = [
        None if bad else float(score) for bad, score in zip(failed, rng.random(n_fits), strict=True)
    ]
    return FitOutput(
        test, failed, rng.integers(0, 3, n), rng.normal(size=n), rng.random((n, 3)), scores, scores
    )


def check_same(one, other):
    assert_array_equal(one.test, other.test)
    assert_array_equal(one.failed, other.failed)
    for name in COLUMNS:
        assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.scores == other.scores
    assert one.notes == other.notes


@pytest.mark.parametrize("share_failed", [0.0, 0.3, 1.0])
def test_fits_come_apart_and_are_joined_again(share_failed):
    rng = np.random.default_rng(0)
    for _ in range(20):
        output = some_output(rng, share_failed=share_failed)
        parts = list(output)
        assert len(parts) == len(output) == 7
        for fit, part in enumerate(parts):
            expected = [] if output.failed[fit] else np.flatnonzero(output.test[fit])
            assert part.rows.tolist() == list(expected)
            assert part.scores == [output.scores[fit]]
        joined = join_outputs(parts)
        if share_failed < 1:
            check_same(joined, output)
        assert_array_equal(joined.rows, output.rows)
        assert_array_equal(joined.sizes, output.sizes)


def test_it_is_sent_without_a_change():
    rng = np.random.default_rng(1)
    output = some_output(rng)
    check_same(pickle.loads(pickle.dumps(output)), output)


def test_answers_that_some_fits_lack_are_those_of_none():
    rng = np.random.default_rng(2)
    one, other = (some_output(rng, share_failed=0) for _ in range(2))
    lacking = FitOutput(other.test, other.failed, other.predicted, None, other.probability[:, :2])
    joined = join_outputs([one, lacking])
    assert_array_equal(joined.predicted, np.concatenate([one.predicted, other.predicted]))
    assert joined.decision is None
    assert joined.probability is None
    assert joined.scores == one.scores + [None] * 7


def test_parts_are_placed_where_their_fits_stand():
    rng = np.random.default_rng(3)
    for _ in range(20):
        tests = rng.random((2, 9)) < 0.6
        of_part = rng.integers(0, 3, 8)  # those of part 2 are done by nobody
        test = tests[np.minimum(of_part, 1)]
        expected = np.full((8, 9), -1)
        parts = []
        for part in (0, 1):
            fits, n = np.flatnonzero(of_part == part), int(tests[part].sum())
            certain = rng.random(len(fits)) < 0.7
            predicted = rng.integers(0, 3, (len(fits), n))
            expected[np.ix_(fits[certain], tests[part])] = predicted[certain]
            parts.append((fits, FitOutput.of_same_samples(predicted, certain)))
        found = place_outputs(test, parts)
        assert_array_equal(found.failed, (expected < 0).all(axis=1))
        assert_array_equal(found.expand(-1), expected)
