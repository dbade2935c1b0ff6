"""Scores of classifiers on data sets that others have published results of."""

from pathlib import Path

import numpy as np
import pandas as pd

# Demsar (2006), table 6: areas under the ROC curve of four variants of C4.5. Two of "voting" are
# printed alike, but ranked apart: the third is a hair better.
AREAS = {
    "adult (sample)": (0.763, 0.768, 0.771, 0.798),
    "breast cancer": (0.599, 0.591, 0.590, 0.569),
    "breast cancer wisconsin": (0.954, 0.971, 0.968, 0.967),
    "cmc": (0.628, 0.661, 0.654, 0.657),
    "ionosphere": (0.882, 0.888, 0.886, 0.898),
    "iris": (0.936, 0.931, 0.916, 0.931),
    "liver disorders": (0.661, 0.668, 0.609, 0.685),
    "lung cancer": (0.583, 0.583, 0.563, 0.625),
    "lymphography": (0.775, 0.838, 0.866, 0.875),
    "mushroom": (1.000, 1.000, 1.000, 1.000),
    "primary tumor": (0.940, 0.962, 0.965, 0.962),
    "rheum": (0.619, 0.666, 0.614, 0.669),
    "voting": (0.972, 0.981, 0.9751, 0.975),
    "wine": (0.957, 0.978, 0.946, 0.970),
}


def demsar_areas():
    """Return the frame of data sets and classifiers."""
    names = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
    return pd.DataFrame.from_dict(AREAS, orient="index", columns=names)


def bayes_and_trees():
    """Return naive Bayes and J48: means on 54 data sets, and the scores of ten folds on each."""
    table = pd.read_csv(Path(__file__).with_name("nbc_j48.csv"), comment="#", index_col=0)
    values = table.to_numpy(dtype=float)
    return table.iloc[:, :2], np.stack([values[:, 2:12], values[:, 12:]], axis=1)
