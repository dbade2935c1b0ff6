"""No statistic depends on what the kinds of sampling units are called."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, TimeSeriesSplit

from skeval._resampling import sampling_units
from skeval.model_selection import cross_val_error, error_interval

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] + RNG.normal(size=60)
GROUPS = np.arange(60) // 4
CALLS = {
    "samples": {},
    "groups": {"groups": GROUPS},
    "folds": {"cv": list(KFold(6).split(X))},
    "blocks of time": {"cv": TimeSeriesSplit(5)},
}


@pytest.mark.parametrize("options", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("function", [error_interval, cross_val_error])
def test_no_number_depends_on_a_label(function, options, monkeypatch):
    before = function(Ridge(), X, Y, random_state=0, **options)
    labels = dict.fromkeys(sampling_units.UnitKind, "x")
    monkeypatch.setattr(sampling_units, "LABELS", labels)
    after = function(Ridge(), X, Y, random_state=0, **options)
    np.testing.assert_equal(after.to_dict(), before.to_dict())
    assert list(after.interval) == [before.interval.low, before.interval.high]


def test_labels_are_those_of_all_kinds():
    assert sampling_units.LABELS.keys() == set(sampling_units.UnitKind)
