"""Verdicts of few units whose results happen to agree."""

import numpy as np
import pytest

import skeval


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_sites", [2, 3, 4])
def test_sites_that_agree_by_chance_are_no_evidence(n_sites):
    """Every site has one error less than the baseline: their spread is 0, and unknown."""
    y = np.tile([0, 0, 0, 0, 0, 0, 1, 1, 1, 1], n_sites)
    predicted = np.tile([0, 0, 0, 0, 0, 1, 1, 1, 0, 0], n_sites)
    groups = np.repeat(np.arange(n_sites), 10)
    report = skeval.evaluate_predictions(y, predicted, groups=groups, random_state=0)
    assert report.baseline.difference == pytest.approx(-0.1)
    assert not report.baseline.better
    assert report.baseline.low < -0.1 < 0 < report.baseline.high
