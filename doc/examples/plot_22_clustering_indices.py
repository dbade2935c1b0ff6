"""
Is my clustering any good?
==========================

Internal indices evaluate a clustering without class labels. Each index has its own definition of a
good cluster, so they disagree. All of them are computed in one pass over the distances.
"""

# %%
# K-means and average linkage divide the standardized wine data into two to six clusters.
import matplotlib.pyplot as plt
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from skeval.cluster import IndicesDisplay, ParetoDisplay, compare_clusterings
from skeval.metrics.cluster import external_indices, internal_indices

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
partitions = {}
for k in range(2, 7):
    partitions[f"k-means {k}"] = KMeans(k, n_init=10, random_state=0).fit_predict(X)
    partitions[f"average {k}"] = AgglomerativeClustering(k, linkage="average").fit_predict(X)
print(internal_indices(X, partitions["k-means 3"]))

# %%
# A clustering *dominates* another if it is at least as good on every index and better on one. The
# clusterings that no other clustering dominates form the Pareto front, which is not a ranking.
comparison = compare_clusterings(X, partitions)
print(comparison)

# %%
# The figure shows each index of K-means against the number of clusters. Filled points are on the
# Pareto front of K-means alone.
k_means = {name: labels for name, labels in partitions.items() if name.startswith("k-means")}
IndicesDisplay.from_result(compare_clusterings(X, k_means))
plt.show()

# %%
# The last figure shows two of the indices for both methods. The best corner is the lower right one.
ParetoDisplay.from_result(comparison, x="silhouette", y="connectivity")
plt.show()

# %%
# Here the cultivars are known, so external indices can check the result.
print(external_indices(y, partitions["k-means 3"]))
