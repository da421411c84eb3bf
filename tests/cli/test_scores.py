"""Commands on columns of scores."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from outperform.cli.main import main
from tests.lazily import lazily

roc_auc_score = lazily("sklearn.metrics.roc_auc_score")

TWO = ["scores.csv", "--truth", "label", "--a", "bert", "--b", "gpt", "--pos-label", "spam"]
SEEDED = ["--seed", "1", "--draws", "2000", "--rope", "0.02"]


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """Return the rows of a file of scores, in the folder of which the commands run."""
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(1)
    truth = generator.random(300) < 0.4
    hard = generator.normal(size=300)
    found = [
        (
            f"d{k}",
            "spam" if truth[k] else "ham",
            round(float(1 / (1 + np.exp(-(3 * truth[k] - 1 + hard[k])))), 4),
            round(float(1 / (1 + np.exp(-(2 * truth[k] - 1 + hard[k] + noise)))), 4),
            ("de", "en")[k % 2],
        )
        for k, noise in enumerate(generator.normal(size=300))
    ]
    with open("scores.csv", "w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("id", "label", "bert", "gpt", "lang"), *found])
    return found


def run(capsys, *arguments):
    """Return exit code, stdout and stderr of a command."""
    code = main([*arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_compare_reads_scores_where_the_metric_needs_them(rows, capsys):
    code, out, _ = run(
        capsys, "compare", *TWO, *SEEDED, "--metric", "roc_auc", "--id", "id", "--format", "json"
    )
    found = json.loads(out)
    expected = roc_auc_score([row[1] == "spam" for row in rows], [row[2] for row in rows])
    assert code == 0
    assert found["prior"] == "bootstrap"
    assert found["a"]["observed"] == pytest.approx(expected, abs=1e-12)


def test_rows_are_chosen_and_grades_need_no_truth(rows, capsys):
    code, out, _ = run(
        capsys, "compare", "scores.csv", "--a", "bert", "--b", "gpt", *SEEDED,
        "--metric", "mean", "--where", "lang=de", "--format", "json",
    )  # fmt: skip
    found = json.loads(out)
    assert (code, found["n"]) == (0, 150)
    assert found["a"]["observed"] == pytest.approx(np.mean([row[2] for row in rows[::2]]))


@pytest.mark.parametrize(
    "command",
    [
        ["scorecard", *TWO, *SEEDED, "--metrics", "roc_auc,log_loss"],
        ["estimate", *TWO[:3], "--model", "bert", "--pos-label", "spam", "--metric", "log_loss"],
        ["gate", *TWO[:3], "--candidate", "bert", "--baseline", "gpt", "--pos-label", "spam",
         *SEEDED, "--metric", "roc_auc", "--guard", "brier_score:0.01"],
        ["report", *TWO, *SEEDED, "--metric", "roc_auc", "-o", "page.html"],
    ],
)  # fmt: skip
def test_the_other_commands_read_them_too(rows, capsys, command):
    code, _, err = run(capsys, *command)
    assert (code, "Traceback" in err) == (0, False)


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (["compare", *TWO, "--metric", "f1"], "score metric such as roc_auc"),
        (["compare", *TWO[:-2], "--metric", "roc_auc"], "--pos-label ham or spam"),
        (["compare", *TWO, "--metric", "log_loss"], "no default ROPE"),
        (["compare", *TWO[:-3], "lang", "--metric", "roc_auc"], "must contain scores; got"),
        (["scorecard", *TWO, "--metrics", "roc_auc,f1"], "use one kind"),
        (["compare", *TWO, "--metric", "wer"], "in Python: op.compare(references, answers_a,"),
        (["compare", *TWO, "--metric", "roc_auc", "--weight", "id"], "remove --weight"),
        (["scorecard", "--by-class", *TWO, "--metrics", "roc_auc"], "have no confusion matrix"),
        (["scorecard", "--by-class", *TWO, "--metrics", "f1_macro,accuracy"], "takes one metric"),
        (["gate", *TWO[:3], "--candidate", "bert", "--metric", "roc_auc"], "--baseline"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said_in_one_line(rows, capsys, command, complaint):
    code, out, err = run(capsys, *command)
    assert code in (2, 3)
    assert out == ""
    assert complaint in err
    assert len(err.strip().splitlines()) == 1


def test_rank_reads_the_columns_that_are_named(rows, capsys):
    asked = ["rank", "scores.csv", "--truth", "label", "--pos-label", "spam", *SEEDED]
    code, out, _ = run(
        capsys, *asked, "--metric", "roc_auc", "--model", "bert", "--model", "gpt", "-f", "json"
    )
    assert code == 0
    observed = {one["name"]: one["observed"] for one in json.loads(out)["models"]}
    truth = [row[1] == "spam" for row in rows]
    assert observed["gpt"] == pytest.approx(roc_auc_score(truth, [row[3] for row in rows]))
    code, _, err = run(capsys, *asked, "--metric", "roc_auc")
    assert code == 2
    assert "--model" in err


@pytest.mark.parametrize(
    "command",
    [
        ("compare", "--a", "new", "--b", "old"),
        ("estimate", "--model", "new"),
        ("rank", "--model", "new", "--model", "old"),
        ("gate", "--candidate", "new", "--baseline", "old"),
    ],
    ids=lambda command: command[0],
)
def test_an_unknown_metric_is_named_before_anything_is_read(command, capsys):
    name, *options = command
    code, _, err = run(capsys, name, "nowhere.csv", *options, "--metric", "log_los")
    assert code == 2
    assert "unknown metric 'log_los'; did you mean 'log_loss'?" in " ".join(err.split())


def test_costs_are_better_where_they_are_lower(tmp_path, capsys):
    path = tmp_path / "seconds.csv"
    path.write_text("new,old\n" + "1.0,1.5\n1.2,1.6\n0.8,1.5\n" * 20)
    two = [str(path), "--a", "new", "--b", "old", "--rope", "0.1", "--seed", "0"]
    code, out, _ = run(capsys, "compare", *two, "--metric", "mean_cost", "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert found["decision"]["name"] == "BETTER"
    assert found["observed"] == pytest.approx(1.0 - 4.6 / 3)
    _, out, _ = run(capsys, "compare", *two, "--metric", "mean")
    assert "higher is better" in " ".join(out.split())
    assert "use 'mean_cost'" in " ".join(out.split())


@pytest.mark.parametrize("whole", [False, True])
def test_a_truth_of_numbers_is_a_target(tmp_path, monkeypatch, capsys, whole):
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(3)
    target = generator.normal(10, 3, 120)
    target = np.rint(target) if whole else target
    a, b = (target + generator.normal(0, sd, 120) for sd in (1, 2))
    shown = [int(one) for one in target] if whole else target
    with open("preds.csv", "w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("y", "a", "b"), *zip(shown, a, b, strict=True)])
    asked = ["preds.csv", "--truth", "y", "--metric", "rmse", "--rope", "0.1", "--seed", "1"]
    code, out, _ = run(
        capsys, "compare", *asked, "--a", "a", "--b", "b", "--draws", "500", "--format", "json"
    )
    assert code == 0
    expected = np.sqrt(np.mean((target - a) ** 2))
    assert json.loads(out)["a"]["observed"] == pytest.approx(expected, rel=1e-9)
    code, _, _ = run(
        capsys, "gate", *asked, "--candidate", "b", "--baseline", "a", "--draws", "500"
    )
    assert code == 1
