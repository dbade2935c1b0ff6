"""
How certain are ROC, precision-recall and decision curves?
==========================================================

A curve from a hundred patients would look different with other patients. How far may the true curve
be from it?
"""

# %%
# The model is a logistic regression on three features of 100 patients of the breast-cancer data.
# Malignant is positive. Each patient is scored five times, by models that were trained without this
# patient.
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
# The darker band is for each point separately, and the lighter band is for the whole curve. The
# bands have a width even without errors, because a hundred patients do not exclude them.
fig, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
for display, ax in zip((RocCurveDisplay, PrecisionRecallDisplay), axes, strict=True):
    display.from_cv_results(results, X, y, random_state=0, name="logistic", ax=ax)
plt.show()

# %%
# Is the model useful to a doctor who would operate from a probability of 0.2 on, that is, who
# considers four unnecessary operations as bad as one missed cancer?
proba, other = (
    cross_val_predict(each, X, y, cv=5, method="predict_proba")[:, 1]
    for each in (model, GaussianNB())
)
print(net_benefit(y, proba, thresholds=[0.1, 0.2, 0.5]))

# %%
# The left panel compares the model with operating on everybody and on nobody. The right panel
# compares it with naive Bayes on the same features. Where the band of the difference includes 0,
# neither model is significantly better.
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
