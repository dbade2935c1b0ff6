"""
Does my clustering agree with known classes?
============================================

Purity rises with every additional cluster, and the plain Rand index is high for any clustering into
many clusters. Which external index is reliable?
"""

# %%
# The digits are clustered by K-means into 2 to 40 clusters. Random labels with the same numbers of
# clusters are the comparison.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from skeval.metrics.cluster import contingency_matrix, external_indices

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
sizes = [2, 5, 10, 20, 40]
clusterings = {k: KMeans(k, n_init=1, random_state=0).fit_predict(X) for k in sizes}
chance = {k: rng.integers(k, size=len(y)) for k in sizes}
print(external_indices(y, clusterings[10]))

# %%
# The figure shows the indices against the number of clusters. Only the adjusted Rand index is
# corrected for chance, because its dashed line stays at 0. The dotted line marks the ten true
# classes.
names = ["purity", "rand", "pair_f1", "adjusted_rand"]
fig, axes = plt.subplots(1, 4, sharey=True, figsize=(9.5, 2.9), layout="constrained")
for ax, name in zip(axes, names, strict=True):
    for partitions, style, label in ((clusterings, "-o", "k-means"), (chance, "--s", "random")):
        values = [external_indices(y, partitions[k])[name] for k in sizes]
        ax.plot(sizes, values, style, ms=4, label=label)
    ax.axvline(10, color="gray", ls=":")
    ax.set(title=name.replace("_", " "), xlabel="clusters", xscale="log", xticks=sizes)
    ax.set_xticklabels(sizes)
    ax.minorticks_off()
axes[0].set(ylabel="index", ylim=(-0.05, 1.05))
axes[0].legend()
plt.show()

# %%
# All indices are computed from this contingency table. Ones and eights share a cluster, and so do
# threes and nines.
print(contingency_matrix(y, clusterings[10]))
