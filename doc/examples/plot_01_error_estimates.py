"""
How large is the error?
=======================

There are many ways to estimate the error of a classifier. This example compares seven of them on a
small data set. Which of them can be reported?
"""

# %%
# The study has sixty patients of the breast-cancer data. The other 509 patients are enough to
# measure the true error of the classifier, which is not possible in a real study.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import skeval
from skeval.model_selection import bootstrap_error, cross_val_error, holdout_error

X, y = load_breast_cancer(return_X_y=True)
X_study, _, y_study, _ = train_test_split(X, y, train_size=60, stratify=y, random_state=0)
model = DecisionTreeClassifier(random_state=0)

report = skeval.evaluate(model, X_study, y_study, include="all", n_permutations=20, random_state=0)
print(report)

# %%
# A fully grown tree misclassifies no training sample, so its *resubstitution* error is 0 and
# uninformative. For the *out-of-bag* estimate, models are trained on only 63 % of the distinct
# samples, so it is too high. *.632* is an average of it and the uninformative 0. *.632+* gives the
# 0 less weight if the classifier overfits.
print(report[".632+"])

# %%
# A single study shows one value of each estimate. Twenty-five studies with other patients show the
# bias and the variance. Each estimate is compared with the true error of the same tree on the
# patients outside its study.
names = ["resubstitution", "cross-validation", "oob", ".632", ".632+"]
deviations = []
for seed in range(25):
    X_in, X_out, y_in, y_out = train_test_split(X, y, train_size=60, stratify=y, random_state=seed)
    truth = holdout_error(y_out, model.fit(X_in, y_in).predict(X_out)).value
    cv = cross_val_error(model, X_in, y_in, random_state=seed).value
    boot = bootstrap_error(model, X_in, y_in, n_resamples=40, random_state=seed)  # .632+
    point632 = 0.368 * boot.extra.resubstitution + 0.632 * boot.extra.oob
    values = [boot.extra.resubstitution, cv, boot.extra.oob, point632, boot.value]
    deviations.append(np.array(values) - truth)
deviations = np.array(deviations)
for name, mean, sd in zip(names, deviations.mean(axis=0), deviations.std(axis=0), strict=True):
    print(f"{name:17s} bias {mean:+.3f}  spread {sd:.3f}")

# %%
# The left panel shows the report of the first study. The right panel shows the difference between
# estimate and true error in twenty-five studies, and its mean as a bar. An unbiased estimate has a
# mean of 0.
fig, (left, right) = plt.subplots(
    1, 2, figsize=(9.5, 3.6), layout="constrained", width_ratios=[3, 2]
)
report.plot(left)
left.set_title("one study of 60 patients")
for row, column in enumerate(deviations.T):
    right.plot(column, np.full(len(column), row), "o", alpha=0.3, color="tab:blue")
    right.plot(column.mean(), row, "|", ms=18, mew=3, color="black")
right.axvline(0, color="gray", ls=":")
right.set(
    yticks=range(5),
    yticklabels=names,
    xlabel="estimate minus true error",
    title="twenty-five studies",
)
right.invert_yaxis()
plt.show()
