"""Scikit-learn's checks of estimators, on what the default checks of each leave out."""

import pytest
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import check_estimator

from skeval.feature_selection import CV2FeatureSelectionPipeline
from skeval.svm import PerturbationResamplingSVC

STOPS_EARLY = "libsvm stops within its tolerance, and univariate selection takes no weights"
EXPECTED_TO_FAIL = {
    "check_sample_weight_equivalence_on_dense_data": STOPS_EARLY,
    "check_sample_weight_equivalence_on_sparse_data": STOPS_EARLY,
}
FEW = {"n_resamples": 3, "cv": 3}
# The checks ask for a rule that is right on most of their data: nearly all features are kept.
ALL = SelectKBest(k="all")
CONFIGURATIONS = [
    PerturbationResamplingSVC(n_resamples=0),
    PerturbationResamplingSVC(**FEW, statistic="resubstitution"),
    PerturbationResamplingSVC(**FEW, kernel="rbf"),
    PerturbationResamplingSVC(**FEW, kernel="poly"),
    PerturbationResamplingSVC(n_resamples=40, cv=3, interval="symmetric"),
    PerturbationResamplingSVC(**FEW, C=100.0, class_weight="balanced"),
    CV2FeatureSelectionPipeline(ALL, cv=3),
    CV2FeatureSelectionPipeline(ALL, LogisticRegression(), cv=2),
    CV2FeatureSelectionPipeline(ALL, GaussianNB(), cv=3, final="consensus"),
    CV2FeatureSelectionPipeline(ALL, SVC(), cv=None),
    CV2FeatureSelectionPipeline(SelectFromModel(LinearSVC(), threshold=-1.0), SVC(), cv=2),
    CV2FeatureSelectionPipeline(RFE(LogisticRegression(), n_features_to_select=2), cv=None),
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the checks fit tiny classes: fewer folds, warned of
@pytest.mark.parametrize("estimator", CONFIGURATIONS, ids=str)
def test_configuration(estimator):
    results = check_estimator(estimator, expected_failed_checks=EXPECTED_TO_FAIL)
    assert all(result["status"] != "failed" for result in results)
