"""Photograph the HTML report for the documentation into docs/_static.

Run it as ``python docs/figures/make_screenshots.py``. It needs the dependency group ``browser``
and a Chromium on the path; nothing is downloaded.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import outperform as op

STATIC = Path(__file__).parents[1] / "_static"
WIDTH, HEIGHT = 920, 900


def write(folder: Path) -> Path:
    """Write the report that the how-to guide writes."""
    news = op.datasets.load_news20()
    nb, svm = news.predictions["nb_mult"], news.predictions["svm_l2"]
    names = "nb_mult", "svm_l2"
    c = op.compare(news.y_true, nb, svm, metric="f1_macro", rope=0.02, names=names, random_state=0)
    return op.write_report(c, folder / "report.html")


def main() -> int:
    """Take the picture."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("there is no chromium on the path", file=sys.stderr)
        return 1
    with TemporaryDirectory() as folder, sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.goto(write(Path(folder)).as_uri())
        page.screenshot(path=STATIC / "report.png")
        browser.close()
    print(STATIC / "report.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
