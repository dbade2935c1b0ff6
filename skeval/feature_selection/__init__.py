"""Feature selection inside the resampling loop, its bias outside, and how stable it is."""

from skeval.feature_selection._cv2 import CV2FeatureSelectionPipeline
from skeval.feature_selection._plot import SelectionBiasDisplay, SelectionFrequencyDisplay
from skeval.feature_selection._selection_bias import selection_bias
from skeval.feature_selection._stability import selection_stability

__all__ = [
    "CV2FeatureSelectionPipeline",
    "SelectionBiasDisplay",
    "SelectionFrequencyDisplay",
    "selection_bias",
    "selection_stability",
]
