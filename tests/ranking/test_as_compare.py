"""Pairs of a ranking and comparisons of the same two: the same decision, withheld or not."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import outperform as op
from outperform._json import to_json
from outperform.errors import UsageError
from outperform.ranking import pairs
from tests.loops import each

NAMES = ("ada", "bob", "cy")
RIGHT = {"ada": 0.9, "bob": 0.7, "cy": 0.68}


def labels(n, classes, seed, respell=()):
    """Return truth and predictions; the names in ``respell`` write one class in capitals."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(classes, size=n)
    predictions = {}
    for name, share in RIGHT.items():
        guess = np.where(rng.random(n) < share, truth, rng.choice(classes, size=n)).astype(object)
        if name in respell:
            guess[guess == classes[0]] = classes[0].upper()
        predictions[name] = guess
    return truth, predictions


def never_right(n, seed):
    truth, predictions = labels(n, TWO, seed)
    predictions["cy"] = np.array([f"label {one}" for one in predictions["cy"]], dtype=object)
    return op.Outcomes.from_labels(truth, predictions)


def outcomes(n, classes, seed, respell=(), **more):
    truth, predictions = labels(n, classes, seed, respell)
    return op.Outcomes.from_labels(truth, predictions, **more)


def votes(tally):
    rows = [(x, y, x if k < won else y) for (x, y), (n, won) in tally.items() for k in range(n)]
    return op.Scores.from_votes(*zip(*rows, strict=True), ordered=False)


def grades(n, seed, **more):
    rng = np.random.default_rng(seed)
    common = rng.normal(size=n)
    values = {name: common + share + rng.normal(size=n) / 4 for name, share in RIGHT.items()}
    return op.Scores.from_values(values, **more)


def label_sets(n, seed, respell=()):
    rng = np.random.default_rng(seed)
    kinds = np.array(["red", "green", "blue"])
    truth = rng.random((n, 3)) < 0.4
    predictions = {}
    for name, share in RIGHT.items():
        guess = np.where(rng.random((n, 3)) < share, truth, rng.random((n, 3)) < 0.4)
        known = np.array(["RED", "green", "blue"]) if name in respell else kinds
        predictions[name] = [set(known[row].tolist()) for row in guess]
    return op.Outcomes.from_labels([set(kinds[row].tolist()) for row in truth], predictions)


def judged(n, seed):
    rng = np.random.default_rng(seed)
    right = {name: rng.random(n) < share for name, share in RIGHT.items()}
    judge = {name: np.where(rng.random(n) < 0.9, bits, ~bits) for name, bits in right.items()}
    looked = np.arange(n) < n // 2
    human = {name: np.where(looked, bits, np.nan) for name, bits in right.items()}
    return op.Outcomes.from_judged(judge, human=human)


def same_answers(n):
    right = np.arange(n) % 5 > 0
    nearly = right.copy()
    nearly[:2] = ~nearly[:2]
    return op.Outcomes.from_correct({"ada": right, "bob": right, "cy": nearly})


TWO, FIVE = ["no", "yes"], ["a", "b", "c", "d", "e"]
CHAIN = {("ada", "bob"): (300, 220), ("bob", "cy"): (300, 160)}
CIRCLE = {("ada", "bob"): (90, 80), ("bob", "cy"): (90, 80), ("ada", "cy"): (90, 10)}
DATA = {
    "two classes": lambda: (outcomes(300, TWO, 1), "accuracy"),
    "two classes, F1": lambda: (outcomes(300, TWO, 2), "f1_macro"),
    "five classes": lambda: (outcomes(400, FIVE, 3), "f1_macro"),
    "groups": lambda: (outcomes(300, TWO, 4, groups=np.arange(300) // 3), "accuracy"),
    "weights": lambda: (
        outcomes(300, FIVE, 5, sample_weight=1.0 + np.arange(300) % 3),
        "accuracy",
    ),
    "one spelled otherwise": lambda: (outcomes(300, TWO, 6, respell=["ada"]), "accuracy"),
    "two spelled otherwise": lambda: (outcomes(300, FIVE, 7, respell=["bob", "cy"]), "f1_macro"),
    "groups, spelled otherwise": lambda: (
        outcomes(300, TWO, 8, respell=["cy"], groups=np.arange(300) // 3),
        "accuracy",
    ),
    "never true": lambda: (never_right(200, 9), "accuracy"),
    "label sets": lambda: (label_sets(200, 10), "f1_micro"),
    "label sets, spelled otherwise": lambda: (label_sets(200, 11, respell=["bob"]), "f1_macro"),
    "grades": lambda: (grades(200, 12), "mean"),
    "grades of groups": lambda: (grades(200, 13, groups=np.arange(200) // 4), "mean"),
    "few grades": lambda: (grades(12, 14), "mean"),
    "right and wrong by a judge": lambda: (judged(400, 15), "accuracy"),
    "the same answers": lambda: (same_answers(200), "accuracy"),
    "votes": lambda: (votes(CIRCLE), "win_rate"),
    "votes, Elo": lambda: (votes(CIRCLE), "elo"),
    "votes in a chain": lambda: (votes(CHAIN), "win_rate"),
    "votes in a chain, Elo": lambda: (votes(CHAIN), "elo"),
}


@each("rope", [0.02, 0.3])
@each("kind", DATA)
def test_a_pair_of_a_ranking_is_decided_as_two_models_are(kind, rope):
    seen, metric = DATA[kind]()
    width = 100 * rope if metric == "elo" else rope
    asked = {"metric": metric, "rope": width, "n_draws": 2_000, "random_state": 4}
    ranking = op.rank(seen, **asked)
    for index, pair_of_names in enumerate(combinations(NAMES, 2)):
        first, second = pair_of_names[:: 1 if index % 2 else -1]  # every other one turned round
        pair, alone = ranking.pair(first, second), op.compare(seen, first, second, **asked)
        serious = {one.name for one in alone.findings if one.level == "serious"}
        withheld = bool(serious) and alone.decision is op.Decision.UNDECIDED
        coarse = "monte_carlo_too_coarse" in {one.name for one in alone.findings}
        assert pair.withheld == withheld, (first, second, serious)
        if not coarse and not pair.coarse:
            assert pair.decision is alone.decision, (first, second, alone.findings)
    levels = {one.name for one in ranking.findings if one.level == "serious"}
    if any(pair.withheld for row in ranking.pairs for pair in row if pair is not None):
        assert levels


@each("kind", DATA)
def test_a_pair_compared_on_request_is_the_pair_of_a_ranking_of_all_pairs(kind, monkeypatch):
    seen, metric = DATA[kind]()
    asked = {"metric": metric, "rope": 2 if metric == "elo" else 0.02, "n_draws": 500}
    whole = op.rank(seen, random_state=4, **asked)
    monkeypatch.setattr(pairs, "MOST_FOR_ALL_PAIRS", 2)
    few = op.rank(seen, random_state=4, **asked)
    leader, one, other = few.names
    assert [pair.names for pair in few._pairs] == [(leader, one), (leader, other)]
    assert "Of the 3 pairs, the 2 with the leader are compared." in str(few)
    assert len(few.pair_table()) == 2
    for names in ((one, other), (other, one)):
        assert few.pairs[few.names.index(names[0])][few.names.index(names[1])] is None
        assert to_json(few.pair(*names)) == to_json(whole.pair(*names))
        np.testing.assert_array_equal(few.compare(*names).draws, whole.compare(*names).draws)
    np.testing.assert_allclose(few.differences, whole.differences, rtol=1e-6, atol=1e-9)
    assert [row.tied for row in few] == [row.tied for row in whole]


def test_a_matrix_of_many_models_is_refused():
    bits = np.random.default_rng(0).random((101, 30)) < 0.5
    seen = op.Outcomes.from_correct({f"m{model}": row for model, row in enumerate(bits)})
    ranking = op.rank(seen, metric="accuracy", rope=0.01, n_draws=100, random_state=0)
    with pytest.raises(UsageError, match="plot_differences"):
        ranking.plot_matrix()


def test_a_ranking_withholds_what_a_spelling_decides():
    seen = outcomes(300, TWO, 6, respell=["ada"])
    ranking = op.rank(seen, metric="accuracy", rope=0.02, n_draws=2_000, random_state=0)
    (spelled,) = [one for one in ranking.findings if one.name == "spelled_otherwise"]
    assert spelled.level == "serious"
    assert "2 of 3 pairs" in spelled.message
    assert ranking.pair("ada", "bob").withheld
    assert not ranking.pair("bob", "cy").withheld
    assert "ada" in ranking.tied  # whose answers are right but for the spelling


def test_pairs_of_many_classes_close_to_the_rope_are_those_of_compare():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 5, 300)
    predictions = {}
    for model, share in enumerate((0.7, 0.75, 0.8, 0.82)):
        right = rng.random(300) < share
        predictions[f"m{model}"] = np.where(right, truth, rng.integers(0, 5, 300))
    asked = {"metric": "f1_macro", "rope": 0.01, "n_draws": 4_000, "random_state": 0}
    ranking = op.rank(truth, predictions, **asked)
    alone = op.compare(truth, predictions["m0"], predictions["m1"], names=("m0", "m1"), **asked)
    # The interval ends at −0.010: joint draws of four models ended at −0.013 and were firm.
    assert ranking.pair("m0", "m1").hdi == alone.hdi
    assert ranking.pair("m1", "m0").hdi.low == -alone.hdi.high
    for pair in combinations(predictions, 2):
        two = op.compare(truth, *(predictions[name] for name in pair), names=pair, **asked)
        for names in (pair, pair[::-1]):
            decided, whole = ranking.pair(*names), ranking.compare(*names)
            assert decided.mean == pytest.approx(whole.mean, rel=1e-12)
            assert decided.decision is whole.decision
        if not ranking.pair(*pair).coarse:
            assert ranking.pair(*pair).decision is two.decision
