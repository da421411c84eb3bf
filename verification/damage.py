"""What happens to damaged files? Each must be refused in words, or read; never crash or hang.

Small files of every format are damaged at random: bits turned, bytes replaced, spans cut out,
doubled, moved or filled with noise, the end cut off, digits exchanged. What is read may be wrong,
since a digit that became another is a valid digit. What is refused must name the file, or, where
models no longer have the same items or lack a score, the models.
"""

from __future__ import annotations

import gzip
import json
import shutil
import signal
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import feather, parquet

import outperform as op
from outperform.errors import OutperformError
from verification import markdown

SEED = 20_261_122
_ROWS = 60
_SECONDS = 30
_LOGS = Path(__file__).parents[1] / "tests" / "io" / "evaluations"

Read = Callable[[Path], object]


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file: how a folder of it is made, and how that folder is read."""

    name: str
    make: Callable[[Path], None]
    read: Read


def _rows() -> dict[str, list[str]]:
    rng = np.random.default_rng(7)
    labels = np.array(["ham", "spam", "news, old", "offer"])
    truth = rng.integers(len(labels), size=_ROWS)
    others = rng.integers(len(labels), size=(2, _ROWS))
    old, new = (np.where(rng.random(_ROWS) < 0.8, truth, other) for other in others)
    ids = [f"i{place}" for place in range(_ROWS)]
    return {"id": ids, "y": [*labels[truth]], "old": [*labels[old]], "new": [*labels[new]]}


def _text(separator: str) -> bytes:
    columns = _rows()
    lines = [separator.join(columns)]
    for row in zip(*columns.values(), strict=True):
        lines.append(separator.join(f'"{one}"' if "," in one else one for one in row))
    return ("\n".join(lines) + "\n").encode()


def _lines() -> bytes:
    columns = _rows()
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _written(name: str, content: Callable[[], bytes]) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / name).write_bytes(content())

    return make


def _columnar(name: str, write: Callable[[pa.Table, str], None]) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        write(pa.table(_rows()), str(folder / name))

    return make


def _database(folder: Path) -> None:
    columns = _rows()
    with closing(sqlite3.connect(folder / "a.sqlite")) as made, made:
        made.execute(f"create table preds ({', '.join(columns)})")
        rows = zip(*columns.values(), strict=True)
        made.executemany("insert into preds values (?, ?, ?, ?)", rows)


def _outcomes(folder: Path) -> None:
    columns = _rows()
    seen = op.Outcomes.from_labels(columns["y"], {name: columns[name] for name in ("old", "new")})
    (folder / "a.json").write_text(seen.to_json(), encoding="utf-8")


def _join(folder: Path) -> None:
    columns = _rows()
    for name in ("y", "old", "new"):
        pairs = zip(columns["id"], columns[name], strict=True)
        lines = [f'{one},"{label}"' for one, label in pairs]
        file = folder / f"{'gold' if name == 'y' else name}.csv"
        file.write_text("\n".join(["id,label", *lines]) + "\n", encoding="utf-8")


def _scores(folder: Path) -> None:
    rng = np.random.default_rng(8)
    lines = [f"i{place},{a:.4f},{b:.4f}" for place, (a, b) in enumerate(rng.random((_ROWS, 2)))]
    (folder / "a.csv").write_text("\n".join(["id,old,new", *lines]) + "\n", encoding="utf-8")


def _conll(folder: Path) -> None:
    tags = np.array(["O", "B-PER", "I-PER", "B-LOC"])[np.random.default_rng(9).integers(4, size=99)]
    lines = ["" if place % 20 == 19 else f"w{place} {tag}" for place, tag in enumerate(tags)]
    (folder / "a.conll").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _logs(path: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        shutil.copytree(_LOGS / path, folder, dirs_exist_ok=True)
        for file in folder.rglob("*.gz"):
            file.with_suffix("").write_bytes(gzip.decompress(file.read_bytes()))
            file.unlink()
        for file in folder.rglob("samples_tiny_gen_*"):
            file.unlink()

    return make


def _reads(name: str = "", **options: Any) -> Read:
    return lambda folder: op.read(folder / name if name else folder, **options)


def _read_join(folder: Path) -> object:
    files = {name: folder / f"{name}.csv" for name in ("gold", "old", "new")}
    return op.read(files, id="id", label="label")


def _read_conll(folder: Path) -> object:
    return op.read_conll(folder / "a.conll")


def _read_scores(folder: Path) -> object:
    return op.read_scores(folder / "a.csv", models=["old", "new"], id="id")


_COLUMNS: dict[str, Any] = {"truth": "y", "models": ["old", "new"], "id": "id"}


FORMATS = {
    one.name: one
    for one in (
        Format("CSV", _written("a.csv", lambda: _text(",")), _reads("a.csv", **_COLUMNS)),
        Format("TSV", _written("a.tsv", lambda: _text("\t")), _reads("a.tsv", **_COLUMNS)),
        Format("JSON Lines", _written("a.jsonl", _lines), _reads("a.jsonl", **_COLUMNS)),
        Format(
            "packed CSV",
            _written("a.csv.gz", lambda: gzip.compress(_text(","), mtime=0)),
            _reads("a.csv.gz", **_COLUMNS),
        ),
        Format(
            "Parquet",
            _columnar("a.parquet", parquet.write_table),
            _reads("a.parquet", **_COLUMNS),
        ),
        Format("Arrow", _columnar("a.arrow", feather.write_feather), _reads("a.arrow", **_COLUMNS)),
        Format("SQLite", _database, _reads("a.sqlite", table="preds", **_COLUMNS)),
        Format("outcomes", _outcomes, _reads("a.json")),
        Format("joined CSV", _join, _read_join),
        Format("scores", _scores, _read_scores),
        Format("CoNLL", _conll, _read_conll),
        Format("lm-eval", _logs("lm_eval/two"), _reads(format="lm-eval", score="acc")),
        Format("Inspect", _logs("inspect/chat/json"), _reads(format="inspect", score="match")),
        Format("promptfoo", _logs("promptfoo/prompts"), _reads(format="promptfoo")),
        Format("OpenAI evals", _logs("openai_evals/few"), _reads(format="openai-evals")),
        Format("Pydantic evals", _logs("pydantic_evals/again"), _reads(format="pydantic-evals")),
        Format("DeepEval", _logs("deepeval/few"), _reads(format="deepeval")),
        Format("HELM", _logs("helm/again"), _reads(format="helm", score="exact_match")),
    )
}
WORLDS = tuple(FORMATS)


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """Return the bytes with one damage of a random kind."""
    size = len(data)
    start = int(rng.integers(size))
    end = min(size, start + int(rng.integers(1, 65)))
    span = data[start:end]
    kind = int(rng.integers(8))
    if kind == 0:
        turned = bytes([data[start] ^ (1 << int(rng.integers(8)))])
        return data[:start] + turned + data[start + 1 :]
    if kind == 1:
        return data[:start] + rng.bytes(1) + data[start + 1 :]
    if kind == 2:
        return data[:start]
    if kind == 3:
        return data[:start] + data[end:]
    if kind == 4:
        return data[:end] + span + data[end:]
    if kind == 5:
        return data[:start] + rng.bytes(len(span)) + data[end:]
    if kind == 6:
        to = int(rng.integers(size))
        without = data[:start] + data[end:]
        return without[:to] + span + without[to:]
    digits = [place for place in range(start, end) if data[place : place + 1].isdigit()]
    other = bytearray(data)
    for place in digits:
        other[place] = ord("0") + int(rng.integers(10))
    return bytes(other)


class _Hangs(BaseException):
    """Not an error that a reader could catch."""


@contextmanager
def _in_time(seconds: int) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise _Hangs

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def repeat(world: str, first: int, last: int) -> list[str]:
    """Damage files ``first`` to ``last`` (not included) of a format; say what became of each."""
    kind = FORMATS[world]
    with tempfile.TemporaryDirectory() as folder:
        kind.make(Path(folder))
        models = getattr(kind.read(Path(folder)), "models", ())
        files = sorted(file for file in Path(folder).rglob("*") if file.is_file())
        return [_fate(kind, Path(folder), files, models, number) for number in range(first, last)]


def _fate(
    kind: Format, folder: Path, files: Sequence[Path], models: Sequence[str], number: int
) -> str:
    rng = np.random.default_rng([SEED, WORLDS.index(kind.name), number])
    file = files[int(rng.integers(len(files)))]
    whole = file.read_bytes()
    file.write_bytes(damaged(whole, rng))
    try:
        with _in_time(_SECONDS):
            kind.read(folder)
    except OutperformError as refusal:
        if file.name in str(refusal):
            return "refused"
        names = [repr(model) for model in models]
        if file.parent != folder:  # a log is a folder
            names.append(file.parent.name)
        named = any(name in str(refusal) for name in names)
        return "differs" if named else f"unnamed: damage {number}, {refusal}"
    except _Hangs:
        return f"hangs: damage {number}"
    except Exception as crash:
        return f"crashed: damage {number}, {type(crash).__name__}: {crash}"
    finally:
        file.write_bytes(whole)
    return "read"


Found = Mapping[str, Sequence[str]]


def table(found: Found) -> str:
    """Return how many files of each format were refused, how, and how many were read."""
    head = ("format", "damaged", "file named", "models named", "read", "crashed")
    rows = []
    for name, fates in found.items():
        n = Counter(fate.partition(":")[0] for fate in fates)
        failed = sum(n[one] for one in _FAILED)
        ends = (n["refused"], n["differs"], n["read"], failed)
        rows.append([name, f"{len(fates):,}", *(f"{end:,}" for end in ends)])
    return markdown.table(head, rows)


def failures(found: Found) -> list[str]:
    """Return what crashed, hung, or was refused without a name."""
    return [
        f"{name}: {fate[:300]}"
        for name, fates in found.items()
        for fate in fates
        if fate.startswith(_FAILED)
    ]


_FAILED = ("unnamed", "hangs", "crashed")
