"""
How certain is a BLEU score?
============================

Is a difference of four BLEU points on 48 sentences significant? The bootstrap resamples the
sentences, the same ones for both systems.
"""

# %%
# The sentences of scikit-learn's data set descriptions are the references. Two "systems" repeat
# them with mistakes. One drops words, and the other swaps neighboring words.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from skeval.metrics import bleu_score, sentence_bleu_score
from skeval.model_selection import metric_interval

text = " ".join(load().DESCR for load in (load_breast_cancer, load_diabetes, load_iris, load_wine))
sentences = [s.split() for s in text.replace("\n", " ").split(". ") if 6 <= len(s.split()) <= 40]
rng = np.random.default_rng(0)


def dropping(words):
    """Return the words without every tenth or so."""
    return [word for word in words if rng.random() > 0.1]


def swapping(words):
    """Return the words with some neighbors exchanged."""
    words = list(words)
    for i in range(len(words) - 1):
        if rng.random() < 0.05:
            words[i], words[i + 1] = words[i + 1], words[i]
    return words


references = [[sentence] for sentence in sentences]
systems = {
    "drops words": [dropping(sentence) for sentence in sentences],
    "swaps words": [swapping(sentence) for sentence in sentences],
}
print(len(sentences), "sentences, such as:", " ".join(sentences[0]))

# %%
# The n-gram counts of the sentences are resampled instead of the text, so 2,000 resamples are fast.
intervals = {
    name: metric_interval(bleu_score, references, hypotheses, random_state=0)
    for name, hypotheses in systems.items()
}
print(intervals["drops words"])

# %%
# With the same seed, both systems are scored on the same resampled sentences. The interval of the
# difference includes 0, so 48 sentences are too few to distinguish the two.
first, second = (interval.replicates for interval in intervals.values())
low, high = np.quantile(second - first, [0.025, 0.975])
print(
    f"swaps minus drops: {bleu_score(references, systems['swaps words']):.3f} - "
    f"{bleu_score(references, systems['drops words']):.3f}, 95 % interval [{low:.3f}, {high:.3f}]"
)

# %%
# The left panel shows the scores of the resamples and of the whole corpus. The right panel shows
# the scores of single sentences, many of which have no mistake. The BLEU score of a corpus is not
# the mean of these scores.
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
for name, interval in intervals.items():
    left.hist(interval.replicates, 30, alpha=0.6, label=name)
    left.axvline(interval.value, color="black", lw=1)
left.set(xlabel="BLEU of a resampled corpus", ylabel="resamples")
left.legend()
for name, hypotheses in systems.items():
    each = [
        sentence_bleu_score(reference, hypothesis, smoothing="exp")
        for reference, hypothesis in zip(references, hypotheses, strict=True)
    ]
    right.hist(each, np.linspace(0, 1, 21), alpha=0.6, label=name)
right.set(xlabel="BLEU of one sentence, smoothed", ylabel="sentences")
plt.show()
