"""bootstrap_score against plain loops, bootstrap_error and rms::validate."""

import warnings

import numpy as np
import pytest
from helpers.crossed import each_value
from reference import bootstrap_score as reference
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import accuracy_score, get_scorer, make_scorer, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skeval.model_selection import bootstrap_error, bootstrap_score

METHODS = ("oob", ".632", ".632+", "optimism")


@pytest.fixture(scope="module")
def two_classes():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:90, :4], y[:90]


def resamples(y, n_resamples=12, seed=0):
    """Resamples that hold two classes and leave out samples of both."""
    rng, y, rows = np.random.default_rng(seed), np.asarray(y), []
    while len(rows) < n_resamples:
        drawn = rng.integers(0, len(y), len(y))
        left_out = np.setdiff1d(np.arange(len(y)), drawn)
        if len(np.unique(y[drawn])) > 1 and len(np.unique(y[left_out])) > 1:
            rows.append(drawn)
    return np.array(rows)


@each_value
@pytest.mark.parametrize(
    "names", [["roc_auc", "f1"], ["balanced_accuracy", "matthews_corrcoef"]], ids=" ".join
)
@pytest.mark.parametrize(
    "estimator",
    [
        GaussianNB(),
        LinearDiscriminantAnalysis(),
        KNeighborsClassifier(5),
        make_pipeline(StandardScaler(), SVC(kernel="linear")),
        RidgeClassifier(),
        DecisionTreeClassifier(max_depth=2, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_every_method_equals_the_plain_loops(two_classes, estimator, names):
    X, y = (each[::2] for each in two_classes)
    indices = resamples(y)
    results = {
        method: bootstrap_score(estimator, X, y, scoring=names, method=method, indices=indices)
        for method in METHODS
    }
    for name in names:
        expected = reference.scores(estimator, X, y, indices, get_scorer(name))
        for method in METHODS:
            assert results[method][name].value == pytest.approx(expected[method], rel=1e-9)


@pytest.mark.filterwarnings("ignore:scoring 'max_error.*has no useful interval")
def test_numbers_equal_the_plain_loops():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:80], y[:80]
    indices = np.random.default_rng(0).integers(0, 80, (10, 80))
    for name in ("r2", "neg_root_mean_squared_error", "max_error"):
        scorer = get_scorer(name if name != "max_error" else "neg_max_error")
        expected = reference.scores(LinearRegression(), X, y, indices, scorer)
        for method in METHODS:
            result = bootstrap_score(
                LinearRegression(), X, y, scoring={name: scorer}, method=method, indices=indices
            )
            assert result[name].value == pytest.approx(expected[method], rel=1e-9)


@each_value
@pytest.mark.parametrize("name", ["accuracy", "neg_log_loss", "neg_brier_score"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_mean_loss_has_the_numbers_of_bootstrap_error(two_classes, name, weighted):
    X, y = two_classes
    loss, best = {
        "accuracy": ("zero_one", 1),
        "neg_log_loss": ("log_loss", 0),
        "neg_brier_score": ("brier", 0),
    }[name]
    options = {"n_resamples": 30, "random_state": 3}
    if weighted:
        options["sample_weight"] = np.random.default_rng(0).uniform(0.5, 2, len(y))
    for method in METHODS[:3]:
        score = bootstrap_score(GaussianNB(), X, y, scoring=name, method=method, **options)
        error = bootstrap_error(GaussianNB(), X, y, loss=loss, method=method, **options)
        assert score.value == best - error.value
        assert score.standard_error == error.standard_error
        assert score.interval.low == pytest.approx(best - error.interval.high, abs=1e-15)
        assert score.extra.resubstitution == best - error.extra.resubstitution
        np.testing.assert_array_equal(score.replicates, best - error.replicates)
    assert bootstrap_score(GaussianNB(), X, y, **options).name == "accuracy"


def test_optimism_equals_rms_validate():
    """Optimism-corrected measures of R 4.2.2, rms 6.5.0, for the resamples in `indices`.

    ``write.csv``-ed X (a, b, c, d), y and 1 + indices, then

        f <- lrm(y ~ a + b + c + d, data = d, x = TRUE, y = TRUE)
        calls <- new.env(); calls$b <- 0
        env <- new.env(parent = asNamespace("rms"))
        env$sample <- function(x, size, replace = FALSE, prob = NULL) {
          calls$b <- calls$b + 1; indices[calls$b, ] }
        resample <- get("predab.resample", asNamespace("rms")); environment(resample) <- env
        assignInNamespace("predab.resample", resample, ns = "rms")
        validate(f, method = "boot", B = nrow(indices))
    """
    rng = np.random.default_rng(7)
    X = np.round(rng.standard_normal((80, 4)), 3)
    y = (rng.random(80) < 1 / (1 + np.exp(-X @ [1, 0.7, 0, 0]))).astype(int)
    indices = [rng.integers(0, 80, 80) for _ in range(40)]
    assert all(len(set(y[drawn])) == 2 for drawn in indices)
    model = LogisticRegression(C=1e10, tol=1e-10, max_iter=1000)
    names = ["roc_auc", "calibration_slope", "calibration_intercept", "neg_brier_score"]
    results = bootstrap_score(model, X, y, scoring=names, method="optimism", indices=indices)
    expected = {
        "roc_auc": (1 + 0.28191451042907) / 2,  # Dxy
        "calibration_slope": 0.69950249044384,
        "calibration_intercept": -0.01117122928240,
        "neg_brier_score": -0.25234789925345,
    }
    for name, value in expected.items():
        assert results[name].value == pytest.approx(value, abs=1e-8)
    assert results["roc_auc"].extra.optimism == pytest.approx(0.1102055646178 / 2, rel=1e-7)
    assert results["calibration_slope"].extra.resubstitution == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("method", ["oob", ".632", ".632+", "optimism"])
def test_calibration_of_exchanged_classes_is_mirrored(method):
    """The intercept changes its sign, and the slope stays; .632+ moved away from no information."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 3))
    y = (rng.random(90) < 1 / (1 + np.exp(-X[:, 0] - 1.5))).astype(int)
    model = LogisticRegression(C=1e10, tol=1e-10, max_iter=1000)
    names = ["calibration_intercept", "calibration_slope"]
    options = {"scoring": names, "method": method, "n_resamples": 20, "random_state": 0}
    results = bootstrap_score(model, X, y, **options)
    exchanged = bootstrap_score(model, X, 1 - y, **options)
    for name, sign in zip(names, (-1, 1), strict=True):
        one, other = results[name], exchanged[name]
        assert other.value == pytest.approx(sign * one.value, abs=1e-6)
        assert sorted([sign * other.interval.low, sign * other.interval.high]) == pytest.approx(
            [*one.interval], abs=1e-6
        )
        if method == ".632+":
            ends = sorted([one.extra.resubstitution, one.extra.no_information])
            assert (
                ends[0] - 1e-9 <= one.value <= ends[1] + 1e-9 or one.extra.relative_overfitting == 0
            )


def test_a_scorer_that_uses_the_samples_gets_the_model():
    X, y = load_iris(return_X_y=True)
    indices = resamples(y, 6)

    def weigh_by_length(model, X, y):
        return float(np.average(model.predict(X) == y, weights=X[:, 0]))

    expected = reference.scores(GaussianNB(), X, y, indices, weigh_by_length)
    for method in ("oob", ".632", "optimism"):
        result = bootstrap_score(
            GaussianNB(), X, y, scoring=weigh_by_length, method=method, indices=indices
        )
        assert result.value == pytest.approx(expected[method], rel=1e-12)
    plus = bootstrap_score(GaussianNB(), X, y, scoring=weigh_by_length, indices=indices)
    assert plus.extra.no_information == pytest.approx(1 / 3, abs=0.03)  # 100 permutations


def test_weights_equal_the_weighted_metric(two_classes):
    X, y = two_classes
    weight = np.random.default_rng(1).uniform(0.2, 3, len(y))
    indices = resamples(y, 8)
    result = bootstrap_score(
        GaussianNB(),
        X,
        y,
        scoring="roc_auc",
        method="optimism",
        sample_weight=weight,
        indices=indices,
    )
    scorer, whole = get_scorer("roc_auc"), np.arange(len(y))
    model = GaussianNB().fit(X, y, sample_weight=weight)
    apparent, excess = scorer(model, X, y, sample_weight=weight), []
    for drawn in indices:
        model = GaussianNB().fit(X[drawn], y[drawn], sample_weight=weight[drawn])
        inside, over = (
            scorer(model, X[rows], y[rows], sample_weight=weight[rows]) for rows in (drawn, whole)
        )
        excess.append(inside - over)
    assert result.value == pytest.approx(apparent - np.mean(excess), rel=1e-12)


def test_pairs_beyond_the_limit_are_drawn(two_classes, monkeypatch):
    X, y = two_classes
    exact = bootstrap_score(GaussianNB(), X, y, scoring="f1", n_resamples=5, random_state=0)
    monkeypatch.setattr("skeval.model_selection._bootstrap.MAX_PAIRS", 4000)
    drawn = bootstrap_score(GaussianNB(), X, y, scoring="f1", n_resamples=5, random_state=0)
    assert drawn.extra.no_information != exact.extra.no_information
    assert drawn.extra.no_information == pytest.approx(exact.extra.no_information, abs=0.03)


def test_undefined_scores_are_counted_and_named():
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.r_[np.flatnonzero(y == 1)[:40], np.flatnonzero(y == 0)[:2]]
    with pytest.warns(UndefinedMetricWarning, match="'roc_auc' is undefined for"):
        result = bootstrap_score(
            GaussianNB(), X[rows, :3], y[rows], scoring="roc_auc", n_resamples=40, random_state=0
        )
    assert 0 < result.extra.n_undefined == np.isnan(result.replicates).sum() < 40
    assert result.extra.oob == np.nanmean(result.replicates)


def test_one_outlier_leaves_no_useful_interval():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:60], np.where(np.arange(60) == 5, 1e6, y[:60])
    with pytest.warns(UndefinedMetricWarning, match="'r2' is .* and has no useful interval"):
        found = bootstrap_score(LinearRegression(), X, y, n_resamples=30, random_state=0)
    assert np.isfinite(found.value)
    assert np.isnan([*found.interval]).all()


def test_separated_classes_have_no_slope(two_classes):
    X, y = two_classes
    forest = RandomForestClassifier(5, random_state=0)
    options = {"scoring": "calibration_slope", "n_resamples": 10, "random_state": 0}
    with pytest.raises(ValueError, match="must be defined for the model of all samples"):
        bootstrap_score(forest, X, y, method="optimism", **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        assert np.isfinite(bootstrap_score(forest, X, y, method="oob", **options).value)


def test_the_standard_error_is_of_test_sets_and_of_models(two_classes):
    X, y = two_classes
    indices, pooled = resamples(y, 12), []
    for drawn in indices:
        left_out = np.setdiff1d(np.arange(len(y)), drawn)
        model = GaussianNB().fit(X[drawn], y[drawn])
        pooled += zip(left_out, model.predict_proba(X[left_out])[:, 1], strict=True)
    rows, p = np.array(pooled).T
    rows = rows.astype(int)
    values = np.array(
        [roc_auc_score(y[rows[rows != i]], p[rows != i]) for i in range(len(y)) if i in rows]
    )
    tested = len(values)
    error = np.sqrt((tested - 1) * np.var(values) * tested / len(y))
    whole = reference.resample_scores(GaussianNB(), X, y, indices, get_scorer("roc_auc"))[:, 1]
    expected = np.sqrt((1.15 + 8 / len(y)) * error**2 + np.var(whole, ddof=1))
    result = bootstrap_score(GaussianNB(), X, y, scoring="roc_auc", indices=indices)
    assert result.standard_error == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"scoring": []}, ValueError, "scoring must contain at least one score"),
        ({"scoring": "aucc"}, ValueError, "scoring"),
        ({"scoring": ["f1", "f1"]}, ValueError, "a different name"),
        ({"scoring": lambda m, X, y: {"a": 1.0}}, TypeError, "must return one number"),
        (
            {"scoring": "calibration_slope", "estimator": RidgeClassifier()},
            ValueError,
            "predict_pr",
        ),
        ({"stratify": True, "groups": np.arange(90) // 2}, ValueError, "stratify must be False"),
        (
            {"sample_weight": np.ones(90), "scoring": lambda m, X, y: 1.0},
            TypeError,
            "must accept sample_weight",
        ),
    ],
)
def test_errors_name_the_argument(two_classes, options, error, message):
    X, y = two_classes
    options = {"estimator": GaussianNB()} | options
    with pytest.raises(error, match=message):
        bootstrap_score(X=X, y=y, **options)


def test_a_function_that_takes_labels_is_no_mean_loss(two_classes):
    X, y = two_classes
    scorer = make_scorer(accuracy_score)
    options = {"method": "oob", "n_resamples": 15, "random_state": 0}
    plain = bootstrap_score(GaussianNB(), X, y, scoring={"hits": scorer}, **options)["hits"]
    assert plain.name == "hits()"
    assert "average" not in plain.extra.parameters
    named = bootstrap_error(GaussianNB(), X, y, average="bootstraps", **options)
    assert plain.value == pytest.approx(1 - named.value)
