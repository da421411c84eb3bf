"""The examples of the page on plug-ins, installed as a distribution of their own, at every verb."""

from __future__ import annotations

import json
import re
import runpy
import sys
import tomllib
import traceback
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import outperform as op
from outperform import _catalogue
from outperform.cli.main import main
from outperform.errors import DataError, UsageError
from outperform.metrics import registry
from outperform.plugins import Source
from tests.loops import each

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "write-a-plug-in.md"
FILE = re.compile(r"^`([\w/.-]+)`:\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """Install the page's package, beside a folder in which to work."""
    files = dict(FILE.findall(PAGE.read_text("utf-8")))
    project = tomllib.loads(files.pop("pyproject.toml"))["project"]
    home = tmp_path / "site-packages"
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text, "utf-8")
    info = home / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.4\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines = [
        line
        for group, entries in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in entries.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(str(home))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    yield home
    for name in [name for name in sys.modules if name.startswith("lab_outperform")]:
        del sys.modules[name]


def test_metrics_of_a_plug_in_work_by_name_and_alias(lab):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 90)
    a, b = (np.where(rng.random(90) < share, truth, (truth + 1) % 3) for share in (0.8, 0.6))
    asked = {"rope": 0.05, "n_draws": 300, "random_state": 0}
    c = op.compare(truth, a, b, metric="Geometric-Mean", **asked)
    recalls = [(a[truth == k] == k).mean() for k in range(3)]
    assert c.metric == "gmean"
    assert c.a.observed == pytest.approx(np.prod(recalls) ** (1 / 3))
    texts = [f"one two {k % 4}" for k in range(40)]
    kept = op.compare(texts, texts, [text[:7] for text in texts], metric="overlap", **asked)
    assert kept.a.observed == 1
    assert kept.b.observed == pytest.approx(2 / 3)
    grades = rng.normal(size=50)
    found = op.compare(None, grades, grades - 1, metric="trimmed_mean", **asked)
    assert found.a.observed == pytest.approx(np.sort(grades)[5:].mean())
    assert 0.8 < found.mean < 1.2
    assert "gmean" in op.metrics.names()
    assert {"overlap", "trimmed_mean"} < set(op.metrics.score_names())
    with pytest.raises(UsageError, match="did you mean 'gmean'"):
        op.compare(truth, a, b, metric="gmaen", **asked)


def test_a_plug_in_shadows_no_metric_and_a_broken_one_is_named_when_asked_for(lab):
    entries = next(lab.glob("*.dist-info")) / "entry_points.txt"
    more = (
        "f1 = lab_outperform.metrics:GMEAN\nauc = lab_outperform.metrics:GMEAN\ngone = lab:GONE\n"
    )
    text = entries.read_text().replace("[outperform.metrics]\n", f"[outperform.metrics]\n{more}")
    entries.write_text(text)
    _catalogue._entry_points.cache_clear()
    assert op.metrics.get("f1").label == "F1"
    assert op.metrics.get("auc").name == "roc_auc"
    with pytest.raises(UsageError, match="'gone', which lab-outperform adds, cannot be loaded"):
        op.metrics.get("gone")
    assert "gone" not in op.metrics.names()
    _catalogue._entry_points.cache_clear()


def test_the_tests_of_the_page_pass(lab):
    ran = []
    for path in sorted((lab / "tests").glob("test_*.py")):
        module = runpy.run_path(str(path))
        for name, test in module.items():
            if name.startswith("test_"):
                test()
                ran.append(name)
    assert len(ran) == 4


@each(
    ("names", "taken"),
    [({"name": "auc", "aliases": ()}, "auc"), ({"name": "gmean", "aliases": ("F1", "g")}, "F1")],
)
def test_a_metric_with_a_name_or_an_alias_that_is_built_in_is_refused(names, taken):
    metric = replace(op.metrics.get("accuracy"), **names)
    entry = SimpleNamespace(dist=SimpleNamespace(name="lab"), load=lambda: metric)
    message = f"metric {metric.name!r}, which lab adds, has a name or an alias that is built in, "
    with pytest.raises(UsageError, match=f"{message}'{taken}', and .*; rename it"):
        registry.ADDED._load(metric.name, (entry,))
    fine = SimpleNamespace(**{**vars(entry), "load": lambda: replace(metric, name="g", aliases=())})
    assert registry.ADDED._load("g", (fine,)).name == "g"


def test_a_refused_metric_is_logged_where_names_are_listed(lab, caplog):
    entries = next(lab.glob("*.dist-info")) / "entry_points.txt"
    (lab / "lab_outperform" / "taken.py").write_text(
        "from dataclasses import replace\nfrom lab_outperform.metrics import GMEAN\n"
        "AUC = replace(GMEAN, name='auc', aliases=())\n"
    )
    text = entries.read_text().replace(
        "[outperform.metrics]\n", "[outperform.metrics]\nauc = lab_outperform.taken:AUC\n"
    )
    entries.write_text(text)
    _catalogue._entry_points.cache_clear()
    assert "gmean" in op.metrics.names()
    assert "built in, 'auc'" in caplog.text
    assert op.metrics.get("auc").name == "roc_auc"
    _catalogue._entry_points.cache_clear()


@pytest.fixture
def logs(lab):
    """Write logs of three models on two suites."""
    rng = np.random.default_rng(0)
    Path("logs").mkdir()
    for model, share in {"large": 0.8, "small": 0.6, "tiny": 0.4}.items():
        for suite in ("arithmetic", "logic"):
            rows = [
                {
                    "item": f"q{k}",
                    "prompt": f"{suite} {k}?",
                    "expected": str(k),
                    "correct": bool(rng.random() < share),
                    "grade": float(rng.random()),
                    "topic": ("sums", "products")[k % 2],
                }
                for k in range(100)
            ]
            n_correct = sum(row["correct"] for row in rows)
            run = {"lab_run": 7, "model": model, "suite": suite, "n_correct": n_correct}
            text = "".join(json.dumps(line) + "\n" for line in (run, *rows))
            Path("logs", f"{model}-{suite}.lab.jsonl").write_text(text, "utf-8")
    return Path("logs")


def run(capsys, *words):
    code = main([str(word) for word in words])
    return code, capsys.readouterr()


def test_logs_are_read_by_name_and_recognized(logs):
    named, recognized = op.read(logs, format="lab"), op.read(logs)
    assert named.models == ("large", "small", "tiny")
    assert named.n == 200
    assert recognized.tables[0].counts.tolist() == named.tables[0].counts.tolist()
    assert [one.name for one in recognized.findings][:1] == ["logs_recognized"]
    assert "lab" in str(recognized.findings[0])
    other = logs.rename("plain")
    (other / "large-logic.lab.jsonl").rename("unnamed.jsonl")  # now by its first bytes
    assert op.read("unnamed.jsonl").n == 100


def test_every_verb_takes_logs_of_a_plug_in(logs, tmp_path):
    seen = op.read(logs, format="lab")
    asked = {"rope": 0.02, "n_draws": 500, "random_state": 0}
    assert op.compare(seen, "large", "tiny", **asked).decision.name == "BETTER"
    assert op.estimate(seen, "large", n_draws=500).mean == pytest.approx(0.8, abs=0.1)
    assert op.rank(seen, **asked)
    assert op.scorecard(seen, "large", "tiny", metrics=["accuracy"], **asked)
    by_topic = op.read(logs, by="topic").select(["large", "tiny"])
    assert op.compare_slices(by_topic, "large", "tiny", **asked)
    tasks = op.Suite(op.read(logs, by="task"), ropes=0.02)
    assert op.rank(tasks, n_draws=500)
    assert op.gate(seen, "large", "tiny", n_draws=500).passed
    grades = op.read_scores(logs, groups="topic")
    assert op.compare(grades, "large", "tiny", metric="mean", rope=0.05, n_draws=500)
    op.write_report(op.compare(seen, "large", "tiny", **asked), tmp_path / "report.html")


TWO = ("--a", "large", "--b", "small", "--rope", "0.02", "--draws", "500")
COMMANDS = {
    "compare": TWO,
    "rank": ("--rope", "0.02", "--draws", "500", "--by", "task"),
    "scorecard": (*TWO, "--metrics", "accuracy"),
    "estimate": ("--model", "large", "--draws", "500"),
    "slices": (*TWO, "--by", "topic"),
    "gate": ("--candidate", "large", "--baseline", "small", "--draws", "500"),
    "plan": ("--a", "large", "--b", "tiny", "--rope", "0.02", "--simulations", "100"),
    "sensitivity": TWO,
}


def test_every_command_takes_logs_of_a_plug_in(logs, capsys):
    codes = {
        (command, words[:1]): run(capsys, command, logs, *words, *options)[0]
        for command, options in COMMANDS.items()
        for words in (("--read-as", "lab"), ())
    }
    assert set(codes.values()) == {0}, codes


def test_messages_list_what_plug_ins_add(logs, capsys):
    with pytest.raises(UsageError, match="unknown format 'lap'; did you mean 'lab'"):
        op.read(logs, format="lap")
    with pytest.raises(UsageError, match=r"unknown format 'lap'.* helm, long, counted-logs, lab"):
        op.read_scores(logs, format="lap")
    code, told = run(capsys, "compare", logs, "--read-as", "lap", *TWO)
    assert code == 2
    assert "'lab'" in told.err
    with pytest.raises(UsageError, match="unknown kind of database 'lap'; did you mean 'lab'"):
        op.read("lap://run-7", truth="label")


def test_damaged_logs_of_a_plug_in_are_refused_or_left_out(logs):
    path = logs / "tiny-logic.lab.jsonl"
    whole = path.read_text("utf-8")
    for text, fault in {
        whole[:-10]: "line 101 is not a complete line of JSON",
        whole.replace('"n_correct": ', '"n_correct": 9'): "is damaged: it reports",
        whole.replace('"item": "q3"', '"item": 3'): "'item' must be a text; got 3",
        whole.partition("\n")[0]: "has no answers",
        "": "is empty",
    }.items():
        path.write_text(text, "utf-8")
        with pytest.raises(DataError, match=fault):
            op.read(logs, format="lab")
        kept = op.read(logs, format="lab", skip_failed=True, on_missing="drop")
        assert "failed_logs_skipped" in [one.name for one in kept.findings]


def test_what_a_reader_raises_is_told_with_the_file(logs, monkeypatch):
    import lab_outperform.logs as plug_in

    monkeypatch.setattr(plug_in, "get_typed", lambda *_, **__: {}["absent"])
    with pytest.raises(DataError, match="cannot be read as a log of lab: KeyError"):
        op.read(logs, format="lab")


@pytest.fixture
def table(lab, monkeypatch):
    """Write the same predictions where the source looks for them, and as a file of its own kind."""
    rng = np.random.default_rng(0)
    rows = [
        (
            f"{k}",
            str(k % 2),
            *(str(int((k + (rng.random() > s)) % 2)) for s in (0.8, 0.6)),
            f"0.{k}",
        )
        for k in range(100, 200)
    ]
    columns = ("id", "label", "new", "old", "grade")
    lines = [",".join(row) for row in (columns, *rows)]
    Path("run-7.csv").write_text("\n".join(lines) + "\n", "utf-8")
    wide = ["".join(value.ljust(8) for value in row) for row in (columns, *rows)]
    Path("run-7.fixed").write_text("\n".join(wide) + "\n", "utf-8")
    monkeypatch.setenv("LAB_HOME", ".")


def test_every_way_to_a_source_leads_to_the_same_table(table):
    from lab_outperform.sources import Run

    asked = {"truth": "label", "models": ["new", "old"], "id": "id"}
    plain = op.read("run-7.csv", **asked)
    for source in ("lab://run-7", "run-7.fixed", Path("run-7.fixed"), Run("run-7")):
        seen = op.read(source, **asked)
        assert seen.tables[0].counts.tolist() == plain.tables[0].counts.tolist(), source
        scores = op.read_scores(source, models=["grade"], id="id")
        assert scores.n == 100, source
    assert op.read("run-7.fixed", **asked).sources[0].name == "run-7.fixed"


def test_every_command_takes_a_source(table, capsys):
    options = ("--truth", "label", "--a", "new", "--b", "old", "--rope", "0.02", "--draws", "500")
    for source in ("lab://run-7", "run-7.fixed"):
        assert run(capsys, "compare", source, *options)[0] == 0
        code, told = run(capsys, "compare", source, "--a", "new", "--b", "old")
        assert code == 2, told.err
        assert "--truth" in told.err
        gate = ("--truth", "label", "--candidate", "new", "--baseline", "old", "--draws", "500")
        assert run(capsys, "gate", source, *gate)[0] in (0, 1, 4)


def test_what_a_source_raises_is_told_with_its_address(table, monkeypatch):
    monkeypatch.delenv("LAB_HOME")
    with pytest.raises(DataError, match="lab://run-7 cannot be opened by the source 'lab': KeyErr"):
        op.read("lab://run-7", truth="label")


SECRET = "postgresql://user:hunter2@host/db"


@each(
    "fault",
    [
        ValueError(f"cannot connect to {SECRET}"),
        DataError(f"no table in {SECRET}"),
        ValueError("the password hunter2 is wrong"),
        None,
    ],
)
def test_passwords_of_a_source_are_masked(fault):
    def open_it(source):
        if fault is None:
            return SECRET
        raise fault

    source = Source(name="lab", open=open_it, schemes=("postgresql",))
    with pytest.raises((DataError, UsageError)) as caught:
        source.open_checked(SECRET)
    text = "".join(traceback.format_exception(caught.value))
    assert "hunter2" not in text
    assert "host/db" in text or "***" in text


def test_a_fault_without_a_password_keeps_its_cause():
    def open_it(source):
        raise ValueError("no such run")

    with pytest.raises(DataError, match="ValueError: no such run") as caught:
        Source(name="lab", open=open_it, schemes=("lab",)).open_checked("lab://run")
    assert isinstance(caught.value.__cause__, ValueError)


def test_formats_of_plug_ins_are_in_the_help(lab, capsys):
    text = run(capsys, "compare", "--help-all")[1].out.replace("│", " ")
    assert "From plug-ins: lab." in " ".join(text.split())


def test_plug_ins_are_not_looked_for_where_all_is_built_in(table, monkeypatch):
    def refuse(*_):
        raise AssertionError("plug-ins were looked for")

    monkeypatch.setattr(_catalogue, "_entry_points", refuse)
    asked = {"truth": "label", "models": ["new", "old"]}
    op.read("run-7.csv", format="csv", **asked)
    deepeval = Path(__file__).parent / "io" / "evaluations" / "deepeval" / "two"
    op.read(deepeval)  # recognized
    labels = [0, 1, 1, 2] * 5
    op.compare(labels, labels, labels[::-1], metric="macro_f1", rope=0.01, n_draws=100).by_class()
    op.estimate([0, 1] * 9, np.linspace(0, 1, 18), metric="auc", n_draws=100)
    with pytest.raises(AssertionError):
        op.read("run-7.csv", **asked)


def test_a_broken_plug_in_stops_nobody_else(table, lab):
    (lab / "lab_outperform" / "logs.py").write_text("import absent_module\n")
    assert op.read("run-7.csv", truth="label", models=["new", "old"]).n == 100
    with pytest.raises(UsageError, match="which lab-outperform adds, cannot be loaded: ModuleNot"):
        op.read("run-7.csv", format="lab")
