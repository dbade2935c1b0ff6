"""
How certain is my metric?
=========================

On a test set of 60 samples, the AUC is 0.98 and the F1 score is 0.93. How much would they vary
between test sets?
"""

# %%
# A classifier is fitted once, and tested on a small test set of the breast-cancer data.
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from skeval.metrics import (
    accuracy_score,
    break_even_point,
    expected_cost,
    f1_score,
    macro_fbeta_score,
    roc_auc_score,
)
from skeval.model_selection import metric_interval

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=60, stratify=y, random_state=0)
model = GaussianNB().fit(X_train, y_train)
labels, score = model.predict(X_test), model.predict_proba(X_test)[:, 1]

# %%
# Formulas are used where they are known, such as Wilson's interval for the accuracy, and score
# intervals for the AUC and for F. Other metrics use the bootstrap.
auc = metric_interval(roc_auc_score, y_test, score, random_state=0)
print(auc)

# %%
# Any function ``metric(y_true, y_pred)`` is supported. Use ``partial`` to set its other arguments.
cases = {
    "accuracy": (accuracy_score, labels),
    "F1": (f1_score, labels),
    "macro F2": (partial(macro_fbeta_score, beta=2), labels),
    "AUC": (roc_auc_score, score),
    "break-even point": (break_even_point, score),
    "1 - expected cost": (lambda y_true, y_score: 1 - expected_cost(y_true, y_score), score),
}
intervals = {
    name: metric_interval(metric, y_test, predicted, n_resamples=1000, random_state=0)
    for name, (metric, predicted) in cases.items()
}

# %%
fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
rows = np.arange(len(intervals))[::-1]
for row, result in zip(rows, intervals.values(), strict=True):
    interval = result.interval
    ax.plot([interval.low, interval.high], [row, row], color="tab:blue", lw=2)
    ax.plot(result.value, row, "o", color="tab:blue")
    ax.annotate(
        interval.method,
        (interval.low, row),
        xytext=(-6, 0),
        ha="right",
        va="center",
        textcoords="offset points",
        color="dimgrey",
        fontsize="small",
    )
ax.set(
    yticks=rows,
    yticklabels=intervals,
    xlabel="value and 95 % interval",
    title="naive Bayes on 60 test samples",
    xlim=(0.78, 1.005),
)
plt.show()
