"""The noise floor: its numbers, its gates, and every way to pass runs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import beta, chi2, kstest

import outperform as op
from outperform.decision.rope import Rope
from outperform.errors import CallError, DataError, UsageError
from outperform.gates.rule import judge
from outperform.noise.answers import answers_of, moments
from outperform.noise.floor import (
    Components,
    draw_components,
    gate_flips,
    gate_statuses,
    right_alone,
    runs_differ,
    smallest_effect,
)

STATUSES = ("pass", "fail", "undecided")


def read(runs, **options):
    return answers_of(
        runs, **{"truth": None, "models": None, "groups": None, "ids": None} | options
    )


def drawn(n=200, runs=3, seed=0, shapes=(4, 1)):
    rng = np.random.default_rng(seed)
    return (rng.random((runs, n)) < rng.beta(*shapes, n)).astype(int)


def seed(number=0):
    return np.random.SeedSequence(number)


def test_moments_are_unbiased_in_every_pair_of_answers():
    values = [[1.0, 2.0, 2.0], [0.5, 0.5], [0.0, 1.0, 3.0, 3.0]]
    found = moments(read(values))
    pairs = [[(a, b) for i, a in enumerate(row) for b in row[i + 1 :]] for row in values]
    assert found.flips == pytest.approx([np.mean([a != b for a, b in each]) for each in pairs])
    # A sample variance is the mean over pairs of half the squared difference.
    half = [np.mean([(a - b) ** 2 / 2 for a, b in each]) for each in pairs]
    assert found.within == pytest.approx(half)


def test_flip_rate_of_two_runs_is_a_beta():
    one, two = drawn(120, 2)
    flips = int((one != two).sum())
    noise = op.noise_floor({"a": one, "b": two}, n_draws=40_000, random_state=1)
    exact = beta(flips + 1, 120 - flips + 2)  # three items uniform over 0, 1 and 2 right answers
    assert noise.flip_rate.mean == pytest.approx(exact.mean(), abs=4 * noise.flip_rate.mcse)
    assert noise.flip_rate.sd == pytest.approx(exact.std(), rel=0.03)


def test_icc_is_that_of_the_analysis_of_variance():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(400, 1)) + rng.normal(size=(400, 4)) * 0.7
    between = 4 * x.mean(axis=1).var(ddof=1)
    within = x.var(axis=1, ddof=1).mean()
    icc = (between - within) / (between + 3 * within)
    noise = op.noise_floor(x, random_state=0)
    assert noise.icc.mean == pytest.approx(icc, abs=0.005)
    assert noise.trial_share.mean == pytest.approx((1 - icc) / 4 / (icc + (1 - icc) / 4), abs=0.005)
    assert noise.score_sd.mean == pytest.approx(np.sqrt(within / 1_600), rel=0.01)


def test_no_flip_seen_is_not_no_flip_possible():
    noise = op.noise_floor({"a": [1, 0] * 50, "b": [1, 0] * 50}, random_state=0)
    assert 0.02 < noise.flip_rate.hdi.high < 0.04  # the rule of three: 3 / 100
    assert [each.name for each in noise.findings] == ["no_flips"]
    assert noise.flaky == ()


@pytest.mark.parametrize("n", [200, 2_000])
def test_statuses_are_those_of_real_gates(n):
    rng = np.random.default_rng(n)
    for _ in range(12):
        apart = int(rng.integers(4, n // 6))
        better = int(rng.binomial(apart, rng.choice([0.2, 0.5, 0.7])))
        rope = float(rng.choice([0.01, 0.03, 0.06]))
        new, old = np.zeros((2, n), dtype=int)
        new[:better], old[better:apart] = 1, 1
        seen = op.Outcomes.from_correct({"new": new, "old": old})
        real = op.compare(seen, "new", "old", metric="accuracy", rope=rope, n_draws=1_000)
        region = Rope.from_param(rope)
        status = gate_statuses(np.array(better), np.array(apart - better), n, region, 0.95)
        # The expansion is off by a few per cent of the width if a model wins hardly any item.
        near = min(abs(real.hdi.low + rope), abs(real.hdi.high + rope)) < 0.04 * real.hdi.width
        assert near or STATUSES[int(status)] == judge(real).value, (n, better, apart, rope)


def of_flips(rate, within):
    return Components(*(np.array([value]) for value in (0.8, rate, within, 0.1)))


def test_flips_of_counts_are_those_of_simulated_runs():
    rng = np.random.default_rng(3)
    ease = rng.choice([1.0, 0.0, 0.5, 0.9], 400, p=[0.6, 0.2, 0.1, 0.1])
    rate = 2 * float((ease * (1 - ease)).mean())
    rope = Rope.from_param(0.04)
    found = gate_flips(
        of_flips(rate, rate / 2), n_items=400, n_trials=1, rope=rope, prob=0.95,
        alone=float((ease * (1 - ease) ** 2).mean()) / (rate / 2), seed=seed(),
    )  # fmt: skip
    base, one, two = (rng.random((6_000, 400)) < ease for _ in range(3))
    statuses = [
        gate_statuses((new & ~base).sum(axis=1), (base & ~new).sum(axis=1), 400, rope, 0.95)
        for new in (one, two)
    ]
    assert found.flips[0] == pytest.approx((statuses[0] != statuses[1]).mean(), abs=0.02)
    assert found.passes[0] == pytest.approx((statuses[0] == 0).mean(), abs=0.02)
    assert found.fails[0] == pytest.approx((statuses[0] == 1).mean(), abs=0.01)


@pytest.mark.parametrize("runs", [2, 3, 6])
def test_right_alone_is_learned_from_any_number_of_runs(runs):
    rng = np.random.default_rng(runs)
    ease = rng.beta(4, 0.8, 40_000)
    answers = read((rng.random((40_000, runs)) < ease[:, None]).astype(int))
    true = (ease * (1 - ease) ** 2).mean() / (ease * (1 - ease)).mean()
    assert right_alone(moments(answers), answers.times) == pytest.approx(true, abs=0.015)


@pytest.mark.parametrize("trials", [1, 4])
def test_flips_of_grades_are_those_of_normal_runs(trials):
    rng = np.random.default_rng(4)
    rope = Rope.from_param(0.08)
    found = gate_flips(
        of_flips(1.0, 0.5), n_items=300, n_trials=trials, rope=rope, prob=0.95,
        alone=None, seed=seed(),
    )  # fmt: skip
    sd = np.sqrt(0.5 / (300 * trials))
    base, one, two = rng.normal(0, sd, (3, 400_000))
    half = 1.959964 * np.sqrt(2) * sd
    first, second = (
        np.where(new - base - half >= -0.08, 0, np.where(new - base + half < -0.08, 1, 2))
        for new in (one, two)
    )
    assert found.flips[0] == pytest.approx((first != second).mean(), abs=0.004)
    assert found.passes[0] == pytest.approx((first == 0).mean(), abs=0.004)


def test_smallest_effect_is_declared_better_as_often_as_stated():
    rng = np.random.default_rng(5)
    n, rope = 500, Rope.from_param(0.02)
    ease = rng.choice([1.0, 0.0, 0.5], n, p=[0.5, 0.3, 0.2])
    effect = float(
        smallest_effect(
            np.array([(ease * (1 - ease)).mean()]), n_items=n, n_trials=1, rope=rope, prob=0.95,
            target=0.8, binary=True,
        )[0]
    )  # fmt: skip
    wrong = np.flatnonzero(ease == 0)
    gained = rng.choice(wrong, round(effect * n), replace=False)
    better = ease.copy()
    better[gained] = 1.0
    new, old = rng.random((3_000, n)) < better, rng.random((3_000, n)) < ease
    above = Rope(low=rope.high, high=rope.high)
    won = gate_statuses((new & ~old).sum(axis=1), (old & ~new).sum(axis=1), n, above, 0.95) == 0
    # The items are fixed here, so the mean varies less than its sd: 80% is a lower limit.
    assert 0.79 < won.mean() < 0.9


def test_runs_are_interchangeable_under_the_null():
    p_values = []
    for number in range(300):
        runs = read({str(k): bits for k, bits in enumerate(drawn(80, 4, seed=number))})
        p_values.append(runs_differ(runs, moments(runs)))
    assert kstest(p_values, "uniform").pvalue > 1e-3


def test_runs_differ_is_cochrans_q():
    x = drawn(60, 3, seed=9)
    x[2] |= drawn(60, 1, seed=3)[0]
    totals, rows = x.sum(axis=1), x.sum(axis=0)
    q = 2 * (3 * (totals**2).sum() - totals.sum() ** 2) / (3 * rows.sum() - (rows**2).sum())
    runs = read({str(k): bits for k, bits in enumerate(x)})
    assert runs_differ(runs, moments(runs)) == pytest.approx(chi2.sf(q, 2))


def test_changed_model_is_reported():
    x = drawn(300, 2)
    noise = op.noise_floor({"a": x[0], "b": x[1] | drawn(300, 1, seed=5)[0]}, random_state=0)
    assert [each.name for each in noise.findings] == ["runs_differ"]


def numbers(noise):
    return [
        noise.n,
        noise.n_answers,
        noise.n_trials,
        noise.flip_rate,
        noise.icc,
        noise.p_gate_flips,
    ]


def same(one, two):
    def texts(noise):
        return json.dumps([str(value) for value in numbers(noise)])

    return texts(one) == texts(two)


def test_every_input_gives_the_same_numbers(tmp_path):
    pd = pytest.importorskip("pandas")
    x = drawn(60, 2)
    names = [f"q{k}" for k in range(60)]
    arrays = op.noise_floor({"a": x[0], "b": x[1]}, ids=names, random_state=0)
    frame = pd.DataFrame({"item": names, "a": x[0], "b": x[1]})
    path = tmp_path / "runs.csv"
    frame.to_csv(path, index=False)
    seen = op.Outcomes.from_correct({"a": x[0], "b": x[1]}, ids=names)
    labels = frame.assign(gold="yes", a=np.where(x[0], "yes", "no"), b=np.where(x[1], "yes", "no"))
    for other in (
        op.noise_floor(frame, ids="item", random_state=0),
        op.noise_floor(path, ids="item", models=["a", "b"], random_state=0),
        op.noise_floor(seen, random_state=0),
        op.noise_floor(labels, truth="gold", ids="item", random_state=0),
        op.noise_floor(
            op.Scores.from_values({"a": x[0] * 1.0, "b": x[1] * 1.0}, ids=names), random_state=0
        ),
    ):
        assert same(arrays, other)
        assert arrays.flaky == other.flaky
    stored = op.Outcomes.from_correct({"a": x[0], "b": x[1]}).to_json()
    (tmp_path / "stored.json").write_text(stored, encoding="utf-8")
    without_rows = op.noise_floor(op.read(tmp_path / "stored.json"), random_state=0)
    assert without_rows.flip_rate.mean == pytest.approx(arrays.flip_rate.mean, abs=0.005)
    assert without_rows.n_flaky == arrays.n_flaky
    assert without_rows.flaky == ()


def test_repeated_answers_are_groups_rows_or_lists():
    x = drawn(50, 3)
    rows = op.noise_floor(x.T, random_state=0)
    assert (rows.n, rows.n_trials, rows.runs) == (50, 3, ("run",))
    item = np.tile(np.arange(50), 3)
    long = op.noise_floor({"m": x.ravel()}, groups=item, random_state=0)
    seen = op.Outcomes.from_correct({"m": x.ravel()}, groups=item)
    scores = op.Scores.from_values({"m": x.ravel() * 1.0}, groups=item)
    for other in (long, op.noise_floor(scores, random_state=0)):
        assert same(rows, other)
        assert rows.flaky == other.flaky
    grouped = op.noise_floor(seen, random_state=0)
    assert (grouped.n, grouped.n_trials, grouped.n_flaky) == (50, 3, rows.n_flaky)
    assert grouped.flip_rate.mean == pytest.approx(rows.flip_rate.mean, abs=0.01)


def test_logs_of_several_runs_and_of_epochs(tmp_path):
    x = drawn(30, 3)
    for run, bits in enumerate(x):
        folder = tmp_path / f"run{run}"
        folder.mkdir()
        lines = [
            json.dumps({
                "doc_id": place, "doc": {"q": place}, "target": "x", "arguments": [], "resps": [],
                "filtered_resps": [], "filter": "none", "metrics": ["acc"], "acc": float(bit),
                "doc_hash": str(place), "prompt_hash": "p", "target_hash": "t",
            })
            for place, bit in enumerate(bits)
        ]  # fmt: skip
        (folder / "samples_arc_2026-01-01T00-00-00.000000.jsonl").write_text("\n".join(lines))
    logs = op.noise_floor([tmp_path / f"run{run}" for run in range(3)], random_state=0)
    assert logs.runs == ("run0", "run1", "run2")
    arrays = op.noise_floor({str(k): bits for k, bits in enumerate(x)}, random_state=0)
    assert sorted(row.flip_rate for row in logs) == sorted(row.flip_rate for row in arrays)
    assert {str(row.id) for row in logs} == {str(row.id) for row in arrays}
    epochs = op.noise_floor(
        op.read({"m": [tmp_path / f"run{run}" for run in range(3)]}, format="lm-eval"),
        random_state=0,
    )
    assert (epochs.n, epochs.n_trials, epochs.n_flaky) == (30, 3, logs.n_flaky)


def test_right_and_wrong_in_words_and_grades():
    noise = op.noise_floor({"a": ["pass", "fail"] * 10, "b": ["pass", "pass"] * 10}, random_state=0)
    assert noise.binary
    assert noise.n_flaky == 10
    grades = op.noise_floor([[0.2, 0.4], [0.9, 0.9]] * 20, random_state=0)
    assert not grades.binary
    assert grades.n_flaky == 20


@pytest.mark.parametrize(
    ("runs", "options", "error", "words"),
    [
        ({"a": [1, 0, 1]}, {}, DataError, "3 of 3 items have a single answer, e.g. 0"),
        ({"a": [1, 0], "b": [1]}, {}, DataError, "run 'b' has 1 items but 'a' has 2"),
        ({"a": ["x", "y"], "b": ["x", "x"]}, {}, DataError, "must contain right or wrong"),
        ({"a": [1, None], "b": [1, 1]}, {}, DataError, "run 'a' has no answer in row 1"),
        ({"a": [2.5] * 4, "b": [2.5] * 4}, {}, DataError, "all grades are equal"),
        ({}, {}, UsageError, "runs is empty"),
        ({"a": [1, 0], "b": [1, 0]}, {"n_trials": 0}, UsageError, "n_trials must be a positive"),
        ({"a": [1, 0], "b": [1, 0]}, {"truth": "x"}, UsageError, "truth= is a column"),
        ({"a": [1, 0], "b": [1, 0]}, {"seed": 1}, CallError, "type random_state=1"),
        (7, {}, UsageError, "runs must be the answers by run"),
        (op.Outcomes.from_confusion({"m": [[3, 1], [1, 3]]}), {}, DataError, "single answer"),
    ],
)
def test_wrong_calls(runs, options, error, words):
    with pytest.raises(error, match=words.replace("(", r"\(")):
        op.noise_floor(runs, **options)


def _columns(others, n=60):
    a, b = drawn(n, 2)
    return {**others, "a": a.tolist(), "b": b.tolist()}


@pytest.mark.parametrize(
    "others",
    [
        {"id": list(range(60))},
        {"id": [f"q{k}" for k in range(60)]},
        {"id": [7919 * k % 10_007 for k in range(1, 61)]},
        {"cost": [0.01 + k / 1_000 for k in range(60)]},
        {"id": list(range(60)), "cost": [0.01 + k / 1_000 for k in range(60)]},
    ],
)
def test_columns_that_are_no_runs_are_refused(others, tmp_path):
    pd = pytest.importorskip("pandas")
    columns = _columns(others)
    frame, path = pd.DataFrame(columns), tmp_path / "runs.csv"
    frame.to_csv(path, index=False)
    name = next(iter(others))
    words = rf"were taken as runs, but '{name}' has 60 different values.*"
    for source in (frame, path):
        with pytest.raises(UsageError, match=words + r"pass models=\['a', 'b'\]") as caught:
            op.noise_floor(source)
        assert f"ids='{name}' if it identifies the items" in str(caught.value)
        assert op.noise_floor(source, models=["a", "b"], random_state=0).runs == ("a", "b")
    with pytest.raises(UsageError, match=words + "pass only 'a' and 'b'"):
        op.noise_floor(columns)


def test_ids_among_grades_and_labels_are_refused():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    grades = {"a": rng.random(60), "b": rng.random(60)}
    for ids in (range(60), rng.permutation(5_000)[:60] + 100):
        scores = op.Scores.from_values({"id": np.array(ids, dtype=float), **grades})
        with pytest.raises(UsageError, match=r"pass models=\['a', 'b'\]$"):
            op.noise_floor(scores)
        assert op.noise_floor(scores, models=["a", "b"], random_state=0).runs == ("a", "b")
    gold = np.where(rng.random(60) < 0.5, "yes", "no")
    labels = pd.DataFrame({"id": range(60), "gold": gold, "a": gold, "b": gold[::-1]})
    with pytest.raises(UsageError, match=r"none is a label of 'gold'; pass models=\['a', 'b'\]"):
        op.noise_floor(labels, truth="gold")
    assert op.noise_floor(labels, truth="gold", ids="id", random_state=0).runs == ("a", "b")


def test_grades_of_whole_numbers_are_runs():
    rng = np.random.default_rng(1)
    tokens = rng.permutation(900)[:60] + 100  # all distinct
    runs = {"a": tokens, "b": tokens + rng.integers(-3, 4, 60), "c": tokens[::-1]}
    assert op.noise_floor(runs, random_state=0).runs == ("a", "b", "c")
    mixed = {"a": [1.0, 0.0] * 6, "b": [1.0, 0.5] * 6}
    assert not op.noise_floor(mixed, random_state=0).binary
    repeated = {"item": [k // 3 + 7 for k in range(60)], **_columns({})}
    with pytest.raises(UsageError, match="'item' has 20 different values in 60 rows"):
        op.noise_floor(repeated)


def test_table_of_items_and_document():
    x = drawn(40, 3)
    noise = op.noise_floor({str(k): bits for k, bits in enumerate(x)}, random_state=0)
    table = noise.items()
    assert len(table) == noise.n_flaky == len(noise.flaky)
    rates = table["flip_rate"]
    assert list(rates) == sorted(rates, reverse=True)
    text = " ".join(str(noise).split())
    assert "gives another result with probability" in text
    assert "Twice the trials remove" in text
    assert "| P(gate flips)" in noise.to_markdown()
    assert noise.to_dict()["kind"] == "noise"
    assert len(noise.table()) == 8


def test_weights_count_items_as_often():
    x = drawn(60, 2)
    weights = np.tile([1.0, 3.0], 30)
    weighted = op.Outcomes.from_correct({"a": x[0], "b": x[1]}, sample_weight=weights)
    twice = np.repeat(np.arange(60), weights.astype(int))
    noise = op.noise_floor(weighted, random_state=0)
    copied = op.noise_floor({"a": x[0][twice], "b": x[1][twice]}, random_state=0)
    assert noise.flip_rate.mean == pytest.approx(copied.flip_rate.mean, abs=0.02)
    assert noise.n == 60
    # (Σ w)² / Σ w² = 120² / 300 = 48 items are worth as much as these 60.
    assert noise.score_sd.mean == pytest.approx(copied.score_sd.mean * np.sqrt(120 / 48), rel=0.05)


def test_draws_do_not_depend_on_merging_equal_items():
    x = drawn(100, 2)
    one = read({"a": x[0], "b": x[1]})
    two = read({"a": x[0][::-1], "b": x[1][::-1]})
    both = [
        draw_components(moments(each), each.times, binary=True, n_draws=500, seed=seed())
        for each in (one, two)
    ]
    np.testing.assert_allclose(both[0].flips, both[1].flips)


def width_by_simulation(between, within, design, rng):
    """Return the spread of the score of simulated evaluations with this design."""
    n, trials = design
    items = rng.normal(0, np.sqrt(between), (2_000, n)).mean(axis=1)
    return np.std(items + rng.normal(0, np.sqrt(within / (n * trials)), 2_000))


@pytest.mark.parametrize(
    ("between", "within", "item_price", "trial_price"),
    [(1.0, 1.0, 1.0, 0.05), (0.2, 1.0, 1.0, 0.5), (1.0, 0.1, 1.0, 1.0), (0.05, 1.0, 2.0, 0.1)],
)
def test_planned_design_is_within_3_percent_of_the_best_on_a_grid(
    between, within, item_price, trial_price
):
    rng = np.random.default_rng(11)
    budget = 300.0
    grid = {
        trials: (int(budget / (item_price + trial_price * trials)), trials)
        for trials in (*range(1, 12), 15, 20, 30, 50)
    }
    spread = {
        trials: np.sqrt((between + within / trials) / design[0]) for trials, design in grid.items()
    }
    best = min(spread.values())
    simulated = {
        trials: width_by_simulation(between, within, design, rng) for trials, design in grid.items()
    }
    # The formula is that of simulated evaluations: 2,000 of them have a relative error of 1.6%.
    assert max(abs(np.log(simulated[trials] / spread[trials])) for trials in grid) < 0.064
    off = []
    # The pilot must show how much items differ, which takes more of them if the ICC is low.
    n_pilot = 150 if between > 0.1 else 400
    for number in range(20):
        items = rng.normal(0, np.sqrt(between), (n_pilot, 1))
        pilot = items + rng.normal(0, np.sqrt(within), (n_pilot, 4))
        noise = op.noise_floor(pilot, n_draws=300, random_state=number)
        plan = noise.plan(item_price=item_price, trial_price=trial_price, budget=budget)
        chosen = plan.best
        assert chosen.cost <= budget
        true = np.sqrt((between + within / chosen.n_trials) / chosen.n_items)
        off.append(true / best - 1)
    assert np.mean(off) < 0.03


def test_plan_buys_what_the_prices_allow():
    noise = op.noise_floor(drawn(200, 3).T, random_state=0)
    free = noise.plan(item_price=1, trial_price=0, budget=100)
    assert (free.best.n_items, free.n_trials) == (100, 10_000)
    only_trials = noise.plan(item_price=0, trial_price=1, budget=100)
    assert (only_trials.best.n_items, only_trials.n_trials) == (100, 1)
    assert "one trial" in repr(only_trials)
    assert only_trials.to_dict()["kind"] == "design"
    with pytest.raises(UsageError, match="budget buys fewer than two items"):
        noise.plan(item_price=100, trial_price=1, budget=100)
    with pytest.raises(UsageError, match="item_price must be a number"):
        noise.plan(item_price=-1, trial_price=1, budget=100)


def test_grades_beyond_one_have_ropes_beyond_one():
    grades = np.random.default_rng(0).integers(0, 100, size=(2, 200))
    runs = {"a": grades[0], "b": grades[1]}
    assert 0 < op.noise_floor(runs, rope=5, random_state=0).p_gate_flips.mean < 0.5
