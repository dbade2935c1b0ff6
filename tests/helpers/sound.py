"""Data that every function of a family takes, to vary what else it is given."""

import numpy as np
from helpers.families import FAMILIES

RNG = np.random.default_rng(0)
Y = np.arange(24) % 2
X = RNG.normal(size=(24, 3)) + 2 * Y[:, None]
CURVE = ([0.0, 0.5, 1.0], [0.0, 0.8, 1.0])
MASKS = np.stack([np.eye(3), 1 - np.eye(3)])
CLASSES = (np.arange(24) % 3, RNG.permutation(np.arange(24) % 3))
SOUND = {
    "classes": CLASSES,
    "numbers": (X[:, 0], X[:, 1]),
    "scores": (Y, X[:, 0]),
    **dict.fromkeys(
        ("reliability_curve", "expected_calibration_error", "score_decomposition"),
        (Y, 1 / (1 + np.exp(-X[:, 0]))),
    ),
    "net_benefit": (Y, 1 / (1 + np.exp(-X[:, 0]))),
    "calibration_measures": (Y, 1 / (1 + np.exp(-X[:, 0]))),
    "partitions": CLASSES,
    "partition": (Y,),
    "clustered": (X, Y),
    "texts": ([["a cat sat"], ["on a mat"]], ["a cat sat", "on the mat"]),
    "sentence_bleu_score": (["a cat sat"], "a cat"),
    "curves": (CURVE, CURVE),
    "masks": (MASKS, MASKS[:, ::-1]),
    "tables": (X > 1,),
    "vectors": (np.array([0.2, 0.5]),),
    "functions": (np.cos, np.sin),
    "supervised": (X, Y),
    "unsupervised": (X,),
}


def sound_calls():
    """Yield family, name and data of every function of data."""
    for family, functions in FAMILIES.items():
        for name in functions:
            if name in SOUND or family in SOUND:
                yield family, name, SOUND.get(name, SOUND.get(family))
