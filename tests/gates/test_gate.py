"""The rule of the gate, its guards, and how many items would decide."""

from __future__ import annotations

import dataclasses
import json
import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

import outperform as op
from outperform.decision.intervals import Interval
from outperform.decision.rope import Masses, Rope, decide
from outperform.errors import UsageError
from outperform.gates.result import Check
from outperform.gates.rule import items_to_judge, judge, withheld
from tests.loops import each

PASS, FAIL, UNDECIDED = (
    op.results.GateStatus.PASS,
    op.results.GateStatus.FAIL,
    op.results.GateStatus.UNDECIDED,
)


def error_rate(confusion):
    """Return the share of wrong predictions."""
    return 1 - np.trace(confusion) / confusion.sum()


ERROR_RATE = op.metrics.from_function(error_rate, bounds=(0, 1), greater_is_better=False)


def counted(*, both=600, new=60, old=40, neither=100):
    """Return outcomes by how many items both, only new, only old and neither got right."""
    truth, counts = ["x"] * 4, [both, new, old, neither]
    predictions = {"new": ["x", "x", "y", "y"], "old": ["x", "y", "x", "y"]}
    return op.Outcomes.from_counts(truth, predictions, counts).with_never_true(["y"])


def compared(metric="accuracy", n_draws=None, **counts):
    asked = {"metric": metric, "rope": 0.01, "random_state": 0, "n_draws": n_draws}
    return op.compare(counted(**counts), "new", "old", **asked)


GREATER = compared()
SMALLER = compared(ERROR_RATE)


def placed(low, high, rope, *, like=GREATER, mean=None):
    """Return a comparison whose HDI and ROPE are where the test wants them."""
    mean = (low + high) / 2 if mean is None else mean
    found = dataclasses.replace(
        like,
        observed=mean,
        sd=(high - low) / 4,
        hdi=Interval(low=low, high=high, prob=0.95),
        mean=mean,
        rope=Rope.from_param(rope, bounds=None),
        findings=(),
    )
    region, sd = found.rope, max(found.sd, 1e-12)
    below, above = float(ndtr((region.low - mean) / sd)), float(ndtr((mean - region.high) / sd))
    masses = Masses(
        below=below, inside=1 - below - above, above=above, greater=float(ndtr(mean / sd))
    )
    greater = found.spec.metric.greater_is_better
    decision = decide(found.hdi, region, masses, greater_is_better=greater)
    return dataclasses.replace(found, _masses=masses, decision=decision)


@each(
    ("low", "high", "symbol", "not_worse", "better"),
    [
        (0.02, 0.05, "≫", PASS, PASS),
        (0.01, 0.05, ">", PASS, UNDECIDED),
        (-0.005, 0.05, ">", PASS, UNDECIDED),
        (-0.01, 0.05, ">", PASS, UNDECIDED),
        (-0.005, 0.005, "≈", PASS, FAIL),
        (-0.01, 0.01, "≈", PASS, FAIL),
        (-0.02, 0.05, "?", UNDECIDED, UNDECIDED),
        (-0.03, 0.03, "?", UNDECIDED, UNDECIDED),
        (-0.05, 0.02, "?", UNDECIDED, UNDECIDED),
        (-0.05, 0.005, "<", UNDECIDED, FAIL),
        (-0.05, -0.01, "<", UNDECIDED, FAIL),
        (-0.05, -0.02, "≪", FAIL, FAIL),
    ],
)
def test_the_rule_in_a_table(low, high, symbol, not_worse, better):
    found = placed(low, high, 0.01)
    assert found.decision.symbol == symbol
    assert judge(found) is not_worse
    assert judge(found, require="better") is better
    mirrored = placed(-high, -low, 0.01, like=SMALLER)
    assert mirrored.decision.symbol == symbol
    assert judge(mirrored) is not_worse
    assert judge(mirrored, require="better") is better


ENDS = st.tuples(st.integers(-50, 50), st.integers(-50, 50)).map(sorted)


@given(ENDS, ENDS)
def test_the_rule_says_what_the_symbols_say(hdi, rope):
    found = placed(hdi[0] / 100, hdi[1] / 100, (rope[0] / 100, rope[1] / 100))
    only_upper = rope[0] <= hdi[0] <= rope[1] < hdi[1]
    passes = found.decision.symbol in "≫≈" or only_upper
    assert (judge(found) is PASS) == passes
    assert (judge(found) is FAIL) == (found.decision.symbol == "≪")
    assert (judge(found, require="better") is PASS) == (found.decision.symbol == "≫")
    if found.decision.symbol in "≪≈":
        assert judge(found, require="better") is FAIL


@given(ENDS, ENDS)
def test_lower_is_better_is_the_mirror_image(hdi, rope):
    found = placed(hdi[0] / 100, hdi[1] / 100, (rope[0] / 100, rope[1] / 100))
    mirror = placed(-hdi[1] / 100, -hdi[0] / 100, (-rope[1] / 100, -rope[0] / 100), like=SMALLER)
    for require in ("not_worse", "better"):
        assert judge(found, require=require) is judge(mirror, require=require)
        more = [items_to_judge(one, require=require) for one in (found, mirror)]
        assert (more[0] is None) == (more[1] is None)
        if more[0] is not None:
            assert more[0].n == more[1].n
            assert more[0].probability == pytest.approx(more[1].probability)


@given(ENDS, st.integers(0, 50), st.integers(0, 50))
def test_a_wider_rope_never_makes_not_worse_harder(hdi, half, wider):
    narrow, wide = (placed(hdi[0] / 100, hdi[1] / 100, one / 100) for one in (half, half + wider))
    order = [FAIL, UNDECIDED, PASS]
    assert order.index(judge(wide)) >= order.index(judge(narrow))
    assert order.index(judge(narrow, require="better")) <= order.index(judge(narrow))


def test_a_serious_finding_withholds_the_status():
    seen = counted(both=100_000, new=2, old=1, neither=0)
    found = op.compare(seen, "new", "old", metric="accuracy", rope=0.01, prior="bootstrap")
    assert withheld(found) == ("few_disagreements",)
    assert judge(found) is UNDECIDED
    assert items_to_judge(found) is None
    serious = dataclasses.replace(
        placed(0.1, 0.2, 0.01), findings=(op.Finding("unstable_learner", "serious", "So."),)
    )
    assert judge(serious) is judge(serious, require="better") is UNDECIDED


def test_an_unknown_requirement_names_the_known_ones():
    with pytest.raises(UsageError, match="did you mean 'not_worse'"):
        judge(GREATER, require="not-worse")
    with pytest.raises(UsageError, match="Known: not_worse, better"):
        op.gate(counted(), "new", "old", metric="accuracy", require="superb")


# How many items more


def test_the_smaller_number_of_items_decides_with_80_percent_at_face_value():
    compared_now = placed(-0.02, 0.05, 0.01, mean=0.016)
    more = items_to_judge(compared_now)
    # N = n + m: the interval is √(n/N) as wide, and its middle moves by sd √(m/N). The prior of
    # two classes is worth one item for each class.
    n = compared_now.n + 2
    shrunk = math.sqrt(n / (n + more.least))
    moves = compared_now.sd * math.sqrt(more.least / (n + more.least))
    passes = ndtr((0.016 + 0.01 - 0.036 * shrunk) / moves)
    fails = ndtr((-0.01 - 0.034 * shrunk - 0.016) / moves)
    assert passes + fails == pytest.approx(0.8, abs=1e-3)
    assert more.n > more.least
    assert more.probability >= 0.8


def test_more_items_the_nearer_the_mean_is_to_the_edge():
    near = items_to_judge(placed(-0.05, 0.03, 0.01, mean=-0.01))
    far = items_to_judge(placed(-0.05, 0.03, 0.01, mean=0.01))
    assert near.least > far.least
    assert near.n is None  # models may differ by just the edge
    assert items_to_judge(placed(0.02, 0.05, 0.01)) is None


@pytest.mark.parametrize(
    ("new", "old"),
    [(62, 58), *(pytest.param(*counts, marks=pytest.mark.slow) for counts in [(45, 65), (55, 50)])],
)
def test_futures_are_judged_as_often_as_predicted(new, old):
    seen = np.array([600, new, old, 100])
    names = ("both", "new", "old", "neither")
    now = compared(**dict(zip(names, seen, strict=True)))
    assert judge(now) is UNDECIDED
    more = items_to_judge(now)
    generator, judged, times = np.random.default_rng([new, old]), 0, 300
    for _ in range(times):
        counts = seen + generator.multinomial(more.n, generator.dirichlet(seen + 0.5))
        future = compared(n_draws=2_000, **dict(zip(names, counts, strict=True)))
        judged += judge(future) is not UNDECIDED
    assert abs(judged / times - more.probability) < 4 * math.sqrt(0.16 / times) + 0.03


# The gate as a whole


@pytest.fixture(scope="module")
def three_classes():
    rng = np.random.default_rng(5)
    truth = rng.choice(["fraud", "ham", "spam"], size=3000, p=[0.1, 0.5, 0.4])

    def predictions(shares):
        kept = rng.random(3000) < np.vectorize(shares.get)(truth)
        return np.where(kept, truth, rng.choice(["fraud", "ham", "spam"], size=3000))

    old = predictions({"fraud": 0.8, "ham": 0.8, "spam": 0.8})
    new = predictions({"fraud": 0.3, "ham": 0.9, "spam": 0.9})
    return op.Outcomes.from_labels(truth, {"old": old, "new": new})


@pytest.mark.parametrize("rope", [1, 2, 0.5])
def test_a_guard_in_per_cent_is_refused(three_classes, rope):
    with pytest.raises(UsageError, match="did you mean"):
        op.gate(three_classes, "new", "old", metric="accuracy", guards=[("recall", "ham", rope)])


def test_a_guard_stops_what_the_main_metric_lets_through(three_classes):
    plain = op.gate(three_classes, "new", "old", metric="accuracy", random_state=0)
    guarded = op.gate(
        three_classes,
        "new",
        "old",
        metric="accuracy",
        guards=[
            op.results.Guard(metric="recall", label="fraud", rope=0.02),
            ("recall", "ham", 0.02),
        ],
        random_state=0,
    )
    assert plain.passed
    assert [check.status for check in guarded.checks] == [PASS, FAIL, PASS]
    assert guarded.status is FAIL
    assert repr(guarded) == "Gate(fail: accuracy pass, recall fail, recall pass)"


def test_a_guard_is_a_comparison_of_its_own(three_classes):
    found = op.gate(
        three_classes,
        "new",
        "old",
        metric="f1_macro",
        guards=[("recall", "fraud", (-0.02, 0.01)), ("accuracy", None, None)],
        random_state=7,
    )
    main, recall, accuracy = (
        op.compare(three_classes, "new", "old", random_state=7, **asked).to_dict()
        for asked in (
            {"metric": "f1_macro"},
            {"metric": "recall", "pos_label": "fraud", "rope": (-0.02, 0.01)},
            {"metric": "accuracy"},
        )
    )
    assert found.main.to_dict() == main
    assert [one.to_dict() for one in found.guards] == [recall, accuracy]
    assert found.main.names == ("new", "old")


def test_guards_must_not_get_worse_even_if_the_candidate_must_get_better(three_classes):
    found = op.gate(
        three_classes,
        "new",
        "old",
        metric="accuracy",
        require="better",
        guards=[("recall", "ham", 0.02)],
        random_state=0,
    )
    assert [check.require for check in found.checks] == ["better", "not_worse"]
    assert found.passed


@each(
    ("statuses", "overall"),
    [
        ([PASS, PASS], PASS),
        ([PASS, UNDECIDED], UNDECIDED),
        ([UNDECIDED, PASS], UNDECIDED),
        ([UNDECIDED, FAIL], FAIL),
        ([FAIL, PASS], FAIL),
    ],
)
def test_one_failure_fails_and_one_finding_leaves_undecided(statuses, overall):
    ends = {PASS: (0.02, 0.03), UNDECIDED: (-0.02, 0.03), FAIL: (-0.05, -0.03)}
    checks = [Check(comparison=placed(*ends[one], 0.01), require="not_worse") for one in statuses]
    assert op.results.Gate(checks=tuple(checks)).status is overall


@each(
    ("guards", "message"),
    [
        ([("accuracy", None, 0.01)], "'accuracy' twice"),
        ([("recall", "ham", 0.01)] * 2, "'recall' of class 'ham' twice"),
        ([("f1_macro", "ham", 0.01)], "needs a metric of one class"),
        ([("recall", "hm", 0.01)], "did you mean 'ham'"),
        (["recall:ham:0.01"], "a tuple of metric, class and ROPE"),
        ([("recall", "ham", "wide")], "half-width"),
        ([("recal", "ham", 0.01)], "did you mean 'recall'"),
    ],
)
def test_a_bad_guard_is_refused(three_classes, guards, message):
    with pytest.raises(UsageError, match=message):
        op.gate(three_classes, "new", "old", metric="accuracy", guards=guards)


def test_a_gate_takes_arrays_too(three_classes):
    truth, new, old = [1, 0] * 200, [1, 0] * 200, [1, 1] * 200
    found = op.gate(truth, new, old, metric="accuracy")
    assert found.passed
    assert found.main.names == ("candidate", "baseline")


def test_where_lower_is_better_the_lower_one_passes():
    good = op.gate(counted(new=200), "new", "old", metric=ERROR_RATE, rope=0.01, random_state=0)
    bad = op.gate(counted(old=200), "new", "old", metric=ERROR_RATE, rope=0.01, random_state=0)
    assert (good.status, bad.status) == (PASS, FAIL)
    assert good.main.mean < 0
    assert "lies below +0.01, the upper edge of the ROPE" in good.report()
    assert "lies above +0.01, the upper edge of the ROPE" in bad.report()
    assert "lower is better in" in str(good)


def test_an_end_near_the_edge_that_decides_is_a_finding():
    near = Interval(low=-0.0101, high=0.05, prob=0.95, mcse_low=0.0001, mcse_high=0.0001)
    sampled = dataclasses.replace(
        placed(-0.02, 0.05, 0.01), hdi=near, distribution=None, mcse=0.0001
    )
    check = Check(comparison=sampled, require="not_worse")
    (finding,) = check.findings
    assert (finding.name, finding.level) == ("monte_carlo_too_coarse", "warning")
    assert "the edge of the ROPE that decides" in finding.message
    other = Check(comparison=sampled, require="better")
    assert other.findings == ()


# The same data, the same status

TWO_CLASSES = op.Outcomes.from_counts(
    ["x"] * 4 + ["y"] * 2,
    {"new": ["x", "x", "y", "y", "y", "x"], "old": ["x", "y", "x", "y", "y", "x"]},
    [300, 30, 25, 45, 180, 20],
)


@cache
def known():
    """Return the comparison with an interval that is known far better than a gate knows it."""
    asked = {"metric": "f1_macro", "rope": 0.01, "n_draws": 400_000, "random_state": 1}
    return op.compare(TWO_CLASSES, "new", "old", **asked)


def judged_at(edge, *, seed, **more):
    asked = {"metric": "f1_macro", "rope": (edge, 0.3), "n_draws": 1_000} | more
    return op.gate(TWO_CLASSES, "new", "old", random_state=seed, **asked)


@pytest.mark.parametrize("end", ["low", "high"])
def test_an_end_of_the_interval_on_the_edge_is_undecided_for_every_seed(end):
    found = [judged_at(getattr(known().hdi, end), seed=seed) for seed in range(40)]
    assert not known().exact
    assert {gate.status for gate in found} == {UNDECIDED}
    assert {gate.main.draws.size for gate in found} == {16_000}
    for gate in found:
        (coarse,) = [one for one in gate.findings if one.name == "monte_carlo_too_coarse"]
        assert "at 16,000 draws" in coarse.message
        assert coarse.parameter == "n_draws"
        assert coarse.level == ("serious" if end == "high" else "warning")
        assert gate.can_allow == (end == "low")
    assert "too close to" in found[0].report()


def test_no_two_seeds_pass_and_fail():
    sd = known().sd
    for end in (known().hdi.low, known().hdi.high):
        for off in (-0.5, -0.05, -0.01, 0.01, 0.05, 0.5):
            found = {judged_at(end + off * sd, seed=seed).status for seed in range(7)}
            assert not {PASS, FAIL} <= found
            if abs(off) == 0.5:  # clear of the edge: one answer
                assert len(found) == 1
    assert judged_at(known().hdi.low - 0.5 * sd, seed=0).passed
    assert judged_at(known().hdi.high + 0.5 * sd, seed=0).status is FAIL


def test_draws_are_added_only_near_the_edge():
    assert judged_at(-0.2, seed=0).main.draws.size == 1_000
    near = judged_at(known().hdi.low - 0.5 * known().sd, seed=0)
    assert near.passed
    assert 1_000 < near.main.draws.size < 16_000
    again = op.compare(
        TWO_CLASSES, "new", "old", metric="f1_macro", rope=near.main.rope,
        n_draws=near.main.draws.size, random_state=0,
    )  # fmt: skip
    assert again.to_dict() == near.main.to_dict()


def test_the_default_seed_is_fixed_and_in_the_signature():
    one, two = (
        op.gate(TWO_CLASSES, "new", "old", metric="f1_macro", n_draws=1_000) for _ in range(2)
    )
    assert one.to_dict() == two.to_dict()
    assert "seed=0" in one.main.signature
    other = op.gate(TWO_CLASSES, "new", "old", metric="f1_macro", n_draws=1_000, random_state=None)
    assert "seed=0 " not in other.main.signature


# What no interval can make up for


def test_a_guard_that_nothing_in_the_data_defines_is_withheld():
    seen = TWO_CLASSES.with_labels(["z"])
    for rope in (0.01, (-0.9, 0.01)):
        found = op.gate(
            seen, "new", "old", metric="accuracy", rope=0.2, guards=[("recall", "z", rope)]
        )
        assert found.checks[0].status is PASS
        assert found.checks[1].withheld == ("nothing_observed",)
        assert found.status is UNDECIDED
        assert not found.can_allow


def test_a_prior_that_decides_against_the_data_is_withheld():
    bad, good = counted(new=5, old=200), counted(new=200, old=5)
    asked = {"metric": "accuracy", "prior": 1e9}
    found = op.gate(bad, "new", "old", rope=0.01, **asked)
    assert found.main.hdi.low > -0.01 > found.main.observed
    assert found.checks[0].withheld == ("prior_decides",)
    assert not found.can_allow
    found = op.gate(good, "new", "old", rope=0.01, require="better", **asked)
    assert found.main.hdi.high < 0.01 < found.main.observed
    assert found.status is UNDECIDED
    assert op.gate(bad, "new", "old", metric="accuracy", rope=0.01).status is FAIL


def test_thin_evidence_may_be_allowed_and_nothing_else():
    ends = {PASS: (0.02, 0.03), UNDECIDED: (-0.02, 0.03), FAIL: (-0.05, -0.03)}

    def gate(*statuses, **more):
        placed_at = [placed(*ends[one], 0.01) for one in statuses]
        changed = [dataclasses.replace(one, **more) for one in placed_at]
        return op.results.Gate(
            checks=tuple(Check(comparison=c, require="not_worse") for c in changed)
        )

    def serious(name):
        return (op.Finding(name, "serious", "Something is wrong."),)

    assert gate(PASS, UNDECIDED).can_allow
    assert not gate(PASS).can_allow
    assert not gate(UNDECIDED, FAIL).can_allow
    assert gate(PASS, findings=serious("few_disagreements")).can_allow
    for name in ("chain_not_converged", "no_prediction_matches"):
        withheld_gate = gate(PASS, findings=serious(name))
        assert withheld_gate.status is UNDECIDED
        assert not withheld_gate.can_allow


@pytest.mark.parametrize(
    ("rope", "require"), [((-1, 0.01), "not_worse"), ((-0.01, 1), "better"), ((1, 1), "not_worse")]
)
def test_an_edge_that_nothing_can_lie_beyond_is_refused(rope, require):
    with pytest.raises(UsageError, match="every model would get the same result"):
        op.gate(GREATER.spec.data, "new", "old", metric="accuracy", rope=rope, require=require)


@each("like", [GREATER, SMALLER], ids=["greater", "smaller"])
@each("end", ["low", "high"])
@each(("errors", "found"), [(5.5, 1), (6.5, 0)])
def test_six_errors_of_that_very_end_are_safe(like, end, errors, found):
    """One end has three times the error of the other; the edge lies so many of them away."""
    own = {"low": 0.001, "high": 0.003}
    ends = {"low": -0.05, "high": 0.05} | {end: errors * own[end] * (1 if end == "low" else -1)}
    edge = 0.02
    ends = {name: value + edge for name, value in ends.items()}
    hdi = Interval(**ends, prob=0.95, mcse_low=own["low"], mcse_high=own["high"])
    require = "better" if like is GREATER else "not_worse"  # both look at the upper edge
    check = Check(
        comparison=dataclasses.replace(
            placed(hdi.low, hdi.high, (-0.9, edge), like=like),
            hdi=hdi,
            distribution=None,
            mcse=0.0001,
        ),
        require=require,
    )
    assert check.to_dict()["edge"] == edge
    assert len(check.findings) == found


def test_the_dictionary_is_json_and_says_everything(three_classes):
    found = op.gate(
        three_classes, "new", "old", metric="accuracy", guards=[("recall", "fraud", 0.02)]
    )
    facts = json.loads(json.dumps(found.to_dict()))
    assert facts["kind"] == "gate"
    assert facts["names"] == ["new", "old"]
    assert [one["status"] for one in facts["checks"]] == ["pass", "fail"]
    assert [one["class"] for one in facts["checks"]] == [None, "fraud"]
    assert [one["edge"] for one in facts["checks"]] == [-0.01, -0.02]
    assert set(found.findings) >= set(found.main.findings)


# What it says


def test_the_sentences_read_well():
    def said(low, high, *, require="not_worse", mean=None):
        check = Check(comparison=placed(low, high, 0.01, mean=mean), require=require)
        return op.results.Gate(checks=(check,)).report()

    assert said(0.02, 0.05) == (
        "Gate passed: new is not worse than old in accuracy: the whole 95% HDI (+0.0200 to "
        "+0.0500) lies above −0.01, the lower edge of the ROPE."
    )
    assert said(-0.05, -0.02) == (
        "Gate failed: new is worse than old in accuracy: the whole 95% HDI (−0.0500 to −0.0200) "
        "lies below −0.01, the lower edge of the ROPE."
    )
    assert said(-0.02, 0.03, mean=0.005) == (
        "Gate undecided: not enough evidence to tell whether new is worse than old in accuracy: "
        "the 95% HDI (−0.0200 to +0.0300) contains −0.01, the lower edge of the ROPE. Between "
        "12,000 and 15,000 more items, on top of the 800 so far, would probably decide it."
    )
    assert said(-0.005, 0.005, require="better") == (
        "Gate failed: new is not better than old in accuracy: the whole 95% HDI (−0.0050 to "
        "+0.0050) lies below +0.01, the upper edge of the ROPE."
    )
    assert "lies above +0.01, the upper edge" in said(0.02, 0.05, require="better")


def test_several_checks_have_a_sentence_each(three_classes):
    found = op.gate(
        three_classes,
        "new",
        "old",
        metric="accuracy",
        guards=[("recall", "fraud", 0.02), ("recall", "ham", 0.02)],
        random_state=0,
    )
    said = found.report()
    assert said.startswith("Gate failed: new is worse than old in recall of fraud. new is not ")
    assert said.count("95% HDI") == 3
    assert "recall of ham" in said


def test_a_withheld_decision_says_why():
    seen = counted(both=100_000, new=2, old=1, neither=0)
    found = op.gate(seen, "new", "old", metric="accuracy", rope=0.01, prior="bootstrap")
    assert found.report() == (
        "Gate undecided: not enough evidence to tell whether new is worse than old in accuracy: "
        "the decision is withheld (few_disagreements)."
    )
