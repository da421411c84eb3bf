"""What a module says, without what changes no number; and which modules a chunk was run with."""

from __future__ import annotations

import ast
import importlib
import pickle
import sys

import pytest

from tests.loops import each
from verification import fingerprint, spreading
from verification.spreading import Machine, spread


def _square(x):
    return x * x


def _load(name):
    return importlib.import_module(name).__name__


@each(
    ("text", "bare"),
    [
        ('"""Says this."""\nx = 1  # so\n', "x = 1"),
        ("\n\nx = 1\n", "x = 1"),
        ("x = '# no comment'\n", "x = '# no comment'"),
        ('def f():\n    """Say."""\n    return 1\n', "def f():\n    return 1"),
        ('class E(Exception):\n    """Say."""\n', "class E(Exception):\n    ..."),
        ('__version__ = "1.2"\nx = 1\n', "x = 1"),
    ],
)
def test_comments_docstrings_and_the_version_are_left_out(tmp_path, text, bare):
    file = tmp_path / "one.py"
    file.write_text(text, encoding="utf-8")
    assert fingerprint.bare(file) == bare
    ast.parse(bare)


def test_what_is_left_of_every_module_is_code():
    for file in (fingerprint.ROOT / "verification").glob("*.py"):
        ast.parse(fingerprint.bare(file))


def test_modules_are_stored_folded():
    names = {"outperform", "outperform.data", "outperform.data.items", "verification.chance"}
    stored = fingerprint.folded(names)
    assert stored == {"outperform.data": "items", "verification": "chance"}
    assert fingerprint.unfolded(stored) == names | {"verification"}
    assert fingerprint.unfolded(fingerprint.folded({"outperform"})) == {"outperform"}


def test_what_runs_the_studies_is_not_loaded_by_them():
    found = fingerprint.loaded()
    assert "verification.spreading" in found
    assert "verification.fingerprint" in sys.modules
    assert "verification.fingerprint" not in found


@pytest.mark.parametrize("chunks", [False, True])
def test_the_modules_of_workers_are_gathered(tmp_path, chunks):
    machine = Machine(jobs=1, chunks=tmp_path if chunks else None)
    assert spread("squares", _square, [1, 2, 3], machine) == [1, 4, 9]
    assert "verification.spreading" in machine.modules
    again = Machine(jobs=1, chunks=tmp_path if chunks else None)
    assert spread("squares", _square, [1, 2, 3], again) == [1, 4, 9]
    assert again.modules >= machine.modules


def test_a_module_that_only_a_worker_loaded_is_known(tmp_path):
    name = "outperform.mlflow"
    alone = name not in sys.modules
    for chunks in (None, tmp_path):
        machine = Machine(jobs=2, chunks=chunks)
        assert spread("loads", _load, [name], machine) == [name]
        assert name in machine.modules
    assert alone == (name not in sys.modules)


def test_a_chunk_of_other_code_is_run_again(tmp_path):
    machine = Machine(jobs=1, chunks=tmp_path)
    spread("squares", _square, [1, 2], machine)
    stale, fresh = sorted(tmp_path.glob("*.pickle"))
    chunk, _ = pickle.loads(stale.read_bytes())
    wrong = spreading._Chunk(-1, chunk.modules)
    stale.write_bytes(pickle.dumps((wrong, "other code")))
    kept = fresh.stat().st_mtime_ns
    assert sorted(spread("squares", _square, [1, 2], machine)) == [1, 4]
    assert fresh.stat().st_mtime_ns == kept
