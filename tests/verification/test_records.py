"""What was run is noted with the code it ran on, and the summary says what no longer holds."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from outperform.errors import MissingExtraError
from verification import coverage_map, execution, fingerprint, programme, records
from verification.__main__ import main
from verification.programme import NOT_QUICK, PARTS, QUICK

ENTRY = records.Entry(date="2026-11-17", commit="abc", sizes={"test_sets": 3}, failures=())


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Return a project of three modules, of which a part called "rank" loads two."""
    texts = {
        "src/outperform/__init__.py": "",
        "src/outperform/errors.py": "x = 1\n",
        "src/outperform/other.py": "y = 1\n",
        "verification/__init__.py": "",
        "verification/ranks.py": '"""Rank."""\n\nz = 1\n',
        "verification/programme.py": (
            "SEED = 1\nOTHER = 2\n"
            "def run_rank(sizes):\n    return sizes.test_sets + SEED\n"
            "def run_plants(sizes):\n    return sizes.seeds + OTHER\n"
            'PARTS = {"rank": run_rank, "plants": run_plants}\n'
        ),
    }
    for name, text in texts.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    monkeypatch.setattr(fingerprint, "ROOT", tmp_path)
    _forget()
    yield tmp_path
    _forget()


def _forget():
    for one in (fingerprint._text, fingerprint._programme):
        one.cache_clear()


def _note(project, failures=()):
    """Write a record of a part that loaded two modules, and return how to read it again."""
    sizes = {"test_sets": 3, "seeds": 4}
    modules = {"outperform", "outperform.errors", "verification", "verification.ranks"}
    entry = records.entry("rank", sizes, failures, 61.0, modules)
    records.write("rank", "checked", entry, project / "results")
    return lambda: records.read("rank", project / "results")


def row_of_table(part, whole, folder):
    """Return the row of a part in the table of what was run."""
    return records.table({part: whole}, folder).splitlines()[2]


def _edit(file, text):
    file.write_text(text, encoding="utf-8")
    _forget()


def test_a_record_is_current_until_a_module_changes_that_the_part_loaded(small):
    read = _note(small)
    assert read().checked.current("rank")
    assert not read().failed
    assert read().checked.sizes == {"test_sets": 3}
    _edit(small / "src/outperform/errors.py", "x = 2\n")
    assert not read().checked.current("rank")
    _edit(small / "src/outperform/errors.py", "x = 1\n")
    assert read().checked.current("rank")
    _edit(small / "verification/ranks.py", '"""Rank."""\n\nz = 2\n')
    assert not read().checked.current("rank")


def test_an_edit_during_a_run_does_not_count_as_what_was_run(small):
    fingerprint.read_ahead()
    (small / "src/outperform/errors.py").write_text("x = 2\n", encoding="utf-8")
    read = _note(small)
    assert read().checked.current("rank")
    _forget()
    assert not read().checked.current("rank")


def test_comments_docstrings_and_modules_that_were_not_loaded_do_not_matter(small):
    read = _note(small)
    _edit(small / "src/outperform/errors.py", '"""Errors."""\n\nx = 1  # so\n')
    _edit(small / "verification/ranks.py", '"""Rank\n\nat length."""\n# why\nz = 1\n')
    _edit(small / "src/outperform/other.py", "y = 2\n")
    assert read().checked.current("rank")


def test_a_package_counts_with_its_modules_and_a_module_that_is_gone_is_missed(small):
    read = _note(small)
    _edit(small / "src/outperform/__init__.py", "y = 0\n")
    assert not read().checked.current("rank")
    _edit(small / "src/outperform/__init__.py", "")
    assert read().checked.current("rank")
    (small / "src/outperform/errors.py").unlink()
    _forget()
    assert not read().checked.current("rank")


def test_of_the_programme_only_what_the_part_uses_matters(small):
    read = _note(small)
    file = small / "verification/programme.py"
    text = file.read_text(encoding="utf-8")
    _edit(file, text.replace("OTHER = 2", "OTHER = 3").replace("sizes.seeds +", "sizes.seeds -"))
    assert read().checked.current("rank")
    _edit(file, text.replace("SEED = 1", "SEED = 2"))
    assert not read().checked.current("rank")


def test_a_run_without_gates_code_or_size_is_no_full_one(small):
    whole = {"test_sets": 3}
    checked = _note(small, ["too narrow"])()
    assert checked.failed
    assert checked.state(whole) == "never"  # a smoke check is no run
    full = records.Record(part="rank", full=checked.checked)
    assert full.failed
    assert full.state(whole) == "this code"
    assert full.state({"test_sets": 4}) == "in part"
    assert full.state({"test_sets": 3, "seeds": 1}) == "in part"
    for lacking in ({"failures": None}, {"code": None}):
        entry = replace(checked.checked, **lacking)
        assert records.Record(part="rank", full=entry).state(whole) == "never"
    _edit(small / "src/outperform/errors.py", "x = 2\n")
    assert full.state(whole) == "older code"


def test_both_levels_are_kept_side_by_side(tmp_path):
    records.write("rank", "full", ENTRY, tmp_path)
    records.write("rank", "checked", replace(ENTRY, failures=("too narrow",)), tmp_path)
    found = records.read("rank", tmp_path)
    assert found.full == ENTRY
    assert found.failed
    assert records.read("map", tmp_path) == records.Record(part="map")


def test_the_summary_fails_if_a_run_did_not_hold(tmp_path, capsys):
    asked = ["rank", "plants", "--summary", "--results", str(tmp_path)]
    records.write("rank", "full", replace(ENTRY, seconds=90.0), tmp_path)
    assert main(asked) == 0
    said = capsys.readouterr().out
    assert re.search(r"^rank +\d+  never +2026-11-17  abc +1\.5  yes +[– ]+$", said, re.MULTILINE)
    assert re.search(r"^plants +\d+  never +[– ]+$", said, re.MULTILINE)
    records.write("rank", "checked", replace(ENTRY, failures=("too narrow",)), tmp_path)
    assert main(asked) == 1
    assert re.search(r"^rank .* NO +older code$", capsys.readouterr().out, re.MULTILINE)


def test_strict_fails_for_every_part_without_a_full_run(tmp_path, capsys):
    parts = ["plants", "rank", "engines"]
    assert main([*parts, "--summary", "--strict", "--results", str(tmp_path)]) == 1
    assert "run `python -m verification plants rank engines`" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["plants", "--strict"])


def test_no_gate_of_the_repository_failed():
    assert main(["--summary"]) == 0


def test_every_part_of_the_programme_is_found_in_its_source():
    assert fingerprint.sizes_of("plants") == ("plant_simulations", "simulations")
    assert fingerprint.sizes_of("rank") == ("pair_test_sets", "test_sets")
    for part in PARTS:
        assert "def " in fingerprint._programme(part)[0], part


def test_the_records_of_the_repository_are_of_parts_that_there_are():
    files = {file.stem for file in records.RESULTS.glob("*.json")}
    files -= {"coverage_map", "mutants"}  # what was found, not when
    assert files <= set(PARTS)
    for part in files:
        assert records.read(part).entries, part


def test_the_summary_of_the_repository_names_every_part(capsys):
    assert main(["--summary"]) in (0, 1)
    lines, _, legend = capsys.readouterr().out.partition("\n\n")
    assert [line.split()[0] for line in lines.splitlines()[1:]] == list(PARTS)
    assert "held: whether all gates held" in legend


def test_what_only_a_quick_run_recorded_is_not_called_held(tmp_path, capsys):
    records.write("rank", "checked", ENTRY, tmp_path)
    records.write("rank", "full", replace(ENTRY, failures=None), tmp_path)
    assert main(["rank", "--summary", "--results", str(tmp_path)]) == 0
    assert re.search(
        r"^rank .* –  +–  +2026.* yes +older code$", capsys.readouterr().out, re.MULTILINE
    )
    row = row_of_table("rank", {"test_sets": 3, "pair_test_sets": 3}, tmp_path)
    assert row.startswith("| `rank` | never | ")
    assert "| not recorded |" in row


def test_the_pairs_of_rank_are_recorded_as_held_with_enough_test_sets_to_notice():
    record = records.read("rank")
    assert record.checked.failures == ()
    assert record.checked.sizes["pair_test_sets"] >= 500
    assert records.read("ranked-pairs").full.failures == ()


def test_a_part_whose_library_is_missing_is_skipped_and_keeps_its_record(
    tmp_path, monkeypatch, capsys
):
    def lacking(name, **_):
        raise MissingExtraError(f"the study of engines needs {name}")

    monkeypatch.setattr(programme, "require", lacking)
    monkeypatch.setattr(execution, "run_apart", execution.run)
    records.write("engines", "full", ENTRY, tmp_path)
    places = ["--tables", str(tmp_path / "tables"), "--results", str(tmp_path)]
    assert main(["engines", *places]) == 2
    assert "engines: skipped, not run; the study of engines needs pymc" in capsys.readouterr().out
    assert records.read("engines", tmp_path).full == ENTRY
    monkeypatch.setattr("verification.__main__.PARTS", {"engines": PARTS["engines"]})
    assert main(places) == 0


# Parts, shards and chunks


FEW = ["plants", "--simulations", "5", "--plant-simulations", "5", "--jobs", "1"]


def test_shards_make_the_whole_and_finished_chunks_are_not_run_again(tmp_path, capsys):
    places = ["--chunks", str(tmp_path / "chunks"), "--results", str(tmp_path / "results")]
    command = [*FEW, *places, "--tables", str(tmp_path / "shards")]
    assert main([*command, "--shard", "1/2"]) == 0
    assert "chunks are finished; run the other shards" in capsys.readouterr().out
    assert not (tmp_path / "shards").exists()
    assert main([*command, "--shard", "2/2"]) == 1  # five simulations do not find all bugs
    noted = records.read("plants", tmp_path / "results").full
    assert "plants" in noted.modules["verification"].split()
    assert noted.sizes == {"simulations": 5, "plant_simulations": 5}
    files = {file: file.stat().st_mtime_ns for file in (tmp_path / "chunks").rglob("*.pickle")}
    assert main(command) == 1
    assert files == {file: file.stat().st_mtime_ns for file in files}
    assert main([*FEW, "--tables", str(tmp_path / "whole")]) == 1
    texts = [(tmp_path / name / "plants.md").read_text("utf-8") for name in ("shards", "whole")]
    assert texts[0] == texts[1]


def test_a_shard_of_the_map_counts_what_is_finished_and_is_no_run_of_the_map(
    tmp_path, monkeypatch, capsys
):
    worlds = coverage_map.WORLDS[:3]
    monkeypatch.setattr(coverage_map, "WORLDS", worlds)
    monkeypatch.setattr(coverage_map, "RESULTS", tmp_path / "map.json")
    few = ["map", "--repetitions", "2", "--jobs", "1", "--chunks", str(tmp_path / "chunks")]
    command = [*few, "--results", str(tmp_path), "--tables", str(tmp_path / "tables")]
    assert main([*command, "--shard", "2/2"]) == 0
    assert "0 of 3 settings are finished; run the other shards" in capsys.readouterr().out
    assert records.read("map", tmp_path).full is None
    assert main([*command, "--shard", "1/2"]) == 0
    assert records.read("map", tmp_path).full.held


def test_a_quick_run_of_the_map_fails_on_its_own_test_sets(monkeypatch):
    def nothing_holds(_, __, repetitions, ___):
        shape = (len(coverage_map.WAYS), 2, len(coverage_map.METRICS))
        return {world: [np.zeros(shape)] * n for world, n in repetitions.items()}

    monkeypatch.setattr(programme, "spread_worlds", nothing_holds)
    # What the shipped file says has its own tests, and takes longest.
    monkeypatch.setattr(coverage_map, "shipped", lambda _: "")
    found = programme.run_map(QUICK)
    assert len(found.failures) == 64 * 2 * len(coverage_map.METRICS)  # of 2 and 3 classes
    assert "1,000" in found.tables["map.md"]  # what is known better is what is shown


def test_a_quick_run_is_noted_as_a_check(tmp_path):
    places = ["--tables", str(tmp_path / "tables"), "--results", str(tmp_path)]
    assert main(["exactness", "--quick", *places]) == 0
    found = records.read("exactness", tmp_path)
    assert found.full is None
    assert found.checked.held
    assert found.checked.current("exactness")


@pytest.mark.slow
def test_several_parts_run_apart_and_load_nothing_of_each_other(tmp_path):
    places = ["--tables", str(tmp_path / "tables"), "--results", str(tmp_path)]
    assert main(["exactness", "weights", "--test-sets", "1", "--jobs", "2", *places]) == 0
    noted = {part: records.read(part, tmp_path).full.modules for part in ("exactness", "weights")}
    assert "exactness" in noted["exactness"]["verification"].split()
    assert "weights" not in noted["exactness"]["verification"].split()
    assert "exactness" not in noted["weights"]["verification"].split()
    assert "api" in noted["weights"]["outperform.comparison"].split()  # loaded by workers only


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "a/b"])
def test_a_shard_that_is_none_is_refused(shard):
    with pytest.raises(SystemExit):
        main(["plants", "--shard", shard])


def test_quick_runs_every_part_but_those_that_it_names(monkeypatch, capsys):
    run = []
    monkeypatch.setattr(execution, "run", lambda name, _: run.append(name) or [])
    monkeypatch.setattr(execution, "run_apart", execution.run)
    assert main(["--all", "--quick"]) == 0
    assert set(run) == set(PARTS) - set(NOT_QUICK)
    assert "engines: skipped; its chains need PyMC" in capsys.readouterr().out
    assert main(["engines", "--quick"]) == 0
    assert run[-1] == "engines"


def test_the_table_of_what_was_run_is_that_of_the_records():
    stored = (execution.TABLES / "programme.md").read_text(encoding="utf-8")
    assert stored == execution.overview()
    assert stored.count("\n") == len(PARTS) + 4
    assert f"Of {len(PARTS)} parts" in stored


def test_a_part_that_was_run_in_part_says_so(tmp_path):
    full = records.Entry(
        date="2026-01-02", commit="abc", sizes={"repetitions": 20}, failures=(), code="0"
    )
    records.write("map", "full", full, tmp_path)
    whole = {"classes": 1_000, "repetitions": 1_000}
    row = row_of_table("map", whole, tmp_path)
    rest = "2026-01-02 abc | yes | – | 1,000 classes, 1,000 repetitions"
    assert row == f"| `map` | in part | 20 repetitions | {rest} |"
    assert "| never | – | – | – | – |" in row_of_table("map", whole, tmp_path / "none")
