"""Many writers, killed at random moments: no batch is lost, and none is counted twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import reduce
from operator import add
from pathlib import Path

import pytest

import outperform as op
from outperform.errors import DataError
from outperform.monitor.batches import History

sys.path.insert(0, str(Path(__file__).parent))
from writers import MODELS, batch

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the writers are forked")


def let_run(folder, *arguments):
    """Run the writers; return their exit code and what they print."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "writers.py"), str(folder), *arguments],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.strip()


def let_write(folder, *, writers, batches, kills):
    """Return the exit code, and how many were killed."""
    return let_run(folder, *map(str, (writers, batches, kills, 20_261_115)))


def faults(folder, n_batches):
    """Return what is wrong with a folder after all batches were written."""
    history = History(folder, MODELS)
    history.refresh()
    whole = reduce(add, map(batch, range(n_batches)))
    found = [f"damaged: {name}" for name in history.left_out]
    if history.total != whole:
        found.append("the batches do not add up")
    if len(history.batches) != n_batches:
        found.append(f"{len(history.batches)} batches")
    try:
        if op.read(folder) != whole:
            found.append("another reader finds other outcomes")
    except DataError:
        found.append("another reader cannot read it")
    return found


def test_three_writers_killed_five_times(tmp_path):
    assert let_write(tmp_path, writers=3, batches=60, kills=5) == (0, "5")
    assert faults(tmp_path, 60) == []


@pytest.mark.slow
def test_eight_writers_of_a_thousand_batches_killed_fifty_times(tmp_path):
    assert let_write(tmp_path, writers=8, batches=1_000, kills=50) == (0, "50")
    assert faults(tmp_path, 1_000) == []


SIZE = len(batch(0).to_json())
CUTS = (0, 1, SIZE // 2, SIZE - 1)


def cut_off(folder, *bug):
    """Let a writer die at each of the cuts, add its batch again, and return what is wrong."""
    code, signals = let_run(folder, "bytes", *map(str, CUTS), *bug)
    assert (code, signals) == (0, " ".join([str(int(signal.SIGXFSZ))] * len(CUTS)))
    found = []
    for where in (folder / str(size) for size in CUTS):
        history = History(where, MODELS)
        history.refresh()
        found += [*history.left_out, *(one.key for one in history.batches)]
        try:
            history.store("batch-0", batch(0))
            found += faults(where, 1)
        except DataError as error:
            found.append(str(error))
    return found


def test_a_writer_cut_off_at_any_byte_leaves_nothing_and_adds_again(tmp_path):
    assert cut_off(tmp_path) == []


def test_writing_to_the_name_itself_is_found(tmp_path):
    assert cut_off(tmp_path, "directly") != []


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_a_writer_killed_before_any_call_of_the_system_adds_again(tmp_path, step):
    code, lived = let_run(tmp_path, "calls", str(step))
    assert code == 0
    assert int(lived) > 20
    for folder in (tmp_path / str(number) / "x" for number in range(1, int(lived) + 1, step)):
        seen = History(folder, MODELS)
        if folder.exists():
            seen.refresh()
        assert seen.left_out == {}
        for number in (0, 1):
            History(folder, MODELS).store(f"batch-{number}", batch(number))
        assert faults(folder, 2) == []
        before = [one.key for one in seen.batches]
        seen.refresh()
        assert [one.key for one in seen.batches][: len(before)] == before


def test_a_batch_whose_writer_died_before_it_had_a_number_is_counted(tmp_path):
    (tmp_path / "9").mkdir()
    (tmp_path / "9" / "batch-0.json").write_text(batch(0).to_json(), encoding="utf-8")
    assert let_run(tmp_path, "bytes", "9") == (0, str(int(signal.SIGXFSZ)))
    assert list((tmp_path / "9" / "_arrivals").glob("*.json")) == []
    assert faults(tmp_path / "9", 1) == []
