"""Cautions about columns and shapes that the unimodal reference does not have."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from skeval.cluster import choose_n_clusters, structure_test

BLOBS = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)[0]
ANGLES = np.linspace(0, 2 * np.pi, 120, endpoint=False)
CIRCLE = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
INDICATORS = np.eye(4)[np.random.default_rng(0).integers(4, size=120)]


@pytest.mark.parametrize(
    ("X", "title"),
    [
        (BLOBS, ""),
        (CIRCLE, "No gap"),
        (INDICATORS, "Dependent columns"),
        (pd.DataFrame(INDICATORS), "Dependent columns"),
        (csr_array(INDICATORS), "Dependent columns"),
        (np.column_stack([BLOBS, BLOBS.sum(axis=1).round(1)]), "Dependent columns"),
    ],
)
def test_cautions_name_what_is_not_covered(X, title):
    test = structure_test(KMeans(5 if title == "No gap" else 3, n_init=2), X, n_references=39)
    assert test.pvalue <= 0.05
    assert test.caution.startswith(title)
    assert bool(test.caution) == bool(title)


def test_choice_has_cautions_among_its_notes():
    choice = choose_n_clusters(KMeans(n_init=2), INDICATORS, n_clusters=[2, 3, 4], random_state=0)
    assert choice.n_clusters == 4
    assert choice.cautions[0].startswith("Dependent columns")
    assert choice.cautions[0] in choice.notes


def test_no_caution_without_structure():
    X = np.random.default_rng(0).normal(size=(60, 2))
    X = np.column_stack([X, X.sum(axis=1)])
    assert choose_n_clusters(KMeans(n_init=2), X, n_clusters=[2, 3], random_state=0).cautions == ()
    test = structure_test(KMeans(2, n_init=2), X, n_references=19, random_state=0)
    assert test.caution == ""
