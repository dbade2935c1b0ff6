"""
ROC, precision-recall and decision curves with bands
====================================================

A curve drawn from a hundred samples is itself a draw. How far could the curve of unlimited data
lie from it?
"""

# %%
# A logistic regression on three features of 100 patients of the breast-cancer data, positive is
# malignant, cross-validated five times. Each patient is scored by the models that were fitted
# without it.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_predict, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skeval.metrics import NetBenefitDisplay, PrecisionRecallDisplay, RocCurveDisplay, net_benefit

X, y = load_breast_cancer(return_X_y=True)
chosen = np.random.default_rng(0).choice(len(y), 100, replace=False)
X, y = X[chosen, :3], 1 - y[chosen]
model = make_pipeline(StandardScaler(), LogisticRegression())
results = cross_validate(
    model,
    X,
    y,
    cv=RepeatedStratifiedKFold(n_splits=5, n_repeats=5, random_state=0),
    return_estimator=True,
    return_indices=True,
)

# %%
# The darker band covers at each point by itself; the lighter one holds the whole curve. They have
# a width where no error was seen, for a hundred patients do not exclude one.
fig, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
for display, ax in zip((RocCurveDisplay, PrecisionRecallDisplay), axes, strict=True):
    display.from_cv_results(results, X, y, random_state=0, name="logistic", ax=ax)
plt.show()

# %%
# Is the model of use to a doctor who would operate from a probability of 0.2 on, that is, who
# takes four needless operations to be as bad as one cancer missed?
proba, other = (
    cross_val_predict(each, X, y, cv=5, method="predict_proba")[:, 1]
    for each in (model, GaussianNB())
)
print(net_benefit(y, proba, thresholds=[0.1, 0.2, 0.5]))

# %%
# Left: the model against operating on everybody and on nobody. Right: against naive Bayes on the
# same features. Where the band of the difference covers 0 these patients do not tell.
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
NetBenefitDisplay.from_predictions(y, proba, name="logistic", ax=left)
NetBenefitDisplay.from_predictions(
    y,
    proba,
    baseline=other,
    thresholds=np.linspace(0.01, 0.8, 80),
    name="logistic minus naive Bayes",
    ax=right,
)
plt.show()
