"""Parts of an evaluation, most of all selection: names of what the selector chose from."""

import html
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.svm import SVC

import skeval
from skeval.feature_selection import CV2FeatureSelectionPipeline
from skeval.model_selection import NullDistributionDisplay

# Folds that are given are fitted once, and no labels are shuffled for them.
FEW = {"include": ["selection"], "cv": StratifiedKFold(3), "random_state": 0}
PERMUTED = {
    "include": ["permutation", "selection"],
    "n_permutations": 3,
    "random_state": 0,
    "cv": 2,
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    y = (X.a + rng.normal(size=60) > 0).to_numpy()
    return X.assign(kind=rng.choice(list("xyz"), 60)), y


def test_names_are_those_behind_the_steps_before_the_selector(table):
    X, y = table
    columns = ColumnTransformer(
        [("n", StandardScaler(), list("abcd")), ("c", OneHotEncoder(), ["kind"])]
    )
    model = make_pipeline(columns, SelectKBest(k=3), GaussianNB())
    report = skeval.evaluate(model, X, y, **FEW)
    expected = [f"n__{name}" for name in "abcd"] + [f"c__kind_{kind}" for kind in "xyz"]
    assert list(report.candidate_names) == expected == report.to_dict()["candidate_names"]
    assert report.selection_stability.extra.frequency.shape == (7,)
    assert "n__a" in report._repr_html_()


class Told(SelectKBest):
    """Selects, and takes weights and a word in its fit."""

    def fit(self, X, y, sample_weight=None, word=None):
        assert word == "here"
        assert len(sample_weight) == len(y)
        return super().fit(X, y)


def test_each_part_is_given_its_own_arguments(table):
    X, y = table[0][list("abcd")], table[1]
    weights = np.random.default_rng(0).uniform(0.5, 2, 60)
    model = make_pipeline(StandardScaler(), Told(k=2), GaussianNB())
    steps = ("standardscaler", "told", "gaussiannb")
    params = {f"{step}__sample_weight": weights for step in steps} | {"told__word": "here"}
    report = skeval.evaluate(model, X, y, params=params, **PERMUTED)
    by_weight = skeval.evaluate(
        model, X, y, sample_weight=weights, params={"told__word": "here"}, **PERMUTED
    )
    assert report.selection_bias.to_dict() == by_weight.selection_bias.to_dict()
    assert report.permutation.pvalue == by_weight.permutation.pvalue
    plain = report["cross_validation"]  # losses are averaged without weights that are for fits
    assert plain.value * 60 == pytest.approx(round(plain.value * 60))
    with pytest.raises(ValueError, match="must not both be passed"):
        skeval.evaluate(model, X, y, params=params, sample_weight=weights, **FEW)


@pytest.mark.filterwarnings("ignore:sample_weight does not reach SelectKBest")
def test_weights_by_name_are_not_perturbed(table):
    X, y = table[0][list("abcd")], table[1]
    weights = np.random.default_rng(0).uniform(0.5, 2, 60)
    options = {"include": ["perturbation"], "cv": 2, "random_state": 0}
    for params, perturbed in (({"sample_weight": weights}, False), (None, True)):
        report = skeval.evaluate(SVC(kernel="linear"), X, y, params=params, **options)
        assert (report.perturbation is not None) == perturbed
        assert (
            any(
                "'sample_weight', which the method perturbs" in str(text)
                for text in report.warnings
            )
            != perturbed
        )
    pair = CV2FeatureSelectionPipeline(SelectKBest(k=2), cv=None)
    report = skeval.evaluate(pair, X.to_numpy(), y, params={"sample_weight": weights}, **FEW)
    by_weight = skeval.evaluate(pair, X.to_numpy(), y, sample_weight=weights, **FEW)
    assert report.selection_bias.to_dict() == by_weight.selection_bias.to_dict()


@pytest.mark.filterwarnings("error")
def test_an_overfitting_svm_is_perturbed_without_a_warning():
    X, y = np.random.default_rng(0).normal(size=(40, 30)), np.tile([0, 1], 20)
    options = {"include": ["perturbation"], "cv": 3, "random_state": 0}
    report = skeval.evaluate(SVC(kernel="linear"), X, y, **options)
    assert report["resubstitution"].value < report["cross_validation"].value / 2
    assert len(report.perturbation) == 2


def test_no_result_of_a_part_is_lost(table):
    model = make_pipeline(SelectKBest(k=2), GaussianNB())
    options = {"include": "all", "n_permutations": 3, "cv": 2, "random_state": 0}
    report = skeval.evaluate(model, table[0][list("abcd")], table[1], **options)
    parts = {"resubstitution", "holdout", "cross_validation", "leave_one_out", ".632"}
    assert parts <= set(report.estimates)
    numbers = report.to_dict()
    for name in ("importance", "selection_bias", "selection_stability", "permutation"):
        assert numbers[name] is not None
    assert len(numbers["candidate_names"]) == 4
    assert "perturbation" in numbers


def test_names_given_by_hand_go_through_the_steps(table):
    X, y = table
    model = make_pipeline(PolynomialFeatures(2, include_bias=False), SelectKBest(k=3), GaussianNB())
    names = ["one", "two", "three", "four"]
    report = skeval.evaluate(model, X[list("abcd")].to_numpy(), y, feature_names=names, **FEW)
    assert report.candidate_names[:5] == (*names, "one^2")
    own = skeval.evaluate(model, X[list("abcd")], y, feature_names=names, **FEW)
    assert own.candidate_names[:3] == ("a", "b", "c")  # the steps refuse other names than theirs


def test_a_step_without_names_leaves_numbers(table):
    X, y = table
    double = FunctionTransformer(np.column_stack)
    model = make_pipeline(double, SelectKBest(k=2), GaussianNB())
    model.set_params(functiontransformer__func=lambda X: np.hstack([X, X**2]))
    report = skeval.evaluate(model, X[list("abcd")].to_numpy(), y, **FEW)
    assert report.candidate_names is None
    assert report.selection_stability.extra.frequency.shape == (8,)
    assert "could not be drawn" not in report.to_html()


def test_folds_that_know_different_words_are_aligned_by_name():
    rng = np.random.default_rng(0)
    words = np.array(["red", "blue", "cat", "dog", *(f"rare{i}" for i in range(40))])
    texts = [" ".join(rng.choice(words, 6)) for _ in range(50)]
    y = np.array(["cat" in text for text in texts])
    model = make_pipeline(CountVectorizer(), SelectKBest(chi2, k=2), MultinomialNB())
    report = skeval.evaluate(model, texts, y, **FEW)
    stability = report.selection_stability
    assert stability.extra.frequency.sum() == pytest.approx(2)
    assert stability.extra.frequency[report.candidate_names.index("cat")] == 1


class DropsRare(FunctionTransformer):
    """Puts out as many columns as its training samples give, without names."""

    def fit(self, X, y=None):
        self.kept_ = 2 + len(X) % 3
        return self

    def transform(self, X):
        return X[:, : self.kept_]


def test_different_features_without_names_are_said_to_have_no_stability():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(41, 5)), np.tile([0, 1], 21)[:41]
    model = make_pipeline(DropsRare(), SelectKBest(k=1), GaussianNB())
    report = skeval.evaluate(model, X, y, **FEW)
    assert report.selection_stability is None
    assert "The stability of the selection is unknown" in str(report)


def test_a_figure_that_fails_is_said_and_the_page_stands(table, monkeypatch):
    X, y = table
    report = skeval.evaluate(GaussianNB(), X[list("abcd")], y, **PERMUTED | {"n_permutations": 20})

    def fail(*arguments, **options):
        raise RuntimeError("no ink")

    monkeypatch.setattr(NullDistributionDisplay, "plot", fail)
    page = report.to_html()
    assert "(This figure could not be drawn: no ink)" in page
    assert "estimates of the same error" in page
    assert report._repr_html_().startswith('<div class="skeval">')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monkeypatch.setattr("skeval.report._report.render", fail)
        assert report._repr_html_() == f"<pre>{html.escape(str(report))}</pre>"


def test_importance_is_measured_in_the_fits_of_the_main_estimate(table):
    X, y = table[0][list("abcd")], table[1]
    folds = list(StratifiedKFold(3).split(X, y))
    report = skeval.evaluate(
        GaussianNB(), X, y, include="importance", cv=folds, scoring="accuracy", random_state=0
    )
    scorer = get_scorer("accuracy")
    models = [GaussianNB().fit(X.iloc[train], y[train]) for train, _ in folds]
    for name in "abcd":
        drops = []
        for model, (_, test) in zip(models, folds, strict=True):
            rng, tested = np.random.default_rng(report.seed), X.iloc[test]
            for _ in range(5):
                shuffled = tested.assign(
                    **{name: tested[name].to_numpy()[rng.permutation(len(test))]}
                )
                drops.append(scorer(model, tested, y[test]) - scorer(model, shuffled, y[test]))
        assert report.importance[name].value == pytest.approx(np.mean(drops))
    assert next(iter(report.importance)) == "a"
    assert not any("importance" in name for name in report.metrics)
    assert "a matters most" in report.to_html()
    assert "Shuffling a decreases the accuracy most" in str(report)
    assert report.to_frame("importance").index[0] == "a"
    plain = skeval.evaluate(GaussianNB(), X, y, cv=folds, random_state=0)
    assert plain.importance is None
    assert plain.answer.value == report.answer.value


def test_texts_have_no_importance():
    texts = np.array(["a b", "c d", "a d", "b c"] * 10)
    model = make_pipeline(CountVectorizer(token_pattern=r"\w"), MultinomialNB())
    y = np.array([0, 1, 0, 1] * 10)
    assert skeval.evaluate(model, texts, y, cv=2, include="importance").importance is None


def test_a_plot_of_another_kind_names_the_display_that_draws_it():
    """The argument of `plot` is an axes, and a kind of curve is a display of its own."""
    y = np.arange(40) % 2
    one = skeval.evaluate_predictions(y, np.linspace(0, 1, 40), random_state=0)
    two = skeval.evaluate_predictions(y, {"a": y, "b": 1 - y}, random_state=0)
    for report in (one, two):
        with pytest.raises(TypeError, match=r"RocCurveDisplay\.from_predictions"):
            report.plot("roc")
