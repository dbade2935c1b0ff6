"""Classifiers over data sets: what is read, which test is taken, what the result says."""

import numpy as np
import pandas as pd
import pyarrow
import pytest
from helpers.published_scores import demsar_areas
from numpy.testing import assert_allclose
from reference import over_datasets as reference
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning
from statsmodels.stats.multitest import multipletests

from skeval.model_selection import compare_predictions, compare_scores

FRAME = demsar_areas()
RNG = np.random.default_rng(0)
SPLITS = 0.8 + RNG.normal(scale=0.02, size=(8, 3, 6)) + np.array([0.0, 0.01, 0.05])[:, None]


def test_default_is_wilcoxon_with_holm():
    found = compare_scores(FRAME, random_state=0, over="datasets")
    assert found.method == "wilcoxon"
    assert "only their own scores" in found.extra.reason
    rows, columns = np.triu_indices(4, 1)
    single = [pair.extra.pvalue_alone for pair in found.differences.values()]
    areas = FRAME.to_numpy()
    alone = [
        compare_scores(areas[:, pair], over="datasets").difference.pvalue
        for pair in zip(rows, columns, strict=True)
    ]
    assert_allclose(single, alone)
    expected = multipletests(single, method="holm")[1]
    assert_allclose(found.to_matrix("pvalue")[rows, columns], expected)
    assert_allclose(found.to_matrix("pvalue"), found.to_matrix("pvalue").T)
    assert_allclose(found.to_matrix(), -found.to_matrix().T)
    assert_allclose(found.to_matrix("low"), -found.to_matrix("high").T)
    assert (found.to_matrix("low") <= found.to_matrix()).all()


def test_holm_of_wilcoxon_equals_scikit_posthocs():
    """The code of the numbers, with scikit-posthocs 0.17.1 and autorank 1.3.0:

    rng = np.random.default_rng(0)
    scores = rng.normal(size=(14, 5)).round(3) + 0.4 * np.arange(5)
    posthoc_wilcoxon(scores.T, p_adjust="holm").to_numpy()[0]
    posthoc_nemenyi_friedman(scores).to_numpy()[0]
    autorank(DataFrame(scores), alpha=0.05, force_mode="nonparametric", verbose=False)
    """
    scores = np.random.default_rng(0).normal(size=(14, 5)).round(3) + 0.4 * np.arange(5)
    found = compare_scores(scores, over="datasets")
    expected = [1.0, 0.251220703125, 0.015380859375, 0.003662109375, 0.015380859375]
    assert_allclose(found.to_matrix("pvalue")[0], expected)
    found = compare_scores(scores, method="nemenyi", over="datasets")
    expected = [1.0, 0.7541834088302461, 0.01096459802840588, 0.007310424397226178]
    assert_allclose(found.to_matrix("pvalue")[0], [*expected, 0.02350162916397236], rtol=1e-6)
    assert_allclose(found.omnibus.details["chi_squared_pvalue"], 0.0014397614588575556)
    assert_allclose(found.extra.critical_difference, 1.630142947768727, rtol=1e-4)
    ranks = [4.285714285714286, 3.5714285714285716, 2.357142857142857, 2.2857142857142856, 2.5]
    assert_allclose(found.extra.mean_ranks, ranks)


def test_equal_scores_are_left_out_of_the_test_and_kept_in_the_interval():
    """The test leaves out differences of 0; the interval keeps them."""
    d = np.r_[np.zeros(4), 0.01, 0.015, 0.02, 0.025, 0.03, 0.04]
    hardness = np.linspace(0.6, 0.8, 10)
    found = compare_scores(np.c_[hardness + d, hardness], over="datasets")
    assert_allclose(found.difference.pvalue, 2**-5)
    assert found.difference.interval.low == 0
    assert found.difference.extra.n_equal == 4
    mostly_equal = np.r_[np.zeros(40), -0.01, np.linspace(0.02, 0.05, 9)]
    table = np.c_[0.5 + mostly_equal, np.full(50, 0.5)]
    one = compare_scores(table, over="datasets").difference
    assert one.value == 0
    assert "classifier 1 scores higher than classifier 2" in one.conclusion


def test_the_test_is_chosen_aloud():
    few = compare_scores(FRAME[:5], over="datasets")
    assert few.method == "nemenyi"
    assert "smallest P-value of Wilcoxon's test is 0.38" in few.extra.reason
    assert few.extra.reason in " ".join(str(few).split())
    assert np.isinf(few.to_matrix("low")[0, 1])
    two = compare_scores(FRAME.iloc[:5, :2], over="datasets")
    assert two.method == "wilcoxon"
    assert "cannot reject" in two.extra.reason
    assert two.omnibus is None
    asked = compare_scores(FRAME, method="nemenyi", over="datasets")
    assert asked.extra.reason == "The test was requested."
    assert few.tied == [tuple(few.names[place] for place in few.order)]


@pytest.mark.parametrize(
    "form", ["wide", "long", "columns", "arrow", "dicts", "cross_validate", "array"]
)
def test_forms_of_scores(form):
    means = SPLITS.mean(axis=2)
    names = [f"classifier {j}" for j in (1, 2, 3)]
    datasets = [f"data set {i}" for i in range(1, 9)]
    nested = {d: {n: SPLITS[i, j] for j, n in enumerate(names)} for i, d in enumerate(datasets)}
    rows = [
        {"dataset": d, "classifier": n, "split": s, "score": SPLITS[i, j, s]}
        for s in range(6)
        for i, d in enumerate(datasets)
        for j, n in enumerate(names)
    ]
    forms = {
        "wide": pd.DataFrame(means, index=datasets, columns=names),
        "long": pd.DataFrame(rows),
        "columns": pd.DataFrame(rows).to_dict("list"),
        "arrow": pyarrow.Table.from_pylist(rows),
        "dicts": nested,
        "cross_validate": {
            d: {n: {"fit_time": 0, "test_score": s} for n, s in row.items()}
            for d, row in nested.items()
        },
        "array": means,
    }
    found = compare_scores(forms[form], random_state=0, over="datasets")
    assert found.names == tuple(names)
    assert found.extra.datasets == tuple(datasets)
    assert_allclose(found.extra.scores, means)
    expected = compare_scores(means, random_state=0, over="datasets")
    assert_allclose(found.to_matrix("pvalue"), expected.to_matrix("pvalue"))
    assert_allclose(found.to_matrix("low"), expected.to_matrix("low"))


def make_rows(n_datasets=5, n_splits=3):
    """Return a long frame whose names are in no order."""
    names = [("tree", 0), ("bayes", 1), ("svm", 2)]
    return pd.DataFrame(
        [
            {"dataset": 10 - i, "classifier": n, "split": s, "score": SPLITS[i, j, s]}
            for i in range(n_datasets)
            for n, j in names
            for s in range(n_splits)
        ]
    )


@pytest.mark.parametrize(
    ("seed", "spell"), [(0, int), (1, "split {}".format), (2, lambda s: s if s else "first")]
)
def test_order_of_rows_never_matters(seed, spell):
    frame = make_rows()
    expected = compare_scores(frame, over="datasets")
    frame["split"] = [spell(split) for split in frame["split"]]
    ordered = compare_scores(frame, over="datasets")
    mixed = frame.sample(frac=1, random_state=seed)
    found = compare_scores(mixed, over="datasets")
    assert str(found) == str(ordered)
    assert_allclose(found.extra.scores, expected.extra.scores, rtol=1e-12)


def change(column, value, *rows):
    frame = make_rows().astype({column: object})
    frame.loc[list(rows), column] = value
    return frame


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (change("split", 1, 0), "2 rows for dataset 10, classifier 'tree', split 1"),
        (change("split", "a", 0), "different splits on 10"),
        (make_rows().drop(index=4), "different splits on 10"),
        (change("split", np.nan, 0), r"scores\['split'\] must not contain missing values"),
        (change("dataset", None, 0), r"scores\['dataset'\] must not contain missing values"),
        (change("dataset", "10", *range(9, 18)), "different names, got 10 and '10'"),
        ({1: {"a": 1, "b": 2}, "1": {"a": 2, "b": 3}}, "different names, got 1 and '1'"),
        ({"x": {1: 1, "1": 2}}, "different names, got 1 and '1'"),
        ({"x": {1: 1, "b": 2}, "y": {"1": 1, "b": 2}}, "different names, got 1 and '1'"),
    ],
)
def test_rows_that_cannot_be_paired_are_refused(scores, message):
    with pytest.raises(ValueError, match=message):
        compare_scores(scores, over="datasets")


def test_missing_scores():
    gaps = FRAME.copy()
    gaps.loc["cmc", "C4.5+m"] = np.nan
    with pytest.raises(ValueError, match=r"'C4.5\+m' has no score on 'cmc' .*[.] missing='drop'"):
        compare_scores(gaps, over="datasets")
    found = compare_scores(gaps, missing="drop", random_state=0, over="datasets")
    assert found.extra.dropped == ("cmc",)
    assert "1 dropped: cmc" in str(found)
    expected = compare_scores(FRAME.drop("cmc"), over="datasets", random_state=0)
    assert_allclose(found.to_matrix("pvalue"), expected.to_matrix("pvalue"))
    nested = {"one": {"a": 1.0, "b": 2.0}, "two": {"a": 1.0}, "three": {"a": 1.0, "b": 3.0}}
    with pytest.raises(ValueError, match="'b' has no score on 'two'"):
        compare_scores(nested, over="datasets")
    assert compare_scores(nested, missing="drop", over="datasets").extra.datasets == (
        "one",
        "three",
    )


def test_skillings_and_mack():
    """Nine times of four methods in Skillings and Mack (1981): 15.493, P = 0.0014."""
    times = """3.2 4.1 3.8 4.2  3.1 3.9 3.4 4.0  4.3 3.5 4.6 4.8  3.5 3.6 3.9 4.0  3.6 4.2 3.7 3.9
        4.5 4.7 3.7 nan  nan 4.2 3.4 nan  4.3 4.6 4.4 4.9  3.5 nan 3.7 3.9"""
    scores = np.array(times.split(), dtype=float).reshape(9, 4)
    test = compare_scores(scores, missing="keep", over="datasets").omnibus
    assert test.method == "Skillings and Mack"
    assert_allclose([test.statistic, test.pvalue], [15.493, 0.0014], rtol=0, atol=5e-4)
    assert test.pvalue == stats.chi2.sf(test.statistic, 3)
    plain = [[None if np.isnan(score) else score for score in row] for row in scores.tolist()]
    assert_allclose(test.statistic, reference.skillings_mack(plain))
    # a row of two equal scores says nothing, and of the others it is Friedman's, with ties too
    tied = RNG.integers(0, 4, (12, 5)).astype(float)
    expected = stats.friedmanchisquare(*tied.T)
    gaps = np.vstack([tied, [1, 1, np.nan, np.nan, np.nan]])
    found = compare_scores(gaps, missing="keep", over="datasets").omnibus
    assert_allclose([found.statistic, found.pvalue], expected)


def test_pairs_of_kept_scores_are_tested_on_their_own_data_sets():
    scores = RNG.normal(size=(14, 3)) + [0, 0.5, 1]
    scores[RNG.permutation(14)[:5], RNG.integers(0, 3, 5)] = np.nan
    kept = compare_scores(scores, missing="keep", over="datasets")
    for a, b in ((0, 1), (0, 2), (1, 2)):
        both = scores[np.isfinite(scores[:, [a, b]]).all(axis=1)][:, [a, b]]
        alone = compare_scores(both, over="datasets", method="wilcoxon")
        one = kept.names[a], kept.names[b]
        assert_allclose(kept[one].extra.pvalue_alone, alone.to_matrix("pvalue")[0, 1])
        assert_allclose(kept.to_matrix()[a, b], alone.to_matrix()[0, 1])
    assert_allclose(kept.values, np.nanmean(scores, axis=0))
    assert np.all((kept.extra.mean_ranks >= 1) & (kept.extra.mean_ranks <= 3))
    assert "both scores" in str(kept)
    with pytest.raises(ValueError, match="method must be 'wilcoxon' for missing scores"):
        compare_scores(scores, missing="keep", method="nemenyi", over="datasets")
    apart = [[1.0, 2.0, np.nan], [2.0, 1.0, np.nan], [1.0, np.nan, 2.0], [1.0, np.nan, 3.0]]
    with pytest.raises(ValueError, match="got 0 for 'classifier 2' and 'classifier 3'"):
        compare_scores(np.array(apart), missing="keep", over="datasets")


def test_skillings_and_mack_has_its_size():
    """At most 27 of 300 equal tables by a binomial test; 15 are expected."""
    n_rejected = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        scores = rng.normal(size=(15, 4))
        scores[rng.random(scores.shape) < 0.2] = np.nan
        scores = scores[np.isfinite(scores).sum(axis=1) > 1]
        found = compare_scores(scores, missing="keep", over="datasets")
        n_rejected += found.omnibus.pvalue <= 0.05
    assert 5 <= n_rejected <= 27


@pytest.mark.parametrize(
    ("scores", "options", "error", "message"),
    [
        (FRAME.iloc[:, :1], {}, ValueError, "at least two classifiers, got 1"),
        (FRAME[:1], {}, ValueError, "two data sets with scores of both models of each pair, got 1"),
        (FRAME.iloc[:, [0, 0]], {}, ValueError, "different names, got 'C4.5' and 'C4.5'"),
        (FRAME.iloc[[0, 0, 1]], {}, ValueError, "different names, got"),
        (np.zeros((2, 2, 2)), {}, ValueError, "Pass a table with a row"),
        ({"one": [1, 2], "two": [2, 3]}, {}, TypeError, "scores must have a dict of classifiers"),
        ({"x": {"a": {"test_f1": [1]}, "b": 1}}, {}, ValueError, "must have the key 'test_score'"),
        ({"x": {"a": [[1]], "b": 1}}, {}, ValueError, "must contain a finite score for each split"),
        (
            pd.DataFrame({"dataset": [1, 1], "classifier": ["a", "a"], "score": [1.0, 2.0]}),
            {},
            ValueError,
            "or a column 'split', got 2 rows for dataset 1, classifier 'a'",
        ),
    ],
)
def test_bad_input(scores, options, error, message):
    with pytest.raises(error, match=message):
        compare_scores(scores, **options, over="datasets")


def test_a_test_against_the_order_of_mean_ranks_is_reported():
    """26 tiny gains and 24 large losses: the best mean rank has the lower scores."""
    d = np.r_[0.001 + np.arange(26) * 1e-5, -0.2 - np.arange(24) * 0.01]
    scores = np.column_stack([0.7 + d, np.full(50, 0.7)])
    found = compare_scores(scores, over="datasets", random_state=0)
    assert "The test contradicts this order, because classifier 2 scores higher" in found.conclusion
    assert "level 5 %)" in found.conclusion
    clear = compare_scores(0.7 + np.c_[np.full(20, 0.1), np.zeros(20)], over="datasets")
    assert "contradicts" not in clear.conclusion


def test_few_discordant_samples_are_tested_exactly():
    """3 of 3 discordant samples have the exact P of .25, not .043."""
    y = np.zeros(60, dtype=int)
    a, b = y.copy(), np.where(np.arange(60) < 3, 1, 0)
    two = compare_predictions(y, {"a": a, "b": b}, method="max_t", random_state=0)
    assert_allclose(two.difference.pvalue, 0.25)
    one_sided = {"method": "max_t", "alternative": "greater", "random_state": 0}
    assert_allclose(compare_predictions(y, {"a": a, "b": b}, **one_sided).difference.pvalue, 0.125)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("method", ["max_t", "mcnemar", "cochran_q", "delong"])
@pytest.mark.parametrize("n_groups", [2, 3, 4])
def test_groups_that_agree_by_chance_are_no_evidence(n_groups, method):
    """All groups have the same difference, so their spread is 0, and unknown."""
    y, groups = np.tile([0, 0, 0, 1, 1] * 4, n_groups), np.repeat(np.arange(n_groups), 20)
    worse = np.where(np.arange(len(y)) % 10 < 2, 1 - y, y)
    found = compare_predictions(y, {"a": y, "b": worse}, groups=groups, method=method).difference
    assert found.value > 0
    assert np.isnan(found.pvalue)
    assert np.isnan(found.interval.low)


@pytest.mark.parametrize(("metric", "span"), [(None, 1), ("roc_auc", 1), ("matthews_corrcoef", 2)])
def test_a_margin_that_allows_every_difference_is_refused(metric, span):
    y = np.arange(60) % 2
    systems = {"a": y, "b": np.where(np.arange(60) % 5, y, 1 - y)}
    if metric == "roc_auc":
        systems = {name: labels + np.arange(60) / 60 for name, labels in systems.items()}
    with pytest.raises(ValueError, match=f"margin must be below {span}, the range"):
        compare_predictions(y, systems, metric=metric, margin=span, random_state=0)
    assert compare_predictions(y, systems, metric=metric, margin=0.9 * span, random_state=0)


def test_scores_that_differ_by_rounding_alone_are_equal_whatever_the_first_splits_are():
    """Also if these scores are 0, and if there are more systems than splits."""
    rng = np.random.default_rng(0)
    a = np.append(np.zeros(3), rng.uniform(5, 10, 17))
    b = np.where(a > 7, np.nextafter(a, np.inf), a)
    scores = {"a": a, "b": b, "c": np.where(a > 0, a + rng.normal(size=20), 0)}
    with pytest.warns(UndefinedMetricWarning, match="do not vary"):
        found = compare_scores(scores, test_train_ratio=0.1)
    assert found.to_matrix()[0, 1] == 0
    assert found.to_matrix("pvalue")[0, 1] == 1
    assert next(pair.extra.pvalue_alone for pair in found.differences.values()) == 1
    many = {f"system {k}": rng.normal(size=4) for k in range(7)}
    assert np.isfinite(compare_scores(many, test_train_ratio=0.1).to_matrix("low")[0, 6])


def test_a_mean_difference_of_rounding_is_zero():
    a, b = [0.1, 0.7, 0.3, 0.6], [0.3, 0.5, 0.3, 0.6]
    assert np.mean(np.subtract(a, b)) != 0  # 0.7 - 0.5 is 0.19999999999999996
    assert compare_scores({"a": a, "b": b}, test_train_ratio=0.25).difference.value == 0
