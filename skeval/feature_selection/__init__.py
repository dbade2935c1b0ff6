"""Feature selection inside the resampling loop, the bias of selection outside, and stability."""

from skeval.feature_selection._cv2 import (
    CV2FeatureSelectionPipeline,
    selection_bias,
    selection_stability,
)
from skeval.feature_selection._plot import SelectionBiasDisplay, SelectionFrequencyDisplay

__all__ = [
    "CV2FeatureSelectionPipeline",
    "SelectionBiasDisplay",
    "SelectionFrequencyDisplay",
    "selection_bias",
    "selection_stability",
]
