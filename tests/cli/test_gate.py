"""``outperform gate``: exit codes, formats, and where the baseline comes from."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import outperform as op
from outperform.cli.main import main

GOLDEN = Path(__file__).parent / "golden"


def write_csv(path, rows, header=("id", "label", "old", "new")):
    lines = [",".join(header), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def items(*, both, new, old, neither, label="spam", other="ham"):
    """Return rows by how many items both, only new, only old and neither get right."""
    rows = []
    for count, (says_old, says_new) in (
        (both, (label, label)),
        (new, (other, label)),
        (old, (label, other)),
        (neither, (other, other)),
    ):
        rows += [(label, says_old, says_new)] * count
    rows += [(other, other, other)] * 200
    return [(f"d{k}", *row) for k, row in enumerate(rows)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return an empty folder, in which the commands run, with a file for each status."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.delenv("GITHUB_OUTPUT", raising=False)
    write_csv(tmp_path / "pass.csv", items(both=500, new=80, old=30, neither=90))
    write_csv(tmp_path / "fail.csv", items(both=500, new=30, old=120, neither=50))
    write_csv(tmp_path / "undecided.csv", items(both=500, new=50, old=52, neither=98))
    return tmp_path


COLUMNS = ["--truth", "label", "--baseline", "old", "--candidate", "new"]
ASKED = ["--metric", "accuracy", "--rope", "0.01", "--seed", "0"]


def gate(file, *more):
    asked = ASKED[2:] if "--metric" in more else ASKED
    return main(["gate", str(file), *COLUMNS, *asked, *more])


# Exit codes


@pytest.mark.parametrize(
    ("status", "code", "allowed"), [("pass", 0, 0), ("fail", 1, 1), ("undecided", 4, 0)]
)
def test_the_exit_code_is_the_status(folder, capsys, status, code, allowed):
    assert gate(f"{status}.csv") == code
    assert gate(f"{status}.csv", "--allow", "undecided") == allowed
    written = capsys.readouterr()
    head = {"pass": "passed", "fail": "failed", "undecided": "undecided"}[status]
    assert written.out.startswith(f"Gate {head}: ")
    assert "The difference is new − old." in written.out
    assert written.err == ""


@pytest.mark.parametrize("status", ["fail", "undecided"])
def test_the_exit_code_of_a_process(folder, status):
    command = [sys.executable, "-m", "outperform", "gate", f"{status}.csv", *COLUMNS, *ASKED]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == {"fail": 1, "undecided": 4}[status]
    # A busy machine may take long enough to be told how far it is.
    assert all(line.startswith("outperform: drawing") for line in done.stderr.splitlines())


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["pass.csv", "--truth", "label", "--candidate", "new"], 2, "pass --baseline"),
        (["pass.csv", "--truth", "label", "--baseline", "old"], 2, "pass --candidate"),
        (["pass.csv", "--truth", "label", "--baseline", "new", "--candidate", "new"], 2, "differ"),
        (["pass.csv", *COLUMNS, "--guard", "recall"], 2, "METRIC:CLASS:ROPE"),
        (["pass.csv", *COLUMNS, "--guard", "recall::0.1"], 2, "METRIC:CLASS:ROPE"),
        (["pass.csv", *COLUMNS, "--guard", "recall:spa:0.1"], 2, "did you mean 'spam'"),
        (["pass.csv", *COLUMNS, "--guard", "recall:spam:x"], 2, "--rope must be a number"),
        (["pass.csv", *COLUMNS, "--require", "superb"], 2, "superb"),
        (["pass.csv", *COLUMNS, "--allow", "fail"], 2, "fail"),
        (["pass.csv", *COLUMNS, "--format", "latex"], 2, "latex"),
        (["pass.csv", *COLUMNS, "--metric", "f1"], 2, "--pos-label ham"),
        (["pass.csv", *COLUMNS, "--format", "github", "-o", "x"], 2, "remove --output"),
        (["none.csv", *COLUMNS], 2, "none.csv"),
        (["pass.csv", *COLUMNS, "--junit", "nowhere/j.xml", "--metric", "accuracy"], 2, "nowhere"),
    ],
)
def test_what_goes_wrong_never_exits_0_or_1(folder, capsys, arguments, code, message):
    assert main(["gate", *arguments]) == code
    assert message in re.sub(r"[│\s]+", " ", capsys.readouterr().err)


def expected_code(facts, *, allow):
    """Work out the exit code from the numbers alone, written down apart from the package."""
    judged, wrong = [], False
    for check in facts["checks"]:
        hdi, rope = check["comparison"]["hdi"], check["comparison"]["rope"]
        symbol = check["comparison"]["decision"]["symbol"]
        serious = {one["name"] for one in check["findings"] if one["level"] == "serious"}
        edge = rope["low" if check["require"] == "not_worse" else "high"]
        near = {end for end in ("low", "high") if abs(hdi[end] - edge) < 6 * hdi[f"mcse_{end}"]}
        assert ("high" in near) == ("monte_carlo_too_coarse" in serious)
        wrong |= bool(serious - {"few_disagreements"})
        if check["require"] == "not_worse":
            passes, fails = hdi["low"] >= rope["low"], hdi["high"] < rope["low"]
            assert fails == (symbol == "≪") or serious
            assert passes or symbol not in "≫≈"
        else:
            passes, fails = hdi["low"] > rope["high"], hdi["high"] <= rope["high"]
            assert passes == (symbol == "≫") or serious
            assert fails or symbol not in "≪≈"
        firm = passes * "pass" or fails * "fail" or "undecided"
        judged.append("undecided" if serious or near else firm)
        assert judged[-1] == check["status"]
    if "fail" in judged:
        return 1
    return 0 if "undecided" not in judged or (allow and not wrong) else 4


def random_case(rng, folder):
    """Write a random file and return a random command line about it."""
    classes = ["a", "b", "c"][: rng.integers(2, 4)]
    n = int(np.exp(rng.uniform(np.log(20), np.log(3000))))
    truth = rng.choice(classes, size=n)
    truth[: len(classes)] = classes

    def model(like, rate):
        return np.where(rng.random(n) < rate, like, rng.choice(classes, size=n))

    old = model(truth, rng.uniform(0.3, 0.95))
    new = model(old if rng.random() < 0.6 else truth, rng.uniform(0.6, 1.0))
    write_csv(folder / "case.csv", zip(range(n), truth, old, new, strict=True))
    metric = rng.choice(["accuracy", "f1", "recall", "precision", "f1_macro"])
    half = rng.choice([0.0, 0.002, 0.01, 0.05, 0.2])
    rope = str(half) if rng.random() < 0.7 else f"{-half - 0.01},{half}"
    arguments = [
        "gate", "case.csv", *COLUMNS, "--metric", str(metric), f"--rope={rope}",
        "--pos-label", "a", "--draws", "1000", "--seed", str(rng.integers(2**31)),
        "--format", "json", "--output", "case.json",
    ]  # fmt: skip
    for guard in rng.choice(["recall:b:0.05", "precision:b:0.1", "balanced_accuracy:0.02"], 2):
        if rng.random() < 0.3 and guard not in arguments:
            arguments += ["--guard", str(guard)]
    arguments += ["--require", "better"] if rng.random() < 0.3 else []
    allow = rng.random() < 0.3
    return arguments + (["--allow", "undecided"] if allow else []), allow


def run_random_cases(seed, n_cases, folder):
    rng = np.random.default_rng(seed)
    codes = []
    for _ in range(n_cases):
        arguments, allow = random_case(rng, folder)
        code = main(arguments)
        facts = json.loads((folder / "case.json").read_text(encoding="utf-8"))
        assert code == expected_code(facts, allow=allow), arguments
        codes.append(code)
    assert set(codes) == {0, 1, 4}


def test_the_exit_code_agrees_with_the_rule_in_random_cases(folder):
    run_random_cases(20, 15, folder)


@pytest.mark.slow
def test_the_exit_code_agrees_with_the_rule_in_many_random_cases(folder):
    run_random_cases(21, 5_000, folder)


# Guards and requirements


def test_a_guard_with_a_class(folder, capsys):
    assert gate("pass.csv", "--guard", "recall:spam:0.02") == 0
    assert "and the guard passes" in capsys.readouterr().out
    assert gate("pass.csv", "--guard", "recall:spam:0.02", "--guard", "f1_macro:0.01") == 0
    assert "and 2 guards pass" in capsys.readouterr().out
    assert gate("fail.csv", "--rope", "0.4", "--guard", "recall:spam:0.02") == 1
    assert "Gate failed: new is worse than old in recall of spam." in capsys.readouterr().out


def test_a_class_may_have_colons(folder, capsys):
    rows = items(both=500, new=80, old=30, neither=90, label="a:b:c", other="d")
    write_csv(folder / "colons.csv", rows)
    assert gate("colons.csv", "--guard", "recall:a:b:c:0.02") == 0


def test_better_wants_more_than_not_worse(folder):
    assert gate("pass.csv", "--require", "better") == 0
    assert gate("undecided.csv", "--rope", "0.1") == 0
    assert gate("undecided.csv", "--rope", "0.1", "--require", "better") == 1


# Files of their own


def test_gold_and_a_file_for_each_model_in_any_order(folder, capsys):
    rows = items(both=500, new=30, old=120, neither=50)
    for name, column in (("gold", 1), ("v1", 2), ("v2", 3)):
        write_csv(folder / f"{name}.csv", [(row[0], row[column]) for row in rows], ("id", "label"))
    named = ["--id", "id", "--label", "label", "--candidate", "v2", "--baseline", "v1", *ASKED]
    assert main(["gate", "gold.csv", "v1.csv", "v2.csv", *named]) == 1
    one = capsys.readouterr().out
    assert main(["gate", "gold.csv", "v2.csv", "v1.csv", *named]) == 1
    assert capsys.readouterr().out == one
    assert "v2 is worse than v1" in one
    bare = ["gate", "gold.csv", "v2.csv", "v1.csv", "--id", "id", "--label", "label"]
    assert main(bare) == 2
    assert "pass --candidate and --baseline, each one of v2, v1" in capsys.readouterr().err


def test_confusion_matrices(folder, capsys):
    for name, matrix in (("v1", [[90, 10], [20, 80]]), ("v2", [[50, 50], [60, 40]])):
        rows = [("a", *matrix[0]), ("b", *matrix[1])]
        write_csv(folder / f"{name}.csv", rows, ("", "a", "b"))
    named = ["--confusion", "--candidate", "v2", "--baseline", "v1", *ASKED]
    assert main(["gate", "v1.csv", "v2.csv", *named]) == 1
    assert "[unpaired_outcomes]" in capsys.readouterr().out


# A baseline that was kept: a file of predictions, or counts


def kept(folder, file="pass.csv"):
    """Write what each model said into a file of its own, with the truth beside it."""
    rows = [line.split(",") for line in (folder / file).read_text("utf-8").splitlines()[1:]]
    for name, column in (("old", 2), ("new", 3)):
        some = [(row[0], row[1], row[column]) for row in rows]
        write_csv(folder / f"{name}.csv", some, ("id", "label", "prediction"))


def against(*more, new="new.csv"):
    named = ["--id", "id", "--truth", "label", "--label", "prediction", "--baseline", "old"]
    return main(["gate", "old.csv", new, *named, "--candidate", new[:-4], *ASKED, *more])


def test_a_kept_baseline_says_what_the_column_says(folder, capsys):
    kept(folder)
    assert against("-f", "json") == 0
    from_file = json.loads(capsys.readouterr().out)
    assert gate("pass.csv", "-f", "json") == 0
    assert json.loads(capsys.readouterr().out) == from_file


def test_rows_in_another_order_pair_all_the_same(folder, capsys):
    kept(folder)
    assert against("-f", "json") == 0
    one = capsys.readouterr().out
    header, *lines = (folder / "new.csv").read_text("utf-8").splitlines()
    order = np.random.default_rng(0).permutation(len(lines))
    (folder / "new.csv").write_text("\n".join([header, *(lines[k] for k in order)]) + "\n", "utf-8")
    assert against("-f", "json") == 0
    assert capsys.readouterr().out == one


def test_missing_and_extra_items_are_refused_or_reported(folder, capsys):
    kept(folder)
    header, *lines = (folder / "new.csv").read_text("utf-8").splitlines()
    other = "\n".join([header, *lines[2:], "x1,spam,spam"])
    (folder / "other.csv").write_text(other + "\n", encoding="utf-8")
    assert against(new="other.csv") == 3
    error = capsys.readouterr().err
    assert "other.csv lacks 2 ids that old.csv has, e.g. 'd0', 'd1'" in error
    assert "other.csv has 1 ids that old.csv lacks, e.g. 'x1'" in error
    assert "keep only the common ids with --on-missing drop" in error
    assert against("--on-missing", "drop", new="other.csv") == 0
    assert "898 of the 900 ids in" in re.sub(r"\s+", " ", capsys.readouterr().out)
    write_csv(folder / "none.csv", [("z", "spam", "spam")], ("id", "label", "prediction"))
    assert against("--on-missing", "drop", new="none.csv") == 3
    assert "no id in common" in capsys.readouterr().err


def test_a_changed_truth_is_refused_and_a_gold_file_counts_for_both(folder, capsys):
    kept(folder)
    lines = (folder / "new.csv").read_text("utf-8").replace("d0,spam,spam", "d0,ham,spam")
    (folder / "relabelled.csv").write_text(lines, encoding="utf-8")
    assert against(new="relabelled.csv") == 3
    error = capsys.readouterr().err
    assert "disagree on 'label' in 1 rows, e.g. the ids 'd0'" in error
    for name in ("old", "new", "relabelled"):
        rows = [one.split(",") for one in (folder / f"{name}.csv").read_text("utf-8").splitlines()]
        column = 1 if name == "relabelled" else 2
        path = folder / ("gold.csv" if name == "relabelled" else f"{name}.csv")
        write_csv(path, [(row[0], row[column]) for row in rows[1:]], ("id", "label"))
    named = ["--id", "id", "--label", "label", "--candidate", "new", "--baseline", "old", *ASKED]
    assert main(["gate", "gold.csv", "old.csv", "new.csv", *named, "-f", "json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["checks"][0]["comparison"]["b"]["observed"] == pytest.approx(729 / 900)


def counted(name, file="pass.csv", column=None, more=()):
    named = ["--truth", "label", "--model", column or name, "-o", f"{name}.json", *more]
    assert main(["count", file, *named]) == 0


def of_counts(*more):
    named = ["--candidate", "new", "--baseline", "old", *ASKED]
    return main(["gate", "old.json", "new.json", *named, *more])


def test_counts_are_compared_unpaired(folder, capsys):
    counted("old")
    counted("new")
    assert of_counts("-f", "json") == 0
    facts = json.loads(capsys.readouterr().out)["checks"][0]["comparison"]
    assert facts["paired"] is False
    assert facts["names"] == ["new", "old"]
    assert "unpaired_outcomes" in {one["name"] for one in facts["findings"]}
    seen = op.read("pass.csv", truth="label", models=["new", "old"])
    alone = op.compare(
        seen, "new", "old", metric="accuracy", rope=0.01, paired=False, random_state=0
    )
    assert facts["hdi"] == pytest.approx(alone.to_dict()["hdi"])


def test_counts_of_models_with_one_name_are_called_like_their_files(folder, capsys):
    kept(folder)
    for name in ("old", "new"):
        counted(name, f"{name}.csv", "prediction")
    assert of_counts() == 0
    assert "The difference is new − old." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (["old.json", "both.json"], "both.json contains 'old', 'new'; each of two files"),
        (["old.json", "new.csv"], "old.json contains counts, which cannot be joined"),
        (["old.json", "new.json", "new.json"], "old.json contains counts, which cannot be joined"),
        (["old.json", "new.json", "--truth", "label"], "old.json contains counts"),
        (["old.json", "new.json", "--where", "label=ham"], "cannot be used with counted outcomes"),
        (["old.json", "grouped.json"], "only one file was counted with --groups"),
        (["old.json", "new.json", "--candidate", "old.json"], "unknown model 'old.json'"),
    ],
)
def test_counts_that_cannot_be_compared_are_refused(folder, capsys, files, message):
    kept(folder)
    counted("old")
    counted("new")
    counted("both", column="old", more=["--model", "new"])
    counted("grouped", column="new", more=["--groups", "id"])
    named = ["--candidate", "new", "--baseline", "old", *ASKED]
    assert main(["gate", *named, *files]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "damage", [b"", b"PAR1", b"PAR1 and nothing else PAR1", b"{}", b"\xff\xfe"]
)
def test_a_damaged_baseline_is_bad_data(folder, capsys, damage):
    kept(folder)
    (folder / "old.csv").write_bytes(damage)
    assert against() in (2, 3)
    counted("new")
    (folder / "old.json").write_bytes(damage)
    assert of_counts() in (2, 3)
    assert capsys.readouterr().err.startswith("outperform: ")


# Formats

FORMATS = {"text": "txt", "json": "json", "markdown": "md", "github": "github"}


def masked(text):
    """Leave out what changes with versions."""
    return re.sub(r"outperform [\d.]+\w*|numpy=[\w.]+", "…", text)


def golden_run(folder, capsys, style):
    summary, junit = folder / "summary.md", folder / "junit.xml"
    os.environ["GITHUB_STEP_SUMMARY"] = str(summary)
    # Recall has a closed form, so that no version of numpy draws other numbers.
    asked = ["--metric", "recall", "--pos-label", "spam", "--guard", "recall:ham:0.02"]
    code = gate("undecided.csv", *asked, "--format", style, "--junit", str(junit))
    del os.environ["GITHUB_STEP_SUMMARY"]
    assert code == 4
    written = capsys.readouterr().out
    if style == "github":
        written += "--- job summary\n" + summary.read_text(encoding="utf-8")
    else:
        assert not summary.exists()
    return written, junit.read_text(encoding="utf-8")


@pytest.mark.parametrize("style", FORMATS)
def test_golden_output(folder, capsys, style):
    written, junit = golden_run(folder, capsys, style)
    if os.environ.get("UPDATE_GOLDEN"):
        (GOLDEN / f"gate.{FORMATS[style]}").write_text(masked(written), encoding="utf-8")
        (GOLDEN / "gate.junit.xml").write_text(masked(junit), encoding="utf-8")
    wanted = (GOLDEN / f"gate.{FORMATS[style]}").read_text(encoding="utf-8")
    if style == "json":
        assert rounded(json.loads(masked(written))) == rounded(json.loads(wanted))
    else:
        assert masked(written) == wanted
    assert masked(junit) == (GOLDEN / "gate.junit.xml").read_text(encoding="utf-8")


def rounded(value):
    """Round what a last digit of a special function may change."""
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [rounded(inner) for inner in value]
    return float(f"{value:.8g}") if isinstance(value, float) else value


def test_the_summary_is_added_to_what_is_there(folder, monkeypatch, capsys):
    summary = folder / "summary.md"
    summary.write_text("# Before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert gate("pass.csv", "-f", "github") == 0
    assert summary.read_text(encoding="utf-8").startswith("# Before\n### ✅ Gate passed: ")
    assert capsys.readouterr().out.startswith("::notice title=Gate accuracy%3A pass::")


def test_junit_agrees_with_the_exit_code(folder):
    for status, more, tag in (
        ("pass", [], None),
        ("fail", [], "failure"),
        ("undecided", [], "error"),
        ("undecided", ["--allow", "undecided"], "skipped"),
    ):
        gate(f"{status}.csv", "--junit", "j.xml", *more)
        (case,) = ElementTree.parse(folder / "j.xml").iter("testcase")
        assert [one.tag for one in case] == [*([tag] if tag else []), "system-out"]


def test_hostile_labels_are_obeyed_by_nobody(folder, capsys):
    label = "::error::x ##[error]y|<b>@all\u202e"
    rows = items(both=500, new=30, old=120, neither=50, label=label)
    write_csv(folder / "hostile.csv", rows)
    guards = ["--guard", f"recall:{label}:0.02"]
    for style in FORMATS:
        assert gate("hostile.csv", "--format", style, *guards) == 1
        written = capsys.readouterr()
        assert "##[" not in written.out
        assert "\u202e" not in written.out
        for line in written.out.splitlines():
            assert not line.lstrip().startswith("::") or line.startswith("::error title=Gate ")
    assert gate("hostile.csv", "--guard", "recall:none:0.02") == 2
    assert "##[" not in capsys.readouterr().err


def test_the_answer_may_go_to_a_file(folder, capsys):
    assert gate("pass.csv", "-o", "answer.txt") == 0
    assert capsys.readouterr().out == ""
    assert (folder / "answer.txt").read_text(encoding="utf-8").startswith("Gate passed: ")
