"""The study of damaged files: its damages, what counts as a failure, and every reader."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

import outperform as op
from outperform.errors import DataError
from tests.loops import each
from verification import damage
from verification.damage import FORMATS, Format


@each("name", FORMATS)
def test_every_format_is_read_whole_and_survives_damage(tmp_path, name):
    FORMATS[name].make(tmp_path)
    FORMATS[name].read(tmp_path)
    fates = damage.repeat(name, 0, 2)
    assert damage.repeat(name, 1, 2) == fates[1:]
    assert damage.failures({name: fates}) == []


def test_every_kind_of_damage_leaves_other_bytes():
    data = bytes(range(48, 58)) * 30
    rng = np.random.default_rng(0)
    found = [damage.damaged(data, rng) for _ in range(400)]
    assert sum(one != data for one in found) > 380  # noise and exchanged digits may be the same
    sizes = {len(one) - len(data) for one in found}
    assert min(sizes) < 0 < max(sizes)


WHOLE = b"0123456789" * 10


def _read(folder):
    text = (folder / "a.txt").read_bytes()
    if len(text) < 50:
        raise KeyError("rows")
    return op.read(folder / "a.txt") if len(text) > 100 else text


def _planted(read):
    def make(folder):
        (folder / "a.txt").write_bytes(WHOLE)

    return Format("planted", make, read)


def test_a_crash_and_a_refusal_without_a_name_fail(monkeypatch):
    def refuse(folder):
        if (folder / "a.txt").read_bytes() == WHOLE:
            return SimpleNamespace(models=("old",))
        raise DataError(message)

    monkeypatch.setattr(damage, "WORLDS", ("planted",))
    monkeypatch.setitem(FORMATS, "planted", _planted(_read))
    fates = damage.repeat("planted", 0, 60)
    assert any(one.startswith("crashed: damage") and "KeyError" in one for one in fates)
    assert "read" in fates
    failed = damage.failures({"planted": fates})
    assert len(failed) == sum(one.startswith("crashed") for one in fates)
    monkeypatch.setitem(FORMATS, "planted", _planted(refuse))
    message = "this can't be read"
    assert damage.repeat("planted", 0, 1) == [f"unnamed: damage 0, {message}"]
    assert damage.failures({"planted": damage.repeat("planted", 0, 3)})
    message = "'old' lacks an item"
    assert damage.repeat("planted", 0, 1) == ["differs"]
    message = "a.txt ends too early"
    assert damage.repeat("planted", 0, 1) == ["refused"]


def test_a_log_that_is_a_folder_is_named_by_its_folder(monkeypatch):
    def make(folder):
        (folder / "run of old").mkdir()
        (folder / "run of old" / "a.txt").write_bytes(WHOLE)

    def refuse(folder):
        if (folder / "run of old" / "a.txt").read_bytes() != WHOLE:
            raise DataError(message)

    monkeypatch.setattr(damage, "WORLDS", ("planted",))
    monkeypatch.setitem(FORMATS, "planted", Format("planted", make, refuse))
    message = "'run of old' and 'run of new' ask something else"
    assert damage.repeat("planted", 0, 1) == ["differs"]
    message = "two runs ask something else"
    assert damage.repeat("planted", 0, 1) == [f"unnamed: damage 0, {message}"]


def test_a_reader_that_hangs_is_stopped(monkeypatch):
    def hang(folder):
        damaged = (folder / "a.txt").read_bytes() != WHOLE
        # Read once: an alarm while the file is open would leave it open.
        while damaged:
            try:
                sum(range(1_000))
            except Exception:
                continue

    monkeypatch.setattr(damage, "WORLDS", ("planted",))
    monkeypatch.setattr(damage, "_SECONDS", 1)
    monkeypatch.setitem(FORMATS, "planted", _planted(hang))
    assert damage.repeat("planted", 0, 1) == ["hangs: damage 0"]


def test_the_table_counts_every_file():
    fates = ["refused", "refused", "read", "differs", "crashed: damage 7, KeyError: 'x'"]
    assert "| CSV | 5 | 2 | 1 | 1 | 1 |" in damage.table({"CSV": fates})
