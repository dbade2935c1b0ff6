"""DBCV as Moulavi et al. (2014) define it: loops over samples, and Kruskal's algorithm."""

import math


def core_distance(D, own, i, p):
    """Equation of the all-points core distance; 0 where a power of 1/0 is infinite."""
    others = [D[i, j] for j in own if j != i]
    if min(others) == 0:
        return 0.0
    return (sum((1 / d) ** p for d in others) / len(others)) ** (-1 / p)


def spanning_tree(edges):
    """The first edges (reachability, smaller core distance, distance, i, j) to join all samples."""
    part = {i: i for edge in edges for i in edge[3:]}
    tree = []
    for edge in sorted(edges):
        i, j = edge[3:]
        if part[i] != part[j]:
            tree.append(edge)
            old = part[j]
            part = {m: part[i] if q == old else q for m, q in part.items()}
    return tree


def dbcv(D, labels, p):
    """Label -1 is noise, as is a cluster of one sample."""
    n = len(labels)
    names = sorted({k for k in labels if k != -1 and list(labels).count(k) > 1})
    clusters = [[i for i in range(n) if labels[i] == k] for k in names]
    core = {i: core_distance(D, own, i, p) for own in clusters for i in own}

    def reach(i, j):
        return max(core[i], core[j], D[i, j])

    sparseness, inner = [], []
    for own in clusters:
        pairs = [(i, j) for i in own for j in own if i < j]
        tree = spanning_tree(
            [(reach(i, j), min(core[i], core[j]), D[i, j], i, j) for i, j in pairs]
        )
        degree = {i: sum(i in edge[3:] for edge in tree) for i in own}
        inside = [i for i in own if degree[i] > 1]
        edges = [e[0] for e in tree if e[3] in inside and e[4] in inside]
        sparseness.append(max(edges or [e[0] for e in tree]))
        inner.append(inside or own)
    total = 0.0
    for k, own in enumerate(clusters):
        separation = min(
            reach(i, j) for m in range(len(clusters)) if m != k for i in inner[k] for j in inner[m]
        )
        larger = max(separation, sparseness[k])
        validity = (separation - sparseness[k]) / larger if larger else math.nan
        total += len(own) / n * validity
    return total
