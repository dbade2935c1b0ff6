"""Every benchmark, one after another, and one table of today's figures against the marks.

``python benchmarks/run_all.py`` takes an hour on one core; ``--only ID ...`` runs some rows,
``--rounds 1`` times each pair once. The scripts do the checking: a row whose two sides disagree
fails, and the table says so.
"""

import argparse
import os
import platform
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
RATIO = r"^ratio: ([\d.]+)$"


class Row(NamedTuple):
    """One line of the table: what is run, what is read from its output, and the mark."""

    work: str
    command: str
    mark: float
    pattern: str = RATIO
    unit: str = "x"
    paired: bool = True

    def reaches(self, figure: float) -> bool:
        """Ratios are to be large, seconds and megabytes small."""
        return figure >= self.mark if self.unit == "x" else figure <= self.mark


PASS = "internal_pass.py"
ROWS = {
    "perturb-colon": Row("perturbation interval, 62 x 2000, R=1000", "perturb.py --case colon", 30),
    "perturb-bc": Row("the same, breast_cancer 569 x 30, R=1000", "perturb.py --case bc", 3),
    "perturb-5000": Row("the same, n=5000 p=20, R=100", "perturb.py --case 5000", 60),
    "permute-cv2": Row("P=1000, 10 folds, selection inside, 62 x 2000", "permute_cv2.py", 12),
    "permute-noise": Row(
        "the same, 30 of 3000 near-noise features, n=70", "permute_cv2.py --data noise", 8
    ),
    "permute-ridge": Row(
        "P=1000, 10 folds, RidgeClassifier, 569 x 30", "permute_smooth.py --model ridge", 40
    ),
    "permute-ridge-colon": Row(
        "the same, 62 x 2000", "permute_smooth.py --model ridge --data colon", 40
    ),
    "permute-knn": Row(
        "P=1000, 10 folds, 5 neighbours, 569 x 30", "permute_smooth.py --model knn", 15
    ),
    "permute-knn-colon": Row(
        "the same, 62 x 2000", "permute_smooth.py --model knn --data colon", 15
    ),
    "permute-lda": Row(
        "P=1000, 10 folds, shrunk LDA, 569 x 30", "permute_smooth.py --model lda", 20
    ),
    "boot-632": Row(".632 and .632+, B=1000, SVM, 62 x 2000", "bootstrap.py --case 632", 10),
    "boot-mlxtend": Row(
        ".632, B=200, LogisticRegression, 569 x 30", "bootstrap.py --case generic", 1
    ),
    "perturb-rbf": Row(
        "perturbed cross-validation, RBF SVC, 569 x 30, R=200", "svm_kinds.py --case perturb-rbf", 5
    ),
    "perturb-balanced": Row(
        "the same, linear, class_weight='balanced'", "svm_kinds.py --case perturb-balanced", 5
    ),
    "perturb-iris": Row(
        "the same, linear, three classes, 150 x 4", "svm_kinds.py --case perturb-iris", 5
    ),
    "boot-rbf": Row(".632+, B=200, RBF SVC, 569 x 30", "svm_kinds.py --case boot-rbf", 5),
    "permute-linear": Row(
        "P=20, 10 folds, standardised linear SVC, 569 x 30",
        "svm_kinds.py --case permute-linear --repeats 20",
        15,
    ),
    "nested-svm": Row(
        "nested folds K=5 R=10, linear SVC, 100 x 20", "svm_kinds.py --case nested-svm", 20
    ),
    "nested-svm-colon": Row("the same, 62 x 2000", "svm_kinds.py --case nested-svm-colon", 20),
    "boot-generic": Row("B=1000, four cheap estimators, 569 x 30", "generic_loop.py", 0.9),
    "internal-pass": Row("all internal indices, n=20000 d=10 K=8", f"{PASS} --overlap 1", 5),
    "internal-overlap": Row("the same, overlapping", PASS, 4),
    "internal-12": Row("the same, d=12 K=9", f"{PASS} --d 12 --clusters 9", 4),
    "internal-50": Row("the same, d=50 K=10", f"{PASS} --d 50 --clusters 10 --overlap 8", 3),
    "internal-2": Row("the same, d=2 K=15", f"{PASS} --d 2 --clusters 15 --overlap 1", 4),
    "internal-200": Row(
        "the same, K=200 of unequal size", f"{PASS} --clusters 200 --unequal --overlap 2", 3
    ),
    "internal-all": Row(
        "d=12 K=9, against all of scikit-learn", f"{PASS} --d 12 --clusters 9 --peer all", 5
    ),
    "internal-memory": Row(
        "the same, n=50000, memory",
        f"{PASS} --memory --n 50000",
        300,
        r"^(\d+) MB",
        "MB",
        paired=False,
    ),
    "dunn-scale": Row(
        "exact Dunn, n=10^6 in 3-D, 2 threads",
        "dunn_scale.py",
        60,
        r"^n=1000000 d=3: ([\d.]+) s",
        "s",
        paired=False,
    ),
    "external": Row("pair-counting indices, 10^7 labels", "external.py", 3),
    "bleu": Row("BLEU, 10^5 sentence pairs", "bleu.py", 1),
    "parallel": Row("generic path, 2 workers against 1", "parallel.py", 1.6),
    "spread": Row("batches of a solver, 2 workers against 1", "spread.py", 1.7),
    "cluster": Row("the same and forests on Dask, 2 workers against 1", "on_cluster.py", 1.6),
}


def measure(row: Row, rounds: int) -> float:
    """Run the script of a row and return its last figure."""
    script, *arguments = row.command.split()
    if row.paired:
        arguments += ["--rounds", str(rounds)]
    done = subprocess.run(
        [sys.executable, str(FOLDER / script), *arguments],
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    figures = re.findall(row.pattern, done.stdout, flags=re.MULTILINE)
    if done.returncode or not figures:
        raise RuntimeError(f"{row.command} failed:\n{done.stdout}{done.stderr}")
    return float(figures[-1])


def machine() -> str:
    """Return the versions and the machine that the figures belong to."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("scikit-learn", "numpy", "scipy"))
    data = "colon" if "SKEVAL_DATA" in os.environ else "simulated data of the shape of colon"
    return (
        f"Python {platform.python_version()}, {packages}; {platform.machine()}, "
        f"{os.cpu_count()} cores; {data}"
    )


def main() -> int:
    """Print the table as reStructuredText; 1 if a row fails or misses its mark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=ROWS, default=list(ROWS), metavar="ID")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    lines, missed = [], 0
    for name in options.only:
        row = ROWS[name]
        try:
            figure = measure(row, options.rounds)
            reached = row.reaches(figure)
            cell = f"{figure:g}{row.unit if row.unit == 'x' else ' ' + row.unit}"
        except RuntimeError as error:
            print(error, file=sys.stderr)
            cell, reached = "failed", False
        missed += not reached
        bound = ">=" if row.unit == "x" else "<="
        lines.append((name, row.work, cell, f"{bound} {row.mark:g}", "" if reached else "missed"))
        print(" ".join(f"{part:<16}" for part in lines[-1][::2]), file=sys.stderr, flush=True)
    print(machine() + "\n")
    print(table([("id", "work", "measured", "mark", ""), *lines]))
    return int(missed > 0)


def table(rows: list[tuple[str, ...]]) -> str:
    """Return rows, the first of them the head, as a simple table."""
    widths = [max(1, *map(len, column)) for column in zip(*rows, strict=True)]
    rule = "  ".join("=" * width for width in widths)
    head, *body = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    return "\n".join([rule, head, rule, *body, rule])


if __name__ == "__main__":
    sys.exit(main())
