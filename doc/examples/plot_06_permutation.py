"""
Is the score better than chance?
================================

A permutation test shuffles the labels and runs the *whole* procedure again. Steps outside the
procedure are not tested.
"""

# %%
# The data are the first 30 wines of two classes, with 13 measurements and 300 columns of noise. The
# ten best columns are selected.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from skeval.model_selection import permutation_test

rng = np.random.default_rng(0)
wine = load_wine()
chosen = np.concatenate([np.flatnonzero(wine.target == c)[:15] for c in (0, 1)])
y = wine.target[chosen]
noise = rng.normal(size=(30, 300))
measured = np.hstack([wine.data[chosen], noise])

# %%
# With the selector in the pipeline, every run on shuffled labels repeats the selection.
procedure = make_pipeline(SelectKBest(k=10), SVC(kernel="linear"))
inside = permutation_test(procedure, measured, y, cv=5, n_permutations=100, random_state=0)
print(inside)

# %%
# The same test is run on noise only, once with the selection inside, and once with columns that
# were selected beforehand using all labels.
nothing = permutation_test(procedure, noise, y, cv=5, n_permutations=100, random_state=0)
picked = SelectKBest(k=10).fit_transform(noise, y)
leaked = permutation_test(SVC(kernel="linear"), picked, y, cv=5, n_permutations=100, random_state=0)
print(f"noise, selection inside: P = {nothing.pvalue:.3f}, beforehand: P = {leaked.pvalue:.3f}")

# %%
# The third panel shows the mistake. The test is significant although the columns are noise, because
# they were selected using the labels.
titles = {
    "wine and noise,\nselection inside": inside,
    "noise,\nselection inside": nothing,
    "noise,\nselected beforehand": leaked,
}
fig, axes = plt.subplots(1, 3, sharex=True, sharey=True, figsize=(10, 3.8), layout="constrained")
for ax, (title, test) in zip(axes, titles.items(), strict=True):
    test.plot(ax)
    ax.set(title=f"{title}\nP = {test.pvalue:.3f}", xlim=(0, 1.02))
plt.show()
