"""A `CV2FeatureSelectionPipeline` is fitted like the pipeline of its selector and classifier."""

from __future__ import annotations

from typing import Any

from skeval._resampling.adapters import Adapter, Unserved, adapter_for
from skeval._resampling.target import Target
from skeval.feature_selection._cv2 import CV2FeatureSelectionPipeline

__all__ = ["cv2_adapter"]


@adapter_for.register(CV2FeatureSelectionPipeline)
def cv2_adapter(
    pipeline: CV2FeatureSelectionPipeline, X: Any, target: Target, transformers: tuple
) -> Adapter | Unserved | None:
    """Return the adapter of the two steps: inner rounds do not change what a refit predicts."""
    if transformers or type(pipeline) is not CV2FeatureSelectionPipeline:
        return None
    if pipeline.final != "refit" or pipeline.consensus_threshold is not None:
        return None
    if getattr(X, "ndim", 0) != 2:
        return None
    selector = pipeline._selector(X.shape[1])
    return adapter_for(pipeline._classifier(), X, target, (selector,))
