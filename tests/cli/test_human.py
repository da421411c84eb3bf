"""``--human``: a judge's verdicts in the files, and what people said of some items beside them."""

from __future__ import annotations

import csv
import json

import numpy as np
import pandas as pd
import pytest

import outperform as op
from outperform.cli.main import main

RANDOM = np.random.default_rng(70)
N, LOOKED = 120, 40
IDS = [f"q{number}" for number in range(N)]
RIGHT = {name: RANDOM.random(N) < share for name, share in (("new", 0.8), ("old", 0.6))}
JUDGED = {name: bits | (RANDOM.random(N) < 0.2) for name, bits in RIGHT.items()}
ASKED = ["--a", "new", "--b", "old", "--rope", "0.02", "--seed", "3", "--format", "json"]


def write(path, columns):
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(columns)
        rows.writerows(zip(*columns.values(), strict=True))
    return str(path)


def answer(capsys, *arguments):
    assert main(["compare", *arguments, *ASKED]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def judged(tmp_path):
    shown = {name: bits.astype(int) for name, bits in JUDGED.items()}
    return write(tmp_path / "judged.csv", {"id": IDS, **shown})


@pytest.fixture
def people(tmp_path):
    order = RANDOM.permutation(LOOKED)  # the rows are matched by their ids, not by their order
    seen = {name: bits[order].astype(int) for name, bits in RIGHT.items()}
    return write(tmp_path / "people.csv", {"id": [IDS[one] for one in order], **seen})


CORRECT = ["--correct", "new", "--correct", "old", "--id", "id"]


def test_verdicts_on_right_and_wrong(judged, people, capsys):
    looked = np.arange(N) < LOOKED
    human = {name: np.where(looked, bits, np.nan) for name, bits in RIGHT.items()}
    seen = op.Outcomes.from_judged(JUDGED, human=human)
    alone = op.compare(seen, "new", "old", rope=0.02, random_state=3).to_dict()
    found = answer(capsys, judged, *CORRECT, "--human", people)
    for key in ("mean", "hdi", "p_better", "n", "decision"):
        assert found[key] == alone[key]


def test_verdicts_on_classes(tmp_path, capsys):
    truth = RANDOM.random(N) < 0.4
    judge = truth ^ (RANDOM.random(N) < 0.1)
    models = {name: truth ^ (RANDOM.random(N) < 0.2) for name in ("new", "old")}
    words = np.array(["ham", "spam"])
    table = {"id": IDS, "label": words[judge.astype(int)]}
    table |= {name: words[bits.astype(int)] for name, bits in models.items()}
    said = [*words[truth[:LOOKED].astype(int)], ""]  # nobody looked at the last of these
    beside = write(tmp_path / "people.csv", {"id": IDS[: LOOKED + 1], "label": said})
    file = write(tmp_path / "judged.csv", table)
    found = answer(capsys, file, "--truth", "label", "--id", "id", "--human", beside,
                   "--pos-label", "spam")  # fmt: skip
    human = [*said[:LOOKED], *[None] * (N - LOOKED)]
    seen = op.Outcomes.from_judged(
        {name: table[name] for name in models}, human=human, judge=table["label"]
    )
    alone = op.compare(seen, "new", "old", pos_label="spam", rope=0.02, random_state=3)
    assert found["mean"] == alone.mean


@pytest.mark.parametrize(
    ("ids", "first", "words"),
    [
        (["q0", "elsewhere"], "1", "1 item that the judge did not rate, such as 'elsewhere'"),
        (["q0", "q0"], "1", "the item 'q0' twice"),
        (["q0", "q1"], "maybe", "'maybe' is neither right nor wrong"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, judged, capsys, ids, first, words):
    file = write(tmp_path / "people.csv", {"id": ids, "new": [first, 1], "old": [1, 1]})
    assert main(["compare", judged, *CORRECT, "--human", file, *ASKED]) == 3
    assert words in capsys.readouterr().err


def test_items_without_ids_are_refused(judged, people, capsys):
    asked = [*CORRECT[:4], "--human", people, *ASKED]
    assert main(["compare", judged, *asked]) == 2
    assert (
        "the human labels are joined on an id; type: outperform compare" in capsys.readouterr().err
    )


def test_read_takes_the_same_file(judged, people):
    human = {name: np.where(np.arange(N) < LOOKED, bits, np.nan) for name, bits in RIGHT.items()}
    found = op.read(judged, correct=["new", "old"], id="id", human=people)
    assert found == op.Outcomes.from_judged(JUDGED, human=human)


def test_design_is_read_from_name_or_column(tmp_path, judged):
    chances = np.where(RIGHT["new"], 0.2, 0.6)
    looked = np.flatnonzero(RANDOM.random(N) < chances)
    columns = {"id": [IDS[one] for one in looked], "p": chances[looked]}
    columns |= {name: bits[looked].astype(int) for name, bits in RIGHT.items()}
    file = write(tmp_path / "drawn.csv", columns)
    asked = {"correct": ["new", "old"], "id": "id", "human": file}
    seen = np.isin(np.arange(N), looked)
    human = {name: np.where(seen, bits, np.nan) for name, bits in RIGHT.items()}
    known = np.where(seen, chances, np.nan)
    found = op.read(judged, **asked, drawn="p")
    assert found == op.Outcomes.from_judged(JUDGED, human=human, drawn=known)
    for drawn in ("random", "by_ratings"):
        assert op.read(judged, **asked, drawn=drawn).pool.drawn == drawn
    with pytest.raises(op.errors.UsageError, match="human="):
        op.read(judged, correct=["new", "old"], id="id", drawn="random")


def test_a_class_called_0_is_a_label(tmp_path):
    """In Parquet classes are numbers, and 0 is one of them."""
    truth, judge, new, old = RANDOM.integers(0, 2, size=(4, N))
    columns = {"id": IDS, "label": judge, "new": new, "old": old}
    pd.DataFrame(columns).to_parquet(tmp_path / "judged.parquet")
    some = {"id": IDS[:LOOKED], "label": truth[:LOOKED]}
    pd.DataFrame(some).to_parquet(tmp_path / "people.parquet")
    found = op.read(
        tmp_path / "judged.parquet", truth="label", models=["new", "old"], id="id",
        human=tmp_path / "people.parquet",
    )  # fmt: skip
    human = [*truth[:LOOKED].tolist(), *[None] * (N - LOOKED)]
    assert found == op.Outcomes.from_judged({"new": new, "old": old}, human=human, judge=judge)
    with pytest.raises(op.errors.UsageError, match="truth="):
        op.read(tmp_path / "judged.parquet", models=["new", "old"], id="id", human="people.csv")
