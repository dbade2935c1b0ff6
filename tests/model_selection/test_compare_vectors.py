"""Comparisons of what people already have: predictions, scores of splits, translations."""

import math
import pickle
from functools import partial
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sacrebleu import significance
from sacrebleu.metrics import BLEU
from sklearn.datasets import make_classification
from sklearn.metrics import accuracy_score, f1_score, log_loss
from sklearn.model_selection import (
    RepeatedKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from statsmodels.stats.contingency_tables import cochrans_q

from skeval.metrics import bleu_score
from skeval.model_selection import compare_classifiers, compare_predictions, compare_scores

X, Y = make_classification(n_samples=120, n_features=6, n_informative=3, flip_y=0.2, random_state=3)
TREE, BAYES = DecisionTreeClassifier(max_depth=2, random_state=0), GaussianNB()
A, B = (cross_val_predict(model, X, Y, cv=5) for model in (TREE, BAYES))
SCORES_B = cross_val_predict(BAYES, X, Y, cv=5, method="predict_proba")[:, 1]
WORDS = ["the", "a", "cat", "dog", "sat", "lay", "on", "under", "mat", "rug", "and", "it", "was"]


@pytest.mark.parametrize("method", ["mcnemar", "bootstrap"])
def test_vectors_give_what_the_estimators_give(method):
    options = {"method": method, "n_resamples": 4000, "random_state": 0, "alternative": "less"}
    found = compare_predictions(Y, [A, B], **options)
    folds = list(StratifiedKFold(5).split(X, Y))
    expected = compare_classifiers([TREE, BAYES], X, Y, cv=folds, **options)
    assert (found.method, found.scoring) == (expected.method, expected.scoring)
    assert_allclose(found.values, expected.values, rtol=0)
    assert found.difference.value == expected.difference.value
    # bootstraps of counts and of samples have other draws: 5 standard errors of either
    noise = 5 / np.sqrt(2 * 4000) if method == "bootstrap" else 0
    ours, theirs = found.difference, expected.difference
    assert_allclose(ours.standard_error, theirs.standard_error, rtol=2 * noise)
    assert_allclose(ours.pvalue, theirs.pvalue, atol=2 * noise)
    assert_allclose(ours.interval.low, theirs.interval.low, atol=2 * noise * theirs.standard_error)


def f_of_ones(y_true, predicted):
    """The F1 score, without the checks of scikit-learn."""
    return 2 * np.sum(y_true & predicted) / max(np.sum(y_true) + np.sum(predicted), 1)


def test_permutation_is_that_of_all_exchanges():
    y, a, b = Y[:9], A[:9].copy(), B[:9].copy()
    a[:2] = 1 - a[:2]
    differences = []
    for swap in product([False, True], repeat=9):
        first, second = np.where(swap, b, a), np.where(swap, a, b)
        differences.append(f_of_ones(y, first) - f_of_ones(y, second))
    observed = f1_score(y, a) - f1_score(y, b)
    exact = np.mean(np.abs(differences) >= abs(observed) - 1e-12)
    options = {"metric": f_of_ones, "random_state": 0}
    found = compare_predictions(y, [a, b], n_resamples=2000, **options)
    assert_allclose(found.difference.value, observed)
    assert_allclose(found.difference.pvalue, exact, atol=4 * math.sqrt(exact * (1 - exact) / 2000))
    assert found.difference.interval.method == "permutation"
    assert found.scoring == "f_of_ones"
    one_sided = [
        compare_predictions(y, [a, b], n_resamples=400, alternative=side, **options).difference
        for side in ("greater", "less")
    ]
    # what is as large counts for both, and so does the observed one
    ties = sum(np.isclose(one_sided[0].extra.replicates, observed))
    assert_allclose(sum(each.pvalue for each in one_sided), (402 + ties) / 401)


def test_permutation_of_probabilities_and_of_groups():
    proba = [cross_val_predict(m, X, Y, cv=5, method="predict_proba") for m in (TREE, BAYES)]
    found = compare_predictions(Y, proba, metric=log_loss, n_resamples=5, random_state=0)
    assert_allclose(found.values[1], log_loss(Y, proba[1]))
    assert found.scoring == "log_loss"
    groups = np.repeat(np.arange(4), 30)
    options = {"groups": groups, "method": "permutation", "n_resamples": 200, "random_state": 0}
    grouped = compare_predictions(Y, [A, B], **options).difference
    assert len(np.unique(np.round(grouped.extra.replicates, 9))) <= 2**4
    assert len(np.unique(np.abs(np.round(grouped.extra.replicates, 9)))) <= 2**3


def brier(y_true, predicted):
    return -float(np.mean((y_true - predicted) ** 2))


@pytest.mark.parametrize(
    ("y_true", "pred_a", "pred_b", "metric"),
    [
        (np.array(["no", "yes"])[Y], np.array(["no", "yes"])[A], np.full(len(Y), "no"), None),
        (Y, A, SCORES_B, brier),
        (Y, A.astype(bool), B, None),
        (Y, A.astype(np.int8), 1000 * B, brier),
        (np.array(["no", "yes"])[Y], np.array(["no", "yes"], object)[A], np.full(120, "no"), None),
    ],
)
def test_an_exchange_keeps_every_value_whatever_the_types(y_true, pred_a, pred_b, metric):
    """The objects themselves are exchanged, so no value can change on the way."""
    options = {"metric": metric, "n_resamples": 50, "random_state": 0}
    found = compare_predictions(y_true, [pred_a, pred_b], **options).difference
    back = compare_predictions(y_true, [pred_b, pred_a], **options).difference
    wide = [np.array(pred.tolist(), dtype=object) for pred in (pred_a, pred_b)]
    expected = compare_predictions(y_true, wide, **options).difference
    assert_allclose(found.extra.replicates, expected.extra.replicates, rtol=1e-12)
    assert_allclose(back.extra.replicates, -found.extra.replicates, rtol=1e-12)
    assert found.pvalue == expected.pvalue == back.pvalue


def test_corrected_t_of_results_of_cross_validate():
    cv = RepeatedKFold(n_splits=5, n_repeats=2, random_state=0)
    a, b = (cross_validate(m, X, Y, cv=cv, return_indices=True) for m in (TREE, BAYES))
    expected = compare_classifiers([TREE, BAYES], X, Y, cv=cv).difference
    found = compare_scores([a, b])
    for name in ("value", "standard_error", "pvalue"):
        assert_allclose(getattr(found.difference, name), getattr(expected, name))
    assert_allclose(found.difference.extra.pvalue_alone, expected.extra.pvalue_alone)
    by_hand = compare_scores([a["test_score"], list(b["test_score"])], test_train_ratio=0.25)
    assert_allclose(by_hand.difference.pvalue, expected.pvalue)
    with pytest.raises(TypeError, match="cross_validate for each classifier, got only one"):
        compare_scores(a)
    assert str(pickle.loads(pickle.dumps(found))) == str(found)


@pytest.mark.parametrize(
    ("cv", "alike"),
    [
        (StratifiedKFold(5, shuffle=True, random_state=0), True),
        (StratifiedKFold(5, shuffle=True, random_state=1), False),
        (list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, Y))[::-1], False),
        ([(a[1:], b) for a, b in StratifiedKFold(5, shuffle=True, random_state=0).split(X, Y)], 0),
    ],
)
def test_results_of_other_splits_are_not_paired(cv, alike):
    """Where the indices are known: on one data set, and on several."""
    first = StratifiedKFold(5, shuffle=True, random_state=0)
    a = cross_validate(BAYES, X, Y, cv=first, return_indices=True)
    b = cross_validate(TREE, X, Y, cv=cv, return_indices=True)
    datasets = {"one": {"a": a, "b": b}, "two": {"a": 0.5, "b": 0.6}}
    without = {"test_score": b["test_score"]}
    assert compare_scores([a, without], test_train_ratio=0.25).values[1] == b["test_score"].mean()
    if alike:
        pvalues = [compare_scores([a, each]).difference.pvalue for each in (b, without)]
        assert pvalues[0] == pvalues[1]
        table = compare_scores(datasets, over="datasets").extra.scores
        assert table[0, 0] == a["test_score"].mean()
        return
    with pytest.raises(ValueError, match=r"'classifier 2'.* must have the same splits in the"):
        compare_scores([a, b])
    with pytest.raises(ValueError, match=r"scores\['one'\]\['a'\] and .* have the same splits in"):
        compare_scores(datasets, over="datasets")


def test_cochran_equals_statsmodels():
    rng = np.random.default_rng(0)
    rates = {"a": 0.6, "b": 0.7, "c": 0.8}
    guesses = {name: np.where(rng.random(120) < rate, Y, 1 - Y) for name, rate in rates.items()}
    compared = compare_predictions(Y, guesses, method="cochran_q")
    found = compared.omnibus
    right = np.array([guess == Y for guess in guesses.values()]).T.astype(int)
    expected = cochrans_q(right)
    assert_allclose([found.statistic, found.pvalue], [expected.statistic, expected.pvalue])
    assert found.details["n_discordant"] == (right.sum(axis=1) % 3 > 0).sum()
    pairs = compare_predictions(Y, guesses, method="mcnemar")
    assert_allclose(compared.to_matrix("pvalue"), pairs.to_matrix("pvalue"), rtol=0)
    assert f"Cochran's Q: Q = {found.statistic:.4g}" in str(compared)
    same = compare_predictions(Y, {"a": Y, "b": Y}, method="cochran_q")
    assert (same.omnibus.statistic, same.omnibus.pvalue) == (0.0, 1.0)
    two = compare_predictions(Y, {"a": A, "b": B}, method="cochran_q").omnibus
    b, c = ((A == Y) & (B != Y)).sum(), ((A != Y) & (B == Y)).sum()
    assert_allclose(two.statistic, (b - c) ** 2 / (b + c))


def translations(n=60):
    rng = np.random.default_rng(0)
    sentences = [list(rng.choice(WORDS, size=rng.integers(5, 12))) for _ in range(n)]

    def garble(rate):
        return [
            " ".join(rng.choice(WORDS) if rng.random() < rate else word for word in sentence)
            for sentence in sentences
        ]

    return [" ".join(sentence) for sentence in sentences], garble(0.3), garble(0.36)


def test_bleu_equals_sacrebleu():
    """Its resamples and exchanges, drawn by its generator, give its P-values."""
    references, a, b = translations()
    metric = BLEU(tokenize="none", smooth_method="none", references=[references])
    true, first, second = map(np.array, (references, a, b))

    def differ(first, second, rows=slice(None)):
        own = true[rows].tolist()
        return bleu_score(own, first[rows].tolist()) - bleu_score(own, second[rows].tolist())

    options = {"metric": bleu_score, "n_resamples": 400, "random_state": 0}
    found = compare_predictions(references, {"a": a, "b": b}, method="bootstrap", **options)
    difference = found.difference.value
    assert found.scoring == "bleu_score"
    assert_allclose(found.values[0], metric.corpus_score(a, None).score / 100)
    systems = [("a", a), ("b", b)]
    for kind in ("bs", "ar"):
        test = significance.PairedTest(
            systems, {"BLEU": metric}, None, test_type=kind, n_samples=300, n_jobs=1
        )
        _, theirs = test()
        rng = np.random.default_rng(test._seed if hasattr(test, "_seed") else 12345)
        if kind == "bs":
            drawn = rng.choice(60, size=(300, 60), replace=True)
            sizes = np.abs([differ(first, second, rows) for rows in drawn])
            reached = sizes - sizes.mean()
        else:
            swaps = rng.integers(2, size=(300, 60), dtype=bool)
            pairs = [(np.where(s, second, first), np.where(s, first, second)) for s in swaps]
            reached = np.abs([differ(*pair) for pair in pairs])
        expected = (1 + np.sum(reached > abs(difference) + 1e-12)) / 301
        assert_allclose(theirs["BLEU"][1].p_value, expected)


def test_bleu_is_a_metric_like_others():
    """Its counts are resampled; resamples of the text itself have the same scores."""
    references, a, b = translations()

    def compare(metric=bleu_score, predictions=(a, b), **options):
        options = {"n_resamples": 400, "random_state": 0} | options
        return compare_predictions(references, list(predictions), metric=metric, **options)

    def plain_bleu(y_true, predicted):
        return bleu_score(y_true.tolist(), predicted.tolist())

    both = [compare(method=method).difference for method in ("bootstrap", "permutation")]
    for method, counted in zip(("bootstrap", "permutation"), both, strict=True):
        slow = compare(plain_bleu, (np.array(a), np.array(b)), method=method, n_resamples=30)
        assert_allclose(slow.difference.extra.replicates, counted.extra.replicates[:30], rtol=1e-12)
    short = compare(partial(bleu_score, max_order=2), (a, b, references))
    assert short.scoring == "bleu_score"
    assert short.best == ("prediction 3",)
    assert_allclose(short.values[1], bleu_score(references, b, max_order=2))
    for options, message in (
        ({"max_order": 0}, "max_order"),
        ({"smoothing_value": 1.0}, "smoothing_value must be None"),
    ):
        with pytest.raises(ValueError, match=message):
            compare(partial(bleu_score, **options))
    with pytest.raises(ValueError, match="sample_weight must be None for bleu_score"):
        compare(sample_weight=np.ones(60))


def test_weights_count_as_repeats_of_samples():
    """With the same exchanges of whole samples a weight of 3 is a sample given three times."""
    weight = np.random.default_rng(0).integers(1, 4, len(Y))
    repeated = np.repeat(np.arange(len(Y)), weight)
    options = {"method": "permutation", "n_resamples": 60, "random_state": 0}
    for metric in (None, accuracy_score):
        found = compare_predictions(Y, [A, B], metric=metric, sample_weight=weight, **options)
        given = [each[repeated] for each in (A, B)]
        groups = {"groups": repeated, "metric": metric}
        expected = compare_predictions(Y[repeated], given, **groups, **options)
        assert_allclose(found.values, expected.values)
        one, other = found.difference, expected.difference
        assert_allclose(one.extra.replicates, other.extra.replicates, atol=1e-12)
        assert_allclose([one.interval.low, one.pvalue], [other.interval.low, other.pvalue])
    with pytest.raises(ValueError, match="sample_weight must be None for method='mcnemar'"):
        compare_predictions(Y, [A, B], method="mcnemar", sample_weight=weight)


def test_what_weighs_nothing_is_not_compared():
    values = np.random.default_rng(0).normal(size=(2, 30))
    weight = np.where(np.arange(30) < 12, np.linspace(1, 2, 30), 0.0)
    found = compare_predictions(None, list(values), sample_weight=weight).difference
    alone = compare_predictions(None, list(values[:, :12]), sample_weight=weight[:12]).difference
    assert_allclose(
        [found.standard_error, found.pvalue, found.interval.low],
        [alone.standard_error, alone.pvalue, alone.interval.low],
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compare_predictions(Y, [A[:-1], B]), r"y_true and predictions\[0\] must have the"),
        (lambda: compare_predictions(Y, [A, B[:-1]]), r"y_true and predictions\[1\] must have the"),
        (
            lambda: compare_predictions(Y, [A, B], method="mcnemar", metric=accuracy_score),
            "metric must be None for",
        ),
        (lambda: compare_predictions(Y, [A, B], method="t"), "method must be one of"),
        (lambda: compare_predictions(Y, [A, B], alternative="more"), "alternative must be one of"),
        (
            lambda: compare_predictions(Y * 0, [A, B], method="delong"),
            "y_true must have at least two",
        ),
        (
            lambda: compare_predictions(Y, [A, np.where(B, np.inf, 0)], method="delong"),
            r"predictions\[1\] must contain finite scores",
        ),
        (lambda: compare_scores([[1, 2], [1, 2]]), "test_train_ratio must be passed"),
        (
            lambda: compare_scores([[1, 2], [1, 2]], test_train_ratio=0),
            "test_train_ratio must be a",
        ),
        (
            lambda: compare_scores([[1, 2], [1]], test_train_ratio=1),
            "same number of splits, got 2 and 1",
        ),
        (lambda: compare_scores([[1], [1]], test_train_ratio=1), "at least two splits, got 1"),
        (
            lambda: compare_scores(np.ones((5, 2)), over="datasets", test_train_ratio=1),
            "test_train_ratio must be None",
        ),
        (lambda: compare_scores([[1, np.nan], [1, 2]], test_train_ratio=1), "no missing scores"),
        (
            lambda: compare_predictions(Y, {"a": A, "b": B[:-1]}, method="cochran_q"),
            "must have the same length",
        ),
        (
            lambda: compare_predictions(["a b"], [["a b"], ["a b"]], metric=bleu_score),
            "at least two sentences, got 1",
        ),
        (
            lambda: compare_predictions(["a b"] * 2, [["a"] * 2, ["a"]], metric=bleu_score),
            r"predictions\[1\]: references must have",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


TEXT = np.array(["0", "1"])


@pytest.mark.parametrize("read", [list, TEXT.__getitem__, lambda y: y.astype(float), np.bool_])
def test_labels_count_by_what_they_say_and_not_by_their_type(read):
    truth, a, b = read(Y), read(A), np.array(read(B)).astype(object)
    plain = compare_predictions(Y, [A, B], method="cochran_q")
    found = compare_predictions(truth, [a, b], method="cochran_q")
    for name in ("pvalue_alone", "only_a", "only_b"):
        assert getattr(found.difference.extra, name) == getattr(plain.difference.extra, name)
    assert found.omnibus.pvalue == plain.omnibus.pvalue


@pytest.mark.parametrize("predictions", [A, [A], {"a": A}, np.array([A, B]), {1: A, 2: B}])
def test_predictions_are_two_at_least(predictions):
    with pytest.raises(TypeError, match="predictions must"):
        compare_predictions(Y, predictions)
