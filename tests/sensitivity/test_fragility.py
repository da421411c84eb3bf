"""How many gold labels would have to be wrong, against every table that fewer would give."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement

import numpy as np
import pytest

import outperform as op
from outperform.errors import UsageError
from outperform.sensitivity.fragility import _cost
from tests.loops import each

Cell = tuple[object, ...]


def outcomes(counts: dict[Cell, int], *, correct: bool) -> op.Outcomes:
    cells = [cell for cell, n in counts.items() if n]
    if correct:
        bits = [np.repeat([cell[k] for cell in cells], [counts[c] for c in cells]) for k in (0, 1)]
        return op.Outcomes.from_correct({"a": bits[0], "b": bits[1]})
    truth, a, b = zip(*cells, strict=True)
    return op.Outcomes.from_counts(truth, {"a": a, "b": b}, [counts[cell] for cell in cells])


def relabelled(counts: dict[Cell, int], k: int, *, correct: bool) -> Iterator[dict[Cell, int]]:
    """Yield every table that k changed gold labels give, no label being changed twice."""
    if correct:
        ends = ((1, 1), (1, 0), (0, 1), (0, 0))
        moves = [(one, two) for one in counts for two in ends if one != two]
        # Whoever was right with the wrong label is wrong with another one.
        moves = [(one, two) for one, two in moves if 1 not in np.multiply(one, two)]
    else:
        classes = {cell[0] for cell in counts}
        moves = [(cell, (other, *cell[1:])) for cell in counts for other in classes - {cell[0]}]
    for chosen in combinations_with_replacement(moves, k):
        left, after = dict(counts), dict(counts)
        for start, stop in chosen:
            left[start] -= 1
            after[start] -= 1
            after[stop] = after.get(stop, 0) + 1
        if min(left.values()) >= 0:
            yield after


TABLES = [
    (True, {(1, 1): 60, (1, 0): 16, (0, 1): 3, (0, 0): 4}, 0.01),
    (True, {(1, 1): 40, (1, 0): 2, (0, 1): 12, (0, 0): 3}, 0.02),
    (False, {(0, 0, 0): 30, (1, 1, 1): 20, (0, 0, 1): 14, (1, 0, 1): 2, (1, 1, 0): 1}, 0.02),
    (False, {(1, 1, 1): 50, (0, 0, 0): 50, (1, 1, 0): 7, (0, 1, 0): 7}, 0.05),
]


@pytest.mark.parametrize(("correct", "counts", "rope"), TABLES)
def test_no_fewer_labels_change_the_decision_and_these_do(correct, counts, rope):
    known: dict[object, op.Decision] = {}

    def decision(table: dict[Cell, int]) -> op.Decision:
        key = tuple(sorted((cell, n) for cell, n in table.items() if n))
        if key not in known:
            seen = outcomes(table, correct=correct)
            found = op.compare(seen, "a", "b", metric="accuracy", rope=rope, n_draws=100)
            known[key] = found.decision
        return known[key]

    c = op.compare(
        outcomes(counts, correct=correct), "a", "b", metric="accuracy", rope=rope, n_draws=100
    )
    found = c.fragility()
    assert c.exact
    assert found.exact
    assert found.decision is c.decision
    fewest = next(
        k
        for k in range(1, 5)
        if any(decision(one) is not c.decision for one in relabelled(counts, k, correct=correct))
    )
    assert found.n == fewest
    assert sum(one.n for one in found.changes) == fewest
    after = dict(counts)
    for one in found.changes:
        start = (one.a, one.b) if correct else (one.truth, one.a, one.b)
        stop = one.to if correct else (one.to, one.a, one.b)
        after[start] -= one.n
        after[stop] = after.get(stop, 0) + one.n
    assert decision(after) is found.other is not c.decision


def small_table(seed: int) -> dict[Cell, int]:
    """Return right and wrong of a few items, on some of which the models differ."""
    sizes = np.random.default_rng(seed).integers([5, 0, 0, 0], [40, 14, 14, 8])
    cells = ((1, 1), (1, 0), (0, 1), (0, 0))
    return {cell: int(n) for cell, n in zip(cells, sizes, strict=True) if n}


@pytest.mark.slow
@each("seed", range(200))
def test_the_number_is_that_of_brute_force(seed):
    """Every table that up to three other labels give; the number is right, or at least four."""
    counts, asked = small_table(seed), {"metric": "accuracy", "rope": 0.02, "n_draws": 100}

    def decision(table: dict[Cell, int]) -> op.Decision:
        left = {cell: n for cell, n in table.items() if n}
        return op.compare(outcomes(left, correct=True), "a", "b", **asked).decision

    c = op.compare(outcomes(counts, correct=True), "a", "b", **asked)
    found, seen = c.fragility(), {}
    for k in (1, 2, 3):
        for table in relabelled(counts, k, correct=True):
            key = tuple(sorted((cell, n) for cell, n in table.items() if n))
            if key not in seen:
                seen[key] = decision(table)
            if seen[key] is not c.decision:
                assert found.n == k
                return
    assert found.n is None or found.n > 3


def test_only_two_counts_matter_to_the_exact_posterior_of_accuracy():
    """What the search relies on: items on which both models say the same change nothing."""
    tables = [
        {(0, 0, 0): 30, (1, 1, 1): 30, (0, 0, 1): 12, (1, 0, 1): 4},
        {(0, 0, 0): 11, (1, 0, 0): 19, (1, 1, 1): 30, (1, 1, 0): 12, (0, 1, 0): 4},
    ]
    hdis = [
        op.compare(outcomes(one, correct=False), "a", "b", metric="accuracy", n_draws=100).hdi
        for one in tables
    ]
    assert hdis[0].low == pytest.approx(hdis[1].low, abs=1e-8)
    assert hdis[0].high == pytest.approx(hdis[1].high, abs=1e-8)


def test_other_metrics_get_a_number_that_does():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 150)
    a, b = (np.where(rng.random(150) < p, truth, rng.integers(0, 3, 150)) for p in (0.9, 0.6))
    asked = {"metric": "f1_macro", "rope": 0.01, "n_draws": 500, "random_state": 0}
    c = op.compare(truth, a, b, **asked)
    found = c.fragility()
    assert c.decision.symbol == "≫"
    assert not found.exact
    assert 1 < found.n < 75
    changed = truth.copy()
    for one in found.changes:
        rows = np.flatnonzero((truth == one.truth) & (a == one.a) & (b == one.b))
        rows = rows[changed[rows] == truth[rows]][: one.n]
        assert rows.size == one.n
        changed[rows] = one.to
    again = op.compare(changed, a, b, **asked)
    assert again.decision is found.other is not c.decision
    assert found.share == found.n / 150


def test_costs_of_changes():
    """Against a search through all short sequences of changes."""
    steps = {(-1, 1), (1, -1), (-1, 0), (0, -1), (1, 0), (0, 1)}
    reached, cost = {(0, 0)}, {(0, 0): 0}
    for k in range(1, 5):
        reached = {(x + i, y + j) for x, y in reached for i, j in steps}
        for one in reached:
            cost.setdefault(one, k)
    assert all(_cost(one) == k for one, k in cost.items())


def test_words_tables_and_facts():
    seen = outcomes(TABLES[2][1], correct=False)
    found = op.compare(seen, "a", "b", metric="accuracy", rope=0.02, n_draws=100).fragility()
    assert f"{found.n} wrong gold labels of 67" in str(found)
    assert "would not be enough" in repr(found)
    assert found.to_frame()["n"].sum() == found.n == found.to_dict()["n"]
    assert "<table" in found.to_html()


@pytest.mark.parametrize(
    ("asked", "why"),
    [({"groups": [1, 1, 2, 2]}, "groups"), ({"paired": False}, "paired"), (None, "scores")],
)
def test_what_cannot_be_relabelled_is_refused(asked, why):
    truth, a, b = [1, 0, 1, 0], [1, 0, 0, 0], [0, 0, 1, 1]
    if asked is None:
        truth, asked = None, {"metric": "mean", "rope": 0.1}
    c = op.compare(truth, a, b, n_draws=100, **asked)
    with pytest.raises(UsageError, match=why):
        c.fragility()
