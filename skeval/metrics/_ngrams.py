"""Clipped n-gram counts of many sentences at once.

A word is a number within its sentence, an n-gram a number made of words, so that no text is hashed
twice and counting is sorting integers. All numbers are exact.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

__all__ = ["ngram_statistics"]

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
