"""How often does each interval of `error_interval` hold the risk, and how wide is it?

Four published intervals that skeval does not offer (`_competitors`) are measured beside them.

For each cell (population, learner, number of samples) many samples are drawn; each is given to
every method. The risk of the rule fitted to a sample is found on new samples; the expected risk of
a cell is the mean of these. A row of the CSV is a method in a cell: coverage of both, mean width,
and that over the width of "cv_wald", which for 0-1 loss is Wilson's interval on one
cross-validation. Cells that the file has are skipped, so a run that was stopped goes on; with
--samples FILE each single interval is kept too, to try other rules on the same fits.

    python benchmarks/coverage_intervals.py --output coverage.csv --jobs 2
    python benchmarks/coverage_intervals.py --output coverage.csv --sets 400 --sizes 50 100 200 \
        --populations all --learners all --methods all
    python benchmarks/coverage_intervals.py --output coverage.csv --summary
    python benchmarks/coverage_intervals.py --output results/methods.csv --table
"""

import argparse
import csv
import time
import warnings
import zlib
from pathlib import Path

import numpy as np
import scipy
import sklearn
from _competitors import COMPETITORS
from _populations import HELD_OUT, LEARNERS, MORE_LEARNERS, POPULATIONS, draw, learner_of, risk
from joblib import Parallel, delayed
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import skeval
from skeval.model_selection import error_interval

METHODS = {
    "cv_wald": {"method": "cv_wald"},
    "cv_wald, within": {"method": "cv_wald", "variance": "within_folds"},
    "holdout": {"method": "holdout"},
    "five_by_two": {"competitor": "five_by_two"},
    "corrected_t, 25": {"method": "corrected_t", "n_repeats": 25},
    "corrected_t, 100": {"method": "corrected_t", "n_repeats": 100},
    "nested_cv": {"method": "nested_cv"},
    "repeated_cv": {"method": "repeated_cv"},
    "repeated_cv, 5 folds": {"method": "repeated_cv", "n_folds": 5},
    "oob": {"method": "oob"},
    ".632": {"method": ".632"},
    ".632+": {"method": ".632+"},
    ".632+, 500": {"method": ".632+", "n_resamples": 500},
    "location_shifted": {"competitor": "location_shifted"},
    "two_stage": {"competitor": "two_stage"},
    "replace_one_cv": {"competitor": "replace_one_cv"},
    "perturbation": {"method": "perturbation"},
}
BASELINE = "cv_wald"
DEFAULT = {
    "populations": ["gaussian 5", "logistic 20", "gaussian 1:9", "breast cancer", "friedman"],
    "learners": ["lda", "neighbours", "tree", "ridge"],
    "methods": ["corrected_t, 25", "nested_cv", "repeated_cv", ".632+"],
}
KEY = ["population", "learner", "n", "seed", "sets"]
FIELDS = [
    *KEY,
    "method",
    "held_out",
    "covers_risk",
    "covers_expected_risk",
    "width",
    "relative_width",
    "error",
    "risk",
    "bias",
    "rmse",
    "seconds",
    "fits",
    "versions",
]
OF_SAMPLES = ["set", "method", "risk", "error", "standard_error", "n_effective", "low", "high"]


def one_set(cell, methods, number):
    """Draw a sample and give it to every method: rows of OF_SAMPLES, seconds and fits."""
    population, learner, n, seed, _ = cell
    name = zlib.crc32(f"{population} {learner} {n}".encode())
    rng = np.random.default_rng([seed, name, number])
    X, y, *new = draw(population, rng, n)
    estimator, state, rows = learner_of(population, learner), int(rng.integers(2**31)), []
    quick = sklearn.config_context(assume_finite=True, skip_parameter_validation=True)
    with threadpool_limits(1), quick, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of estimators, about small classes
        truth = risk(clone(estimator).fit(X, y), *new)
        for method in methods:
            start = time.process_time()
            try:
                options = METHODS[method]
                if "competitor" in options:
                    competitor = COMPETITORS[options["competitor"]]
                    found = competitor(estimator, X, y, np.random.default_rng(state))
                else:
                    found = error_interval(estimator, X, y, random_state=state, **options)
            except TypeError:  # perturbation of an estimator that takes no weights
                continue
            spent = time.process_time() - start
            ends = found.interval.low, found.interval.high
            numbers = found.value, found.standard_error, found.effective_n_samples, *ends
            rows.append(
                (number, method, truth, *numbers, spent, getattr(found, "extra", found).n_fits)
            )
    return rows


def summarise(cell, methods, rows):
    """Return a row of the CSV for each method."""
    risks = {row[0]: row[2] for row in rows}
    expected = float(np.mean(list(risks.values())))
    of = {m: np.array([row[2:] for row in rows if row[1] == m], dtype=float) for m in methods}
    baseline = np.mean(of[BASELINE][:, 5] - of[BASELINE][:, 4])
    packages = (skeval, sklearn, np, scipy)
    versions = " ".join(f"{package.__name__} {package.__version__}" for package in packages)
    for method, table in of.items():
        if not len(table):
            continue
        truth, error, _, _, low, high, spent, fits = table.T
        width = np.nanmean(high - low)  # an interval of no width is nan, and holds nothing
        yield dict(zip(KEY, cell, strict=True)) | {
            "method": method,
            "held_out": int(cell[0] in HELD_OUT),
            "covers_risk": round(np.mean((low <= truth) & (truth <= high)), 4),
            "covers_expected_risk": round(np.mean((low <= expected) & (expected <= high)), 4),
            "width": f"{width:.5g}",
            "relative_width": f"{width / baseline:.4g}",
            "error": f"{error.mean():.5g}",
            "risk": f"{expected:.5g}",
            "bias": f"{np.mean(error - truth):.4g}",
            "rmse": f"{np.sqrt(np.mean((error - truth) ** 2)):.4g}",
            "seconds": f"{np.mean(spent):.4g}",
            "fits": int(np.mean(fits)),
            "versions": versions,
        }


def cells_of(arguments):
    """Return the cells asked for: those that a learner and enough samples exist for."""
    for n in arguments.sizes:
        for population in arguments.populations:
            table = POPULATIONS[population].table
            if table is not None and len(table()[1]) < 2 * n:
                continue
            for learner in arguments.learners:
                if learner_of(population, learner) is not None:
                    yield population, learner, n, arguments.seed, arguments.sets


def done(output):
    """Return the methods that a file has of each cell."""
    found = {}
    if output.exists():
        with output.open(newline="") as file:
            for row in csv.DictReader(file):
                found.setdefault(tuple(row[key] for key in KEY), set()).add(row["method"])
    return found


def append(path, fields, rows):
    """Add rows to a CSV, with a header where it is new."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, fields)
        if new:
            writer.writeheader()
        writer.writerows(rows)


def run(arguments):
    """Run the cells that the file does not have, one after another, their sets side by side."""
    finished = done(arguments.output)
    for cell in cells_of(arguments):
        known = finished.get(tuple(map(str, cell)), set())
        left = [method for method in arguments.methods if method not in known]
        if not left:
            continue
        methods = list(dict.fromkeys([BASELINE, *left]))
        jobs = (delayed(one_set)(cell, methods, number) for number in range(arguments.sets))
        parts = Parallel(n_jobs=arguments.jobs)(jobs)
        rows = [row for part in parts for row in part]
        if arguments.samples:
            kept = [
                dict(zip(KEY, cell, strict=True)) | dict(zip(OF_SAMPLES, row[:8], strict=True))
                for row in rows
                if row[1] not in known
            ]
            append(arguments.samples, [*KEY, *OF_SAMPLES], kept)
        table = [row for row in summarise(cell, methods, rows) if row["method"] not in known]
        append(arguments.output, FIELDS, table)
        show(table)


def show(table):
    """Print some columns of rows."""
    for row in table:
        columns = [row[name] for name in (*KEY[:3], "method", "covers_risk", "relative_width")]
        print("{:20} {:11} {:>4} {:28} {:>7} {:>7}".format(*map(str, columns)), flush=True)


def summary(arguments):
    """Print, for each method, the range of its coverage and its mean relative width."""
    with arguments.output.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for held_out in ("0", "1"):
        part = [row for row in rows if row["held_out"] == held_out]
        print("held out" if held_out == "1" else "chosen on", f"({len(part)} rows)")
        for method in dict.fromkeys(row["method"] for row in part):
            mine = [row for row in part if row["method"] == method]
            risks, widths, misses = [], [], []
            for row in mine:
                risks.append(float(row["covers_risk"]))
                widths.append(float(row["relative_width"]))
                if not 0.935 <= risks[-1] <= 0.985:
                    cell = f"{row['population']}, {row['learner']}, {row['n']}"
                    misses.append(f"{cell}: {row['covers_risk']}")
            print(
                f"  {method:28} {min(risks):.3f} to {max(risks):.3f}, mean {np.mean(risks):.3f}, "
                f"width {np.mean(widths):.2f}, {len(misses)} of {len(mine)} cells miss"
            )
            for miss in misses if arguments.misses else []:
                print(f"      {miss}")


def tabulate(arguments):
    """Print a table of the guide: a line for each cell, and how often each method held it."""
    with arguments.output.open(newline="") as file:
        rows = list(csv.DictReader(file))
    methods, cells = list(dict.fromkeys(row["method"] for row in rows)), {}
    for row in rows:
        cells.setdefault(", ".join(row[name] for name in KEY[:3]), {})[row["method"]] = row
    parts = [[row[method] for row in cells.values()] for method in methods]
    held = [[float(row["covers_risk"]) for row in part] for part in parts]
    widths = [[float(row["relative_width"]) for row in part] for part in parts]
    lines = [["population, learner, samples", *methods]]
    for cell, found in cells.items():
        shown = [(found[m]["covers_risk"], found[m]["relative_width"]) for m in methods]
        lines.append([cell, *(f"{float(c):.2f} ({float(w):.2f})" for c, w in shown)])
    lines.append(["lowest (median width)"])
    lines[-1] += [f"{min(c):.2f} ({np.median(w):.2f})" for c, w in zip(held, widths, strict=True)]
    lines.append(["mean"] + [f"{np.mean(c):.3f}" for c in held])
    lines.append(["fits"] + [part[0]["fits"] for part in parts])
    sizes = [max(map(len, column)) for column in zip(*lines, strict=True)]
    bar = "  ".join("=" * size for size in sizes)
    texts = ["  ".join(map(str.ljust, line, sizes)).rstrip() for line in lines]
    print("\n".join([bar, texts[0], bar, *texts[1:], bar]))


def parse():
    """Parse the options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, required=True, help="the CSV, which is added to")
    parser.add_argument("--samples", type=Path, help="a CSV of the single intervals")
    parser.add_argument("--sets", type=int, default=100, help="samples drawn in each cell")
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 100])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--summary", action="store_true", help="print what the CSV says instead")
    parser.add_argument(
        "--table", action="store_true", help="print the guide's table of it instead"
    )
    parser.add_argument("--misses", action="store_true", help="name the cells that miss, too")
    every = {"populations": POPULATIONS, "learners": MORE_LEARNERS | LEARNERS, "methods": METHODS}
    for name, known in every.items():
        choices = [*known, "all", "tuned", "held-out"] if name == "populations" else [*known, "all"]
        parser.add_argument(
            f"--{name}", nargs="+", default=DEFAULT[name], choices=choices, metavar="NAME"
        )
    arguments = parser.parse_args()
    groups = {
        "tuned": [name for name in POPULATIONS if name not in HELD_OUT],
        "held-out": list(HELD_OUT),
    }
    for name, known in every.items():
        asked = getattr(arguments, name)
        chosen = [part for each in asked for part in groups.get(each, [each])]
        setattr(arguments, name, list(known) if "all" in chosen else chosen)
    return arguments


if __name__ == "__main__":
    options = parse()
    (tabulate if options.table else summary if options.summary else run)(options)
