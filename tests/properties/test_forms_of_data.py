"""Labels and samples in forms that few functions of NumPy take."""

import numpy as np
import pytest
from helpers import disguises
from helpers.outcomes import assert_same_numbers

from skeval.metrics import roc_curve_band
from skeval.model_selection import metric_interval

RNG = np.random.default_rng(0)
Z = np.arange(80) % 2
SCORE = Z + RNG.normal(size=80)
NAMES = np.where(Z, "yes", "no")
OPTIONS = [
    {},
    {"method": "delong"},
    {"groups": np.arange(80) // 2},
    {"sample_weight": 1.0 + Z},
    {"by": np.arange(80) // 40},
    {"method": "percentile", "n_resamples": 9, "random_state": 0},
    {"within": np.arange(80) // 20},
]


@pytest.mark.parametrize("form", disguises.NAMES)
def test_areas_of_text_labels(form):
    names = disguises.NAMES[form](NAMES)
    for options in OPTIONS:
        expected = metric_interval("roc_auc", Z, SCORE, **options)
        assert_same_numbers(metric_interval("roc_auc", names, SCORE, **options), expected)
    band = {"pos_label": "yes", "n_resamples": 9, "random_state": 0}
    expected = roc_curve_band(NAMES, SCORE, **band)
    assert_same_numbers(roc_curve_band(names, SCORE, **band), expected)
