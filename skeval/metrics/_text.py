"""BLEU, of a corpus and of a sentence.

Sentences are checked and split into tokens. Words are numbered, and an n-gram is numbered by the
n-gram that it is without its last word, and that word: no text is hashed twice, and counting is
sorting integers. All numbers are exact.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, count, islice
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skeval.utils._checks import check_count, check_data, warn_undefined
from skeval.utils._compat import Interval, StrOptions, validate_params

__all__ = ["Sums", "bleu_score", "find_sums", "log_bleu_score", "sentence_bleu_score"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Tokens = Sequence[str]
Tokenizer = Callable[[str], Tokens]
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
    options = max_order, weights, smoothing, smoothing_value, effective_order, tokenize
    return make_sums(float, *options).judge(references, hypotheses)


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
    options = max_order, weights, smoothing, smoothing_value, effective_order, tokenize
    return make_sums(np.exp, *options).judge(references, hypotheses)


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
    options = max_order, weights, smoothing, smoothing_value, effective_order, tokenize
    return make_sums(np.exp, *options).judge([references], [hypothesis])


class Sums(NamedTuple):
    """A score of a corpus: what it needs of each sentence, and the function of the sums of that."""

    read: Callable[[Any, Any], Ints]
    score: Callable[[Ints], float]

    def judge(self, references: Sequence[Any], hypotheses: Sequence[Any]) -> float:
        """Return the score of a corpus."""
        return self.score(self.read(references, hypotheses).sum(axis=0))


def find_sums(metric: Any) -> Sums | None:
    """Return how a score of text counts, with options that `partial` fixes; None for others."""
    fixed = metric.keywords if isinstance(metric, partial) else {}
    function = metric.func if isinstance(metric, partial) else metric
    if function is bleu_score:
        return make_sums(np.exp, **fixed)
    return make_sums(float, **fixed) if function is log_bleu_score else None


@validate_params(BLEU_CONSTRAINTS)
def make_sums(
    link: Callable[[float], float],
    max_order: int = 4,
    weights: ArrayLike | None = None,
    smoothing: Smoothing = None,
    smoothing_value: float | None = None,
    effective_order: bool = False,
    tokenize: Tokenizer | None = None,
) -> Sums:
    """Check the options of BLEU, and return it, as the link of its logarithm, by sums."""
    check_count("max_order", max_order)
    if weights is None:
        order_weights = np.full(max_order, 1 / max_order)
    else:
        order_weights = check_data("weights", weights, ensure_2d=False, dtype=np.float64)
    if order_weights.shape != (max_order,) or order_weights.min() < 0:
        raise ValueError(f"weights must be {max_order} numbers >= 0, got {order_weights}.")
    if not np.isclose(order_weights.sum(), 1, rtol=0, atol=1e-9):
        raise ValueError(f"weights must sum to 1, got {order_weights.sum()}.")
    value = smoothing_value
    if smoothing not in _SMOOTHING_DEFAULT and value is not None:
        raise ValueError(f"smoothing_value has no meaning for smoothing={smoothing!r}.")
    if value is None:
        value = _SMOOTHING_DEFAULT.get(smoothing or "", 0.0)
    if smoothing == "floor" and value > 1:
        raise ValueError(f"smoothing_value must be <= 1 for smoothing='floor', got {value}.")
    read = partial(bleu_statistics, max_order=max_order, tokenize=tokenize)
    options = order_weights, smoothing, value, effective_order
    return Sums(read, lambda sums: float(link(log_bleu(sums, *options))))


def log_bleu(
    statistics: Ints, weights: Floats, smoothing: Smoothing, value: float, effective_order: bool
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


def bleu_statistics(
    references: Sequence[Any],
    hypotheses: Sequence[Any],
    *,
    max_order: int = 4,
    tokenize: Tokenizer | None = None,
) -> Ints:
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
        for segment in segments if not text or tokenize is not str.split else ():
            if not _is_tokenized(segment):
                raise TypeError(
                    f"hypotheses[{i}] and each of references[{i}] must be a string or a list of "
                    f"string tokens, got {segment!r}."
                )
        yield segments[0], segments[1:]


def is_sized(data: Any) -> bool:
    """Whether something has a length; an array of no dimension has none."""
    try:
        len(data)
    except TypeError:
        return False
    return True


def _is_tokenized(segment: Any) -> bool:
    try:
        "".join(segment)
    except TypeError:
        return False
    return is_sized(segment)


_BLOCK = 128  # sentences counted together, few enough for their arrays to stay in the cache


def ngram_statistics(pairs: Iterable[tuple[Tokens, list[Tokens]]], max_order: int) -> Ints:
    """Return a row per (hypothesis, references): c, r, matches of order 1..N, totals of order 1..N.

    `c` is the length of the hypothesis, `r` the closest reference length (ties: the shorter), a
    total the number of n-grams of the hypothesis, and a match an n-gram of it that a reference
    has, at most as often as the reference that has it most often.
    """
    remaining = iter(pairs)
    blocks = []
    while batch := list(islice(remaining, _BLOCK)):
        length = [[len(segment) for segment in (hypothesis, *given)] for hypothesis, given in batch]
        closest = [min((abs(r - c), r) for r in others)[1] for c, *others in length]
        c = np.array([own for own, *_ in length])
        totals = np.maximum(c[:, None] - np.arange(max_order), 0)
        blocks.append(np.column_stack([c, closest, _count_matches(batch, max_order), totals]))
    return np.concatenate(blocks)


def _count_matches(batch: list[tuple[Tokens, list[Tokens]]], max_order: int) -> Ints:
    """Return the matches of each sentence and order, shape (n_sentences, max_order).

    A cell is an n-gram within its sentence and references. Its number is found from that of the
    n-gram without the last word, and of the last word. Only where a cell is on both sides can a
    longer n-gram that begins with it match.
    """
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    segments = [
        (row, source, segment)
        for row, (hypothesis, given) in enumerate(batch)
        for source, segment in enumerate((hypothesis, *given))
    ]
    rows, sources, texts = zip(*segments, strict=True)
    word = np.fromiter(map(numbers.__getitem__, chain.from_iterable(texts)), np.int64)
    length = np.array([len(text) for text in texts])
    sentence, source = np.repeat(rows, length), np.repeat(sources, length)
    left = np.repeat(np.cumsum(length), length) - np.arange(len(word))  # with the word itself
    matches = np.zeros((len(batch), max_order), dtype=np.int64)
    place, cell, n_sources = np.arange(len(word)), sentence, max(sources) + 1
    for order in range(max_order):
        longer = cell * len(numbers) + word[place + order]
        cells, cell = np.unique(longer, return_inverse=True)
        key = cell * n_sources + source[place]
        counts = np.bincount(key, minlength=len(cells) * n_sources).reshape(-1, n_sources)
        matched = np.minimum(counts[:, 0], counts[:, 1:].max(axis=1))
        owner = np.empty(len(cells), dtype=np.int64)
        owner[cell] = sentence[place]
        matches[:, order] = np.bincount(owner, matched, minlength=len(batch))
        keep = (matched[cell] > 0) & (left[place] > order + 1)
        place, cell = place[keep], cell[keep]
    return matches
