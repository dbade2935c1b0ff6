"""
Which classifier is best at my costs?
=====================================

The AUC is an average that includes thresholds which nobody would use. A cost curve shows the
expected cost for every ratio of priors and costs, including your own.
"""

# %%
# The example uses cross-validated scores of two classifiers on the breast-cancer data. Malignant is
# positive.
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

from skeval.metrics import (
    CostCurveDisplay,
    cost_curve_band,
    curve_dominance,
    expected_cost,
    probability_cost,
    roc_curve,
)

X, y = load_breast_cancer(return_X_y=True)
y = 1 - y
models = {"naive Bayes": GaussianNB(), "linear discriminant": LinearDiscriminantAnalysis()}
scores = {
    name: cross_val_predict(model, X, y, cv=10, method="predict_proba")[:, 1]
    for name, model in models.items()
}

# %%
# The ROC curves cross, so a single number cannot rank the two classifiers.
bayes, linear = scores.values()
winner, crossings = curve_dominance(roc_curve(y, bayes), roc_curve(y, linear))
print(winner, crossings.round(3), sep="\n")

# %%
# Suppose that one patient in a hundred is ill, and that a missed patient costs fifty times as much
# as a false alarm. This is one position on the horizontal axis.
place = probability_cost(0.01, false_negative_cost=50)
for name, score in scores.items():
    cost = expected_cost(y, score, probability_cost=place)
    print(f"{name}: expected cost {cost:.3f} at P(+)cost = {place:.2f}")

# %%
# The left panel shows both curves with pointwise 95 % bands. A classifier that ignores the features
# has at best the cost of the dashed line, ``min(x, 1 - x)``. The right panel shows the difference.
# Where the band is below 0, the linear discriminant is cheaper. Where the band includes 0, the
# difference is not significant.
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
curves = [
    CostCurveDisplay.from_predictions(
        y, score, confidence_level=0.95, n_resamples=300, random_state=0, name=name, ax=left
    ).line_
    for name, score in scores.items()
]
left.set(ylim=(0, 0.15), title="expected cost")
left.legend(handles=curves, loc="upper left")
band = cost_curve_band(y, linear, baseline=bayes, n_resamples=300, random_state=0)
CostCurveDisplay(band, name="linear minus naive Bayes").plot(right)
right.set(title="difference (below 0: linear is better)")
for ax in (left, right):
    ax.axvline(place, color="tab:red", ls=":")
    ax.text(place, ax.get_ylim()[0], " our costs", color="tab:red", va="bottom")
plt.show()
