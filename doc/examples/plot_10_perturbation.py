"""
How certain is the error of an SVM?
===================================

Cross-validation gives a number without an interval. Refits with random sample weights give an
interval. The weights must be used in the cross-validation, and not only in the training.
"""

# %%
# The study has eighty patients. The other 489 patients are used to measure the true error.
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skeval.model_selection import PerturbationDisplay, holdout_error, perturbation_interval

X, y = load_breast_cancer(return_X_y=True)
X_study, X_rest, y_study, y_rest = train_test_split(X, y, train_size=80, stratify=y, random_state=1)
svm = make_pipeline(StandardScaler(), SVC(kernel="linear"))
result = perturbation_interval(svm, X_study, y_study, n_resamples=300, random_state=0)
print(result)

# %%
# The replicates give intervals at other levels or in other forms without any new fit.
print(result.confidence_interval(0.9, method="symmetric"))

# %%
# The published statistic perturbs the *training* error. With 30 features and 80 samples, the SVM
# makes almost no training errors with any weights, so the interval is far too narrow. A warning
# reports this.
import warnings  # noqa: E402

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    published = perturbation_interval(
        svm, X_study, y_study, statistic="resubstitution", n_resamples=300, random_state=0
    )
print(caught[0].message)

# %%
# The figure shows both distributions of the deviation ``W* / sqrt(n)`` around the cross-validated
# error.
truth = holdout_error(y_rest, svm.fit(X_study, y_study).predict(X_rest)).value
fig, axes = plt.subplots(2, 1, sharex=True, figsize=(7, 5.6), layout="constrained")
for ax, one in zip(axes, (result, published), strict=True):
    PerturbationDisplay.from_result(one, ax=ax)
    ax.axvline(truth, color="tab:red", label="error on 489 other patients")
    ax.set_title(f'statistic="{one.extra.statistic}"')
    ax.legend(loc="upper right", fontsize="small")
plt.show()
