"""What was run last: a small file for each part, with its full run and its last quick one."""

from __future__ import annotations

import datetime
import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from verification import fingerprint, markdown, tracing

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"

Level = Literal["full", "checked"]
"""A run that writes the tables of the documentation, or a quick one that checks the code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """How a run of a part ended.

    Parameters
    ----------
    date, commit
        When, and on which code.
    sizes
        How much was run, of what the part looks at.
    failures
        What did not hold; None if it was not noted, as in runs older than this file.
    seconds
        How long it took; None if it was not noted.
    modules
        What was loaded when it ended, folded; empty if it was not noted.
    code
        A hash of these modules; None if it was not noted.
    """

    date: str
    commit: str
    sizes: Mapping[str, int] = field(default_factory=dict)
    failures: tuple[str, ...] | None = None
    seconds: float | None = None
    modules: Mapping[str, str] = field(default_factory=dict)
    code: str | None = None

    @property
    def held(self) -> bool | None:
        """Whether everything held; None if it was not noted."""
        return None if self.failures is None else not self.failures

    def current(self, part: str) -> bool:
        """Whether the code is as it was."""
        if self.code is None:
            return False
        return self.code == fingerprint.code_of(part, fingerprint.unfolded(self.modules))


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The last full run of a part, and the last quick one; None where there was none."""

    part: str
    full: Entry | None = None
    checked: Entry | None = None

    @property
    def entries(self) -> list[Entry]:
        """The runs that there were."""
        return [one for one in (self.full, self.checked) if one is not None]

    @property
    def held(self) -> bool | None:
        """Whether every run held, as far as it was noted; None if none was noted."""
        noted = [one.held for one in self.entries if one.held is not None]
        return all(noted) if noted else None

    @property
    def only_quick(self) -> bool:
        """Whether nothing but the quick run noted that everything held: few repetitions."""
        return bool(self.held) and (self.full is None or self.full.held is None)

    @property
    def current(self) -> bool:
        """Whether a run that held was on the current code."""
        return any(one.held and one.current(self.part) for one in self.entries)


def entry(
    part: str,
    sizes: Mapping[str, int],
    failures: Iterable[str],
    seconds: float,
    modules: Iterable[str],
) -> Entry:
    """Note how a run of a part ended, here and now."""
    names = frozenset(modules)
    return Entry(
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        commit=commit(),
        sizes={name: sizes[name] for name in fingerprint.sizes_of(part)},
        failures=tuple(failures),
        seconds=round(seconds, 1),
        modules=fingerprint.folded(names),
        code=fingerprint.code_of(part, names),
    )


def write(part: str, level: Level, one: Entry, folder: Path = RESULTS) -> None:
    """Write a run into the file of its part, beside the run of the other level."""
    record = read(part, folder)
    record = replace(record, full=one) if level == "full" else replace(record, checked=one)
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(asdict(record), indent=1, ensure_ascii=False)
    (folder / f"{part}.json").write_text(text + "\n", encoding="utf-8")


def read(part: str, folder: Path = RESULTS) -> Record:
    """Read the file of a part; without one, a record of no run."""
    file = folder / f"{part}.json"
    held = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return Record(part=part, full=_entry(held.get("full")), checked=_entry(held.get("checked")))


def _entry(stored: Mapping[str, object] | None) -> Entry | None:
    if stored is None:
        return None
    one = Entry(**stored)  # type: ignore[arg-type]
    return replace(one, failures=None if one.failures is None else tuple(one.failures))


def commit() -> str:
    """Return the commit, marked if code differs from it; tables and records do not count."""
    head, changed = _git("rev-parse", "--short=10", "HEAD"), _git("status", "-s", "--", "*.py")
    return "unknown" if not head else f"{head}-dirty" if changed else head


def _git(*arguments: str) -> str:
    asked = ["git", *arguments]
    said = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    return said.stdout.strip()


# One line a part


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A part in the summary: what it says, whether it failed, and whether its code has changed."""

    part: str
    text: str
    failed: bool
    stale: bool


def summary(parts: Iterable[str], folder: Path = RESULTS) -> Iterator[Line]:
    """Return a line for each part."""
    rests = [one.part for one in tracing.claims()]
    for part in parts:
        one, n = read(part, folder), rests.count(part)
        held = "quick" if one.only_quick else {True: "yes", False: "NO", None: "–"}[one.held]
        code = "–" if not one.entries else "current" if one.current else "older"
        runs = (*_run(one.full, minutes=True), *_run(one.checked))
        text = _LINE.format(part, n, *runs, held, code)
        yield Line(part=part, text=text, failed=one.held is False, stale=not one.current)


def _run(one: Entry | None, *, minutes: bool = False) -> tuple[str, ...]:
    """Return the date, the commit and how long it took, as far as they are known."""
    if one is None:
        return ("–",) * (3 if minutes else 2)
    took = "–" if one.seconds is None else f"{one.seconds / 60:.1f}"
    return (one.date, one.commit, took) if minutes else (one.date, one.commit)


def table(parts: Mapping[str, Mapping[str, int]], folder: Path = RESULTS) -> str:
    """Return how much of each part was run, and how much a full run is."""
    head = ("part", "run", "when, on which code", "checked", "held", "should be run")
    rows = []
    for part, whole in parts.items():
        one, names = read(part, folder), fingerprint.sizes_of(part)
        held = {True: "yes", False: "**no**", None: "not noted"}[one.held]
        held = "quick only" if one.only_quick else held
        ran = {} if one.full is None else one.full.sizes
        when, checked = (" ".join(_run(entry)).strip("– ") for entry in (one.full, one.checked))
        rows.append(
            [
                f"`{part}`",
                _said(ran) or ("never" if one.full is None else "as its table says"),
                *(when or "–", checked or "–"),
                held if one.entries else "–",
                _said({name: whole[name] for name in names}) or "this",
            ]
        )
    return markdown.table(head, rows, numbers_from=len(head))


def _said(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in sizes.items())


_LINE = "{:<14}{:>6}  {:<11}{:<17}{:>7}  {:<11}{:<17}{:<7}{}"
HEADER = _LINE.format(
    *("part", "claims", "full run", "commit", "minutes", "checked", "commit", "held", "code")
)
LEGEND = """
claims: numbers of the README and the documentation that name this part as their source
checked: the last run with --quick
held: yes if all gates held in the full run and in the quick one, NO if one did not; quick if only
  the quick run recorded it, whose few repetitions notice no more than what is far off
code: current if either run held on this code"""
