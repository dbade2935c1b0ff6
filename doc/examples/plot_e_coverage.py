"""
How often does an interval of the error hold it?
================================================

Samples were drawn from populations whose error of any rule can be found, and each was given to the
methods of `error_interval`. A good method lies on the dashed line, and far to the left.
"""

# %%
# ``benchmarks/coverage_intervals.py`` made the file; each of its rows is a method in a cell: a
# population, a learner and a number of samples.
import csv
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

path = Path("../../benchmarks/results/coverage_intervals.csv")
with path.open(newline="") as file:
    rows = list(csv.DictReader(file))
cells = {(row["population"], row["learner"], row["n"]) for row in rows}
print(f"{len(rows)} rows of {len(cells)} cells; {rows[0]['versions']}, seed {rows[0]['seed']}")

# %%
# The mean over the cells of each method, and the ends of the bars the worst and the best of them.
# Widths are relative to Wilson's interval on one cross-validation, "cv_wald".
sizes = sorted({int(row["n"]) for row in rows})
methods = list(dict.fromkeys(row["method"] for row in rows))
colors = dict(zip(methods, plt.get_cmap("tab20")(np.arange(len(methods))), strict=True))
fig, axes = plt.subplots(
    1, len(sizes), sharey=True, figsize=(3.6 * len(sizes), 5.2), layout="constrained"
)
for ax, n in zip(axes, sizes, strict=True):
    found = defaultdict(list)
    for row in rows:
        if int(row["n"]) == n:
            found[row["method"]].append((float(row["relative_width"]), float(row["covers_risk"])))
    for method, points in found.items():
        width, covers = np.transpose(points)
        ax.vlines(width.mean(), covers.min(), covers.max(), color=colors[method], alpha=0.5)
        bold = {"marker": "D", "markersize": 9} if method == "repeated_cv" else {"marker": "o"}
        ax.plot(width.mean(), covers.mean(), color=colors[method], **bold, label=method)
    ax.axhline(0.95, color="black", linestyle="--", linewidth=1)
    ax.set(title=f"{n} samples, {len(points)} cells or more", xlabel="width over Wilson's")
axes[0].set_ylabel("share of samples whose interval holds the risk")
handles, labels = axes[0].get_legend_handles_labels()
fig.legend(handles, labels, loc="outside lower center", ncols=4, fontsize="small")
plt.show()
