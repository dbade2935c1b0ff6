"""The page in headless Chromium: nothing loaded, nothing cut off, legible in light and dark."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

selenium = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    BROWSER is None or DRIVER is None, reason="Chromium or its driver is not installed"
)

READABLE = 4.5  # contrast that WCAG 2.2 asks of text (success criterion 1.4.3, level AA)
LOOK = """
const shown = [...document.querySelectorAll("h1, h2, p, li, th, td, caption, figcaption, code")];
const box = thing => { const r = thing.getBoundingClientRect();
    return {left: r.left, right: r.right, width: r.width, height: r.height}; };
return {
    background: getComputedStyle(document.querySelector(".skeval")).backgroundColor,
    text: shown.map(thing => getComputedStyle(thing).color),
    labels: [...document.querySelectorAll("svg text")].map(text => getComputedStyle(text).fill),
    label_boxes: [...document.querySelectorAll("svg text")].map(box),
    label_sizes: [...document.querySelectorAll("svg text")].map(text => {
        const m = text.getScreenCTM();
        return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(m.a, m.b); }),
    figures: [...document.querySelectorAll("figure svg")].map(svg =>
        ({...box(svg), seen: svg.checkVisibility({opacityProperty: true})})),
    width: innerWidth,
    scroll_width: document.documentElement.scrollWidth,
    cut: [...document.querySelectorAll(".scroll")].filter(
        table => table.scrollWidth > table.clientWidth).length,
};
"""


@pytest.fixture(scope="module")
def browser():
    options = selenium.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = selenium.Chrome(options=options, service=selenium.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module", params=["evaluation", "clustering"])
def report(request, nasty_report, clustering_report):
    return {"evaluation": nasty_report, "clustering": clustering_report}[request.param]


@pytest.fixture(scope="module")
def page(request, report, nasty_report):
    name = "nasty_page" if report is nasty_report else "clustering_page"
    return request.getfixturevalue(name)


def opened(browser, path: Path, width: int, scheme: str) -> dict:
    """Open a page in a window of a width and a color scheme, and look at it."""
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    preference = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [preference]})
    for kind in ("browser", "performance"):
        browser.get_log(kind)  # forget what an earlier page did
    browser.get(path.as_uri())
    return browser.execute_script(LOOK)


def requests(browser) -> list[str]:
    """Return the addresses that the page asked for."""
    messages = [json.loads(line["message"])["message"] for line in browser.get_log("performance")]
    return [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]


def color(text: str) -> np.ndarray:
    numbers = [float(part) for part in text[text.index("(") + 1 : -1].split(",")]
    assert len(numbers) == 3 or numbers[3] == 1, text  # not transparent
    return np.array(numbers[:3]) / 255


def luminance(text: str) -> float:
    """Return the relative luminance of WCAG 2.2."""
    value = color(text)
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(a: str, b: str) -> float:
    dark, light = sorted([luminance(a), luminance(b)])
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(("width", "scheme"), [(400, "light"), (800, "light"), (1200, "dark")])
def test_page_is_whole_and_legible(browser, page, report, width, scheme):
    seen = opened(browser, page, width, scheme)
    assert browser.get_log("browser") == []
    addresses = requests(browser)
    assert page.as_uri() in addresses
    assert {url for url in addresses if not url.startswith("data:")} == {page.as_uri()}
    verdict = browser.find_element("css selector", ".verdict")
    assert verdict.is_displayed()
    assert verdict.text.replace("\u00a0", " ") == report.headline

    assert seen["width"] == width
    assert seen["scroll_width"] <= width  # nothing to scroll sideways to
    assert seen["cut"] == 0
    assert len(seen["figures"]) in (2, 8)
    for figure in seen["figures"]:
        assert figure["seen"]
        assert figure["left"] >= 0
        assert figure["right"] <= width
        assert figure["width"] > 300
        assert figure["height"] > 80
    for box in seen["label_boxes"]:
        assert box["left"] >= 0
        assert box["right"] <= width
    assert min(seen["label_sizes"]) > 8.5  # pixels

    background = seen["background"]
    assert (luminance(background) > 0.5) == (scheme == "light")
    for text in {*seen["text"], *seen["labels"]}:
        assert contrast(text, background) > READABLE


def test_paper_is_light(browser, nasty_page):
    opened(browser, nasty_page, 1200, "dark")
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": features})
    seen = browser.execute_script(LOOK)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    assert luminance(seen["background"]) == pytest.approx(1)


def test_paper_has_all_rows_below_one_head_and_the_screen_folds_them(browser, nasty_page):
    count = """return [...document.querySelectorAll("section table")].map(table => [
        table.tHead.checkVisibility(), table.rows.length - 1,
        [...table.rows].slice(1).filter(row => row.checkVisibility()).length]);"""
    opened(browser, nasty_page, 1200, "light")
    folded = browser.execute_script(count)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    printed = browser.execute_script(count)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    browser.execute_script("document.querySelectorAll('details').forEach(one => one.open = true)")
    opened_rows = browser.execute_script(count)
    assert any(shown < rows for _, rows, shown in folded)
    assert all(head and shown == rows > 0 for head, rows, shown in printed)
    assert opened_rows == printed
