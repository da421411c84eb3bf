"""``plan``: against textbook sizes, ``power``, and projects simulated apart from it."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from scipy.special import ndtri

import outperform as op
from outperform.decision.hdi import narrowest_ends
from outperform.display.numbers import rounded
from outperform.errors import UsageError
from outperform.planning.api import Analysis, pilot_world
from outperform.posterior.base import build_posterior
from outperform.posterior.registry import dirichlet_shapes
from outperform.progress import on_progress
from tests.loops import each

FEW = {"n_simulations": 600, "n_draws": 500, "random_state": 0, "n_jobs": 1}
WORLD = {"accuracies": (0.90, 0.86), "agreement": 0.9}
ACCURACIES = {"scenario": WORLD, "rope": 0.01}
BETTER = {"11": 0.6, "10": 0.2, "01": 0.05, "00": 0.15}
REST = {"11": 0.1, "10": 0.03, "01": 0.03, "00": 0.84}
RATES = {"theta_pos": BETTER, "theta_neg": REST, "prevalence": 0.4}
PILOT = op.Outcomes.from_counts(
    [1, 1, 1, 1, 0, 0, 0, 0],
    {"bert": [1, 1, 0, 0, 0, 0, 1, 1], "gpt": [1, 0, 1, 0, 0, 1, 0, 1]},
    [120, 28, 10, 20, 180, 12, 10, 20],
)
CHOSEN = op.Outcomes.from_labels([1, 0], {"a": [1, 0], "b": [0, 0]}).in_pool(
    op.Outcomes.from_labels([1, 0, 0, 1], {"b": [0, 0, 0, 1]})
)
Z = float(ndtri(0.975))


def textbook(p, q, agreement, rope, target=0.8):
    """Return (z₉₇.₅ + z_target)² σ² / (d − rope)² with σ² = disagreement − d²."""
    d = p - q
    return (Z + ndtri(target)) ** 2 * (1 - agreement - d**2) / (d - rope) ** 2


@pytest.mark.parametrize(
    ("p", "q", "agreement", "rope"),
    [(0.90, 0.86, 0.90, 0.01), (0.80, 0.74, 0.80, 0.02), (0.95, 0.93, 0.96, 0.0)],
)
def test_accuracies_need_what_a_z_test_needs(p, q, agreement, rope):
    found = op.plan(
        scenario={"accuracies": (p, q), "agreement": agreement}, rope=rope, goal="≫",
        random_state=1, n_simulations=2_000, n_jobs=1,
    )  # fmt: skip
    right = textbook(p, q, agreement, rope)
    error = found.n_error / found.n
    # The prior is worth four items, and binomials are not quite normal: 3% beside the error.
    assert abs(np.log(found.n / right)) < 4 * error + 0.03
    assert found.reached == pytest.approx(0.8, abs=0.01)
    assert found.width(found.n) == pytest.approx(
        2 * Z * np.sqrt((1 - agreement - (p - q) ** 2) / found.n), rel=0.03
    )


def test_the_detectable_difference_is_detected():
    found = op.plan(**ACCURACIES, goal="≫", **FEW)
    n = 2_500
    d = found.detectable(n)
    again = op.plan(
        scenario={"accuracies": (0.86 + d, 0.86), "agreement": 0.9}, rope=0.01, goal="≫", **FEW
    )
    # d itself changes how much items vary, by d² of a tenth.
    assert again.n == pytest.approx(n, rel=0.12)
    assert found.detectable(4 * n) < d


def test_equivalence_needs_two_sides():
    found = op.plan(
        scenario={"accuracies": (0.9, 0.9), "agreement": 0.9}, rope=0.02, goal="≈", **FEW
    )
    right = ((Z + ndtri(0.9)) / 0.02) ** 2 * 0.1
    assert abs(np.log(found.n / right)) < 4 * found.n_error / found.n + 0.03


def test_models_that_never_disagree_wait_for_the_prior():
    # Two cells without items: A − B has a Laplace distribution with scale 1/(n + 4), so its
    # HDI is ±log(20)/(n + 4); normal theory of very many items sees no width at all.
    found = op.plan(
        scenario={"accuracies": (0.9, 0.9), "agreement": 1.0}, rope=0.01, goal="≈",
        n_simulations=600, n_draws=4_000, random_state=0, n_jobs=1, prior="uniform",
    )  # fmt: skip
    # Test sets do not vary, but the narrowest interval of 4,000 draws does.
    drawn = np.sort(np.random.default_rng(0).laplace(size=(400, 4_000)), axis=1)
    reach = [np.abs(narrowest_ends(one, 0.95)).max() for one in drawn]
    assert np.log(20) / 0.01 < found.n < 1.2 * np.log(20) / 0.01
    assert found.n == pytest.approx(np.quantile(reach, 0.8) / 0.01 - 4, rel=0.05)


def test_what_comes_at_once_has_an_error_too():
    found = op.plan(scenario={"accuracies": (1, 0), "agreement": 0}, rope=0.01, goal="≫", **FEW)
    assert found.n < 10
    assert np.isfinite(found.n_error)
    assert "items: ≫" in repr(found)


def test_high_targets_are_not_rounded_to_certainty():
    found = op.plan(**ACCURACIES, goal="≫", target=0.999, **FEW)
    assert "99.9" in repr(found)
    assert "probability of 99.9% for models" in found.report()


def test_rates_agree_with_power():
    found = op.plan(scenario=RATES, goal="≫", rope=0.03, **FEW)
    checked = op.power(
        **RATES, goal="≫", rope=0.03, sizes=[found.n], n_simulations=1_500, n_draws=500,
        random_state=7, n_jobs=1,
    )  # fmt: skip
    assert abs(checked.power[0] - 0.8) < 4 * np.hypot(checked.mcse[0], found.error)


SCENARIO_A = {
    "theta_pos": {"11": 0.3, "10": 0.3, "01": 0.2, "00": 0.2},
    "theta_neg": {"11": 0.2, "10": 0.2, "01": 0.3, "00": 0.3},
    "prevalence": 0.5,
}
EQUAL = {"11": 0.3, "10": 0.2, "01": 0.2, "00": 0.3}
SCENARIO_B = {"theta_pos": EQUAL, "theta_neg": EQUAL, "prevalence": 0.5}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenario", "around"),
    [((SCENARIO_A, "≫"), (1_700, 2_000)), ((SCENARIO_B, "≈"), (2_000, 2_300))],
)
def test_the_scenarios_of_the_paper_within_five_per_cent(scenario, around):
    world, goal = scenario
    asked = {"goal": goal, "rope": 0.05}
    reference = op.power(**world, **asked, sizes=around, n_simulations=10_000, random_state=99)
    z, x = ndtri(reference.power), np.log(around)
    right = np.exp(x[0] + (ndtri(0.8) - z[0]) * (x[1] - x[0]) / (z[1] - z[0]))
    start = time.perf_counter()
    found = op.plan(scenario=world, **asked, random_state=1)
    seconds = time.perf_counter() - start
    print(f"plan: {found.n} ± {found.n_error:.0f}, reference {right:.0f}, {seconds:.1f} s")
    assert found.n == pytest.approx(right, rel=0.05)


def test_pairing_saves_items():
    paired, unpaired = (
        op.plan(**ACCURACIES, goal="≫", paired=paired, **FEW).n for paired in (True, False)
    )
    # Unpaired, σ² is p(1 − p) + q(1 − q) = 0.2104 for the width, 0.0984 for the spread.
    assert 1.5 < unpaired / paired < 2.3


def test_models_compared_unpaired_still_answer_the_same_items():
    # A pilot so large that its world is certain: what accuracies and an agreement say.
    right, shares = [1, 1, 0, 0], [830_000, 70_000, 30_000, 70_000]
    pilot = op.Outcomes.from_counts([1] * 4, {"A": right, "B": [1, 0, 1, 0]}, shares, labels=[0, 1])
    shared = {"goal": "≫", "rope": 0.01, "metric": "accuracy", "paired": False, **FEW}
    found = op.plan(pilot=pilot, **shared)
    known = op.plan(scenario={"accuracies": (0.90, 0.86), "agreement": 0.9}, **shared)
    # The interval has the width of independent models, its middle varies as that of paired ones.
    wide, spread = np.sqrt(0.2104), np.sqrt(0.0984)
    needed = ((Z * wide + ndtri(0.8) * spread) / 0.03) ** 2
    for one in (found, known):
        assert abs(np.log(one.n / needed)) < 4 * one.n_error / one.n + 0.03


def carried_out(n, times, generator):
    """Simulate projects with code of their own: worlds from the pilot's posterior, flat prior."""
    counts = np.zeros((2, 2, 2))
    (table,) = PILOT.tables
    counts[tuple(table.cells.T)] = table.counts
    reached = 0
    for _ in range(times):
        prevalence = generator.dirichlet(counts.sum(axis=(1, 2)) + 1)
        rows = [generator.dirichlet(row.ravel() + 1) for row in counts]
        world = np.concatenate([share * row for share, row in zip(prevalence, rows, strict=True)])
        new = generator.multinomial(n, world)
        truth, a, b = np.indices((2, 2, 2)).reshape(3, -1)
        seen = op.Outcomes.from_counts(truth, {"a": a, "b": b}, new, labels=[0, 1])
        result = op.compare(
            seen, "a", "b", rope=0.01, n_draws=1_000, random_state=generator, n_jobs=1
        )
        reached += result.decision is op.Decision.BETTER
    return reached / times


def test_a_pilots_plan_is_that_of_projects_simulated_apart_from_it():
    found = op.plan(pilot=PILOT, a="bert", b="gpt", rope=0.01, goal="≫", target=0.7, **FEW)
    share = carried_out(found.least, 600, np.random.default_rng(5))
    # 0.01 for the shortest of 1,000 draws, which is 1.7% too narrow.
    assert abs(share - 0.7) < 4 * np.hypot(found.error, np.sqrt(0.21 / 600)) + 0.01


def test_a_pilot_costs_more_than_its_rates_taken_for_the_truth():
    shared = {"metric": "f1", "rope": 0.01, "goal": "≫", "target": 0.8, **FEW}
    careful = op.plan(pilot=PILOT, **shared)
    bold = op.plan(
        scenario={
            "theta_pos": {"11": 120 / 178, "10": 28 / 178, "01": 10 / 178, "00": 20 / 178},
            "theta_neg": {"11": 20 / 222, "10": 10 / 222, "01": 12 / 222, "00": 180 / 222},
            "prevalence": 178 / 400,
        },
        **shared,
    )
    assert careful.least > 1.2 * bold.n
    assert careful.n is None or careful.n > careful.least


def test_what_is_not_reachable_says_how_far_it_goes():
    found = op.plan(pilot=PILOT, goal="≫", rope=0.05, target=0.9, **FEW)
    assert found.n is None
    assert not found.reachable
    chance = op.compare(PILOT, "bert", "gpt", rope=0.05, random_state=0).p_better
    # In the end ≫ is said of the worlds in which it is true.
    assert found.highest == pytest.approx(chance, abs=4 * np.sqrt(0.19 / 600) + 0.03)
    assert found.reached < found.highest
    assert "Not reachable" in str(found)
    assert found.to_dict()["width"] is None
    assert "at most" in repr(found)


def test_not_worse_needs_fewer_than_better():
    shared = {"pilot": PILOT, "rope": 0.02, "target": 0.8, **FEW}
    assert op.plan(goal="not_worse", **shared).least < op.plan(goal="≫", **shared).least


def test_any_metric_and_number_of_classes():
    news = op.datasets.load_news20()
    seen = op.Outcomes.from_labels(news.y_true, news.predictions)
    few = {**FEW, "n_simulations": 100, "n_draws": 200}
    found = op.plan(
        pilot=seen, a="nb_mult", b="svm_l2", metric="f1_macro", rope=0.01, prior="unit", **few
    )
    assert found.reachable
    assert found.metric == "f1_macro"
    unpaired = op.plan(
        pilot=seen,
        a="nb_mult",
        b="svm_l2",
        metric="accuracy",
        rope=0.01,
        prior="unit",
        paired=False,
        **few,
    )
    assert "unpaired" in unpaired.signature


def test_groups_and_lower_is_better():
    generator = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 5)
    truth = generator.random(300) < 0.5
    a, b = (np.where(generator.random(300) < rate, truth, ~truth) for rate in (0.9, 0.7))
    seen = op.Outcomes.from_labels(truth, {"a": a, "b": b}, groups=groups)
    few = {**FEW, "n_simulations": 200, "n_draws": 200}
    found = op.plan(pilot=seen, metric="accuracy", rope=0.01, goal="≫", **few)
    assert "prior=bootstrap" in found.signature
    costs = op.metrics.from_function(
        lambda confusion: 1 - np.trace(confusion) / confusion.sum(),
        bounds=(0, 1), greater_is_better=False,
    )  # fmt: skip
    mirrored = op.plan(pilot=seen, metric=costs, rope=0.01, goal="≫", **few)
    assert mirrored.least == pytest.approx(found.least, rel=0.5)
    assert mirrored.detectable(1_000) > 0


def test_threads_and_seeds_change_nothing():
    shared = {"pilot": PILOT, "goal": "≫", "rope": 0.01, "target": 0.7}
    few = {"n_simulations": 200, "n_draws": 200, "random_state": 3}
    one, two = (op.plan(**shared, **few, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.to_dict() == two.to_dict()
    assert "seed=3" in one.signature


def test_a_plan_in_every_form():
    done = []
    with on_progress(lambda *now: done.append(now)):
        found = op.plan(**ACCURACIES, goal="better", **FEW)
    facts = json.loads(json.dumps(found.to_dict()))
    assert facts["kind"] == "plan"
    assert facts["goal"] == "≫"
    assert facts["n"] == found.n
    assert list(found.to_frame()["n"]) == list(found.sizes)
    assert f"{rounded(found.n, found.n_error):,}" in found.report()
    assert found.report().endswith(found.signature)
    assert "items" in str(found)
    assert found.to_latex().startswith("%") or "tabular" in found.to_latex()
    assert "<table" in found.to_html()
    assert done[-1][0] <= done[-1][1] == 600
    assert found.probability(found.n) >= 0.8 > found.probability(max(1, found.n // 2))


def test_a_curve_can_be_drawn():
    found = op.plan(**ACCURACIES, goal="≫", **FEW)
    ax = found.plot(label="paired")
    other = op.plan(**ACCURACIES, goal="≫", paired=False, **FEW)
    assert other.plot(ax, label="unpaired") is ax
    written = [text.get_text() for text in ax.texts]
    assert [text for text in written if "paired" in text] == ["paired", "unpaired"]
    assert ax.get_legend() is None
    assert ax.get_ylabel() == "probability"


def test_few_simulations_raise_a_finding():
    coarse = op.plan(**ACCURACIES, goal="≫", n_simulations=100, n_draws=100, random_state=0)
    assert "plan_too_coarse" in [one.name for one in coarse.findings]


@each(
    ("change", "words"),
    [
        ({"scenario": None}, "exactly one scenario"),
        ({"pilot": PILOT}, "exactly one scenario"),
        ({"scenario": {**WORLD, **RATES}}, "got accuracies and theta"),
        ({"scenario": {"acuracies": (0.9, 0.8)}}, "did you mean 'accuracies'"),
        ({"scenario": 0.9}, "must be a mapping"),
        ({"scenario": {**WORLD, "agreement": 0.99}}, "0.76 and 0.96"),
        ({"scenario": {**WORLD, "accuracies": (0.9,)}}, "must be two numbers"),
        ({"scenario": {"agreement": 0.9}}, "needs accuracies in scenario"),
        ({"scenario": {**WORLD, "accuracies": (0.9, 1.2)}}, "probability"),
        ({"metric": "f1"}, "metric='accuracy'"),
        ({"goal": ">"}, "firm decision"),
        ({"goal": "wins"}, "unknown goal .* not_worse, ≫, ≈, ≪$"),
        ({"target": 80}, "target must"),
        ({"max_items": 0}, "max_items must"),
        ({"pos_label": 1}, "applies only to a pilot"),
        ({"n_simulations": 5}, "n_simulations must be"),
        ({"hdi_prob": 95}, r"did you mean 0\.95"),
    ],
)
def test_what_cannot_be_planned_is_refused(change, words):
    with pytest.raises(UsageError, match=words):
        op.plan(**{**ACCURACIES, **FEW, **change})


@each(
    ("given", "words"),
    [
        ({"pilot": [1, 0]}, "must be op.Outcomes"),
        ({"pilot": PILOT, "a": "bert", "b": "bert"}, "must differ"),
        ({"pilot": PILOT.select(["bert"])}, "select two with"),
        ({"pilot": CHOSEN}, "chosen from a pool"),
        ({"scenario": {**RATES, "prevalence": None}}, "pass all three"),
        ({"scenario": RATES, "metric": "accuracy"}, "single-class metric"),
        ({"scenario": RATES, "prior": "bootstrap"}, "no concentration for every cell"),
    ],
)
def test_worlds_say_what_they_need(given, words):
    with pytest.raises(UsageError, match=words):
        op.plan(**given, rope=0.01, **FEW)


def test_sizes_are_positive_whole_numbers():
    found = op.plan(**ACCURACIES, goal="≫", **FEW)
    for ask in (found.width, found.detectable, found.probability):
        with pytest.raises(UsageError, match="positive whole number"):
            ask(0)


@pytest.mark.parametrize("n_simulations", [130, 300])
def test_as_many_test_sets_as_asked_for_are_simulated(n_simulations):
    found = op.plan(pilot=PILOT, rope=0.01, n_simulations=n_simulations, n_draws=200, n_jobs=1)
    assert found.n_simulations <= n_simulations
    assert f"simulations={n_simulations} " in found.signature
    certain = op.plan(scenario=WORLD, rope=0.01, n_simulations=n_simulations, n_draws=200, n_jobs=1)
    assert certain.n_simulations <= n_simulations


def test_a_plan_has_the_prior_of_the_comparison_that_it_plans():
    few = {"rope": 0.03, "sizes": [40], "n_simulations": 200, "n_draws": 200, "random_state": 0}
    default, unit, uniform = (
        op.power(**RATES, **few, **given, n_jobs=1).power[0]
        for given in ({}, {"prior": "unit"}, {"prior": "uniform"})
    )
    assert default == unit != uniform
    # The shapes are those of the posterior of a comparison of two classes without prior=.
    compared = op.compare(PILOT, "bert", "gpt", metric="f1", rope=0.01, random_state=0)
    posterior = build_posterior(compared.spec.view, compared.spec.prior)
    (table,) = PILOT.tables
    counts = np.zeros((2, 2, 2))
    counts[tuple(table.cells.T)] = table.counts
    shapes = dirichlet_shapes(None)
    np.testing.assert_allclose(posterior.shapes, counts + shapes.row_shapes(2, 2))
    np.testing.assert_allclose(
        posterior.prevalence, counts.sum(axis=(1, 2)) + shapes.prevalence_shapes(2)
    )


def test_a_pilot_of_three_classes_is_planned_with_the_prior_of_compare():
    generator = np.random.default_rng(8)
    truth = generator.integers(0, 3, 200)
    models = {name: np.where(generator.random(200) < 0.8, truth, 0) for name in "ab"}
    pilot = op.Outcomes.from_labels(truth, models)
    asked = {"metric": "f1_macro", "rope": 0.05}
    how = {"paired": True, "hdi_prob": 0.95, "prior": None, "labels": None, "pos_label": None}
    world, _ = pilot_world(pilot, "a", "b", Analysis(**asked, **how, n_draws=None))
    compared = op.compare(pilot, "a", "b", **asked, n_draws=1_000, random_state=0)
    assert world.spec.prior.name == compared.spec.prior.name == "learned"


def test_a_pilot_gives_a_range_and_no_percentage_but_the_target():
    found = op.plan(pilot=PILOT, rope=0.01, goal="decided", random_state=0, n_jobs=1)
    assert found.least <= found.n
    assert found.least_probability(found.n) == pytest.approx(0.8, abs=0.01)
    assert found.least_probability(found.n) <= found.probability(found.n)
    assert "%" not in repr(found).replace("(target: 80%)", "")
    better = op.plan(pilot=PILOT, rope=0.03, goal="≫", random_state=0, n_jobs=1)
    assert not better.reachable
