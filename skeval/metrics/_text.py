"""BLEU, of a corpus and of a sentence.

Sentences are checked and split into tokens; a word is then a number within its sentence, an n-gram
a number made of words, so that no text is hashed twice and counting is sorting integers. All
numbers are exact.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skeval.utils._checks import check_count, check_data, warn_undefined
from skeval.utils._compat import Interval, StrOptions, validate_params

__all__ = [
    "BLEU_CONSTRAINTS",
    "Smoothing",
    "Sums",
    "Tokenizer",
    "bleu_options",
    "bleu_score",
    "bleu_statistics",
    "find_sums",
    "log_bleu",
    "log_bleu_score",
    "sentence_bleu_score",
]

Floats = NDArray[np.float64]
Smoothing = Literal["add-k", "floor", "exp"] | None
_SMOOTHING_DEFAULT = {"add-k": 1.0, "floor": 0.1}
BLEU_CONSTRAINTS: dict[str, list[object]] = {
    "max_order": [Interval(Integral, 1, None, closed="left")],
    "weights": ["array-like", None],
    "smoothing": [StrOptions({"add-k", "floor", "exp"}), None],
    "smoothing_value": [Interval(Real, 0, None, closed="neither"), None],
    "effective_order": ["boolean"],
    "tokenize": [callable, None],
}


@validate_params(BLEU_CONSTRAINTS)
def log_bleu_score(
    references: Sequence[Any],
    hypotheses: Sequence[Any],
    *,
    max_order: int = 4,
    weights: ArrayLike | None = None,
    smoothing: Smoothing = None,
    smoothing_value: float | None = None,
    effective_order: bool = False,
    tokenize: Tokenizer | None = None,
) -> float:
    r"""Logarithm of the BLEU of a corpus.

    .. math:: \log BLEU = \min(1 - r/c,\ 0) + \sum_{n=1}^N w_n \log p_n

    with the terms of `bleu_score`. In :math:`[-\infty, 0]`; 0 is best. Sums of logarithms keep
    scores apart that are too small for a difference of BLEU to show.

    Parameters
    ----------
    references : sequence of length n_sentences
        The references of each hypothesis, as for `bleu_score`.
    hypotheses : sequence of length n_sentences
        The sentences to judge, as for `bleu_score`.
    max_order : int, default=4
        The largest order `N` of n-grams.
    weights : array-like of shape (max_order,), default=None
        Weights of the orders, summing to 1; None is ``1 / max_order`` each.
    smoothing : {"add-k", "floor", "exp"}, default=None
        As for `bleu_score`.
    smoothing_value : float, default=None
        As for `bleu_score`.
    effective_order : bool, default=False
        As for `bleu_score`.
    tokenize : callable, default=None
        As for `bleu_score`.

    Returns
    -------
    score : float
        The natural logarithm of BLEU.

    Raises
    ------
    ValueError, TypeError
        As `bleu_score`.

    References
    ----------
    .. [1] Papineni, K., Roukos, S., Ward, T. and Zhu, W.-J. (2002). BLEU: a method for automatic
       evaluation of machine translation. ACL 2002, 311-318. https://doi.org/10.3115/1073083.1073135

    Examples
    --------
    >>> from skeval.metrics import log_bleu_score
    >>> log_bleu_score(["the cat sat on the mat"], ["the cat sat on the mat"])
    0.0
    """
    options = max_order, weights, smoothing, smoothing_value, effective_order
    return _log_bleu_of_corpus(references, hypotheses, tokenize, *options)


@validate_params(BLEU_CONSTRAINTS)
def bleu_score(
    references: Sequence[Any],
    hypotheses: Sequence[Any],
    *,
    max_order: int = 4,
    weights: ArrayLike | None = None,
    smoothing: Smoothing = None,
    smoothing_value: float | None = None,
    effective_order: bool = False,
    tokenize: Tokenizer | None = None,
) -> float:
    r"""BLEU of a corpus: how much of the n-grams of hypotheses the references share.

    .. math:: BLEU = BP\ \exp \sum_{n=1}^N w_n \log p_n, \quad
              p_n = \frac{\sum_i \sum_g \min\bigl(h_g(c_i), \max_j h_g(s_{ij})\bigr)}
                         {\sum_i \sum_g h_g(c_i)}, \quad
              BP = \min\bigl(1, e^{1 - r/c}\bigr)

    with :math:`h_g(s)` how often the n-gram `g` occurs in `s`, the inner sums over n-grams of
    order `n`, `c` the total length of the hypotheses :math:`c_i`, and `r` the sum of the lengths
    of their closest references (ties: the shorter). In [0, 1]; 1 is best, 0 worst.

    Parameters
    ----------
    references : sequence of length n_sentences
        ``references[i]`` is the list of references of ``hypotheses[i]``; a single string is one
        reference. Of the same kind as the hypotheses: strings, or lists of tokens, so that one
        tokenised reference is ``[["the", "cat"]]``.
    hypotheses : sequence of length n_sentences
        The sentences to judge: strings, or lists of tokens.
    max_order : int, default=4
        The largest order `N` of n-grams.
    weights : array-like of shape (max_order,), default=None
        The :math:`w_n`, summing to 1; None is ``1 / max_order`` each.
    smoothing : {"add-k", "floor", "exp"}, default=None
        What becomes of orders without a match, as in [2]_: "add-k" adds `k` to matches and totals
        of the orders above 1, "floor" puts a small number of matches in place of 0, "exp" puts
        1/2, 1/4, ... in place of the first, second, ... 0. Without any match at any order BLEU is
        0 all the same.
    smoothing_value : float, default=None
        `k` of "add-k", by default 1, or the number of matches of "floor", by default 0.1, at most
        1: no match cannot count more than one.
    effective_order : bool, default=False
        Leave out the orders of which no hypothesis has an n-gram; the weights of the others are
        divided by their sum.
    tokenize : callable, default=None
        From a string to a list of tokens; None splits at white space.

    Returns
    -------
    score : float
        A fraction. If no hypothesis is as long as `max_order` tokens, 0 with
        `UndefinedMetricWarning`, unless `effective_order`; if all are empty, 0.

    Raises
    ------
    ValueError
        If the lengths differ, as where references are transposed; if there is no sentence or a
        sentence without references; if strings and token lists are mixed; if weights do not fit.
    TypeError
        If a token or sentence is not a string.

    Notes
    -----
    The value equals ``sacrebleu.corpus_bleu(hypotheses, transposed_references,
    tokenize="none").score / 100`` with the `smooth_method` of the same name ("none" for None).
    References in sacrebleu's order, one list per set of references, are refused where their number
    gives them away; for `n` sentences with `n` references each it does not.

    References
    ----------
    .. [1] Papineni, K., Roukos, S., Ward, T. and Zhu, W.-J. (2002). BLEU: a method for automatic
       evaluation of machine translation. ACL 2002, 311-318. https://doi.org/10.3115/1073083.1073135
    .. [2] Chen, B. and Cherry, C. (2014). A systematic comparison of smoothing techniques for
       sentence-level BLEU. WMT 2014, 362-367. https://doi.org/10.3115/v1/W14-3346

    Examples
    --------
    >>> from skeval.metrics import bleu_score
    >>> references = [["the cat sat on the mat", "a cat was on the mat"], "it is raining now"]
    >>> hypotheses = ["the cat sat on a mat", "it is raining"]
    >>> print(f"{bleu_score(references, hypotheses):.4f}")
    0.5501
    """
    options = max_order, weights, smoothing, smoothing_value, effective_order
    return float(np.exp(_log_bleu_of_corpus(references, hypotheses, tokenize, *options)))


@validate_params(BLEU_CONSTRAINTS)
def sentence_bleu_score(
    references: Any,
    hypothesis: Any,
    *,
    max_order: int = 4,
    weights: ArrayLike | None = None,
    smoothing: Smoothing = None,
    smoothing_value: float | None = None,
    effective_order: bool = True,
    tokenize: Tokenizer | None = None,
) -> float:
    """BLEU of one sentence: of a corpus that holds nothing else.

    In [0, 1]; 1 is best, 0 worst. Without smoothing most sentences have no match of order 4 and
    score 0; a sentence of fewer words is judged by the orders that it has. The BLEU of a corpus is
    not the mean of those of its sentences.

    Parameters
    ----------
    references : str, or list of str or of lists of tokens
        The references of the sentence.
    hypothesis : str or list of str
        The sentence to judge, or its tokens.
    max_order : int, default=4
        The largest order of n-grams.
    weights : array-like of shape (max_order,), default=None
        Weights of the orders, summing to 1; None is ``1 / max_order`` each.
    smoothing : {"add-k", "floor", "exp"}, default=None
        As for `bleu_score`.
    smoothing_value : float, default=None
        As for `bleu_score`.
    effective_order : bool, default=True
        As for `bleu_score`, where it is False by default.
    tokenize : callable, default=None
        As for `bleu_score`.

    Returns
    -------
    score : float
        A fraction.

    Raises
    ------
    ValueError, TypeError
        As `bleu_score`.

    Notes
    -----
    The value equals the ``score / 100`` of ``sacrebleu.sentence_bleu(hypothesis, references,
    tokenize="none")`` with the `smooth_method` of the same name; it too has the effective order by
    default.

    References
    ----------
    .. [1] Chen, B. and Cherry, C. (2014). A systematic comparison of smoothing techniques for
       sentence-level BLEU. WMT 2014, 362-367. https://doi.org/10.3115/v1/W14-3346

    Examples
    --------
    >>> from skeval.metrics import sentence_bleu_score
    >>> reference = "the cat sat on the mat"
    >>> print(f"{sentence_bleu_score(reference, 'a cat sat on a mat', smoothing='exp'):.4f}")
    0.3247
    """
    options = max_order, weights, smoothing, smoothing_value, effective_order
    return float(np.exp(_log_bleu_of_corpus([references], [hypothesis], tokenize, *options)))


class Sums(NamedTuple):
    """A score of a corpus: what it needs of each sentence, and the function of the sums of that."""

    read: Callable[[Any, Any], NDArray[np.int64]]
    score: Callable[[NDArray[np.int64]], float]


def find_sums(metric: Any) -> Sums | None:
    """Return how a score of text counts, with options that `partial` fixes; None for others."""
    fixed = metric.keywords if isinstance(metric, partial) else {}
    function = metric.func if isinstance(metric, partial) else metric
    if function is bleu_score:
        return _bleu_sums(np.exp, **fixed)
    return _bleu_sums(float, **fixed) if function is log_bleu_score else None


@validate_params(BLEU_CONSTRAINTS)
def _bleu_sums(
    link: Callable[[float], float],
    *,
    max_order: int = 4,
    weights: ArrayLike | None = None,
    smoothing: Smoothing = None,
    smoothing_value: float | None = None,
    effective_order: bool = False,
    tokenize: Tokenizer | None = None,
) -> Sums:
    """Return BLEU, as the link of its logarithm, as a function of sums over sentences."""
    checked = bleu_options(max_order, weights, smoothing, smoothing_value, effective_order)
    read = partial(bleu_statistics, max_order=max_order, tokenize=tokenize)
    return Sums(read, lambda sums: float(link(log_bleu(sums, *checked))))


def _log_bleu_of_corpus(
    references: Sequence[Any],
    hypotheses: Sequence[Any],
    tokenize: Tokenizer | None,
    max_order: int,
    *options: Any,
) -> float:
    """Return the logarithm of BLEU; `options` are the other ones of `bleu_options`, in order."""
    checked = bleu_options(max_order, *options)
    statistics = bleu_statistics(references, hypotheses, max_order=max_order, tokenize=tokenize)
    return log_bleu(statistics.sum(axis=0), *checked)


def bleu_options(
    max_order: int,
    weights: ArrayLike | None,
    smoothing: Smoothing,
    smoothing_value: float | None,
    effective_order: bool,
) -> tuple[Floats, Smoothing, float, bool]:
    """Check the options of the score that no single constraint covers, and fill in defaults."""
    check_count("max_order", max_order)
    if weights is None:
        order_weights = np.full(max_order, 1 / max_order)
    else:
        order_weights = check_data("weights", weights, ensure_2d=False, dtype=np.float64)
    if order_weights.shape != (max_order,) or order_weights.min() < 0:
        raise ValueError(f"weights must be {max_order} numbers >= 0, got {order_weights}.")
    if not np.isclose(order_weights.sum(), 1, rtol=0, atol=1e-9):
        raise ValueError(f"weights must sum to 1, got {order_weights.sum()}.")
    if smoothing not in _SMOOTHING_DEFAULT:
        if smoothing_value is not None:
            raise ValueError(f"smoothing_value has no meaning for smoothing={smoothing!r}.")
        return order_weights, smoothing, 0.0, effective_order
    value = _SMOOTHING_DEFAULT[smoothing] if smoothing_value is None else smoothing_value
    if smoothing == "floor" and value > 1:
        raise ValueError(f"smoothing_value must be <= 1 for smoothing='floor', got {value}.")
    return order_weights, smoothing, float(value), effective_order


def log_bleu(
    statistics: NDArray[np.int64],
    weights: Floats,
    smoothing: Smoothing,
    value: float,
    effective_order: bool,
) -> float:
    """Return log BLEU from summed statistics c, r, matches, totals."""
    c, r = statistics[:2]
    matches, totals = statistics[2:].astype(np.float64).reshape(2, -1)
    if not matches.any():
        return -np.inf
    if smoothing == "add-k":
        matches[1:] += value
        totals[1:] += value
    elif smoothing == "floor":
        matches[matches == 0] = value
    elif smoothing == "exp":
        zero = matches == 0
        matches[zero] = 0.5 ** np.arange(1, zero.sum() + 1)
    if effective_order:
        weights = np.where(totals > 0, weights, 0.0)
        weights = weights / (weights.sum() or 1.0)
    used = weights > 0
    if not used.any() or not totals[used].all():
        warn_undefined(
            f"No hypothesis holds {len(weights)} tokens, so that a precision of BLEU is 0/0. It is "
            "set to 0; effective_order=True or a smaller max_order= has a value."
        )
        return -np.inf
    if not matches[used].all():
        return -np.inf
    return float(min(1 - r / c, 0) + weights[used] @ np.log(matches[used] / totals[used]))


Tokens = Sequence[str]
Tokenizer = Callable[[str], Tokens]


def bleu_statistics(
    references: Sequence[Any],
    hypotheses: Sequence[Any],
    *,
    max_order: int = 4,
    tokenize: Tokenizer | None = None,
) -> NDArray[np.int64]:
    """Return what BLEU needs of each sentence: c, r, matches and totals of every order.

    BLEU of any selection or resample of sentences is `log_bleu` of the sum of their rows.
    """
    for name, sentences in (("references", references), ("hypotheses", hypotheses)):
        if isinstance(sentences, str) or not is_sized(sentences):
            raise TypeError(
                f"{name} must hold one entry per sentence, got {type(sentences).__name__}; "
                "sentence_bleu_score judges a single sentence."
            )
    _check_lengths(references, hypotheses)
    return ngram_statistics(_tokenize(references, hypotheses, tokenize or str.split), max_order)


def _check_lengths(references: Sequence[Any], hypotheses: Sequence[Any]) -> None:
    n = len(hypotheses)
    if len(references) != n:
        transposed = all(not isinstance(s, str) and is_sized(s) and len(s) == n for s in references)
        hint = "; they look transposed, list(zip(*references)) is the order used here"
        raise ValueError(
            "references must hold the references of each hypothesis, one entry for each of the "
            f"{n} hypotheses, got {len(references)}{hint if n and transposed else ''}."
        )
    if n == 0:
        raise ValueError("hypotheses must hold at least one sentence, got none.")


def _tokenize(
    references: Sequence[Any], hypotheses: Sequence[Any], tokenize: Tokenizer
) -> Iterator[tuple[Tokens, list[Tokens]]]:
    """Yield the tokens of each hypothesis and of its references."""
    for i, (hypothesis, given) in enumerate(zip(hypotheses, references, strict=True)):
        several = [given] if isinstance(given, str) else given
        if not is_sized(several) or len(several) == 0:
            raise ValueError(f"references[{i}] must hold at least one reference, got {given!r}.")
        text = isinstance(hypothesis, str)
        if any(isinstance(reference, str) != text for reference in several):
            raise ValueError(
                f"hypotheses[{i}] and each of references[{i}] must be of one kind, strings or "
                "lists of tokens (one tokenised reference is [['the', 'cat']]), got "
                f"{hypothesis!r} and {given!r}."
            )
        segments = [hypothesis, *several]
        if text:
            segments = [tokenize(segment) for segment in segments]
        if not text or tokenize is not str.split:
            _check_tokens(segments, i)
        yield segments[0], segments[1:]


def is_sized(data: Any) -> bool:
    """Whether something has a length; an array of no dimension has none."""
    try:
        len(data)
    except TypeError:
        return False
    return True


def _check_tokens(segments: list[Any], i: int) -> None:
    for segment in segments:
        if not _is_tokenized(segment):
            raise TypeError(
                f"hypotheses[{i}] and each of references[{i}] must be a string or a list of string "
                f"tokens, got {segment!r}."
            )


def _is_tokenized(segment: Any) -> bool:
    try:
        "".join(segment)
    except TypeError:
        return False
    return is_sized(segment)


Ints = NDArray[np.int64]
Sentence = Sequence[str]
_BLOCK = 512  # sentences counted together, few enough for their arrays to stay in the cache


def ngram_statistics(pairs: Iterable[tuple[Sentence, list[Sentence]]], max_order: int) -> Ints:
    """Return a row per (hypothesis, references): c, r, matches of order 1..N, totals of order 1..N.

    `c` is the length of the hypothesis, `r` the closest reference length (ties: the shorter), a
    total the number of n-grams of the hypothesis, and a match an n-gram of it that a reference
    has, at most as often as the reference that has it most often.
    """
    blocks, batch = [], []
    for pair in pairs:
        batch.append(pair)
        if len(batch) == _BLOCK:
            blocks.append(_block_statistics(batch, max_order))
            batch = []
    if batch:
        blocks.append(_block_statistics(batch, max_order))
    return np.concatenate(blocks)


def _block_statistics(batch: list[tuple[Sentence, list[Sentence]]], max_order: int) -> Ints:
    words = _number_words(batch)
    c = words.segment_length[words.segment_source == 0]
    orders = np.arange(1, max_order + 1)
    totals = np.maximum(c[:, None] - orders + 1, 0)
    return np.column_stack([c, _closest_length(words), _matches(words, max_order), totals])


@dataclass(frozen=True)
class _Words:
    """The words of a block: a segment is a hypothesis (source 0) or a reference (1, 2, ...)."""

    word: Ints  # (n_words,) number within the sentence and its references
    vocabulary: Ints  # (n_sentences,) how many such numbers
    segment_length: Ints
    segment_sentence: Ints
    segment_source: Ints


def _number_words(batch: list[tuple[Sentence, list[Sentence]]]) -> _Words:
    words, lengths, vocabulary = array("q"), [], []
    for hypothesis, references in batch:
        numbers: defaultdict[str, int] = defaultdict(count().__next__)
        for segment in (hypothesis, *references):
            words.extend(map(numbers.__getitem__, segment))
            lengths.append(len(segment))
        vocabulary.append(len(numbers))
    n_segments = np.array([1 + len(references) for _, references in batch])
    sentence = np.repeat(np.arange(len(batch)), n_segments)
    source = np.arange(len(sentence)) - (np.cumsum(n_segments) - n_segments)[sentence]
    return _Words(
        np.frombuffer(words, dtype=np.int64) if words else np.empty(0, dtype=np.int64),
        np.array(vocabulary),
        np.array(lengths),
        sentence,
        source,
    )


def _closest_length(words: _Words) -> Ints:
    """Return the reference length closest to that of the hypothesis; ties: the shorter."""
    is_hypothesis = words.segment_source == 0
    length = words.segment_length
    distance = np.abs(length - length[is_hypothesis][words.segment_sentence])
    order = np.lexsort((length, distance, is_hypothesis, words.segment_sentence))
    return length[order][np.flatnonzero(is_hypothesis)]


def _matches(words: _Words, max_order: int) -> Ints:
    """Return the matches of each sentence and order, shape (n_sentences, max_order)."""
    n_sentences = len(words.vocabulary)
    sentence = np.repeat(words.segment_sentence, words.segment_length)
    source = np.repeat(words.segment_source, words.segment_length)
    left = np.repeat(np.cumsum(words.segment_length), words.segment_length) - np.arange(len(source))
    matches = np.zeros((n_sentences, max_order), dtype=np.int64)
    matches[:, 0], shared = _unigrams(words, sentence, source)
    word_bits = int(words.vocabulary.max()).bit_length()
    source_bits = int(source.max(initial=0)).bit_length()
    other_bits = n_sentences.bit_length() + word_bits + source_bits
    place, gram, gram_bits = np.flatnonzero(shared), words.word[shared], word_bits
    for order in range(2, max_order + 1):
        # Only n-grams of words that both sides have can match.
        keep = left[place] >= order
        keep[keep] = shared[place[keep] + order - 1]
        place, gram = place[keep], gram[keep]
        if not len(place):
            break
        if gram_bits + other_bits > 62:
            gram, gram_bits = _renumber(sentence[place], gram, gram_bits)
        gram = (gram << word_bits) | words.word[place + order - 1]
        gram_bits += word_bits
        cell = (sentence[place] << gram_bits) | gram
        cells, clipped = _clipped_counts((cell << source_bits) | source[place], source_bits)
        matches[:, order - 1] = _sums(cells >> gram_bits, clipped, n_sentences)
    return matches


def _unigrams(words: _Words, sentence: Ints, source: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the matches of order 1, and whether each word is on both sides of its sentence."""
    n_cells = int(words.vocabulary.sum())
    cell = (np.cumsum(words.vocabulary) - words.vocabulary)[sentence] + words.word
    hypothesis, best = (np.zeros(n_cells, dtype=np.int64) for _ in range(2))
    hypothesis += np.bincount(cell[source == 0], minlength=n_cells)
    for reference in range(1, int(source.max(initial=0)) + 1):
        np.maximum(best, np.bincount(cell[source == reference], minlength=n_cells), out=best)
    clipped = np.minimum(hypothesis, best)
    owner = np.repeat(np.arange(len(words.vocabulary)), words.vocabulary)
    return _sums(owner, clipped, len(words.vocabulary)), (clipped > 0)[cell]


def _clipped_counts(key: Ints, source_bits: int) -> tuple[Ints, Ints]:
    """Return the distinct cells, and min(count in source 0, largest count in any other source).

    A key is a cell with its source in the last bits.
    """
    key = np.sort(key)
    first = _run_starts(key)
    n = np.diff(first, append=len(key))
    cell, is_hypothesis = key[first] >> source_bits, key[first] & ((1 << source_bits) - 1) == 0
    head = _run_starts(cell)  # source 0 sorts first in its cell
    best = np.maximum.reduceat(np.where(is_hypothesis, 0, n), head)
    return cell[head], np.minimum(np.where(is_hypothesis[head], n[head], 0), best)


def _run_starts(values: Ints) -> Ints:
    return np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))


def _renumber(sentence: Ints, gram: Ints, gram_bits: int) -> tuple[Ints, int]:
    """Return the n-grams numbered anew within their sentence, and the bits that takes."""
    distinct, rank = np.unique((sentence << gram_bits) | gram, return_inverse=True)
    rank = rank - np.searchsorted(distinct >> gram_bits, sentence)
    return rank, int(rank.max()).bit_length()


def _sums(group: Ints, values: Ints, n_groups: int) -> Ints:
    return np.bincount(group, weights=values, minlength=n_groups).astype(np.int64)
