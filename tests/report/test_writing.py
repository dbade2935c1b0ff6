"""Reports as JSON: numbers that JSON does not have."""

import json

from skeval.report._writing import WritableReport


class Report(WritableReport):
    """As small as a report can be."""

    def to_dict(self):
        return {"a": float("nan"), "b": [1.5, float("inf")], "c": {"d": (-float("inf"), "e", 2)}}


def test_what_is_not_finite_is_null(tmp_path):
    text = Report().to_json(tmp_path / "report.json")
    assert json.loads(text) == {"a": None, "b": [1.5, None], "c": {"d": [None, "e", 2]}}
    assert (tmp_path / "report.json").read_text() == text + "\n"
