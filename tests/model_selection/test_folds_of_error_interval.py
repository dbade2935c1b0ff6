"""Folds of the main estimate: what is drawn, and what is taken as passed."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.neighbors import KNeighborsClassifier

from skeval.model_selection import cross_val_error, error_interval

NEAREST = KNeighborsClassifier(1)


def draw_groups(seed, n_groups=20, size=10):
    """Return samples of groups whose labels are random: a rule learns the groups alone."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    labels = rng.permutation(np.arange(n_groups) % 2)
    X = 5 * rng.normal(size=(n_groups, 2))[groups] + 0.1 * rng.normal(size=(len(groups), 2))
    return X, labels[groups], groups


def draw_designs(seed):
    """Yield splits of 24 samples of 8 groups of every kind that is taken as it is."""
    rng = np.random.default_rng(seed)
    X, y, groups = rng.normal(size=(24, 2)), np.tile([0, 1], 12), np.repeat(np.arange(8), 3)
    for cv in (
        GroupKFold(4),
        LeaveOneGroupOut(),
        KFold(3),
        StratifiedKFold(4),
        LeaveOneOut(),
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=seed),
        ShuffleSplit(4, random_state=seed),
    ):
        needed = groups if "Group" in type(cv).__name__ else None
        yield X, y, list(cv.split(X, y, needed))
    yield X, y, PredefinedSplit(rng.permutation(np.repeat([-1, 0, 1, 2], 6)))
    sizes = rng.integers(2, 9, size=5)
    orders = [rng.permutation(24) for _ in sizes]
    yield X, y, [(order[n:], order[:n]) for order, n in zip(orders, sizes, strict=True)]


@pytest.mark.parametrize("seed", [0, 1])
def test_the_error_is_that_of_the_folds_that_were_given(seed):
    for X, y, cv in draw_designs(seed):
        found = error_interval(NEAREST, X, y, cv=cv, random_state=0)
        expected = cross_val_error(NEAREST, X, y, cv=cv)
        assert found.value == pytest.approx(expected.value, abs=1e-12)
        assert found.n_samples == expected.n_samples
        assert found.method == "given_folds"
        assert found.interval.low <= found.value <= found.interval.high


def test_what_is_drawn_anew_and_what_is_taken_as_it_is():
    X, y, groups = draw_groups(0)
    drawn = error_interval(NEAREST, X, y, cv=StratifiedKFold(4, shuffle=True), random_state=0)
    assert (drawn.method, drawn.extra.n_fits, drawn.n_groups) == ("repeated_cv", 8, None)
    fewer = StratifiedKFold(4, shuffle=True, random_state=3)
    assert error_interval(NEAREST, X, y, cv=fewer, n_repeats=2, random_state=0).extra.n_fits == 8
    folds = error_interval(NEAREST, X, y, cv=StratifiedKFold(4))
    assert (folds.method, folds.extra.n_fits, folds.n_groups) == ("given_folds", 4, 4)
    own = RepeatedKFold(n_splits=5, n_repeats=2, random_state=0)
    found = error_interval(NEAREST, X, y, cv=own)
    assert (found.extra.n_fits, found.n_groups) == (10, None)
    assert found.extra.parameters == {"n_folds": 5, "n_repeats": 2}
    by_groups = error_interval(NEAREST, X, y, cv=GroupKFold(5), groups=groups)
    assert (by_groups.extra.n_fits, by_groups.n_groups) == (5, 20)
    # repeats of folds by whole groups keep the groups together, and nothing else
    many = [split for seed in range(6) for split in shuffle_groups(X, y, groups, seed)]
    assert error_interval(NEAREST, X, y, cv=many).n_groups == pytest.approx(20, abs=2)
    single = error_interval(NEAREST, X, y, cv=[(np.arange(100), np.arange(100, 200))])
    assert (single.n_samples, single.n_groups) == (100, None)


def shuffle_groups(X, y, groups, seed):
    names = np.random.default_rng(seed).permutation(20)
    return list(GroupKFold(5).split(X, y, names[groups]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cv": KFold(3), "n_folds": 4}, "n_folds must be None if cv is passed, got 4"),
        ({"cv": KFold(3), "n_repeats": 4}, "n_repeats must be 'auto' for a cv with fixed folds"),
        ({"cv": 3, "method": "holdout"}, "cv is not a parameter of method='holdout'"),
        ({"cv": 1}, "cv must be"),
        ({"cv": []}, "cv must yield at least one pair"),
    ],
)
def test_folds_that_contradict(change, message):
    X, y, _ = draw_groups(0)
    with pytest.raises(ValueError, match=message):
        error_interval(NEAREST, X, y, **change)
