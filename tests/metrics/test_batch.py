"""Scores of many fits at once are those of scikit-learn's scorers, one by one."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from helpers.crossed import each_value
from numpy.testing import assert_allclose
from sklearn import metrics
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer, make_scorer
from sklearn.utils import get_tags

from skeval._resampling.fit_request import EachScorer, FitRequest, StandIn, know_classes
from skeval._resampling.inputs import FitOutput, tie_values
from skeval._resampling.plans import PlanBlock
from skeval._resampling.sampling_units import Target
from skeval.metrics._scorers import find_batch
from skeval.metrics._table import BatchPredictions

OF_CLASSES = [
    "accuracy",
    "balanced_accuracy",
    "f1",
    "f1_macro",
    "f1_micro",
    "precision",
    "recall",
    "matthews_corrcoef",
    "roc_auc",
    "average_precision",
    "neg_log_loss",
    "neg_brier_score",
    make_scorer(metrics.cohen_kappa_score),
    make_scorer(metrics.f1_score),
]
OF_NUMBERS = [
    "r2",
    "neg_mean_squared_error",
    "neg_mean_absolute_error",
    "neg_root_mean_squared_error",
]


def some_answers(rng, classes):
    """Fits that are tested on few samples, with ties; classes may be absent."""
    k, n_fits, n = len(classes), 6, int(rng.integers(4, 30))
    test = rng.random((n_fits, n)) < 0.6
    test[:, 0] = True
    codes, size = rng.integers(0, k, n), int(test.sum())
    probability = rng.dirichlet(np.ones(k), size)
    if rng.random() < 0.5:
        probability = np.round(probability * 4 + 0.1)
        probability /= probability.sum(axis=1, keepdims=True)
    decision = np.round(rng.normal(size=size), 1) if k == 2 and rng.random() < 0.5 else None
    failed = np.zeros(n_fits, dtype=bool)
    output = FitOutput(test, failed, rng.integers(0, k, size), decision, probability)
    return Target(classes[codes], classes, codes), output


def score_each(scorer, target, output):
    tags = get_tags(LogisticRegression() if target.classes is not None else Ridge())
    scores = []
    for part in output:
        found = {"predict": target.decode(part.predicted)}
        if part.probability is not None:
            found["predict_proba"] = part.probability
        if part.decision is not None:
            found["decision_function"] = tie_values(part.decision)
        replayed = StandIn(found, tags, target.classes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                score = scorer(replayed, np.arange(len(part.rows)), target.y[part.rows])
            except ValueError:
                score = np.nan
        scores.append(score)
    return scores


@each_value
@pytest.mark.parametrize("classes", [[0, 1], [-1, 1], [0, 1, 2]], ids=str)
@pytest.mark.parametrize("scoring", OF_CLASSES, ids=str)
def test_scores_of_classes(scoring, classes):
    rng, n_defined = np.random.default_rng(0), 0
    for _ in range(4):
        target, output = some_answers(rng, np.array(classes))
        score = find_batch(scoring, target.classes)
        if score is None:
            assert classes != [0, 1]
            return
        found = score(
            BatchPredictions(
                np.concatenate([target.codes[t] for t in output.test]), output, target.n_classes
            )
        )
        scorer = know_classes(get_scorer(scoring), target.classes)
        expected = np.array(score_each(scorer, target, output))
        defined = ~np.isnan(found)
        assert_allclose(found[defined], expected[defined], rtol=0, atol=1e-13)
        n_defined += int(defined.sum())
    assert n_defined > 10


@pytest.mark.parametrize("scoring", OF_NUMBERS)
def test_scores_of_numbers(scoring):
    rng = np.random.default_rng(0)
    for _ in range(8):
        y, test = rng.normal(size=12), rng.random((6, 12)) < 0.5
        test[:, :2] = True
        output = FitOutput(test, np.zeros(6, dtype=bool), rng.normal(size=int(test.sum())))
        target = Target(y, None, y)
        true = np.concatenate([y[tested] for tested in test])
        found = find_batch(scoring, target.classes)(
            BatchPredictions(true, output, target.n_classes)
        )
        assert_allclose(found, score_each(get_scorer(scoring), target, output), rtol=1e-12)


@pytest.mark.parametrize(
    "scoring",
    [
        "roc_auc_ovr",
        make_scorer(metrics.f1_score, pos_label=0),
        make_scorer(metrics.roc_auc_score),
        make_scorer(metrics.fbeta_score, beta=2.0),
        make_scorer(lambda y, p: 1.0),
        "no such scorer",
        len,
    ],
    ids=str,
)
def test_what_is_scored_one_by_one(scoring):
    target, _ = some_answers(np.random.default_rng(0), np.array([0, 1]))
    assert find_batch(scoring, target.classes) is None


@pytest.mark.parametrize("kind", ["list", "each"])
def test_several_scorers_of_which_some_score_one_by_one(kind):
    names = ["accuracy", "f1", "jaccard", "roc_auc"]
    rng = np.random.default_rng(0)
    for _ in range(3):
        target, output = some_answers(rng, np.array([0, 1]))
        scorers = {name: get_scorer(name) for name in names}
        scorer = EachScorer(scorers, raises=kind == "list")
        scoring = scorers if kind == "each" else names
        block = PlanBlock((~output.test).astype(int), output.test)
        asked = FitRequest((), scorer, scoring)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kept = asked.keep(output, block, LogisticRegression(), target)
        for name in names:
            expected = score_each(scorers[name], target, output)
            found = [scores[name] for scores in kept.scores]
            assert list(kept.scores[0]) == names
            assert_allclose(found, expected, atol=1e-13)
