"""A judge on all items and people on some: moments in closed form, and what it is worth."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import outperform as op
from outperform.errors import ResourceError
from outperform.inference.judges import chosen_at_random, worth_of_judge
from outperform.inference.spec import counted
from outperform.posterior import strata as stratified

ASKED = {"metric": "accuracy", "rope": 0.01, "random_state": 0}
NAN = float("nan")
VERDICTS = list(itertools.product((0, 1), repeat=2))
# Items of each joint verdict of the judge, and what people say of some of them, (h_A, h_B).
SIZES = {(0, 0): 200, (0, 1): 150, (1, 0): 250, (1, 1): 900}
PEOPLE = {
    (0, 0): {(0, 0): 12, (0, 1): 2, (1, 0): 3, (1, 1): 1},
    (0, 1): {(0, 0): 3, (0, 1): 8, (1, 1): 2},
    (1, 0): {(0, 0): 1, (1, 0): 17, (1, 1): 4},
    (1, 1): {(0, 0): 2, (0, 1): 5, (1, 0): 6, (1, 1): 70},
}


def outcomes(sizes, people):
    """Write the items out, one row each."""
    rows = []
    for said, n in sizes.items():
        known = [told for told, times in people.get(said, {}).items() for _ in range(times)]
        rows += [(*said, *told) for told in known]
        rows += [(*said, NAN, NAN)] * (n - len(known))
    table = np.array(rows)
    return op.Outcomes.from_judged(
        {"A": table[:, 0].astype(int), "B": table[:, 1].astype(int)},
        human={"A": table[:, 2], "B": table[:, 3]},
    )


def moments(sizes, people, value):
    """Return mean and sd of Σ share · Σ value(told) · p(told | said), in closed form.

    Shares are Dirichlet(sizes), and p(· | said) Dirichlet(labels + prior), with a prior of mass 1
    that agrees with the judge three times out of four on each model.
    """
    shapes = np.array(list(sizes.values()), dtype=float)
    values = np.array([value(*told) for told in VERDICTS])
    means, seconds = [], []
    for said in sizes:
        alpha = np.array(
            [
                people.get(said, {}).get(told, 0)
                + np.prod([0.75 if t == s else 0.25 for t, s in zip(told, said, strict=True)])
                for told in VERDICTS
            ]
        )
        total = alpha.sum()
        p = alpha / total
        mean = p @ values
        means.append(mean)
        seconds.append((p @ values**2 - mean**2) / (total + 1) + mean**2)
    means, total = np.array(means), shapes.sum()
    joint = np.outer(shapes, shapes) / (total * (total + 1))
    squares = joint * np.outer(means, means)
    np.fill_diagonal(squares, shapes * (shapes + 1) / (total * (total + 1)) * np.array(seconds))
    mean = shapes @ means / total
    return mean, np.sqrt(squares.sum() - mean**2)


def gap(found, expected):
    """Return how many Monte Carlo errors draws are from a mean and a sd."""
    mean, sd = expected
    of_mean = abs(found.mean() - mean) / (sd / np.sqrt(found.size))
    of_sd = abs(found.std() - sd) / (sd / np.sqrt(2 * found.size))
    return max(of_mean, of_sd)


def test_moments_in_closed_form():
    c = op.compare(outcomes(SIZES, PEOPLE), "A", "B", **ASKED)
    assert gap(c.draws, moments(SIZES, PEOPLE, lambda a, b: a - b)) < 5
    assert gap(c.a.draws, moments(SIZES, PEOPLE, lambda a, b: a)) < 5
    assert gap(c.b.draws, moments(SIZES, PEOPLE, lambda a, b: b)) < 5


@pytest.mark.parametrize("fault", ["labels as they came", "strata mixed up"])
def test_planted_faults_show(monkeypatch, fault):
    """Strata that weigh as often as they were labelled, or that have other strata's labels."""

    class Planted(stratified.Stratified):
        def __init__(self, *args, **how):
            super().__init__(*args, **how)
            if fault == "strata mixed up":
                self.counts = self.counts[::-1].copy()
            else:
                self.sizes = self.counts.sum(axis=1) * 1500 / self.counts.sum()

    monkeypatch.setattr(stratified, "Stratified", Planted)
    people = {said: dict(told) for said, told in PEOPLE.items()}
    people[1, 0] = {(0, 0): 1, (1, 0): 117, (1, 1): 4}  # chosen by the verdict, which is allowed
    c = op.compare(outcomes(SIZES, people), "A", "B", **ASKED)
    assert gap(c.draws, moments(SIZES, people, lambda a, b: a - b)) > 20


def test_choosing_by_verdict_is_allowed():
    people = {said: dict(told) for said, told in PEOPLE.items()}
    people[1, 0] = {(0, 0): 1, (1, 0): 117, (1, 1): 4}
    c = op.compare(outcomes(SIZES, people), "A", "B", **ASKED)
    assert gap(c.draws, moments(SIZES, people, lambda a, b: a - b)) < 5


def test_that_items_were_chosen_is_said():
    even = {said: {(1, 1): n // 10} for said, n in SIZES.items()}
    told = [one.name for one in op.compare(outcomes(SIZES, even), "A", "B", **ASKED).findings]
    assert "chosen_by_ratings" not in told
    people = {said: dict(told) for said, told in PEOPLE.items()}
    people[1, 0] = {(0, 0): 1, (1, 0): 117, (1, 1): 4}
    found = op.compare(outcomes(SIZES, people), "A", "B", **ASKED).findings
    (said,) = [one for one in found if one.name == "chosen_by_ratings"]
    assert said.level == "warning"


def test_items_drawn_at_random_are_rarely_said_to_be_chosen():
    """The p-value is that of the multivariate hypergeometric, by simulation."""
    rng, sizes = np.random.default_rng(2), np.array([40, 700, 160, 90, 10])
    drawn = rng.multivariate_hypergeometric(sizes, 200, size=4_000)
    p = np.array([chosen_at_random(sizes.astype(float), one.astype(float)) for one in drawn])
    for level in (0.5, 0.1, 0.02):
        assert abs((p < level).mean() - level) < 4 * np.sqrt(level / 4_000) + 0.15 * level


def test_an_estimate_reads_the_verdicts_on_its_model():
    seen = outcomes(SIZES, PEOPLE)
    found = op.estimate(seen, "A", metric="accuracy", random_state=0)
    sizes = {0: 350, 1: 1150}
    people = {0: (25, 6), 1: (8, 97)}  # wrong and right by people, in each verdict on A
    means = [(people[j][1] + (0.25, 0.75)[j]) / (sum(people[j]) + 1) for j in (0, 1)]
    mean = (sizes[0] * means[0] + sizes[1] * means[1]) / 1500
    assert abs(found.mean - mean) < 5 * found.mcse
    with_b = op.compare(seen, "A", "B", **ASKED).a
    assert abs(found.mean - with_b.mean) < 0.01


def test_a_perfect_judge_gives_nearly_the_answer_of_all_labels():
    rng = np.random.default_rng(1)
    right = {"A": rng.random(2_000) < 0.8, "B": rng.random(2_000) < 0.75}
    shown = np.arange(2_000) < 1_000
    human = {name: np.where(shown, bits, NAN) for name, bits in right.items()}
    c = op.compare(op.Outcomes.from_judged(right, human=human), "A", "B", **ASKED)
    whole = op.compare(op.Outcomes.from_correct(right), "A", "B", **ASKED)
    assert abs(c.mean - whole.mean) < 0.15 * whole.sd
    assert whole.sd < c.sd < 1.05 * whole.sd


def test_a_judge_that_knows_nothing_gives_the_answer_of_people():
    """Every joint verdict has the same share of every outcome, in the labels and beyond."""
    told = {(0, 0): 10, (0, 1): 12, (1, 0): 20, (1, 1): 58}
    sizes, people = dict.fromkeys(VERDICTS, 1_000), dict.fromkeys(VERDICTS, told)
    seen = outcomes(sizes, people)
    c = op.compare(seen, "A", "B", **ASKED)
    bits = np.array([pair for pair, times in told.items() for _ in range(4 * times)])
    alone = op.compare(
        op.Outcomes.from_correct({"A": bits[:, 0], "B": bits[:, 1]}), "A", "B", **ASKED
    )
    assert abs(c.mean - alone.mean) < 0.1 * alone.sd
    assert c.sd == pytest.approx(alone.sd, rel=0.03)
    assert worth_of_judge(counted(c.spec)).labels == pytest.approx(400, rel=0.1)
    assert any("adds almost no information" in one.message for one in c.findings)


def test_the_bias_of_the_judge():
    """By the judge A − B is 250 − 150 of 1,500; people say what the moments say."""
    c = op.compare(outcomes(SIZES, PEOPLE), "A", "B", **ASKED)
    mean, _ = moments(SIZES, PEOPLE, lambda a, b: a - b)
    worth = worth_of_judge(counted(c.spec))
    assert worth.bias == pytest.approx(100 / 1_500 - mean, abs=0.003)
    assert worth.low < worth.bias < worth.high


def test_a_judge_that_favours_a_model_is_named():
    sizes = {(0, 0): 500, (0, 1): 100, (1, 0): 600, (1, 1): 800}
    people = {
        (0, 0): {(0, 0): 45, (1, 1): 5},
        (0, 1): {(0, 1): 10},
        (1, 0): {(0, 0): 50, (1, 0): 10},
        (1, 1): {(1, 1): 75, (0, 1): 5},
    }
    c = op.compare(outcomes(sizes, people), "A", "B", **ASKED)
    (bias,) = [one for one in c.findings if one.name == "judge_bias"]
    assert bias.message.startswith("The judge favours A: using its ratings alone")
    assert c.mean < 0.05 < 0.25 == (600 - 100) / 2_000
    (turned,) = [
        one
        for one in op.compare(outcomes(sizes, people), "B", "A", **ASKED).findings
        if one.name == "judge_bias"
    ]
    assert turned.message.startswith("The judge favours A")


def test_a_verdict_that_nobody_labelled_widens():
    people = {said: told for said, told in PEOPLE.items() if said != (0, 1)}
    c = op.compare(outcomes(SIZES, people), "A", "B", **ASKED)
    with_labels = op.compare(outcomes(SIZES, PEOPLE), "A", "B", **ASKED)
    assert gap(c.draws, moments(SIZES, people, lambda a, b: a - b)) < 5
    assert c.sd > 1.4 * with_labels.sd
    levels = {one.name: one.level for one in c.findings}
    assert levels["unlabelled_ratings"] == "warning"
    assert "unlabelled_ratings" not in {one.name for one in with_labels.findings}


def test_ranks_and_gates():
    seen = outcomes(SIZES, PEOPLE)
    c = op.compare(seen, "A", "B", **ASKED)
    ranking = op.rank(seen, **ASKED)
    assert ranking.rows[0].name == "A"
    assert ranking.rows[0].raw.mean == pytest.approx(c.a.mean, abs=5 * c.a.mcse)
    gate = op.gate(seen, baseline="B", candidate="A", **ASKED)
    assert gate.checks[0].comparison.mean == c.mean


def test_two_classes_in_closed_form():
    """Recall of one class: people's truth within the judge's class and the prediction."""
    rng = np.random.default_rng(5)
    truth = (rng.random(3_000) < 0.3).astype(int)
    a = np.where(rng.random(3_000) < 0.9, truth, 1 - truth)
    judge = np.where(rng.random(3_000) < 0.85, truth, 1 - truth)
    human = [*truth[:300].tolist(), *[None] * 2_700]
    seen = op.Outcomes.from_judged({"A": a}, human=human, judge=judge)
    found = op.estimate(seen, "A", metric="recall", random_state=0)
    draws = np.random.default_rng(0)
    hit = actual = 0.0
    sizes = np.array([[np.sum((judge == j) & (a == p)) for p in (0, 1)] for j in (0, 1)])
    shares = draws.dirichlet(sizes.ravel(), size=20_000).T.reshape(2, 2, -1)
    for j, p in VERDICTS:
        n = [
            np.sum((judge == j) & (a == p) & (truth == y) & (np.arange(3_000) < 300))
            for y in (0, 1)
        ]
        prior = (0.25, 0.75) if j else (0.75, 0.25)
        positive = draws.beta(n[1] + prior[1], n[0] + prior[0], size=20_000) * shares[j, p]
        hit, actual = hit + p * positive, actual + positive
    recall = hit / actual
    assert abs(found.mean - recall.mean()) < 5 * np.sqrt(2) * found.mcse
    assert found.sd == pytest.approx(recall.std(), rel=5 / np.sqrt(20_000))


# More than two classes: strata learn from those with the same agreements.

SAID = np.array([[0, 0, 0], [1, 1, 1], [0, 0, 1], [2, 2, 0], [0, 1, 0], [0, 1, 2]])
N_SAID = np.array([300.0, 200, 60, 40, 50, 20])
LABELLED = np.array(
    [[28.0, 1, 1], [2, 15, 0], [5, 2, 0], [1, 0, 3], [4, 1, 0], [1, 0, 1]]  # by true class
)


def expected_rows(mass):
    """Return E p(y | stratum) where κ is fixed: (n_y + κ E ρ) / (n + κ), by hand."""
    overall = np.array([430.5, 200.5, 40.5])  # the judge's counts and half an item each
    rows = []
    for said, counts in zip(SAID, LABELLED, strict=True):
        pattern = [list(said).index(one) for one in said]
        alike = [
            s for s in range(len(SAID)) if [list(SAID[s]).index(x) for x in SAID[s]] == pattern
        ]
        n_named = len(set(said))
        size = n_named + (n_named < 3)
        shapes = np.array([0.75] + [0.25 / (size - 1)] * (size - 1))
        for s in alike:
            worth = (1 + mass) / (LABELLED[s].sum() + mass)
            named = list(dict.fromkeys(SAID[s].tolist()))
            of_named = [LABELLED[s][code] for code in named]
            rest = [] if n_named == 3 else [LABELLED[s].sum() - sum(of_named)]
            shapes = shapes + worth * np.array(of_named + rest)
        shares, row = shapes / shapes.sum(), np.zeros(3)
        named = list(dict.fromkeys(said.tolist()))
        row[named] = shares[:n_named]
        if n_named < 3:
            others = np.where(np.isin(range(3), named), 0.0, overall)
            row += shares[-1] * others / others.sum()
        rows.append((counts + mass * row) / (counts.sum() + mass))
    return np.array(rows)


@pytest.mark.parametrize("mass", [0.5, 6.0, 200.0])
def test_what_strata_learn_from_each_other(mass):
    found = stratified.learned_patterns(SAID, N_SAID, LABELLED)
    assert [one.strata.tolist() for one in found] == [[0, 1], [2, 3], [4], [5]]
    generator, shapes = np.random.default_rng(3), np.repeat(LABELLED[:, :, None], 40_000, axis=2)
    for strata, spread, shares in found:
        fixed = stratified.Shares(shares.counts, mass=mass, shapes=shares.shapes)
        drawn = fixed.draw(generator, 40_000)
        shapes[strata] += np.tensordot(spread, drawn, axes=(1, 0))
    rows = shapes / shapes.sum(axis=1, keepdims=True)
    errors = rows.std(axis=2) / np.sqrt(40_000)
    assert (abs(rows.mean(axis=2) - expected_rows(mass)) <= 5 * errors + 1e-12).all()


def five_classes(n_known, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.choice(5, size=2_000, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    a, b, judge = (
        np.where(rng.random(2_000) < share, truth, (truth + rng.integers(1, 5, 2_000)) % 5)
        for share in (0.85, 0.8, 0.93)
    )
    human = np.where(np.arange(2_000) < n_known, truth, np.nan)
    seen = op.Outcomes.from_judged({"A": a, "B": b}, human=human, judge=judge)
    return truth, a, b, seen


def test_with_all_labels_many_classes_are_what_the_labels_say():
    truth, a, b, seen = five_classes(2_000)
    asked = {"metric": "f1_macro", "rope": 0.01, "random_state": 0}
    c, whole = op.compare(seen, "A", "B", **asked), op.compare(truth, a, b, **asked)
    assert abs(c.mean - whole.mean) < 0.25 * whole.sd  # the priors differ
    assert c.sd == pytest.approx(whole.sd, rel=0.1)


def test_a_judge_of_many_classes_saves_labels():
    truth, a, b, seen = five_classes(200)
    asked = {"metric": "f1_macro", "rope": 0.01, "random_state": 0}
    c = op.compare(seen, "A", "B", **asked)
    alone = op.compare(truth[:200], a[:200], b[:200], **asked)
    assert c.hdi.width < 0.75 * alone.hdi.width
    assert op.Outcomes.from_json(seen.to_json()) == seen
    assert {"judged", "judge_bias"} <= {one.name for one in c.findings}


def test_what_was_observed_counts_strata_that_nobody_looked_at():
    """Three of class 0, 1, 2 each agree; nobody looked at the last, and its pattern stands in."""
    judge = np.repeat([0, 1, 2, 0], [100, 100, 100, 50])
    b = np.repeat([0, 1, 2, 1], [100, 100, 100, 50])
    human = np.full(350, None, dtype=object)
    human[:4], human[100:104], human[300:304] = 0, 1, [0, 0, 0, 1]
    seen = op.Outcomes.from_judged({"A": judge, "B": b}, human=human, judge=judge)
    c = op.compare(seen, "A", "B", **ASKED)
    assert c.a.observed == pytest.approx((300 + 0.75 * 50) / 350)
    assert c.b.observed == pytest.approx((300 + 0.25 * 50) / 350)


def test_too_many_strata_are_refused():
    rng = np.random.default_rng(1)
    judge, a, b = rng.integers(0, 60, size=(3, 3_000))
    human = np.where(np.arange(3_000) < 300, judge, np.nan)
    seen = op.Outcomes.from_judged({"A": a, "B": b}, human=human, judge=judge)
    with pytest.raises(ResourceError, match="need more than 65,536 cells"):
        op.compare(seen, "A", "B", metric="f1_macro", rope=0.01)
