"""
How many clusters?
==================

Clusters that are there will be found again in another half of the data. Prediction strength asks
exactly that. But what is found again need not be there.
"""

# %%
# The iris data, and as many draws from one Gaussian with the same mean and covariance, in which
# there are no clusters.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from skeval.cluster import StabilityDisplay, choose_n_clusters, predictive_power

X = load_iris().data
rng = np.random.default_rng(0)
cloud = rng.multivariate_normal(X.mean(axis=0), np.cov(X.T), size=len(X))
choices = {
    name: choose_n_clusters(
        KMeans(n_init=2), data, n_clusters=range(1, 7), n_repeats=6, random_state=0
    )
    for name, data in {"iris": X, "one Gaussian": cloud}.items()
}
print(choices["iris"])

# %%
# Two, although the flowers are of three species: two of these overlap, and clusters are what the
# measurements show, not what a botanist knows.

# %%
# Agreement of whole partitions (here the adjusted Rand index) is a second look at a fixed number
# of clusters. It is 1 for one cluster whatever the data, so it cannot answer "one".
print(predictive_power(KMeans(2, n_init=2), X, n_repeats=10, random_state=0))

# %%
# The picture shows what stability by itself cannot do. The one Gaussian is long and narrow; K-means
# cuts it in the middle, each half of the data in nearly the same place. So it does with points that
# lie uniformly in a box as long, in grey: only what lies well above them speaks for clusters.
fig, axes = plt.subplots(1, 2, sharey=True, figsize=(9, 4.2), layout="constrained")
for ax, (name, choice) in zip(axes, choices.items(), strict=True):
    StabilityDisplay.from_result(choice, ax=ax)
    ax.set_title(f"{name}: {choice.n_clusters} chosen")
plt.show()
