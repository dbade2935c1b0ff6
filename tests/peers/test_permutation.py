"""Scikit-learn's tests of `permutation_test_score`."""

from peers.ours import PERMUTATION
from peers.swapped import swapped_tests

globals().update(swapped_tests("sklearn.model_selection.tests.test_validation", PERMUTATION))

PARAMS = "params= are arguments of fit by name, with or without metadata routing"
DIFFERENT = {
    "test_fit_param_deprecation[permutation_test_score-extra_args1]": "no fit_params, deprecated",
    "test_passed_unrequested_metadata[permutation_test_score-extra_args4]": PARAMS,
    "test_validation_functions_routing[permutation_test_score-extra_args4]": PARAMS,
}
SLOW = {
    "test_fit_param_deprecation[permutation_test_score-extra_args1]",
    "test_cross_validate_params_none[permutation_test_score-extra_args4]",
    "test_permutation_test_score_pandas",
    "test_permutation_score[coo_matrix]",  # as [coo_array]
    "test_permutation_test_score_allow_nans",
    "test_validation_functions_routing[permutation_test_score-extra_args4]",
    "test_passed_unrequested_metadata[permutation_test_score-extra_args4]",
}
