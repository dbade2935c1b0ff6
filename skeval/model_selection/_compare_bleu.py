"""Which of two systems translates better, by BLEU?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from skeval._inference.paired_tests import (
    ALTERNATIVES,
    exchange_pvalue,
    paired_bootstrap,
    percentile_limits,
)
from skeval.metrics._bleu import BLEU_CONSTRAINTS, Smoothing, bleu_options, log_bleu
from skeval.metrics._sentences import Tokenizer, bleu_statistics
from skeval.model_selection._comparison_result import ClassifierComparison
from skeval.utils._checks import check_confidence_level, check_option, naming
from skeval.utils._compat import Interval, validate_params
from skeval.utils._seeds import RandomStateLike, repetition_rng, root_seed

__all__ = ["compare_bleu", "exchanged_differences", "resampled_differences"]

Sums = NDArray[np.int64]
ScoreOfSums = Callable[[Sums], float]
METHODS = ("bootstrap", "randomization")


@validate_params(
    {
        "n_resamples": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state", Generator],
        **BLEU_CONSTRAINTS,
    }
)
def compare_bleu(
    references: Sequence[Any],
    hypotheses_a: Sequence[Any],
    hypotheses_b: Sequence[Any],
    *,
    method: str = "bootstrap",
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    random_state: RandomStateLike = None,
    max_order: int = 4,
    weights: Any = None,
    smoothing: Smoothing = None,
    smoothing_value: float | None = None,
    effective_order: bool = False,
    tokenize: Tokenizer | None = None,
) -> ClassifierComparison:
    r"""Test and interval for the difference of two BLEU scores of the same sentences.

    Parameters
    ----------
    references : sequence of length n_sentences
        The references of each sentence, as in `bleu_score`.
    hypotheses_a, hypotheses_b : sequence of length n_sentences
        The translations of two systems.
    method : {"bootstrap", "randomization"}, default="bootstrap"
        Where the P-value comes from. "bootstrap": sentences are drawn with replacement, the same
        for both [1]_. "randomization": the two translations of each sentence are exchanged or not,
        at random [2]_. The interval is that of the bootstrap in both.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        What the test is to show of the score of `a` minus that of `b`.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, which is two-sided.
    n_resamples : int, default=2000
        Resamples, and exchanges.
    random_state : int, RandomState, Generator or None, default=None
        Draws them.
    max_order, weights, smoothing, smoothing_value, effective_order, tokenize : optional
        As in `bleu_score`.

    Returns
    -------
    comparison : ClassifierComparison
        With `difference` (a minus b, fractions), its `interval`, and `pvalue`.

    Raises
    ------
    ValueError
        If the lengths differ, or as `bleu_score`.
    TypeError
        As `bleu_score`.

    Notes
    -----
    The two BLEU scores of a resample, and of an exchange, are those of sacrebleu of the same
    sentences. Of the P-values, that of the randomisation counts exchanges that differ *at least* as
    much, sacrebleu those that differ more. That of the bootstrap takes the distance of a replicate
    from the observed difference; sacrebleu takes the size of each difference less their mean, which
    is not the same unless all have one sign.

    References
    ----------
    .. [1] Koehn, P. (2004). Statistical significance tests for machine translation evaluation.
       EMNLP 2004, 388-395.
    .. [2] Riezler, S. and Maxwell, J. T. (2005). On some pitfalls in automatic evaluation and
       significance testing for MT. ACL Workshop on Intrinsic and Extrinsic Evaluation Measures,
       57-64.

    Examples
    --------
    >>> from skeval.model_selection import compare_bleu
    >>> references = ["the cat sat on the mat", "it is raining again", "we go home now"] * 9
    >>> a = ["the cat sat on a mat", "it is raining again", "we go home soon"] * 9
    >>> b = ["a cat sat on the mat", "it rains again", "we go home now"] * 9
    >>> print(compare_bleu(references, a, b, random_state=0))
    bleu, bootstrap
      a: a           0.6283
      b: b           0.6950
      difference     -0.0667
      95 % interval  [-0.2267, 0.1160]
      P-value        0.436
      No difference is shown at 5 % (P = 0.44). That is no proof of equality. The difference
      may lie anywhere from -0.227 to 0.116 (95 % interval). This holds for these
      predictions; that training anew would change them is left out.
    """
    check_confidence_level(confidence_level)
    check_option("method", method, METHODS)
    check_option("alternative", alternative, ALTERNATIVES)
    checked = bleu_options(max_order, weights, smoothing, smoothing_value, effective_order)
    a = _read_statistics("hypotheses_a", references, hypotheses_a, max_order, tokenize)
    b = _read_statistics("hypotheses_b", references, hypotheses_b, max_order, tokenize)

    def score(sums: Sums) -> float:
        return float(np.exp(log_bleu(sums, *checked)))

    score_a, score_b = score(a.sum(axis=0)), score(b.sum(axis=0))
    root = root_seed(random_state)
    rngs = [repetition_rng(root, number) for number in range(n_resamples)]
    counts = (np.bincount(rng.integers(0, len(a), len(a)), minlength=len(a)) for rng in rngs)
    resampled = replicates = resampled_differences(score, a, b, counts)
    test = paired_bootstrap(score_a - score_b, resampled, alternative)
    if method == "randomization":
        # the resamples took the stream of each repetition as far as this
        swaps = (rng.integers(0, 2, len(a)).astype(bool) for rng in rngs)
        replicates = exchanged_differences(score, a, b, swaps)
        pvalue = exchange_pvalue(score_a - score_b, replicates, alternative)
        test = test._replace(statistic=score_a - score_b, pvalue=pvalue)
    return ClassifierComparison(
        method=method,
        scoring="bleu",
        name_a="a",
        name_b="b",
        score_a=score_a,
        score_b=score_b,
        difference=score_a - score_b,
        standard_error=test.standard_error,
        statistic=test.statistic,
        pvalue=test.pvalue,
        alternative=alternative,
        limits={"bootstrap": partial(percentile_limits, resampled)},
        n_samples=len(a),
        confidence_level=confidence_level,
        replicates=replicates,
    )


def _read_statistics(
    name: str, references: Any, hypotheses: Any, max_order: int, tokenize: Tokenizer | None
) -> Sums:
    """Return what BLEU needs of each sentence; every error says of which system."""
    with naming("references", name):
        statistics = bleu_statistics(references, hypotheses, max_order=max_order, tokenize=tokenize)
    if len(statistics) < 2:
        raise ValueError(f"references must hold two sentences at least, got {len(statistics)}.")
    return statistics


def resampled_differences(score: ScoreOfSums, a: Sums, b: Sums, counts: Any) -> np.ndarray:
    """Return the difference of scores for how often each resample holds each sentence."""
    return np.array([score(count @ a) - score(count @ b) for count in counts])


def exchanged_differences(score: ScoreOfSums, a: Sums, b: Sums, swaps: Any) -> np.ndarray:
    """Return the difference of scores for the sentences that are exchanged, as masks."""
    total, differences = a.sum(axis=0) + b.sum(axis=0), []
    for swap in swaps:
        first = a[~swap].sum(axis=0) + b[swap].sum(axis=0)
        differences.append(score(first) - score(total - first))
    return np.array(differences)
