"""Linear SVMs by a general optimizer, one at a time."""

import numpy as np


def solve_dual(X, y, box, tol=1e-10, max_iter=1_000_000):
    """Maximize the dual by steps on the pair of samples that violates optimality most.

    Returns alpha and libsvm's intercept: the mean of ``y_i - w x_i`` over the samples with
    ``0 < alpha_i < box_i``, or the middle of the interval that the others leave.
    """
    n = len(y)
    alpha = [0.0] * n
    gradient = [float(label) for label in y]  # y_i - w x_i
    for _ in range(max_iter):
        upward, downward = [], []
        for i in range(n):
            if (y[i] > 0 and alpha[i] < box[i]) or (y[i] < 0 and alpha[i] > 0):
                upward.append(i)
            if (y[i] > 0 and alpha[i] > 0) or (y[i] < 0 and alpha[i] < box[i]):
                downward.append(i)
        i = max(upward, key=lambda k: gradient[k])
        j = min(downward, key=lambda k: gradient[k])
        if gradient[i] - gradient[j] < tol:
            break
        curvature = float((X[i] - X[j]) @ (X[i] - X[j]))
        room_i = box[i] - alpha[i] if y[i] > 0 else alpha[i]
        room_j = alpha[j] if y[j] > 0 else box[j] - alpha[j]
        step = min(room_i, room_j)
        if curvature > 0:
            step = min(step, (gradient[i] - gradient[j]) / curvature)
        alpha[i] += y[i] * step
        alpha[j] -= y[j] * step
        for k in range(n):
            gradient[k] -= step * float(X[k] @ (X[i] - X[j]))
    else:
        raise RuntimeError("the reference did not converge")
    free = [gradient[k] for k in range(n) if 1e-9 * box[k] < alpha[k] < (1 - 1e-9) * box[k]]
    if free:
        return np.array(alpha), sum(free) / len(free)
    return np.array(alpha), 0.5 * (gradient[i] + gradient[j])


def primal_objective(X, y, box, w, b):
    total = 0.5 * sum(float(x) ** 2 for x in w)
    for x_i, y_i, box_i in zip(X, y, box, strict=True):
        total += box_i * max(0.0, 1.0 - y_i * (float(x_i @ w) + b))
    return total


def dual_objective(X, y, alpha):
    w = sum(a * label * x for a, label, x in zip(alpha, y, X, strict=True))
    return float(np.sum(alpha) - 0.5 * w @ w)
