"""
Which of many classifiers is best on many data sets?
====================================================

Twenty classifiers were evaluated on thirty data sets. Which of them differ, and by how much?
"""

# %%
# The scores are simulated, so the true differences are known. The classifiers differ by up to 0.06,
# and some data sets are harder than others.
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
# The diagram shows the mean ranks, with the best classifier on the left. A bar joins classifiers
# without significant differences, which is not evidence that they are equal.
CriticalDifferenceDisplay.from_result(comparison)
plt.show()

# %%
# The next figure shows the size of the differences for the first four classifiers, with
# simultaneous intervals. The estimate is the median of the averages of two data sets.
print(compare_scores(frame[names[:4]], over="datasets", random_state=0))
