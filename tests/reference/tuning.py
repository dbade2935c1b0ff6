"""What the table of a search says, by its definitions."""


def tibshirani(table):
    """Return the bias of the best mean score; a row of the table holds the scores of a split."""
    n_splits, n_candidates = len(table), len(table[0])
    means = [sum(row[j] for row in table) / n_splits for j in range(n_candidates)]
    best = means.index(max(means))
    return sum(max(row) - row[best] for row in table) / n_splits


def one_standard_error(table, order):
    """Return the first candidate in an order that is as good as the best, but for its error."""
    n = len(table)
    means = [sum(row[j] for row in table) / n for j in range(len(table[0]))]
    best = means.index(max(means))
    spread = sum((row[best] - means[best]) ** 2 for row in table) / (n - 1)
    enough = means[best] - (spread / n) ** 0.5
    return next(j for j in order if means[j] >= enough)
