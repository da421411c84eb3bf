"""Weights on groups: a plain Bayesian bootstrap over sentences must say the same."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform import Outcomes
from outperform.data.views import scaled
from outperform.posterior.bootstrap import bootstrap
from outperform.posterior.sums import LinearWeights

N_DRAWS = 20_000
TYPES = ("LOC", "ORG", "PER")


def corrupted(items, rng, missed, moved):
    """Miss some spans and move the ends of some others, more in some sentences than in others."""
    out = []
    for spans in items:
        trouble = rng.beta(0.5, 0.5) * 2
        kept = [span for span in spans if rng.random() > missed * trouble]
        out.append([(s, e + (rng.random() < moved * trouble), kind) for s, e, kind in kept])
    return out


@pytest.fixture(scope="module")
def sentences():
    rng = np.random.default_rng(6)
    gold = [
        [(10 * place, 10 * place + 2, TYPES[rng.integers(3)]) for place in range(rng.poisson(2))]
        for _ in range(80)
    ]
    return gold, corrupted(gold, rng, 0.15, 0.1), corrupted(gold, rng, 0.2, 0.2)


@pytest.fixture(scope="module")
def seen(sentences):
    gold, a, b = sentences
    return Outcomes.from_spans(gold, {"a": a, "b": b})


def counts(gold, predicted):
    """Return hits, actual and predicted of each type in each sentence."""
    table = np.zeros((3, len(TYPES), len(gold)))
    for place, (truth, found) in enumerate(zip(gold, predicted, strict=True)):
        for row, spans in enumerate((set(truth) & set(found), truth, found)):
            for _, _, kind in spans:
                table[row, TYPES.index(kind), place] += 1
    return table


def f1(sums):
    hits, actual, predicted = sums
    bottom = actual + predicted
    return np.divide(2 * hits, bottom, out=np.zeros_like(hits), where=bottom > 0)


METRICS = {
    "f1": lambda sums: f1(sums.sum(axis=1)),
    "precision": lambda sums: sums[0].sum(axis=0) / sums[2].sum(axis=0),
    "recall": lambda sums: sums[0].sum(axis=0) / sums[1].sum(axis=0),
    "f1_macro": lambda sums: f1(sums).mean(axis=0),
}


@pytest.mark.usefixtures("plain_weights")
@pytest.mark.parametrize("metric", METRICS)
def test_draws_are_a_plain_bootstrap_over_sentences(sentences, seen, same, metric):
    gold, a, b = sentences
    weights = np.random.default_rng(7).standard_exponential((len(gold), N_DRAWS))
    of_a, of_b = (METRICS[metric](counts(gold, found) @ weights) for found in (a, b))
    c = op.compare(seen, "a", "b", metric=metric, random_state=8, n_draws=N_DRAWS)
    assert c.spec.prior.name == "bootstrap"
    same(c.draws, of_a - of_b)
    same(c.a.draws, of_a)
    same(c.b.draws, of_b)


def test_one_weight_a_sentence_is_wider_than_one_weight_a_span(seen):
    wide, narrow = (
        op.compare(one, "a", "b", prior="bootstrap", random_state=1, n_draws=N_DRAWS)
        for one in (seen, seen.ungroup())
    )
    assert wide.a.sd > 1.15 * narrow.a.sd


@pytest.mark.usefixtures("plain_weights")
def test_one_type_keeps_the_weights_of_sentences(sentences, seen, same):
    gold, a, _ = sentences
    weights = np.random.default_rng(9).standard_exponential((len(gold), N_DRAWS))
    expected = f1(counts(gold, a)[:, 1] @ weights)
    c = op.compare(seen, "a", "b", pos_label="ORG", random_state=8, n_draws=N_DRAWS)
    same(c.a.draws, expected)


def test_groups_of_one_span_each_are_the_ungrouped_bootstrap(same):
    rng = np.random.default_rng(10)
    gold, found = [], []
    for _ in range(120):
        state = rng.integers(4)
        gold.append([(0, 1, "X")] if state < 3 else [])
        found.append([(0, 1, "X")] if state != 2 else [])
    seen = Outcomes.from_spans(gold, {"m": found})
    one, other = (
        op.estimate(outcomes, "m", metric="f1", prior="bootstrap", random_state=4, n_draws=N_DRAWS)
        for outcomes in (seen, seen.ungroup())
    )
    same(one.draws, other.draws)
    assert one.observed == other.observed


def test_equal_sentences_are_one_gamma():
    gold = [[(0, 1, "X"), (2, 3, "X")], [(0, 1, "X")]]
    found = [[(0, 1, "X")], [(0, 1, "X"), (4, 5, "X")]]
    seen = Outcomes.from_spans(gold * 1_000, {"m": found * 1_000})
    posterior = bootstrap(seen.select(["m"]))
    assert isinstance(posterior, LinearWeights)
    assert posterior.shapes.tolist() == [1_000.0, 1_000.0]
    assert posterior.n_gammas == 2


def test_equal_sentences_have_the_closed_form_of_their_gammas(moments):
    # recall = (g + h) / (2 g + h) with g, h ~ Gamma(1000): 1 / (1 + s), s = g / (g + h) ~ Beta
    gold = [[(0, 1, "X"), (2, 3, "X")], [(0, 1, "X")]]
    found = [[(0, 1, "X")], [(0, 1, "X"), (4, 5, "X")]]
    seen = Outcomes.from_spans(gold * 1_000, {"m": found * 1_000})
    drawn = op.estimate(seen, "m", metric="recall", random_state=5, n_draws=N_DRAWS).draws
    moments(1 / drawn - 1, 0.5, np.sqrt(0.25 / 2_001))


def test_empty_sentences_change_nothing(sentences, seen, same):
    gold, a, b = ([*column, *[[]] * 500] for column in sentences)
    more = Outcomes.from_spans(gold, {"a": a, "b": b})
    one, other = (
        op.compare(outcomes, "a", "b", random_state=seed, n_draws=N_DRAWS)
        for seed, outcomes in enumerate((seen, more))
    )
    same(one.draws, other.draws)


def test_scaled_outcomes_scale_the_shapes(seen):
    whole, half = bootstrap(seen), bootstrap(scaled(seen, 0.5))
    assert half.shapes.tolist() == (whole.shapes / 2).tolist()
    assert (half.matrix != whole.matrix).nnz == 0
    bare = bootstrap(scaled(seen.ungroup(), 0.25))
    assert bare.shapes.sum() == pytest.approx(seen.ungroup().n / 4)


@pytest.mark.usefixtures("plain_weights")
def test_a_scale_widens_as_its_root(seen):
    whole, quarter = (
        op.estimate(one, "a", random_state=2, n_draws=N_DRAWS) for one in (seen, scaled(seen, 0.25))
    )
    # sd of a ratio of bootstrap sums is one over the root of the effective number, about
    assert quarter.sd / whole.sd == pytest.approx(2.0, rel=0.05)


@pytest.mark.parametrize("metric", ["f1", "f1_macro"])
def test_threads_change_no_byte(seen, metric):
    one, two = (
        op.compare(seen, "a", "b", metric=metric, random_state=3, n_draws=N_DRAWS, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    )
    assert one.draws.tobytes() == two.draws.tobytes()


def test_the_order_of_sentences_changes_no_byte(sentences, seen):
    gold, a, b = (column[::-1] for column in sentences)
    back = Outcomes.from_spans(gold, {"a": a, "b": b})
    one, two = (op.compare(s, "a", "b", random_state=3, n_draws=1_000) for s in (seen, back))
    assert one.draws.tobytes() == two.draws.tobytes()


def test_the_bootstrap_over_sentences_has_no_closed_form(seen):
    posterior = bootstrap(seen)
    assert posterior.part_shape(0, "tp", 0) is None
    assert posterior.row_shapes(0, 0) is None
    assert posterior.agreement_shapes(0) is None
    c = op.compare(seen, "a", "b", random_state=0, n_draws=1_000)
    assert not c.exact
    assert c.bayes_factor is None


@pytest.mark.usefixtures("plain_weights")
def test_unpaired_sentences_are_weighed_apart(sentences, seen, same):
    gold, a, b = sentences
    rng = np.random.default_rng(20)
    drawn = [
        METRICS["f1"](counts(gold, found) @ rng.standard_exponential((len(gold), N_DRAWS)))
        for found in (a, b)
    ]
    c = op.compare(seen, "a", "b", paired=False, random_state=8, n_draws=N_DRAWS)
    same(c.draws, drawn[0] - drawn[1])
