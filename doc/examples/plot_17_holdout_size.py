"""
How many test samples do I need?
================================

The size of the test set determines the width of the confidence interval of the error, so choose the
size before the study.
"""

# %%
# The target is an error near 10 %, known to within 3 percentage points.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier

from skeval.model_selection import holdout_error, holdout_size

print(holdout_size(0.10, 0.03))

# %%
# If the class priors are known, the samples can be drawn separately for each class. More samples
# are then drawn from the class with more errors.
print(holdout_size([0.05, 0.30], 0.03, priors=[0.9, 0.1], allocation="optimal"))

# %%
# The figure shows a classifier of the digits that is tested on samples of several sizes. The
# intervals shrink as planned. A 95 % interval may miss the true error, as the interval of 100
# samples does here.
X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))
train, rest = order[:300], order[300:]
wrong = RidgeClassifier().fit(X[train], y[train]).predict(X) != y
sizes = [50, 100, 200, 400, 800]
tests = [holdout_error(np.zeros(n), wrong[rest[:n]].astype(float)) for n in sizes]

widths = np.linspace(0.015, 0.10, 60)
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for error in (0.02, 0.10, 0.30):
    needed = [holdout_size(error, width).n_samples for width in widths]
    left.plot(widths, needed, label=f"error {error:g}")
left.set(xlabel="half width of the 95 % interval", ylabel="test samples needed", yscale="log")
left.legend()
for n, test in zip(sizes, tests, strict=True):
    interval = test.confidence_interval()
    right.plot([n, n], [interval.low, interval.high], color="tab:blue", lw=2)
    right.plot(n, test.value, "o", color="tab:blue")
right.axhline(wrong[rest].mean(), color="tab:orange", label=f"error on all {len(rest)}")
right.set(xlabel="test samples", ylabel="error, 95 % interval", xscale="log", xticks=sizes)
right.set_xticklabels(sizes)
right.minorticks_off()
right.legend()
plt.show()
