"""BLEU with n-grams as tuples, counted by loops."""

import math


def ngrams(tokens, n):
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


def statistics(references, hypothesis, max_order):
    """c, r, matches and totals of one tokenised sentence."""
    c = len(hypothesis)
    r = sorted((abs(len(s) - c), len(s)) for s in references)[0][1]
    matches, totals = [], []
    for n in range(1, max_order + 1):
        grams = ngrams(hypothesis, n)
        matches.append(
            sum(
                min(grams.count(g), max(ngrams(s, n).count(g) for s in references))
                for g in set(grams)
            )
        )
        totals.append(len(grams))
    return [c, r, *matches, *totals]


def log_bleu(references, hypotheses, max_order, weights, smoothing, value):
    rows = [
        statistics(refs, hyp, max_order) for refs, hyp in zip(references, hypotheses, strict=True)
    ]
    c, r, *counts = (sum(column) for column in zip(*rows, strict=True))
    matches, totals = counts[:max_order], counts[max_order:]
    if sum(matches) == 0:
        return -math.inf
    total, zeros = min(1 - r / c, 0), 0
    for n in range(max_order):
        m, t = matches[n], totals[n]
        if smoothing == "add-k" and n > 0:
            m, t = m + value, t + value
        if m == 0 and smoothing == "floor":
            m = value
        if m == 0 and smoothing == "exp":
            zeros += 1
            m = 1 / 2**zeros
        if weights[n] == 0:
            continue
        if m == 0 or t == 0:
            return -math.inf
        total += weights[n] * math.log(m / t)
    return total
