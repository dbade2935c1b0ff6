"""Comparison of systems by readers: brute force, missing readings, tables, size, bad input."""

import numpy as np
import pandas as pd
import pytest
from helpers.coverage import consistent_with
from numpy.testing import assert_allclose
from reference import readers as reference
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

from skeval.model_selection import compare_predictions, compare_readers, reader_study_size


def draw_scores(n_readers=4, n_cases=40, n_systems=2, seed=0, gain=0.5, ties=True):
    rng = np.random.default_rng(seed)
    truth = np.arange(n_cases) % 3 == 0
    base = rng.normal(size=n_cases)
    scores = {
        f"system {i}": (1 + gain * i) * truth + base + rng.normal(size=(n_readers, n_cases))
        for i in range(n_systems)
    }
    return truth.astype(int), {name: np.round(s) if ties else s for name, s in scores.items()}


def to_table(truth, scores):
    return pd.DataFrame(
        [
            {"system": name, "reader": j, "case": f"c{k:03}", "score": value, "truth": truth[k]}
            for name, array in scores.items()
            for j, row in enumerate(array)
            for k, value in enumerate(row)
            if not np.isnan(value)
        ]
    ).sample(frac=1, random_state=0)


@pytest.mark.parametrize("n_systems", [2, 3])
def test_delong_and_brute_force(n_systems):
    truth, scores = draw_scores(n_systems=n_systems)
    comparison = compare_readers(truth, scores)
    values, covariance = reference.delong(truth, np.concatenate(list(scores.values())))
    assert_allclose(comparison.study.covariance, covariance)
    assert_allclose(comparison.study.values.ravel(), values)
    level = 1 - 0.05 / len(comparison.differences)
    expected = reference.analyze(values.reshape(n_systems, -1), covariance, level=level)
    result = comparison["system 0", "system 1"]
    assert_allclose(
        [result.value, result.standard_error, result.extra.degrees_of_freedom], expected[:3]
    )
    assert_allclose([*result.interval, result.extra.pvalue_alone], expected[3:])
    mean, error, degrees = reference.analyze_system(values[:4], covariance[:4, :4])
    estimate = comparison.estimates["system 0"]
    assert_allclose(
        [estimate.value, estimate.standard_error, estimate.details["degrees_of_freedom"]],
        [mean, error, degrees],
    )
    assert (comparison.omnibus is None) == (n_systems == 2)


@pytest.mark.parametrize("metric", [roc_auc_score, accuracy_score])
def test_jackknife_and_brute_force(metric):
    truth, scores = draw_scores(n_cases=24)
    if metric is accuracy_score:
        scores = {name: (array > 0.5).astype(int) for name, array in scores.items()}
    comparison = compare_readers(truth, scores, metric=lambda *pair: metric(*pair))
    values, covariance = reference.jackknife(metric, truth, np.concatenate(list(scores.values())))
    assert_allclose(comparison.study.values.ravel(), values)
    assert_allclose(comparison.study.covariance, covariance, atol=1e-12)


def test_one_fixed_reader_is_delongs_test():
    truth, scores = draw_scores(n_readers=1)
    comparison = compare_readers(truth, scores, readers="fixed")
    single = {name: array[0] for name, array in scores.items()}
    expected = compare_predictions(truth, single, method="delong")
    assert_allclose(comparison.difference.pvalue, expected.difference.pvalue)
    assert_allclose(comparison.difference.interval.low, expected.difference.interval.low)


def test_text_labels_and_decisions():
    truth, scores = draw_scores()
    names = np.array(["benign", "malign"])
    numbers = {name: (array > 0.5).astype(int) for name, array in scores.items()}
    words = {name: names[array] for name, array in numbers.items()}
    expected = compare_readers(truth, numbers, metric="accuracy")
    result = compare_readers(names[truth], words, metric="accuracy")
    assert_allclose(result.difference.interval.high, expected.difference.interval.high)
    assert compare_readers(names[truth], scores).values.tolist() == (
        compare_readers(truth, scores).values.tolist()
    )
    words["system 0"] = words["system 0"].astype(object)
    words["system 0"][0, :3] = None
    assert compare_readers(names[truth], words, metric="accuracy").study.n_missing == 3


def test_long_table_with_missing_readings():
    truth, scores = draw_scores()
    scores["system 0"][1, :7] = np.nan
    scores["system 1"][2, 30:] = np.nan
    expected = compare_readers(truth, scores)
    assert expected.study.n_missing == 17
    table = to_table(truth, scores)
    for form in (table, dict(table.items())):
        result = compare_readers(None, form)
        assert_allclose(result.study.covariance, expected.study.covariance, rtol=1e-10)
        assert_allclose([*result.difference.interval], [*expected.difference.interval])
    jackknife = compare_readers(truth, scores, metric=lambda *pair: roc_auc_score(*pair))
    assert_allclose(
        jackknife.difference.standard_error, expected.difference.standard_error, rtol=0.1
    )


def test_cases_of_one_reader_each_share_no_error():
    truth, scores = draw_scores(n_cases=80, ties=False)
    for array in scores.values():
        for j in range(4):
            array[j, np.arange(80) % 4 != j] = np.nan
    study = compare_readers(truth, scores).study
    assert_allclose(study.components[2:], 0, atol=1e-15)
    assert study.components[1] > 0


def test_groups_of_cases():
    truth, scores = draw_scores(ties=False)
    alone = compare_readers(truth, scores, groups=np.arange(40))
    expected = compare_readers(truth, scores)
    ratio = alone.study.covariance / expected.study.covariance
    assert_allclose(ratio, 40 / 39)
    # each case counted twice says no more than once
    twice = {name: np.tile(array, 2) for name, array in scores.items()}
    groups = np.tile(np.arange(40), 2)
    for metric in (roc_auc_score, lambda *pair: roc_auc_score(*pair)):  # DeLong, jackknife
        result = compare_readers(np.tile(truth, 2), twice, groups=groups, metric=metric)
        assert_allclose(
            result.difference.standard_error, expected.difference.standard_error, rtol=0.05
        )


def test_losses():
    truth, scores = draw_scores()
    chances = {name: 1 / (1 + np.exp(-array)) for name, array in scores.items()}
    comparison = compare_readers(truth, chances, metric=log_loss)
    assert not comparison.greater_is_better
    assert comparison.best == (min(zip(comparison.values, comparison.names, strict=True))[1],)


def test_readers_named_by_a_frame():
    truth, scores = draw_scores()
    frames = {name: pd.DataFrame(array, index=list("wxyz")) for name, array in scores.items()}
    assert compare_readers(truth, frames).study.readers == tuple("wxyz")
    frames["system 1"] = frames["system 1"].iloc[::-1]
    with pytest.raises(ValueError, match="same readers in the same order"):
        compare_readers(truth, frames)


def test_perfect_readers_have_no_interval():
    truth, _ = draw_scores()
    perfect = np.tile(truth, (3, 1))
    with pytest.warns(UndefinedMetricWarning, match="do not vary around 1"):
        comparison = compare_readers(truth, {"a": perfect, "b": perfect})
    assert "without any variance" in comparison.conclusion


def test_study_size():
    truth, scores = draw_scores()
    comparison = compare_readers(truth, scores)
    curve = reader_study_size(comparison, difference=0.1, n_readers=[3, 6, 12])
    study = comparison.study
    for n_readers, n_cases in zip([3, 6, 12], curve.y, strict=True):
        assert study.power(0.1, 0.05, n_readers, n_cases) >= 0.8
        assert study.power(0.1, 0.05, n_readers, n_cases - 1) < 0.8
    assert np.isnan(reader_study_size(comparison, difference=1e-6, n_readers=[3]).y).all()
    columns = reader_study_size(comparison, difference=0.1, n_readers=[4]).columns
    assert_allclose(columns["power with 40 cases"], study.power(0.1, 0.05, 4, 40))
    assert "cases for a power" in str(curve)


def test_study_size_is_for_the_test_of_the_comparison():
    """One-sided tests need fewer cases, and three systems more."""
    truth, scores = draw_scores()
    options = {"difference": 0.1, "n_readers": [3, 6, 12]}
    two_sided = reader_study_size(compare_readers(truth, scores), **options)
    greater = reader_study_size(compare_readers(truth, scores, alternative="greater"), **options)
    less = compare_readers(truth, scores, alternative="less")
    mirrored = reader_study_size(less, **(options | {"difference": -0.1}))
    assert (greater.y < two_sided.y).all()
    assert_allclose(greater.y, mirrored.y)
    with pytest.raises(ValueError, match="must have the sign of the alternative"):
        reader_study_size(less, **options)
    # a one-sided test has the power of a two-sided test at twice the level
    study = less.study
    one, both = study.power(0.1, 0.05, 6, 60, "greater"), study.power(0.1, 0.1, 6, 60)
    assert one == pytest.approx(both, abs=2e-3)
    three = scores | {"third": scores["system 0"] + 0.1}
    study = compare_readers(truth, three).study
    columns = reader_study_size(compare_readers(truth, three), **options).columns
    expected = [study.power(0.1, 0.05 / 3, n, 40) for n in (3, 6, 12)]
    assert_allclose(columns["power with 40 cases"], expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": np.ones((3, 40))}, "scores must be a dict of at least two systems"),
        ({"scores": {"a": np.ones((3, 40))}}, "scores must be a dict of at least two systems"),
        ({"scores": {"a": np.ones((3, 40)), "b": np.ones((2, 40))}}, "same n for all systems"),
        ({"scores": {"a": np.ones(40), "b": np.ones(40)}}, r"shape \(n_readers, n_cases\)"),
        ({"y_true": None}, "y_true must contain the true value"),
        ({"y_true": np.ones(39)}, r"scores\['system 0'\] must have the shape"),
        ({"y_true": np.ones(40)}, "y_true must contain two classes"),
        ({"y_true": np.arange(40) % 3}, "y_true must contain two classes"),
        ({"readers": "all"}, "readers must be one of"),
        ({"alternative": "more"}, "alternative must be one of"),
        ({"confidence_level": 95}, "confidence_level must satisfy"),
        ({"groups": np.ones(40)}, "groups must have at least two groups"),
        ({"groups": np.c_[np.arange(40) // 5, np.arange(40) % 5]}, "groups must be of one kind"),
        ({"scores": None}, "scores must be a dict of at least two systems"),
        ({"scores": {"a": [[1, 2], [1]], "b": [[1, 2], [1]]}}, "scores"),
    ],
)
def test_bad_input(change, message):
    truth, scores = draw_scores()
    arguments = {"y_true": truth, "scores": scores} | change
    with pytest.raises((ValueError, TypeError), match=message):
        compare_readers(arguments.pop("y_true"), arguments.pop("scores"), **arguments)


def test_bad_tables():
    table = to_table(*draw_scores())
    with pytest.raises(ValueError, match="y_true must be None for a long table"):
        compare_readers([0, 1], table)
    with pytest.raises(ValueError, match="scores must have the columns"):
        compare_readers(None, table.drop(columns="truth"))
    with pytest.raises(ValueError, match="one reading of each case, got 2"):
        compare_readers(None, pd.concat([table, table.iloc[:1]]))
    with pytest.raises(ValueError, match=r"scores\['reader'\] must not contain missing"):
        compare_readers(None, table.assign(reader=table.reader.where(table.reader > 0)))
    other = table.assign(truth=np.where(table.reader == 0, 1 - table.truth, table.truth))
    with pytest.raises(ValueError, match="the same in all rows of a case"):
        compare_readers(None, other)
    with pytest.raises(ValueError, match="at least two systems"):
        compare_readers(None, table[table.system == "system 0"])


def test_coverage_of_the_difference():
    # 300 studies of 5 readers; readers vary in both systems, cases are shared
    rng, covered, n_sets = np.random.default_rng(0), 0, 300
    truth = (np.arange(60) % 2).astype(int)
    for _ in range(n_sets):
        shared = rng.normal(size=60)
        skill = 1.5 + 0.2 * rng.normal(size=(2, 5, 1))
        scores = skill * truth + shared + rng.normal(size=(2, 5, 60))
        comparison = compare_readers(truth, dict(zip("ab", scores, strict=True)))
        covered += 0 in comparison.difference.interval
    assert consistent_with(covered, n_sets, 0.95)
