"""Damaged Parquet files: one flipped bit each, and what reading makes of it."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from outperform.errors import DataError, OutperformError
from outperform.ingest.files.pages import read_chunks
from outperform.ingest.isolating import Question, ask
from outperform.outcomes import Outcomes
from verification import markdown

Fate = Literal["same", "refused", "other", "crashed"]
Place = Literal["pages", "headers", "footer"]
Plan = Literal["plain", "checked"]
ROWS = 240
SECONDS = 10.0
BATCH = 500

# Three ways to write the same rows: with a dictionary, in the second version, and bare.
WRITERS: dict[str, dict[str, Any]] = {
    "snappy": {"compression": "snappy"},
    "zstd, version 2": {"compression": "zstd", "data_page_version": "2.0", "row_group_size": 100},
    "bare": {"compression": "none", "use_dictionary": False, "data_page_size": 512},
}
PLANS: dict[Plan, dict[str, Any]] = {"plain": {}, "checked": {"verify": True}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """One bit that was turned round in one file, and what became of it."""

    writer: str
    plan: Plan
    place: Place
    fate: Fate
    found: str = ""


def sample(writer: str, *, checksums: bool) -> bytes:
    """Return a small file of true labels and the predictions of two models, all of them read."""
    rng = np.random.default_rng(7)
    labels = np.array(["ham", "spam", "news", "offer"])
    truth = rng.integers(len(labels), size=ROWS)
    others = rng.integers(len(labels), size=(2, ROWS))
    old, new = (np.where(rng.random(ROWS) < 0.8, truth, other) for other in others)
    table = pa.table({"y": labels[truth], "old": labels[old], "new": labels[new]})
    buffer = io.BytesIO()
    pq.write_table(table, buffer, write_page_checksum=checksums, **WRITERS[writer])
    return buffer.getvalue()


def flips(writer: str, plan: Plan, bits: Sequence[int]) -> list[Flip]:
    """Turn some bits of a file, one at a time, and read each file in a child process."""
    data = sample(writer, checksums=plan == "checked")
    places = _places(data)
    found: list[Flip] = []
    with TemporaryDirectory() as folder:
        for first in range(0, len(bits), BATCH):
            some = bits[first : first + BATCH]
            for bit, answer in zip(some, _read(data, some, Path(folder), plan), strict=True):
                fate = _fate(answer, data)
                told = str(answer) if fate != "same" else ""
                place = places[bit // 8]
                found.append(Flip(writer=writer, plan=plan, place=place, fate=fate, found=told))
    return found


def _read(
    data: bytes, bits: Sequence[int], folder: Path, plan: Plan
) -> list[Outcomes | OutperformError]:
    questions = []
    for number, bit in enumerate(bits):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        path = folder / f"{number}.parquet"
        path.write_bytes(flipped)
        questions.append(
            Question(str(path), {"truth": "y", "models": ["old", "new"], **PLANS[plan]})
        )
    return ask(questions, seconds=SECONDS)


def _fate(answer: Outcomes | OutperformError, data: bytes) -> Fate:
    if isinstance(answer, Outcomes):
        return "same" if counts(answer) == _truth(data) else "other"
    is_crash = isinstance(answer, DataError) and "ended with" in str(answer)
    return "crashed" if is_crash or "took longer" in str(answer) else "refused"


def counts(seen: Outcomes) -> Counter[tuple[Any, ...]]:
    """Return the counts of outcomes by truth and predictions."""
    (table,) = seen.tables
    cells = [tuple(seen.labels[code] for code in cell) for cell in table.cells.tolist()]
    return Counter(dict(zip(cells, table.counts.tolist(), strict=True)))


def _truth(data: bytes) -> Counter[tuple[Any, ...]]:
    columns = pq.read_table(io.BytesIO(data)).to_pydict()
    return Counter(zip(*columns.values(), strict=True))


def _places(data: bytes) -> list[Place]:
    """Return what each byte of a file belongs to; magic bytes and the footer are one."""
    found: list[Place] = ["footer"] * len(data)
    stream = io.BytesIO(data)
    for chunk in read_chunks(stream):
        for page in chunk.pages(stream):
            found[page.start : page.body] = ["headers"] * (page.body - page.start)
            found[page.body : page.end] = ["pages"] * (page.end - page.body)
    return found


def chosen_bits(writer: str, plan: Plan, number: int) -> list[int]:
    """Return random bits of a file, the same at each run."""
    size = 8 * len(sample(writer, checksums=plan == "checked"))
    seed = [list(WRITERS).index(writer), list(PLANS).index(plan)]
    bits: list[int] = np.random.default_rng(seed).integers(size, size=number).tolist()
    return bits


def table(found: Sequence[Flip]) -> str:
    """Return how many flips led to what, by how the file was read and where the bit was."""
    rows = []
    for plan, how in (("plain", "as usual, no checksums"), ("checked", "`verify`, checksums")):
        for place in ("pages", "headers", "footer"):
            fates = Counter(one.fate for one in found if (one.plan, one.place) == (plan, place))
            shown = [f"{fates[fate]:,}" for fate in ("same", "refused", "crashed", "other")]
            rows.append([how, place, f"{fates.total():,}", *shown])
    header = ("read", "bit in", "flips", "same counts", "refused", "child ended", "other counts")
    return markdown.table(header, rows, numbers_from=2) + "\n" + _sentence(found)


def _sentence(found: Sequence[Flip]) -> str:
    plain = [one for one in found if one.plan == "plain"]
    pages = [one for one in plain if one.place == "pages"]
    by_writer = {name: [one for one in pages if one.writer == name] for name in WRITERS}
    shares = ", ".join(
        f"{markdown.percent(_undetected(some))} ({name})" for name, some in by_writer.items()
    )
    return (
        f"Without checksums {markdown.percent(_undetected(pages))} per cent of the flips in pages "
        f"give other counts and nobody notices, by file {shares}; of all flips "
        f"{markdown.percent(_undetected(plain))}.\n"
    )


def _undetected(found: Sequence[Flip]) -> float:
    return sum(one.fate == "other" for one in found) / max(len(found), 1)


def failures(found: Sequence[Flip]) -> list[str]:
    """Return the flips that verify should have noticed."""
    return [
        f"{one.writer}: a bit in the {one.place} gave other counts in spite of verify"
        for one in found
        if one.plan == "checked" and one.fate == "other"
    ]
