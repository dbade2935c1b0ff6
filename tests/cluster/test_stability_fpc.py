"""Stability of clusters against published output of R's fpc::clusterboot."""

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist
from sklearn.base import BaseEstimator, ClusterMixin

from skeval.cluster import cluster_stability

# Protein in the diet of 25 European countries (Hand et al., 1994, A Handbook of Small Data Sets):
# red and white meat, eggs, milk, fish, cereals, starch, nuts, fruit and vegetables.
PROTEIN = np.loadtxt(
    """\
10.1 1.4 0.5 8.9 0.2 42.3 0.6 5.5 1.7
8.9 14.0 4.3 19.9 2.1 28.0 3.6 1.3 4.3
13.5 9.3 4.1 17.5 4.5 26.6 5.7 2.1 4.0
7.8 6.0 1.6 8.3 1.2 56.7 1.1 3.7 4.2
9.7 11.4 2.8 12.5 2.0 34.3 5.0 1.1 4.0
10.6 10.8 3.7 25.0 9.9 21.9 4.8 0.7 2.4
8.4 11.6 3.7 11.1 5.4 24.6 6.5 0.8 3.6
9.5 4.9 2.7 33.7 5.8 26.3 5.1 1.0 1.4
18.0 9.9 3.3 19.5 5.7 28.1 4.8 2.4 6.5
10.2 3.0 2.8 17.6 5.9 41.7 2.2 7.8 6.5
5.3 12.4 2.9 9.7 0.3 40.1 4.0 5.4 4.2
13.9 10.0 4.7 25.8 2.2 24.0 6.2 1.6 2.9
9.0 5.1 2.9 13.7 3.4 36.8 2.1 4.3 6.7
9.5 13.6 3.6 23.4 2.5 22.4 4.2 1.8 3.7
9.4 4.7 2.7 23.3 9.7 23.0 4.6 1.6 2.7
6.9 10.2 2.7 19.3 3.0 36.1 5.9 2.0 6.6
6.2 3.7 1.1 4.9 14.2 27.0 5.9 4.7 7.9
6.2 6.3 1.5 11.1 1.0 49.6 3.1 5.3 2.8
7.1 3.4 3.1 8.6 7.0 29.2 5.7 5.9 7.2
9.9 7.8 3.5 24.7 7.5 19.5 3.7 1.4 2.0
13.1 10.1 3.1 23.8 2.3 25.6 2.8 2.4 4.9
17.4 5.7 4.7 20.6 4.3 24.3 4.7 3.4 3.3
9.3 4.6 2.1 16.6 3.0 43.6 6.4 3.4 2.9
11.4 12.5 4.1 18.8 3.4 18.6 5.2 1.5 3.8
4.4 5.0 1.2 9.5 0.6 55.9 3.0 5.7 3.2
""".splitlines()
)

# Zumel and Mount, Practical Data Science with R, section on clusterboot, and a rerun of a reader:
#   clusterboot(scale(protein[, -1]), clustermethod=hclustCBI, method="ward.D", k=5)
# $bootmean and $bootbrd of two runs with B=100. hclustCBI scales each resample again.
MEANS = np.array(
    [
        [0.7905000, 0.7990913, 0.6173056, 0.9312857, 0.7560000],
        [0.7958333, 0.7882421, 0.6631746, 0.9151190, 0.7596667],
    ]
)
N_DISSOLVED = np.array([[25, 11, 47, 8, 35], [23, 15, 41, 11, 36]])
# Their clusters, in the order in which their first rows occur, are these rows, counted from 1.
MEMBERS = [
    {1, 4, 18, 25},
    {2, 3, 9, 12, 14, 21, 22, 24},
    {5, 7, 11, 16, 23},
    {6, 8, 15, 20},
    {10, 13, 17, 19},
]


class WardD(ClusterMixin, BaseEstimator):
    """R's "ward.D" on scaled columns: Ward's method on the roots of the distances."""

    def fit_predict(self, X, y=None):
        distances = pdist((X - X.mean(axis=0)) / X.std(axis=0, ddof=1))
        return fcluster(linkage(np.sqrt(distances), "ward"), 5, "maxclust")


def test_the_published_output_of_fpc():
    found = cluster_stability(WardD(), PROTEIN, n_resamples=400, random_state=0)
    members = [set(np.flatnonzero(found.partition == name) + 1) for name in found.labels]
    order = [members.index(each) for each in MEMBERS]
    spread = found.replicates.std(axis=1, ddof=1)[order]
    error = spread * np.sqrt(1 / 200 + 1 / 400)  # of the mean of 200 resamples, and of ours
    assert (np.abs(found.values[order] - MEANS.mean(axis=0)) < 3.5 * error).all()
    share, theirs = found.n_dissolved[order] / 400, N_DISSOLVED.sum(axis=0) / 200
    error = np.sqrt(theirs * (1 - theirs) * (1 / 200 + 1 / 400))
    assert (np.abs(share - theirs) < 3.5 * error).all()
