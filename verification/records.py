"""What was run last: a small file for each part, and the numbers that rest on it."""

from __future__ import annotations

import ast
import datetime
import hashlib
import json
import re
import subprocess
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
MANIFEST = Path(__file__).parent / "manifest.toml"
# The rooms of the package whose code makes numbers.
_ROOMS = ("data", "decision", "inference", "metrics", "posterior", "planning", "suite")
# Parts whose study is not called like them.
_STUDIES = {"rank": "ranks", "map": "coverage_map"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """How a part ended.

    Parameters
    ----------
    part
        Its name.
    sizes
        How much of everything was run.
    failures
        What did not hold.
    date, commit, seconds
        When, on which code, and how long it took.
    code
        A hash of the modules that the numbers depend on.
    """

    part: str
    sizes: Mapping[str, int]
    failures: tuple[str, ...]
    date: str
    commit: str
    seconds: float
    code: str

    @property
    def held(self) -> bool:
        """Whether everything held."""
        return not self.failures

    @property
    def current(self) -> bool:
        """Whether the code is as it was."""
        return self.code == code_of(self.part)


def record(part: str, sizes: Mapping[str, int], failures: Iterable[str], seconds: float) -> Record:
    """Note how a part ended, here and now."""
    return Record(
        part=part,
        sizes=dict(sizes),
        failures=tuple(failures),
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        commit=_commit(),
        seconds=round(seconds, 1),
        code=code_of(part),
    )


def write(one: Record, folder: Path = RESULTS) -> None:
    """Write the file of a part."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(asdict(one), indent=1, ensure_ascii=False)
    (folder / f"{one.part}.json").write_text(text + "\n", encoding="utf-8")


def read(part: str, folder: Path = RESULTS) -> Record | None:
    """Read the file of a part; None if it was never run."""
    file = folder / f"{part}.json"
    if not file.exists():
        return None
    held = json.loads(file.read_text(encoding="utf-8"))
    return Record(**held | {"failures": tuple(held["failures"])})


def _commit() -> str:
    asked = ["git", "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*"]
    said = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    return said.stdout.strip() or "unknown"


# The code that a part depends on


def code_of(part: str) -> str:
    """Return a hash of the study, of what it imports beside it, and of the rooms that count.

    Comments and docstrings are left out: they change no number.
    """
    study = Path(__file__).parent / f"{_STUDIES.get(part, part.replace('-', '_'))}.py"
    package = ROOT / "src" / "outperform"
    rooms = (file for room in _ROOMS for file in package.glob(f"{room}/**/*.py"))
    files = [*_with_imports(study), *rooms]
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(_bare(file).encode())
    return digest.hexdigest()[:16]


def _with_imports(study: Path) -> set[Path]:
    """Return a study and the modules of this folder that it imports, directly or not."""
    found, todo = set(), [study]
    while todo:
        file = todo.pop()
        if file in found or not file.exists():
            continue
        found.add(file)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("verification"):
                names = [node.module, *(f"verification.{one.name}" for one in node.names)]
                todo += [study.parent / f"{str(name).partition('.')[2]}.py" for name in names]
    return found


def _bare(file: Path) -> str:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                del body[0]
    return ast.dump(tree)


# The numbers that people read, and where they come from


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence with numbers, in the README or in the documentation.

    Parameters
    ----------
    file
        Where people read it, from the root of the project.
    text
        The words, as they stand there.
    sources
        The files that a command wrote, in which the numbers stand.
    command
        What makes the sources.
    numbers
        The numbers of the text that sources have as they are.
    counted
        The numbers of the text that say how often an expression occurs in the sources.
    part
        The part of the programme that it belongs to; None for benches and reproductions.
    """

    file: str
    text: str
    sources: Sequence[str]
    command: str
    numbers: Sequence[str] = ()
    counted: Mapping[str, str] = field(default_factory=dict)
    part: str | None = None

    def faults(self, root: Path = ROOT) -> list[str]:
        """Return what is wrong with it; empty if every number is where it is said to be."""
        found = []
        if self.text not in _one_line(root / self.file):
            found.append(f"{self.file} does not say {self.text!r}")
        sources = "\n".join((root / one).read_text(encoding="utf-8") for one in self.sources)
        there = numbers_of(sources) | {
            number
            for number, expression in self.counted.items()
            if int(number) == len(re.findall(expression, sources, re.MULTILINE))
        }
        for number in sorted(numbers_of(self.text)):
            if number not in {*self.numbers, *self.counted}:
                found.append(f"{number} of {self.text!r} has no source")
            elif number not in there:
                found.append(f"{', '.join(self.sources)} does not have {number} of {self.text!r}")
        return found


def claims() -> list[Claim]:
    """Return the claims of the manifest."""
    found = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["claim"]
    return [Claim(**one) for one in found]


def numbers_of(text: str) -> set[str]:
    """Return the numbers of a text.

    Examples
    --------
    >>> sorted(numbers_of("13,020 tests, 0.96 s; F1 of 20 classes"))
    ['0.96', '13,020', '20']
    """
    return set(re.findall(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?![\w,]*\d)", text))


def _one_line(file: Path) -> str:
    return " ".join(file.read_text(encoding="utf-8").split())


def summary(parts: Iterable[str], folder: Path = RESULTS) -> Iterator[tuple[str, bool]]:
    """Return a line for each part, and whether what was run held."""
    entries = [one.part for one in claims()]
    yield _LINE.format("part", "claims", "run", "held", "code", "commit", "minutes"), True
    for part in parts:
        one, n = read(part, folder), entries.count(part)
        if one is None:
            yield _LINE.format(part, n, "not recorded", "", "", "", "").rstrip(), True
            continue
        held, code = "yes" if one.held else "NO", "current" if one.current else "older"
        minutes = f"{one.seconds / 60:.1f}"
        yield _LINE.format(part, n, one.date, held, code, one.commit, minutes), one.held


_LINE = "{:<14}{:>7}  {:<13}{:<5}{:<8}{:<17}{:>8}"
