"""Counting only what is new: ``count --update``, and the commands that read the folder."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from outperform.cli.main import main

pytest.importorskip("duckdb")
ASKED = "--truth label --model bert --model gpt --update counts"


def run(capsys, words, code=0):
    """Run a command, and return what it wrote to stdout and to stderr."""
    assert main(shlex.split(words)) == code
    return capsys.readouterr()


@pytest.fixture
def days(folder):
    """Cut the predictions into two days."""
    header, *rows = Path("log.csv").read_text("utf-8").splitlines()
    for name, some in (("mon", rows[:140]), ("tue", rows[140:])):
        Path("in").mkdir(exist_ok=True)
        Path("in", f"{name}.csv").write_text("\n".join([header, *some]) + "\n", "utf-8")


def test_only_new_files_are_counted_and_every_command_reads_the_sum(days, capsys):
    Path("in/tue.csv").rename("tue.csv")
    assert run(capsys, f"count in {ASKED}").out == (
        "mon.csv: 140 items\n1 partition counted; counts contains 1 partition, 140 items.\n"
    )
    Path("tue.csv").rename("in/tue.csv")
    assert run(capsys, f"count in/mon.csv in/tue.csv {ASKED}").out == (
        "tue.csv: 160 items\n1 partition counted; counts contains 2 partitions, 300 items.\n"
    )
    assert run(capsys, f"count in/*.csv {ASKED}").out.startswith("0 partitions counted; ")
    two = "--a bert --b gpt --metric accuracy --rope 0.01"
    for command, named in (
        ("compare", two),
        ("estimate", "--model bert --metric accuracy"),
        ("rank", "--model bert --model gpt --metric accuracy --rope 0.01"),
        ("gate", "--candidate bert --baseline gpt --metric accuracy --rope 0.01"),
    ):
        whole = run(capsys, f"{command} log.csv --truth label {named}").out
        assert run(capsys, f"{command} counts {named}").out == whole
    run(capsys, f"report counts {two} -o page.html")
    assert "300 items" in Path("page.html").read_text("utf-8")


def test_slices_are_counted_by_partition_too(days, capsys):
    run(capsys, f"count in {ASKED} --by country")
    asked = "--a bert --b gpt --metric accuracy --rope 0.01 --seed 1"
    whole = run(capsys, f"slices log.csv --truth label --by country {asked}").out
    assert run(capsys, f"slices counts {asked}").out == whole


def test_a_refusal_says_what_to_type(days, capsys):
    run(capsys, f"count in {ASKED}")
    shutil.copy("in/mon.csv", "in/wed.csv")
    told = run(capsys, f"count in {ASKED}", 3).err
    assert "in/wed.csv contains the same bytes as in/mon.csv, which was counted at " in told
    Path("in/wed.csv").unlink()
    Path("in/mon.csv").write_bytes(Path("in/mon.csv").read_bytes() + b"d0,ham,ham,spam,DE\n")
    told = run(capsys, f"count in {ASKED}", 3).err
    assert "'mon.csv' has changed since it was counted at " in told
    assert told.endswith("count it again with --recount mon.csv\n")
    assert run(capsys, f"count in {ASKED} --recount mon.csv").out.startswith("mon.csv: ")
    told = run(capsys, f"count in {ASKED} --where country=DE", 2).err
    assert "counted without --where, but this request is with --where country=DE" in told
    told = run(capsys, "count in --truth label --model bert --update counts", 2).err
    assert "counted with --model bert --model gpt, but this request is with --model bert;" in told
    told = run(capsys, "count in --no-header --truth 1 --model 2 --update counts", 2).err
    assert "but this request is with --truth 1" in told
    assert "with --no-header" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            "in --truth label --recount mon.csv",
            "--recount needs --update",
        ),
        (f"in {ASKED} -o x.json", "--update writes a folder, --output a file"),
        (f"- {ASKED}", "only the files of one table can be counted by partition, but '-'"),
        (f"in {ASKED} --recount sun.csv", "unknown partition 'sun.csv'; did you mean"),
        (f"in/mon.csv in/none.csv {ASKED}", "no file 'in/none.csv'"),
    ],
)
def test_what_does_not_go_together_is_refused(days, capsys, words, told):
    assert told in run(capsys, f"count {words}", 2).err
    assert not Path("counts").exists()


def test_several_files_are_one_table(days, capsys):
    asked = "--truth label --model bert --model gpt"
    both = run(capsys, f"count in/mon.csv in/tue.csv {asked} -o both.json")
    assert both.out == ""
    run(capsys, f"count in {asked} -o folder.json")
    tables = [Path(name).read_text("utf-8").partition('"sources"')[0] for name in
              ("both.json", "folder.json")]  # fmt: skip
    assert tables[0] == tables[1]
