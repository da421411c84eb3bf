"""Photograph the terminal and the HTML report for the documentation into docs/_static.

Run it as ``python docs/figures/make_screenshots.py``. The report needs the dependency group
``browser`` and a Chromium on the path; nothing is downloaded.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import sys
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import outperform as op

STATIC = Path(__file__).parents[1] / "_static"
WIDTH, HEIGHT = 920, 900


COMMANDS = (
    "outperform example news20 -o preds.csv",
    "outperform compare preds.csv --truth label --a svm_l1 --b svm_l2 --metric f1_macro "
    "--rope 0.005 --seed 0",
)


TERMINAL = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "COLUMNS": "100"}


class Terminal(io.StringIO):
    """What is written to it is shown to somebody."""

    def isatty(self) -> bool:
        """Say that it is a terminal."""
        return True


def photograph_terminal() -> None:
    """Run the commands of the how-to guide and draw what they print."""
    from rich.console import Console
    from rich.terminal_theme import MONOKAI
    from rich.text import Text

    from outperform.cli.main import main as outperform

    console = Console(record=True, width=100, file=io.StringIO())
    before = os.getcwd()
    os.environ.update(TERMINAL)
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        for command in COMMANDS:
            with redirect_stdout(Terminal()) as shown:
                outperform(shlex.split(command)[1:])
            console.print(f"$ {command}", style="bold", highlight=False, markup=False)
            console.print(Text.from_ansi(shown.getvalue()), highlight=False)
        os.chdir(before)
    drawn = console.export_svg(title="outperform", theme=MONOKAI, unique_id="terminal")
    # The fonts would come from elsewhere; those of the reader do as well.
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)
    drawn = drawn.replace("Fira Code, monospace", "monospace")
    (STATIC / "terminal.svg").write_text(drawn, encoding="utf-8")


def write(folder: Path) -> Path:
    """Write the report that the how-to guide writes."""
    news = op.datasets.load_news20()
    nb, svm = news.predictions["nb_mult"], news.predictions["svm_l2"]
    names = "nb_mult", "svm_l2"
    c = op.compare(news.y_true, nb, svm, metric="f1_macro", rope=0.02, names=names, random_state=0)
    return op.write_report(c, folder / "report.html")


def main() -> int:
    """Take the pictures."""
    photograph_terminal()
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
