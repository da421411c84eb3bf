"""propose, and --pool: which rows to label, and what is made of them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import outperform as op
from outperform.cli.main import main

ASKED = ["--a", "bert", "--b", "gpt", "--metric", "f1_macro"]


def rows_of(path):
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def propose(*more):
    return main(["propose", "preds.csv", *ASKED, "--budget", "40", "--seed", "1", *more])


def test_the_rows_to_label_are_those_that_the_library_proposes(folder, capsys):
    assert propose("-o", "next.csv") == 0
    written = capsys.readouterr()
    assert "40 of 90 items" in written.out
    assert written.err == ""
    pool, chosen = rows_of("preds.csv"), rows_of("next.csv")
    columns = [[row[name] for row in pool] for name in ("bert", "gpt")]
    same = op.propose(*columns, budget=40, metric="f1_macro", random_state=1)
    assert chosen == [pool[place] for place in same.items.tolist()]


def test_without_a_file_the_rows_go_to_stdout(folder, capsys):
    assert propose("-o", "next.csv") == 0
    capsys.readouterr()
    assert propose() == 0
    assert capsys.readouterr().out == Path("next.csv").read_text("utf-8")


def test_the_labelled_rows_are_compared_with_their_pool(folder, capsys):
    assert propose("-o", "next.csv") == 0
    capsys.readouterr()
    given = ["next.csv", "--truth", "label", *ASKED, "--rope", "0.02", "--seed", "1"]
    assert main(["compare", *given, "--pool", "preds.csv", "--format", "json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["prior"], facts["n"], facts["n_pool"]) == ("strata", 40, 90)
    read = op.read("next.csv", truth="label", models=["bert", "gpt"])
    seen = read.in_pool(op.read("preds.csv", truth="bert", models=["gpt"]))
    same = op.compare(seen, "bert", "gpt", metric="f1_macro", rope=0.02, random_state=1)
    assert facts["mean"] == same.mean
    by_class = [{"--metric": "--metrics"}.get(one, one) for one in given]
    assert main(["scorecard", "--by-class", *by_class, "--pool", "preds.csv"]) == 0
    assert "pool of 90" in capsys.readouterr().out


def test_a_condition_holds_for_the_pool_too(folder, capsys):
    asked = ["propose", "log.csv", *ASKED, "--budget", "60", "--seed", "1", "-o", "next.csv"]
    assert main(asked) == 0
    capsys.readouterr()
    given = ["next.csv", "--truth", "label", *ASKED, "--pool", "log.csv", "--where", "country=DE"]
    assert main(["compare", *given, "--draws", "1000", "--format", "json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    here = [row for row in rows_of("log.csv") if row["country"] == "DE"]
    assert facts["n_pool"] == len(here) < 300


def test_rows_come_back_as_they_were_read(folder, capsys):
    rows = ["a\tb\ttext", "--5\tx\té", "x\t--5\tü", "", "x\tx\tö", ""]
    Path("pool.tsv").write_text("\n".join(rows), "latin-1")
    asked = ["pool.tsv", "--a", "a", "--b", "b", "--budget", "3", "--metric", "accuracy"]
    assert main(["propose", *asked, "--encoding", "latin-1", "-o", "next.tsv"]) == 0
    written = Path("next.tsv").read_text("latin-1").splitlines()
    assert written[0] == rows[0]
    assert sorted(written[1:]) == sorted([*rows[1:3], rows[4]])
    Path("mark.csv").write_text("\ufeffa,b\nx,y\ny,y\n", "utf-8")
    asked = ["mark.csv", "--a", "a", "--b", "b", "--budget", "1", "--metric", "accuracy"]
    assert main(["propose", *asked]) == 0


def test_whole_numbers_are_whole_numbers(folder, capsys):
    lines = ["a,b"] + [f"{k % 2},{k % 3 % 2}" for k in range(60)]
    Path("numbers.csv").write_text("\n".join(lines) + "\n", "utf-8")
    asked = ["numbers.csv", "--a", "a", "--b", "b", "--budget", "10", "-o", "next.csv"]
    assert main(["propose", *asked]) == 0
    assert main(["propose", *asked, "--pos-label", "0"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["preds.parquet", *ASKED, "--budget", "4"], "end in .csv or .tsv"),
        (["none.csv", *ASKED, "--budget", "4"], "cannot be read"),
        (["preds.csv", "--a", "bart", "--b", "gpt", "--budget", "4"], "did you mean 'bert'"),
        (["preds.csv", *ASKED, "--budget", "91"], "budget must be"),
        (["preds.csv", *ASKED, "--budget", "4", "--pos-label", "spm"], "did you mean 'spam'"),
        (["ragged.csv", "--a", "a", "--b", "b", "--budget", "1"], "line 3 has 1 values"),
        (["gaps.csv", "--a", "a", "--b", "b", "--budget", "1"], "no value in row 3"),
        (["preds.csv", *ASKED, "--budget", "4", "--judge", "lable"], "did you mean 'label'"),
        (["preds.csv", *ASKED, "--budget", "4", "--verdicts"], "true/false, 0/1"),
        (
            ["preds.csv", *ASKED, "--budget", "4", "--verdicts", "--judge", "label"],
            "remove --judge",
        ),
        (["empty.csv", "--a", "a", "--b", "b", "--budget", "1"], "must have a header and rows"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(folder, capsys, arguments, message):
    Path("ragged.csv").write_text("a,b\nx,y\nx\n", "utf-8")
    Path("gaps.csv").write_text("a,b\nx,y\nx,\n", "utf-8")
    Path("empty.csv").write_text("", "utf-8")
    assert main(["propose", *arguments]) in (2, 3)
    written = capsys.readouterr()
    assert message in written.err
    assert written.err.count("\n") == 1


def judged(*, verdicts):
    """Write what a judge says of 200 items and two models, and return what is true of each."""
    right = {f"d{k}": (k * 7 % 10 < 8, k * 3 % 11 < 7) for k in range(200)}
    lines = ["id,new,old,class"]
    for k, (name, pair) in enumerate(right.items()):
        truth = k % 3 == 0
        said = [bit ^ (k * 5 % 7 == place) for place, bit in enumerate(pair)]
        models = said if verdicts else [truth if bit else not truth for bit in pair]
        lines.append(f"{name},{models[0]:d},{models[1]:d},{truth ^ (k % 7 == 2):d}")
    Path("judged.csv").write_text("\n".join(lines) + "\n", "utf-8")
    return right


def people_say(change):
    """Let people fill in what they think of the proposed items, in the same columns."""
    rows = rows_of("next.csv")
    for row in rows:
        row.update(change(row["id"]))
    with Path("people.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return rows


def compared(capsys, *more):
    capsys.readouterr()
    given = ["judged.csv", *more, "--a", "new", "--b", "old", "--id", "id", "--human", "people.csv"]
    asked = ["--rope", "0.02", "--seed", "1", "--draws", "1000", "--format", "json"]
    assert main(["compare", *given, *asked]) == 0
    return json.loads(capsys.readouterr().out)


NEXT = ["propose", "judged.csv", "--a", "new", "--b", "old", "--budget", "60", "--seed", "1"]


def test_people_look_where_a_judges_verdicts_say(folder, capsys):
    right = judged(verdicts=True)
    assert main([*NEXT, "--verdicts", "-o", "next.csv"]) == 0
    assert "new by the judge" in capsys.readouterr().out
    pool = rows_of("judged.csv")
    columns = [[int(row[name]) for row in pool] for name in ("new", "old")]
    same = op.propose(*columns, budget=60, verdicts=True, names=("new", "old"), random_state=1)
    assert rows_of("next.csv") == [pool[place] for place in same.items.tolist()]
    rows = people_say(lambda name: dict(zip(("new", "old"), map(int, right[name]), strict=True)))
    seen = same.outcomes({name: [row[name] for row in rows] for name in ("new", "old")})
    expected = op.compare(seen, "new", "old", rope=0.02, n_draws=1_000, random_state=1)
    facts = compared(capsys, "--correct", "new", "--correct", "old")
    assert (facts["mean"], facts["n"], facts["n_pool"]) == (expected.mean, 60, 200)


def test_people_look_again_at_old_labels(folder, capsys):
    judged(verdicts=False)
    assert main([*NEXT, "--judge", "class", "--pos-label", "1", "-o", "next.csv"]) == 0
    assert "judge says" in capsys.readouterr().out
    pool = rows_of("judged.csv")
    a, b, judge = ([int(row[name]) for row in pool] for name in ("new", "old", "class"))
    same = op.propose(
        a, b, budget=60, judge=judge, metric="f1", names=("new", "old"), random_state=1
    )
    assert rows_of("next.csv") == [pool[place] for place in same.items.tolist()]
    rows = people_say(lambda name: {"class": int(int(name[1:]) % 3 == 0)})
    seen = same.outcomes([row["class"] for row in rows])
    asked = {"rope": 0.02, "n_draws": 1_000, "random_state": 1}
    expected = op.compare(seen, "new", "old", metric="f1", **asked)
    facts = compared(capsys, "--truth", "class", "--pos-label", "1")
    assert (facts["mean"], facts["n"], facts["n_pool"]) == (expected.mean, 60, 200)


def test_a_pool_is_for_two_models(folder, capsys):
    one = ["estimate", "preds.csv", "--truth", "label", "--model", "bert", "--pool", "preds.csv"]
    assert main(one) == 2
    assert "no such option: --pool" in capsys.readouterr().err
