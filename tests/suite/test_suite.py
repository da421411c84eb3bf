"""Suites: the mean over tasks, tasks like these, pooling, ranks, and what is refused."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest

import outperform as op
from outperform.display.colours import LIGHT
from outperform.display.layout import Page, plain
from outperform.errors import UsageError
from outperform.inference.spec import make_spec
from outperform.inference.suite import average, contrast_draws, questions
from outperform.results import json_schema
from outperform.suite.api import new_tasks
from tests.lazily import lazily
from tests.loops import each

stats = lazily("scipy.stats")

SHARES = {"arc": (0.7, 0.8), "gsm": (0.5, 0.52), "hella": (0.9, 0.85), "mmlu": (0.6, 0.66)}


def task(n: int, shares: tuple[float, ...], seed: int) -> op.Outcomes:
    rng = np.random.default_rng(seed)
    hard = rng.random(n)
    bits = {
        f"m{place}": np.where(rng.random(n) < 0.7, hard, rng.random(n)) < share
        for place, share in enumerate(shares)
    }
    return op.Outcomes.from_correct(bits)


def some_tasks() -> dict[str, op.Outcomes]:
    return {
        name: task(200 + 100 * seed, shares, seed)
        for seed, (name, shares) in enumerate(SHARES.items())
    }


def suite(**asked) -> op.Suite:
    return op.Suite(some_tasks(), **({"metrics": "accuracy", "ropes": 0.01} | asked))


@pytest.fixture(scope="module")
def compared():
    return op.compare(suite(), "m1", "m0", random_state=1, n_draws=4_000)


def test_the_mean_is_the_mean_of_the_tasks_draws(compared):
    draws = np.mean([one.draws for one in compared.tasks.values()], axis=0)
    np.testing.assert_allclose(compared.draws, draws)
    means = [one.mean for one in compared.tasks.values()]
    assert compared.mean == pytest.approx(np.mean(means), abs=5 * compared.mcse)
    # Tasks have other items, so their variances add up.
    sds = np.array([one.sd for one in compared.tasks.values()])
    assert compared.sd == pytest.approx(np.sqrt(sds @ sds) / 4, rel=0.06)
    assert compared.observed == pytest.approx(
        np.mean([one.observed for one in compared.tasks.values()])
    )
    assert compared.p_worse + compared.p_equivalent + compared.p_better == pytest.approx(1)


def test_a_task_is_what_compare_says_of_it(compared):
    for name, seen in some_tasks().items():
        alone = op.compare(seen, "m1", "m0", metric="accuracy", rope=0.01)
        assert compared.tasks[name].hdi.low == pytest.approx(alone.hdi.low, abs=1e-9)
        assert compared.tasks[name].decision is alone.decision


def test_the_order_of_tasks_changes_nothing(compared):
    turned = op.Suite(dict(reversed(some_tasks().items())), metrics="accuracy", ropes=0.01)
    again = op.compare(turned, "m1", "m0", random_state=1, n_draws=4_000)
    assert again.mean == pytest.approx(compared.mean, abs=1e-12)
    assert list(again.tasks) == list(reversed(compared.tasks))


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ("size", {"arc": 200, "gsm": 300, "hella": 400, "mmlu": 500}),
        ({"arc": 2, "gsm": 1, "hella": 1, "mmlu": 1}, {"arc": 2, "gsm": 1, "hella": 1, "mmlu": 1}),
    ],
)
def test_weights(weights, expected):
    found = op.compare(suite(weights=weights), "m1", "m0", random_state=1, n_draws=2_000)
    total = sum(expected.values())
    assert found.weights == pytest.approx({k: v / total for k, v in expected.items()})
    by_hand = sum(found.weights[name] * one.draws for name, one in found.tasks.items())
    np.testing.assert_allclose(found.draws, by_hand)


def test_tasks_like_these_are_a_t_test_over_tasks(compared):
    means = np.array([one.mean for one in compared.tasks.values()])
    law = stats.t(3, means.mean(), means.std(ddof=1) / 2)
    found = compared.new_tasks
    assert (found.hdi.low, found.hdi.high) == pytest.approx(law.interval(0.95))
    assert found.mean == pytest.approx(means.mean())
    assert found.p_better == pytest.approx(law.sf(0.01))
    assert found.p_worse == pytest.approx(law.cdf(-0.01))
    assert found.p_worse + found.p_equivalent + found.p_better == pytest.approx(1)


def test_tasks_that_agree_by_luck_are_no_surer_than_these_very_tasks():
    two = suite().select(["m0", "m1"])
    asked = questions(two, make_spec, prior=None, paired=True, labels=None, pos_label=None)
    how = average(suite(), asked)
    found = new_tasks(np.full(4, 0.02), np.full(4, 0.04), how, 0.95)
    assert found.hdi.high - found.mean == pytest.approx(stats.norm.ppf(0.975) * 0.02)


@pytest.mark.parametrize("names", [["arc"], ["arc", "gsm"], ["arc", "gsm", "mmlu"]])
def test_few_tasks_say_nothing_of_others(names):
    few = op.Suite({name: some_tasks()[name] for name in names}, metrics="accuracy", ropes=0.01)
    found = op.compare(few, "m1", "m0", random_state=1, n_draws=1_000)
    assert found.new_tasks is None
    assert "few_tasks" in {one.name for one in found.findings}
    assert "On tasks like these" not in str(found)


def test_unequal_weights_are_worth_fewer_tasks():
    lopsided = suite(weights={"arc": 50, "gsm": 1, "hella": 1, "mmlu": 1})
    found = op.compare(lopsided, "m1", "m0", random_state=1, n_draws=1_000)
    assert found.new_tasks is None


def test_tasks_that_a_mapping_does_not_name_have_the_default():
    some = suite(metrics={"arc": "accuracy"}, ropes={"arc": 0.02, "gsm": 0.03})
    found = op.compare(some, "m1", "m0", random_state=1, n_draws=1_000)
    assert (found.tasks["arc"].rope.high, found.tasks["mmlu"].rope.high) == (0.02, 0.01)
    assert not found.tasks["arc"].rope.default
    (told,) = (one for one in found.findings if one.name == "default_rope")
    assert told.message == (
        "No ROPE was given for hella and mmlu; using the default, ±0.01. "
        "Set one that fits your problem."
    )
    ranked = op.rank(some, random_state=1, n_draws=500)
    assert told in ranked.findings
    every = op.compare(suite(ropes=None), "m1", "m0", random_state=1, n_draws=500)
    assert "No ROPE was given; using the default, ±0.01. Set one that fits your problem." in [
        one.message for one in every.findings
    ]


def test_tasks_too_coarse_are_told_how_to_mend_it():
    rng = np.random.default_rng(5)
    grades = {"m0": rng.normal(size=300), "m1": rng.normal(size=300)}
    scores = op.Scores.from_values(grades)
    alone = op.compare(scores, "m1", "m0", metric="mean", rope=1.0, random_state=1, n_draws=500)
    edge = abs(alone.hdi.high)
    near = op.Suite({"x": scores, "y": scores}, metrics="mean", ropes={"x": edge, "y": 5.0})
    found = op.compare(near, "m1", "m0", random_state=1, n_draws=500)
    told = {
        one.message: one.parameter for one in found.findings if one.name.startswith("monte_carlo")
    }
    assert any("In 1 of 2 tasks" in one and "(x)" in one for one in told), told
    assert set(told.values()) == {"n_draws"}
    assert "task_findings" not in {one.name for one in found.findings}


def graded(seed: int) -> op.Scores:
    rng = np.random.default_rng(seed)
    base = rng.normal(6, 2, size=300)
    noise = rng.normal(size=(2, 300))
    return op.Scores.from_values({"m0": base + noise[0], "m1": base + 0.5 + noise[1]})


def test_mixed_metrics_are_averaged_in_ropes():
    tasks = {**some_tasks(), "notes": graded(1)}
    metrics = {name: "mean" if name == "notes" else "accuracy" for name in tasks}
    ropes = {name: 0.25 if name == "notes" else 0.02 for name in tasks}
    found = op.compare(
        op.Suite(tasks, metrics=metrics, ropes=ropes), "m1", "m0", random_state=1, n_draws=2_000
    )
    assert found.scale == "rope"
    by_hand = sum(one.draws / ropes[name] for name, one in found.tasks.items()) / 5
    np.testing.assert_allclose(found.draws, by_hand)
    assert (found.rope.low, found.rope.high) == (-1, 1)


def test_less_is_better_turns_round_in_ropes_and_is_refused_as_a_plain_mean():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=400)
    good, bad = (np.clip(y * s + (1 - y) * (1 - s), 0.01, 0.99) for s in (0.9, 0.6))
    losses = op.Scores.from_arrays(y, {"m1": good, "m0": bad})
    tasks = {"arc": some_tasks()["arc"], "loss": losses}
    asked = {"metrics": {"arc": "accuracy", "loss": "log_loss"}, "ropes": 0.01}
    found = op.compare(op.Suite(tasks, **asked), "m1", "m0", random_state=1, n_draws=1_000)
    assert found.tasks["loss"].mean < 0 < found.mean
    assert found.decision is op.Decision.BETTER
    with pytest.raises(UsageError, match="scale='rope'"):
        op.compare(op.Suite(tasks, scale="metric", **asked), "m1", "m0", n_draws=1_000)


def test_pooling_pulls_tasks_that_are_alike_together():
    shares = [(0.7, 0.73)] * 8
    alike = {f"t{seed}": task(200, one, seed) for seed, one in enumerate(shares)}
    found = op.compare(
        op.Suite(alike, metrics="accuracy", ropes=0.01), "m1", "m0", random_state=1, n_draws=4_000
    )
    own = np.array([one.mean for one in found.tasks.values()])
    pooled = np.array([one.mean for one in found.pooled.values()])
    assert pooled.std() < 0.6 * own.std()
    assert pooled.mean() == pytest.approx(own.mean(), abs=0.3 * own.std())
    assert all(one.sd < found.tasks[name].sd for name, one in found.pooled.items())


def test_pooled_decisions_are_firm_only_where_the_own_items_lean_the_same_way():
    tasks = {}
    for place in range(30):
        lost, gained = (5, 3) if place == 0 else (8, 0)
        right = np.repeat([[1, 1], [0, 1], [1, 0], [0, 0]], [80, lost, gained, 20 - lost], axis=0)
        tasks[f"task{place}"] = op.Outcomes.from_correct({"a": right[:, 0], "b": right[:, 1]})
    found = op.compare(op.Suite(tasks, metrics="accuracy", ropes=0.01), "a", "b", random_state=1)
    assert found.tasks["task0"].decision is op.Decision.UNDECIDED
    assert found.pooled["task0"].hdi.high < -0.01
    assert found.pooled["task0"].decision is op.Decision.LEANING_WORSE
    assert found.pooled["task1"].decision is op.Decision.WORSE


def test_a_task_that_stands_apart_keeps_its_own_decision():
    tasks = {f"t{seed}": task(1_000, (0.7, 0.7), seed) for seed in range(9)}
    tasks["apart"] = task(1_000, (0.8, 0.5), 9)
    found = op.compare(
        op.Suite(tasks, metrics="accuracy", ropes=0.01), "m1", "m0", random_state=1, n_draws=2_000
    )
    assert found.pooled["apart"].decision is op.Decision.WORSE
    assert found.pooled["apart"].mean == pytest.approx(found.tasks["apart"].mean, abs=0.02)


@pytest.fixture(scope="module")
def ranked():
    tasks = {f"t{seed}": task(300 + 50 * seed, (0.60, 0.62, 0.66, 0.67), seed) for seed in range(5)}
    return op.rank(op.Suite(tasks, metrics="accuracy", ropes=0.01), random_state=1, n_draws=4_000)


def test_ranks_are_read_off_the_draws(ranked):
    best = ranked.draws.argmax(axis=0)
    for place, row in enumerate(ranked.rows):
        assert row.p_best == pytest.approx((best == place).mean())
        assert row.regret == pytest.approx((ranked.draws.max(axis=0) - ranked.draws[place]).mean())
    assert sum(row.p_best for row in ranked) == pytest.approx(1)
    assert sum(row.p_best_new_tasks for row in ranked) == pytest.approx(1)
    assert ranked.leader.tied
    assert ranked.leader.name == ranked.names[0]


def test_win_rate_and_mean_rank_are_those_of_the_tasks(ranked):
    for row in ranked.rows:
        ranks, wins = [], []
        for one in ranked.tasks.values():
            place = one.names.index(row.name)
            others = np.delete(one.draws, place, axis=0)
            ahead = (one.draws[place] > others) + 0.5 * (one.draws[place] == others)
            wins.append(ahead.mean())
            ranks.append(1 + (4 - 1) * (1 - ahead.mean()))
        assert row.mean_rank == pytest.approx(np.mean(ranks))
        assert row.win_rate == pytest.approx(np.mean(wins))
        assert row.borda == pytest.approx(3 * np.mean(wins))


def test_differences_to_the_leader_on_new_tasks_are_those_of_compare(ranked):
    other = ranked.rows[-1].name
    tasks = {f"t{seed}": task(300 + 50 * seed, (0.60, 0.62, 0.66, 0.67), seed) for seed in range(5)}
    two = op.compare(
        op.Suite(tasks, metrics="accuracy", ropes=0.01),
        other,
        ranked.leader.name,
        random_state=1,
        n_draws=4_000,
    )
    # The means of draws differ from exact ones by their Monte Carlo error.
    error = 5 * max(one.sd for one in two.tasks.values()) / np.sqrt(4_000)
    assert ranked[other].new_tasks.hdi.low == pytest.approx(two.new_tasks.hdi.low, abs=3 * error)


def test_every_number_has_its_monte_carlo_error(ranked, compared):
    jitter = ranked.tasks["t0"].draws.shape[1]
    assert jitter == 4_000
    for row in ranked.rows:
        assert row.n_models == 4
        facts = {one["name"]: one for one in ranked.to_dict()["models"]}[row.name]
        assert set(facts["mc_errors"]) == set(row.mc_errors) <= set(facts)
        assert all(error > 0 for error in row.mc_errors.values())
        assert row.mc_errors["p_best"] == pytest.approx(
            np.sqrt(row.p_best * (1 - row.p_best) / 4_000), abs=2e-4
        )
        assert row.mc_errors["win_rate"] == pytest.approx(row.mean_rank_mcse / 3)
    assert compared.mc_errors["p_better"] > 0
    assert compared.win_rate_mcse == 0  # the tasks are exact, and so is what follows from them
    assert set(compared.new_tasks.mc_errors.values()) == {0.0}
    verbose = "\n".join(
        str(line) for line in ranked._document().lines(Page(verbose=True, height=None))
    )
    assert "Monte Carlo errors, at most: mean 0.0" in verbose


def test_errors_on_new_tasks_are_those_of_repetition():
    """A ratio of sds from 40 seeds has an error of 11%; four of these are allowed."""
    tasks = {f"t{seed}": task(300, (0.60, 0.66), seed) for seed in range(4)}
    few = op.Suite(tasks, metrics="accuracy", ropes=0.01)
    found = [op.rank(few, random_state=seed, n_draws=200)["m0"].new_tasks for seed in range(40)]
    for name in ("mean", "sd", "p_worse", "p_greater"):
        seen = np.std([getattr(one, name) for one in found], ddof=1)
        said = np.sqrt(np.mean([one.mc_errors[name] ** 2 for one in found]))
        assert seen / said == pytest.approx(1, abs=0.45), name
    seen = np.std([one.hdi.low for one in found], ddof=1)
    assert seen / np.mean([one.hdi.mcse_low for one in found]) == pytest.approx(1, abs=0.45)


def test_slices_are_tasks():
    rng = np.random.default_rng(0)
    bits = {name: rng.integers(0, 2, 400) for name in ("m0", "m1")}
    by = {"task": np.repeat(["a", "b", "c", "d"], 100)}
    seen = op.Outcomes.from_correct(bits, by=by)
    found = op.Suite(seen, metrics="accuracy", ropes=0.01)
    assert list(found) == ["a", "b", "c", "d"]
    assert found["b"].n == 100
    assert found.n == 400


@each(
    ("make", "message"),
    [
        (lambda: op.Suite({}), "at least one task"),
        (lambda: op.Suite([1]), "mapping from names"),
        (lambda: op.Suite({"a": 3}), "Outcomes or Scores"),
        (lambda: op.Suite(some_tasks()["arc"]), "no slices"),
        (lambda: suite(weights={"arc": 1.0}), "weights must include every task; missing: 'gsm'"),
        (lambda: suite(ropes={"nope": 0.01}), "unknown task 'nope'"),
        (lambda: suite(weights="heavy"), "unknown weighting 'heavy'"),
        (lambda: suite(weights=dict.fromkeys(SHARES, 0.0)), "positive numbers"),
        (lambda: suite(scale="log"), "unknown scale 'log'"),
        (lambda: suite()["nope"], "unknown task 'nope'"),
        (lambda: op.compare(suite(), "m0", "m0"), "two models"),
        (lambda: op.compare(suite(), "m0", "m1", metric="f1"), "metrics= to Suite"),
        (lambda: op.compare(suite(), "m0", "m1", rope=0.1), "ropes= to Suite"),
        (lambda: op.compare(suite(), "m0", "m1", engine="pymc"), "one task at a time"),
        (lambda: op.compare(suite(metrics="nope"), "m0", "m1"), "task 'arc'"),
        (lambda: op.rank(suite(), ["m0"]), "at least two models"),
        (lambda: op.compare(suite(scale="rope", ropes=0.0), "m0", "m1"), "zero width"),
        (
            lambda: op.Suite({"a": task(9, (0.5, 0.5), 0), "b": task(9, (0.5, 0.5, 0.5), 0)}),
            "'m2' is in only one of 'a' and 'b'",
        ),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(UsageError, match=message):
        make()


def test_every_task_in_serious_doubt_leaves_the_suite_undecided():
    y, never = ["a", "b"] * 50, ["A", "B"] * 50
    wrong = op.Outcomes.from_labels(y, {"m0": y, "m1": never})
    right = op.Outcomes.from_labels(y, {"m0": y, "m1": ["a"] * 100})
    both = op.Suite({"x": wrong, "y": wrong}, metrics="f1_macro", ropes=0.01)
    found = op.compare(both, "m0", "m1", n_draws=500)
    assert {one.name: one.level for one in found.findings}["task_findings"] == "serious"
    assert found.decision is op.Decision.UNDECIDED
    one = op.Suite({"x": wrong, "y": right}, metrics="f1_macro", ropes=0.01)
    found = op.compare(one, "m0", "m1", n_draws=500)
    assert {one.name: one.level for one in found.findings}["task_findings"] == "serious"
    assert found.decision is op.Decision.UNDECIDED  # labels that never match spoil the mean


def test_facts_follow_their_schema(compared, ranked):
    jsonschema = pytest.importorskip("jsonschema")
    for one in (compared, ranked):
        facts = one.to_dict()
        jsonschema.validate(facts, json_schema(facts["kind"]))


def test_both_questions_are_told_apart(compared, ranked):
    text = str(compared)
    assert text.startswith("On these tasks: ")
    assert "On tasks like these: " in text
    assert "mean of these 4" in text
    assert repr(compared).startswith(f"SuiteComparison({compared.decision.symbol} ")
    assert "on these 5 tasks" in repr(ranked)
    assert "On tasks like these: P(best)" in repr(ranked)


def test_ranking_figures_have_row_per_model_and_per_difference(ranked):
    axes = pytest.importorskip("matplotlib.figure").Figure().subplots(1, 2)
    models = [text.get_text() for text in ranked.plot(axes[0]).get_yticklabels()]
    assert models == list(ranked.names)
    others = [text.get_text() for text in ranked.plot_differences(axes[1]).get_yticklabels()]
    assert others == models[1:]


def test_tables_pages_and_figures(compared, ranked, tmp_path):
    pytest.importorskip("matplotlib")
    assert compared.to_frame()["task"].tolist()[-1] == "tasks like these"
    assert len(ranked.to_frame()) == 4
    for place, one in enumerate((compared, ranked)):
        assert "<table" in one.to_html()
        assert "\\begin{tabular}" in one.to_latex()
        assert one.plot().figure is not None
        path = op.write_report(one, tmp_path / f"{place}.html")
        said = (
            "m1 against m0 on arc, gsm" if place == 0 else "4 models on t0, t1, t2, t3 and 1 more"
        )
        assert f"<h1>{said}" in path.read_text(encoding="utf-8")


def contrasts(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Return what moves the models apart, task by task, and the degrees of freedom."""
    freedom = len(values) - 1
    pull = (values - values.mean(axis=0)) / np.sqrt(len(values) * freedom)
    return pull - pull.mean(axis=1, keepdims=True), freedom


@pytest.fixture(scope="module")
def close():
    """A ranking in which models that are worse than the leader could still be best."""
    tasks = {}
    for seed in range(4):
        rng = np.random.default_rng(seed)
        ease = rng.normal(size=150) + rng.normal(size=(10, 150))
        right = ease / np.sqrt(2) < stats.norm.ppf([0.8] * 9 + [0.86])[:, None]
        tasks[f"t{seed}"] = op.Outcomes.from_correct(
            {f"m{place}": row for place, row in enumerate(right)}
        )
    many = op.Suite(tasks, metrics="accuracy", ropes=0.01)
    return op.rank(many, random_state=1, n_draws=2_000)


def test_a_model_worse_than_the_leader_is_so_in_text_figure_and_page(close):
    behind = [row.name for row in close if row.tied and row.decision is op.Decision.WORSE]
    assert behind
    named = f"worse, but could still be best: {', '.join(behind[:-1])} and {behind[-1]}"
    assert named in repr(close)
    assert f"{behind[-1]} are worse than the leader (≪) but could" in " ".join(str(close).split())
    worse = [row.decision is op.Decision.WORSE for row in close]
    bars = [line for line in close.plot().lines if line.get_marker() == "|"]
    assert [line.get_color() == LIGHT["worse"] for line in bars] == worse
    assert [span.tone == "worse" for span in close._document().spans] == worse
    title = close.plot().get_title(loc="left")
    assert named in " ".join(title.split())


def test_a_ranking_on_a_screen_shows_observed_and_says_what_is_pooled(close, ranked):
    lines = str(ranked).splitlines()
    header = next(line for line in lines if line.startswith("model"))
    assert header.split()[:3] == ["model", "observed", "mean"]
    assert max(map(len, lines)) <= 80
    text = " ".join(str(close).split())
    assert "mean, HDI and P(best) are pooled by the estimated spread" in text
    assert "new tasks: P(best) on tasks like these" in text
    narrow = " ".join(plain(close._document().lines(Page(width=30))).split())
    assert "new tasks:" not in narrow
    assert "P(best) are pooled" not in narrow
    assert "pooled" in close.to_markdown()


def test_only_columns_that_are_shown_are_explained(compared):
    pooled = "pooled mean: shrunk toward the other tasks"
    for width in (80, 120):
        text = plain(compared._document().lines(Page(width=width)))
        shown = "pooled mean" in next(line for line in text.splitlines() if "observed" in line)
        assert shown is (width == 120)
        assert (pooled in text) is shown
    assert pooled in compared.to_markdown()


def test_every_symbol_of_a_suite_is_explained(compared):
    text = " ".join(str(compared).split())
    for row in (compared, compared.new_tasks, *compared.tasks.values()):
        assert f"{row.decision.symbol} {row.decision.words}" in text


def test_two_models_elsewhere_have_the_t_of_their_differences():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(6, 2))
    off = contrast_draws(*contrasts(values), 100_000, rng)
    gap = values[:, 0] - values[:, 1]
    law = stats.t(5, scale=gap.std(ddof=1) / np.sqrt(6))
    share = (off[0] - off[1] < law.ppf([[0.6], [0.9], [0.99]])).mean(axis=1)
    np.testing.assert_allclose(share, [0.6, 0.9, 0.99], atol=4 * 0.5 / np.sqrt(100_000))


def test_many_models_on_few_tasks_do_not_look_surer_than_their_spread():
    # The covariance as seen has no spread at all in most directions.
    rng = np.random.default_rng(0)
    off = contrast_draws(*contrasts(rng.normal(size=(6, 12))), 20_000, rng)
    least, *rest = np.linalg.eigvalsh(np.cov(off))
    assert least == pytest.approx(0, abs=1e-12)  # all models alike
    assert min(rest) > 0.3 / 6


# Scores alone


def fold_table(n_folds: int) -> dict[str, list[object]]:
    """Return scores of three models in folds of six data sets, whose rows are mixed."""
    rng = np.random.default_rng(4)
    keys = rng.permutation(np.repeat(list("uvwxyz"), n_folds)).tolist()
    scores = {name: rng.normal(0.8, 0.03, len(keys)).tolist() for name in ("A", "B", "C")}
    return {"data": keys, **scores}


@pytest.mark.parametrize("n_folds", [1, 5])
@pytest.mark.parametrize("metric", ["mean", "mean_cost"])
def test_a_table_of_scores_is_answered_as_compare_scores_does(n_folds, metric):
    table = fold_table(n_folds)
    stated = {} if n_folds == 1 else {"folds": n_folds}
    suite = op.Suite.from_scores(table, by="data", metric=metric, rope=0.005, **stated)
    assert suite.models == ("A", "B", "C")
    found = op.compare(suite, "C", "A", random_state=1, n_draws=4_000, hdi_prob=0.9)
    c, a = (
        {
            key: [one for one, own in zip(table[name], table["data"], strict=True) if own == key]
            for key in dict.fromkeys(table["data"])
        }
        for name in ("C", "A")
    )
    expected = op.compare_cv_scores(
        c, a, names=("C", "A"), metric=metric, rope=0.005, random_state=1, n_draws=4_000,
        hdi_prob=0.9, **stated,
    )  # fmt: skip
    assert found.to_dict() == expected.to_dict()


def test_rows_of_one_data_set_are_its_folds():
    table = fold_table(5)
    del table["data"]
    suite = op.Suite.from_scores(table, rope=0.005, runs=3)
    expected = op.compare_cv_scores(table["A"], table["B"], rope=0.005, runs=3)
    found = op.compare(suite, "A", "B")
    assert found.mcse == 0
    assert (found.mean, found.hdi, found.p_better) == (
        expected.mean, expected.hdi, expected.p_better
    )  # fmt: skip


def test_what_scores_alone_cannot_answer_is_refused():
    suite = op.Suite.from_scores(fold_table(5), by="data")
    for ask in (
        lambda: op.rank(suite),
        lambda: op.gate(suite, "A", "B"),
        lambda: op.plan(pilot=suite, a="A", b="B"),
    ):
        with pytest.raises(
            UsageError, match=("build a Suite from the Outcomes or Scores of the items")
        ):
            ask()
    with pytest.raises(UsageError, match="unknown model 'D'"):
        op.compare(suite, "A", "D")
    for asked in ({"prior": "unit"}, {"paired": False}, {"rope": 0.1}):
        with pytest.raises(UsageError, match=r"use their own prior|pass ropes= to Suite"):
            op.compare(suite, "A", "B", **asked)
    with pytest.raises(UsageError, match="unknown column 'set'"):
        op.Suite.from_scores(fold_table(5), by="set")


def test_a_page_has_each_model_on_each_task(ranked, tmp_path):
    """A cell has the mean, the interval and the decision that the ranking of the task has."""
    page = op.write_report(ranked, tmp_path / "ranking.html").read_text(encoding="utf-8")
    assert ">Each task</h2>" in page
    grid = page.partition(">Each task</h2>")[2].partition("</table>")[0]
    heads, *rows = grid.split("<tr>")[1:]
    assert re.findall(r">([^<]+)</th>", heads) == ["task", *ranked.names]
    assert len(rows) == len(ranked.tasks)
    for (name, one), row in zip(ranked.tasks.items(), rows, strict=True):
        first, *cells = re.findall(r"<t[hd].*?</t[hd]>", row, flags=re.DOTALL)
        assert re.sub("<[^>]+>", " ", first).split() == [name, "accuracy,", str(one.n), "items"]
        assert ("<b>" in cells[ranked.names.index(one.leader.name)]) is True
        for model, cell in zip(ranked.names, cells, strict=True):
            raw, decision = one[model].raw, one[model].decision
            mean, *symbol, low, _, high = re.sub("<[^>]+>", " ", cell).split()
            expected = (raw.mean, raw.hdi.low, raw.hdi.high)
            assert [float(mean), float(low), float(high)] == pytest.approx(expected, abs=0.0006)
            assert symbol == ([] if decision is None else [html.escape(decision.symbol)])
    assert "<summary>Each task</summary>" in ranked.to_html()
    facts = ranked.to_dict()["tasks"][0]
    assert facts["hdis"]["m0"]["low"] == ranked.tasks["t0"]["m0"].raw.hdi.low
