"""The study of spans: its worlds are what they say, and its gate notices what is wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import outperform as op
from verification import spans
from verification.spans import WORLDS, Interval


@pytest.mark.parametrize("place", [0, 3, 7])
def test_the_true_difference_is_that_of_very_many_sentences(place):
    world = replace(WORLDS[place], n=100_000)
    seen = spans.as_outcomes(world, *spans.simulate(world, np.random.default_rng(0)))
    metric = op.metrics.get(world.metric if world.metric == "f1_macro" else world.metric + "_micro")
    a, b = (
        metric.evaluate(
            op.metrics.Margins(**seen.margins(name)._asdict()), list(range(world.n_types))
        )
        for name in spans.TAGGERS
    )
    # The sd of such a difference is below 0.4 / √n; this is four of them.
    assert spans.truth_of(world) == pytest.approx(float(a - b), abs=0.005)


def test_what_is_expected_is_what_is_seen():
    world = replace(WORLDS[7], n=100_000)
    _, codes = spans.simulate(world, np.random.default_rng(1))
    gold, a, b = codes.T
    for tagger, found in enumerate((a, b)):
        for kind in range(world.n_types):
            here, there = gold == kind, found == kind
            seen = [(here & there).sum(), (~here & there).sum(), (here & ~there).sum()]
            expected = world.n * spans.expected(world)[:, tagger, kind]
            assert np.all(np.abs(seen - expected) < 5 * np.sqrt(3 * expected))


def test_errors_cluster_in_sentences_and_taggers_agree():
    world = replace(WORLDS[0], n=50_000)
    sentence, codes = spans.simulate(world, np.random.default_rng(2))
    gold = codes[:, 0] == 0
    wrong = codes[gold, 1] != 0
    per = np.bincount(sentence[gold], minlength=world.n)
    errors = np.bincount(sentence[gold], wrong, minlength=world.n)
    two = per == 2
    pairs = errors[two]
    share = pairs.mean() / 2
    assert (pairs == 2).mean() > 1.3 * share**2  # more often both than chance has it
    both = (codes[gold, 1:] != 0).all(axis=1).mean()
    assert both > 2 * share * (codes[gold, 2] != 0).mean()


def test_outcomes_are_those_of_the_package():
    world = replace(WORLDS[7], n=60)
    sentence, codes = spans.simulate(world, np.random.default_rng(3))
    columns = [[[] for _ in range(world.n)] for _ in range(3)]
    for place, (number, row) in enumerate(zip(sentence, codes.tolist(), strict=True)):
        for column, code in zip(columns, row, strict=True):
            if code < world.n_types:
                column[number].append((place, place, code))
    gold, a, b = columns
    counted = op.Outcomes.from_spans(gold, {"A": a, "B": b})
    ours = spans.as_outcomes(world, sentence, codes)
    assert ours.labels == counted.labels
    assert ours.to_dict() == counted.to_dict()
    (one, two) = (each.tables[0] for each in (ours, counted))
    assert one.groups.repeats.tolist() == two.groups.repeats.tolist()
    answers = [
        op.compare(each, "A", "B", metric="f1", rope=0.01, n_draws=500, random_state=0).hdi
        for each in (ours, counted)
    ]
    assert answers[0] == answers[1]


def test_enough_worlds_of_every_kind():
    promised = [world for world in WORLDS if spans.least_expected(world) >= spans.LEAST]
    assert len(promised) >= 12
    assert len(set(WORLDS)) == len(WORLDS)
    assert {world.metric for world in promised} == {"f1", "f1_macro", "recall"}
    assert all(world.rates.max() * 2.17 < 1 for world in WORLDS)  # in a hard sentence


def test_a_repetition_does_not_depend_on_those_before_it():
    assert spans.repeat(WORLDS[0], 0, 3)[2] == spans.repeat(WORLDS[0], 2, 3)[0]


def test_what_covers_too_rarely_or_too_often_fails():
    def found(share, world=WORLDS[0]):
        return {world: [Interval(place < share * 2_000, 0.1, True, 0.1) for place in range(2_000)]}

    assert spans.failures(found(0.95)) == []
    assert "90.0% covered" in spans.failures(found(0.90))[0]
    assert "99.5% covered" in spans.failures(found(0.995))[0]
    assert spans.failures(found(0.5, WORLDS[-1])) == []  # sparse: measured, not promised
    assert "| 95.0 ± 0.5 |" in spans.table(found(0.95))
