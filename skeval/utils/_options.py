"""Types of the options of public functions, in which type checkers find misspelled ones."""

from typing import Literal

ErrorScore = float | Literal["raise"]
Allocation = Literal["proportional", "optimal"]
Alternative = Literal["two-sided", "greater", "less"]
BinInterval = Literal["clopper_pearson", "wilson"]
Binning = Literal["quantile", "uniform"]
BootstrapAverage = Literal["samples", "bootstraps"]
CompactnessUnit = Literal["root_mean", "mean", "sum"]
Correction = Literal["holm", "bonferroni", "none"]
Covariance = Literal["auto", "delong", "jackknife"]
DecisionShape = Literal["ovo", "ovr"]
Decomposition = Literal["corp", "murphy"]
Dispersion = Literal["pairwise", "centroid"]
ErrorBootstrap = Literal["oob", ".632", ".632+"]
Final = Literal["refit", "consensus"]
FoldVariance = Literal["all_pairs", "within_folds"]
GapMetric = Literal["sqeuclidean", "euclidean"]
HoldoutInterval = Literal["wilson", "agresti_coull", "jeffreys", "exact", "wald"]
MatrixAverage = Literal["macro", "micro"]
Missing = Literal["raise", "drop"]
Noise = Literal["cluster", "drop", "singletons"]
Over = Literal["splits", "datasets", "items"]
Perturbation = Literal["bootstrap", "subset", "noise", "jitter"]
PerturbationInterval = Literal["wilson", "normal", "pivotal", "symmetric", "quantile"]
PredictionKind = Literal["auto", "labels", "probabilities", "scores", "numbers"]
ProperLoss = Literal["brier", "log_loss"]
Quantity = Literal["low", "high", "value", "standard_error"]
RandomModel = Literal["n_clusters", "all", "permutation"]
Reference = Literal["auto", "uniform", "box", "permuted"]
ScaleName = Literal["auto", "binomial", "identity", "log"]
ScoreBootstrap = Literal["oob", ".632", ".632+", "optimism"]
Space = Literal["transformed", "input"]
StabilityAgreement = Literal["prediction_strength", "adjusted_rand", "matched_accuracy"]
StabilityMeasure = Literal["nogueira", "kuncheva", "jaccard"]
Statistic = Literal["cross_validation", "resubstitution"]
StructureReference = Literal["auto", "uniform", "box", "permuted", "unimodal"]
UnitSampling = Literal["random", "fixed"]
ErrorMethod = Literal[
    "auto",
    "resubstitution",
    "holdout",
    "cross_validation",
    "leave_one_out",
    "oob",
    ".632",
    ".632+",
    "repeated_cv",
    "cv_wald",
    "corrected_t",
    "conservative_z",
    "nested_cv",
    "perturbation",
]
MetricIntervalMethod = Literal[
    "auto",
    "analytic",
    "percentile",
    "bca",
    "basic",
    "score",
    "wilson",
    "agresti_coull",
    "jeffreys",
    "exact",
    "wald",
    "delong",
    "delta",
    "normal",
    "hall",
    "t",
]
ExchangeName = Literal["auto", "samples", "within_groups", "whole_groups", "blocks", "rotations"]
ComparisonTest = Literal[
    "auto",
    "corrected_t",
    "permutation",
    "bootstrap",
    "max_t",
    "mcnemar",
    "cochran_q",
    "delong",
    "obuchowski_rockette",
    "fixed_readers",
    "time_blocks",
    "diebold_mariano",
    "wilcoxon",
    "nemenyi",
    "mean_ranks",
]
