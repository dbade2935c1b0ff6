"""BLEU of corpora and sentences.

Sentences are validated and split into tokens, and the n-grams of each sentence are counted. The
score of a corpus is a function of the sums of these counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skeval.utils._checks import check_count, check_data, validate_params, warn_undefined
from skeval.utils._compat import Interval, StrOptions

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
    r"""Return the logarithm of the BLEU score of a corpus.

    .. math:: \log BLEU = \min(1 - r/c,\ 0) + \sum_{n=1}^N w_n \log p_n

    The terms are the same as in `bleu_score`. The result lies in :math:`[-\infty, 0]`. The best
    value is 0. The logarithm distinguishes scores that are so small that BLEU rounds to 0.

    Parameters
    ----------
    references : sequence of length n_sentences
        The references of each hypothesis, as for `bleu_score`.
    hypotheses : sequence of length n_sentences
        Hypothesis sentences, as for `bleu_score`.
    max_order : int, default=4
        Largest order `N` of n-grams.
    weights : array-like of shape (max_order,), default=None
        Weights of the orders, summing to 1. None means ``1 / max_order`` for each.
    smoothing : {"add-k", "floor", "exp"}, default=None
        See `bleu_score`.
    smoothing_value : float, default=None
        See `bleu_score`.
    effective_order : bool, default=False
        See `bleu_score`.
    tokenize : callable, default=None
        See `bleu_score`.

    Returns
    -------
    score : float
        The natural logarithm of BLEU.

    Raises
    ------
    ValueError, TypeError
        See `bleu_score`.

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
    return make_sums(float, *options).compute(references, hypotheses)


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
    r"""Return the BLEU score of a corpus, from n-grams shared by hypotheses and references.

    .. math:: BLEU = BP\ \exp \sum_{n=1}^N w_n \log p_n, \quad
              p_n = \frac{\sum_i \sum_g \min\bigl(h_g(c_i), \max_j h_g(s_{ij})\bigr)}
                         {\sum_i \sum_g h_g(c_i)}, \quad
              BP = \min\bigl(1, e^{1 - r/c}\bigr)

    Here, :math:`h_g(s)` is the number of occurrences of the n-gram `g` in `s`, and the inner sums
    are over n-grams of order `n`. The total length of the hypotheses :math:`c_i` is `c`. The total
    length of the references with the closest lengths is `r` (ties go to the shorter). BP is the
    brevity penalty. The result lies in [0, 1]. The best value is 1, the worst 0.

    Parameters
    ----------
    references : sequence of length n_sentences
        ``references[i]`` is the list of references of ``hypotheses[i]``. A single string is one
        reference. References have the same type as the hypotheses, that is, strings or lists of
        tokens. For example, one tokenized reference is ``[["the", "cat"]]``.
    hypotheses : sequence of length n_sentences
        Hypothesis sentences, as strings or lists of tokens.
    max_order : int, default=4
        Largest order `N` of n-grams.
    weights : array-like of shape (max_order,), default=None
        The weights :math:`w_n`, summing to 1. None means ``1 / max_order`` for each.
    smoothing : {"add-k", "floor", "exp"}, default=None
        Treatment of orders without a match, as in [2]_. "add-k" adds `k` to the matches and totals
        of the orders above 1. "floor" replaces 0 matches by a small number. "exp" replaces the
        first, second, ... 0 by 1/2, 1/4, ... If no order has a match, BLEU is always 0.
    smoothing_value : float, default=None
        The `k` of "add-k", by default 1, or the number of matches of "floor", by default 0.1. The
        latter is at most 1, because zero matches must not count more than one match.
    effective_order : bool, default=False
        Whether to omit orders for which no hypothesis has an n-gram. The remaining weights are
        then divided by their sum.
    tokenize : callable, default=None
        Function from a string to a list of tokens. None splits at whitespace.

    Returns
    -------
    score : float
        BLEU between 0 and 1. If all hypotheses have fewer than `max_order` tokens, the score is 0
        with `UndefinedMetricWarning`, unless `effective_order` is True. If all are empty, the
        score is 0.

    Raises
    ------
    ValueError
        If the lengths differ, for example because references are transposed. If there are no
        sentences, or a sentence has no references. If strings and token lists are mixed. If the
        weights are invalid.
    TypeError
        If a token or sentence is not a string.

    Notes
    -----
    The value equals ``sacrebleu.corpus_bleu(hypotheses, transposed_references,
    tokenize="none").score / 100`` with the `smooth_method` of the same name ("none" for None).
    References in sacrebleu's order (one list per set of references) raise an error if the number of
    sets differs from the number of sentences. Otherwise the wrong order cannot be detected.

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
    return make_sums(np.exp, *options).compute(references, hypotheses)


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
    """Return the BLEU score of one sentence, treated as a corpus of one sentence.

    The result lies in [0, 1]. The best value is 1, the worst 0. Without smoothing, most sentences
    have no match of order 4 and score 0. By default, a short sentence is scored by the orders that
    it contains. The BLEU of a corpus is not the mean of its sentence scores.

    Parameters
    ----------
    references : str, or list of str or of lists of tokens
        References of the sentence.
    hypothesis : str or list of str
        Hypothesis sentence, or its tokens.
    max_order : int, default=4
        Largest order of n-grams.
    weights : array-like of shape (max_order,), default=None
        Weights of the orders, summing to 1. None means ``1 / max_order`` for each.
    smoothing : {"add-k", "floor", "exp"}, default=None
        See `bleu_score`.
    smoothing_value : float, default=None
        See `bleu_score`.
    effective_order : bool, default=True
        See `bleu_score`, where the default is False.
    tokenize : callable, default=None
        See `bleu_score`.

    Returns
    -------
    score : float
        BLEU between 0 and 1.

    Raises
    ------
    ValueError, TypeError
        See `bleu_score`.

    Notes
    -----
    The value equals the ``score / 100`` of ``sacrebleu.sentence_bleu(hypothesis, references,
    tokenize="none")`` with the `smooth_method` of the same name. That function also uses the
    effective order by default.

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
    try:
        return make_sums(np.exp, *options).compute([references], [hypothesis])
    except (TypeError, ValueError) as error:  # the corpus has one sentence
        text = str(error).replace("hypotheses[0]", "hypothesis")
        raise type(error)(text.replace("references[0]", "references")) from None


class Sums(NamedTuple):
    """Corpus score, as statistics of each sentence and a function of their sums."""

    read: Callable[[Any, Any], Ints]
    score: Callable[[Ints], float]

    def compute(self, references: Sequence[Any], hypotheses: Sequence[Any]) -> float:
        """Return the score of a corpus."""
        return self.score(self.read(references, hypotheses).sum(axis=0))


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
    """Validate the options of BLEU and return its sums. `link` is applied to log BLEU."""
    check_count("max_order", max_order)
    # weights of the orders
    if weights is None:
        order_weights = np.full(max_order, 1 / max_order)
    else:
        order_weights = check_data("weights", weights, ensure_2d=False, dtype=np.float64)
    if order_weights.shape != (max_order,) or order_weights.min() < 0:
        raise ValueError(f"weights must be {max_order} numbers >= 0, got {order_weights}.")
    if not np.isclose(order_weights.sum(), 1, rtol=0, atol=1e-9):
        raise ValueError(f"weights must sum to 1, got {order_weights.sum()}.")
    # amount of smoothing
    value = smoothing_value
    if smoothing not in _SMOOTHING_DEFAULT and value is not None:
        raise ValueError(f"smoothing_value must be None with smoothing={smoothing!r}.")
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
    # lengths, and matches and totals of each order
    c, r = statistics[:2]
    matches, totals = statistics[2:].astype(np.float64).reshape(2, -1)
    if not matches.any():
        return -np.inf
    # smooth the orders without a match
    if smoothing == "add-k":
        matches[1:] += value
        totals[1:] += value
    elif smoothing == "floor":
        matches[matches == 0] = value
    elif smoothing == "exp":
        zero = matches == 0
        matches[zero] = 0.5 ** np.arange(1, zero.sum() + 1)
    # orders that have no n-gram, in any hypothesis
    if effective_order:
        weights = np.where(totals > 0, weights, 0.0)
        weights = weights / (weights.sum() or 1.0)
    used = weights > 0
    if not used.any() or not totals[used].all():
        warn_undefined(
            f"A BLEU precision is 0/0 and set to 0, because no hypothesis has {len(weights)} "
            "tokens. Use effective_order=True or a smaller max_order=."
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
    """Return the BLEU statistics of each sentence, that is, c, r, matches and totals of each order.

    `c` is the length of the hypothesis, `r` the closest reference length (ties go to the shorter),
    and a total is the number of n-grams in the hypothesis. Matches of an n-gram are clipped at its
    largest count in a single reference. For any selection or resample of sentences, log BLEU is
    `log_bleu` of the sum of their rows.
    """
    for name, sentences in (("references", references), ("hypotheses", hypotheses)):
        # a string would count as a list of characters
        if isinstance(sentences, str) or not isinstance(sentences, Collection):
            raise TypeError(
                f"{name} must have one entry per sentence, got {type(sentences).__name__}. "
                "sentence_bleu_score is for a single sentence."
            )
    n = len(hypotheses)
    if len(references) != n:
        raise ValueError(
            f"references must have one entry for each of the {n} hypotheses, got "
            f"{len(references)}. list(zip(*references)) transposes them."
        )
    if n == 0:
        raise ValueError("hypotheses must contain at least one sentence, got none.")
    rows = []
    for tokens, others in _tokenize(references, hypotheses, tokenize or str.split):
        c = len(tokens)
        # closest reference length r, and the totals of each order
        closest = min((abs(len(other) - c), len(other)) for other in others)[1]
        totals = [max(c - shorter, 0) for shorter in range(max_order)]
        rows.append([c, closest, *_count_matches(tokens, others, max_order), *totals])
    return np.array(rows, dtype=np.int64)


def _tokenize(
    references: Sequence[Any], hypotheses: Sequence[Any], tokenize: Tokenizer
) -> Iterator[tuple[Tokens, list[Tokens]]]:
    """Yield the tokens of each hypothesis and of its references."""
    for i, (hypothesis, entry) in enumerate(zip(hypotheses, references, strict=True)):
        # a hypothesis and its references must have the same type
        several = [entry] if isinstance(entry, str) else entry
        if not isinstance(several, Collection) or len(several) == 0:
            raise ValueError(f"references[{i}] must contain at least one reference, got {entry!r}.")
        text = isinstance(hypothesis, str)
        if any(isinstance(reference, str) != text for reference in several):
            raise ValueError(
                f"hypotheses[{i}] and each of references[{i}] must be of the same type, strings or "
                f"lists of tokens ([['the', 'cat']]), got {hypothesis!r} and {entry!r}."
            )
        segments = [hypothesis, *several]
        if text:
            segments = [tokenize(segment) for segment in segments]
        # str.split returns strings, so only other tokens are checked
        for segment in segments if not text or tokenize is not str.split else ():
            tokens = segment if isinstance(segment, Collection) else [None]
            if not all(isinstance(token, str) for token in tokens):
                raise TypeError(
                    f"hypotheses[{i}] and each of references[{i}] must be a string or a list of "
                    f"string tokens, got {segment!r}."
                )
        texts: list[Tokens] = [list(segment) for segment in segments]  # accepts arrays of tokens
        yield texts[0], texts[1:]


def _count_matches(tokens: Tokens, references: list[Tokens], max_order: int) -> list[int]:
    """Return the matches of a sentence, for each order."""
    matches = [0] * max_order
    for order in range(max_order):
        # how often each n-gram occurs in the hypothesis, and at most in a single reference
        own, largest, *others = (
            Counter(zip(*(text[start:] for start in range(order + 1)), strict=False))
            for text in (tokens, *references)
        )
        for other in others:
            largest |= other
        shared = own.keys() & largest.keys()
        if not shared:  # then no longer n-gram matches either
            break
        matches[order] = sum(min(own[gram], largest[gram]) for gram in shared)
    return matches
