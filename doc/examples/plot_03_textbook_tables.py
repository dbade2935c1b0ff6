"""
What is wrong with these textbook tables?
=========================================

Textbooks and packages use these three data sets for exercises. Each has a property that makes a
cross-validated error useless. The first sentence of the report names this property.
"""

# %%
# A feature that gives the answer away
# ------------------------------------
# In Greene's mode choice data, 210 travelers chose between plane, train, bus and car. Who took the
# plane? A tree of depth 4 makes no error.
import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm
from sklearn.linear_model import Ridge
from sklearn.model_selection import TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import skeval

table = sm.datasets.modechoice.load_pandas().data
air = table[table["mode"] == 1].set_index("individual")
flew = np.where(air["choice"] == 1, "flew", "did not")
features = ["ttme", "invc", "invt", "gc", "hinc", "psize"]
tree = DecisionTreeClassifier(max_depth=4, random_state=0)
choice_before = skeval.evaluate(tree, air[features], flew, random_state=0)
print(choice_before.verdict)

# %%
# The terminal waiting time ``ttme`` is 64 or 69 minutes for all who did not fly, and takes other
# values for all who did. The remedy is to remove this feature. The other features do not predict a
# flight well.
print(air.groupby(flew)["ttme"].unique().to_dict())
choice_after = skeval.evaluate(tree, air[features].drop(columns="ttme"), flew, random_state=0)
print(choice_after.verdict)

# %%
# Persons who repeat
# ------------------
# The target in the RAND health insurance experiment is the number of doctor visits, with one row
# per person and year. No column identifies the person, but the rows of a person follow each other
# and are equal.
rand = sm.datasets.randhie.load_pandas().data.iloc[:3000]
X, visits = rand.drop(columns="mdvis"), rand["mdvis"]
visits_before = skeval.evaluate(Ridge(), X, visits, random_state=0)
print(visits_before.verdict)

# %%
# The remedy is to pass the persons as groups. Characteristics that do not change over the years
# identify a person, or members of a family who share them.
person = X[["lncoins", "idp", "lpi", "fmde", "physlm", "disea"]].astype(str).agg("|".join, axis=1)
visits_after = skeval.evaluate(Ridge(), X, visits, groups=person, random_state=0)
print(visits_after.verdict)

# %%
# A year as a feature
# -------------------
# The target is the world consumption of copper in 25 years. The year is one of the features, and
# with random folds each year is predicted from the years before and after it.
copper = sm.datasets.copper.load_pandas().data
X, consumption = copper.drop(columns="WORLDCONSUMPTION"), copper["WORLDCONSUMPTION"]
model = make_pipeline(StandardScaler(), Ridge())
copper_before = skeval.evaluate(model, X, consumption, random_state=0)
print(copper_before.verdict)

# %%
# The remedy is to drop the year, and to test only on later years. The baseline is then the value of
# the year before.
copper_after = skeval.evaluate(
    model, X.drop(columns="TIME"), consumption, cv=TimeSeriesSplit(5), random_state=0
)
print(copper_after.verdict)

# %%
# The figure shows the three errors before (orange) and after the remedy (blue), relative to the
# baseline. The last one has no interval, because neighboring years are too similar.
reports = {
    "plane or not": (choice_before, choice_after),
    "doctor visits": (visits_before, visits_after),
    "copper": (copper_before, copper_after),
}
figure, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
for place, pair in enumerate(reports.values()):
    for report, shift, color in zip(pair, (-0.12, 0.12), ("#c2560c", "#1f6fb4"), strict=True):
        value, baseline = report.answer.value, report.baseline.error
        low, high = report.answer.interval
        ax.plot(value / baseline, place + shift, "o", color=color)
        ax.plot([low / baseline, high / baseline], [place + shift] * 2, color=color)
ax.set_yticks(range(len(reports)), reports)
ax.invert_yaxis()
ax.axvline(1, color="0.5", linestyle="--")
ax.set_xlabel("error divided by the error of the baseline")
plt.show()
