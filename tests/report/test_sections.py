"""Reports as JSON: numbers that JSON does not have."""

import json
from dataclasses import replace

import numpy as np

import skeval


def test_infinity_is_a_string_and_nan_is_null(tmp_path):
    report = skeval.evaluate_predictions(np.arange(20) % 2, np.arange(20) % 3 // 2, random_state=0)
    baseline = replace(report.baseline, error=np.nan, low=-np.inf, high=np.inf)
    text = replace(report, results=report.results | {"baseline": baseline}).to_json(
        tmp_path / "report.json"
    )
    written = json.loads(text)["baseline"]
    assert (written["error"], written["low"], written["high"]) == (None, "-Infinity", "Infinity")
    assert (tmp_path / "report.json").read_text() == text + "\n"
