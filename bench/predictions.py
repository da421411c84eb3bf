"""Made-up predictions of two models as Parquet files, written once and kept for the next run."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FOLDER = Path(tempfile.gettempdir()) / "outperform-bench"
PER_FILE = 10_000_000
COLUMNS = ("label", "bert", "gpt")


def predictions(rows: int, classes: int, *, spread: int) -> list[str]:
    """Return Parquet files with a truth and two models that are right in 80% of the rows.

    An error goes to one of the ``spread`` classes after the true one; half of the
    rows are equally hard for both models.
    """
    folder = FOLDER / f"{rows}-{classes}-{spread}"
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, start in enumerate(range(0, rows, PER_FILE)):
        path = folder / f"part-{number}.parquet"
        if not path.exists():
            table = _table(min(PER_FILE, rows - start), classes, spread, seed=number)
            whole = path.with_suffix(".part")
            pq.write_table(table, whole, compression="zstd", store_schema=False)
            whole.rename(path)
        paths.append(str(path))
    return paths


def _table(rows: int, classes: int, spread: int, seed: int) -> pa.Table:
    generator = np.random.default_rng(seed)
    names = pa.array([f"class {code:05}" for code in range(classes)])
    truth = generator.integers(0, classes, rows, dtype=np.int32)
    shared = generator.random(rows, dtype=np.float32)
    columns = [truth]
    for _ in COLUMNS[1:]:
        hard = np.where(generator.random(rows, dtype=np.float32) < 0.5, shared, 1 - shared)
        wrong = (truth + generator.integers(1, spread + 1, rows, dtype=np.int32)) % classes
        columns.append(np.where(hard < 0.8, truth, wrong).astype(np.int32))
    arrays = [pa.DictionaryArray.from_arrays(pa.array(codes), names) for codes in columns]
    return pa.table(arrays, names=list(COLUMNS))
