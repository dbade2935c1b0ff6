"""
Is there any structure to cluster?
==================================

Every algorithm finds clusters, even in noise. Four questions about the same clusters: how many are
there, is each of them found again, is the index better than in noise, and how precise is it?
"""

# %%
# The iris data: one species is separate, two overlap.
import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from skeval.cluster import choose_n_clusters, cluster_stability, gap_statistic, structure_test

X = load_iris().data
kmeans = KMeans(n_init=2)

# %%
# How many? The methods use different criteria. The gap statistic uses the sum of squares, which
# splitting long clusters reduces further; the silhouette and the stability do not follow it.
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
# Which of four clusters would be found again? The lines are the limits of the verdicts; each point
# is a resample. One cluster is found in every resample, the others are split in some of them.
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
