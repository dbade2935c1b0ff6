"""BLEU of 10^5 sentence pairs against sacrebleu without tokenisation."""

import numpy as np
import sacrebleu
from _harness import growth_slope, paired_ratio, parse_arguments

from skeval.metrics import bleu_score


def corpus(n_pairs: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Return references with words of Zipf frequency, and hypotheses with words changed.

    About 25 words a sentence; one word in five is replaced and one in ten dropped.
    """
    rng = np.random.default_rng(seed)
    vocabulary = np.array([f"word{i}" for i in range(50_000)])
    references, hypotheses = [], []
    for length in rng.poisson(24, size=n_pairs) + 1:
        words = np.minimum(rng.zipf(1.3, size=length) - 1, len(vocabulary) - 1)
        noise = np.minimum(rng.zipf(1.3, size=length) - 1, len(vocabulary) - 1)
        changed = np.where(rng.random(length) < 0.2, noise, words)[rng.random(length) > 0.1]
        references.append(" ".join(vocabulary[words]))
        hypotheses.append(" ".join(vocabulary[changed]))
    return references, hypotheses


def same_score(ours: object, peer: object) -> None:
    """Raise unless the scores agree to 1e-10."""
    np.testing.assert_allclose(ours, peer, rtol=0, atol=1e-10)


def main() -> None:
    """Print the ratio, or with --sweep how time grows with the number of pairs."""
    options = parse_arguments(__doc__ or "")
    if options.sweep:
        texts = {n: corpus(n) for n in (1_000, 10_000, 100_000)}
        growth_slope("pairs", list(texts), lambda n: bleu_score(*texts[n]))
        return
    references, hypotheses = corpus(100_000)
    paired_ratio(
        lambda: bleu_score(references, hypotheses),
        lambda: (
            sacrebleu.corpus_bleu(
                hypotheses, [references], tokenize="none", smooth_method="none"
            ).score
            / 100
        ),
        check=same_score,
        rounds=options.rounds,
    )


if __name__ == "__main__":
    main()
