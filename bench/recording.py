"""The last results: kept in ``last_results.json``, shown in the documentation as tables.

Each script owns one section and writes only that one; the tables are made anew
from all of them.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from measuring import machine

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "last_results.json"
FOLDER = ROOT / "docs" / "explanation" / "_generated"
PAGES = {
    "speed.md": ("default", "compare", "bcv", "pymc", "import", "cli"),
    "scaling.md": ("count", "classes", "slices", "slices_classes", "rank", "scores", "logs"),
}
LEAST_RATIO = 0.1  # below, two digits are too few to see a change
HEAD = ("what", "measured", "against", "measured", "ratio", "aim")
HEAD_OF_GROWTH = ("what", "size", "processor time", "peak memory", "exponent of the last step")


class Row(NamedTuple):
    """One line of the table, as text."""

    what: str
    measured: str
    against: str = ""
    reference: str = ""
    ratio: str = ""
    aim: str = ""


def wants_writing(description: str | None) -> bool:
    """Read the command line of a script: is the page to be written?"""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="keep the results for the docs")
    return bool(parser.parse_args().write)


def report(section: str, rows: Sequence[Row], *, write: bool, note: str = "") -> None:
    """Print the rows of one section, and keep them if asked to."""
    print()
    print(markdown_table(HEAD, rows), end="")
    print(machine() + (f"; {note}" if note else ""))
    if "BENCH_RATIOS" in os.environ:
        _add_ratios(Path(os.environ["BENCH_RATIOS"]), section, rows)
    if write:
        _keep(section, rows, note)
        print(f"written to {FOLDER.relative_to(ROOT)}")


def keep(section: str, found: Mapping[str, Any], pages: Mapping[str, str]) -> None:
    """Keep one section's results, and write the pages, by file name, that show them."""
    kept = last_results()
    kept[section] = found
    RESULTS.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


def _keep(section: str, rows: Sequence[Row], note: str) -> None:
    found = {"machine": machine(), "note": note, "rows": [list(row) for row in rows]}
    kept = {**last_results(), section: found}
    pages = {}
    for page, sections in PAGES.items():
        present = [kept[one] for one in sections if one in kept]
        if present:
            pages[page] = _page(present)
    keep(section, found, pages)


def _add_ratios(path: Path, section: str, rows: Sequence[Row]) -> None:
    """Add the ratios, which depend little on the machine, to a file that is tracked over time."""
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    found += [
        {"name": f"{section}: {row.what}, to {row.against}", "unit": "×", "value": float(row.ratio)}
        for row in rows
        if row.ratio and float(row.ratio) >= LEAST_RATIO
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def last_results() -> dict[str, Any]:
    """Return what every script kept, by section."""
    return dict(json.loads(RESULTS.read_text(encoding="utf-8"))) if RESULTS.exists() else {}


def _page(found: Sequence[dict[str, object]]) -> str:
    rows = [Row(*row) for section in found for row in section["rows"]]
    machines = dict.fromkeys(str(section["machine"]) for section in found)
    notes = [str(section["note"]) for section in found if section["note"]]
    said = f"Measured with {'; '.join(machines)}. "
    said += "The two figures of a row come from one run, in turns; they are medians by the clock."
    return "\n".join([markdown_table(HEAD, rows), said, *(f"{note}." for note in notes)]) + "\n"


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as Markdown has it."""
    lines = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
