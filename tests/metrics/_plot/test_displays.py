"""The bootstrap of cost curves, and what the displays draw."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference.ranking import envelope
from scipy.stats import binom
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_recall_curve
from sklearn.tree import DecisionTreeClassifier

from skeval.metrics import (
    BreakEvenDisplay,
    CostCurveDisplay,
    break_even_point,
    cost_curve,
    cost_curve_band,
)

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


def scores(n=100, shift=1.3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n - n // 3, n // 3])
    return y, rng.normal(size=n) + shift * y, rng.normal(size=n) + 0.5 * y


def test_band_is_the_quantiles_of_resamples_one_by_one():
    y, score, other = scores(n=24)
    band = cost_curve_band(y, score, baseline=other, n_resamples=7, n_points=5, random_state=3)
    assert_allclose(
        band.cost,
        cost_curve(y, score).at(band.probability_cost)
        - cost_curve(y, other).at(band.probability_cost),
        atol=1e-14,
    )
    assert_allclose(band.low, np.quantile(band.replicates, 0.025, axis=0))
    assert band.replicates.shape == (7, 5)
    assert np.abs(band.replicates[:, [0, -1]]).max() == 0
    single = cost_curve_band(y, score, n_resamples=7, n_points=5, random_state=3)
    assert_allclose(single.cost[2], envelope(y == 1, score, np.ones(24), 0.5)[0])
    # Positive and negative counts stay: a resample of tied scores is the trivial classifier.
    tied = cost_curve_band(y, np.zeros(24), n_resamples=20, n_points=5, random_state=0)
    assert_allclose(tied.replicates, np.tile([0, 0.25, 0.5, 0.25, 0], (20, 1)))


def test_band_seeds():
    y, score, _ = scores()

    def run(seed, n_resamples=5):
        return cost_curve_band(y, score, n_resamples=n_resamples, random_state=seed).replicates

    assert_allclose(run(1), run(1), rtol=0)
    assert_allclose(run(1), run(1, 9)[:5], rtol=0)
    assert np.abs(run(1) - run(2)).max() > 0
    assert np.abs(run(None) - run(None)).max() > 0


def test_band_of_the_difference_has_its_size():
    """Two scores of equal worth: the 95 % band at x = 1/2 misses 0 in about 5 % of data sets."""
    missed = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], 60)
        a, b = rng.normal(size=(2, 120)) + y
        band = cost_curve_band(y, a, baseline=b, n_resamples=100, n_points=3, random_state=seed)
        missed += not band.low[1] <= 0 <= band.high[1]
    assert binom.cdf(missed, 40, 0.05) > 0.005
    assert binom.sf(missed - 1, 40, 0.05) > 0.005


def test_band_reads_and_refuses():
    y, score, _ = scores()
    band = cost_curve_band(y, score, n_resamples=5, random_state=0)
    assert len(str(band).splitlines()) == 6
    assert list(band.to_frame().columns) == ["probability_cost", "cost", "low", "high"]
    with pytest.raises(ValueError, match="must hold both classes"):
        cost_curve_band(np.ones(5, dtype=int), np.ones(5))
    with pytest.raises(ValueError, match="'confidence_level' parameter"):
        cost_curve_band(y, score, confidence_level=1.0)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        cost_curve_band(y, score, baseline=[1, 2])


def test_cost_display_draws_the_curve(tmp_path):
    y, score, _ = scores()
    display = CostCurveDisplay.from_predictions(y, score, lines=True, name="mine", color="red")
    curve = cost_curve(y, score)
    assert_allclose(display.line_.get_xydata()[:, 1], curve.normalized_expected_cost)
    assert display.line_.get_color() == "red"
    assert display.line_.get_label() == f"mine (area {curve.area:.3f})"
    assert len(display.ax_.lines) == len(curve.lines) + 2
    display.figure_.savefig(tmp_path / "cost.png")
    assert (tmp_path / "cost.png").stat().st_size > 5000


def test_cost_display_draws_a_band_and_a_difference():
    y, score, other = scores()
    _, ax = plt.subplots()
    options = {"n_resamples": 20, "random_state": 0}
    display = CostCurveDisplay.from_predictions(y, score, confidence_level=0.9, ax=ax, **options)
    assert display.ax_ is ax
    assert display.band.confidence_level == 0.9
    assert [text.get_text() for text in ax.get_legend().get_texts()][-1] == (
        "90 % interval at each point"
    )
    difference = CostCurveDisplay.from_predictions(y, score, baseline=other, **options)
    assert difference.ax_.get_ylabel() == "Difference of normalised expected cost"
    assert_allclose(difference.line_.get_ydata(), difference.band.cost)
    with pytest.raises(ValueError, match="a curve or a band, got neither"):
        CostCurveDisplay(None).plot()


def test_precision_recall_display_marks_the_break_even_point():
    y, score, _ = scores()
    display = BreakEvenDisplay.from_predictions(y, score)
    value = break_even_point(y, score)
    assert display.point_.get_xydata().tolist() == [[value, value]]
    precision, recall, _ = precision_recall_curve(y, score)
    assert_allclose(display.line_.get_xydata(), np.column_stack([recall, precision]))
    assert display.prevalence == y.mean()
    weighted = BreakEvenDisplay.from_predictions(y, score, sample_weight=y + 1.0)
    assert weighted.break_even == break_even_point(y, score, sample_weight=y + 1.0)
    with pytest.raises(ValueError, match="must hold a positive sample"):
        BreakEvenDisplay.from_predictions([0, 0], [1, 2])


@pytest.mark.parametrize("display", [CostCurveDisplay, BreakEvenDisplay])
@pytest.mark.parametrize(
    "estimator", [LogisticRegression(), DecisionTreeClassifier(max_depth=2, random_state=0)]
)
def test_from_estimator_scores_the_positive_class(display, estimator):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.repeat(["no", "yes"], [20, 40])
    X[:20] += 1
    estimator.fit(X, y)
    probability = estimator.predict_proba(X)
    for column, label in enumerate(["no", "yes"]):
        drawn = display.from_estimator(estimator, X, y, pos_label=label)
        expected = display.from_predictions(y, probability[:, column], pos_label=label)
        assert_allclose(drawn.line_.get_xydata(), expected.line_.get_xydata(), atol=1e-12)
        assert drawn.name == type(estimator).__name__
    default = display.from_estimator(estimator, X, y)
    assert_allclose(default.line_.get_xydata(), drawn.line_.get_xydata())
    with pytest.raises(ValueError, match="pos_label must be one of"):
        display.from_estimator(estimator, X, y, pos_label="maybe")
    with pytest.raises(NotFittedError):
        display.from_estimator(LogisticRegression(), X, y)
    with pytest.raises(ValueError, match="a classifier of two classes, got 0"):
        display.from_estimator(KMeans(2, n_init=1).fit(X), X, y)


def test_metrics_do_not_need_matplotlib():
    code = (
        "import sys; sys.modules['matplotlib'] = None; import skeval.metrics; "
        "assert skeval.metrics.error_rate([0], [0]) == 0"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
