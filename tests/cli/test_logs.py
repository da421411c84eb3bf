"""Evaluation logs at every command."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import outperform as op
from outperform.cli.main import main
from tests.loops import each

LOGS = Path(__file__).parents[1] / "io" / "evaluations"
LONG = ["--read-as", "long", "--id", "question_id", "--model-column", "model", "--score", "score"]
MODELS = {"large": 0.8, "small": 0.6, "tiny": 0.4}


@pytest.fixture
def answers(tmp_path, monkeypatch):
    """Write the same answers as a long table and as logs of lm-evaluation-harness."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [
        (f"q{k}", model, int(rng.random() < share), ("arc", "gsm8k")[k % 2])
        for model, share in MODELS.items()
        for k in range(200)
    ]
    lines = ["question_id,model,score,task", *(",".join(map(str, row)) for row in rows)]
    Path("answers.csv").write_text("\n".join(lines) + "\n", "utf-8")
    for model in MODELS:
        Path("logs", model).mkdir(parents=True)
        for task in ("arc", "gsm8k"):
            own = [
                {"doc_id": name, "acc": score}
                for name, owner, score, of in rows
                if (owner, of) == (model, task)
            ]
            path = Path("logs", model, f"samples_{task}_2026-01-01T00-00-00.000001.jsonl")
            path.write_text("".join(json.dumps(row) + "\n" for row in own), "utf-8")
    return rows


def asked(capsys, *words):
    code = main([str(word) for word in words])
    return code, capsys.readouterr().out


TWO = ("--a", "large", "--b", "small", "--rope", "0.02", "--draws", "500")
ASKED = {
    "compare": TWO,
    "rank": ("--rope", "0.02", "--draws", "500"),
    "scorecard": (*TWO, "--metrics", "accuracy"),
    "estimate": ("--model", "large", "--draws", "500"),
    "slices": (*TWO, "--by", "task"),
    "gate": ("--candidate", "large", "--baseline", "small", "--draws", "500"),
    "plan": ("--a", "large", "--b", "tiny", "--rope", "0.02", "--simulations", "100"),
    "sensitivity": TWO,
}


@pytest.mark.parametrize("command", ASKED)
def test_every_command_says_the_same_of_logs_and_of_a_long_table(answers, capsys, command):
    words = (*ASKED[command], "--format", "json")
    code, told = asked(capsys, command, "logs", *words)
    other, long = asked(capsys, command, "answers.csv", *LONG, *words)
    assert code == other
    assert code in (0, 4)

    # A sensitivity has findings about priors only.
    assert ("logs_recognized" in told) != (command == "sensitivity")
    if command in ("compare", "estimate", "rank"):
        logs, table = json.loads(told), json.loads(long)
        assert logs.pop("findings") != table.pop("findings")
        assert logs == table


def test_what_is_printed_is_the_share_of_right_answers(answers, capsys):
    _, text = asked(capsys, "rank", "logs", "--format", "json", "--draws", "500")
    for one in json.loads(text)["models"]:
        own = [score for _, model, score, _ in answers if model == one["name"]]
        assert one["observed"] == pytest.approx(np.mean(own), abs=1e-12)


def test_counted_logs_add_up(answers, capsys):
    assert asked(capsys, "count", "logs", "-o", "counts.json")[0] == 0
    seen = op.read("counts.json")
    assert (seen.kind, seen.n) == ("correct", 200)
    assert set(seen.models) == set(MODELS)


@pytest.mark.parametrize("name", ["counts.json", "counts.json.gz"])
def test_counted_logs_answer_like_the_logs(answers, capsys, name):
    assert asked(capsys, "count", "logs", "-o", name)[0] == 0
    for command, options in ASKED.items():
        words = (*options, "--format", "json")
        told = asked(capsys, command, "logs", "--read-as", "lm-eval", *words)
        assert asked(capsys, command, name, *words) == told, command


def test_counted_logs_keep_fields_and_scores(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": k // 2, "m": model, "epoch": k % 2 + 1, "score": (k * 7 + len(model)) % 3 == 0}
        | {"task": "x", "fluency": 0.5, "lang": "de" if k < 20 else "fr"}
        for model in ("a", "bb")
        for k in range(80)
    ]
    for model in ("a", "bb"):
        Path("logs", model).mkdir(parents=True)
        lines = [
            {
                "doc_id": row["id"],
                "doc": {"lang": row["lang"]},
                "acc": float(row["score"]),
                "f": row["fluency"],
            }
            for row in rows
            if row["m"] == model and row["epoch"] == 1
        ]
        path = Path("logs", model, "samples_x_2026-01-01T00-00-00.000001.jsonl")
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    assert asked(capsys, "count", "logs", "--by", "lang", "-o", "c.json.gz")[0] == 0
    logs = op.read("logs", by="lang", score="acc", format="lm-eval")
    counted = op.read("c.json.gz", by="lang", score="acc")
    assert list(counted.slices) == list(logs.slices) == [("de",), ("fr",)]
    assert counted.slice("de") == logs.slice("de")
    grades = [op.read_scores(path, score="f").values for path in ("logs", "c.json.gz")]
    assert np.array_equal(*grades)
    assert op.read("c.json.gz", score="acc", where={"lang": "fr"}).n == 30
    code = main(["slices", "c.json.gz", "--a", "a", "--b", "bb", "--by", "doc_hash"])
    assert code == 2
    assert "was counted without the field 'doc_hash'" in capsys.readouterr().err


def test_a_changed_file_of_counted_logs_is_an_error(answers, capsys):
    assert asked(capsys, "count", "logs", "-o", "counts.json")[0] == 0
    text = Path("counts.json").read_text("utf-8")
    Path("counts.json").write_text(text.replace("[1,0", "[0,1", 1), "utf-8")
    assert Path("counts.json").read_text("utf-8") != text
    assert main(["rank", "counts.json"]) == 3
    assert "the checksum does not match" in capsys.readouterr().err


def test_grades_are_compared_by_their_mean(answers, capsys):
    words = ("--metric", "mean", *TWO, "--format", "json")
    _, text = asked(capsys, "compare", "logs", *words)
    found = json.loads(text)
    own = [score for _, model, score, _ in answers if model == "large"]
    assert found["a"]["observed"] == pytest.approx(np.mean(own))
    assert json.loads(asked(capsys, "rank", "logs", "--metric", "mean", "--format", "json")[1])


def test_a_page_of_logs(answers, capsys):
    code, _ = asked(capsys, "report", "logs", *TWO, "-o", "page.html")
    assert code == 0
    assert "large is better than small" in Path("page.html").read_text("utf-8")


def test_logs_of_inspect_are_known_by_their_names(tmp_path, capsys):
    shutil.copytree(LOGS / "inspect" / "chat" / "eval", tmp_path / "logs")
    found = op.read(tmp_path / "logs", score="match")
    assert found.findings[0].name == "logs_recognized"
    code, text = asked(capsys, "compare", tmp_path / "logs", "--score", "match", "--draws", "200")
    assert code == 0
    assert "inspect logs" in text


def test_failed_logs_are_named_and_skipped(answers, capsys):
    path = next(Path("logs", "tiny").iterdir())
    path.write_text("{", "utf-8")
    assert main(["rank", "logs"]) == 3
    said = capsys.readouterr().err
    assert path.name in said
    assert "--skip-failed" in said
    assert main(["rank", "logs", "--skip-failed", "--on-missing", "drop", "--draws", "200"]) == 0
    assert "failed_logs_skipped" in capsys.readouterr().out


def test_a_folder_of_both_kinds_is_not_guessed(answers, tmp_path):
    shutil.copy(next((LOGS / "inspect" / "chat" / "eval").iterdir()), Path("logs", "one.eval"))
    with pytest.raises(op.errors.OutperformError):
        op.read("logs")


TOOLS = {
    "promptfoo": "promptfoo/two",
    "openai-evals": "openai_evals/two",
    "pydantic-evals": "pydantic_evals/two",
    "deepeval": "deepeval/two",
    "helm": "helm/two",
}


@each("kind", TOOLS)
def test_logs_of_every_tool_are_read_as_what_they_are(capsys, kind):
    score = ("--score", "exact_match") if kind == "helm" else ()
    words = ("--read-as", kind, *score, "--draws", "200", "--format", "json")
    code, text = asked(capsys, "rank", LOGS / TOOLS[kind], *words)
    assert code == 0
    found = {
        one["name"].removeprefix("made/"): one["observed"] for one in json.loads(text)["models"]
    }
    assert found == {"large": pytest.approx(185 / 210), "small": pytest.approx(144 / 210)}


@each("command", ASKED)
def test_every_command_reads_logs_of_other_tools(capsys, command):
    words = [word.replace("tiny", "small") for word in ASKED[command]]
    words = ["topic" if word == "task" else word for word in words]
    code, _ = asked(capsys, command, LOGS / "promptfoo" / "two", "--read-as", "promptfoo", *words)
    assert code in (0, 4)


def test_other_tools_in_counts_and_pages(tmp_path, capsys):
    source = (LOGS / "deepeval" / "two", "--read-as", "deepeval")
    assert asked(capsys, "count", *source, "-o", tmp_path / "counts.json")[0] == 0
    assert op.read(tmp_path / "counts.json").n == 210
    assert asked(capsys, "report", *source, *TWO, "-o", tmp_path / "page.html")[0] == 0


def test_a_score_for_each_task_and_the_newest_logs(answers, capsys):
    words = ("--draws", "200", "--format", "json")
    _, one = asked(capsys, "rank", "logs", "--score", "arc=acc,gsm8k=acc", *words)
    _, other = asked(capsys, "rank", "logs", "--score", "acc", *words)
    assert one == other
    older = Path("logs", "tiny", "samples_arc_2020-01-01T00-00-00.000001.jsonl")
    shutil.copy(next(Path("logs", "tiny").glob("samples_arc_*")), older)
    assert main(["rank", "logs", "--draws", "200"]) == 3
    assert "the newest with --latest" in capsys.readouterr().err
    code, text = asked(capsys, "rank", "logs", "--latest", *words)
    assert code == 0
    assert json.loads(text)["models"] == json.loads(other)["models"]
    assert "older_logs_skipped" in text
    assert main(["rank", "logs", "--score", "arc=acc,gsm8k"]) == 2
    assert "--score must be a name, or one per task" in capsys.readouterr().err
