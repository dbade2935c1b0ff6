"""Make the pictures of the README and of the first page: a report in headless Chromium, and a plot.

``python doc/make_report_picture.py`` takes a minute and needs Chromium and the extra `report`.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_diabetes
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

sys.path.insert(0, str(Path(__file__).parents[1]))

import skeval

PICTURE = Path(__file__).parent / "_static" / "report.png"
LANDING = PICTURE.with_name("landing.png")


def diabetes_and_noise() -> tuple[np.ndarray, np.ndarray]:
    """Return 100 patients, ten measurements among 990 columns of noise, and fast progression."""
    rng = np.random.default_rng(0)
    X, y = load_diabetes(return_X_y=True)
    chosen = rng.choice(len(y), 100, replace=False)
    measured = X[chosen] / X[chosen].std(axis=0)
    fast = np.where(y[chosen] > np.median(y), "fast", "slow")
    return np.hstack([measured, rng.normal(size=(100, 990))]), fast


def draw_noise() -> None:
    """Draw what ``index.rst`` evaluates."""
    X, y = np.random.default_rng(1).normal(size=(62, 2000)), np.arange(62) % 2
    model = make_pipeline(SelectKBest(k=20), SVC(kernel="linear"))
    figure = skeval.evaluate(model, X, y, random_state=0).plot().figure_
    figure.savefig(LANDING, dpi=110, bbox_inches="tight")


def main() -> None:
    """Evaluate, write the page, and take its picture."""
    draw_noise()
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("Chromium is not installed")
    model = make_pipeline(SelectKBest(k=20), SVC(kernel="linear"))
    report = skeval.evaluate(model, *diabetes_and_noise(), random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        report.to_html(page)
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        size = ["--window-size=900,1045", f"--screenshot={PICTURE}"]
        subprocess.run([browser, *options, *size, page.as_uri()], check=True, capture_output=True)
    Image.open(PICTURE).convert("RGB").quantize(256).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
