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
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, MONOKAI
from rich.text import Text
from scipy.stats import gaussian_kde

import outperform as op

if TYPE_CHECKING:
    from playwright.sync_api import Browser

STATIC = Path(__file__).parents[1] / "_static"
WIDTH, HEIGHT = 920, 900
COLUMNS = 100

COMMANDS = (
    "outperform example news20 -o preds.csv",
    "outperform compare preds.csv --truth label --a svm_l1 --b svm_l2 --metric f1_macro "
    "--rope 0.005 --seed 0",
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


def draw_posterior(c: op.Comparison, colours: tuple[str, ...]) -> str:
    """Draw the posterior in three colours, over its ROPE, as SVG."""
    worse, equal, better, ink, faint, *_ = colours
    style = {"font.size": 11, "svg.fonttype": "none", "font.family": "DejaVu Sans"}
    with mpl.rc_context(style | {"text.color": ink, "axes.labelcolor": ink, "xtick.color": ink}):
        figure = Figure(figsize=(5.4, 4.6), layout="constrained")
        ax = figure.subplots()
        low, high = c.draws.min() - 0.002, max(c.draws.max(), c.rope.high) + 0.006
        at = np.linspace(low, high, 400)
        density = gaussian_kde(c.draws)(at)
        top = density.max()
        ax.axvspan(c.rope.low, c.rope.high, color=faint, alpha=0.35, lw=0)
        ax.axvline(0, color=faint, lw=1)
        for colour, part in (
            (worse, at <= c.rope.low),
            (equal, (at >= c.rope.low) & (at <= c.rope.high)),
            (better, at >= c.rope.high),
        ):
            ax.fill_between(at, density, where=part, color=colour, lw=0)
        ax.plot([c.hdi.low, c.hdi.high], [-0.09 * top] * 2, color=worse, lw=4)
        ax.plot(c.mean, -0.09 * top, "o", color=worse, ms=10)
        for end, side, away in ((c.hdi.low, "right", -7), (c.hdi.high, "left", 7)):
            ax.annotate(
                f"{end:.3f}".replace("-", "−"),
                (end, -0.09 * top),
                (away, 0),
                textcoords="offset points",
                ha=side,
                va="center",
            )
        for place, word, share, colour in (
            (c.mean, "worse", c.p_worse, worse),
            (0, "equivalent", c.p_equivalent, equal),
        ):
            ax.text(
                place,
                1.1 * top,
                f"{word}\n{share:.1%}",
                color=colour,
                ha="center",
                va="bottom",
                weight="bold",
            )
        ax.text(c.mean, -0.19 * top, "95% HDI", ha="center", va="top")
        ax.text(0, -0.19 * top, "ROPE ±0.005", ha="center", va="top")
        ax.set(xlim=(low, high), ylim=(-0.32 * top, 1.42 * top), yticks=[])
        ax.locator_params(axis="x", nbins=5)
        ax.set_xlabel("macro-F1, svm_l1 − svm_l2")
        ax.spines[:].set_visible(False)
        figure.patch.set_alpha(0)
        ax.patch.set_alpha(0)
        drawn = io.StringIO()
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue().partition("<svg")[2]


def photograph_hero(browser: Browser, shown: list[tuple[str, str]]) -> None:
    """Photograph the terminal beside the posterior, for light and for dark screens."""
    c = compare_machines()
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
          pre {{ margin: 0; padding: 20px 22px; font: 12.6px/1.42 "DejaVu Sans Mono", monospace;
                white-space: pre-wrap; }}
          .plot {{ flex: 1; padding: 12px; display: flex; align-items: center; }}
          .plot svg {{ width: 100%; height: auto; }}
        </style><main><section style="width: 800px"><pre>{printed}</pre></section>
        <section class="plot"><svg{draw_posterior(c, colours)}</section></main>"""
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
