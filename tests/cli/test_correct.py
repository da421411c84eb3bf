"""``--correct``: right or wrong of each model, in one wide file or one file a model."""

from __future__ import annotations

import json

import numpy as np
import pytest

import outperform as op
from outperform.cli.main import main

N = 300
RNG = np.random.default_rng(3)
BITS = {"bert": RNG.random(N) < 0.9, "gpt": RNG.random(N) < 0.7, "rules": RNG.random(N) < 0.5}
SEEDED = ["--draws", "2000", "--seed", "1", "--format", "json"]
WIDE = ["--correct", "bert", "--correct", "gpt"]
JOINED = ["--id", "id", "--correct", "correct"]


@pytest.fixture
def right(tmp_path, monkeypatch):
    """Return a folder with a wide file and one file a model, each in an order of its own."""
    monkeypatch.chdir(tmp_path)
    rows = [(k, k // 3, "DE" if k % 2 else "FR", *(str(bits[k]).lower() for bits in BITS.values()))
            for k in range(N)]  # fmt: skip
    lines = [("id", "user", "country", *BITS), *rows]
    (tmp_path / "wide.csv").write_text("\n".join(",".join(map(str, row)) for row in lines), "utf-8")
    for turn, (model, bits) in enumerate(BITS.items()):
        lines = [json.dumps({"id": k, "correct": bool(bit)}) for k, bit in enumerate(bits)]
        lines = lines[turn:] + lines[:turn]
        (tmp_path / f"{model}.jsonl").write_text("\n".join(lines), "utf-8")
    return tmp_path


def facts(capsys, *arguments):
    """Return what a command writes as JSON."""
    assert main([*arguments, *SEEDED]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def expected(*models, **options):
    seen = op.Outcomes.from_correct({model: BITS[model] for model in models}, **options)
    return op.compare(seen, *models, metric="accuracy", n_draws=2000, random_state=1)


def test_compare_takes_a_wide_file_or_a_file_a_model(right, capsys):
    same = expected("bert", "gpt")
    for arguments in (["wide.csv", *WIDE], ["bert.jsonl", "gpt.jsonl", *JOINED]):
        found = facts(capsys, "compare", *arguments)
        assert (found["names"], found["metric"]) == (["bert", "gpt"], "accuracy")
        assert found["mean"] == pytest.approx(same.mean, abs=1e-12)
        assert found["observed"] == pytest.approx(same.observed)


def test_names_choose_and_never_swap(right, capsys):
    other = facts(capsys, "compare", "wide.csv", *WIDE, "--a", "gpt", "--b", "bert")
    assert other["observed"] == pytest.approx(-expected("bert", "gpt").observed)
    files = ["bert.jsonl", "gpt.jsonl", *JOINED]
    again = facts(capsys, "compare", *files, "--a", "gpt", "--b", "bert")
    assert (again["names"], again["observed"]) == (other["names"], other["observed"])
    called = facts(capsys, "compare", *files, "--a", "old", "--b", "new")
    assert called["names"] == ["old", "new"]
    assert called["observed"] == pytest.approx(expected("bert", "gpt").observed)


def test_other_commands_take_it_too(right, capsys):
    every = [*WIDE, "--correct", "rules"]
    ranked = facts(capsys, "rank", "wide.csv", *every)
    assert ranked["names"] == ["bert", "gpt", "rules"]
    files = [f"{name}.jsonl" for name in BITS]
    assert facts(capsys, "rank", *files, *JOINED)["models"] == ranked["models"]
    one = facts(capsys, "estimate", "wide.csv", "--correct", "bert")
    assert one["observed"] == pytest.approx(BITS["bert"].mean())
    card = facts(capsys, "scorecard", "wide.csv", *WIDE)
    assert [row["metric"] for row in card["comparisons"]] == ["accuracy"]
    grouped = facts(capsys, "compare", "wide.csv", *WIDE, "--groups", "user", "--id", "id")
    assert grouped["n_groups"] == N // 3
    sliced = facts(capsys, "slices", "wide.csv", *WIDE, "--by", "country")
    assert sorted(row["n"] for row in sliced["rows"]) == [N // 2, N // 2]
    assert main(["count", "wide.csv", *every, "-o", "counts.json"]) == 0
    counted = facts(capsys, "compare", "counts.json", "--a", "bert", "--b", "gpt")
    assert counted["observed"] == pytest.approx(expected("bert", "gpt").observed)
    found = facts(capsys, "sensitivity", "wide.csv", *WIDE)
    assert found["metric"] == "accuracy"


def test_gates(right, capsys):
    models = ["--candidate", "gpt", "--baseline", "bert", "--metric", "accuracy", "--seed", "1"]
    assert main(["gate", "wide.csv", *WIDE, *models]) == 1
    wide = capsys.readouterr().out
    assert main(["gate", "bert.jsonl", "gpt.jsonl", *JOINED, *models]) == 1
    joined = capsys.readouterr().out
    # Only the wide file has users, who repeat.
    before, note, after = wide.partition("note: Column 'user' repeats")
    assert note
    assert before + after.partition("[repeated_ids]\n")[2] == joined


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["compare", "bert.jsonl", "gpt.jsonl", "--id", "id", "--label", "correct"], 2,
         ["is named gold", "--correct correct", "--truth bert"]),
        (["compare", "bert.jsonl", "gpt.jsonl", "rules.jsonl", "--id", "id", "--label", "correct"],
         2, ["is named gold", "--correct correct"]),
        (["compare", "bert.jsonl", "gpt.jsonl", "--id", "id"], 2, ["--label", "--correct"]),
        (["compare", "bert.jsonl", "gpt.jsonl", *WIDE, "--id", "id"], 2, ["--correct once"]),
        (["compare", "bert.jsonl", "gpt.jsonl", "rules.jsonl", *JOINED], 2,
         ["one for each of 2 models; got bert.jsonl, gpt.jsonl, rules.jsonl"]),
        (["compare", "wide.csv", *WIDE, "--correct", "rules"], 2,
         ["'bert', 'gpt', 'rules'; select 2 models of them with --a and --b"]),
        (["compare", "wide.csv", *WIDE, "--a", "bert", "--b", "gtp"], 2, ["'gpt'"]),
        (["compare", "wide.csv", *WIDE, "--truth", "id"], 2, ["omit --truth"]),
        (["compare", "wide.csv", *WIDE, "--metric", "f1"], 2, ["--metric accuracy"]),
        (["compare", "wide.csv", "--correct", "bert", "--correct", "country"], 3,
         ["'country' must contain true and false", "2, 3 and 4 of wide.csv", "--truth instead"]),
        (["compare", "wide.csv", "--correct", "bert", "--correct", "user"], 3,
         ["column 'user' must contain true and false", "8, 9 and 10 of wide.csv"]),
        (["compare", "wide.csv", *WIDE, "--metric", "roc_auc", "--a", "bert", "--b", "gpt"], 2,
         ["remove --correct"]),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(right, capsys, arguments, code, words):
    assert main(arguments) == code
    told = capsys.readouterr().err
    for word in words:
        assert word in told


def test_gold_is_found_wherever_it_stands(folder, capsys):
    asked = ["--id", "id", "--label", "label", "--metric", "accuracy"]
    one = facts(capsys, "compare", "gold.csv", "bert.csv", "gpt.csv", *asked)
    assert facts(capsys, "compare", "bert.csv", "gold.csv", "gpt.csv", *asked) == one
    (folder / "gold.csv").rename(folder / "test.csv")
    for truth in ("test", "test.csv"):
        files = ["test.csv", "bert.csv", "gpt.csv"]
        assert facts(capsys, "compare", *files, *asked, "--truth", truth) == one
    assert main(["compare", "test.csv", "bert.csv", "gpt.csv", *asked]) == 2
    assert "--truth test" in capsys.readouterr().err
