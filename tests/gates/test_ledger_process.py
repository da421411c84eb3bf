"""Ledgers where releases did not pass, names repeat, and the candidate was chosen from many."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import outperform as op
from outperform.errors import DataError, UsageError
from outperform.gates.levels import least_items, levels_of


def right(shares, n, seed=0):
    """Return models that are right in exactly these shares of the items, in random places."""
    generator = np.random.default_rng(seed)
    places = {name: generator.permutation(n) for name in shares}
    return op.Outcomes.from_correct(
        {name: places[name] < round(share * n) for name, share in shares.items()}
    )


def anchored(gate):
    (check,) = [one for one in gate.checks if isinstance(one, op.results.AnchorCheck)]
    return check


def test_a_release_that_did_not_pass_stays_in_the_chain(tmp_path):
    path, lost = tmp_path / "gates.jsonl", []
    for release in range(9):
        old, new = f"v{release}", f"v{release + 1}"
        shares = {new: 0.9 - 0.006 * (release + 1), old: 0.9 - 0.006 * release}
        asked = {"metric": "accuracy", "rope": 0.01, "ledger": path}
        gate = op.gate(right(shares, 20_000, seed=release), new, old, **asked)
        check = anchored(gate)
        assert check.anchor == "v0"
        lost.append(-check.contrast.mean)
    # Every link is 0.006, more or less by what the selection of those that passed explains.
    assert np.all(np.diff(lost) > 0)
    assert lost[-1] > 0.8 * 9 * 0.006
    assert gate.status is op.results.GateStatus.FAIL


def test_names_must_belong_to_one_model(tmp_path):
    path = tmp_path / "gates.jsonl"
    asked = {"metric": "accuracy", "rope": 0.05, "ledger": path}
    with pytest.raises(UsageError, match="needs the names of the models"):
        op.gate([1, 0] * 50, [1, 0] * 50, [1, 1] * 50, **asked)
    shares = {"new": 0.9, "old": 0.8}
    assert op.gate(right(shares, 1_000), "new", "old", **asked).status.value == "pass"
    op.gate(right(shares, 1_000), "new", "old", **asked)  # the same items again
    with pytest.raises(UsageError, match="a name of its own"):
        op.gate(right(shares, 1_100), "new", "old", **asked)


def test_the_anchor_of_a_chosen_candidate_has_the_wider_interval(tmp_path):
    seen = right({"new": 0.9, "old": 0.88, "v0": 0.89}, 3_000)
    widths = []
    for chosen in (None, 50, seen.select(["new", "old"])):
        path = tmp_path / f"{len(widths)}.jsonl"
        asked = {"metric": "accuracy", "rope": 0.01, "ledger": path, "random_state": 0}
        op.gate(seen, "old", "v0", **asked)
        gate = op.gate(seen, "new", "v0" if chosen is None else "old", chosen_from=chosen, **asked)
        widths.append(anchored(gate).contrast.hdi.width)
    assert widths[1] > 1.2 * widths[0]
    assert widths[2] > widths[0]


def test_a_level_of_a_chosen_candidate_divides_the_error():
    (level,) = levels_of(at_least=0.9)
    n = least_items(level, 0.95)
    seen = op.Outcomes.from_correct({"new": np.ones(n, dtype=int)})
    asked = {"metric": "accuracy", "at_least": 0.9}
    assert op.gate(seen, "new", **asked).status.value == "pass"
    assert op.gate(seen, "new", chosen_from=2, **asked).status.value == "undecided"
    more = least_items(level, 1 - 0.05 / 20)
    seen = op.Outcomes.from_correct({"new": np.ones(more, dtype=int)})
    assert op.gate(seen, "new", chosen_from=20, **asked).status.value == "pass"
    seen = op.Outcomes.from_correct({"new": np.ones(more - 1, dtype=int)})
    assert op.gate(seen, "new", chosen_from=20, **asked).status.value == "undecided"


def test_every_argument_of_a_process_works_together(tmp_path):
    seen = right({"new": 0.9, "old": 0.85}, 2_000)
    asked = {"rope": 0.01, "at_least": 0.85, "ledger": tmp_path / "gates.jsonl"}
    gate = op.gate(seen, "new", "old", metric="accuracy", chosen_from=20, **asked)
    assert len(gate.checks) == 3
    assert gate.status.value == "pass"


def test_scores_are_known_by_their_ids(tmp_path):
    grades = {"new": np.arange(30) % 5 / 5, "old": np.arange(30) % 4 / 4}
    ledger = op.Ledger(tmp_path / "gates.jsonl")
    first, other = (
        op.Scores.from_values(grades, ids=[f"{letter}{k}" for k in range(30)]) for letter in "ab"
    )
    op.gate(first, "new", "old", metric="mean", rope=0.05, ledger=ledger)
    assert (ledger.looks(first), ledger.looks(other)) == (1, 0)


def test_a_folder_is_no_ledger(tmp_path):
    with pytest.raises(DataError, match="cannot read the ledger"):
        _ = op.Ledger(tmp_path).anchor


def test_a_level_beyond_the_grades_is_a_level():
    seen = op.Scores.from_values({"new": np.linspace(0, 0.6, 50)})
    assert op.gate(seen, "new", metric="mean", at_most=2.0).status.value == "pass"


def _answers(rng, truth, accuracy=0.8):
    other = np.where(truth == "x", "y", "x")
    return np.where(rng.random(truth.size) < accuracy, truth, other)


def test_guards_of_a_chosen_candidate_are_widened_at_both_ends():
    rng = np.random.default_rng(0)
    truth = np.where(rng.random(400) < 0.5, "x", "y")
    models = {name: _answers(rng, truth) for name in ("old", *"abcdef")}
    seen = op.Outcomes.from_labels(truth, models)
    new = max("abcdef", key=lambda name: (models[name] == truth).mean())
    guards = [op.results.Guard(metric="f1_macro", rope=0.05)]
    alone = op.compare(seen, new, "old", metric="f1_macro")
    for chosen in (6, seen):
        gate = op.gate(seen, new, "old", metric="accuracy", guards=guards, chosen_from=chosen)
        guard = gate.guards[0]
        assert gate.main.selection.is_best
        assert not guard.selection.is_best
        assert "not_the_best_candidate" not in {one.name for one in guard.findings}
        assert guard.hdi.low < alone.eti.low - 0.005
        assert guard.hdi.high > alone.eti.high + 0.005


def test_guard_that_the_choice_works_against_is_wrong_as_rarely_as_stated():
    rng, n_gates, k = np.random.default_rng(1), 200, 10
    # Whoever has the most right answers has the highest cost, although all models are equal.
    price = op.metrics.cost({("x", "x"): 1.0, ("y", "y"): 1.0})
    wrong = 0
    for _ in range(n_gates):
        truth = np.where(rng.random(300) < 0.5, "x", "y")
        other = np.where(truth == "x", "y", "x")
        models = {str(name): np.where(rng.random(300) < 0.8, truth, other) for name in range(k + 1)}
        best = max(list(models)[1:], key=lambda name: (models[name] == truth).mean())
        seen = op.Outcomes.from_labels(truth, {best: models[best], "old": models["0"]})
        guards = [op.results.Guard(metric=price, rope=1e-6)]
        gate = op.gate(
            seen, best, "old", metric="accuracy", guards=guards, chosen_from=k, n_draws=1_000
        )
        wrong += gate.guards[0].hdi.low > 0
    assert wrong <= stats.binom(n_gates, 0.025).ppf(0.999)
