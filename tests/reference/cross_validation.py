"""Cross-validated and resubstitution errors by plain loops."""

import numpy as np
from reference.bootstrap import rows_of, zero_one
from sklearn.base import clone


def fold_losses(estimator, X, y, folds, loss=zero_one):
    """For each fold the list of (sample, loss) of its held-out samples."""
    y = np.asarray(y)
    result = []
    for train, test in folds:
        model = clone(estimator).fit(rows_of(X, train), y[train])
        predicted = model.predict(rows_of(X, test))
        result.append([(i, loss(y[i], p)) for i, p in zip(test, predicted, strict=True)])
    return result


def pooled_error(folds):
    values = [value for fold in folds for _, value in fold]
    return sum(values) / len(values)


def fold_mean(folds):
    return np.mean([np.mean([value for _, value in fold]) for fold in folds])


def pooled_standard_error(folds):
    """Samples are the independent units: their summed residuals, over the number of losses."""
    error = pooled_error(folds)
    residuals, count = {}, 0
    for fold in folds:
        for i, value in fold:
            residuals[i] = residuals.get(i, 0.0) + value - error
            count += 1
    return sum(r**2 for r in residuals.values()) ** 0.5 / count
