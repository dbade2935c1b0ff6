"""Three classifiers that scikit-learn has, fitted on all resamples at once: simulations in seconds.

They subclass scikit-learn's own, which the one fit on all samples and any check may use; only the
subclasses have a solver, so registering it here changes nothing for anyone else.
"""

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from skeval._adapters.runner import UNKNOWN, Agreement, Solver, supports
from skeval._resampling.inputs import FitOutput


class BatchCentroid(NearestCentroid):
    pass


class BatchLDA(LinearDiscriminantAnalysis):
    # "svd" divides the scatter by n - K in some releases and by n in others, "lsqr" always by n
    def __init__(self, solver="lsqr"):
        super().__init__(solver)


class BatchNearestNeighbor(KNeighborsClassifier):
    def __init__(self, n_neighbors=1):
        super().__init__(n_neighbors)


def class_means(weights, X, codes):
    """Sizes (n_fits, 2) and centroids (n_fits, 2, p) of the two classes under each weighting."""
    members = np.stack([weights * (codes == code) for code in (0, 1)], axis=1).astype(float)
    sizes = members.sum(axis=2)
    return sizes, members @ X / sizes[..., None]


def centroid_rule(weights, X, codes):
    _, means = class_means(weights, X, codes)
    distances = np.sum(means**2, axis=2)[..., None] - 2 * means @ X.T
    return distances.argmin(axis=1)


def lda_rule(weights, X, codes):
    sizes, means = class_means(weights, X, codes)
    centered = X - means[:, codes]
    scatter = np.swapaxes(centered * weights[..., None], 1, 2) @ centered
    covariance = scatter / sizes.sum(axis=1)[:, None, None]
    direction = np.linalg.solve(covariance, (means[:, 1] - means[:, 0])[..., None])[..., 0]
    offset = -np.sum(direction * means.mean(axis=1), axis=1) + np.log(sizes[:, 1] / sizes[:, 0])
    return (direction @ X.T + offset[:, None] > 0).astype(int)


def nearest_neighbor_rule(weights, X, codes):
    distances = np.sum((X[:, None] - X) ** 2, axis=2)
    allowed = np.where(weights[:, None] > 0, distances, np.inf)
    return codes[allowed.argmin(axis=2)]


class RuleSolver(Solver):
    def __init__(self, rule, X, target):
        self.rule, self.X, self.target = rule, X, target

    def is_faster(self, plan):
        return True

    def compare(self, block, model, samples):
        return Agreement(True)

    def solve(self, block):
        predicted = self.rule(block.train, self.X, self.target.codes)
        solved = np.ones(len(block), dtype=bool)
        return FitOutput.of_decisions(block, 2.0 * predicted - 1, solved)


def register(estimator_type, rule):
    @supports.register(estimator_type)
    def make(estimator, X, target, transformers):
        if transformers or len(target.classes) != 2:
            return UNKNOWN
        return RuleSolver(rule, X, target)


register(BatchCentroid, centroid_rule)
register(BatchLDA, lda_rule)
register(BatchNearestNeighbor, nearest_neighbor_rule)
