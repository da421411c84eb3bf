"""More items for a comparison that is not decided: what is printed, and what is simulated."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.display.numbers import two_figures
from outperform.errors import UsageError
from outperform.gates.result import Check
from outperform.planning.goals import firm_goal
from outperform.planning.more_data import items_needed, needed_to_decide, outlook_of
from outperform.progress import on_progress


def counted(both=600, new=66, old=40, neither=94):
    truth, counts = [1] * 4, [both, new, old, neither]
    return op.Outcomes.from_counts(
        truth, {"new": [1, 1, 0, 0], "old": [1, 0, 1, 0]}, counts, labels=[0, 1]
    )


def compared(rope=0.01, **counts):
    return op.compare(counted(**counts), "new", "old", metric="accuracy", rope=rope, random_state=0)


GOAL = {"greater_is_better": True}


def test_what_is_printed_is_what_is_simulated():
    c = compared(rope=0.03, new=70)
    assert not c.decision.decided
    printed = needed_to_decide(c)
    more = c.more_data(n_simulations=800, random_state=0, n_jobs=1)
    assert more.seen == c.n == 804
    for name in ("least", "n"):
        size, error = getattr(more, name), getattr(more, f"{name}_error")
        assert abs(np.log(size / getattr(printed, name))) < 4 * error / size + 0.1
    assert more.reached == pytest.approx(0.8, abs=0.01)
    # At the printed number, the simulation itself.
    again = c.more_data(target=0.5, n_simulations=800, random_state=1, n_jobs=1)
    theory = outlook_of(c).probability(firm_goal("decided", c.rope, **GOAL), again.least)
    assert float(theory) == pytest.approx(0.5, abs=4 * again.error + 0.02)


def test_a_tenth_of_the_futures_is_enough_for_the_range():
    c = compared(rope=0.03, new=70)
    heard = []
    with on_progress(lambda done, total: heard.append((done, total))):
        few = c.more_data(random_state=0, n_jobs=1)
    many = c.more_data(n_simulations=800, random_state=1, n_jobs=1)
    assert few.n_simulations <= 100
    assert heard[-1][1] == 100
    assert abs(np.log(few.least / many.least)) < 4 * few.least_error / few.least
    assert few.least_error / few.least < 0.5


@pytest.mark.slow
def test_futures_simulated_apart_from_it_decide_as_often():
    c = compared()
    more = c.more_data(target=0.6, n_simulations=1_500, random_state=2, n_jobs=1)
    generator, decided, times = np.random.default_rng(3), 0, 500
    seen = np.array([600, 66, 40, 94])
    for _ in range(times):
        # Prior uniform of two classes: (A, B) in the only true class has a flat Dirichlet prior.
        world = generator.dirichlet(seen + 1)
        new = seen + generator.multinomial(more.least, world)
        future = compared(**dict(zip(("both", "new", "old", "neither"), new, strict=True)))
        decided += future.decision.decided
    # The prior also expects items of the other class, which here never come: 0.02 for that.
    slack = 4 * np.hypot(more.error, np.sqrt(0.24 / times)) + 0.02
    assert abs(decided / times - 0.6) < slack


def test_items_that_are_there_count():
    c = compared()
    more = c.more_data(goal="≫", target=0.7, n_simulations=600, random_state=0, n_jobs=1)
    new = op.plan(
        pilot=counted(), metric="accuracy", rope=0.01, goal="≫", target=0.7,
        n_simulations=600, random_state=0, n_jobs=1,
    )  # fmt: skip
    assert more.least < new.least
    assert more.seen == 800
    assert new.seen == 0
    assert "The pilot's items are not part of the analysis." in new.report()


def test_every_undecided_comparison_says_it():
    c = compared(rope=0.03, new=70)
    printed = needed_to_decide(c)
    assert c.to_dict()["needed"] == printed._asdict()
    least, n = (f"{two_figures(one):,}" for one in (printed.least, printed.n))
    said = (
        f"Between {least} and {n} more items, on top of the 804 so far, would probably decide it."
    )
    for text in (str(c), c.report(), c.to_html()):
        assert said in " ".join(text.split())
    assert "more items" not in c.report(length="short")


def test_a_decided_comparison_needs_nothing():
    c = compared(new=120, old=20)
    assert needed_to_decide(c) is None
    assert "needed" not in c.to_dict()
    more = c.more_data()
    assert (more.n, more.reached) == (0, 1.0)
    assert "No more items are needed" in str(more)
    # Though it is better, it may take more to be worse: nothing will.
    worse = c.more_data(goal="≪", n_simulations=100, n_draws=200, random_state=0)
    assert worse.n is None


def test_even_very_many_may_not_be_enough():
    c = compared(new=48, old=40)  # the observed difference is the edge itself
    goal = firm_goal("≫", c.rope, **GOAL)
    needed = items_needed(c, goal)
    assert needed.n is None
    assert needed.least is None
    assert needed.max_items == 100 * c.n
    assert needed.probability < 0.3 < float(outlook_of(c).probability(goal, needed.max_items)) < 0.6


def test_a_withheld_decision_predicts_nothing():
    seen = counted(both=100_000, new=2, old=1, neither=0)
    c = op.compare(seen, "new", "old", metric="accuracy", rope=0.01, prior="bootstrap")
    assert needed_to_decide(c) is None


def test_a_pool_whose_disagreements_are_all_labelled_predicts_nothing():
    # The pool's own counts are part of the answer, and labels do not make them more certain.
    generator = np.random.default_rng(5)
    truth = generator.integers(0, 2, 300)
    a, b = (np.where(generator.random(300) < rate, truth, 1 - truth) for rate in (0.85, 0.8))
    kept = np.r_[np.flatnonzero(a != b), np.flatnonzero(a == b)[::6]]
    seen = op.Outcomes.from_labels(truth[kept], {"a": a[kept], "b": b[kept]})
    chosen = seen.in_pool(op.Outcomes.from_labels(a, {"b": b}))
    c = op.compare(chosen, "a", "b", metric="accuracy", rope=0.01, random_state=0, n_draws=1_000)
    assert not c.decision.decided
    assert needed_to_decide(c) is None
    assert "more items" not in str(c)
    with pytest.raises(UsageError, match="chosen from a pool"):
        c.more_data()
    check = Check(comparison=c, require="not_worse")
    assert check.status.value == "undecided"
    assert check.more_items is None


def test_folds_are_not_drawn():
    folds = [0.81, 0.84, 0.79, 0.83, 0.85, 0.80], [0.78, 0.83, 0.80, 0.80, 0.81, 0.81]
    with pytest.raises(UsageError, match="no model for folds or training runs"):
        op.compare_cv_scores(*folds, folds=6, rope=0.01).more_data()


def test_lower_is_better_and_groups():
    groups = np.repeat(np.arange(80), 3)
    generator = np.random.default_rng(4)
    truth = generator.random(240) < 0.5
    a, b = (np.where(generator.random(240) < rate, truth, ~truth) for rate in (0.85, 0.8))
    c = op.compare(
        truth, a, b, metric="accuracy", rope=0.02, groups=groups, random_state=0, n_draws=1_000
    )
    assert not c.decision.decided
    more = c.more_data(n_simulations=100, n_draws=200, random_state=0, n_jobs=1)
    assert more.seen == 240
