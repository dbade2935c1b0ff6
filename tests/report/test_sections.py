"""Reports as JSON: numbers that JSON does not have."""

import json

from skeval.report._sections import Report

MADE = {"warnings": (), "seed": 0, "settings": {}, "versions": {}, "call": "", "date": ""}


class Small(Report):
    """As small as a report can be."""

    def to_dict(self):
        return {"a": float("nan"), "b": [1.5, float("inf")], "c": {"d": (-float("inf"), "e", 2)}}


def test_infinity_is_a_string_and_nan_is_null(tmp_path):
    text = Small(**MADE).to_json(tmp_path / "report.json")
    assert json.loads(text) == {
        "a": None,
        "b": [1.5, "Infinity"],
        "c": {"d": ["-Infinity", "e", 2]},
    }
    assert (tmp_path / "report.json").read_text() == text + "\n"
