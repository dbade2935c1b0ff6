"""BLEU against its reference implementation and sacrebleu."""

import math
import warnings

import numpy as np
import pytest
import sacrebleu
from helpers.crossed import each_value
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import bleu as reference
from sklearn.exceptions import UndefinedMetricWarning

from skeval.metrics import bleu_score, log_bleu_score, sentence_bleu_score

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


def test_empty_hypotheses():
    references, hypotheses = corpus()
    assert sentence_bleu_score(references[0], "") == 0.0
    assert bleu_score(["a b", ""], ["", ""]) == 0.0
    hypotheses[3] = ""
    got = bleu_score(references, hypotheses)
    assert_allclose(got, sacre(references, hypotheses, None), rtol=0, atol=1e-10)
    assert bleu_score([["", "a b"]], ["a"], max_order=1, weights=[1]) == 1.0


def test_hypotheses_shorter_than_the_order_are_undefined():
    with pytest.warns(UndefinedMetricWarning, match="no hypothesis has 4 tokens"):
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
        (["a"], ["a", "b"], ValueError, "each of the 2 hypotheses, got 1[.]"),
        ([["a", "b", "c"], ["d", "e", "f"]], ["a", "b", "c"], ValueError, "transposes them"),
        ([["a"], []], ["a", "b"], ValueError, r"references\[1\] must contain at least one"),
        ([["a"], None], ["a", "b"], ValueError, r"references\[1\] must contain .* got None"),
        ("a b", "a b", TypeError, "sentence_bleu_score is for a single sentence"),
        (["a b"], 3, TypeError, "hypotheses must have one entry per sentence, got int"),
        ([["the", "cat"]], [["the", "cat"]], ValueError, "must be of the same type"),
        ([[["the", "cat"]]], ["the cat"], ValueError, "must be of the same type"),
        (["a b"], [None], ValueError, "must be of the same type"),
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
