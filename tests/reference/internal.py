"""Internal indices of clusterings, straight from their definitions: double loops over samples."""

import math

import numpy as np

__all__ = [
    "apply_noise",
    "between",
    "centroid_between",
    "centroids",
    "clusters",
    "compactness",
    "connectivity",
    "davies_bouldin",
    "distance_matrix",
    "dunn",
    "mst_edges",
    "silhouette_samples",
    "sse",
    "to_centroid",
    "within",
]


def euclidean(a, b):
    return math.sqrt(math.fsum((float(x) - float(y)) ** 2 for x, y in zip(a, b, strict=True)))


def manhattan(a, b):
    return math.fsum(abs(float(x) - float(y)) for x, y in zip(a, b, strict=True))


def cosine(a, b):
    dot = math.fsum(float(x) * float(y) for x, y in zip(a, b, strict=True))
    return 1 - dot / (euclidean(a, 0 * a) * euclidean(b, 0 * b))


METRICS = {"euclidean": euclidean, "manhattan": manhattan, "cosine": cosine}


def distance_matrix(X, metric="euclidean"):
    d = METRICS[metric]
    n = len(X)
    return np.array([[0.0 if i == j else d(X[i], X[j]) for j in range(n)] for i in range(n)])


def apply_noise(labels, noise):
    """Return the rows kept and a cluster key for each: drop -1, or give each -1 its own key."""
    rows, keys = [], []
    for i, label in enumerate(labels):
        if label == -1 and noise == "drop":
            continue
        rows.append(i)
        # singletons come after every real cluster
        keys.append((1, i) if label == -1 and noise == "singletons" else (0, label))
    return rows, keys


def clusters(keys):
    """Return the sample numbers of each cluster, in sorted order of the keys."""
    return [[i for i, key in enumerate(keys) if key == name] for name in sorted(set(keys))]


def silhouette_samples(D, keys):
    groups = clusters(keys)
    result = []
    for i in range(len(keys)):
        own = next(g for g in groups if i in g)
        if len(own) == 1:
            result.append(0.0)
            continue
        a = sum(D[i, j] for j in own if j != i) / (len(own) - 1)
        b = min(sum(D[i, j] for j in g) / len(g) for g in groups if g is not own)
        result.append(0.0 if max(a, b) == 0 else (b - a) / max(a, b))
    return np.array(result)


def within(D, keys):
    """Return the mean and the largest distance of the pairs of each cluster."""
    mean, largest = [], []
    for g in clusters(keys):
        pairs = [D[i, j] for i in g for j in g if i < j]
        mean.append(sum(pairs) / len(pairs) if pairs else 0.0)
        largest.append(max(pairs, default=0.0))
    return np.array(mean), np.array(largest)


def between(D, keys):
    """Return the mean and the smallest distance between every two clusters."""
    groups = clusters(keys)
    mean = np.full((len(groups), len(groups)), np.nan)
    smallest = mean.copy()
    for k, g in enumerate(groups):
        for m, h in enumerate(groups):
            if k != m:
                pairs = [D[i, j] for i in g for j in h]
                mean[k, m], smallest[k, m] = sum(pairs) / len(pairs), min(pairs)
    return mean, smallest


def dunn(D, keys):
    nearest = np.nanmin(between(D, keys)[1])
    widest = within(D, keys)[1].max()
    if widest > 0:
        return nearest / widest
    return math.inf if nearest > 0 else math.nan


def centroids(X, keys):
    return [
        np.array([math.fsum(X[i][f] for i in g) / len(g) for f in range(len(X[0]))])
        for g in clusters(keys)
    ]


def centroid_between(X, keys, metric="euclidean"):
    mu, d = centroids(X, keys), METRICS[metric]
    return np.array([[0.0 if a is b else d(a, b) for b in mu] for a in mu])


def to_centroid(X, keys, metric="euclidean"):
    """Return, for each cluster, the distances of its samples to its centroid."""
    mu, d = centroids(X, keys), METRICS[metric]
    return [[d(X[i], mu[k]) for i in g] for k, g in enumerate(clusters(keys))]


def sse(X, keys):
    return math.fsum(d**2 for distances in to_centroid(X, keys) for d in distances)


def compactness(X, keys):
    return math.sqrt(sse(X, keys) / len(keys))


def davies_bouldin(X, D, keys, dispersion="pairwise", metric="euclidean"):
    if dispersion == "pairwise":
        S = within(D, keys)[0]
    else:
        S = [sum(d) / len(d) for d in to_centroid(X, keys, metric)]
    cen = centroid_between(X, keys, metric)
    K = len(S)
    worst = []
    for k in range(K):
        ratios = [
            (S[k] + S[m]) / cen[k, m] if cen[k, m] > 0 else math.inf for m in range(K) if m != k
        ]
        worst.append(max(ratios))
    return sum(worst) / K


def connectivity(D, keys, n_neighbors):
    """Sum 1/rank of foreign neighbors; neighbors at equal distance share their ranks' mean."""
    n, total = len(keys), 0.0
    for i in range(n):
        others = sorted((D[i, j], j) for j in range(n) if j != i)
        weight = [1 / rank if rank <= n_neighbors else 0.0 for rank in range(1, n)]
        rounding = 1e-14 * others[-1][0]
        for d, j in others:
            if keys[j] != keys[i]:
                tied = [
                    rank
                    for rank, (e, _) in enumerate(others)
                    if math.isclose(e, d, rel_tol=1e-10, abs_tol=rounding)
                ]
                total += sum(weight[rank] for rank in tied) / len(tied)
    return total


def mst_edges(D, keys):
    """Return, for each cluster, its minimum spanning tree's edges, by Kruskal's algorithm."""
    trees = []
    for g in clusters(keys):
        part = {i: i for i in g}
        edges = []
        for d, i, j in sorted((D[i, j], i, j) for i in g for j in g if i < j):
            if part[i] != part[j]:
                edges.append(d)
                old = part[j]
                part = {m: part[i] if p == old else p for m, p in part.items()}
        trees.append(edges)
    return trees
