"""
Is there structure?
===================

Every algorithm finds clusters, in noise too. Four questions to the same clusters: how many, is each
of them found again, is the index better than in noise, and how exact is it.
"""

# %%
# The iris data: one species apart from two that overlap.
import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from skeval.cluster import (
    choose_n_clusters,
    cluster_stability,
    gap_statistic,
    index_interval,
    structure_test,
)
from skeval.metrics.cluster import silhouette_score

X = load_iris().data
kmeans = KMeans(n_init=2)

# %%
# How many? The methods look for different things. The gap sees the sum of squares, which long
# clusters lower further when they are cut; stability and silhouette do not follow it.
methods = ["prediction_strength", "silhouette", "gap"]
print(
    choose_n_clusters(
        kmeans, X, n_clusters=range(1, 7), method=methods, n_repeats=10, random_state=0
    )
)
gap = gap_statistic(kmeans, X, n_clusters=range(1, 7), n_references=30, random_state=0)
gap.plot()
plt.show()

# %%
# Which of four clusters would be found again? The lines are the limits of the verdicts; a point is
# a resample. One cluster is there in every resample, the others are cut here or there.
stability = cluster_stability(KMeans(4, n_init=2), X, n_resamples=50, random_state=0)
print(stability)
stability.plot()
plt.show()

# %%
# Is a silhouette of 0.55 good? Points uniform in the box of the data have none that large, when the
# same algorithm clusters them.
test = structure_test(KMeans(3, n_init=2), X, n_references=99, random_state=0)
print(test)
test.plot()
plt.show()

# %%
# And how exact is it?
print(index_interval(silhouette_score, X, KMeans(3, n_init=2), random_state=0))
