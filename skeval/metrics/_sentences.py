"""From sentences, checked and split into tokens, to what BLEU needs of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skeval.metrics._ngrams import ngram_statistics

__all__ = ["Tokenizer", "bleu_statistics", "is_sized"]

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
