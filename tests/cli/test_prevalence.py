"""--prevalence: shares and counts from the command line."""

from __future__ import annotations

import json

import pytest

import outperform as op
from outperform.cli.main import main

TWO = ["preds.csv", "--truth", "label", "--a", "bert", "--b", "gpt"]
ONE_CLASS = ["--id", "id", "--pos-label", "spam"]
SEEDED = ["--seed", "1", "--draws", "2000"]


def asked(capsys, *arguments):
    """Return exit code, stdout and stderr of a command."""
    code = main([*arguments])
    out, err = capsys.readouterr()
    return code, out, err


def as_json(capsys, *arguments):
    code, out, err = asked(capsys, *arguments, *SEEDED, "--format", "json")
    assert (code, err) == (0, "")
    return json.loads(out)


@pytest.mark.parametrize("text", ["0.02", "spam=0.02"])
def test_one_share(folder, capsys, text):
    found = as_json(capsys, "compare", *TWO, *ONE_CLASS, "--prevalence", text)
    assert found["prevalence"] == {
        "classes": ["spam"],
        "shares": [0.02],
        "source": "known",
        "n_counted": None,
    }
    seen = op.read("preds.csv", truth="label", models=["bert", "gpt"], id="id")
    c = op.compare(
        seen.at_prevalence({"spam": 0.02}),
        *("bert", "gpt"),
        pos_label="spam",
        n_draws=2_000,
        random_state=1,
    )
    assert found["mean"] == pytest.approx(c.mean, abs=1e-12)


def test_counts_by_class(folder, capsys):
    given = ["--metric", "f1_macro", "--prevalence", "ham=700,news=280,spam=20"]
    for command in (["compare", *TWO], ["estimate", *TWO[:3], "--model", "bert"]):
        found = as_json(capsys, *command, "--id", "id", *given)
        assert found["prevalence"]["n_counted"] == 1_000
    gate = ["gate", *TWO[:3], "--candidate", "bert", "--baseline", "gpt", "--id", "id", *given]
    code, out, _ = asked(capsys, *gate, *SEEDED, "--format", "json")
    assert code in (0, 1, 4)
    assert json.loads(out)["checks"][0]["comparison"]["prevalence"]["n_counted"] == 1_000
    for more in (["--by-class"], []):
        code, out, _ = asked(capsys, "scorecard", *TWO, "--id", "id", *given[2:], *SEEDED, *more)
        assert code == 0
        assert "re-weighted to" in " ".join(out.split())
    code, out, _ = asked(
        capsys, "rank", "preds.csv", "--truth", "label", "--id", "id", *given, *SEEDED
    )
    assert code == 0
    assert "production prevalence" in out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("much", "must be a share such as 0.02"),
        ("0.02,0.98", "must be a share such as 0.02"),
        ("spam=", "must be a share such as 0.02"),
        ("spam=nan", "must be a share such as 0.02"),
        ("spma=0.02", "did you mean 'spam'"),
        ("spam=0.02,spam=0.03", "twice"),
        ("spam=0.5,ham=0.5", "'news' is missing"),
        ("3", "below 1"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(folder, capsys, text, words):
    code, out, err = asked(capsys, "compare", *TWO, *ONE_CLASS, "--prevalence", text)
    assert (code, out) == (2, "")
    assert words in err


def test_slices_do_not_offer_it(folder, capsys):
    sliced = ["slices", "log.csv", *TWO[1:], "--by", "country", "--prevalence", "0.02"]
    code, _, err = asked(capsys, *sliced)
    assert code == 2
    assert "--prevalence" in err
