"""The plugin for pytest: baselines from files, what fails, what is told, what is loaded."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import pytest

import outperform as op

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
PREDICTIONS = """
TRUTH = ["ham", "spam"] * 100
GOOD = ["ham", "spam"] * 95 + ["spam", "ham"] * 5
BAD = ["ham", "spam"] * 70 + ["spam", "ham"] * 30
CLOSE = ["ham", "spam"] * 69 + ["spam", "ham"] * 31
"""
QUESTION = 'metric="accuracy", rope=0.02'


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """Load everything: an inner run forgets what it loads, and numpy cannot be loaded twice."""
    path = tmp_path_factory.mktemp("loaded") / "rows.csv"
    path.write_text("label,prediction\n" + "0,0.1\n1,0.9\n1,0.4\n" * 30, encoding="utf-8")
    seen = op.read_scores(path, truth="label", models={"a": "prediction"})
    truth, scores = [0, 1] * 50, [0.1, 0.7] * 50
    op.gate(truth, scores, scores[::-1], metric="roc_auc", pos_label=1).report()
    op.gate(truth, truth, truth[::-1], metric="accuracy").report()
    assert seen.models == ("a",)


@pytest.fixture
def run(pytester, monkeypatch, loaded):
    """Run tests that use the fixture, whether or not the package is installed as a plugin."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    names: dict[str, list[str]] = {}
    exec(PREDICTIONS, names)
    rows = zip(range(200), names["TRUTH"], names["BAD"], names["GOOD"], strict=True)
    lines = [",".join(map(str, row)) for row in rows]
    pytester.path.joinpath("baseline.csv").write_text(
        "\n".join(["id,label,prediction,other", *lines]) + "\n", encoding="utf-8"
    )

    def tested(body, *arguments):
        pytester.makepyfile(f"{PREDICTIONS}\n{body}")
        return pytester.runpytest_inprocess("-p", "outperform.pytest_plugin", *arguments)

    return tested


BASELINE = "--outperform-baseline=baseline.csv"


def asking(*calls):
    """Return tests that make one call each."""
    return "\n".join(
        f"def test_{number}(outperform_gate):\n    outperform_gate({call}, {QUESTION})\n"
        for number, call in enumerate(calls)
    )


def test_passes_failures_and_undecided_in_one_summary(run):
    found = run(asking("TRUTH, GOOD", "TRUTH, BAD, 'other'", "TRUTH, CLOSE"), BASELINE)
    found.assert_outcomes(passed=1, failed=2)
    assert found.ret == 1
    found.stdout.fnmatch_lines(
        [
            "*AssertionError: Gate failed: candidate is worse than baseline in accuracy: *",
            "*AssertionError: Gate undecided: not enough evidence to tell whether candidate*",
            "=*outperform gates: 1 passed, 1 failed, 1 undecided*=",
            "PASSED *::test_0",
            "  Gate passed: candidate is not worse than baseline in accuracy: the whole 95% HDI*",
            "FAILED *::test_1",
            "UNDECIDED *::test_2",
        ]
    )
    assert "in let_through" not in found.stdout.str()  # the traceback ends in the test


def test_the_answer_is_that_of_the_gate(run):
    body = f"""
import outperform as op
def test_same(outperform_gate):
    mine = outperform_gate(TRUTH, GOOD, {QUESTION}, guards=[("recall", "spam", 0.1)])
    other = op.gate(TRUTH, GOOD, BAD, {QUESTION}, guards=[("recall", "spam", 0.1)])
    assert mine.to_dict() == other.to_dict()
"""
    run(body, BASELINE).assert_outcomes(passed=1)


def test_a_required_improvement(run):
    calls = ("TRUTH, GOOD, require='better'", "TRUTH, BAD, BAD, require='better'")
    found = run(asking(*calls), BASELINE)
    found.assert_outcomes(passed=1, failed=1)
    found.stdout.fnmatch_lines("*not better than baseline*")


def test_undecided_may_pass_or_warn(run):
    body = asking("TRUTH, CLOSE", "TRUTH, CLOSE, undecided='fail'", "TRUTH, BAD, GOOD")
    run(body, BASELINE, "--outperform-undecided=pass").assert_outcomes(passed=1, failed=2)
    found = run(asking("TRUTH, CLOSE"), BASELINE, "--outperform-undecided=warn", "-W", "default")
    found.assert_outcomes(passed=1, warnings=1)
    found.stdout.fnmatch_lines("*test_undecided_may_pass_or_warn.py:*UserWarning: Gate undecided*")


def test_no_gate_no_section(run):
    found = run("def test_nothing(): pass")
    assert "outperform" not in found.stdout.str()


def test_junit_has_the_numbers(run, pytester):
    body = asking("TRUTH, GOOD") + asking("TRUTH, GOOD, BAD").replace("test_0", "test_arrays")
    # xunit2, the default, warns of the fixture record_property; so does -W error.
    found = run(body, BASELINE, "--junit-xml=junit.xml", "-W", "error")
    found.assert_outcomes(passed=2)
    root = ElementTree.parse(pytester.path / "junit.xml").getroot()
    for case in root.iter("testcase"):
        told = {one.get("name"): one.get("value") for one in case.iter("property")}
        assert told["outperform.status"] == "pass"
        assert told["outperform.metric"] == "accuracy"
        assert told["outperform.decision"] == "≫"
        low, high = float(told["outperform.hdi_low"]), float(told["outperform.hdi_high"])
        assert low < float(told["outperform.difference"]) < high
        assert told["outperform.report"].startswith("Gate passed")


def properties(pytester):
    """Return the properties of each test case, by name of the test."""
    root = ElementTree.parse(pytester.path / "junit.xml").getroot()
    return {
        case.get("name"): {
            one.get("name").removeprefix("outperform."): one.get("value")
            for one in case.iter("property")
        }
        for case in root.iter("testcase")
    }


def test_junit_has_levels_guards_and_the_ledger(run, pytester):
    body = f"""
import outperform as op
def test_level(outperform_gate):
    outperform_gate(TRUTH, GOOD, metric="accuracy", at_least=0.8)
def test_guards(outperform_gate):
    guards = [("recall", "spam", 0.1), op.results.Guard(metric="accuracy", at_most=0.99)]
    outperform_gate(TRUTH, GOOD, BAD, metric="f1_macro", rope=0.02, guards=guards)
def test_ledger(outperform_gate):
    seen = op.Outcomes.from_labels(TRUTH, {{"v1": BAD, "v2": GOOD}})
    outperform_gate(seen, "v2", "v1", {QUESTION}, ledger="gates.jsonl")
    assert op.Ledger("gates.jsonl").released == "v2"
"""
    found = run(body, "--junit-xml=junit.xml", "-W", "error")
    found.assert_outcomes(passed=3)
    told = properties(pytester)

    level = told["test_level"]
    assert (level["status"], level["metric"], level["at_least"]) == ("pass", "accuracy", "0.8")
    # The deciding interval is at least as wide as the HDI.
    ends = [float(level[name]) for name in ("interval_low", "hdi_low", "estimate", "hdi_high")]
    assert 0.8 < ends[0] <= ends[1] < ends[2] < ends[3] <= float(level["interval_high"])

    guards = told["test_guards"]
    assert (guards["metric"], guards["decision"]) == ("f1_macro", "≫")
    assert (guards["check_2.metric"], guards["check_2.class"]) == ("recall", "spam")
    assert guards["check_2.status"] == "pass"
    low, high = float(guards["check_2.hdi_low"]), float(guards["check_2.hdi_high"])
    assert low < float(guards["check_2.difference"]) < high
    assert (guards["check_3.metric"], guards["check_3.at_most"]) == ("accuracy", "0.99")

    ledger = told["test_ledger"]
    assert ledger["check_2.anchor"] == "v1"
    assert float(ledger["check_2.edge"]) == -0.04


def test_a_suite_has_the_numbers_of_each_task(run, pytester):
    body = """
import outperform as op
seen = op.Outcomes.from_labels(TRUTH, {"v1": BAD, "v2": GOOD, "v3": CLOSE})
SUITE = op.Suite({"mail": seen, "chat": seen}, metrics="accuracy", ropes=0.02)
def test_tasks(outperform_gate):
    outperform_gate(SUITE, "v2", "v1", policy={"chat": "better"})
def test_level(outperform_gate):
    outperform_gate(SUITE, "v2", at_least=0.8)
def test_undecided(outperform_gate):
    outperform_gate(SUITE, "v3", "v1", undecided="pass")
def test_typo(outperform_gate):
    outperform_gate(SUITE, "v2", "v0")
"""
    found = run(body, "--junit-xml=junit.xml", "-W", "error")
    found.assert_outcomes(passed=3, failed=1)
    found.stdout.fnmatch_lines(
        ["*a suite contains its baseline; name one of v1, v2, v3; got 'v0'",
         "*outperform gates: 2 passed, 1 undecided*"]
    )  # fmt: skip
    told = properties(pytester)
    tasks = told["test_tasks"]
    assert tasks["status"] == "pass"
    assert "metric" not in tasks
    for number, task in enumerate(("mail", "chat"), start=1):
        assert tasks[f"check_{number}.task"] == task
        assert tasks[f"check_{number}.metric"] == "accuracy"
        assert tasks[f"check_{number}.decision"] == "≫"
    assert told["test_level"]["check_2.at_least"] == "0.8"
    assert told["test_undecided"]["status"] == "undecided"


def test_workers_report_too(run, pytester):
    found = run(asking("TRUTH, GOOD", "TRUTH, BAD, GOOD"), BASELINE, "-p", "xdist", "-n", "1")
    found.assert_outcomes(passed=1, failed=1)
    found.stdout.fnmatch_lines(["*outperform gates: 1 passed, 1 failed*", "PASSED *::test_0"])


def test_ids_find_the_rows(run, pytester):
    lines = (pytester.path / "baseline.csv").read_text("utf-8").splitlines()
    shuffled = [lines[0], *sorted(lines[1:])]
    (pytester.path / "shuffled.csv").write_text("\n".join(shuffled) + "\n", encoding="utf-8")
    calls = ("TRUTH, GOOD", "TRUTH, GOOD, ids=range(200)", "TRUTH, GOOD, ids=range(1, 201)")
    found = run(asking(*calls), "--outperform-baseline=shuffled.csv")
    found.assert_outcomes(passed=1, failed=2)
    found.stdout.fnmatch_lines(
        [
            "*DataError: the true label of item 3 is 'ham' in shuffled.csv, but 'spam' in *",
            "*DataError: shuffled.csv lacks 1 of the test's ids, e.g. '200'*",
        ]
    )


@pytest.mark.parametrize(
    ("header", "call", "message"),
    [
        ("id,prediction", "TRUTH, GOOD", "*has no column 'label'*a column 'id' and pass ids="),
        ("label,prediction", "TRUTH[:8], GOOD[:8]", "*has 200 rows, but the test has 8 items"),
        ("label,answer", "TRUTH, GOOD", "*prediction*"),
        ("label,answer", "TRUTH, GOOD, BAD, ids=range(200)", "*ids apply only to a file*"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(run, pytester, header, call, message):
    lines = ["ham,ham" if header.startswith("label") else "1,ham"] * 200
    (pytester.path / "odd.csv").write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    found = run(asking(call), "--outperform-baseline=odd.csv")
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(f"E {message}")


def test_without_a_baseline_it_says_which_option(run):
    found = run(asking("TRUTH, GOOD"))
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines("*run pytest with --outperform-baseline FILE, or pass*")


def test_numbers_are_classes_in_text_files_too(run, pytester):
    """A baseline may predict a class that is never true."""
    rows = [f"{n % 2},{n % 2 if n < 150 else 7}" for n in range(200)]
    path = pytester.path / "numbers.csv"
    path.write_text("\n".join(["label,prediction", *rows]) + "\n", encoding="utf-8")
    body = """
import numpy as np
def test_numbers(outperform_gate):
    truth = np.arange(200) % 2
    found = outperform_gate(truth, truth, metric="accuracy", rope=0.02)
    assert found.main.b.observed == 0.75
    assert found.main.spec.data.labels == (0, 1, 7)
"""
    run(body, "--outperform-baseline=numbers.csv").assert_outcomes(passed=1)


def test_scores(run, pytester):
    rows = [f"{n % 2},{0.5 + (n % 3) / 10}" for n in range(200)]
    path = pytester.path / "scores.csv"
    path.write_text("\n".join(["label,prediction", *rows]) + "\n", encoding="utf-8")
    body = """
def test_scores(outperform_gate):
    truth = [n % 2 for n in range(200)]
    found = outperform_gate(truth, [one + 0.1 for one in truth], metric="roc_auc", rope=0.02)
    assert found.main.a.observed == 1.0
"""
    run(body, "--outperform-baseline=scores.csv").assert_outcomes(passed=1)


def test_stored_outcomes_are_compared_unpaired(run, pytester):
    names: dict[str, list[str]] = {}
    exec(PREDICTIONS, names)
    old = op.Outcomes.from_labels(names["TRUTH"], {"v1": names["BAD"], "v0": names["GOOD"]})
    (pytester.path / "two.json").write_text(old.to_json(), encoding="utf-8")
    body = (
        asking("TRUTH, GOOD, 'v1'", "TRUTH, GOOD")
        + f"""
import outperform as op
def test_counted(outperform_gate):
    seen = op.Outcomes.from_labels(TRUTH, {{"v2": GOOD}})
    found = outperform_gate(seen, "v2", "v1", {QUESTION})
    assert found.main.names == ("v2", "v1")
    assert "unpaired_outcomes" in [one.name for one in found.findings]
"""
    )
    found = run(body, "--outperform-baseline=two.json")
    found.assert_outcomes(passed=2, failed=1)
    found.stdout.fnmatch_lines(["*two.json contains v1, v0; select the baseline*"])
    counted = "op.Outcomes.from_labels(TRUTH, {'v2': GOOD}), 'v2'"
    found = run("import outperform as op\n" + asking(counted), BASELINE)
    found.stdout.fnmatch_lines("*counted outcomes have no rows*")


def test_starting_pytest_loads_nothing_heavy():
    code = (
        "import sys, pytest, _pytest.terminal; before = set(sys.modules)\n"
        "import outperform.pytest_plugin\n"
        "new = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(new - set(sys.stdlib_module_names)))\n"
        "print(sorted(name for name in sys.modules if name.startswith('outperform.')))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    tops, ours = said.stdout.splitlines()
    assert tops == "['outperform']"
    assert ours == "['outperform.errors', 'outperform.pytest_plugin', 'outperform.testing']"


def test_the_wheel_tells_pytest_of_it():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (target,) = project["entry-points"]["pytest11"].values()
    assert hasattr(import_module(target), "outperform_gate")


def test_missing_values_let_no_gate_pass(run, pytester):
    lines = (pytester.path / "baseline.csv").read_text("utf-8").splitlines()
    head, *rows = (line.split(",") for line in lines)
    for name, value in (("empty", ""), ("text", "NA")):
        made = [[*row[:2], value if k % 3 else row[2], row[3]] for k, row in enumerate(rows)]
        text = "\n".join(",".join(row) for row in [head, *made]) + "\n"
        (pytester.path / f"{name}.csv").write_text(text, encoding="utf-8")
    for name, words in (("empty", "*'prediction' of *empty.csv has no value in 133 of 200*"),
                        ("text", "*1 undecided*")):  # fmt: skip
        found = run(
            asking("TRUTH, GOOD"),
            f"--outperform-baseline={name}.csv",
            "--outperform-undecided=pass",
        )
        found.assert_outcomes(failed=1)
        found.stdout.fnmatch_lines([words])
    masked = (
        "import numpy as np\n"
        "def test_masked(outperform_gate):\n"
        "    hidden = np.ma.array(GOOD, mask=[k % 3 == 0 for k in range(200)])\n"
        f"    outperform_gate(TRUTH, hidden, BAD, {QUESTION})\n"
        f"def test_declared(outperform_gate):\n"
        "    declared = dict(na_values=[], never_true=['NA'])\n"
        f"    outperform_gate(TRUTH, GOOD, ['NA'] * 200, **declared, {QUESTION})\n"
    )
    run(masked).assert_outcomes(failed=1, passed=1)
