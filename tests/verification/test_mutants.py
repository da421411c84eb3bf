"""A weak test lets a mutant live, a strong one kills it; samples, shards and the table add up."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec

import pytest

from verification import mutants
from verification.mutants import Project

needs_tools = pytest.mark.skipif(
    not all(map(find_spec, ("cosmic_ray", "coverage"))), reason="needs the group `mutation`"
)
MODULE = '''"""A docstring with 1 + 1."""

from __future__ import annotations


def add(a: int | None, b: int) -> int:
    """Return the sum, not 3 - 2."""
    if b < 0:
        raise ValueError(f"b is {b - 1}")
    return a + b


def wait(n, *, times=1):
    while n > 0:
        n = n - times
    return n
'''
WEAK = "from tiny.room import sums\n\ndef test_runs():\n    assert sums.add(0, 0) == 0\n"
STRONG = "from tiny.room import sums\n\ndef test_sum():\n    assert sums.add(3, 4) == 7\n"
WAITS = "from tiny.room import sums\n\ndef test_wait():\n    assert sums.wait(2) == 0\n"


@pytest.fixture
def project(tmp_path):
    room = tmp_path / "src" / "tiny" / "room"
    room.mkdir(parents=True)
    for folder in (room, room.parent):
        (folder / "__init__.py").touch()
    (room / "sums.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "tests").mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\n")
    return Project(
        package=room.parent,
        rooms=("room",),
        tests=tmp_path / "tests",
        patterns=("test_*.py",),
        build=tmp_path / "build",
        record=tmp_path / "mutants.json",
        table=tmp_path / "mutants.md",
        judged=tmp_path / "mutants.toml",
    )


def everything(project):
    (found,) = mutants.places(project).values()
    return [one for place in found for one in place]


def the_one(project, operator, line):
    (one,) = [one for one in everything(project) if (one.operator, one.line) == (operator, line)]
    return one


@needs_tools
def test_only_what_runs_is_changed(project):
    found = everything(project)
    # No docstring, no annotation, no text of an error, no star between arguments.
    assert {(one.line, one.column) for one in found} == {
        (8, 7), (8, 9), (8, 11), (10, 13), (13, 21), (14, 10), (14, 12), (14, 14), (15, 14),
    }  # fmt: skip
    changes = {one.operator for one in found if one.line == 10}
    assert {"ReplaceBinaryOperator_Add_Sub", "ReplaceBinaryOperator_Add_Mul"} <= changes
    source = mutants.mutate(project.package, the_one(project, "ReplaceBinaryOperator_Add_Sub", 10))
    assert source == MODULE.replace("a + b", "a - b")


@needs_tools
def test_a_weak_test_lets_a_mutant_live_and_a_strong_one_kills_it(project):
    one = the_one(project, "ReplaceBinaryOperator_Add_Sub", 10)
    (project.tests / "test_weak.py").write_text(WEAK, encoding="utf-8")
    met = mutants.run(project, one, mutants.reach(project), 30)
    assert (met["outcome"], met["tests"]) == ("survived", 1)
    (project.tests / "test_strong.py").write_text(STRONG, encoding="utf-8")
    met = mutants.run(project, one, mutants.reach(project), 30)
    assert (met["outcome"], met["tests"]) == ("killed", 2)
    assert met["by"] == "tests/test_strong.py::test_sum"


@needs_tools
def test_a_test_that_hangs_kills(project):
    (project.tests / "test_wait.py").write_text(WAITS, encoding="utf-8")
    one = the_one(project, "ReplaceBinaryOperator_Sub_Add", 15)
    met = mutants.run(project, one, mutants.reach(project), 30, patience=1)
    assert met["outcome"] == "killed"
    assert met["said"].startswith("TimeoutError")


@needs_tools
def test_samples_are_the_same_and_nest(project):
    found = mutants.places(project)
    whole = mutants.draw(project, found, 9)
    assert whole == mutants.draw(project, mutants.places(project), 9)
    assert len({one.place for one in whole}) == len(whole) == 9
    assert mutants.draw(project, found, 3) == whole[:3]
    assert all(one.before != one.after for one in whole)


@needs_tools
def test_shards_make_the_whole_and_what_is_finished_is_not_run_again(project, monkeypatch, capsys):
    run, weak = [], {"outcome": "survived"}

    def meet(_, one, *rest):
        run.append(one.name)
        strong = {"outcome": "killed", "by": "tests/test_new.py::test_it[1]", "said": ""}
        lives = weak and one.line > 10
        return {
            "name": one.name,
            "module": one.module,
            "before": "a | b",
            "after": "a",
            **(weak if lives else strong),
        }

    monkeypatch.setattr(mutants, "run", meet)
    monkeypatch.setattr(mutants, "reach", lambda _: [])
    names = [one.name for one in mutants.draw(project, mutants.places(project), 9)]
    assert mutants.main(["--sample", "9", "--shard", "2/2"], project) == 0
    assert run == names[1::2]
    assert "4 of 9 mutants are finished; no table yet" in capsys.readouterr().out
    assert not project.table.exists()
    assert mutants.main(["--sample", "9", "--shard", "1/2"], project) == 0
    assert run == [*names[1::2], *names[::2]]
    assert "| all | 9 | 9 | 4 | 44.4 (" in project.table.read_text("utf-8")
    assert "5 not judged" in project.table.read_text("utf-8")

    # A test is written for them: the score before it stays what it was.
    weak.clear()
    alive = [name for name in names if int(name.split(":")[1]) > 10]
    entries = (f'["{name}"]\nverdict = "gap"\nwhy = "no test"\n' for name in alive)
    project.judged.write_text("".join(entries), encoding="utf-8")
    assert mutants.main(["--sample", "9", "--again"], project) == 0
    assert sorted(run[9:]) == sorted(alive)
    text = project.table.read_text("utf-8")
    assert re.search(r"\| all \| 9 \| 9 \| 4 \| 44.4 \(.+\) \| 100.0 \(.+ to 100.0\) \|", text)
    assert r"`a \| b` → `a` | `tests/test_new.py::test_it`" in text
    outcomes = [one["outcome"] for one in json.loads(project.record.read_text())["mutants"]]
    assert outcomes == ["killed"] * 9

    # What is known of a module that has changed is forgotten.
    (project.package / "room" / "sums.py").write_text(f"{MODULE}\n# new\n", encoding="utf-8")
    assert mutants.finished(project) == {}


def test_the_table_of_the_repository_is_its_record_and_every_survivor_is_judged():
    project = Project()
    record = json.loads(project.record.read_text(encoding="utf-8"))
    judged = mutants.judgements(project)
    assert project.table.read_text(encoding="utf-8") == mutants.table(record, judged)
    names = {one["name"] for one in record["mutants"]}
    alive = {one["name"] for one in record["mutants"] if one["outcome"] == "survived"}
    assert alive <= set(judged) <= names
    assert {one["verdict"] for one in judged.values()} <= set(mutants.VERDICTS)


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "a/b"])
def test_a_shard_that_is_none_is_refused(shard):
    with pytest.raises(SystemExit):
        mutants.main(["--shard", shard])


def test_the_score_has_the_interval_of_jeffreys():
    assert mutants._score(10, 10) == "100.0 (78.3 to 100.0)"
    assert mutants._score(400, 360) == "90.0 (86.8 to 92.7)"
