"""
Do radiologists read better with the system?
============================================

Six readers score 100 cases alone and with the help of a system. Would other readers, on other
cases, improve too?
"""

# %%
# Scores are simulated: cases differ in difficulty, readers in skill, and the system helps each
# reader differently.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

from skeval.model_selection import compare_readers

rng = np.random.default_rng(0)
n_readers, n_cases = 6, 100
cancer = np.arange(n_cases) % 2
difficulty = rng.normal(size=n_cases)
skill = 1.2 + 0.2 * rng.normal(size=(n_readers, 1))
help_ = 0.7 + 0.3 * rng.normal(size=(n_readers, 1))


def read(signal):
    """Return the scores of all readers."""
    return signal * cancer + difficulty + rng.normal(size=(n_readers, n_cases))


scores = {"alone": read(skill), "assisted": read(skill + help_)}

# %%
# The analysis of Obuchowski and Rockette treats readers and cases as random, so that the result
# holds for other readers and other cases.
result = compare_readers(cancer, scores)
print(result)

# %%
# With fixed readers the interval is usually shorter, but holds for these six readers only.
fixed = compare_readers(cancer, scores, readers="fixed")
for name, comparison in {"random readers": result, "fixed readers": fixed}.items():
    print(name, next(iter(comparison.differences.values())).interval)

# %%
# The area under the curve of every reader, alone and assisted.
areas = np.array([[roc_auc_score(cancer, row) for row in scores[name]] for name in scores])
figure, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.plot([0, 1], areas, "o-", color="0.6")
ax.plot([0, 1], areas.mean(axis=1), "o-", color="#1f6fb4", linewidth=3, label="mean")
ax.set_xticks([0, 1], list(scores))
ax.set(xlim=(-0.3, 1.3), ylabel="area under the ROC curve")
ax.legend()
plt.show()
