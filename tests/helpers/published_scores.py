"""Data, designs and results that others have published, which tests and benchmarks compare with."""

from functools import partial

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


# Ruspini (1970), 75 points in four groups, and what clusGap(ruspini, FUNcluster = pam1, K.max = 8,
# B = 60), the example of the help page of R's cluster, is known to print; R was not run for it.
RUSPINI = """4 53 5 63 10 59 9 77 13 49 13 69 12 88 15 75 18 61 19 65 22 74 27 72 28 76 24 58 27 55
28 60 30 52 31 60 32 61 36 72 28 147 32 149 35 153 33 154 38 151 41 150 38 145 38 143 32 143 34 141
44 156 44 149 44 143 46 142 47 149 49 152 50 142 53 144 52 152 55 155 54 124 60 136 63 139 86 132
85 115 85 96 78 94 74 96 97 122 98 116 98 124 99 119 99 128 101 115 108 111 110 111 108 116 111 126
115 117 117 115 70 4 77 12 83 21 61 15 69 15 78 16 66 18 58 13 64 20 69 21 66 23 61 25 76 27 72 31
64 30"""
RUSPINI = np.array(RUSPINI.split(), dtype=float).reshape(75, 2)
LOG_W = [7.187997, 6.628498, 6.261660, 5.692736]
GAP = [-0.05268985, 0.15431689, 0.30825062, 0.69184777]
SE = [0.03729363, 0.04060489, 0.04296625, 0.04346588]


def uniform_box(rng):
    return rng.uniform(size=(200, 10))


def three_in_the_plane(rng):
    centers = np.repeat([[0, 0], [0, 5], [5, -3]], [25, 25, 50], axis=0)
    return centers + rng.normal(size=(100, 2))


def four_apart(p, variance, rng):
    while True:
        centers = rng.normal(scale=np.sqrt(variance), size=(4, p))
        sizes = rng.choice([25, 50], size=4)
        own = np.repeat(np.arange(4), sizes)
        X = centers[own] + rng.normal(size=(len(own), p))
        apart = own[:, None] != own
        if np.linalg.norm(X[:, None] - X, axis=2)[apart].min() >= 1:
            return X


def two_long_ones(rng):
    line = np.linspace(-0.5, 0.5, 100)[:, None] * np.ones(3)
    return np.vstack([line, line + 10]) + rng.normal(scale=0.1, size=(200, 3))


# Section 5 of the paper. Long clusters along a diagonal need the principal box.
SCENARIOS = {
    "a": (uniform_box, "uniform", 1),
    "b": (three_in_the_plane, "uniform", 3),
    "b, box": (three_in_the_plane, "box", 3),
    "c": (partial(four_apart, 3, 5.0), "uniform", 4),
    "d": (partial(four_apart, 10, 1.9), "uniform", 4),
    "e": (two_long_ones, "uniform", 2),
}


# The values that dcurves 1.1 (github.com/MSKCC-Epi-Bio/dcurves, r_bin_dca_result_1.csv and
# r_dca_famhistory.csv) tests itself against, of the 750 patients of Memorial Sloan Kettering's
# tutorial of decision curves, 105 with cancer: the patients that each threshold calls positive,
# with and without cancer, and the net benefit of "cancerpredmarker".
DCURVES = {
    0.01: (105, 562, 0.13243097643097645),
    0.05: (96, 320, 0.1055438596491228),
    0.10: (87, 193, 0.08740740740740742),
    0.15: (82, 128, 0.07921568627450981),
    0.20: (75, 98, 0.06733333333333334),
    0.25: (72, 72, 0.06400000000000002),
    0.30: (62, 49, 0.05466666666666668),
    0.35: (57, 36, 0.050153846153846146),
    0.40: (47, 27, 0.038666666666666676),
    0.45: (40, 23, 0.02824242424242425),
}
TREAT_ALL = {0.05: 0.09473684210526317, 0.2: -0.07499999999999998, 0.45: -0.5636363636363636}
FAMILY_HISTORY = {0.05: 0.025614035087719297, 0.2: 0.0016666666666666635, 0.45: -0.06727272727}


def decision_patients():
    """Return patients with these counts: each lies between two thresholds."""
    proba = {1: [], 0: []}
    ends = [*list(DCURVES), 0.5]
    for kind, column in ((1, 0), (0, 1)):
        counts = [*(row[column] for row in DCURVES.values()), 0]
        for low, high, n in zip(ends[:-1], ends[1:], -np.diff(counts), strict=True):
            proba[kind] += [(low + high) / 2] * n
        proba[kind] += [0.005] * ((105, 645)[column] - len(proba[kind]))
    return np.repeat([1, 0], [105, 645]), np.array(proba[1] + proba[0])


# The 113 patients of the data set aSAH of the R package pROC 1.19.0.1 (Turck et al. 2010,
# doi:10.1007/s00134-009-1641-y): a poor outcome, and the WFNS grade, S100B and NDKA, times 100.
ASAH_POOR = (
    "000011010010110010111010000000001001101100000000011000100010"
    "10011101101111000110100000010000000000001111110001000"
)
ASAH_WFNS = (
    "111132541252551252252111121211342145414255112411255212512221"
    "51125214524414121421232421451154221113125225552445111"
)
ASAH_S100B = """
13 14 10 4 13 10 47 16 18 10 12 10 44 71 4 8 49 4 7 33 9 9 7 11 7 17 7 11 13 19 5 16 41 14 34 35
48 9 96 25 50 46 16 7 43 45 11 8 9 86 52 8 6 13 207 10 14 15 7 6 77 5 9 30 3 9 4 23 70 9 27 71 8
26 8 16 9 13 10 8 11 33 11 28 7 10 32 22 7 5 24 38 10 15 8 14 10 7 4 19 56 14 58 32 82 74 15 47 17
44 15 50 48
"""
ASAH_NDKA = """
301 854 809 1042 1740 1275 600 1320 1554 601 1596 1786 518 890 1341 2075 1160 1611 3237 5482 3241
4994 4034 947 629 1253 654 630 8030 1280 980 981 985 1821 503 1404 2193 802 742 838 659 963 1312
796 1434 4143 763 706 1259 1356 387 944 766 1298 41919 2719 2227 995 2122 1173 1040 5883 639 1109
1222 1367 1721 2263 1290 970 2157 823 7257 1554 1051 1060 1457 519 963 461 2148 1730 1271 944 1107
1946 1083 537 1197 775 983 1055 2849 853 1257 1290 4683 1168 1267 901 957 3406 1172 1426 4761 1167
2458 1033 1387 1589 2243 679 1345
"""


def asah_patients():
    """Return the outcomes, and the three scores by name."""
    scores = {"wfns": list(ASAH_WFNS), "s100b": ASAH_S100B.split(), "ndka": ASAH_NDKA.split()}
    poor = np.array(list(ASAH_POOR)) == "1"
    return poor, {name: np.array(score, dtype=float) for name, score in scores.items()}
