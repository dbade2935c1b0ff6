"""
How often do intervals cover the error?
=======================================

Samples were drawn from populations in which the true error of any model can be computed. All
methods of `error_interval` were applied to them. A good method has the nominal coverage (dashed
line) and short intervals (on the left).
"""

# %%
# The file was written by ``benchmarks/coverage_intervals.py``. Each row is for a method and a cell,
# that is, a population, a learner and a number of samples.
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
# The first figure shows the mean coverage of each method, and its range, over the cells in which
# every method was run. Widths are relative to Wilson's interval on one cross-validation, "cv_wald".
methods = list(dict.fromkeys(row["method"] for row in rows))
by_cell = defaultdict(dict)
for row in rows:
    by_cell[row["population"], row["learner"], row["n"], row["seed"]][row["method"]] = row
whole = [by_method for by_method in by_cell.values() if len(by_method) == len(methods)]
colors = dict(zip(methods, plt.get_cmap("tab20")(np.arange(len(methods))), strict=True))
fig, ax = plt.subplots(figsize=(8, 5), layout="constrained")
for method in methods:
    covers = np.array([float(by_method[method]["covers_risk"]) for by_method in whole])
    width = np.nanmean([float(by_method[method]["relative_width"]) for by_method in whole])
    ax.vlines(width, covers.min(), covers.max(), color=colors[method], alpha=0.5)
    bold = {"marker": "D", "markersize": 9} if method == "repeated_cv" else {"marker": "o"}
    ax.plot(width, covers.mean(), linestyle="", color=colors[method], **bold, label=method)
ax.axhline(0.95, color="black", linestyle="--", linewidth=1)
ax.set(xlabel="width over Wilson's", ylabel="fraction of samples whose interval holds the risk")
ax.set_title(f"{len(whole)} cells of 50 samples, linear SVM")
fig.legend(loc="outside right upper", fontsize="small")
plt.show()

# %%
# The next figure compares the default with Wilson's interval on one cross-validation. Each point is
# a cell with 400 data sets. Hollow points are cells that were not used to choose the default.
sizes = sorted({int(row["n"]) for row in rows if row["sets"] == "400"})
fig, axes = plt.subplots(
    1, len(sizes), sharey=True, figsize=(4 * len(sizes), 4), layout="constrained"
)
for ax, n in zip(axes, sizes, strict=True):
    for method, color in {"cv_wald": "tab:gray", "repeated_cv": "tab:blue"}.items():
        for held_out, fill in {"0": color, "1": "none"}.items():
            points = [
                (float(row["relative_width"]), float(row["covers_risk"]))
                for row in rows
                if (row["method"], row["held_out"], row["n"]) == (method, held_out, str(n))
                and row["sets"] == "400"
            ]
            label = f"{method}, {'held out' if held_out == '1' else 'chosen on'}"
            ax.scatter(*np.transpose(points), edgecolors=color, facecolors=fill, label=label)
    ax.axhline(0.95, color="black", linestyle="--", linewidth=1)
    ax.set(title=f"{n} samples", xlabel="width over Wilson's")
axes[0].set_ylabel("fraction of samples whose interval holds the risk")
axes[0].legend(fontsize="small")
plt.show()

# %%
# The last figure shows harder cells, with one panel for each method and one point for each cell.
# The data are in ``benchmarks/results/methods.csv``, from the same script.
with path.with_name("methods.csv").open(newline="") as file:
    rows = list(csv.DictReader(file))
methods = list(dict.fromkeys(row["method"] for row in rows))
cells = list(dict.fromkeys((row["population"], row["learner"], row["n"]) for row in rows))
colors = dict(zip(cells, plt.get_cmap("tab20")(np.arange(len(cells))), strict=True))
fig, axes = plt.subplots(2, 4, figsize=(10, 6), sharex=True, sharey=True, layout="constrained")
for ax, method in zip(axes.flat, methods, strict=False):
    for row in rows:
        if row["method"] == method:
            cell = row["population"], row["learner"], row["n"]
            ax.plot(
                float(row["relative_width"]),
                float(row["covers_risk"]),
                "o",
                color=colors[cell],
                label=", ".join(cell),
            )
            fits = row["fits"]
    ax.axhline(0.95, color="black", linestyle="--", linewidth=1)
    ax.set(title=f"{method}: {fits} fits", xscale="log", xticks=[1, 1.5, 2, 3])
    ax.set_xticklabels(["1", "1.5", "2", "3"])
    ax.minorticks_off()
axes.flat[-1].axis("off")
axes[0, -1].tick_params(labelbottom=True)  # the legend is below it
axes.flat[-1].legend(*axes.flat[0].get_legend_handles_labels(), loc="center", fontsize="small")
fig.supxlabel("width over Wilson's or the normal interval on one cross-validation")
fig.supylabel("fraction of 100 samples whose interval holds the risk")
plt.show()
