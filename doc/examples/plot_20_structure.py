"""
Is there any structure to cluster?
==================================

Every algorithm finds clusters, even in noise. How many clusters are there? Would each of them be
found again? Is the index better than in noise?
"""

# %%
# In the iris data, one species is separate, and the other two overlap.
import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from skeval.cluster import choose_n_clusters, cluster_stability, gap_statistic, structure_test

X = load_iris().data
kmeans = KMeans(n_init=2)

# %%
# How many clusters are there? The methods use different criteria. The gap statistic uses the sum of
# squares, which decreases further if long clusters are split. The silhouette and the stability do
# not.
methods = ["sequential", "prediction_strength", "gap"]
print(
    choose_n_clusters(
        kmeans, X, n_clusters=range(1, 7), method=methods, n_repeats=10, random_state=0
    )
)
gap = gap_statistic(kmeans, X, n_clusters=range(1, 7), n_references=30, random_state=0)
gap.plot()
plt.show()

# %%
# Which of four clusters would be found again? Each point is a resample, and the lines are the
# limits of the verdicts. One cluster is found in every resample, and the others are split in some
# of them.
stability = cluster_stability(KMeans(4, n_init=2), X, n_resamples=50, random_state=0)
print(stability)
stability.plot()
plt.show()

# %%
# Is a silhouette of 0.55 good? Points from the closest unimodal distribution, clustered by the same
# algorithm, never reach it.
test = structure_test(KMeans(3, n_init=2), X, n_references=99, random_state=0)
print(test)
test.plot()
plt.show()
