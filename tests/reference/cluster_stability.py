"""Clusterwise stability as Hennig's clusterboot in R's fpc defines it: sets of samples."""


def jaccard(first, second):
    """The coefficient of two sets; 0 of two empty ones."""
    return len(first & second) / len(first | second) if first | second else 0.0


def cluster_jaccards(names, labels, found):
    """Of each named cluster the coefficient with the most similar one found; -1 is no cluster."""

    def members(partition, name):
        return {i for i, label in enumerate(partition) if label == name}

    others = [members(found, name) for name in set(found) - {-1}]
    return [
        max((jaccard(members(labels, name), other) for other in others), default=0.0)
        for name in names
    ]
