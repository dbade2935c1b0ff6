"""
Did feature selection leak?
===========================

Features that were selected on all samples depend on the labels of the test folds. On pure noise,
the error is then far below chance. On real data, part of the accuracy is due to this leak.
"""

# %%
# There are two data sets of 60 samples with 1,000 features. The first is noise. The second has
# diabetes patients, with ten measurements among 990 columns of noise. Does the disease progress
# faster than in the median patient?
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.feature_selection import SelectKBest
from sklearn.svm import SVC

from skeval.feature_selection import (
    CV2FeatureSelectionPipeline,
    SelectionBiasDisplay,
    SelectionFrequencyDisplay,
    selection_bias,
)

rng = np.random.default_rng(1)
diabetes = load_diabetes(scaled=False)
chosen = rng.choice(len(diabetes.target), 60, replace=False)
measured = diabetes.data[chosen]
measured = (measured - measured.mean(axis=0)) / measured.std(axis=0)
y = diabetes.target[chosen] > np.median(diabetes.target[chosen])
data = {
    "noise": rng.normal(size=(60, 1000)),
    "diabetes": np.hstack([measured, rng.normal(size=(60, 990))]),
}

# %%
# CV1 selects features once, on all samples. CV2 selects them again in every training fold. Both use
# the same folds.
results = {}
for name, X in data.items():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the bias is shown below
        results[name] = selection_bias(
            SelectKBest(k=20), SVC(kernel="linear"), X, y, cv=10, n_repeats=5, random_state=0
        )
    print(name, results[name], sep="\n", end="\n\n")

# %%
# :class:`~skeval.feature_selection.CV2FeatureSelectionPipeline` repeats the selection in the folds
# of a cross-validation during ``fit``, and keeps the selected features of each fold.
rule = CV2FeatureSelectionPipeline(SelectKBest(k=20), SVC(kernel="linear"), random_state=0)
rule.fit(data["diabetes"], y)
print(rule.stability_)

# %%
# The figure shows the errors of CV1 and CV2 on noise and on the patients, and how often the columns
# were selected. The columns with names are measurements, and x10 and above are noise. Some noise is
# selected often, so a high selection frequency alone is not evidence.
fig, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
for ax, (name, result) in zip(axes, results.items(), strict=False):
    SelectionBiasDisplay.from_result(result, ax=ax)
    ax.set(title=name, xlim=(-0.02, 0.9))
    ax.legend(loc="upper right", fontsize="x-small")
axes[1].set_yticklabels([])
names = diabetes.feature_names + [f"x{j}" for j in range(10, 1000)]
SelectionFrequencyDisplay.from_result(rule, feature_names=names, n_top=16, ax=axes[2])
axes[2].set(title="selected how often?", xlabel="fraction of the 10 rounds")
plt.show()
