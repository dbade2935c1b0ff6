"""Several labels or numbers per sample, against plain loops and scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from helpers.folds import note_splits
from reference import outputs as reference
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification, make_regression
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import f1_score, make_scorer, mean_squared_error, r2_score
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skeval._inference.errors import no_information
from skeval.model_selection import (
    bootstrap_error,
    bootstrap_score,
    cross_val_error,
    error_interval,
    learning_curve_band,
    permutation_test,
    perturbation_interval,
    score_interval,
    tuning_optimism,
)

FOLDS = list(KFold(4, shuffle=True, random_state=0).split(np.zeros(60)))
CLASSIFIERS = [
    MultiOutputClassifier(LogisticRegression()),
    OneVsRestClassifier(LogisticRegression()),
    ClassifierChain(LogisticRegression(), random_state=0),
    KNeighborsClassifier(),
    DecisionTreeClassifier(max_depth=3, random_state=0),
    RandomForestClassifier(5, random_state=0),
    make_pipeline(StandardScaler(), RidgeClassifier()),
]
REGRESSORS = [Ridge(), LinearRegression(), MultiOutputRegressor(Ridge()), KNeighborsRegressor()]


@pytest.fixture(scope="module")
def labels():
    return make_multilabel_classification(60, n_features=6, n_classes=4, random_state=0)


@pytest.fixture(scope="module")
def numbers():
    return make_regression(60, 5, n_targets=3, noise=20, random_state=0)


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_errors_of_labels_equal_the_plain_loops(labels, estimator):
    X, y = labels
    for loss in ("hamming", "zero_one"):
        expected = reference.cross_validated(estimator, X, y, FOLDS, loss)
        result = cross_val_error(estimator, X, y, cv=FOLDS, loss=loss)
        assert result.value == pytest.approx(expected.mean(), rel=1e-12)
    given = error_interval(estimator, X, y, cv=FOLDS)
    wrong = reference.cross_validated(estimator, X, y, FOLDS, "hamming")
    assert given.value == pytest.approx(wrong.mean(), rel=1e-12)
    assert np.mean([one.value for one in given.extra.by_output.values()]) == pytest.approx(
        given.value
    )


@pytest.mark.parametrize("estimator", REGRESSORS, ids=lambda model: type(model).__name__)
def test_errors_of_numbers_equal_the_plain_loops(numbers, estimator):
    X, y = numbers
    for loss in ("squared", "absolute"):
        expected = reference.cross_validated(estimator, X, y, FOLDS, loss)
        result = error_interval(estimator, X, y, cv=FOLDS, loss=loss)
        assert result.value == pytest.approx(expected.mean(), rel=1e-10)
        for k, one in enumerate(result.extra.by_output.values()):
            alone = reference.cross_validated(estimator, X, y[:, [k]], FOLDS, loss)
            if not isinstance(estimator, KNeighborsRegressor):
                assert one.value == pytest.approx(alone.mean(), rel=1e-8)


def test_the_error_of_a_label_is_that_of_a_single_column(labels):
    X, y = labels
    several = error_interval(KNeighborsClassifier(), X, y, cv=FOLDS)
    for k, one in enumerate(several.extra.by_output.values()):
        alone = error_interval(KNeighborsClassifier(), X, y[:, k], cv=FOLDS)
        assert one.value == alone.value
        assert one.interval == alone.interval


@pytest.mark.parametrize("method", ["oob", ".632", ".632+", "corrected_t", "nested_cv", "holdout"])
def test_every_method_gives_each_label_from_the_same_resamples(labels, method):
    X, y = labels
    options = {"method": method, "random_state": 3}
    if "632" in method or method == "oob":
        options["n_resamples"] = 20
    result = error_interval(KNeighborsClassifier(), X, y, **options)
    errors = [one.value for one in result.extra.by_output.values()]
    if method != ".632+":  # its weight depends on the column
        assert np.mean(errors) == pytest.approx(result.value, rel=1e-10)
    assert result.interval.low < result.value < result.interval.high


@pytest.mark.parametrize("loss", ["hamming", "zero_one"])
def test_no_information_is_the_mean_of_all_pairs(labels, loss):
    _, y = labels
    predicted = np.roll(y, 3, axis=0)

    def hamming(true, predicted):
        return np.mean(true != predicted, axis=1)

    function = None if loss == "zero_one" else hamming
    gamma, values = no_information(y, predicted, function)
    assert gamma == pytest.approx(reference.no_information(y, predicted, loss), rel=1e-12)
    assert np.mean(values) == pytest.approx(gamma, rel=1e-12)


def test_frames_sparse_and_named_labels_give_the_same_numbers(labels):
    X, y = labels
    chain = OneVsRestClassifier(LogisticRegression())
    plain = error_interval(chain, X, y, cv=FOLDS)
    frame = pd.DataFrame(y, columns=["art", "law", "news", "sport"], index=7 * np.arange(60)[::-1])
    named = error_interval(chain, pd.DataFrame(X), frame, cv=FOLDS)
    sparse = error_interval(chain, csr_matrix(X), csr_matrix(y), cv=FOLDS)
    assert named.value == plain.value
    for dtype in ("category", "Int64", bool):
        cast = error_interval(chain, X, frame.astype(dtype), cv=FOLDS)
        assert cast.value == plain.value
    single = error_interval(chain, X, csr_matrix(y[:, [0]]), cv=FOLDS)
    assert list(single.extra.by_output) == ["label 0"]
    assert sparse.value == pytest.approx(plain.value, abs=0.01)
    assert list(named.extra.by_output) == ["art", "law", "news", "sport"]


def test_several_classes_and_texts_in_a_column(labels):
    X, _ = labels
    rng = np.random.default_rng(0)
    y = pd.DataFrame({"size": rng.choice(["S", "M", "L"], 60), "type": rng.integers(0, 3, 60)})
    coded = np.column_stack([np.unique(y[name], return_inverse=True)[1] for name in y])
    tree = KNeighborsClassifier()
    texts = cross_val_error(tree, X, y["size"].to_frame().assign(b=y["size"]), cv=FOLDS)
    codes = cross_val_error(tree, X, coded[:, [0, 0]], cv=FOLDS)
    assert texts.value == codes.value
    expected = reference.cross_validated(tree, X, coded, FOLDS, "hamming")
    assert cross_val_error(tree, X, coded, cv=FOLDS).value == pytest.approx(expected.mean())


def test_scores_equal_cross_validate(labels, numbers):
    X, y = labels
    model = MultiOutputClassifier(LogisticRegression())
    scoring = ["accuracy", "f1_macro", "f1_micro", "roc_auc"]
    ours = score_interval(model, X, y, scoring=scoring, n_repeats=1, random_state=0)
    assert list(ours) == scoring
    exact = error_interval(model, X, y, loss="zero_one", n_repeats=1, random_state=0)
    assert ours["accuracy"].value == pytest.approx(1 - exact.value)
    X, y = numbers
    ours = score_interval(Ridge(), X, y, scoring=["r2", "neg_mean_squared_error"], random_state=0)
    squared = error_interval(Ridge(), X, y, random_state=0)
    assert ours["neg_mean_squared_error"].value == -squared.value
    assert 0.8 < ours["r2"].value < 1


def test_a_permutation_test_equals_scikit_learn(labels, numbers):
    for (X, y), model in ((labels, KNeighborsClassifier()), (numbers, Ridge())):
        result = permutation_test(model, X, y, cv=FOLDS, n_permutations=19, random_state=0)
        expected = np.mean(cross_validate(model, X, y, cv=FOLDS)["test_score"])
        assert result.statistic == pytest.approx(expected)
        assert result.pvalue == 0.05
    X, y = labels
    orders = np.array([np.random.default_rng(k).permutation(60) for k in range(5)])
    model = KNeighborsClassifier()
    given = permutation_test(model, X, y, cv=FOLDS, permutations=orders, scoring="f1_macro")
    scored = [
        cross_validate(model, X, y[order], cv=FOLDS, scoring="f1_macro")["test_score"].mean()
        for order in orders
    ]
    np.testing.assert_allclose(given.null_distribution, scored)


def test_groups_and_weights(labels, numbers):
    X, y = labels
    groups = np.repeat(np.arange(15), 4)
    result = error_interval(KNeighborsClassifier(), X, y, groups=groups, random_state=0)
    assert result.n_groups == 15
    assert all(one.n_groups == 15 for one in result.extra.by_output.values())
    by_groups = permutation_test(
        KNeighborsClassifier(),
        X,
        y,
        groups=groups,
        cv=GroupKFold(3),
        n_permutations=9,
        random_state=0,
    )
    assert by_groups.exchanged == "within groups"
    X, y = numbers
    weight = np.random.default_rng(0).uniform(0.5, 2, 60)
    weighted = error_interval(Ridge(), X, y, cv=FOLDS, sample_weight=weight)
    losses = np.empty(60)
    for train, test in FOLDS:
        model = Ridge().fit(X[train], y[train], sample_weight=weight[train])
        losses[test] = ((y[test] - model.predict(X[test])) ** 2).mean(axis=1)
    assert weighted.value == pytest.approx(np.average(losses, weights=weight))


def test_bootstrap_scores_of_several_outputs(labels):
    X, y = labels
    model = MultiOutputClassifier(LogisticRegression())
    rng, indices = np.random.default_rng(0), []
    while len(indices) < 8:
        drawn = rng.integers(0, 60, 60)
        if np.all(np.ptp(y[drawn], axis=0)):
            indices.append(drawn)
    result = bootstrap_score(model, X, y, scoring="f1_macro", method="optimism", indices=indices)
    apparent = f1_score(y, model.fit(X, y).predict(X), average="macro")
    excess = []
    for drawn in indices:
        fitted = model.fit(X[drawn], y[drawn])
        excess.append(
            f1_score(y[drawn], fitted.predict(X[drawn]), average="macro")
            - f1_score(y, fitted.predict(X), average="macro")
        )
    assert result.value == pytest.approx(apparent - np.mean(excess))
    accuracy = bootstrap_score(model, X, y, scoring="accuracy", indices=indices)
    error = bootstrap_error(model, X, y, loss="zero_one", indices=indices)
    assert accuracy.value == 1 - error.value


def test_no_wrong_label_has_an_upper_limit():
    X = np.linspace(-1, 1, 40)[:, None]
    y = np.column_stack([X[:, 0] > 0, X[:, 0] > 0]).astype(int)
    exact = error_interval(KNeighborsClassifier(1), X, y, method="resubstitution")
    assert exact.value == 0
    assert 0 < exact.interval.high < 0.2


def test_folds_share_out_the_rarest_labels():
    codes = np.zeros((40, 3), dtype=int)
    codes[:20, 0] = 1
    codes[:4, 1] = 1
    codes[30:38, 2] = 1
    rarest = np.r_[[1] * 4, [3] * 16, [0] * 10, [2] * 8, [0] * 2]
    for options in ({"n_folds": 4}, {"method": "holdout", "test_size": 0.25}):
        for _, test in note_splits(error_interval, codes, random_state=0, **options):
            assert np.bincount(rarest[test]).tolist() == [3, 1, 2, 4]


def test_a_label_that_is_constant_in_training_is_named(labels):
    X, y = labels
    y = y.copy()
    y[:, 1] = 0
    y[0, 1] = 1
    model = MultiOutputClassifier(LogisticRegression())
    with pytest.raises(ValueError, match="class") as error:
        error_interval(model, X, pd.DataFrame(y, columns=list("abcd")), random_state=0)
    assert "all with the same value of b" in "".join(error.value.__notes__)
    forest = error_interval(RandomForestClassifier(3, random_state=0), X, y, n_repeats=1)
    assert 1 / 60 <= forest.extra.by_output["label 1"].value < 0.1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loss": "squared"}, "loss must be None, a callable or one of 'hamming', 'zero_one'"),
        ({"loss": "log_loss"}, "loss must be None"),
        ({"y": np.random.default_rng(0).random((60, 2))}, "of y must contain classes, got the"),
        ({"y": np.full((60, 2), np.nan)}, "missing"),
        ({"y": pd.DataFrame(np.eye(60, 2, dtype=int), columns=["a", "a"])}, "name for each column"),
        ({"y": np.zeros((59, 2), dtype=int)}, "same length"),
        ({"y": pd.DataFrame({"a": ["x", "y"] * 30, "b": [0, 1] * 30})}, "numbers in column 'b'"),
    ],
)
def test_errors_name_the_argument(labels, change, message):
    X, y = labels
    with pytest.raises(ValueError, match=message):
        error_interval(KNeighborsClassifier(), X, **({"y": y} | change))


def test_curves_perturbations_and_searches_take_several_outputs(labels, numbers):
    X, y = numbers
    curve = learning_curve_band(Ridge(), X, y, cv=FOLDS, train_sizes=[0.5, 1.0], random_state=0)
    assert curve.y[1] == pytest.approx(cross_val_error(Ridge(), X, y, cv=FOLDS).value)
    found = perturbation_interval(Ridge(), X, y, cv=FOLDS, n_resamples=5, random_state=0)
    assert found.value == pytest.approx(cross_val_error(Ridge(), X, y, cv=FOLDS).value)
    X, y = labels
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, cv=2)
    found = tuning_optimism(search, X, y, cv=FOLDS)
    right = [clone(search).fit(X[a], y[a]).score(X[b], y[b]) for a, b in FOLDS]
    assert found.extra.nested_score == pytest.approx(np.mean(right))


def test_a_loss_of_the_user_gets_the_labels(numbers, labels):
    X, y = numbers
    result = error_interval(
        Ridge(), X, y, cv=FOLDS, loss=lambda true, predicted: np.max(abs(true - predicted), axis=1)
    )
    assert result.extra.by_output == {}
    X, y = labels
    words = np.array(["no", "yes"])[y]
    result = cross_val_error(
        KNeighborsClassifier(),
        X,
        words,
        cv=FOLDS,
        loss=lambda true, predicted: np.sum((true == "yes") & (predicted == "no"), axis=1),
    )
    assert 0 < result.value < 4


def test_mean_over_outputs_is_that_of_scikit_learn(numbers):
    X, y = numbers
    result = error_interval(Ridge(), X, y, method="resubstitution")
    predicted = Ridge().fit(X, y).predict(X)
    assert result.value == pytest.approx(mean_squared_error(y, predicted))
    scorer = make_scorer(r2_score, multioutput="raw_values")
    for function in (score_interval, permutation_test, bootstrap_score):
        with pytest.raises(TypeError, match="must return one number"):
            function(Ridge(), X, y, scoring={"r2": scorer})
