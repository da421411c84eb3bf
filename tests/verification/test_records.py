"""Every number of the README has a source, and what was run is noted with the code it ran on."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from verification import __main__ as command
from verification import records
from verification.__main__ import main
from verification.programme import NOT_QUICK, PARTS

README = (records.ROOT / "README.md").read_text(encoding="utf-8")
CLAIMS = records.claims()


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: f"{claim.file}-{claim.text[:30]}")
def test_every_number_of_a_claim_is_in_its_source(claim):
    assert claim.faults() == []
    assert claim.part is None or claim.part in PARTS


@pytest.mark.parametrize("file", ["README.md", "docs/explanation/trust.md"])
def test_every_number_of_a_table_of_proof_is_claimed(file):
    text = (records.ROOT / file).read_text(encoding="utf-8")
    said = {claim.text for claim in CLAIMS if claim.file == file}
    rows = [
        row
        for table in re.findall(
            r"^\|[^|\n]+\| measured \|.+\n\|[-|]+\n((?:\|.+\n)+)", text, re.MULTILINE
        )
        for row in re.findall(r"^\| [^|]+ \| ([^|]+) \|", table, re.MULTILINE)
    ]
    assert len(rows) == len(said) > 4
    assert set(rows) == said


def test_a_number_changed_by_hand_is_found(tmp_path):
    claim = CLAIMS[0]
    for source in claim.sources:
        copy = tmp_path / source
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text((records.ROOT / source).read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "README.md").write_text(README.replace("958 ms", "858 ms"), encoding="utf-8")
    assert "does not say" in claim.faults(tmp_path)[0]
    edited = replace(
        claim, text=claim.text.replace("958", "858"), numbers=["20", "50,000", "858", "2.01"]
    )
    assert "does not have 858" in edited.faults(tmp_path)[0]
    assert "has no source" in replace(claim, numbers=["20", "50,000", "958"]).faults()[0]


def test_a_count_is_taken_again():
    claim = next(one for one in CLAIMS if one.counted)
    number, expression = next(iter(claim.counted.items()))
    other = str(int(number) + 1)
    wrong = replace(claim, text=claim.text.replace(number, other), counted={other: expression})
    assert any(f"does not have {other}" in fault for fault in wrong.faults())


def test_records_know_their_code_and_the_summary_fails_if_one_did_not_hold(tmp_path, capsys):
    records.write(records.record("map", {"repetitions": 2}, [], 61.0), tmp_path)
    kept = records.read("map", tmp_path)
    assert kept is not None
    assert kept.held
    assert kept.current
    assert main(["map", "plants", "--summary", "--results", str(tmp_path)]) == 0
    records.write(replace(kept, code="other", failures=("too narrow",)), tmp_path)
    assert main(["map", "--summary", "--results", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert re.search(r"^plants +\d  not recorded$", said, re.MULTILINE)
    assert re.search(r"^map .* NO +older ", said, re.MULTILINE)


def test_comments_change_no_hash_and_code_does(tmp_path):
    one, two, three = (tmp_path / f"{name}.py" for name in "abc")
    one.write_text('"""Says this."""\nx = 1  # so\n', encoding="utf-8")
    two.write_text('"""Says that."""\n\nx = 1\n', encoding="utf-8")
    three.write_text("x = 2\n", encoding="utf-8")
    assert records._bare(one) == records._bare(two) != records._bare(three)


def test_shards_make_the_whole_and_finished_chunks_are_not_run_again(tmp_path, capsys):
    few = ["plants", "--simulations", "5", "--plant-simulations", "5", "--jobs", "1"]
    places = ["--chunks", str(tmp_path / "chunks"), "--results", str(tmp_path / "results")]
    command = [*few, *places, "--tables", str(tmp_path / "shards")]
    assert main([*command, "--shard", "1/2"]) == 0
    assert "chunks are here" in capsys.readouterr().out
    assert not (tmp_path / "shards").exists()
    assert main([*command, "--shard", "2/2"]) == 1  # five simulations do not find all bugs
    files = {file: file.stat().st_mtime_ns for file in (tmp_path / "chunks").rglob("*.pickle")}
    assert main(command) == 1
    assert files == {file: file.stat().st_mtime_ns for file in files}
    assert main([*few, "--tables", str(tmp_path / "whole")]) == 1
    texts = [(tmp_path / name / "plants.md").read_text("utf-8") for name in ("shards", "whole")]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "a/b"])
def test_a_shard_that_is_none_is_refused(shard):
    with pytest.raises(SystemExit):
        main(["plants", "--shard", shard])


def test_the_summary_of_the_repository_names_every_part(capsys):
    assert main(["--summary"]) in (0, 1)
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line.split()[0] for line in lines] == list(PARTS)


def test_quick_runs_every_part_but_those_that_it_names(monkeypatch, capsys):
    run = []
    monkeypatch.setattr(command, "_run", lambda name, *_: run.append(name) or [])
    assert main(["--all", "--quick"]) == 0
    assert set(run) == set(PARTS) - set(NOT_QUICK)
    assert "engines: left out; its chains need PyMC" in capsys.readouterr().out
    assert main(["engines", "--quick"]) == 0
    assert run[-1] == "engines"
