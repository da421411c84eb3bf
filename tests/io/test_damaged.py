"""Damaged Parquet files: cut off, or with a bit turned round; refused in words, or counted."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import outperform as op
from outperform.errors import DataError, OutperformError

ROWS = 240
OPTIONS = {"truth": "y", "models": ["old", "new"]}

# Three ways to write the same rows: with a dictionary, in the second version, and bare.
WRITERS = {
    "snappy": {"compression": "snappy"},
    "zstd, version 2": {"compression": "zstd", "data_page_version": "2.0", "row_group_size": 100},
    "bare": {"compression": "none", "use_dictionary": False, "data_page_size": 512},
}


@pytest.fixture(params=WRITERS)
def data(request):
    """Return a small file of true labels and the predictions of two models, all of them read."""
    rng = np.random.default_rng(7)
    labels = np.array(["ham", "spam", "news", "offer"])
    truth = rng.integers(len(labels), size=ROWS)
    others = rng.integers(len(labels), size=(2, ROWS))
    old, new = (np.where(rng.random(ROWS) < 0.8, truth, other) for other in others)
    table = pa.table({"y": labels[truth], "old": labels[old], "new": labels[new]})
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **WRITERS[request.param])
    return buffer.getvalue()


def refuse_cuts(path, data, ends):
    for end in ends:
        path.write_bytes(data[:end])
        with pytest.raises(DataError, match=path.name):
            op.read(path, **OPTIONS)


def test_a_file_that_is_cut_off_is_refused(tmp_path, data):
    ends = [*range(0, len(data) - 20, len(data) // 25), *range(len(data) - 20, len(data), 3)]
    refuse_cuts(tmp_path / "a.parquet", data, ends)


@pytest.mark.slow
def test_a_file_that_is_cut_off_anywhere_is_refused(tmp_path, data):
    refuse_cuts(tmp_path / "a.parquet", data, range(len(data)))


def turn_bits(path, data, number):
    """Turn bits one at a time; return the refusals."""
    refused = []
    for bit in np.random.default_rng(11).integers(8 * len(data), size=number).tolist():
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        try:
            op.read(path, **OPTIONS)
        except OutperformError as error:
            refused.append(str(error))
    return refused


def test_a_turned_bit_is_a_refusal_in_words_or_no_error(tmp_path, data):
    refused = turn_bits(tmp_path / "a.parquet", data, 50)
    assert 0 < len(refused) < 50
    assert all("a.parquet" in one for one in refused)


@pytest.mark.slow
def test_a_thousand_turned_bits_are_refusals_in_words_or_no_errors(tmp_path, data):
    refused = turn_bits(tmp_path / "a.parquet", data, 1_000)
    assert len(refused) > 100
    assert all("a.parquet" in one for one in refused)
