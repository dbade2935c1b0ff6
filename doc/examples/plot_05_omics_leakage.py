"""
Is 92 % accuracy on 60 microarrays real?
========================================

This simulated gene-expression study has 30 patients with two arrays each, 2,000 genes, and no
difference between the classes. Two common mistakes make it look like a discovery.
"""

# %%
# The two arrays of a patient are similar and have the same label.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import skeval

rng = np.random.default_rng(3)
patient = np.repeat(np.arange(30), 2)
genes = rng.normal(size=(30, 2000))[patient] + 0.5 * rng.normal(size=(60, 2000))
relapse = (rng.permutation(30) < 15).astype(int)[patient]
select, svm = SelectKBest(k=50), SVC(kernel="linear")
model = make_pipeline(select, svm)

# %%
# The first mistake is to select the 50 genes on all arrays, before the cross-validation.
selected = select.fit_transform(genes, relapse)
folds = StratifiedKFold(10, shuffle=True, random_state=0)
print(f"accuracy {cross_val_score(svm, selected, relapse, cv=folds).mean():.2f}")

# %%
# The second mistake is to ignore the patients. The selection is now repeated in every fold, but one
# array of a patient may be in the training set and the other in the test set.
print(f"accuracy {cross_val_score(model, genes, relapse, cv=folds).mean():.2f}")

# %%
# The report names the second mistake in its first sentence. The table has no patient column. The
# check finds pairs of arrays that are closer to each other than expected by chance.
before = skeval.evaluate(model, genes, relapse, random_state=0)
print(before.verdict)

# %%
# With the patients as groups, the whole procedure is repeated without both mistakes.
after = skeval.evaluate(model, genes, relapse, groups=patient, random_state=0)
print(after.verdict)

# %%
# The figure shows the error with its interval after each step. An error of 50 % is chance.
first = skeval.error_interval(svm, selected, relapse, random_state=0)
steps = {
    "genes selected beforehand": first,
    "selection in the folds": before.answer,
    "patients kept together": after.answer,
}
figure, ax = plt.subplots(figsize=(6, 2.4), layout="constrained")
for place, error in enumerate(steps.values()):
    ax.plot(100 * error.value, place, "o", color="#1f6fb4")
    ax.plot([100 * end for end in error.interval], [place, place], color="#1f6fb4")
ax.set_yticks(range(len(steps)), steps)
ax.invert_yaxis()
ax.axvline(50, color="0.5", linestyle="--")
ax.set_xlabel("error in %, with 95 % confidence interval")
plt.show()
