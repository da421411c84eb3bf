"""``op.mlflow.log`` against a real store in a file of SQLite."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import outperform as op
from outperform.errors import UsageError

mlflow = pytest.importorskip("mlflow")
pytest.importorskip("sqlalchemy")
pytest.importorskip("alembic")

# What other packages warn of is not ours.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{folder / 'runs.db'}")
    mlflow.create_experiment("gates", artifact_location=(folder / "files").as_uri())
    mlflow.set_experiment("gates")
    return folder


@pytest.fixture(scope="module")
def seen():
    right = {"<new>": 270, "old": 240}
    return op.Outcomes.from_correct(
        {name: [1] * count + [0] * (300 - count) for name, count in right.items()}
    )


def logged(result, **options):
    """Log in a run of its own, and read it back from the store."""
    with mlflow.start_run() as run:
        op.mlflow.log(result, **options)
    return mlflow.MlflowClient().get_run(run.info.run_id)


def file_of(run, name):
    path = mlflow.MlflowClient().download_artifacts(run.info.run_id, name)
    return Path(path).read_text(encoding="utf-8")


def test_a_comparison_comes_back(store, seen):
    c = op.compare(seen, "<new>", "old", metric="accuracy", rope=0.01, random_state=0)
    run = logged(c)
    metrics, tags = run.data.metrics, run.data.tags
    assert metrics["outperform.difference"] == c.mean
    assert metrics["outperform.hdi_low"] == c.hdi.low
    shares = [metrics[f"outperform.p_{name}"] for name in ("worse", "equivalent", "better")]
    assert sum(shares) == pytest.approx(1)
    assert tags["outperform.decision"] == "better"
    assert tags["outperform.a"] == "<new>"
    assert tags["outperform.signature"] == c.signature
    assert json.loads(file_of(run, "outperform.json")) == json.loads(json.dumps(c.to_dict()))
    page = file_of(run, "outperform.html")
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "<new>" not in page


def test_a_gate_with_guards_under_a_key_of_its_own(store, seen):
    truth = ["ham", "spam"] * 100
    g = op.gate(
        truth, truth, ["ham", "ham"] * 100, metric="accuracy", rope=0.01,
        guards=[("recall", "spam", 0.02)],
    )  # fmt: skip
    run = logged(g, key="gates.nightly")
    assert run.data.tags["gates.nightly.judgement"] == "pass"
    assert run.data.tags["gates.nightly.guard_1.metric"] == "recall"
    assert run.data.metrics["gates.nightly.guard_1.difference"] == g.guards[0].mean
    assert '"kind": "gate"' in file_of(run, "gates.nightly.json")


def test_any_other_result_is_two_files(store, seen):
    run = logged(op.rank(seen, metric="accuracy", rope=0.01, random_state=0))
    assert run.data.metrics == {}
    names = {one.path for one in mlflow.MlflowClient().list_artifacts(run.info.run_id)}
    assert names == {"outperform.json", "outperform.html"}


def test_a_key_that_is_no_name_is_refused(store, seen):
    c = op.compare(seen, "<new>", "old", metric="accuracy", rope=0.01, random_state=0)
    with pytest.raises(UsageError, match="key must be words"):
        op.mlflow.log(c, key="../secret")
