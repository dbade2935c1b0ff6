"""
Did feature selection leak?
===========================

Features that were selected on all samples have seen the labels of the test folds. On pure noise
that turns a coin toss into a discovery; on real data it hides how much was learnt from the leak.
"""

# %%
# Two data sets of 60 samples with 1,000 features: noise, and diabetes patients (does the disease
# progress faster than in the median patient?) whose ten measurements are hidden among 990 columns
# of noise.
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.feature_selection import SelectKBest
from sklearn.svm import SVC

from skeval.feature_selection import CV2FeatureSelectionPipeline, selection_bias

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
# CV1 selects once, on all samples; CV2 selects anew in every training part. Both use the same
# folds.
results = {}
for name, X in data.items():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of the bias that we are here to see
        results[name] = selection_bias(
            SelectKBest(k=20), SVC(kernel="linear"), X, y, cv=10, n_repeats=5, random_state=0
        )
    print(name, results[name], sep="\n", end="\n\n")

# %%
# :class:`~skeval.feature_selection.CV2FeatureSelectionPipeline` runs the rounds while it is
# fitted and remembers what each of them selected.
rule = CV2FeatureSelectionPipeline(SelectKBest(k=20), SVC(kernel="linear"), random_state=0)
rule.fit(data["diabetes"], y)
print(rule.stability_)

# %%
# Left: what CV1 claims and what CV2 finds. Right: how often each measurement was selected, and
# for comparison the ten columns of noise that were selected most often. A high frequency alone is
# no proof.
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
places = np.arange(len(results))
for shift, attribute, label in ((-0.18, "cv1_error", "CV1: leaks"), (0.18, "cv2_error", "CV2")):
    values = [getattr(result, attribute) for result in results.values()]
    bars = left.bar(places + shift, values, 0.34, label=label)
    left.bar_label(bars, fmt="%.2f", padding=2)
left.axhline(0.5, color="grey", ls=":", label="coin toss")
left.set(xticks=places, xticklabels=results, ylabel="error", ylim=(0, 0.8))
left.legend(ncols=3, fontsize="small")
frequency = rule.selection_frequency_
noise = np.sort(frequency[10:])[:-11:-1]
right.bar(np.arange(10), frequency[:10], label="measurements")
right.bar(np.arange(11, 21), noise, color="lightgrey", label="noise, the ten worst of 990")
right.set(
    xticks=np.arange(10),
    ylabel="fraction of the 10 rounds",
    ylim=(0, 1.3),
    title="selected how often?",
)
right.set_xticklabels(diabetes.feature_names, rotation=60)
right.legend(loc="upper right", fontsize="small")
plt.show()
