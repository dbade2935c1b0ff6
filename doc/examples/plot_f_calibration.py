"""
Are the probabilities what they say?
====================================

Naive Bayes counts what correlated features say several times over, and is too sure. The curve shows
it; the intervals and the band show which of its points are more than chance.
"""

# %%
# Out-of-fold probabilities on the breast-cancer data, as they are and recalibrated by isotonic
# regression within each training part. Positive is malignant.
import matplotlib.pyplot as plt
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

from skeval.metrics import CalibrationDisplay, expected_calibration_error, score_decomposition

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:, :10], 1 - y
models = {
    "naive Bayes": GaussianNB(),
    "recalibrated": CalibratedClassifierCV(GaussianNB(), method="isotonic", cv=5),
}
said = {
    name: cross_val_predict(model, X, y, cv=10, method="predict_proba")[:, 1]
    for name, model in models.items()
}

# %%
# A bar that misses the diagonal, or a point outside the band, is a probability that is wrong. The
# histogram at the foot shows how often which is predicted.
fig, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for ax, (name, p) in zip(axes, said.items(), strict=True):
    display = CalibrationDisplay.from_predictions(
        y, p, strategy="uniform", n_bins=5, name=name, ax=ax
    )
    print(name, display.curve, sep="\n")

# %%
# The same in one number. It is never 0, for chance makes a distance too: "if calibrated" says how
# large a one. That of naive Bayes is far above it, and so is the lower end of its interval.
for name, p in said.items():
    print(name, expected_calibration_error(y, p), sep="\n")

# %%
# The Brier score in parts: recalibration mends miscalibration and leaves the order of the samples,
# which discrimination is made of, nearly as it was.
for name, p in said.items():
    print(name, score_decomposition(y, p), sep="\n")
plt.show()
