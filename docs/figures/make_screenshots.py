"""Photograph the terminal, the posterior, reports, a comment and MLflow into docs/_static.

Run it as ``python docs/figures/make_screenshots.py``, or with some of the names ``hero``,
``report``, ``items``, ``comment`` and ``mlflow`` behind it. It needs the dependency groups ``dev``
and ``browser`` and a Chromium on the path; for ``mlflow`` also the whole of MLflow, whose command
the variable ``MLFLOW`` names. Nothing is downloaded.
"""

from __future__ import annotations

import io
import os
import re
import runpy
import shlex
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from PIL import Image, ImageOps
from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, MONOKAI
from rich.text import Text

import outperform as op
from outperform.display import colours
from outperform.display.cards import fragment

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

STATIC = Path(__file__).parents[1] / "_static"
WIDTH, HEIGHT = 920, 900
COLUMNS = 80

COMMANDS = (
    "outperform example news20 -o preds.csv",
    "outperform compare preds.csv --truth label --a svm_l1 --b svm_l2 --metric f1_macro "
    "--rope 0.005",
)
# worse, equivalent, better, text, faint lines, panel, border
LIGHT = (*colours.LIGHT.values(), "#1f2328", "#d0d7de", "#ffffff", "#d0d7de")
DARK = (*colours.DARK.values(), "#e6edf3", "#3d444d", "#151b23", "#3d444d")


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
    picture = replace(compare_machines()._document(), table=None, more=None, notes=()).html_parts()
    for name, palette in (("light", LIGHT), ("dark", DARK)):
        *_, ink, _, panel, border = palette
        # Colours that the terminal chose for the other kind of screen.
        other = DARK if name == "light" else LIGHT
        theme = DEFAULT_TERMINAL_THEME if name == "light" else MONOKAI
        printed = record(shown[1:]).export_html(
            theme=theme, code_format="{code}", inline_styles=True
        )
        for theirs, ours in zip(other[:3], palette[:3], strict=True):
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


def photograph_first_screen(browser: Browser) -> None:
    """Photograph the terminal, alone and beside the posterior."""
    shown = run_commands()
    photograph_terminal(shown)
    photograph_hero(browser, shown)


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


def save(shown: Page | Locator, name: str, *, margin: int = 0, **options: Any) -> None:
    """Photograph a page or a part of it, in as few colours as it takes."""
    picture = Image.open(io.BytesIO(shown.screenshot(**options))).convert("RGB")
    framed = ImageOps.expand(picture, border=margin, fill="white")
    framed.quantize(128, dither=Image.Dither.NONE).save(STATIC / name, optimize=True)


def photograph_items(browser: Browser) -> None:
    """Photograph the items of a report, among which somebody searches."""
    news = op.datasets.load_news20()
    models = {name: news.predictions[name] for name in ("nb_mult", "svm_l2")}
    ids = [f"news-{number}" for number in range(len(news.y_true))]
    seen = op.Outcomes.from_labels(news.y_true, models, ids=ids)
    c = op.compare(seen, *models, metric="f1_macro", rope=0.02, random_state=0)
    with TemporaryDirectory() as folder:
        path = op.write_report([c, c.item_table()], Path(folder) / "items.html")
        page = browser.new_page(viewport={"width": WIDTH, "height": 700}, color_scheme="light")
        page.goto(path.as_uri())
        box = page.get_by_label("Search these items")
        box.fill("talk.religion.misc")
        save(page.locator("section", has=box), "items.png", margin=20)


# The comment as GitHub shows it; a mark is a picture there, and few fonts have one.
COMMENT = """<!doctype html><meta charset="utf-8"><style>
  body {{ margin: 0; padding: 16px; width: 888px; background: #fff; color: #1f2328;
         font: 14px/1.5 "Liberation Sans", sans-serif; }}
  article {{ border: 1px solid #d1d9e0; border-radius: 6px; }}
  header {{ background: #f6f8fa; border-bottom: 1px solid #d1d9e0; border-radius: 6px 6px 0 0;
           padding: 8px 16px; color: #59636e; }}
  header b {{ color: #1f2328; }}
  header span {{ border: 1px solid #d1d9e0; border-radius: 2em; padding: 0 7px; font-size: 12px; }}
  main {{ padding: 16px 16px 4px; }}
  main > :first-child {{ margin-top: 0; }}
  h3 {{ font-size: 17.5px; line-height: 1.25; margin: 0 0 16px; }}
  h3 i {{ font: 800 20px/1 "DejaVu Sans", sans-serif; color: #9198a1; }}
  table {{ border-collapse: collapse; margin-bottom: 16px; font-size: 13px; }}
  th, td {{ border: 1px solid #d1d9e0; padding: 6px 10px; white-space: nowrap; }}
  tr:nth-child(2n) td {{ background: #f6f8fa; }}
  ul {{ padding-left: 2em; }}
  li + li {{ margin-top: 4px; }}
  sub {{ font-size: 10.5px; line-height: 1.4; vertical-align: baseline; color: #59636e; }}
  a {{ color: #0969da; }}
</style><article><header><b>github-actions</b> <span>bot</span> commented</header>
<main>{body}</main></article>"""


def photograph_comment(browser: Browser) -> None:
    """Run the steps of the action as a runner does, and photograph the comment that they write."""
    run = runpy.run_path(str(STATIC.parents[1] / "tests" / "test_action.py"))["run"]
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", *shlex.split(COMMANDS[0])]
        subprocess.run(command, cwd=folder, check=True)
        done = run(
            Path(folder), files="preds.csv", truth="label", baseline="svm_l1", candidate="svm_l2",
            metric="accuracy", rope="0.005", guards="recall:sci.med:0.005\nf1_macro:0.01",
        )  # fmt: skip
        written = Path(done.outputs["comment-file"]).read_text(encoding="utf-8")
    body = MarkdownIt("commonmark", {"html": True}).enable("table").render(written)
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    page.set_content(COMMENT.format(body=body.replace("❔", "<i>?</i>")))
    save(page.locator("body"), "comment.png")


@contextmanager
def tracking_server() -> Iterator[str]:
    """Start a server of MLflow with a file of SQLite, and return its address."""
    command = os.environ.get("MLFLOW", "mlflow")
    if shutil.which(command) is None:
        raise SystemExit(f"there is no {command} on the path; MLFLOW names the command of MLflow")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with TemporaryDirectory() as folder:
        options = (
            f"--backend-store-uri sqlite:///runs.db --artifacts-destination files --port {port}"
        )
        environment = {key: one for key, one in os.environ.items() if key != "PYTHONPATH"}
        server = subprocess.Popen(
            [command, "server", "--workers", "1", *options.split()], cwd=folder, env=environment
        )
        try:
            address = f"http://127.0.0.1:{port}"
            for _ in range(240):
                with suppress(OSError), urllib.request.urlopen(f"{address}/health"):
                    break
                time.sleep(0.5)
            yield address
        finally:
            server.terminate()
            server.wait()


EVALUATE = """
import mlflow
import outperform as op

news = op.datasets.load_news20()
seen = op.Outcomes.from_labels(news.y_true, news.predictions)
mlflow.set_experiment("news20")
with mlflow.start_run(run_name="svm_l1 against svm_l2") as run:
    op.mlflow.log(op.compare(seen, "svm_l1", "svm_l2", metric="f1_macro", rope=0.005))
print(f"experiments/{run.info.experiment_id}/runs/{run.info.run_id}")
"""


def photograph_mlflow(browser: Browser) -> None:
    """Log a comparison to MLflow, and photograph the page of the run."""
    with tracking_server() as address, TemporaryDirectory() as folder:
        script = Path(folder) / "evaluate.py"
        script.write_text(EVALUATE, encoding="utf-8")
        environment = os.environ | {"MLFLOW_TRACKING_URI": address, "LOGNAME": "ada"}
        command = [sys.executable, script.name]
        done = subprocess.run(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
        page = browser.new_page(viewport={"width": 1200, "height": 1560}, color_scheme="light")
        page.set_default_timeout(120_000)
        page.goto(f"{address}/#/{done.stdout.split()[-1]}?workflowType=machine_learning")
        page.get_by_text("outperform.difference").first.wait_for()
        page.wait_for_load_state("networkidle")
        # Without MLflow's assistant on the right, and without parameters, which there are none of.
        save(page, "mlflow.png", clip={"x": 0, "y": 0, "width": 888, "height": 1312})


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
    pictures = {
        "hero": photograph_first_screen,
        "report": photograph_report,
        "items": photograph_items,
        "comment": photograph_comment,
        "mlflow": photograph_mlflow,
    }
    with open_browser() as browser:
        for name in sys.argv[1:] or pictures:
            pictures[name](browser)


if __name__ == "__main__":
    main()
