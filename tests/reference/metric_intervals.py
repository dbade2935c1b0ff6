"""DeLong by loops over pairs, F from a table of probabilities, gradients."""

import math

import numpy as np
from scipy.optimize import minimize


def kernel(positive_score, negative_score):
    if positive_score > negative_score:
        return 1.0
    return 0.5 if positive_score == negative_score else 0.0


def delong(positive_scores, negative_scores):
    """Areas and covariance for lists of scores, one list per classifier (equations 3 to 6)."""
    k, m, n = len(positive_scores), len(positive_scores[0]), len(negative_scores[0])
    area, v10, v01 = [], [], []
    for x, y in zip(positive_scores, negative_scores, strict=True):
        area.append(sum(kernel(a, b) for a in x for b in y) / (m * n))
        v10.append([sum(kernel(a, b) for b in y) / n for a in x])
        v01.append([sum(kernel(a, b) for a in x) / m for b in y])
    covariance = [[0.0] * k for _ in range(k)]
    for r in range(k):
        for s in range(k):
            s10 = sum((v10[r][i] - area[r]) * (v10[s][i] - area[s]) for i in range(m)) / (m - 1)
            s01 = sum((v01[r][j] - area[r]) * (v01[s][j] - area[s]) for j in range(n)) / (n - 1)
            covariance[r][s] = s10 / m + s01 / n
    return area, covariance


def clustered_area_variance(positive, score, weight, group):
    """Obuchowski (1997): the variance between groups of the area over all weighted pairs.

    The deviation of a sample is its part in the sum over its own pairs, and that of a group the sum
    of those of its samples of both classes.
    """
    n = len(score)
    total = {
        one: sum(w for w, p in zip(weight, positive, strict=True) if p == one)
        for one in (True, False)
    }
    pairs = [
        (i, j, weight[i] * weight[j] / (total[True] * total[False]), kernel(score[i], score[j]))
        for i in range(n)
        for j in range(n)
        if positive[i] and not positive[j]
    ]
    area = sum(share * win for _, _, share, win in pairs)
    deviation = [0.0] * n
    for i, j, share, win in pairs:
        deviation[i] += share * (win - area)
        deviation[j] += share * (win - area)
    return area, clustered_variance(deviation, group, weight, weight, positive)


def clustered_variance(influence, group, size, leverage, part=None):
    """CR2: the squared sum of each group, times what makes it right for independent samples.

    Of those, each of the variance of its squared size, the mean of a part is subtracted: a group
    with the share s of its leverage loses ``2 s`` of its own variance and gains ``s^2`` of all.
    """
    part = [0] * len(influence) if part is None else part
    scale = {
        p: sum(u * u for u, q in zip(influence, part, strict=True) if q == p)
        / sum(w * w for w, q in zip(size, part, strict=True) if q == p)
        for p in part
    }
    total = 0.0
    for g in set(group):
        own = left = 0.0
        for p in scale:
            of_part = [i for i in range(len(part)) if part[i] == p]
            here = [i for i in of_part if group[i] == g]
            share = sum(leverage[i] for i in here) / sum(leverage[i] for i in of_part)
            variance = scale[p] * sum(size[i] ** 2 for i in here)
            whole = scale[p] * sum(size[i] ** 2 for i in of_part)
            own += variance
            left += variance * (1 - 2 * share) + share**2 * whole
        moved = sum(influence[i] for i in range(len(part)) if group[i] == g)
        total += own / left * moved**2
    return total


def f_beta(precision, recall, beta):
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def averaged_score(p, value, average, beta, chosen, n):
    """The score of a table of probabilities (rows true), class by class."""
    classes = [c for c in range(len(p)) if chosen[c]]
    row = {c: sum(p[c]) for c in classes}
    column = {c: sum(p[i][c] for i in range(len(p))) for c in classes}
    if isinstance(average, str) and average == "micro":
        tp = sum(p[c][c] for c in classes)
        precision, recall = tp / sum(column.values()), tp / sum(row.values())
        if value == "precision":
            return precision
        return recall if value == "recall" else f_beta(precision, recall, beta)
    if not isinstance(average, str):
        weight = dict(zip(classes, average, strict=True))
    elif average == "macro":
        weight = dict.fromkeys(classes, 1.0)
    elif average == "weighted":
        weight = row
    else:
        weight = {c: 1 / math.log2(n * row[c]) for c in classes}
    total = sum(weight.values())
    precisions = {c: p[c][c] / column[c] for c in classes}
    recalls = {c: p[c][c] / row[c] for c in classes}
    mean_precision = sum(weight[c] * precisions[c] for c in classes) / total
    mean_recall = sum(weight[c] * recalls[c] for c in classes) / total
    if value == "precision":
        return mean_precision
    if value == "recall":
        return mean_recall
    if value == "f_of_means":
        return f_beta(mean_precision, mean_recall, beta)
    return sum(weight[c] * f_beta(precisions[c], recalls[c], beta) for c in classes) / total


def numerical_variance(p, score, n, step=1e-6):
    """Multinomial delta method: gradient by central differences, covariance cell by cell."""
    cells = [(i, j) for i in range(len(p)) for j in range(len(p))]
    gradient = {}
    for i, j in cells:
        ends = []
        for sign in (1, -1):
            moved = [list(r) for r in p]
            moved[i][j] += sign * step
            ends.append(score(moved))
        gradient[i, j] = (ends[0] - ends[1]) / (2 * step)
    variance = 0.0
    for a in cells:
        for b in cells:
            covariance = (p[a[0]][a[1]] if a == b else 0.0) - p[a[0]][a[1]] * p[b[0]][b[1]]
            variance += gradient[a] * gradient[b] * covariance / n
    return variance


def smallest_in_region(metric, share, radius):
    """The smallest metric of the region of a score interval, by SciPy with the cells as variables.

    The best of three starts that end in the region; each goes to a limit of 1e-9 in the cells, from
    within the region.
    """
    seen = share.ravel() > 0
    share = share.ravel()

    def slack(p):
        return 1 + radius - np.sum(share[seen] ** 2 / p[seen])

    def value(p):
        value, gradient = metric(p.reshape(shape))
        return value, gradient.ravel()

    shape = (int(np.sqrt(share.size)),) * 2
    rng = np.random.default_rng(0)
    found = []
    for _ in range(30):
        start = (1 - radius / (1 + radius) / 2) * share + radius / (1 + radius) / 2 * rng.dirichlet(
            np.ones(share.size)
        )
        result = minimize(
            value,
            start,
            jac=True,
            method="SLSQP",
            bounds=[(1e-9, 1)] * share.size,
            constraints=[
                {"type": "eq", "fun": lambda p: p.sum() - 1},
                {"type": "ineq", "fun": slack},
            ],
            options={"ftol": 1e-12, "maxiter": 500},
        )
        if slack(result.x) > -1e-8 and abs(result.x.sum() - 1) < 1e-8:
            found.append(result.fun)
        if len(found) == 3:
            break
    return min(found)


def tables_of_the_region(share, radius, n_tries):
    """Random 2 x 2 tables p with ``sum share^2 / p <= 1 + radius``, dense toward the borders."""
    rng = np.random.default_rng(0)
    spread = np.sqrt(rng.uniform(0, 3 * radius, (n_tries, 1)))
    tables = share.ravel() * np.exp(spread * rng.normal(size=(n_tries, 4)))
    tables += radius * rng.dirichlet([0.3] * 4, n_tries) * (share.ravel() == 0)
    tables /= tables.sum(axis=1, keepdims=True)
    seen = share.ravel() > 0
    distance = np.sum(share.ravel()[seen] ** 2 / tables[:, seen], axis=1)
    return tables[distance <= 1 + radius].reshape(-1, 2, 2)


def counted(table):
    """Return the true and the predicted classes of the samples of a table of counts."""
    return np.repeat(np.indices(np.shape(table)).reshape(2, -1), np.ravel(table), axis=1)


def derivatives(metric, y_true, y_pred, weight, step=1e-4):
    """Return the derivative of a metric by the weight of each sample, times that weight."""
    moves = step * np.eye(len(weight))
    changes = [
        metric(y_true, y_pred, sample_weight=weight + move)
        - metric(y_true, y_pred, sample_weight=weight - move)
        for move in moves
    ]
    return weight * np.array(changes) / (2 * step)


def sums(p):
    """Return the sums of the rows, those of the columns, and the diagonals of tables."""
    return p.sum(axis=-1), p.sum(axis=-2), np.diagonal(p, axis1=-2, axis2=-1)


def chance(p):
    """Return the agreement that independent rows and columns would have."""
    row, column, _ = sums(p)
    return np.sum(row * column, axis=-1)


def macro_recall(p):
    row, _, right = sums(p)
    return np.mean(right / row, axis=-1)


def macro_precision(p):
    return macro_recall(np.swapaxes(p, -1, -2))


def macro_f(p):
    row, column, right = sums(p)
    return np.mean(2 * right / (row + column), axis=-1)


def macro_jaccard(p):
    row, column, right = sums(p)
    return np.mean(right / (row + column - right), axis=-1)


def kappa(p):
    return (sums(p)[2].sum(axis=-1) - chance(p)) / (1 - chance(p))


def matthews(p):
    row, column, right = sums(p)
    spread = (1 - np.sum(row**2, axis=-1)) * (1 - np.sum(column**2, axis=-1))
    return (right.sum(axis=-1) - chance(p)) / np.sqrt(spread)


def with_gradient(score, step=1e-8):
    """Return a function of a table that has the score, and its gradient by differences."""

    def find(p):
        moves = step * np.eye(p.size).reshape(-1, *p.shape)
        ends = score(p + moves), score(p - moves)
        return score(p), (ends[0] - ends[1]).reshape(p.shape) / (2 * step)

    return find
