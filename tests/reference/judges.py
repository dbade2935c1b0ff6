"""The slow, obvious mean of an outcome from few labels and many judgments."""

import numpy as np
from scipy import stats


def jeffreys(hits, n, level):
    low = stats.beta.ppf((1 - level) / 2, hits + 0.5, n - hits + 0.5) if hits > 0 else 0.0
    high = stats.beta.ppf((1 + level) / 2, hits + 0.5, n - hits + 0.5) if hits < n else 1.0
    return low, high


def by_strata(y, judge, unlabeled, level=0.95):
    """Estimate and limits by strata of a binary judgment."""
    ones = [v for v, j in zip(y, judge, strict=True) if j == 1]
    zeros = [v for v, j in zip(y, judge, strict=True) if j == 0]
    judged = [*judge, *unlabeled]
    w, z = np.mean(judged), stats.norm.ppf((1 + level) / 2)
    a, b = np.mean(ones), np.mean(zeros)
    (la, ua), (lb, ub) = (
        jeffreys(sum(ones), len(ones), level),
        jeffreys(sum(zeros), len(zeros), level),
    )
    theta = w * a + (1 - w) * b
    shared = z**2 * (a - b) ** 2 * w * (1 - w) / len(judged)
    low = theta - np.sqrt(w**2 * (a - la) ** 2 + (1 - w) ** 2 * (b - lb) ** 2 + shared)
    high = theta + np.sqrt(w**2 * (ua - a) ** 2 + (1 - w) ** 2 * (ub - b) ** 2 + shared)
    return theta, max(low, 0.0), min(high, 1.0)


def by_regression(y, judge, unlabeled):
    """Estimate and standard error by regression, with residuals of HC2."""
    y, judge = np.asarray(y, float), np.asarray(judge, float)
    design = np.column_stack([np.ones(len(y)), judge])
    inverse = np.linalg.inv(design.T @ design)
    coefficients = inverse @ design.T @ y
    judged = np.concatenate([judge, unlabeled])
    at = np.array([1.0, judged.mean()])
    residual = y - design @ coefficients
    leverage = np.diag(design @ inverse @ design.T)
    meat = design.T @ np.diag(residual**2 / (1 - leverage)) @ design
    variance = at @ inverse @ meat @ inverse @ at
    variance += coefficients[1] ** 2 * judged.var() / len(judged)
    return at @ coefficients, np.sqrt(variance)
