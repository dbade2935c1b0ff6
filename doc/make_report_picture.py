"""Make the pictures of the README and of the first page.

``python doc/make_report_picture.py`` takes a minute and needs the extra `report`, and Chromium for
the pictures of reports; ``--claim`` draws only the figure of the README.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import PercentFormatter
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from sklearn.datasets import load_diabetes
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC

sys.path.insert(0, str(Path(__file__).parents[1]))

import skeval

PICTURE = Path(__file__).parent / "_static" / "report.png"
LANDING = PICTURE.with_name("landing.png")
CLAIM = PICTURE.with_name("claim.png")


def diabetes_and_noise() -> tuple[np.ndarray, np.ndarray]:
    """Return 100 patients, ten measurements among 990 columns of noise, and fast progression."""
    rng = np.random.default_rng(0)
    X, y = load_diabetes(return_X_y=True)
    chosen = rng.choice(len(y), 100, replace=False)
    measured = X[chosen] / X[chosen].std(axis=0)
    fast = np.where(y[chosen] > np.median(y), "fast", "slow")
    return np.hstack([measured, rng.normal(size=(100, 990))]), fast


def select_and_separate() -> Pipeline:
    """Return a linear support vector machine behind the twenty best features."""
    return make_pipeline(SelectKBest(k=20), SVC(kernel="linear"))


def take_picture(report: skeval.Report, path: Path, height: int) -> None:
    """Write the page of a report, and take a picture of what one sees of it first."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("Chromium is not installed")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        report.to_html(page)
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        size = [f"--window-size=1000,{height}", f"--screenshot={path}"]
        subprocess.run([browser, *options, *size, page.as_uri()], check=True, capture_output=True)
    # the first sentences are kept in the file, so that a test can compare them with the code
    told = PngInfo()
    told.add_text("verdict", report.verdict)
    Image.open(path).convert("RGB").quantize(256).save(path, optimize=True, pnginfo=told)


def noise() -> tuple[np.ndarray, np.ndarray]:
    """Return 62 samples of 2,000 features that have nothing to do with the labels."""
    return np.random.default_rng(1).normal(size=(62, 2000)), np.arange(62) % 2


def draw_claim(report: skeval.Report, path: Path) -> None:
    """Draw the accuracy with features selected on all samples beside the honest estimate."""
    claimed = 1 - report.selection_bias.extra.cv1_error
    error, interval = report.answer.value, report.answer.interval
    low, high = interval.low, interval.high
    figure, axes = plt.subplots(1, 2, figsize=(9, 3), sharey=True, layout="constrained")
    titles = (
        f"claimed: {100 * claimed:.0f} % accuracy\n(features selected on all samples)",
        f"{100 * error:.1f} % error, 95 % CI {100 * low:.0f} to {100 * high:.0f} %:\n"
        "no evidence that it beats chance",
    )
    for ax, title in zip(axes, titles, strict=True):
        ax.axhline(0.5, color="0.5", linestyle="--", linewidth=1)
        ax.set(title=title, xlim=(-1, 1), ylim=(0, 0.8), xticks=[])
        ax.spines[["top", "right", "bottom"]].set_visible(False)
    axes[0].plot(0, 1 - claimed, "o", color="#c0392b", markersize=12)
    axes[0].annotate("always predicting one class", (-0.95, 0.52), color="0.35")
    axes[1].plot([0, 0], [low, high], color="#1f5f8b", linewidth=4, solid_capstyle="round")
    axes[1].plot(0, error, "o", color="#1f5f8b", markersize=12)
    axes[0].set_ylabel("error on new samples")
    axes[0].yaxis.set_major_formatter(PercentFormatter(1))
    figure.savefig(path, dpi=120)
    plt.close(figure)


def make_reports() -> dict[Path, skeval.Report]:
    """Return the report of each picture, of noise and of some patients."""
    return {
        LANDING: skeval.evaluate(select_and_separate(), *noise(), random_state=0),
        PICTURE: skeval.evaluate(select_and_separate(), *diabetes_and_noise(), random_state=0),
    }


def main() -> None:
    """Evaluate noise and some patients, and draw the pictures."""
    reports = make_reports()
    draw_claim(reports[LANDING], CLAIM)
    if "--claim" not in sys.argv:
        take_picture(reports[LANDING], LANDING, 710)
        take_picture(reports[PICTURE], PICTURE, 1110)


if __name__ == "__main__":
    main()
