"""Make the pictures of the README and of the first page: reports in headless Chromium.

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
from sklearn.pipeline import Pipeline, make_pipeline
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


def select_and_separate() -> Pipeline:
    """Return a linear support vector machine behind the twenty best features."""
    return make_pipeline(SelectKBest(k=20), SVC(kernel="linear"))


def take_picture(report: skeval.EvaluationReport, path: Path, height: int) -> None:
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
    Image.open(path).convert("RGB").quantize(256).save(path, optimize=True)


def main() -> None:
    """Evaluate what ``index.rst`` does, and some patients, and take the pictures."""
    X, y = np.random.default_rng(1).normal(size=(62, 2000)), np.arange(62) % 2
    noise = skeval.evaluate(select_and_separate(), X, y, random_state=0)
    take_picture(noise, LANDING, 710)
    patients = skeval.evaluate(select_and_separate(), *diabetes_and_noise(), random_state=0)
    take_picture(patients, PICTURE, 1110)


if __name__ == "__main__":
    main()
