"""``--items``: the items that only one model got right, as CSV."""

from __future__ import annotations

import csv

import pytest

from outperform.cli.main import main

TABLE = "id,label,old,new\n" + "".join(
    f"m{k},{'ab'[k % 2]},{'ab'[k % 2 if k % 3 else 0]},{'ab'[k % 2 if k % 5 else 1]}\n"
    for k in range(30)
)
ASKED = ["--truth", "label", "--metric", "accuracy", "--draws", "200"]


@pytest.mark.parametrize(
    "command",
    [
        ["compare", "--a", "new", "--b", "old"],
        ["gate", "--candidate", "new", "--baseline", "old"],
        ["report", "--a", "new", "--b", "old", "-o", "page.html"],
    ],
)
def test_items_are_written_beside_the_answer(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.csv").write_text(TABLE, encoding="utf-8")
    name, *models = command
    asked = [name, "p.csv", *models, *ASKED, "--id", "id", "--items", "flips.csv"]
    assert main(asked) in (0, 4)
    with open("flips.csv", encoding="utf-8", newline="") as stream:
        found = {row["id"]: row["right"] for row in csv.DictReader(stream)}
    rows = list(csv.DictReader(TABLE.splitlines()))
    right = {
        row["id"]: [name for name in ("old", "new") if row[name] == row["label"]] for row in rows
    }
    assert found == {name: one[0] for name, one in right.items() if len(one) == 1}


def test_without_ids_it_says_how_to_keep_rows(tmp_path, capsys):
    (tmp_path / "p.csv").write_text(TABLE, encoding="utf-8")
    path = str(tmp_path / "p.csv")
    more = ["--a", "new", "--b", "old", "--items", str(tmp_path / "flips.csv")]
    assert main(["compare", path, *ASKED, *more]) == 2
    said = capsys.readouterr().err
    assert "--id" in said
    assert "op.read" not in said
