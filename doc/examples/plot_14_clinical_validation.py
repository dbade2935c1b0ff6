"""
How well will this risk model do in new patients?
=================================================

A risk model performs better on the patients it was developed on than on new patients. The bootstrap
repeats the development and estimates this optimism.
"""

# %%
# The development sample is small, with 120 tumors and six measurements. The model is a logistic
# regression almost without penalty, and malignant is the event.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skeval.model_selection import EstimatesDisplay, bootstrap_score

X, y = load_breast_cancer(return_X_y=True)
chosen = np.random.default_rng(0).permutation(len(y))[:120]
columns = [1, 4, 5, 8, 9, 11]  # texture, smoothness, compactness, symmetry, ...
X, y = X[np.ix_(chosen, columns)], 1 - y[chosen]
model = make_pipeline(StandardScaler(), LogisticRegression(C=100, max_iter=1000))

# %%
# The table shows discrimination and calibration, corrected for optimism. A slope below 1 means that
# the probabilities are too extreme for new patients. To shrink them, multiply the log-odds by the
# slope.
scoring = ["roc_auc", "calibration_slope", "calibration_intercept", "neg_brier_score"]
results = bootstrap_score(model, X, y, scoring=scoring, method="optimism", random_state=0)
print(results)
for name, result in results.items():
    print(
        f"{name}: apparent {result.extra.resubstitution:.3f}, optimism {result.extra.optimism:.3f}"
    )

# %%
# The last table shows the AUC estimated by the other bootstrap methods, from the same resamples.
others = [
    bootstrap_score(model, X, y, scoring="roc_auc", method=method, random_state=0)
    for method in ("oob", ".632", ".632+")
]
EstimatesDisplay.from_result([results["roc_auc"], *others])
plt.show()
