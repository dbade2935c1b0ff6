"""
Few human labels and an automated judge
=======================================

A judge, such as a language model, marks all answers of a system, and people check some of them. The
judge is biased, but the interval that combines both covers the true rate and is shorter.
"""

# %%
# 5,000 answers, 80 % of them right. The judge accepts 97 % of the right answers and 30 % of the
# wrong ones, so its own rate is too high.
import matplotlib.pyplot as plt
import numpy as np

from skeval.model_selection import judge_assisted_interval

rng = np.random.default_rng(2)
correct = rng.random(5000) < 0.8
accepted = rng.random(5000) < np.where(correct, 0.97, 0.3)
print(f"right {correct.mean():.3f}, accepted by the judge {accepted.mean():.3f}")

# %%
# 100 of the answers are checked.
print(judge_assisted_interval(correct[:100], accepted[:100], accepted[100:]))

# %%
# Intervals for several numbers of labels, with and without the judge.
sizes = [25, 50, 100, 200, 400]
fig, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
for shift, color, use_judge in ((-0.5, "tab:gray", False), (0.5, "tab:blue", True)):
    for place, n in enumerate(sizes):
        others = accepted[n:] if use_judge else ()
        estimate = judge_assisted_interval(correct[:n], accepted[:n], others)
        at = 4 * place + shift
        label = ("labels and judge" if use_judge else "labels alone") if place == 0 else None
        ax.plot([at, at], [*estimate.interval], color=color, lw=3, label=label)
        ax.plot(at, estimate.value, "o", color=color)
ax.axhline(correct.mean(), color="black", lw=1, label="all answers checked")
ax.axhline(accepted.mean(), color="tab:orange", ls="--", label="judge alone")
ax.set(xlabel="human labels", ylabel="rate of right answers, 95 % interval")
ax.set_xticks(4 * np.arange(len(sizes)), sizes)
ax.legend(loc="upper right", ncols=2, fontsize="small")
ax.set_ylim(0.5, 1.05)
plt.show()
