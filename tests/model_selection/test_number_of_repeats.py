"""The number of repeats of cross-validation that the losses require."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier

import skeval
from skeval.model_selection import error_interval, score_interval

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 4))
Y = np.where(X[:, 0] + RNG.normal(size=90) > 0, "b", "a")
LDA = LinearDiscriminantAnalysis()
TREE = DecisionTreeClassifier(random_state=0)
RANDOM = DummyClassifier(strategy="uniform", random_state=0)


def repeats_of(result):
    return result.extra.parameters["n_repeats"]


def test_stable_models_need_fewer_repeats():
    models = (LDA, TREE, RANDOM)
    numbers = [repeats_of(error_interval(model, X, Y, random_state=0)) for model in models]
    assert numbers[0] <= 3 < numbers[1] < numbers[2] == 10
    constant = error_interval(DummyClassifier(), X, Y, random_state=0)
    assert (repeats_of(constant), constant.extra.n_fits) == (2, 20)


OPTIONS = {
    "classes": (LDA, Y, {}),
    "numbers": (Ridge(), X[:, 0] + RNG.normal(size=90), {}),
    "outputs": (Ridge(), X[:, :2] + RNG.normal(size=(90, 2)), {}),
    "tree": (TREE, Y, {}),
    "groups": (LDA, Y, {"groups": np.arange(90) // 3}),
    "weights": (Ridge(), X[:, 1], {"sample_weight": RNG.uniform(0.5, 2, 90)}),
    "splitter": (LDA, Y, {"cv": KFold(6, shuffle=True)}),
    "log loss": (LDA, Y, {"loss": "log_loss"}),
}


@pytest.mark.parametrize("kind", OPTIONS)
def test_result_is_that_of_a_given_number_of_the_same_repeats(kind):
    model, y, options = OPTIONS[kind]
    found = error_interval(model, X, y, random_state=3, **options)
    given = error_interval(model, X, y, random_state=3, n_repeats=repeats_of(found), **options)
    # sums of several plans differ in their last digits
    for name, value in given.to_dict().items():
        is_number = isinstance(value, float)
        assert found.to_dict()[name] == (pytest.approx(value, rel=1e-9) if is_number else value)
    np.testing.assert_allclose(found.replicates, given.replicates, rtol=1e-9)
    assert found.extra.n_fits == repeats_of(found) * found.extra.parameters["n_folds"]
    if kind == "outputs":
        assert found.extra.by_output.to_dict() == given.extra.by_output.to_dict()


def test_number_depends_on_data_and_seed_only(tmp_path):
    plain = error_interval(TREE, X[:40], Y[:40], random_state=1)
    for options in ({"n_jobs": 2}, {"memory": tmp_path}, {"memory": tmp_path}):
        again = error_interval(TREE, X[:40], Y[:40], random_state=1, **options)
        assert again.to_dict() == plain.to_dict()
    scores = score_interval(TREE, X[:40], Y[:40], scoring=["accuracy", "roc_auc"], random_state=1)
    assert scores["accuracy"].value == pytest.approx(1 - plain.value)
    assert scores["accuracy"].extra.n_fits == scores["roc_auc"].extra.n_fits == plain.extra.n_fits


def test_systems_of_a_report_share_the_largest_number():
    alone = {"lda": LDA, "random": RANDOM}
    numbers = {
        name: repeats_of(skeval.evaluate(model, X, Y, include=[], random_state=0).answer)
        for name, model in alone.items()
    }
    report = skeval.evaluate(alone, X, Y, include=[], random_state=0)
    shared = {repeats_of(report[name].answer) for name in alone}
    assert shared == {max(numbers.values())}
    assert numbers["lda"] < numbers["random"] == 10


class Counted(DummyClassifier):
    n_fits = 0

    def fit(self, X, y, sample_weight=None):
        Counted.n_fits += len(X) > 500  # checks fit a few samples
        return super().fit(X, y)


@pytest.mark.parametrize(("n", "folds"), [(5000, 10), (5001, 5)])
def test_large_samples_have_two_repeats_of_five_folds(n, folds):
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, 1)), rng.integers(2, size=n)
    found = error_interval(Counted(strategy="uniform"), X, y, random_state=0)
    assert found.extra.parameters == {"n_folds": folds, "n_repeats": 10 if folds == 10 else 2}
    assert found.extra.n_fits == folds * repeats_of(found)


def test_report_of_a_large_sample_takes_at_most_twelve_fits():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 2)), rng.integers(2, size=20_000)
    Counted.n_fits = 0
    report = skeval.evaluate(Counted(strategy="uniform"), X, y, include=[], random_state=0)
    assert report.answer.extra.n_fits == 10
    assert Counted.n_fits <= 12
