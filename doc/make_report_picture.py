"""Make the picture of a report for the README and the first page of the documentation.

``python doc/make_report_picture.py`` takes a minute, and needs the extra `report` and Chromium.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC

sys.path.insert(0, str(Path(__file__).parents[1]))

import skeval

PICTURE = Path(__file__).parent / "_static" / "landing.png"


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


def make_report() -> skeval.Report:
    """Return the report of the picture, which is of noise."""
    return skeval.evaluate(select_and_separate(), *noise(), random_state=0)


def main() -> None:
    """Evaluate noise, and take the picture."""
    take_picture(make_report(), PICTURE, 710)


if __name__ == "__main__":
    main()
