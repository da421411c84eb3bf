"""Photograph the terminal, the posterior and the HTML report into docs/_static.

Run it as ``python docs/figures/make_screenshots.py``. It needs the dependency group ``browser``
and a Chromium on the path; nothing is downloaded.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, MONOKAI
from rich.text import Text

import outperform as op
from outperform.display.cards import card_parts, fragment

if TYPE_CHECKING:
    from playwright.sync_api import Browser

STATIC = Path(__file__).parents[1] / "_static"
WIDTH, HEIGHT = 920, 900
COLUMNS = 80

COMMANDS = (
    "outperform example news20 -o preds.csv",
    "outperform compare preds.csv --truth label --a svm_l1 --b svm_l2 --metric f1_macro "
    "--rope 0.005",
)
# worse, equivalent, better, text, faint lines, panel, border
LIGHT = ("#D55E00", "#8C8C8C", "#0072B2", "#1f2328", "#d0d7de", "#ffffff", "#d0d7de")
DARK = ("#FF9E4A", "#A6A6A6", "#5AB4F0", "#e6edf3", "#3d444d", "#151b23", "#3d444d")


def run_commands() -> list[tuple[str, str]]:
    """Run the commands of the README as on a colour terminal; return what each prints."""
    environment = os.environ | {"FORCE_COLOR": "1", "COLORTERM": "truecolor"}
    environment |= {"COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    shown = []
    with TemporaryDirectory() as folder:
        for command in COMMANDS:
            done = subprocess.run(
                [sys.executable, "-m", *shlex.split(command)],
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            shown.append((command, done.stdout))
    return shown


def record(shown: list[tuple[str, str]]) -> Console:
    """Print commands and answers to a console that remembers them."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    for command, answer in shown:
        console.print(f"$ {command}", style="bold", highlight=False, markup=False)
        if answer:
            console.print(Text.from_ansi(answer.rstrip()))
    return console


def photograph_terminal(shown: list[tuple[str, str]]) -> None:
    """Draw what the commands of the how-to guide print."""
    drawn = record(shown).export_svg(title="outperform", theme=MONOKAI, unique_id="terminal")
    # The fonts would come from elsewhere; those of the reader do as well.
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)
    drawn = drawn.replace("Fira Code, monospace", "monospace")
    (STATIC / "terminal.svg").write_text(drawn, encoding="utf-8")


def compare_machines() -> op.Comparison:
    """Return the comparison of the README."""
    news = op.datasets.load_news20()
    names = "svm_l1", "svm_l2"
    a, b = (news.predictions[name] for name in names)
    return op.compare(news.y_true, a, b, metric="f1_macro", rope=0.005, names=names, random_state=0)


def photograph_hero(browser: Browser, shown: list[tuple[str, str]]) -> None:
    """Photograph the terminal beside the posterior, for light and for dark screens."""
    picture = card_parts(replace(compare_machines()._card(), table=None, more=None, notes=()))
    for name, colours in (("light", LIGHT), ("dark", DARK)):
        *_, ink, _, panel, border = colours
        # Colours that the terminal chose for the other kind of screen.
        other = DARK if name == "light" else LIGHT
        theme = DEFAULT_TERMINAL_THEME if name == "light" else MONOKAI
        printed = record(shown[1:]).export_html(
            theme=theme, code_format="{code}", inline_styles=True
        )
        for theirs, ours in zip(other[:3], colours[:3], strict=True):
            printed = re.sub(theirs, ours, printed, flags=re.IGNORECASE)
        html = f"""<!doctype html><meta charset="utf-8"><style>
          body {{ margin: 0; background: transparent; color: {ink};
                 font: 15px "DejaVu Sans", sans-serif; }}
          main {{ display: flex; gap: 16px; padding: 2px; width: 1276px; align-items: stretch; }}
          section {{ background: {panel}; border: 1px solid {border}; border-radius: 10px;
                    box-sizing: border-box; overflow: hidden; }}
          pre {{ margin: 0; padding: 20px 22px; font: 12.6px/1.16 "DejaVu Sans Mono", monospace;
                white-space: pre-wrap; }}
          .plot {{ flex: 1; padding: 12px; display: flex; align-items: center; }}
          .plot .op-card, .plot svg {{ max-width: none; width: 100%; height: auto; }}
        </style><main><section style="width: 690px"><pre>{printed}</pre></section>
        <section class="plot" data-theme="{name}"
          style="--bs-body-bg: {panel}">{fragment(*picture)}</section></main>"""
        page = browser.new_page(viewport={"width": 1280, "height": 600}, device_scale_factor=2)
        page.set_content(html)
        for part, what in (("main", "hero"), (".plot", "posterior")):
            path = STATIC / f"{what}-{name}.png"
            page.locator(part).screenshot(path=path, omit_background=True)
        page.close()


def photograph_report(browser: Browser) -> None:
    """Write the report that the how-to guide writes, and photograph its top."""
    news = op.datasets.load_news20()
    nb, svm = news.predictions["nb_mult"], news.predictions["svm_l2"]
    names = "nb_mult", "svm_l2"
    c = op.compare(news.y_true, nb, svm, metric="f1_macro", rope=0.02, names=names, random_state=0)
    with TemporaryDirectory() as folder:
        path = op.write_report(c, Path(folder) / "report.html")
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.goto(path.as_uri())
        page.screenshot(path=STATIC / "report.png")


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start the Chromium of the system."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit("there is no chromium on the path")
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


def main() -> None:
    """Take the pictures."""
    shown = run_commands()
    photograph_terminal(shown)
    with open_browser() as browser:
        photograph_hero(browser, shown)
        photograph_report(browser)


if __name__ == "__main__":
    main()
