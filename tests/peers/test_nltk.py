"""The examples in nltk's docstrings of BLEU."""

import doctest

import pytest
from nltk.translate import bleu_score as nltk_bleu

from skeval.metrics import bleu_score, sentence_bleu_score


def options_of(weights):
    return {"max_order": len(weights), "weights": weights}


def served(weights, smoothing_function):
    """Whether ours has the options: one set of weights, and no smoothing of nltk's own."""
    return smoothing_function is None and isinstance(weights[0], float)


def sentence_bleu(references, hypothesis, weights=(0.25,) * 4, smoothing_function=None):
    if not served(weights, smoothing_function):
        return nltk_bleu.sentence_bleu(references, hypothesis, weights, smoothing_function)
    return sentence_bleu_score(references, hypothesis, **options_of(weights))


def corpus_bleu(list_of_references, hypotheses, weights=(0.25,) * 4, smoothing_function=None):
    if not served(weights, smoothing_function):
        return nltk_bleu.corpus_bleu(list_of_references, hypotheses, weights, smoothing_function)
    return bleu_score(list_of_references, hypotheses, **options_of(weights))


@pytest.mark.parametrize("ours", [sentence_bleu, corpus_bleu])
def test_examples(ours):
    swapped = vars(nltk_bleu) | {"sentence_bleu": sentence_bleu, "corpus_bleu": corpus_bleu}
    theirs = getattr(nltk_bleu, ours.__name__)
    (examples,) = doctest.DocTestFinder(recurse=False).find(
        theirs, ours.__name__, module=nltk_bleu, globs=swapped
    )
    assert any(ours.__name__ in example.source for example in examples.examples)
    failed, attempted = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples)
    assert attempted > 0
    assert failed == 0
