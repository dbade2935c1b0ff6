"""
Which of two classifiers is better?
===================================

Two cross-validated accuracies differ. Is one procedure better, or one fitted model, or neither? The
usual t-test over folds answers none of these questions.
"""

# %%
# A linear discriminant and naive Bayes are compared on the breast-cancer data, on the same 25
# splits.
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import t, ttest_rel
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB

from skeval.model_selection import compare_classifiers

X, y = load_breast_cancer(return_X_y=True)
two = {"linear": LinearDiscriminantAnalysis(), "bayes": GaussianNB()}
splits = RepeatedStratifiedKFold(n_splits=5, n_repeats=5, random_state=0)
corrected = compare_classifiers(two, X, y, cv=splits)
print(corrected)

# %%
# The other methods use one held-out prediction per sample. McNemar's test counts the samples that
# only one classifier predicts correctly, and the bootstrap resamples the samples.
others = {
    method: compare_classifiers(two, X, y, method=method, random_state=0)
    for method in ("mcnemar", "bootstrap")
}
for comparison in others.values():
    print(comparison, end="\n\n")

# %%
# The plain paired t-test treats 25 overlapping splits as 25 independent experiments. Its interval
# is too narrow.
scores = corrected.extra.split_scores
differences = scores[:, 0] - scores[:, 1]
plain = ttest_rel(*scores.T)
half = t.isf(0.025, len(differences) - 1) * differences.std(ddof=1) / np.sqrt(len(differences))
print(f"plain t-test: P = {plain.pvalue:.1e}; corrected: P = {corrected.difference.pvalue:.1e}")

# %%
rows = [
    (
        "plain t (too narrow)",
        differences.mean() - half,
        differences.mean(),
        differences.mean() + half,
    )
]
rows += [
    (f"{name}, {c.scoring}", difference.interval.low, difference.value, difference.interval.high)
    for name, c in {"corrected t": corrected, **others}.items()
    for difference in [c.difference]
]
fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
for row, (_, low, middle, high) in enumerate(reversed(rows)):
    color = "tab:red" if row == len(rows) - 1 else "tab:blue"
    ax.plot([low, high], [row, row], color=color, lw=2)
    ax.plot(middle, row, "o", color=color)
ax.axvline(0, color="gray", ls=":")
ax.set(
    yticks=range(len(rows)),
    yticklabels=[name for name, *_ in reversed(rows)],
    xlabel="linear discriminant minus naive Bayes, 95 % interval",
)
plt.show()
