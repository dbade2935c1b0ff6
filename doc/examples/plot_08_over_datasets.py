"""
Which of many classifiers is best on many data sets?
====================================================

Twenty classifiers on thirty data sets: which of them differ, by how much, and how certain is it?
"""

# %%
# The scores are simulated, so the true differences are known: each data set has its own level, and
# the classifiers differ by up to 0.06.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skeval.model_selection import CriticalDifferenceDisplay, compare_scores

rng = np.random.default_rng(0)
names = [f"classifier {letter}" for letter in "ABCDEFGHIJKLMNOPQRST"]
hardness = rng.uniform(0.6, 0.9, size=(30, 1))
scores = hardness + np.linspace(0.06, 0, 20) + rng.normal(scale=0.02, size=(30, 20))
frame = pd.DataFrame(scores, columns=names, index=[f"data set {i}" for i in range(1, 31)])
comparison = compare_scores(frame, over="datasets", random_state=0)
print(comparison.extra.reason)
print(comparison.conclusion)

# %%
# Mean ranks, the best on the left. A bar joins classifiers without significant differences; this is
# not evidence that they are equal.
CriticalDifferenceDisplay.from_result(comparison)
plt.show()

# %%
# Size of the differences for the first four: the median of the averages of two data sets, with
# simultaneous intervals.
print(compare_scores(frame[names[:4]], over="datasets", random_state=0))
