"""Six laws for every implementation of ``Weights``, as far as each has what the law is about."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from scipy.sparse import csr_array

from outperform import Outcomes
from outperform.data.label_sets import labels_of
from outperform.errors import UsageError
from outperform.posterior.base import build_posterior, draw_values
from outperform.posterior.bootstrap import bootstrap
from outperform.posterior.registry import STRATA, get_prior
from outperform.posterior.sums import LinearWeights
from tests.loops import each

N = 240
RNG = np.random.default_rng


def columns(n=N, n_classes=3, seed=1):
    """Return truth and what two models say, which is right most of the time."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n)
    said = {
        name: np.where(rng.random(n) < right, truth, rng.integers(0, n_classes, n))
        for name, right in (("a", 0.8), ("b", 0.65))
    }
    return truth, said


class Rows:
    """An order of rows that every column is put into."""

    def __init__(self, order):
        self.order = order

    def of(self, column):
        if isinstance(column, dict):
            return {name: self.of(values) for name, values in column.items()}
        return [column[k] for k in self.order]


def labels(rows, **beside):
    truth, said = columns()
    beside = {name: rows.of(column) for name, column in beside.items()}
    return Outcomes.from_labels(rows.of(truth), rows.of(said), **beside)


def sets(rows):
    truth, said = columns()
    as_set = {0: {"x"}, 1: {"y"}, 2: {"x", "z"}}
    columns_of = [[as_set[k] for k in column] for column in (truth, *said.values())]
    gold, a, b = map(rows.of, columns_of)
    return Outcomes.from_label_sets(gold, {"a": a, "b": b})


def spans(rows):
    truth, said = columns()
    gold, a, b = (
        rows.of([[(0, 2, f"T{k}")] for k in column]) for column in (truth, *said.values())
    )
    return Outcomes.from_spans(gold, {"a": a, "b": b})


def pool(rows):
    truth, said = columns()
    which = np.flatnonzero(np.asarray(rows.order) % 3 == 0)  # where the labelled items are
    return Outcomes.from_pool(np.array(rows.of(truth))[which], rows.of(said), which=which)


def judged(rows):
    truth, said = columns(n_classes=2)
    judge = np.where(np.random.default_rng(3).random(N) < 0.9, truth, 1 - truth)
    people = [int(one) if k % 3 else None for k, one in enumerate(truth)]
    correct = {name: (values == judge).astype(int) for name, values in said.items()}
    human = {
        name: [None if one is None else int(values[k] == one) for k, one in enumerate(people)]
        for name, values in said.items()
    }
    return Outcomes.from_judged(rows.of(correct), human=rows.of(human))


class Case(NamedTuple):
    """Outcomes in an order of their rows, and the prior whose posterior are weights of rows."""

    seen: Callable[[Rows], Outcomes]
    prior: str
    shape: float | None = 0.0  # of every cell before data; None where it differs by cell
    of_class: float | None = None  # of every class; None for the sum of its cells
    predicts: bool = True


CASES = {
    "items": Case(labels, "bootstrap"),
    "groups": Case(lambda rows: labels(rows, groups=np.arange(N) // 4), "bootstrap"),
    "weights": Case(lambda rows: labels(rows, sample_weight=1.0 + np.arange(N) % 3), "bootstrap"),
    "sets": Case(sets, "bootstrap"),
    "spans": Case(spans, "uniform", shape=1.0),
    "uniform": Case(labels, "uniform", shape=1.0, of_class=1.0),
    "unit": Case(labels, "unit", shape=None),
    "pool": Case(pool, "strata", shape=None, predicts=False),
    "judged": Case(judged, "strata", shape=None, predicts=False),
}
EVERY = each("case", CASES.values(), ids=CASES)
IN_ORDER = Rows(np.arange(N))


def posterior_of(case, seen):
    return build_posterior(seen, STRATA if case.prior == "strata" else get_prior(case.prior))


def values_of(posterior, n_jobs=1):
    """Return the sums of all draws, of several blocks, as one array."""

    def evaluate(drawn, out):
        out[:] = np.concatenate([part for sums in drawn for part in sums])

    n_values = sum(len(part) for sums in posterior.worker("margins")(RNG(1), 2) for part in sums)
    return draw_values(
        posterior,
        evaluate,
        needs="margins",
        n_values=n_values,
        n_draws=9_000,
        seed=np.random.SeedSequence(7),
        n_jobs=n_jobs,
    )


def members(seen, codes):
    """Return which labels a code of each row means, ``(n_rows, n_labels)``."""
    if seen.kind != "label_sets":
        return np.eye(seen.n_classes + 1)[codes][:, : seen.n_classes]
    found = np.zeros((len(codes), seen.n_classes))
    entries = labels_of(seen.sets, codes)
    found[entries.row, entries.label] = 1.0
    return found


@EVERY
def test_sums_are_the_terms_times_the_weights_of_the_same_stream(case):
    seen = case.seen(IN_ORDER)
    posterior = posterior_of(case, seen)
    drawn = posterior.worker("margins")(RNG(5), 50)
    rows = posterior.weights_worker()(RNG(5), 50)
    assert rows.shape == (len(posterior.cells), 50)
    truth = members(seen, posterior.cells[:, 0])
    for model, sums in enumerate(drawn):
        said = members(seen, posterior.cells[:, 1 + model])
        for own, terms in zip(sums, (truth * said, truth, said), strict=True):
            np.testing.assert_allclose(own, terms.T @ rows, rtol=1e-9, atol=1e-12)


def moments(rows):
    shares = rows / rows.sum(axis=0)
    return np.concatenate([shares.mean(axis=1), np.sqrt(shares.shape[1]) * shares.std(axis=1)])


@each("groups", [None, np.arange(N) // 4], ids=["items", "groups"])
def test_merging_equal_rows_changes_no_distribution(groups):
    seen = labels(IN_ORDER) if groups is None else labels(IN_ORDER, groups=groups)
    truth, said = columns()
    cells = np.column_stack([truth, *said.values()])
    table = seen.tables[0].cells
    place = (cells[:, None] == table).all(axis=2).argmax(axis=1)
    units = np.arange(N) if groups is None else groups
    held = csr_array((np.ones(N), (place, units)), shape=(len(table), units.max() + 1))
    apart = LinearWeights(seen, cells=table, shapes=np.ones(held.shape[1]), matrix=held)
    merged = bootstrap(seen)
    order = np.lexsort(merged.cells.T[::-1])
    n = 20_000
    one = merged.weights_worker()(RNG(1), n)[order]
    two = apart.weights_worker()(RNG(2), n)[np.lexsort(table.T[::-1])]
    spread = np.sqrt(2 / n) * (one / one.sum(axis=0)).std(axis=1)
    assert (np.abs(moments(one) - moments(two))[: len(spread)] < 5 * spread).all()
    assert np.allclose(moments(one)[len(spread) :], moments(two)[len(spread) :], rtol=0.06)


@EVERY
def test_neither_threads_nor_the_order_of_rows_change_a_byte(case):
    first = values_of(posterior_of(case, case.seen(IN_ORDER)))
    again = values_of(posterior_of(case, case.seen(IN_ORDER)), n_jobs=4)
    shuffled = values_of(posterior_of(case, case.seen(Rows(RNG(3).permutation(N)))))
    assert first.tobytes() == again.tobytes() == shuffled.tobytes()


@EVERY
def test_outcomes_add_up_to_those_of_all_rows(case):
    halves = [case.seen(Rows(np.arange(*ends))) for ends in ((0, N // 2), (N // 2, N))]
    together = posterior_of(case, halves[0] + halves[1])
    whole = posterior_of(case, case.seen(IN_ORDER))
    assert values_of(together).tobytes() == values_of(whole).tobytes()


def expected(case, seen, cells, counts):
    """Return each row's share: its count and prior within its class, times those of the class."""
    count_of = dict(zip(map(tuple, seen.tables[0].cells.tolist()), counts, strict=True))
    if case.prior == "unit":
        right = np.where(cells[:, 1:] == cells[:, :1], 0.5, 0.25)
        prior = right.prod(axis=1)
    else:
        prior = np.full(len(cells), case.shape)
    shapes = prior + np.array([float(count_of.get(tuple(cell), 0)) for cell in cells.tolist()])
    _, truth = np.unique(cells[:, 0], return_inverse=True)
    own = np.bincount(truth.ravel(), shapes)
    known = own
    if case.of_class is not None:
        known = own - np.bincount(truth.ravel(), prior) + case.of_class
    shares = shapes / own[truth.ravel()] * known[truth.ravel()]
    return shares / shares.sum()


@EVERY
def test_the_mean_of_the_weights_is_counts_plus_prior(case):
    seen = case.seen(IN_ORDER)
    if case.prior == "strata":
        pytest.skip("strata have closed forms in test_strata.py and test_judged.py")
    posterior, n = posterior_of(case, seen), 20_000
    rows = posterior.weights_worker()(RNG(4), n)
    total = rows.mean(axis=1).sum()
    counts = seen.tables[0].in_weights().counts
    gap = rows.mean(axis=1) / total - expected(case, seen, posterior.cells, counts)
    assert (np.abs(gap) < 5 * rows.std(axis=1) / total / np.sqrt(n)).all()


@EVERY
def test_new_test_sets_have_on_average_the_mean_of_the_posterior(case):
    seen = case.seen(IN_ORDER)
    posterior = posterior_of(case, seen)
    if not case.predicts:
        with pytest.raises(UsageError):
            posterior.predictor()
        return
    draw, rng, n = posterior.predictor(), RNG(6), 2_000
    cells = np.unique(posterior.cells, axis=0)
    drawn = np.zeros((len(cells), n))
    for place in range(n):
        table = draw(rng, 60)
        at = (table.cells[:, None] == cells).all(axis=2).argmax(axis=1)
        drawn[at, place] = table.counts.astype(float) / table.counts.sum()
    gap = drawn.mean(axis=1) - expected(case, seen, cells, seen.tables[0].counts)
    assert (np.abs(gap) < 5 * np.maximum(drawn.std(axis=1), 1e-3) / np.sqrt(n)).all()
