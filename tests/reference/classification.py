"""Error norms, error rate, averaged precision, recall and F, mean cost."""

import math


def error_norm(y_true, y_pred, ord, weight):
    errors = [abs(t - p) for t, p in zip(y_true, y_pred, strict=True)]
    if ord == 0:
        return sum(w for e, w in zip(errors, weight, strict=True) if e != 0)
    if ord == math.inf:
        return max(e for e, w in zip(errors, weight, strict=True) if w > 0)
    return sum(w * e**ord for e, w in zip(errors, weight, strict=True)) ** (1 / ord)


def mean_cost(y_true, y_pred, weight, cost):
    """`cost(t, p)` is a function."""
    triples = zip(y_true, y_pred, weight, strict=True)
    return sum(w * cost(t, p) for t, p, w in triples) / sum(weight)


def error_rate(y_true, y_pred, weight):
    return mean_cost(y_true, y_pred, weight, lambda t, p: t != p)


def counts(y_true, y_pred, weight, c):
    tp = fp = fn = 0
    for t, p, w in zip(y_true, y_pred, weight, strict=True):
        if t == c and p == c:
            tp += w
        elif p == c:
            fp += w
        elif t == c:
            fn += w
    return tp, fp, fn


def f_beta(p, r, beta):
    return 0.0 if p == r == 0 else (1 + beta**2) * p * r / (beta**2 * p + r)


def averaged(y_true, y_pred, weight, classes, average, beta):
    """Precision, recall and F; 0/0 is 0. `average` is a name or a list of class weights."""
    tables = [counts(y_true, y_pred, weight, c) for c in classes]
    if average == "micro":
        tp, fp, fn = (sum(table[i] for table in tables) / len(tables) for i in range(3))
        p, r = tp / (tp + fp) if tp + fp else 0.0, tp / (tp + fn) if tp + fn else 0.0
        return p, r, f_beta(p, r, beta)
    if average == "macro":
        average = [1] * len(classes)
    if average == "log_inverse":
        average = [1 / math.log2(tp + fn) for tp, _, fn in tables]
    p = r = 0.0
    for share, (tp, fp, fn) in zip(average, tables, strict=True):
        p += share / sum(average) * (tp / (tp + fp) if tp + fp else 0.0)
        r += share / sum(average) * (tp / (tp + fn) if tp + fn else 0.0)
    return p, r, f_beta(p, r, beta)


def averaged_over_matrices(matrices, average, beta):
    """Macro or micro averages over two-way tables, one class of one matrix after another."""
    tables = []
    for matrix in matrices:
        classes = range(len(matrix)) if len(matrix) > 2 else [1]
        for c in classes:
            others = [k for k in range(len(matrix)) if k != c]
            fp, fn = sum(matrix[k][c] for k in others), sum(matrix[c][k] for k in others)
            tables.append((matrix[c][c], fp, fn))
    if average == "micro":
        tables = [[sum(table[i] for table in tables) / len(tables) for i in range(3)]]
    p = sum(tp / (tp + fp) if tp + fp else 0.0 for tp, fp, _ in tables) / len(tables)
    r = sum(tp / (tp + fn) if tp + fn else 0.0 for tp, _, fn in tables) / len(tables)
    return p, r, f_beta(p, r, beta)
