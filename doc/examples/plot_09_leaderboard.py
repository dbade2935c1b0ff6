"""
Which language model is best?
=============================

A leaderboard ranks twelve language models by their accuracy on 500 questions from ten tasks. How
much of the ranking would another set of questions confirm?
"""

# %%
# The answers are simulated, so the true abilities are known. Questions differ in difficulty, and
# some models are better at some tasks. The score is 1 for a correct answer.
import numpy as np

from skeval.model_selection import compare_scores

rng = np.random.default_rng(0)
n_models, n_items = 12, 500
task = np.repeat(np.arange(10), 50)
ability = np.linspace(1.2, -0.2, n_models)
favor = 0.25 * rng.normal(size=(n_models, 10))
difficulty = 1.2 * rng.normal(size=n_items)
logit = ability[:, None] + favor[:, task] - difficulty
correct = (rng.random((n_models, n_items)) < 1 / (1 + np.exp(-logit))).astype(float)
scores = {f"model {chr(65 + k)}": correct[k] for k in range(n_models)}

# %%
# The figure shows ranks with simultaneous 95 % confidence intervals. In 95 % of question sets,
# every true rank lies in its interval. The intervals account for the difficulty of the questions,
# because all models answer the same ones.
result = compare_scores(scores, over="items", random_state=0)
print(result)

# %%
# If the tasks are themselves a sample of possible tasks, pass them as groups. The intervals become
# wider, because ten tasks carry less information than 500 independent questions.
by_task = compare_scores(scores, over="items", groups=task, random_state=0)
for name, comparison in {"items": result, "tasks": by_task}.items():
    widths = [rank.interval.high - rank.interval.low for rank in comparison.ranks.values()]
    print(f"{name}: rank intervals span {np.mean(widths):.1f} ranks on average")

# %%
# Each cell is the difference between two models with its simultaneous interval. In pale cells, the
# interval contains 0. The tied models do not differ significantly from each other.
print(result.tied)
result.plot()
