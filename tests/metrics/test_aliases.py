"""Metrics by the other names that people use."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import outperform as op
from outperform.cli.main import main
from outperform.metrics.catalogue import METRICS
from outperform.metrics.registry import find

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"
USUAL = {
    "acc": "accuracy",
    "F1": "f1",
    "macro_f1": "f1_macro",
    "Macro-F1": "f1_macro",
    "micro_f1": "f1_micro",
    "weighted_f1": "f1_weighted",
    "macro_f2": "f2_macro",
    "sensitivity_macro": "recall_macro",
    "mcc": "matthews_corrcoef",
    "kappa": "cohen_kappa",
    "kappa_linear": "cohen_kappa_linear",
    "QWK": "cohen_kappa_quadratic",
    "samples_f1": "f1_samples",
    "AUC": "roc_auc",
    "auc_ovr": "roc_auc_ovr",
    "AP": "average_precision",
    "logloss": "log_loss",
    "log_loss": "log_loss",
    "brier": "brier_score",
    "neg_brier_score": "neg_brier_score",
    "RMSE": "rmse",
    "mean_absolute_error": "mae",
    "r2_score": "r2",
    "NDCG@10": "ndcg@10",
    "ECE_10": "ece_10",
}


def of_page() -> dict[str, str]:
    text = PAGE.read_text(encoding="utf-8").partition("## Aliases")[2].partition("\n## ")[0]
    rows = re.findall(r'^\| "([^"]+)" \| (.*) \|$', text, flags=re.MULTILINE)
    return {alias: name for name, cell in rows for alias in re.findall("`([^`]+)`", cell)}


def test_aliases_names_and_other_cases_find_the_metric():
    asked = USUAL | of_page() | {name: name for name in METRICS}
    asked |= {alias.upper(): name for alias, name in asked.items()}
    found = {alias: getattr(find(alias), "name", None) for alias in asked}
    assert found == asked


def test_the_page_lists_every_alias():
    from outperform.metrics.catalogue import ALIASES

    assert of_page() == {alias: name for name, some in ALIASES.items() for alias in some}
    assert not set(of_page()) & set(METRICS)


def test_what_is_no_alias_is_unknown():
    wrong = ["", "macro", "macro_", "weighted_acc", "f0", "auc_macro", "f1-macro-f1", "zzz"]
    assert [find(name) for name in wrong] == [None] * len(wrong)


def labels():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 60)
    return truth, *(np.where(rng.random(60) < 0.8, truth, 1 - truth) for _ in "ab")


def test_results_print_the_name_of_the_registry():
    truth, a, b = labels()
    rng = np.random.default_rng(1)
    scores = [rng.random(60) * 0.5 + 0.4 * truth for _ in "ab"]
    more = {"rope": 0.01, "n_draws": 200, "random_state": 0}
    for alias, name in (("macro-F1", "f1_macro"), ("mcc", "matthews_corrcoef"), ("AUC", "roc_auc")):
        given = scores if name == "roc_auc" else [a, b]
        asked = op.compare(truth, *given, metric=alias, **more)
        assert asked.to_dict() == op.compare(truth, *given, metric=name, **more).to_dict()
        assert asked.metric == name
    card = op.scorecard(truth, a, b, metrics=["acc", "F1"], **more)
    assert [c.metric for c in card] == ["accuracy", "f1"]
    costs = op.Scores.from_statistics(
        {"a": rng.random((9, 2)), "b": rng.random((9, 2))}, columns=("seconds", "tokens")
    )
    assert (
        op.compare(costs, "a", "b", metric="Mean_Cost:tokens", **more).metric == "mean_cost:tokens"
    )


@pytest.fixture
def file(tmp_path, monkeypatch):
    truth, a, b = labels()
    rows = "\n".join(f"{t},{x},{y}" for t, x, y in zip(truth, a, b, strict=True))
    (tmp_path / "p.csv").write_text(f"truth,a,b\n{rows}\n")
    monkeypatch.chdir(tmp_path)
    return "p.csv"


def test_the_command_line_takes_aliases(file, capsys):
    options = ["--truth", "truth", "--draws", "500", "--format", "json"]
    main(["compare", file, *options, "--a", "a", "--b", "b", "--metric", "ACC", "--rope", "0.01"])
    assert json.loads(capsys.readouterr().out)["metric"] == "accuracy"
    guards = ["--guard", "sensitivity:1:0.3", "--guard", "mcc:0.3"]
    main(["gate", file, *options, "--baseline", "a", "--candidate", "b", "--metric", "F1", *guards])
    gate = json.loads(capsys.readouterr().out)
    text = json.dumps(gate)
    assert all(f'"metric": "{name}"' in text for name in ("f1", "recall", "matthews_corrcoef"))
    assert "sensitivity" not in text
    main(["explain", "AUC"])
    assert "roc_auc" in capsys.readouterr().out
