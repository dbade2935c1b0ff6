"""Calibration, net benefit and the metric that decides, in text, page, JSON and methods."""

import json
import re

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB

import skeval
from skeval.metrics import calibration_measures, net_benefit


def draw(n=200, share=0.5, seed=0):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < share * n).astype(int)
    return rng.normal(size=(n, 3)) + 1.2 * y[:, None], y


@pytest.fixture(scope="module")
def report():
    X, y = draw()
    return skeval.evaluate(GaussianNB(), X, y, cv=3, n_permutations=0, random_state=0)


@pytest.fixture(scope="module")
def rare():
    X, y = draw(share=0.08)
    return skeval.evaluate(LogisticRegression(), X, y, cv=3, n_permutations=0, random_state=0)


def test_calibration_is_that_of_one_prediction_of_each_sample(report):
    frame = report.predictions.query("repeat == 0")
    alone = calibration_measures(frame["truth"], frame["score_1"], random_state=0)
    for name, one in alone.items():
        assert report.calibration[name].value == pytest.approx(one.value)
        assert [*report.calibration[name].interval] == pytest.approx([*one.interval])
    # true positives less the false ones at the odds of the threshold, per sample
    for text, one in report.net_benefit.items():
        cut = float(text.rpartition(" ")[2])
        called, odds = frame["score_1"] >= cut, cut / (1 - cut)
        gain = np.where(frame["truth"] == 1, 1, -odds) * called
        assert one.value == pytest.approx(gain.mean())
        assert one.interval.low < one.value < one.interval.high
        narrow = one.confidence_interval(0.5)
        assert one.interval.low < narrow.low < narrow.high < one.interval.high


def test_the_limits_of_net_benefit_are_those_of_its_threshold(rare):
    frame = rare.predictions.query("repeat == 0")
    cuts = frame["truth"].mean(), 0.5
    for cut, one in zip(cuts, rare.net_benefit.values(), strict=True):
        curve = net_benefit(frame["truth"], frame["score_1"], thresholds=[cut])
        assert [*one.interval] == pytest.approx([curve.low[0], curve.high[0]])


def test_text_page_and_json_have_the_same_results(report):
    text, page, numbers = str(report), report.to_html(), json.loads(report.to_json())
    for part in ("calibration", "net_benefit"):
        for one in getattr(report, part).values():
            assert one.name in text
            assert one.name in page
        assert [*numbers[part]] == [*getattr(report, part)]
    assert report.to_frame("net_benefit").shape[0] == len(report.net_benefit)


def test_miscalibration_is_a_warning_and_calibration_rarely_one():
    n_alarms, n_sets = 0, 40
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        odds = rng.normal(-0.5, 1.3, 300)
        y = (rng.random(300) < expit(odds)).astype(int)
        calibrated = skeval.evaluate_predictions(y, expit(odds), random_state=0)
        n_alarms += any(one.code == "calibration" for one in calibrated.warnings)
        if seed < 3:
            wrongs = {"too extreme": 2.5 * odds, "not extreme enough": 0.4 * odds}
            wrongs |= {"too high on average": odds + 1, "too low on average": odds - 1}
            for words, shifted in wrongs.items():
                wrong = skeval.evaluate_predictions(y, expit(shifted), random_state=0)
                (warning,) = (one for one in wrong.warnings if one.code == "calibration")
                assert words in warning.evidence
                assert "No problems" not in str(wrong) + wrong.to_html()
    assert n_alarms <= binom.isf(0.01, n_sets, 0.05)


def test_what_is_not_a_probability_of_two_classes_has_no_calibration():
    X, y = make_blobs(90, centers=3, random_state=0)
    for model, target in ((GaussianNB(), y), (Ridge(), X[:, 0])):
        report = skeval.evaluate(model, X, target, cv=3, n_permutations=0, random_state=0)
        assert report.calibration is report.net_benefit is None


def test_methods_name_the_metric_that_decides(report, rare):
    assert report.to_methods().startswith("The error rate of")
    assert rare.to_methods().startswith("The area under the ROC curve of")
    X, y = draw()
    numbers = skeval.evaluate(Ridge(), X, X[:, 0] + y, cv=3, random_state=0)
    assert numbers.to_methods().startswith("The root mean squared error of")
    assert "mean squared error" not in numbers.to_methods().replace("root mean squared error", "")
    models = {"bayes": GaussianNB(), "line": LogisticRegression()}
    options = {"cv": 3, "n_permutations": 0, "random_state": 0}
    both = skeval.evaluate(models, X, y, scoring="roc_auc", **options)
    assert both.to_methods().startswith("The area under the ROC curve of")
    assert "compared by area under the ROC curve" in both.to_methods()


def test_no_heading_repeats_another_or_the_headline(report, rare):
    for one in (report, rare):
        headings = [section.heading for section in one.sections]
        assert len(set(headings)) == len(headings)
        assert not [heading for heading in headings if heading in one.headline]


def test_pages_end_with_the_methods_paragraph(report):
    sentence = report.to_methods().split(". ")[0]
    for page in (report.to_html(), report.to_markdown()):
        assert sentence in page.replace("\\", "")
        assert "Methods" in page
    X, _ = make_blobs(40, random_state=0)
    from sklearn.cluster import KMeans

    clusters = skeval.evaluate_clusterer(KMeans(n_init=1), X, n_clusters=[2, 3], random_state=0)
    assert "<h2>Methods</h2>" not in clusters.to_html()


def curves_of(report):
    """Return the section with the curves."""
    (found,) = [
        section
        for section in report.sections
        if any("Net benefit" in figure.label for figure in section.figures)
    ]
    return found


@pytest.mark.parametrize("name", ["report", "rare"])
def test_legends_are_outside_the_axes(name, request):
    from matplotlib.figure import Figure

    report = request.getfixturevalue(name)
    for section in (curves_of(report),):
        for one in section.figures:
            figure = Figure(figsize=(4.4, one.height), layout="constrained")
            ax = figure.subplots()
            one.draw(ax=ax)
            figure.canvas.draw()
            legend = ax.get_legend()
            texts = [text.get_text() for text in legend.get_texts()]
            assert len(set(texts)) == len(texts) > 1
            box, axes = legend.get_window_extent(), ax.get_window_extent()
            assert box.y0 >= axes.y1 - 1
            assert box.x1 <= figure.bbox.x1
            assert re.match("<svg", one.drawn[0])


def test_the_axis_of_a_rare_event_ends_at_its_curve(rare):
    from matplotlib.figure import Figure

    *_, calibration, _ = curves_of(rare).figures
    ax = Figure().subplots()
    calibration.draw(ax=ax)
    points = next(one for one in ax.containers if hasattr(one, "has_yerr")).lines[0]
    assert 1.0 < ax.get_xlim()[1] / max(points.get_xdata().max(), points.get_ydata().max()) < 5
    assert ax.get_xlim()[1] < 0.9
    assert ax.get_xlim() == ax.get_ylim()
