"""
Are the probabilities calibrated?
=================================

Naive Bayes counts correlated features several times, so its probabilities are too extreme. The
curve shows this. The intervals and the band show which deviations exceed chance.
"""

# %%
# The example uses out-of-fold probabilities on the breast-cancer data, without and with isotonic
# recalibration within each training fold. Malignant is positive.
import matplotlib.pyplot as plt
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

from skeval.metrics import ReliabilityDisplay, expected_calibration_error, score_decomposition

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:, :10], 1 - y
models = {
    "naive Bayes": GaussianNB(),
    "recalibrated": CalibratedClassifierCV(GaussianNB(), method="isotonic", cv=5),
}
predicted = {
    name: cross_val_predict(model, X, y, cv=10, method="predict_proba")[:, 1]
    for name, model in models.items()
}

# %%
# An interval that misses the diagonal, or a point outside the band, is evidence of miscalibration.
# The histogram at the bottom shows the distribution of the predictions.
fig, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for ax, (name, p) in zip(axes, predicted.items(), strict=True):
    display = ReliabilityDisplay.from_predictions(
        y, p, strategy="uniform", n_bins=5, name=name, ax=ax
    )
    print(name, display.curve, sep="\n")

# %%
# The expected calibration error is a single number. It is never 0, because chance causes
# deviations, too. Their expected size is "if calibrated". The value of naive Bayes and the lower
# limit of its interval are far above it.
for name, p in predicted.items():
    print(name, expected_calibration_error(y, p), sep="\n")

# %%
# The last table decomposes the Brier score. Recalibration reduces miscalibration. It hardly changes
# the order of the samples, and therefore the discrimination.
for name, p in predicted.items():
    print(name, score_decomposition(y, p), sep="\n")
plt.show()
