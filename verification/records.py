"""What was run last: a small file for each part, with its full run and its last quick one."""

from __future__ import annotations

import datetime
import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

from verification import fingerprint, markdown, tracing

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"

Level = Literal["full", "checked"]
"""A run that writes the tables of the documentation, or a smoke check with few repetitions."""
Extent = Literal["in full", "in part", "never"]
State = Literal["this code", "older code", "in part", "never"]


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
    """The last run of a part and its last smoke check; None where there was none."""

    part: str
    full: Entry | None = None
    checked: Entry | None = None

    @property
    def entries(self) -> list[Entry]:
        """The runs that there were."""
        return [one for one in (self.full, self.checked) if one is not None]

    @property
    def failed(self) -> bool:
        """Whether a gate failed in either run."""
        return any(one.held is False for one in self.entries)

    def extent(self, whole: Mapping[str, int]) -> Extent:
        """Return how much was run; a run whose gates or code were not noted is no full one.

        Parameters
        ----------
        whole
            The sizes of a full run, of what the part looks at.
        """
        full = self.full
        if full is None or full.failures is None or full.code is None:
            return "never"
        enough = all(full.sizes.get(name, 0) >= number for name, number in whole.items())
        return "in full" if enough else "in part"

    def state(self, whole: Mapping[str, int]) -> State:
        """Return on which code the part was run in full, or how much of it was run."""
        extent = self.extent(whole)
        if extent != "in full":
            return extent
        assert self.full is not None
        return "this code" if self.full.current(self.part) else "older code"


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
    """A part in the summary: its text, whether a gate failed, and where it was run in full."""

    part: str
    text: str
    failed: bool
    state: State


def summary(parts: Mapping[str, Mapping[str, int]], folder: Path = RESULTS) -> Iterator[Line]:
    """Return a line for each part, given the sizes of its full run."""
    rests = [one.part for one in tracing.claims()]
    for part, sizes in parts.items():
        one, state = read(part, folder), read(part, folder).state(_whole(part, sizes))
        smoke = "–" if one.checked is None else _code(one.checked.current(part))
        text = _LINE.format(
            *(part, rests.count(part), state),
            *(*_run(one.full, minutes=True), _held(one.full)),
            *(*_run(one.checked), _held(one.checked), smoke),
        )
        yield Line(part=part, text=text.rstrip(), failed=one.failed, state=state)


def _whole(part: str, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes of a full run that the part looks at."""
    return {name: sizes[name] for name in fingerprint.sizes_of(part)}


def _code(current: bool) -> str:
    return "this code" if current else "older code"


def _held(one: Entry | None) -> str:
    return {True: "yes", False: "NO", None: "–"}[None if one is None else one.held]


def _run(one: Entry | None, *, minutes: bool = False) -> tuple[str, ...]:
    """Return the date, the commit and how long it took, as far as they are known."""
    if one is None:
        return ("–",) * (3 if minutes else 2)
    took = "–" if one.seconds is None else f"{one.seconds / 60:.1f}"
    return (one.date, one.commit, took) if minutes else (one.date, one.commit)


def table(parts: Mapping[str, Mapping[str, int]], folder: Path = RESULTS) -> str:
    """Return how much of each part was run, given the sizes of its full run."""
    head = (
        "part",
        "run",
        "how much",
        "when, on which code",
        "gates held",
        "smoke check",
        "full run",
    )
    gates = {True: "yes", False: "**no**", None: "not recorded"}
    rows, extents = [], []
    for part, sizes in parts.items():
        one, whole = read(part, folder), _whole(part, sizes)
        extents.append(one.extent(whole))
        when, checked = (" ".join(_run(entry)).strip("– ") for entry in (one.full, one.checked))
        rows.append(
            [
                f"`{part}`",
                extents[-1],
                "–" if one.full is None else _listed(one.full.sizes) or "as its table shows",
                when or "–",
                "–" if one.full is None else gates[one.full.held],
                checked if one.checked is None or one.checked.held else f"{checked}, **failed**",
                _listed(whole) or "all",
            ]
        )
        rows[-1][5] = rows[-1][5] or "–"
    counted = ", ".join(f"{extents.count(name)} {name}" for name in get_args(Extent))
    note = (
        f"Of {len(extents)} parts, with their gates recorded: {counted}. A run without a record of "
        "its gates and its code counts as never; smoke checks have few repetitions."
    )
    return f"{markdown.table(head, rows, numbers_from=len(head))}\n{note}\n"


def _listed(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in sizes.items())


_LINE = "{:<20}{:>6}  {:<12}{:<12}{:<17}{:>7}  {:<7}{:<12}{:<17}{:<7}{}"
HEADER = _LINE.format(
    *("part", "claims", "in full on", "last run", "commit", "minutes", "held"),
    *("smoke check", "commit", "held", "on"),
)
LEGEND = """
claims: numbers of the README and the documentation that name this part as their source
in full on: this code or older code; in part: the last run was smaller than a full one; never: no
  run recorded its gates, its code and its size
held: whether all gates held; – if that was not recorded
smoke check: the last run with --quick, whose few repetitions notice no more than what is far off"""
