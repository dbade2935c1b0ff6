"""BLEU against its reference implementation, sacrebleu and nltk."""

import math
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
import sacrebleu
from helpers.crossed import each_value
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu, sentence_bleu
from numpy.testing import assert_allclose
from reference import bleu as reference
from sklearn.exceptions import UndefinedMetricWarning

from skeval.metrics import bleu_score, log_bleu_score, sentence_bleu_score
from skeval.metrics._text import bleu_statistics
from skeval.model_selection import metric_interval

SMOOTHINGS = [None, "add-k", "floor", "exp"]


def corpus(n=30, n_references=3, seed=0, n_words=12, change=0.3):
    """Sentences of 4 to 14 words that share most of them; reference lengths often tie."""
    rng = np.random.default_rng(seed)
    hypotheses, references = [], []
    for length in rng.integers(4, 15, size=n):
        words = rng.integers(0, n_words, size=length)
        hypotheses.append(" ".join(f"w{w}" for w in words))
        own = []
        for _ in range(n_references):
            noisy = np.where(rng.random(length) < change, rng.integers(0, n_words, length), words)
            own.append(" ".join(f"w{w}" for w in np.resize(noisy, length + rng.integers(-2, 3))))
        references.append(own)
    return references, hypotheses


def sacre(references, hypotheses, smoothing, value=None, max_order=4, effective=False):
    metric = sacrebleu.BLEU(
        tokenize="none",
        smooth_method=smoothing or "none",
        smooth_value=value,
        max_ngram_order=max_order,
        effective_order=effective,
    )
    transposed = [list(row) for row in zip(*references, strict=True)]
    return metric.corpus_score(hypotheses, transposed).score / 100


@each_value
@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("n_references", [1, 2, 4])
@pytest.mark.parametrize("max_order", [1, 4, 6])
def test_equals_sacrebleu(smoothing, n_references, max_order):
    references, hypotheses = corpus(n_references=n_references)
    expected = sacre(references, hypotheses, smoothing, max_order=max_order)
    got = bleu_score(references, hypotheses, smoothing=smoothing, max_order=max_order)
    assert 0 < expected < 1
    assert_allclose(got, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_equals_sacrebleu_where_orders_have_no_match(smoothing):
    references, hypotheses = corpus(n=3, n_references=2, n_words=40, change=0.7, seed=3)
    matches = bleu_statistics(references, hypotheses).sum(axis=0)[2:6]
    assert matches[0] > 0
    assert (matches == 0).sum() >= 2  # "exp" must halve twice
    largest = 1.0 if smoothing == "floor" else 2.5
    for value in (None,) if smoothing in (None, "exp") else (None, 0.01, largest):
        got = bleu_score(references, hypotheses, smoothing=smoothing, smoothing_value=value)
        assert_allclose(got, sacre(references, hypotheses, smoothing, value), rtol=0, atol=1e-10)


def test_ties_in_reference_length_take_the_shorter():
    hypothesis, references = "a b c d e", ["a b c d", "a b c d e f"]
    assert bleu_statistics([references], [hypothesis])[0, :2].tolist() == [5, 4]
    assert bleu_statistics([references[::-1]], [hypothesis])[0, :2].tolist() == [5, 4]
    for order in (references, references[::-1]):
        assert_allclose(sentence_bleu_score(order, hypothesis), sacre([order], [hypothesis], None))


@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from("abc"), max_size=8),
            st.lists(st.lists(st.sampled_from("abc"), max_size=8), min_size=1, max_size=3),
        ),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(SMOOTHINGS),
    st.integers(1, 5),
)
def test_equals_the_reference_implementation(pairs, smoothing, max_order):
    hypotheses, references = [p[0] for p in pairs], [p[1] for p in pairs]
    for row, hypothesis, own in zip(
        bleu_statistics(references, hypotheses, max_order=max_order),
        hypotheses,
        references,
        strict=True,
    ):
        assert row.tolist() == reference.statistics(own, hypothesis, max_order)
    value = {"add-k": 0.7, "floor": 0.2}.get(smoothing)
    weights = np.arange(max_order) + (max_order == 1)  # the first order weighs nothing
    weights = weights / weights.sum()
    expected = reference.log_bleu(references, hypotheses, max_order, weights, smoothing, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        got = log_bleu_score(
            references,
            hypotheses,
            max_order=max_order,
            weights=weights,
            smoothing=smoothing,
            smoothing_value=value,
        )
    assert_allclose(got, expected, rtol=1e-12, atol=1e-14)


def test_blocks_long_sentences_and_many_words():
    """More sentences than a block, one of them so long that n-grams are numbered anew."""
    rng = np.random.default_rng(5)
    references, hypotheses = corpus(n=1100, n_references=1, seed=6)
    for _ in range(2):
        words = rng.integers(0, 20_000, size=30_000)
        hypotheses.append(" ".join(map(str, words)))
        noisy = np.where(rng.random(30_000) < 0.2, rng.integers(0, 20_000, 30_000), words)
        references.append([" ".join(map(str, noisy))])
    got = bleu_score(references, hypotheses, max_order=5)
    assert_allclose(got, sacre(references, hypotheses, None, max_order=5), rtol=0, atol=1e-10)


SHORT = st.lists(
    st.tuples(*[st.lists(st.sampled_from("abc"), max_size=5).map(" ".join)] * 3),
    min_size=1,
    max_size=3,
)


@given(SHORT, st.sampled_from(SMOOTHINGS), st.integers(1, 5), st.booleans())
def test_effective_order_is_sacrebleus(triples, smoothing, max_order, effective):
    references, hypotheses = [list(t[1:]) for t in triples], [t[0] for t in triples]
    options = {"smoothing": smoothing, "max_order": max_order, "effective_order": effective}
    expected = sacre(references, hypotheses, smoothing, None, max_order, effective)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        assert_allclose(bleu_score(references, hypotheses, **options), expected, atol=1e-10)
        logarithm = log_bleu_score(references, hypotheses, **options)
        assert_allclose(math.exp(logarithm), expected, atol=1e-10)


@given(SHORT, st.sampled_from(SMOOTHINGS))
def test_a_sentence_has_the_effective_order_as_in_sacrebleu(triples, smoothing):
    hypothesis, *references = triples[0]
    expected = sacrebleu.sentence_bleu(
        hypothesis, references, tokenize="none", smooth_method=smoothing or "none"
    )
    got = sentence_bleu_score(references, hypothesis, smoothing=smoothing)
    assert_allclose(got, expected.score / 100, atol=1e-10)
    if hypothesis:
        assert sentence_bleu_score(hypothesis, hypothesis, smoothing=smoothing) == 1.0


@given(SHORT, st.sampled_from(["add-k", "floor"]), st.floats(1e-3, 1), st.booleans())
def test_no_smoothing_lifts_bleu_above_one(triples, smoothing, value, effective):
    references, hypotheses = [list(t[1:]) for t in triples], [t[0] for t in triples]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        got = bleu_score(
            references,
            hypotheses,
            smoothing=smoothing,
            smoothing_value=value,
            effective_order=effective,
        )
    assert 0 <= got <= 1


def test_weights_of_the_effective_order():
    # Two words: P1 = 1, P2 = 1; of the weights .1 and .3 remains nothing but their ratio.
    options = {"weights": [0.1, 0.3, 0.6], "max_order": 3}
    got = sentence_bleu_score("a b c", "a b", **options)
    assert_allclose(got, math.exp(1 - 3 / 2))
    # P1 = 1/2, P2 = (0 + 1) / (1 + 1): geometric mean with weights 1/4 and 3/4
    got = sentence_bleu_score(["a c"], "a b", smoothing="exp", **options)
    assert_allclose(got, 0.5**0.25 * 0.5**0.75)
    with pytest.warns(UndefinedMetricWarning, match="No hypothesis has"):
        assert sentence_bleu_score("a b", "a b", weights=[0, 0, 1], max_order=3) == 0.0


def test_metric_interval_hands_the_effective_order_on():
    references, hypotheses = corpus(n=12, n_references=1)
    references, hypotheses = (
        [r[0].split()[:2] for r in references],
        [h.split()[:2] for h in hypotheses],
    )
    metric = partial(bleu_score, effective_order=True, smoothing="exp")
    wrapped = [[r] for r in references]
    result = metric_interval(metric, wrapped, hypotheses, n_resamples=100, random_state=0)
    assert_allclose(result.value, metric(wrapped, hypotheses), rtol=1e-12)


def test_nltk_agrees_where_every_order_has_a_match():
    references, hypotheses = corpus(n_references=2)
    tokens = [[r.split() for r in own] for own in references]
    for weights in ((0.25,) * 4, (0.5, 0.3, 0.2), (1.0,)):
        expected = corpus_bleu(tokens, [h.split() for h in hypotheses], weights=weights)
        got = bleu_score(references, hypotheses, max_order=len(weights), weights=weights)
        assert_allclose(got, expected, rtol=0, atol=1e-10)
    methods = SmoothingFunction(epsilon=0.1)
    for smoothing, method in (("floor", methods.method1), ("add-k", methods.method2)):
        one = list("abcde"), list("abxcdy")
        expected = sentence_bleu([one[0]], one[1], smoothing_function=method)
        got = sentence_bleu_score([one[0]], one[1], smoothing=smoothing)
        assert_allclose(got, expected, rtol=0, atol=1e-10)


def test_by_hand():
    # c = 5, r = 6; p = 4/5, 2/4, 1/3 (a b c); BP = exp(1 - 6/5).
    got = sentence_bleu_score("a b c x d y", "a b c d z", max_order=3)
    assert_allclose(got, math.exp(-0.2) * (4 / 5 * 2 / 4 * 1 / 3) ** (1 / 3))
    # "the" occurs twice in the reference: 2 of 7 match.
    assert_allclose(
        sentence_bleu_score("the cat is on the mat", "the the the the the the the", max_order=1),
        2 / 7,
    )


def test_range_and_identity():
    references, hypotheses = corpus()
    assert bleu_score(hypotheses, hypotheses) == 1.0
    assert log_bleu_score(hypotheses, hypotheses) == 0.0
    assert bleu_score(["a b c d"], ["w x y z"]) == 0.0
    assert log_bleu_score(["a b c d"], ["w x y z"], smoothing="floor") == -math.inf
    assert_allclose(
        math.log(bleu_score(references, hypotheses)), log_bleu_score(references, hypotheses)
    )
    assert type(bleu_score(references, hypotheses)) is float


def test_kinds_of_input():
    references, hypotheses = corpus(n_references=1)
    expected = bleu_score(references, hypotheses)
    flat = [own[0] for own in references]
    assert bleu_score(flat, hypotheses) == expected
    assert bleu_score(tuple(flat), np.array(hypotheses)) == expected
    assert bleu_score(pd.Series(flat, index=range(5, 35)), pd.Series(hypotheses)) == expected
    assert bleu_score(np.array(references), hypotheses) == expected
    tokens = [[r.split()] for r in flat]
    assert bleu_score(tokens, [h.split() for h in hypotheses]) == expected
    letters = bleu_score(["ab cd"], ["ab cd"], tokenize=list, max_order=5)
    assert letters == 1.0
    upper = [h.upper() for h in hypotheses]
    assert bleu_score(flat, upper, tokenize=lambda s: s.lower().split()) == expected


def test_empty_hypotheses():
    references, hypotheses = corpus()
    assert sentence_bleu_score(references[0], "") == 0.0
    assert bleu_score(["a b", ""], ["", ""]) == 0.0
    hypotheses[3] = ""
    got = bleu_score(references, hypotheses)
    assert_allclose(got, sacre(references, hypotheses, None), rtol=0, atol=1e-10)
    assert bleu_statistics([["", "a b"]], ["a"], max_order=1).tolist() == [[1, 0, 1, 1]]


def test_hypotheses_shorter_than_the_order_are_undefined():
    with pytest.warns(UndefinedMetricWarning, match="No hypothesis has 4 tokens"):
        assert sentence_bleu_score("a b c", "a b c", effective_order=False) == 0.0
    assert sentence_bleu_score("a b c", "a b c") == 1.0
    assert sentence_bleu_score("a b c", "a b c", max_order=3) == 1.0
    assert sentence_bleu_score("a b c", "a b c", weights=[0.5, 0.5, 0, 0]) == 1.0
    # add-k of sacrebleu: (0 + 1) / (0 + 1) for the order that does not occur.
    got = sentence_bleu_score("a b c", "a b c", smoothing="add-k")
    assert_allclose(got, sacre([["a b c"]], ["a b c"], "add-k"))


@pytest.mark.parametrize(
    ("references", "hypotheses", "error", "message"),
    [
        ([], [], ValueError, "at least one sentence, got none"),
        (["a"], ["a", "b"], ValueError, r"each of the 2 hypotheses, got 1\.$"),
        ([["a", "b", "c"], ["d", "e", "f"]], ["a", "b", "c"], ValueError, "look transposed"),
        ([["a"], []], ["a", "b"], ValueError, r"references\[1\] must hold at least one"),
        ([["a"], None], ["a", "b"], ValueError, r"references\[1\] must hold .* got None"),
        ("a b", "a b", TypeError, "sentence_bleu_score is for a single sentence"),
        (["a b"], 3, TypeError, "hypotheses must hold one entry per sentence, got int"),
        ([["the", "cat"]], [["the", "cat"]], ValueError, "must be of one kind"),
        ([[["the", "cat"]]], ["the cat"], ValueError, "must be of one kind"),
        (["a b"], [None], ValueError, "must be of one kind"),
        ([[["a", 1]]], [["a", "b"]], TypeError, "hypotheses\\[0\\] and each .* string tokens"),
        ([[["a", "b"]]], [["a", None]], TypeError, "hypotheses\\[0\\] and each .* string tokens"),
        ([[5]], [["a"]], TypeError, "string tokens, got 5"),
        ([[[["a"]]]], [["a"]], TypeError, "string tokens"),
    ],
)
def test_bad_sentences(references, hypotheses, error, message):
    with pytest.raises(error, match=message):
        bleu_score(references, hypotheses)


def test_a_tokenizer_must_return_strings():
    with pytest.raises(TypeError, match="string tokens"):
        bleu_score(["a"], ["a"], tokenize=lambda s: [1, 2])
    with pytest.raises(TypeError, match="string tokens"):
        bleu_score(["a"], ["a"], tokenize=lambda s: None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_order": 0}, "'max_order' parameter"),
        ({"weights": [0.5, 0.5]}, "weights must be 4 numbers"),
        ({"weights": [0.5, 0.5, 0.5, -0.5]}, "weights must be 4 numbers >= 0"),
        ({"weights": [0.5, 0.5, 0.5, 0.5]}, "sum to 1, got 2.0"),
        ({"smoothing": "none"}, "'smoothing' parameter"),
        ({"smoothing": "exp", "smoothing_value": 1.0}, "no meaning for smoothing='exp'"),
        ({"smoothing_value": 1.0}, "no meaning for smoothing=None"),
        ({"smoothing": "floor", "smoothing_value": 0.0}, "'smoothing_value' parameter"),
        ({"smoothing": "floor", "smoothing_value": 1.01}, "<= 1 for smoothing='floor', got 1.01"),
        ({"effective_order": 3}, "'effective_order' parameter"),
        ({"tokenize": "13a"}, "'tokenize' parameter"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        bleu_score(["a b c d"], ["a b c d"], **options)
    with pytest.raises(ValueError, match=message):
        sentence_bleu_score("a b c d", "a b c d", **options)
