"""``op.mlflow.log`` against a real store in a file of SQLite."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import outperform as op
from outperform.errors import UsageError

# What other packages warn of is not ours.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def mlflow(tmp_path_factory):
    """Return the module, loaded when a test needs it, with a store of its own."""
    mlflow = pytest.importorskip("mlflow")
    pytest.importorskip("sqlalchemy")
    pytest.importorskip("alembic")
    folder = tmp_path_factory.mktemp("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{folder / 'runs.db'}")
    mlflow.create_experiment("gates", artifact_location=(folder / "files").as_uri())
    mlflow.set_experiment("gates")
    return mlflow


@pytest.fixture(scope="module")
def seen():
    right = {"<new>": 270, "old": 240}
    return op.Outcomes.from_correct(
        {name: [1] * count + [0] * (300 - count) for name, count in right.items()}
    )


def logged(mlflow, result, **options):
    """Log in a run of its own, and read it back from the store."""
    with mlflow.start_run() as run:
        op.mlflow.log(result, **options)
    return mlflow.MlflowClient().get_run(run.info.run_id)


def file_of(mlflow, run, name):
    path = mlflow.MlflowClient().download_artifacts(run.info.run_id, name)
    return Path(path).read_text(encoding="utf-8")


def test_a_comparison_comes_back(mlflow, seen):
    c = op.compare(seen, "<new>", "old", metric="accuracy", rope=0.01, random_state=0)
    run = logged(mlflow, c)
    metrics, tags = run.data.metrics, run.data.tags
    assert metrics["outperform.difference"] == c.mean
    assert metrics["outperform.hdi_low"] == c.hdi.low
    shares = [metrics[f"outperform.p_{name}"] for name in ("worse", "equivalent", "better")]
    assert sum(shares) == pytest.approx(1)
    assert tags["outperform.decision"] == "better"
    assert tags["outperform.a"] == "<new>"
    assert tags["outperform.signature"] == c.signature
    written = json.loads(file_of(mlflow, run, "outperform.json"))
    assert written == json.loads(json.dumps(c.to_dict()))
    page = file_of(mlflow, run, "outperform.html")
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "<new>" not in page


def test_a_gate_with_guards_under_a_key_of_its_own(mlflow, seen):
    truth = ["ham", "spam"] * 100
    g = op.gate(
        truth, truth, ["ham", "ham"] * 100, metric="accuracy", rope=0.01,
        guards=[("recall", "spam", 0.02)],
    )  # fmt: skip
    run = logged(mlflow, g, key="gates.nightly")
    assert run.data.tags["gates.nightly.status"] == "pass"
    assert run.data.tags["gates.nightly.guard_1.metric"] == "recall"
    assert run.data.metrics["gates.nightly.guard_1.difference"] == g.guards[0].mean
    assert '"kind": "gate"' in file_of(mlflow, run, "gates.nightly.json")


def test_any_other_result_is_two_files(mlflow, seen):
    run = logged(mlflow, op.rank(seen, metric="accuracy", rope=0.01, random_state=0))
    assert run.data.metrics == {}
    names = {one.path for one in mlflow.MlflowClient().list_artifacts(run.info.run_id)}
    assert names == {"outperform.json", "outperform.html"}


def test_a_key_that_is_no_name_is_refused(mlflow, seen):
    c = op.compare(seen, "<new>", "old", metric="accuracy", rope=0.01, random_state=0)
    with pytest.raises(UsageError, match="key must consist of names"):
        op.mlflow.log(c, key="../secret")
