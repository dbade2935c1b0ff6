"""How much wider than that of independent samples must the interval of a cross-validation be?

For each cell (population, learner, number of samples) samples are drawn, and each is
cross-validated ten times over, as `error_interval` does it. All losses and folds are kept (in
--losses, outside of the repository), so that any rule that reads them can be tried later without a
fit; the table has, for each cell and rule, how often the interval held the risk of the rule fitted
to the sample, and how wide it was.

Rules are chosen on one half of the pairs of a population and a learner and reported on the other;
`half_of` says which, by a checksum of their names, as it did before anything was looked at.

    python benchmarks/inflation.py simulate --losses /tmp/losses --seconds 3600
    python benchmarks/inflation.py summarise --losses /tmp/losses --output inflation.csv
"""

import argparse
import csv
import re
import time
import warnings
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sklearn
from _populations import MORE_LEARNERS, N_NEW, POPULATIONS
from numpy.random import SeedSequence
from scipy import stats
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from skeval._adapters.runner import Runner
from skeval._inference.errors import (
    MAX_RATIO,
    TestLosses,
    degrees_of_mean,
    fixed_inflation,
    inflation_of,
    needs_repeat,
    shared_variance,
    split_share,
)
from skeval._inference.intervals import binomial_limits
from skeval._resampling.inputs import resolve_loss, validate_inputs
from skeval._resampling.sampling_units import Target
from skeval.metrics._regression import PROBABILITY_LOSSES
from skeval.model_selection._interval_methods import MAX_REPEATS, completed, plan_repeats

OF_NUMBERS_LOSSES = ("squared", "absolute")
RESULTS = Path(__file__).parent / "results" / "inflation.csv"
FEWEST = 4  # samples of a class
REPEATS = ("auto", 10, 5, 2, 1)  # those that the table has
PART = 100  # sets of a file


def half_of(population, learner):
    """Return 0 for pairs that rules are chosen on, 1 for those that they are reported on."""
    return zlib.crc32(f"{population}/{learner}".encode()) % 2


CHEAP = (
    "lda",
    "linear",
    "ridge",
    "selected",
    "1 neighbour",
    "5 neighbours",
    "15 neighbours",
    "linear svm",
    "rbf svm",
    "dummy",
    "logistic",
    "bayes",
)
SIZES = (100, 50, 200, 500, 1000)
DUMMY = ("gaussian 5", "gaussian 1:9", "friedman", "heavy tails")
TREES = ("stump", "tree of 3", "tree")
DEAR = ("forest", "boosting")
OF_CLASSES = (
    "gaussian 5",
    "gaussian 1:9",
    "xor",
    "ring",
    "logistic 20",
    "hastie",
    "blocks 100",
    "breast cancer",
    "affairs",
    "digits even",
    "logistic 100",
    "gaussian 1:30",
)
OF_NUMBERS = (
    "linear 20",
    "friedman",
    "chen 10",
    "chen 10 null",
    "blocks regression",
    "heavy tails",
    "visits",
    "lognormal",
    "signs",
    "rare step 2",
    "rare step 5",
)


def plan():
    """Yield (population, learner, n, part) in the order in which they are simulated."""
    hard = [("xor", "tree of 3"), ("xor", "tree"), ("ring", "tree of 3")]
    everything = (*OF_CLASSES, *OF_NUMBERS)
    pairs = [(each, learner) for learner in (*CHEAP, *TREES) for each in everything]
    pairs = [pair for pair in pairs if learner_of(*pair) is not None]
    pairs.sort(key=lambda pair: zlib.crc32("/".join(pair[::-1]).encode()))  # all kinds early
    cheap = ("lda", "linear", "5 neighbours", "tree of 3")
    chosen = {pair: zlib.crc32("/".join(pair).encode()) // 2 for pair in pairs}
    for part in range(4):
        cells = []
        for place, n in enumerate(SIZES):  # a half at 100 samples, a third each at other numbers
            at_n = [
                pair
                for pair, name in chosen.items()
                if pair in hard or (name % 2 == 0 if n == 100 else (name // 2 + place) % 3 == 0)
            ]
            if n == 100:
                dear = ("gaussian 5", "xor", "hastie", "friedman")
                at_n += [(population, learner) for population in dear for learner in DEAR]
            if n == 1000:
                at_n = [pair for pair in at_n if pair[1] in cheap]
            at_n = [pair for pair in at_n if pair[1] != "dummy" or pair[0] in DUMMY]
            at_n.sort(key=lambda pair: pair not in hard)
            cells += [(i / len(at_n), (*pair, n, part)) for i, pair in enumerate(at_n)]
        yield from (cell for _, cell in sorted(cells, key=lambda cell: cell[0]))


def learner_of(population, learner):
    """Return the estimator, None where the population has none of that name."""
    return MORE_LEARNERS[learner][int(POPULATIONS[population].regression)]


def draw_sample(population, rng, n):
    """Return a sample and, of a real population, the rows that are left."""
    row = POPULATIONS[population]
    while True:
        if row.table is None:
            X, y = row.simulate(rng, n)
            new = None
        else:
            X, y = row.table()
            order = rng.permutation(len(y))
            new = order[n : n + N_NEW]
            new = X[new], y[new]
            X, y = X[order[:n]], y[order[:n]]
        if row.regression or np.bincount(y, minlength=2).min() >= FEWEST:
            return X, y, new


def losses_named(population, of_probabilities):
    """Return the names of the losses that are kept."""
    if POPULATIONS[population].regression:
        return OF_NUMBERS_LOSSES
    return tuple(PROBABILITY_LOSSES) if of_probabilities else ("zero_one",)


def cross_validate(estimator, X, y, names, seed, n_folds, n_repeats=10):
    """Return the losses of each sample in each repeat, and its folds."""
    task = validate_inputs(estimator, X, y, method="repeated_cv")
    task = task.with_options(losses=tuple(resolve_loss(name, task.target) for name in names))
    plan = plan_repeats(task, SeedSequence(seed), n_folds=n_folds, n_repeats=n_repeats).plan
    losses = np.empty((len(names), n_repeats, len(y)), dtype=np.float32)
    fold = np.empty((n_repeats, len(y)), dtype=np.uint8)
    for fit, answer in enumerate(completed(list(Runner(task).each(plan)))):
        repeat, number = divmod(fit, n_folds)
        for place, loss in enumerate(task.losses):
            of_loss = task.with_options(losses=(loss,))
            losses[place, repeat, answer.rows] = of_loss.loss_values(answer)
        fold[repeat, answer.rows] = number
    return losses if names != ("zero_one",) else losses.astype(np.uint8), fold


def find_risks(model, X, y, names):
    """Return the mean losses of a model on new samples; classes are 0 and 1."""
    answers = {"predict": model.predict(X)}
    if names[0] in PROBABILITY_LOSSES:
        answers["predict_proba"] = model.predict_proba(X)
    losses = [resolve_loss(name, Target(y, np.arange(2), y)) for name in names]
    return np.array([loss(y, answers[loss.response]).mean(dtype=float) for loss in losses])


def simulate_part(population, learner, n, part, n_sets, of_probabilities=False, n_folds=10):
    """Return the arrays of a file."""
    names = losses_named(population, of_probabilities)
    name = zlib.crc32(f"{population} {learner} {n}".encode())
    estimator, row = learner_of(population, learner), POPULATIONS[population]
    new, n_new = None, max(min(N_NEW, 50 * n), 20 * n)
    if row.table is None:
        new = row.simulate(np.random.default_rng([7, name]), n_new)
    parts = []
    for number in range(n_sets):
        rng = np.random.default_rng([part, name, number])
        X, y, rest = draw_sample(population, rng, n)
        X_new, y_new = (values[:n_new] for values in (new if rest is None else rest))
        model = clone(estimator).fit(X, y)
        truth = find_risks(model, X_new, y_new, names)
        if population == "heavy tails":  # the variance of the errors is 3; that of a sample, unsure
            truth[0] = np.mean((X_new[:, :3].sum(axis=1) - model.predict(X_new)) ** 2) + 3
        seed = int(rng.integers(2**31))
        parts.append((truth, *cross_validate(estimator, X, y, names, seed, n_folds)))
    truth, losses, fold = map(np.stack, zip(*parts, strict=True))
    return {"risk": truth, "losses": losses, "fold": fold}


def simulate(arguments):
    """Simulate the parts that are not there, in order, until the time is over."""
    start = time.monotonic()
    arguments.losses.mkdir(parents=True, exist_ok=True)
    quick = sklearn.config_context(assume_finite=True, skip_parameter_validation=True)
    with threadpool_limits(1), quick, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        share, n_shares = arguments.share
        cells = arguments.cells or list(dict.fromkeys(plan()))[share::n_shares]
        for population, learner, n, part in cells:
            kind = "p" if arguments.probabilities else ""
            kind = kind if arguments.folds == 10 else f"k{arguments.folds}-{kind}"
            name = f"{population}_{learner}_{n}_{kind}{part}.npz".replace(" ", "-")
            path, estimator = arguments.losses / name, learner_of(population, learner)
            table = POPULATIONS[population].table
            rare = population == "gaussian 1:30" and n < 200
            few = table is not None and len(table()[1]) < 2 * n
            left_out = learner not in arguments.learners or rare or few or estimator is None
            if arguments.probabilities:
                left_out |= POPULATIONS[population].regression
                left_out = left_out or not hasattr(estimator, "predict_proba")
            if left_out or path.exists():
                continue
            if time.monotonic() - start > arguments.seconds:
                return
            began = time.process_time()
            n_sets = PART if learner not in DEAR else 40
            found = simulate_part(
                population, learner, n, part, n_sets, arguments.probabilities, arguments.folds
            )
            np.savez_compressed(path, **found)
            spent = time.process_time() - began
            print(f"{population}, {learner}, {n}, {part}: {spent:.1f} s", flush=True)


def interval_of(loss, error, naive, n, inflation, degrees):
    """Return the ends of the interval of `error_interval` for a naive variance of single losses."""
    if loss == "zero_one":
        return jeffreys(error, n / inflation)
    half = stats.t.isf(0.025, degrees) * np.sqrt(inflation * naive / n) / error
    if loss in OF_NUMBERS_LOSSES:
        half = np.where(half > np.log(MAX_RATIO), np.nan, half)  # as `error_interval` has none
    return error * np.exp(-half), error * np.exp(half)


def jeffreys(rate, size):
    """Return the limits of Jeffreys for arrays of rates."""
    low, high = binomial_limits(rate, size, np.asarray(stats.norm.isf(0.025)), exact=False)
    return low, high


def baseline_width(loss, error, naive, n):
    """Return the width of Wilson's interval, or of the normal one, on one cross-validation."""
    z = stats.norm.isf(0.025)
    if loss == "zero_one":
        half = np.sqrt(error * (1 - error) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
        return 2 * z * half
    return 2 * z * np.sqrt(naive / n)


class Sets(NamedTuple):
    """Sums of the repeats of each set.

    Attributes
    ----------
    n_repeats : int ndarray of shape (n_sets,)
    error, naive : ndarray of shape (n_sets,)
        Mean loss, and variance of single losses.
    shared : list of Shared
    share : ndarray of shape (n_sets,)
        Share of random splits.
    """

    n_repeats: np.ndarray
    error: np.ndarray
    naive: np.ndarray
    shared: list
    share: np.ndarray


def read_sets(losses, fold, n_repeats):
    """Return what the first repeats of each set say; "auto" means as many as the losses require."""
    sets = []
    for of_set, folds in zip(losses.astype(float), fold.astype(np.intp), strict=True):
        n, count = of_set.shape[1], n_repeats
        row, repeat = np.tile(np.arange(n), MAX_REPEATS), np.repeat(np.arange(MAX_REPEATS), n)

        def share_of(count, of_set=of_set, row=row, repeat=repeat, n=n):
            kept = slice(count * n)
            return split_share(of_set.ravel()[kept], row[kept], repeat[kept], np.arange(n))

        if n_repeats == "auto":
            count = 2
            while count < MAX_REPEATS and needs_repeat(share_of(count), count):
                count += 1
        kept, first = slice(count * n), of_set[:count]
        columns = of_set.ravel(), row, repeat, folds.ravel()
        shared = shared_variance(*(column[kept] for column in columns))
        naive = first.var(axis=1, ddof=1).mean()
        sets.append((count, first.mean(), naive, shared, share_of(count)))
    counts, errors, naives, shared, shares = zip(*sets, strict=True)
    return Sets(*map(np.array, (counts, errors, naives)), shared, np.array(shares))


def switch(shared, n_repeats):
    """Return the inflation of the first version: all of what is shared if it exceeds its noise."""
    if np.isnan(shared.value):
        return fixed_inflation(np.nan)
    least = 1.15 + 8 / shared.size + 0.5 / n_repeats
    return max(1 + shared.value, least) if shared.value > shared.noise else least


def rules(sets, loss):
    """Return the rules that are compared: name, and inflation of each set."""
    zero_one = loss == "zero_one"
    pairs = list(zip(sets.shared, sets.share, strict=True))
    old = zip(sets.shared, sets.n_repeats, strict=True)
    return {
        "fixed": np.array([fixed_inflation(share) for share in sets.share]),
        "switch": np.array([switch(*each) for each in old]),
        "chosen": np.array([inflation_of(*each, zero_one=zero_one) for each in pairs]),
    }


def summarise_cell(population, learner, n, n_folds, loss, found):
    """Yield the rows of the table for a cell."""
    risk, losses, fold = found
    for n_repeats in REPEATS:
        sets = read_sets(losses, fold, n_repeats)
        error, naive = sets.error, sets.naive
        delta = [each.value for each in sets.shared]
        variance = error * (1 - error) if loss == "zero_one" else naive
        with np.errstate(invalid="ignore", divide="ignore"):
            needed = np.mean((error - risk) ** 2) * n / np.mean(variance)
        for name, inflation in rules(sets, loss).items():
            degrees = np.maximum(1, n / inflation - 1)
            if name != "fixed" and loss != "zero_one":
                bounded = loss in PROBABILITY_LOSSES
                kept = zip(losses.astype(float), sets.n_repeats, inflation, strict=True)
                degrees = np.array(
                    [
                        degrees_of_mean(TestLosses(each[:count].ravel()), n, f, bounded=bounded)
                        for each, count, f in kept
                    ]
                )
            low, high = interval_of(loss, error, naive, n, inflation, degrees)
            known = np.isfinite(low)  # shares are of the sets that have an interval
            upper = np.quantile((high / error)[known], 0.95) if known.any() else np.nan
            widths = (high - low) / baseline_width(loss, error, naive, n)
            yield {
                "population": population,
                "learner": learner,
                "n": n,
                "loss": loss,
                "half": half_of(population, learner),
                "folds": n_folds,
                "sets": len(risk),
                "repeats": n_repeats,
                "used": f"{sets.n_repeats.mean():.3g}",
                "rule": name,
                "coverage": round(float(np.mean(((low <= risk) & (risk <= high))[known])), 4),
                "below": round(float(np.mean((risk < low)[known])), 4),
                "width": f"{np.nanmedian(widths):.4g}",
                "width_90": f"{np.nanquantile(widths, 0.9):.4g}",
                "inflation": f"{np.median(inflation):.4g}",
                "needed": f"{needed:.4g}",
                "delta": f"{np.mean(delta):.3g}",
                "delta_sd": f"{np.std(delta):.3g}",
                "error": f"{error.mean():.4g}",
                "risk": f"{risk.mean():.4g}",
                "none": round(float(np.mean(~known)), 4),
                "upper": f"{upper:.4g}",
            }


def read_cells(folder):
    """Yield each cell with the arrays of its files: names, folds, loss, (risk, losses, fold)."""
    cells = {}
    for path in sorted(folder.glob("*.npz")):
        *names, n, part = path.stem.split("_")
        n_folds, kind = re.fullmatch(r"(?:k(\d+)-)?(p?)\d+", part).groups()
        cells.setdefault((*names, int(n), int(n_folds or 10), kind == "p"), []).append(path)
    for (population, learner, n, n_folds, of_probabilities), paths in cells.items():
        parts = [np.load(path) for path in paths]
        risk, losses, fold = (
            np.concatenate([part[name] for part in parts]) for name in ("risk", "losses", "fold")
        )
        names = population.replace("-", " "), learner.replace("-", " ")
        for number, loss in enumerate(losses_named(names[0], of_probabilities)):
            yield *names, n, n_folds, loss, (risk[:, number], losses[:, number], fold)


def summarise(arguments):
    """Write the table, and print what it says of each half."""
    rows = [row for cell in read_cells(arguments.losses) for row in summarise_cell(*cell)]
    with arguments.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    for loss in ("zero_one", "squared", "absolute", *PROBABILITY_LOSSES):
        for n_repeats in REPEATS:
            for half in (0, 1):
                key = {"loss": loss, "repeats": n_repeats, "half": half}
                for name in ("fixed", "switch", "chosen"):
                    wanted = key | {"rule": name}
                    show([r for r in rows if all(r[k] == v for k, v in wanted.items())])


def share_inside(coverage, sets):
    """Return which share of cells would be within .93 to .985 if all had this coverage."""
    most, least = np.floor(0.985 * sets + 1e-9), np.ceil(0.93 * sets - 1e-9)
    held = stats.binom(sets, coverage)
    return float(np.mean(held.cdf(most) - held.cdf(least - 1)))


def show(rows):
    """Print the coverage of the cells of a rule, and the worst of them."""
    coverage = np.array([row["coverage"] for row in rows])
    if not len(rows):
        return
    first, sets = rows[0], np.array([row["sets"] for row in rows])
    inside = np.mean((coverage >= 0.93) & (coverage <= 0.985))
    worst = sorted(rows, key=lambda row: row["coverage"])[:3]
    named = "; ".join(
        f"{row['population']}, {row['learner']}, {row['n']}: {row['coverage']:.2f}" for row in worst
    )
    widths = np.array([float(row["width"]) for row in rows])
    print(
        f"{first['loss']:8} {first['repeats']:4} half {first['half']} {first['rule']:6} "
        f"{len(rows)} cells: mean {coverage.mean():.3f}, in .93 to .985 {inside:.2f} "
        f"({share_inside(coverage.mean(), sets):.2f} if all had the mean), "
        f"below .90 {np.mean(coverage < 0.9):.2f}, median width {np.median(widths):.2f}; {named}"
    )


def read_cell(text):
    """Return a cell of the plan from what the command line calls it."""
    population, learner, n, part = text.split("/")
    return population, learner, int(n), int(part)


def parse():
    """Parse the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["simulate", "summarise"])
    parser.add_argument("--losses", type=Path, required=True, help="folder of all losses")
    parser.add_argument("--output", type=Path, default=RESULTS, help="the table")
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument(
        "--probabilities", action="store_true", help="losses of probabilities, of classifiers"
    )
    parser.add_argument("--learners", nargs="+", default=list(MORE_LEARNERS), help="only these")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument(
        "--cells", nargs="+", type=read_cell, help="these: population/learner/samples/part"
    )
    parser.add_argument(
        "--share", type=int, nargs=2, default=(0, 1), help="number of this process, and of all"
    )
    return parser.parse_args()


if __name__ == "__main__":
    options = parse()
    (simulate if options.command == "simulate" else summarise)(options)
