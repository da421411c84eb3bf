"""The ledger: its lines, its course, and the anchor in a gate."""

from __future__ import annotations

import json
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import integrate, stats

import outperform as op
from outperform.errors import DataError, UsageError
from outperform.gates.ledger import Entry, course_of, link


def entry(number, candidate, baseline, mean=0.0, status="pass", **kwargs):
    given = {"sd": 0.001, "items": "i", "n": 100, "metric": "accuracy", "margin": 0.01}
    return Entry(
        time=f"2026-01-{number:02d}", candidate=candidate, baseline=baseline, mean=mean,
        status=status, **given | kwargs,
    )  # fmt: skip


def pair(n, better, worse, seed=0, names=("new", "old")):
    """Right-or-wrong data in which each model is right alone on some items."""
    kinds = np.repeat([0, 1, 2], [better, worse, n - better - worse])
    np.random.default_rng(seed).shuffle(kinds)
    return op.Outcomes.from_correct({names[0]: kinds != 1, names[1]: kinds != 0})


def test_link_is_the_posterior_given_the_selection():
    mean, sd, cut, margin = 0.004, 0.0035, 0.002, 0.01

    def density(x):
        likelihood = stats.norm.pdf(mean, x, sd) / stats.norm.sf(cut, x, sd)
        return likelihood * stats.norm.pdf(x, 0, math.hypot(2 * margin, mean))

    ends = (mean - 10 * sd, mean + 6 * sd)
    mass = integrate.quad(density, *ends)[0]
    expected = integrate.quad(lambda x: x * density(x), *ends)[0] / mass
    spread = integrate.quad(lambda x: (x - expected) ** 2 * density(x), *ends)[0] / mass
    found = link(mean, sd, cut, margin)
    assert found[0] == pytest.approx(expected, rel=1e-3)
    assert found[1] == pytest.approx(spread, rel=1e-3)
    assert expected < mean - sd / 2


def test_links_above_their_cut_add_up():
    entries = [entry(k, f"v{k}", f"v{k - 1}", -0.003, cut=-0.1) for k in range(1, 6)]
    course = course_of(entries)
    place = course.positions["v5"]
    assert (course.anchor, course.released) == ("v0", "v5")
    assert place.mean == pytest.approx(-0.015, rel=0.02)
    assert math.sqrt(place.variance) == pytest.approx(0.001 * math.sqrt(5), rel=0.02)


def test_anchor_moves_only_to_a_better_release():
    assert course_of([entry(1, "b", "a", 0.001, cut=-0.1)]).anchor == "a"
    assert course_of([entry(1, "b", "a", 0.01, cut=-0.1)]).anchor == "b"
    assert course_of([entry(1, "b", "a", 0.01, status="undecided")]).anchor == "a"
    moved = course_of([entry(1, "b", "a", 0.01, cut=-0.1), entry(2, "c", "b", -0.002, cut=-0.1)])
    assert moved.positions["a"].mean == pytest.approx(-0.01, rel=0.02)
    assert moved.positions["c"].mean == pytest.approx(-0.002, rel=0.02)


def test_order_and_copies_of_lines_do_not_matter(tmp_path):
    entries = [entry(k, f"v{k}", f"v{k - 1}", -0.001, cut=-0.1) for k in range(1, 9)]
    one, two = op.Ledger(tmp_path / "a.jsonl"), op.Ledger(tmp_path / "b.jsonl")
    for each in entries:
        one.append(each)
    for each in [*entries[::-1], *entries[:3]]:
        two.append(each)
    assert one.entries == two.entries
    assert one.loss.mean == two.loss.mean
    assert len(two) == 8


def test_several_processes_append_whole_lines(tmp_path):
    ledger = op.Ledger(tmp_path / "gates.jsonl")
    entries = [entry(1 + k % 28, f"v{k}", "base") for k in range(200)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ledger.append, entries))
    assert len(ledger) == 200


def test_damaged_lines_are_named(tmp_path):
    path = tmp_path / "gates.jsonl"
    ledger = op.Ledger(path)
    for k in range(1, 4):
        ledger.append(entry(k, f"v{k}", f"v{k - 1}"))
    lines = path.read_text().splitlines()
    content = json.loads(lines[1])
    path.write_text(
        "\n".join([lines[0], json.dumps({**content, "mean": 0.5}), "<<<<<<<", lines[2]])
    )
    with pytest.raises(DataError, match="lines 2, 3 of the ledger are damaged"):
        _ = ledger.entries
    path.write_text("\n".join([lines[0], lines[2]]))  # the end of the last line is missing
    ledger.append(entry(9, "v9", "v3"))
    assert len(ledger) == 3


def test_gate_refuses_what_leaks_away(tmp_path):
    """Every release passes against the one before it, but the chain ends at two ROPEs."""
    path, statuses = tmp_path / "gates.jsonl", []
    for k in range(1, 12):
        data = pair(20_000, 540, 660, seed=k, names=(f"v{k}", f"v{k - 1}"))  # 0.006 worse
        asked = {"metric": "accuracy", "rope": 0.01}
        assert op.gate(data, f"v{k}", f"v{k - 1}", **asked).passed
        gate = op.gate(data, f"v{k}", f"v{k - 1}", ledger=path, **asked)
        statuses.append(gate.passed)
        if not gate.passed:
            break
    assert 1 <= sum(statuses) <= 3
    assert not statuses[-1]
    assert op.Ledger(path).anchor == "v0"
    assert op.Ledger(path).loss.mean > 0
    assert "best release" in gate.report()


def test_anchor_in_the_data_is_compared_directly(tmp_path):
    path = tmp_path / "gates.jsonl"
    rng = np.random.default_rng(3)
    y = np.arange(5_000) % 2

    def answers(wrong):
        return np.where(rng.random(5_000) < wrong, 1 - y, y)

    old, mid = answers(0.1), answers(0.1)
    first = op.Outcomes.from_labels(y, {"mid": mid, "old": old})
    asked = {"metric": "accuracy", "rope": 0.03, "ledger": path}
    assert op.gate(first, "mid", "old", **asked).passed
    fresh = op.Outcomes.from_labels(y[:4_000], {
        "new": answers(0.12)[:4_000], "mid": mid[:4_000], "old": old[:4_000]})  # fmt: skip
    check = op.gate(fresh, "new", "mid", **asked).checks[1]
    assert (check.anchor, check.direct) == ("old", True)
    assert check.contrast.observed == pytest.approx(
        op.compare(fresh, "new", "old", metric="accuracy", rope=0.03).observed
    )
    again = op.Outcomes.from_labels(y, {"newer": answers(0.1), "mid": mid, "old": old})
    reused = op.gate(again, "newer", "mid", **asked)
    assert not reused.checks[1].direct
    assert {"ledger_reused", "ledger_looks"} <= {one.name for one in reused.findings}
    assert op.Ledger(path).looks(first) == 2


def test_lower_is_better_is_mirrored(tmp_path):
    path = tmp_path / "gates.jsonl"
    y = np.arange(2_000) % 2
    rng = np.random.default_rng(0)
    old = np.clip(np.where(y == 1, 0.7, 0.3) + rng.normal(0, 0.1, 2_000), 0.01, 0.99)
    new = np.clip(old + np.where(y == 1, 0.1, -0.1), 0.01, 0.99)
    scores = op.Scores.from_arrays(y, {"new": new, "old": old})
    gate = op.gate(scores, "new", "old", metric="brier_score", rope=0.01, ledger=path)
    (only,) = op.Ledger(path).entries
    assert gate.passed
    assert gate.main.mean < 0 < only.mean
    assert gate.checks[1].edge == pytest.approx(0.02)
    assert op.Ledger(path).anchor == "new"


def test_wrong_uses_are_answered(tmp_path):
    data = pair(100, 10, 10)
    with pytest.raises(UsageError, match="file name"):
        op.gate(data, "new", "old", metric="accuracy", rope=0.1, ledger=3)
    suite = op.Suite({"x": data}, metrics="accuracy")
    with pytest.raises(UsageError, match="single task"):
        op.gate(suite, "new", "old", ledger=tmp_path / "x.jsonl")
    assert op.Ledger(tmp_path / "none.jsonl").anchor is None
    assert "No decision" in str(op.Ledger(tmp_path / "none.jsonl"))


def _labels(seed, names=("new", "old"), weights=None):
    rng = np.random.default_rng(seed)
    truth = rng.choice(["a", "b", "c"], 600)
    models = {
        name: np.where(rng.random(600) < 0.9, truth, rng.choice(["a", "b", "c"], 600))
        for name in names
    }
    return op.Outcomes.from_labels(truth, models, sample_weight=weights)


def test_questions_with_different_values_have_their_own_courses(tmp_path):
    path = tmp_path / "gates.jsonl"
    weighted = _labels(1, weights=np.random.default_rng(2).integers(1, 4, 600))
    costs = [op.metrics.cost({("a", "b"): price}) for price in (1, 2)]
    asked = [
        (_labels(0), {"metric": "f1_macro"}),
        (_labels(0), {"metric": "f1_micro"}),
        (_labels(0), {"metric": "f1_macro", "labels": ["a", "b"]}),
        (weighted, {"metric": "f1_macro"}),
        (_labels(0), {"metric": "recall", "pos_label": "a"}),
        (_labels(0), {"metric": "recall", "pos_label": "b"}),
        *((_labels(0), {"metric": metric, "rope": 0.1}) for metric in costs),
        (_labels(0).at_prevalence({"a": 0.1}), {"metric": "f1_macro"}),
    ]
    for data, question in asked:
        op.gate(data, "new", "old", ledger=path, **{"rope": 0.1} | question)
    names = [one.metric for one in op.Ledger(path).entries]
    assert len(set(names)) == len(asked)
    assert names[:6] == [
        "f1_macro", "f1_micro", "f1_macro (averaged over 'a' and 'b')", "f1_macro (weighted)",
        "recall of a", "recall of b",
    ]  # fmt: skip
    for name in names:
        assert len(op.Ledger(path, metric=name).decisions) == 1
    grouped = _labels(3, names=("newer", "new"))
    op.gate(grouped, "newer", "new", ledger=path, metric="f1_macro", rope=0.1, prior="bootstrap")
    assert op.Ledger(path).entries[-1].metric == "f1_macro"  # only the interval changes


def test_repr_tells_which_check_is_of_the_anchor(tmp_path):
    seen = pair(2_000, 20, 20)
    gate = op.gate(seen, "new", "old", metric="accuracy", ledger=tmp_path / "gates.jsonl")
    assert repr(gate) == "Gate(pass: accuracy pass, accuracy against old pass)"


def test_intervals_of_a_table_have_their_probability(tmp_path):
    seen = pair(2_000, 20, 20)
    gate = op.gate(seen, "new", "old", metric="accuracy", at_least=0.9, chosen_from=20)
    table = gate.to_dict()["checks"]
    assert [(one.get("estimate") or one["comparison"])["hdi"]["prob"] for one in table] == [
        0.95,
        pytest.approx(0.9975),
    ]
    for text in (str(gate), gate.to_markdown(), gate.to_html(), gate.to_latex()):
        plain = text.replace("\\%", "%")
        assert "(95% interval)" in plain
        assert "(99.75% HDI)" in plain
    alone = op.gate(seen, "new", metric="accuracy", at_least=0.9, chosen_from=20)
    assert "| 99.75% HDI |" in alone.to_markdown()
    with_anchor = op.gate(seen, "new", "old", metric="accuracy", ledger=tmp_path / "gates.jsonl")
    assert "(97.5% interval)" in with_anchor.to_markdown().split("\n\n")[1]
