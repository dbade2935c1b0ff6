"""Comparison of systems by readers: published numbers, brute force, tables, size, bad input."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from reference import readers as reference
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

from skeval._inference.designs import ReaderStudy
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
    table = to_table(truth, scores)
    patient = dict(zip(pd.unique(table.case), np.arange(40) // 2, strict=True))
    long = compare_readers(None, table.assign(patient=table.case.map(patient)), groups="patient")
    short = compare_readers(truth, scores, groups=[patient[case] for case in sorted(patient)])
    assert_allclose(long.study.covariance, short.study.covariance)
    with pytest.raises(ValueError, match="groups must name a column of scores"):
        compare_readers(None, table, groups=np.arange(40) // 2)
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
    with pytest.warns(UndefinedMetricWarning, match="do not vary"):
        comparison = compare_readers(truth, {"a": perfect, "b": perfect})
    assert "without any variance" in comparison.conclusion
    _, scores = draw_scores()
    with pytest.warns(UndefinedMetricWarning, match="do not vary"):
        same = compare_readers(truth, dict.fromkeys("ab", scores["system 0"]))
    assert np.isnan([*same.difference.interval]).all()


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
    with pytest.raises(ValueError, match="one row for each system, reader, case; got 2 rows"):
        compare_readers(None, pd.concat([table, table.iloc[:1]]))
    with pytest.raises(ValueError, match=r"scores\['reader'\] must not contain missing"):
        compare_readers(None, table.assign(reader=table.reader.where(table.reader > 0)))
    other = table.assign(truth=np.where(table.reader == 0, 1 - table.truth, table.truth))
    with pytest.raises(ValueError, match="the same in all rows of a case"):
        compare_readers(None, other)
    with pytest.raises(ValueError, match="at least two systems"):
        compare_readers(None, table[table.system == "system 0"])


# Van Dyke et al. (1993) as analyzed in the article on the R package MRMCaov: areas of five readers
# with two modalities, and components of their covariance by DeLong.
AREAS = np.array(
    [
        [0.9196457, 0.8587762, 0.9038647, 0.9731079, 0.8297907],
        [0.9478261, 0.9053140, 0.9217391, 0.9993559, 0.9299517],
    ]
)
BY_DELONG = 0.0007921325, 0.0003420090, 0.0003395265, 0.0002358497
BY_JACKKNIFE = 0.0008022883, 0.0003466137, 0.0003440748, 0.0002390284


def spread_out(components, n_systems, n_readers):
    """Return a covariance with these components."""
    variance, same_reader, same_system, neither = components
    one = np.eye(n_readers, dtype=bool)
    own = np.where(one, variance, same_system)
    other = np.where(one, same_reader, neither)
    return np.block(
        [[own if i == k else other for k in range(n_systems)] for i in range(n_systems)]
    )


def van_dyke(components=BY_DELONG, *, random_readers=True):
    return ReaderStudy(
        tuple("12345"), AREAS, spread_out(components, 2, 5), 114, random_readers=random_readers
    )


def draw_study(n_systems, n_readers, seed=0, **options):
    rng = np.random.default_rng(seed)
    values = 0.8 + 0.05 * rng.normal(size=(n_systems, n_readers))
    factors = rng.normal(size=(n_systems * n_readers, 30)) / 100
    factors += rng.normal(size=30) / 100  # shared by all
    names = tuple(map(str, range(n_readers)))
    return ReaderStudy(names, values, factors @ factors.T / 30, 100, **options)


def test_published_analysis_of_van_dyke():
    study = van_dyke()
    assert_allclose(study.mean_squares, (0.004796171, 0.0005510306), rtol=2e-6)
    assert_allclose(study.components, BY_DELONG)
    error, degrees = study.of_difference(0, 1)
    assert_allclose((error, degrees), (0.0206825, 15.06611), rtol=3e-6)
    assert_allclose(study.test_equality(), (4.484854, 0.05123303), rtol=3e-6)


def test_published_analysis_of_van_dyke_with_fixed_readers():
    error, degrees = van_dyke(BY_JACKKNIFE, random_readers=False).of_difference(0, 1)
    assert_allclose(error, 0.01871748, rtol=3e-6)
    assert degrees == np.inf


def test_fixed_readers():
    study = draw_study(2, 6, random_readers=False)
    expected = reference.analyze_fixed(study.values, study.covariance)[1]
    assert_allclose(study.of_difference(0, 1).error, expected)
    assert_allclose(study.of_system(1).error ** 2, study.covariance[6:, 6:].mean())


def test_readers_without_differences_have_the_error_of_the_cases():
    covariance = spread_out((4e-4, 3e-4, 2e-4, 1e-4), 2, 4)
    values = np.array([[0.8] * 4, [0.9] * 4])
    error, degrees = ReaderStudy(tuple("abcd"), values, covariance, 50).of_difference(0, 1)
    assert_allclose(error**2, 2 * 1e-4)
    assert degrees == np.inf


def test_power_of_the_study_itself():
    study = van_dyke()
    error, degrees = study.of_difference(0, 1)
    noncentral = stats.nct(degrees, 0.05 / error)
    critical = stats.t.ppf(0.975, degrees)
    expected = noncentral.sf(critical) + noncentral.cdf(-critical)
    assert_allclose(study.power(0.05, 0.05, 5, 114), expected, rtol=1e-6)


def test_power_of_fixed_readers():
    study = van_dyke(random_readers=False)
    error = study.of_difference(0, 1).error / np.sqrt(3)  # three times as many cases
    z = stats.norm.ppf(0.975)
    expected = stats.norm.sf(z - 0.05 / error) + stats.norm.cdf(-z - 0.05 / error)
    assert_allclose(study.power(0.05, 0.05, 5, 3 * 114), expected)


def test_a_study_without_errors_has_power_1():
    study = ReaderStudy(("a", "b"), np.array([[0.7, 0.7], [0.8, 0.8]]), np.zeros((4, 4)), 50)
    assert study.power(0.1, 0.05, 5, 100) == 1
