"""
How many clusters?
==================

Real clusters are found again in another half of the data, which prediction strength measures.
However, not every split that is found again is a cluster.
"""

# %%
# The example uses the iris data, and a sample of the same size from one Gaussian with the same mean
# and covariance, which has no clusters.
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
        KMeans(n_init=2),
        data,
        n_clusters=range(1, 7),
        method="prediction_strength",
        n_repeats=6,
        random_state=0,
    )
    for name, data in {"iris": X, "one Gaussian": cloud}.items()
}
print(choices["iris"])

# %%
# There are two clusters but three species, because two species overlap. Clusters describe the
# measurements, and not the taxonomy.

# %%
# Agreement of whole partitions (here the adjusted Rand index) is a second criterion for a fixed
# number of clusters. It is 1 for one cluster on any data, so it cannot choose "one".
print(predictive_power(KMeans(2, n_init=2), X, n_repeats=10, random_state=0))

# %%
# Stability alone is not evidence of clusters. The Gaussian is long and narrow, so K-means splits it
# in the middle, at nearly the same place in each half of the data. The same happens to points that
# are uniform in a box of the same length (gray). Only values well above the gray ones are evidence
# of clusters.
fig, axes = plt.subplots(1, 2, sharey=True, figsize=(9, 4.2), layout="constrained")
for ax, (name, choice) in zip(axes, choices.items(), strict=True):
    StabilityDisplay.from_result(choice, ax=ax)
    ax.set_title(f"{name}: {choice.n_clusters} chosen")
plt.show()
