"""
Many classifiers, many data sets
================================

Twenty classifiers on thirty data sets: who differs from whom, by how much, and how sure may one be?
"""

# %%
# The scores are simulated, so that the truth is known: a data set has a level of its own, and the
# classifiers differ by up to 0.06.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skeval.model_selection import (
    CriticalDifferenceDisplay,
    DifferencesDisplay,
    SimplexDisplay,
    compare_scores,
)

rng = np.random.default_rng(0)
names = [f"classifier {letter}" for letter in "ABCDEFGHIJKLMNOPQRST"]
hardness = rng.uniform(0.6, 0.9, size=(30, 1))
scores = hardness + np.linspace(0.06, 0, 20) + rng.normal(scale=0.02, size=(30, 20))
frame = pd.DataFrame(scores, columns=names, index=[f"data set {i}" for i in range(1, 31)])
comparison = compare_scores(frame, over="datasets", random_state=0)
print(comparison.details["reason"])
print(comparison.conclusion)

# %%
# Mean ranks, the best on the left. A bar joins neighbours of which no two are found different; that
# they are equal it does not say.
CriticalDifferenceDisplay.from_result(comparison)
plt.show()

# %%
# How large the differences are, for the first six: the median of the averages of two data sets,
# with intervals that hold all together.
six = compare_scores(frame[names[:6]], over="datasets", random_state=0)
DifferencesDisplay.from_result(six)
plt.show()

# %%
# A difference of less than 0.01 may not matter. Each point is one draw from the posterior of "A is
# better by more than that on a next data set", "neither is", "H is".
two = "classifier A", "classifier H"
print(comparison.posterior(*two))
SimplexDisplay.from_comparison(comparison, *two)
plt.show()
