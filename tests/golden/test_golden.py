"""Golden reports, and what no report may say: two opinions about one metric."""

import re

import numpy as np
import pytest
import sklearn
from helpers.golden import FOLDER, GOLDEN, make, write_golden
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.fixes import parse_version

import skeval
from skeval.model_selection import compare_predictions
from skeval.report._findings import judge

newest = pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9"),
    reason="the numbers in golden reports are those of the newest versions",
)
DECIDING = {"roc_auc": "area under the roc curve", "balanced_accuracy": "balanced accuracy"}
"""Metrics that have a value by chance, as a headline names them."""
NO_EVIDENCE = re.compile(r"[Nn]o evidence that [^.;]*|not (?:shown to be )?better than")


@pytest.fixture(scope="module", params=GOLDEN)
def golden(request):
    """A golden report with its name."""
    return request.param, make(request.param)


@newest
def test_reports_are_golden(golden):
    """PYTHONPATH=tests python -m helpers.golden writes the files anew; read their diff."""
    name, report = golden
    expected = FOLDER.joinpath(f"{name}.txt").read_text(encoding="utf-8")
    assert write_golden(report) == expected


def test_golden_reports_do_not_contradict_themselves(golden):
    assert_consistent(golden[1])


def test_methods_list_what_they_cite_and_the_version(golden):
    if golden[0] == "evaluate_clusters":
        with pytest.raises(TypeError, match="not available for clustering reports"):
            golden[1].to_methods()
        return
    text = golden[1].to_methods()
    cited = set(re.findall(r" \[(\d)\]\.", text))
    assert cited == set(re.findall(r"^\[(\d)\]", text, re.MULTILINE))
    assert f"skeval {skeval.__version__}" in text


def test_methods_of_one_pair_and_of_folds_that_are_given():
    y = np.arange(60) % 2
    two = compare_predictions(y, {"a": np.arange(60) % 3 > 0, "b": y}, method="mcnemar")
    assert "The difference was tested (McNemar's test)" in two.to_methods()
    assert "P-values are corrected" not in two.to_methods()
    X, folds = np.random.default_rng(0).normal(size=(60, 2)), list(KFold(5).split(y))
    given = skeval.evaluate(Ridge(), X, X[:, 0], cv=folds, include=[], random_state=0)
    assert "Variances were estimated between folds" in given.to_methods()
    assert "groups" not in given.to_methods()


def assert_consistent(report):
    """Raise if a report of one or of several systems contradicts itself or its numbers."""
    reports = getattr(report, "reports", {"": report})
    for one in reports.values():
        if hasattr(one, "baseline"):
            assert_verdict(one)
    for table in (table for section in report.sections for table in section.tables):
        names = [name for name in table.head if not name.endswith(" CI")]
        assert len(set(names)) == len(names), table.head
    if len(reports) > 1 and not report.verdict.startswith("Do not report"):
        for name, one in reports.items():
            clauses = re.findall(r"[^;.]*\bbeats? [^;]*", report.verdict)
            praise = [part for part in clauses if "o evidence that" not in part]
            praised = any(f'"{name}"' in part or re.search("Both|All", part) for part in praise)
            assert praised == judge(one, report.deciding).better, report.verdict


UNREADABLE = re.compile(
    r"\bnan\b|\binf\b|\de-1[5-9]|P = 0(?:\.0+)?(?![\d.])|\b1 (?:samples|groups|blocks|folds|runs)\b"
)
"""Undefined numbers, rounding errors, impossible P-values and wrong plurals."""


def assert_verdict(report):
    """Raise if two sentences of a verdict disagree, or a sentence and the numbers."""
    verdict, finding, text = report.verdict, judge(report), str(report)
    headline = report.headline
    assert verdict.startswith(headline)
    assert not UNREADABLE.search(text), UNREADABLE.search(text)
    if headline.startswith("Do not report"):
        assert not re.search("better than|o evidence that", verdict)
        return
    # a feature that may give the target away comes first, and nothing is said about chance
    if any(warning.lead for warning in report.warnings):
        assert re.match(r"Check .+ first: .*\. Estimated ", verdict), verdict
        assert not re.search("better than|o evidence that|clearly beat", verdict), verdict
        return
    claims = "better than" in NO_EVIDENCE.sub("", verdict)
    doubts = "o evidence that" in verdict or "does not clearly beat" in verdict
    assert not (claims and doubts), verdict
    assert not ("o evidence that" in verdict and finding.permutation == "shown"), verdict
    if any(one.lead for one in report.warnings):  # a note opens the verdict
        assert re.match("Check .* first: ", headline)
        assert not claims
        assert not doubts
        return
    assert claims == finding.better, verdict
    assert doubts == (finding.relation == "open"), verdict
    if finding.metric:
        assert DECIDING[finding.metric] in headline.lower()
    # an area that excludes chance beside "no evidence": the sentence names what decides
    area = report.metrics.get("roc_auc")
    if doubts and area is not None and area.confidence_interval(0.95).low > 0.5:
        assert "is judged by" in verdict or report.rare_class is not None
    # a wide interval is no evidence that nothing is wrong
    if "No miscalibration" in text:
        slope = report.calibration["slope"].interval
        assert 0.8 <= slope.low < slope.high <= 1.25


def draw_case(seed):
    """Return a random table of two or three classes, or numbers, some of them rare or unrelated."""
    rng = np.random.default_rng(seed)
    n, share = int(rng.integers(30, 80)), rng.choice([0.12, 0.3, 0.5])
    y = (rng.random(n) < share).astype(int)
    y[:4] = 0, 1, 0, 1
    X = rng.normal(size=(n, 2))
    X[:, 0] += rng.choice([0, 0.5, 1, 3]) * y
    return rng, X, y


@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(20, 80), marks=pytest.mark.slow)])
def test_random_evaluations_do_not_contradict_themselves(seeds):
    for seed in seeds:
        _, X, y = draw_case(seed)
        model = DummyClassifier(strategy="stratified", random_state=0)
        models = {"bayes": GaussianNB(), "dummy": model} if seed % 5 == 0 else GaussianNB()
        options = {"loss": [None, None, "brier"][seed % 3], "random_state": 0}
        if seed % 12 == 0:
            options |= {"cv": 2, "include": "permutation", "n_permutations": 79}
        else:  # one fit for each fold
            groups = np.arange(len(y)) // 2
            folds = list(GroupKFold(2).split(X, y, groups))
            options |= {"cv": folds, "groups": groups, "include": []}
        assert_consistent(skeval.evaluate(models, X, y, **options))


@pytest.mark.parametrize("seeds", [range(10), pytest.param(range(10, 30), marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["labels", "probabilities", "scores", "numbers"])
def test_random_predictions_do_not_contradict_themselves(kind, seeds):
    for seed in seeds:
        rng, X, y = draw_case(seed)
        score = X[:, 0] * rng.choice([0.3, 1, 3]) - rng.choice([0, 1])
        predictions = {
            "labels": (score > 0).astype(int),
            "probabilities": 1 / (1 + np.exp(-score)),
            "scores": score,
            "numbers": score,
        }[kind]
        y = y + 0.1 * X[:, 1] if kind == "numbers" else y
        if seed % 5 == 0:
            predictions = {"one": predictions, "two": rng.permutation(predictions)}
        assert_consistent(skeval.evaluate_predictions(y, predictions, kind=kind, random_state=0))
