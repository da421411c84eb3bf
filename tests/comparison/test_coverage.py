"""The coverage map, looked up: the nearest setting, what it held, and where there is none."""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
import pytest

import outperform as op
from outperform.comparison.coverage import (
    Coverage,
    correlation_of,
    coverage_sentence,
    evenness_of,
)
from outperform.display.layout import Page, plain
from outperform.errors import UsageError
from tests.lazily import lazily
from tests.loops import each

stats = lazily("scipy.stats")
matthews_corrcoef = lazily("sklearn.metrics.matthews_corrcoef")

FEW = {"rope": 0.01, "n_draws": 200, "random_state": 1}
# The shares of items that both, only A, only B and neither get right, and their correlation.
TYPICAL, INDEPENDENT = (0.68, 0.08, 0.04, 0.20), (0.56, 0.24, 0.14, 0.06)
EQUAL, OPPOSED = (0.72, 0.03, 0.02, 0.23), (0.45, 0.30, 0.25, 0.0)
LINES = json.loads((files("outperform.comparison") / "coverage_map.json").read_text("utf-8"))


def seen(sizes, right=TYPICAL, **more):
    """Return outcomes of classes of these sizes, with the same shares right in each."""
    truth, a, b, counts = [], [], [], []
    for code, size in enumerate(sizes):
        other = (code + 1) % len(sizes)
        ends = np.round(size * np.cumsum(right)).astype(int)
        for (says_a, says_b), n in zip(
            ((code, code), (code, other), (other, code), (other, other)),
            np.diff(ends, prepend=0).tolist(),
            strict=True,
        ):
            truth, a, b = [*truth, code], [*a, says_a], [*b, says_b]
            counts.append(n)
    return op.Outcomes.from_counts(truth, {"A": a, "B": b}, counts, **more)


def zipf(n_classes, n):
    shares = 1 / np.arange(1, n_classes + 1)
    return np.maximum(1, np.round(n * shares / shares.sum())).astype(int).tolist()


def asked(outcomes, metric="accuracy", **more):
    return op.compare(outcomes, "A", "B", metric=metric, **FEW | more)


@each(
    ("sizes", "right", "setting"),
    [
        ([100, 100], TYPICAL, (2, "even", 200, "typical")),
        ([100, 100], INDEPENDENT, (2, "even", 200, "independent")),
        ([100, 100], EQUAL, (2, "even", 200, "nearly equal")),
        ([100, 100], OPPOSED, (2, "even", 200, "opposed")),
        ([133, 67], TYPICAL, (2, "zipf", 200, "typical")),
        ([20, 16], TYPICAL, (2, "even", 30, "typical")),
        # Half of a step on the log scale: √(3 × 10) = 5.5 classes, √(200 × 2,000) = 632 items
        ([126] * 5, OPPOSED, (3, "even", 200, "opposed")),
        ([106] * 6, OPPOSED, (10, "even", 2_000, "opposed")),
        (zipf(10, 2_000), INDEPENDENT, (10, "zipf", 2_000, "independent")),
        (zipf(20, 6_000), EQUAL, (20, "zipf", 2_000, "nearly equal")),
        ([320] * 20, TYPICAL, (20, "even", 20_000, "typical")),
    ],
)
def test_the_nearest_setting_is_found(sizes, right, setting):
    found = asked(seen(sizes, right)).expected_coverage()
    assert found.setting == setting
    assert found.outside == ()


@each("place", range(12))
def test_shares_are_those_of_the_file(place):
    metric = LINES["metrics"][place]
    found = asked(seen([101, 99], EQUAL), metric).expected_coverage()
    (line,) = (
        one
        for one in LINES["settings"]
        if (one["classes"], one["balance"], one["items"]) == (2, "even", 200)
        if one["dependence"] == "nearly equal"
    )
    assert found.metric == metric
    assert found.difference.held == line["difference"][place]
    assert found.level.held == line["level"][place]
    assert found.level.repetitions == found.difference.repetitions == line["repetitions"]
    assert found.difference.share == line["difference"][place] / line["repetitions"]
    assert found.there == (line["evenness"], line["correlation"], line["right"])


def test_traits_are_those_of_the_items():
    generator = np.random.default_rng(3)
    truth = generator.choice(4, 300, p=[0.5, 0.3, 0.15, 0.05])
    a, b = (np.where(generator.random(300) < p, truth, 0) for p in (0.6, 0.7))
    c = op.compare(truth, a, b, metric="f1_macro", **FEW)
    here = c.expected_coverage().here
    assert here.evenness == pytest.approx(stats.entropy(np.bincount(truth)) / np.log(4))
    assert here.correlation == pytest.approx(matthews_corrcoef(truth == a, truth == b))
    assert here.right == pytest.approx(np.mean([truth == a, truth == b]))


def test_a_model_that_is_always_right_is_independent_unless_both_are():
    always, once = np.array([True, True]), np.array([True, False])
    assert correlation_of(always, once, np.array([3, 1])) == 0.0
    assert correlation_of(always, always, np.array([3, 1])) == 1.0
    # What does not occur tells nothing.
    assert correlation_of(always, once, np.array([3, 0])) == 1.0
    assert evenness_of(np.array([4, 0])) == 0.0


def test_a_label_that_is_never_true_is_no_class():
    y = np.tile([0, 1, 2], 70)
    a, b = y.copy(), y.copy()
    a[:9], b[4:40] = np.arange(10, 19), 99
    found = op.compare(y, a, b, metric="f1_macro", **FEW).expected_coverage()
    assert found.setting.classes == 3
    named = op.compare(y, y, b % 3, metric="f1_macro", labels=list(range(12)), **FEW)
    assert named.expected_coverage().setting.classes == 10


@each(
    ("sizes", "outside", "words"),
    [
        ([4, 4], ("few items",), "so few items"),
        ([5, 5], (), ""),
        ([30_000, 31_000], ("many items",), "so many items"),
        ([190, 10], ("uneven classes",), "classes so uneven"),
        ([2] * 401, ("many classes",), "so many classes"),
        ([7, 0.4], ("few items", "uneven classes"), "so few items or classes so uneven"),
    ],
)
def test_what_no_setting_has_is_said(sizes, outside, words):
    if sizes[-1] < 1:  # named and never true
        y = [0] * 7
        c = op.compare(y, y, [1, *y[1:]], metric="accuracy", labels=[0, 1], **FEW)
    else:
        c = asked(seen(sizes))
    found = c.expected_coverage()
    assert found.outside == outside
    assert str(found).partition("No setting has ")[2] == (f"{words}." if words else "")


@pytest.mark.parametrize(("held", "n"), [(945, 1_000), (40, 40), (0, 20), (19, 20)])
def test_the_error_is_that_of_a_share(held, n):
    one = Coverage(held=held, repetitions=n)
    assert one.error == pytest.approx(stats.beta(held + 0.5, n - held + 0.5).std(), rel=1e-12)
    if 0 < held < n:
        share = held / n
        assert one.error == pytest.approx(np.sqrt(share * (1 - share) / n), rel=3 / np.sqrt(n))


def test_the_sentence():
    found = asked(seen([133, 67], EQUAL), "f1", pos_label=0).expected_coverage()
    difference, level = found.difference, found.level
    assert str(found) == (
        "In the nearest simulated setting (2 classes, after Zipf, 200 items, nearly equal models) "
        "95% intervals of the difference in F1 of the rarer class contained the true value in "
        f"{100 * difference.share:.1f} ± {100 * difference.error:.1f}% of 1,000 test sets, and "
        f"intervals for a single model in {100 * level.share:.1f} ± {100 * level.error:.1f}%. "
        f"The models are right on {100 * found.there.right:.0f}% of the items in the simulation "
        "and 74% here."
    )
    even = asked(seen([100, 100]), "recall", pos_label=0).expected_coverage()
    assert " in recall of one class contained " in str(even)


def test_few_test_sets_are_said_to_be_few():
    few = {one["repetitions"] for one in LINES["settings"] if one["classes"] == 20}
    found = asked(seen([100] * 20), "f1_macro").expected_coverage()
    n = found.difference.repetitions
    assert n in few
    assert f" of {n:,} test sets," in str(found)


GROUPED = {"groups": np.arange(60) % 12}
Y = np.tile([0, 1, 2], 20)
A, B = np.where(np.arange(60) % 5 == 0, 0, Y), np.where(np.arange(60) % 4 == 0, 1, Y)
TWO = op.Outcomes.from_labels(Y % 2, {"A": A % 2, "B": B % 2})
MORE = op.Outcomes.from_labels(Y, {"A": A, "B": B})
REFUSED = {
    "label sets": (
        lambda: asked(
            op.Outcomes.from_label_sets([[0], [0, 1]] * 9, {"A": [[0]] * 18, "B": [[1]] * 18}),
            "f1_macro",
        ),
        "these data are label sets",
    ),
    "right and wrong": (
        lambda: asked(op.Outcomes.from_correct({"A": A == Y, "B": B == Y})),
        "these data are right or wrong only",
    ),
    "groups": (lambda: asked(op.Outcomes.from_labels(Y, {"A": A, "B": B}, **GROUPED)), "groups"),
    "groups ignored": (
        lambda: asked(
            op.Outcomes.from_labels(Y, {"A": A, "B": B}, **GROUPED), prior="learned"
        ),
        "it does not cover groups",
    ),
    "weights": (
        lambda: asked(op.Outcomes.from_labels(Y, {"A": A, "B": B}, sample_weight=1 + Y)),
        "weights",
    ),
    "prevalence": (lambda: asked(TWO.at_prevalence({0: 0.9, 1: 0.1})), "other class proportions"),
    "pool": (
        lambda: asked(op.Outcomes.from_pool(Y[:40], {"A": A, "B": B}, which=range(40))),
        "pools",
    ),
    "a judge": (
        lambda: asked(
            op.Outcomes.from_judged(
                {"A": A, "B": B}, judge=B, human=np.where(np.arange(60) < 40, Y, np.nan)
            )
        ),
        "judges",
    ),
    "folds": (
        lambda: op.compare_cv_counts([[9, 2, 3]] * 6, [[8, 3, 4]] * 6, **FEW),
        "compare_cv_counts counts items more than once",
    ),
    "label errors": (
        lambda: asked(TWO).with_label_errors(0.03),
        r"use with_label_errors\(None\)",
    ),
    "unpaired": (lambda: asked(MORE, paired=False), "not paired"),
    "two matrices": (lambda: asked(MORE.unpair()), "not paired"),
    "another metric": (lambda: asked(MORE, "f1_micro"), "it covers the metrics accuracy, "),
    "a metric of one's own": (
        lambda: asked(MORE, op.metrics.fbeta(2, average="macro")),
        "it covers the metrics accuracy, ",
    ),
    "one of three classes": (
        lambda: asked(MORE, "precision", pos_label=1),
        "precision of the rarest class only; use f1_macro",
    ),
    "some classes": (lambda: asked(MORE, "f1_macro", labels=[0, 1]), "over some"),
    "a prior": (lambda: asked(MORE, prior="bootstrap"), "omit prior and engine"),
    "the prior of two classes": (lambda: asked(MORE, prior="unit"), "omit prior and engine"),
    "another interval": (lambda: asked(MORE, hdi_prob=0.9), "omit hdi_prob"),
    "scores": (lambda: op.compare(None, Y + 0.5, A, metric="mean", **FEW), "computed from scores"),
    "runs": (
        lambda: op.compare_runs(
            op.Outcomes.from_labels(Y, {"A": A, "B": B, "C": A}), ["A"], ["B", "C"],
            metric="accuracy", **FEW,
        ),
        "compare_runs counts items more than once",
    ),
}  # fmt: skip


@each("name", REFUSED)
def test_what_is_not_on_the_map_is_refused(name):
    made, why = REFUSED[name]
    c = made()
    with pytest.raises(UsageError, match=why):
        c.expected_coverage()
    assert coverage_sentence(c) is None


@pytest.mark.parametrize("given", [{}, {"prior": "learned"}, {"labels": [2, 1, 0]}])
def test_what_is_the_default_is_answered(given):
    assert asked(MORE, "f1_macro", **given).expected_coverage().setting.classes == 3


def test_it_does_not_change_with_draws_or_rope():
    first = asked(MORE, "f1_macro").expected_coverage()
    again = asked(MORE, "f1_macro", rope=0.1, n_draws=300, random_state=2)
    assert again.expected_coverage() == first
    assert again.with_rope(0.2).expected_coverage() == first


def test_the_terminal_says_it_if_asked_for_more_and_a_report_always(tmp_path):
    c, other = asked(MORE, "f1_macro"), asked(MORE, "f1_macro", paired=False)
    sentence = coverage_sentence(c)
    said = [
        " ".join(plain(c._document().lines(Page(verbose=one))).split()) for one in (True, False)
    ]
    assert [sentence in one for one in said] == [True, False]
    pages = [
        op.write_report(one, tmp_path / f"{k}.html").read_text("utf-8")
        for k, one in enumerate((c, other))
    ]
    assert [sentence in page for page in pages] == [True, False]
    assert "coverage" not in plain(other._document().lines(Page(verbose=True)))
