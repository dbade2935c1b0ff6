"""The modules whose names are public."""

MODULES = [
    "skeval",
    "skeval.cluster",
    "skeval.datasets",
    "skeval.feature_selection",
    "skeval.metrics",
    "skeval.metrics.cluster",
    "skeval.model_selection",
    "skeval.report",
    "skeval.svm",
]
