"""What ``to_dict`` returns is what its schema says, and the schemas are made of the types."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import outperform as op
from outperform.errors import UsageError
from outperform.results.schemas import Kind
from tests.loops import each

ROOT = Path(__file__).parents[2]
SCRIPT = importlib.util.spec_from_file_location("make_schemas", ROOT / "scripts/make_schemas.py")
MAKER = importlib.util.module_from_spec(SCRIPT)
SCRIPT.loader.exec_module(MAKER)

RNG = np.random.default_rng(5)
N = 120
TRUTH = RNG.integers(2, size=N)
CLASSES = RNG.choice(["x", "y", "z"], size=N)


def answers(truth, accuracy):
    """Return what a model of some accuracy says."""
    return np.where(RNG.random(N) < accuracy, truth, RNG.permutation(truth))


A, B, C = (answers(TRUTH, share) for share in (0.9, 0.7, 0.5))
X, Y, Z = (answers(CLASSES, share) for share in (0.9, 0.7, 0.5))
GROUPS = np.arange(N) // 4
DAYS = np.array(["Mon", "Tue", "Wed"])[np.arange(N) % 3]
FEW = {"rope": 0.01, "n_draws": 500, "random_state": 1}
BINARY = op.Outcomes.from_labels(TRUTH, {"a": A, "b": B})
SPANS = op.Outcomes.from_tags(
    [["B-X", "O"], ["B-Y", "O"], ["O", "O"]] * 20,
    {
        "a": [["B-X", "O"], ["B-Y", "O"], ["O", "O"]] * 20,
        "b": [["B-X", "O"], ["O", "O"], ["O", "B-X"]] * 20,
    },
    scheme="IOB2",
)
SETS = op.Outcomes.from_label_sets(
    [{"s"}, {"s", "m"}, set()] * 20, {"a": [{"s"}, {"m"}, set()] * 20, "b": [{"s"}] * 60}
)
WORLD = {"11": 0.6, "10": 0.2, "01": 0.1, "00": 0.1}
FOLDS = ([[40, 10, 5]] * 6, [[35, 12, 10]] * 6)


def compare(*given, **asked):
    """Compare, with few draws."""
    return op.compare(*given, **FEW | asked)


def costs():
    """Return a comparison of costs, which has no default ROPE."""
    metric = op.metrics.cost({("x", "y"): 3.0}, unit="EUR")
    return compare(CLASSES, X, Y, metric=metric, rope=0.1)


def monitor(folder):
    """Return a monitor after two looks."""
    found = op.Monitor(folder, "a", "b", metric="accuracy", rope=0.05, stop="decision", n_draws=500)
    for batch in (1, 2):
        found.add(BINARY, key=f"batch {batch}")
    return found


SUITE = op.Suite({"one": BINARY, "two": BINARY}, metrics="accuracy", ropes=0.01)


def noise():
    """Return the noise between two runs."""
    return op.noise_floor({"a": A == TRUTH, "b": B == TRUTH}, n_draws=500, random_state=0)


RESULTS = {
    "comparison of two classes": lambda: compare(BINARY, "a", "b"),
    "comparison of classes": lambda: compare(CLASSES, X, Y),
    "comparison of one class": lambda: compare(CLASSES, X, Y, metric="f1", pos_label="x"),
    "comparison of spans": lambda: compare(SPANS, "a", "b"),
    "comparison of label sets": lambda: compare(SETS, "a", "b"),
    "comparison of scores": lambda: compare(TRUTH, A * 0.8, B * 0.6, metric="roc_auc"),
    "comparison of groups": lambda: compare(TRUTH, A, B, groups=GROUPS),
    "comparison of weights": lambda: compare(TRUTH, A, B, sample_weight=1.0 + TRUTH),
    "comparison of costs": costs,
    "comparison elsewhere": lambda: compare(BINARY.at_prevalence({1: 20, 0: 80}), "a", "b"),
    "comparison of a pool": lambda: compare(
        op.Outcomes.from_pool(TRUTH[:60], {"a": A, "b": B}, which=range(60)), "a", "b"
    ),
    "comparison of nothing known": lambda: compare(TRUTH, A, A),
    "comparison of folds": lambda: op.compare_cv_counts(*FOLDS, rope=0.01, n_draws=500),
    "comparison of runs": lambda: op.compare_runs(TRUTH, [A, B], [B, C], **FEW),
    "comparison of fold scores": lambda: op.compare_cv_scores(
        [[0.5, 0.6, 0.7, 0.9]] * 2,
        [[0.6, 0.5, 0.8, 0.7]] * 2,
        folds=4,
        datasets=2,
        rope=0.01,
        n_draws=640,
    ),
    "estimate": lambda: op.estimate(BINARY, "a", n_draws=500),
    "estimate of folds": lambda: op.estimate_cv_counts(FOLDS[0], n_draws=500),
    "estimate of runs": lambda: op.compare_runs(TRUTH, [A, B], [C], **FEW).b,
    "comparisons by metric": lambda: op.scorecard(TRUTH, A, B, metrics=["f1", "accuracy"], **FEW),
    "joint": lambda: op.scorecard(TRUTH, A, B, metrics=["recall", "precision"], **FEW).joint(
        "recall", "precision"
    ),
    "curve": lambda: compare(TRUTH, A * 0.8, B * 0.6, metric="roc_auc").curve("roc"),
    "ratio": lambda: compare(BINARY, "a", "b").ratio(rope=0.05),
    "comparisons by class": lambda: compare(CLASSES, X, Y).by_class(),
    "noise": noise,
    "diagnosis": lambda: op.doctor(ROOT / "tests/corpus/7e908e4/days/day-0.csv"),
    "design": lambda: noise().plan(item_price=1.0, trial_price=0.1, budget=500.0),
    "front": lambda: op.rank(TRUTH, {"a": A, "b": B, "c": C}, **FEW | {"metric": "recall"}).front(
        "recall", "precision"
    ),
    "ranking": lambda: op.rank(TRUTH, {"a": A, "b": B, "c": C}, **FEW),
    "suite": lambda: op.compare(SUITE, "a", "b", n_draws=500),
    "suite_ranking": lambda: op.rank(SUITE, n_draws=500),
    "gate of a suite": lambda: op.gate(SUITE, "a", "b", n_draws=500),
    "ranking of scores": lambda: op.rank(
        TRUTH, {"a": A * 0.8, "b": B * 0.6}, metric="roc_auc", **FEW
    ),
    "slices": lambda: op.compare_slices(
        op.Outcomes.from_labels(TRUTH, {"a": A, "b": B}, by={"day": DAYS}), "a", "b", **FEW
    ),
    "sensitivity": lambda: compare(BINARY, "a", "b").sensitivity(ropes=[0.01, 0.02]),
    "gate": lambda: op.gate(CLASSES, X, Y, guards=[("recall", "x", 0.02)], **FEW),
    "gate of a level": lambda: op.gate(CLASSES, X, at_least=0.1, n_draws=200),
    "ledger": lambda: op.Ledger("none.jsonl"),
    "gate that fails": lambda: op.gate(BINARY, "b", "a", require="better", **FEW),
    "plan": lambda: compare(BINARY, "a", "b", rope=0.1).more_data(),
    "power": lambda: op.power(
        theta_pos=WORLD, theta_neg=WORLD, prevalence=0.5, sizes=[100, 200], n_simulations=100
    ),
    "proposal": lambda: op.propose(A, B, budget=20, random_state=1),
    "proposal with a judge": lambda: op.propose(A, B, judge=TRUTH, budget=20, random_state=1),
    "proposal of verdicts": lambda: op.propose(A, B, verdicts=True, budget=20, random_state=1),
    "items": lambda: compare(CLASSES, X, Y).item_table(columns={"day": DAYS}),
    "items of label sets": lambda: compare(SETS, "a", "b").item_table(which="all"),
    "items of scores": lambda: compare(None, A + 0.5, B, metric="mean").item_table(),
    "fragility": lambda: compare(TRUTH, A, B, metric="accuracy", rope=0.05).fragility(),
    "fragility of right and wrong": lambda: compare(
        op.Outcomes.from_correct({"a": TRUTH == A, "b": TRUTH == C}), "a", "b", rope=0.1
    ).fragility(),
    "coverage": lambda: compare(CLASSES, X, Y, metric="f1_macro").expected_coverage(),
    "coverage outside of the map": lambda: compare(TRUTH[:8], A[:8], B[:8]).expected_coverage(),
    "outcomes": lambda: BINARY,
    "outcomes of spans": lambda: SPANS,
    "outcomes of label sets": lambda: SETS,
    "outcomes of groups": lambda: op.Outcomes.from_labels(TRUTH, {"a": A}, groups=GROUPS),
    "outcomes of weights": lambda: op.Outcomes.from_labels(
        TRUTH, {"a": A}, sample_weight=0.5 + TRUTH
    ),
    "outcomes of slices": lambda: op.Outcomes.from_labels(TRUTH, {"a": A}, by={"day": DAYS}),
    "outcomes elsewhere": lambda: BINARY.at_prevalence(0.1),
    "outcomes counted elsewhere": lambda: BINARY.at_prevalence({1: 20, 0: 80}),
    "outcomes of a pool": lambda: op.Outcomes.from_pool(
        TRUTH[:60], {"a": A, "b": B}, which=range(60)
    ),
}


def checked(kind, facts):
    """Validate plain values after they were written and read."""
    # Loading it takes three seconds, which a run of other tests need not wait for.
    from jsonschema import Draft202012Validator

    written = json.loads(json.dumps(facts, allow_nan=False))
    Draft202012Validator(op.results.json_schema(kind)).validate(written)


@each("kind", MAKER.CLASSES)
def test_the_schemas_are_made_of_the_types(kind):
    from jsonschema import Draft202012Validator

    file = ROOT / "src/outperform/results/json_schemas" / f"{kind}.json"
    assert file.read_text(encoding="utf-8") == MAKER.text_of(kind), "run scripts/make_schemas.py"
    Draft202012Validator.check_schema(op.results.json_schema(kind))


@each("name", RESULTS)
def test_results_are_what_their_schema_says(name):
    kind, facts = name.split()[0], RESULTS[name]().to_dict()
    assert facts["kind"] == kind or kind == "outcomes"
    checked(kind, facts)


def test_a_monitor_is_what_its_schema_says(tmp_path):
    checked("monitor", op.Monitor(tmp_path, "a", "b").to_dict())
    checked("monitor", monitor(tmp_path / "some").to_dict())


def test_a_ledger_is_what_its_schema_says(tmp_path):
    path = tmp_path / "gates.jsonl"
    outcomes = op.Outcomes.from_labels(CLASSES, {"x": X, "y": Y})
    gate = op.gate(outcomes, "x", "y", ledger=path, **FEW)
    checked("gate", gate.to_dict())
    op.gate(outcomes, "x", at_least=0.1, ledger=path, n_draws=200)
    checked("ledger", op.Ledger(path).to_dict())


def test_every_kind_is_checked():
    assert {name.split()[0] for name in RESULTS} | {"monitor"} == set(get_args(Kind))


@pytest.mark.parametrize(
    "change", [{"mean": "0.1"}, {"surprise": 1}, {"rope": {"low": 0}}, {"kind": "estimate"}]
)
def test_other_values_are_refused(change):
    from jsonschema import ValidationError

    facts = compare(BINARY, "a", "b").to_dict()
    with pytest.raises(ValidationError):
        checked("comparison", {**facts, **change})


def test_what_is_missing_is_refused():
    from jsonschema import ValidationError

    facts = compare(BINARY, "a", "b").to_dict()
    with pytest.raises(ValidationError, match="'decision' is a required property"):
        checked("comparison", {name: facts[name] for name in facts if name != "decision"})


def test_other_kinds_are_refused():
    with pytest.raises(UsageError, match="did you mean 'ranking'"):
        op.results.json_schema("rankings")
