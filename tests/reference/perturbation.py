"""Perturbation resampling, one fit and one sample at a time."""

import numpy as np
from sklearn.base import clone


def loss_of(model, x, label, loss):
    predicted = model.predict(x[None])[0]
    return float(predicted != label) if loss is None else loss(label, predicted)


def statistics_resubstitution(model, X, y, weights, loss=None, own=None):
    """W* of formulas: n^(-1/2) sum_i G_i {e_i(theta*) - AE}, an SVC under C G_i / mean(G)."""
    n = len(y)
    own = np.ones(n) if own is None else own
    plain = clone(model).fit(X, y, sample_weight=own)
    apparent = sum(own[i] * loss_of(plain, X[i], y[i], loss) for i in range(n)) / sum(own)
    statistics = []
    for G in weights:
        perturbed = clone(model).fit(X, y, sample_weight=own * G / np.mean(G))
        total = 0.0
        for i in range(n):
            e = loss_of(perturbed, X[i], y[i], loss)
            total += G[i] * own[i] / np.mean(own) * (e - apparent)
        statistics.append(total / np.sqrt(n))
    return apparent, np.array(statistics)


def statistics_cross_validation(model, X, y, weights, folds):
    """W* with the cross-validated losses; weights enter training and evaluation."""
    n = len(y)
    plain = []
    for train, test in folds:
        fitted = clone(model).fit(X[train], y[train])
        plain += [loss_of(fitted, X[i], y[i], None) for i in test]
    cv = sum(plain) / len(plain)
    statistics = []
    for G in weights:
        losses = np.zeros(n)
        tests = np.zeros(n)
        for train, test in folds:
            fitted = clone(model).fit(
                X[train], y[train], sample_weight=G[train] / np.mean(G[train])
            )
            for i in test:
                losses[i] += loss_of(fitted, X[i], y[i], None)
                tests[i] += 1
        total = sum(G[i] * (losses[i] / tests[i] - cv) for i in range(n))
        statistics.append(total / np.sqrt(n))
    return cv, np.array(statistics)
