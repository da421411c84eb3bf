"""Properties that hold for every table, whatever was counted in it.

The numbers are those of the verification programme; property 7, the same
counts from every reader, belongs to the readers.
"""

from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import outperform as op
from outperform.decision.rope import Masses, decide, probability_error
from outperform.posterior.base import build_posterior, exact_difference, exact_value
from outperform.posterior.registry import get_prior

# Closed forms cost more than a few hundred draws, so these properties look at fewer tables.
fewer = settings(max_examples=max(settings.default.max_examples // 4, 1))

NAMES = ("ape", "bee", "cat", "dog")
METRICS = st.sampled_from(op.metrics.names())
PRIORS = st.sampled_from(["uniform", "unit", "bootstrap"])
EXACT = st.sampled_from([("recall", "uniform"), ("accuracy", "unit"), ("specificity", "unit")])
SIGMAS = 5.0


@st.composite
def tables(draw, *, classes=(2, 4), rows=(1, 30)):
    """Draw the number of classes and rows of (truth, a, b) codes."""
    n_classes = draw(st.integers(*classes))
    code = st.integers(0, n_classes - 1)
    found = draw(st.lists(st.tuples(code, code, code), min_size=rows[0], max_size=rows[1]))
    return n_classes, found


def columns(rows):
    return tuple(list(column) for column in zip(*rows, strict=True))


def compare(table, metric="accuracy", *, n_draws=500, rope=0.05, **options):
    n_classes, rows = table
    asked = {"labels": list(range(n_classes)), "pos_label": 1, "random_state": 1, **options}
    return op.compare(*columns(rows), metric=metric, n_draws=n_draws, rope=rope, **asked)


def close(left, right, error):
    return abs(left - right) <= SIGMAS * error + 1e-12


def defined(metric, model):
    """Kappa is 0/0 under the bootstrap where only one class was seen."""
    assume(not (metric == "cohen_kappa" and model == "bootstrap"))


@fewer
@given(tables(), EXACT)
def test_01_swapping_the_models_mirrors_everything_exactly(table, asked):
    metric, prior = asked
    assume(metric == "accuracy" or table[0] == 2)
    n_classes, rows = table
    c = compare(table, metric, prior=prior)
    d = compare((n_classes, [(y, b, a) for y, a, b in rows]), metric, prior=prior)
    assert c.exact
    assert c.mean == pytest.approx(-d.mean, abs=1e-12)
    assert c.sd == pytest.approx(d.sd, rel=1e-12)
    assert c.p_greater == pytest.approx(1 - d.p_greater, abs=1e-12)
    assert (c.p_better, c.p_equivalent) == pytest.approx((d.p_worse, d.p_equivalent), abs=1e-12)
    assert (c.hdi.low, c.hdi.high) == pytest.approx((-d.hdi.high, -d.hdi.low), abs=1e-6)
    assert (c.eti.low, c.eti.high) == pytest.approx((-d.eti.high, -d.eti.low), abs=1e-9)
    assert c.bayes_factor.log_bf01 == pytest.approx(d.bayes_factor.log_bf01, abs=1e-9)


@given(tables(rows=(5, 40)), METRICS, PRIORS)
def test_01_swapping_the_models_mirrors_the_draws(table, metric, prior):
    defined(metric, prior)
    n_classes, rows = table
    c = compare(table, metric, prior=prior, n_draws=2_000, random_state=1)
    swapped = (n_classes, [(y, b, a) for y, a, b in rows])
    d = compare(swapped, metric, prior=prior, n_draws=2_000, random_state=2)
    assert c.observed == pytest.approx(-d.observed, abs=1e-12)
    error = (c.sd + d.sd) / math.sqrt(2_000)
    assert close(c.draws.mean(), -d.draws.mean(), error)
    p, q = float((c.draws > 0).mean()), float((d.draws < 0).mean())
    assert close(p, q, math.hypot(probability_error(p, 2_000), probability_error(q, 2_000)))


@fewer
@given(tables(rows=(5, 40)), METRICS, PRIORS, st.permutations(NAMES))
def test_02_other_names_for_the_classes_change_no_number(table, metric, prior, names):
    defined(metric, prior)
    n_classes, rows = table
    c = compare(table, metric, prior=prior, n_draws=2_000)
    renamed = op.compare(
        *([names[code] for code in column] for column in columns(rows)),
        metric=metric,
        prior=prior,
        labels=names[:n_classes],
        pos_label=names[1],
        n_draws=2_000,
        rope=0.05,
        random_state=2,
    )
    assert renamed.observed == pytest.approx(c.observed, abs=1e-12)
    assert close(c.draws.mean(), renamed.draws.mean(), (c.sd + renamed.sd) / math.sqrt(2_000))
    assert renamed.exact == c.exact
    if c.exact:
        assert renamed.mean == pytest.approx(c.mean, abs=1e-12)


@given(tables(), METRICS, PRIORS, st.randoms(use_true_random=False))
def test_03_the_order_of_the_items_does_not_matter(table, metric, prior, random):
    defined(metric, prior)
    n_classes, rows = table
    shuffled = random.sample(rows, len(rows))
    assert facts(compare(table, metric, prior=prior)) == facts(
        compare((n_classes, shuffled), metric, prior=prior)
    )


def facts(c):
    """Return all that was drawn and all that was said of it, but the factor, which is slow."""
    return c.draws.tobytes(), c.a.draws.tobytes(), c.hdi, c._masses, c.decision, c.signature


@given(tables(rows=(2, 40)), st.lists(st.integers(0, 4), min_size=40, max_size=40))
def test_04_shards_in_any_order_are_the_whole(table, shard_of):
    _, rows = table
    whole = outcomes(rows)
    shards = [
        [row for row, shard in zip(rows, shard_of, strict=False) if shard == number]
        for number in range(5)
    ]
    parts = [outcomes(shard) for shard in shards if shard]
    total = parts[-1]
    for part in parts[:-1]:
        total = part + total
    assert total == whole
    assert total.n == len(rows)


def outcomes(rows, **options):
    truth, a, b = columns(rows)
    return op.Outcomes.from_labels(truth, {"a": a, "b": b}, **options)


@given(tables(), st.integers(1, 5))
def test_05_repeated_rows_are_counts(table, times):
    _, rows = table
    truth, a, b = columns(rows)
    counted = op.Outcomes.from_counts(truth, {"a": a, "b": b}, [times] * len(rows))
    assert counted == outcomes(rows * times)
    weighed = outcomes(rows, sample_weight=[times] * len(rows))
    assert (weighed.n, weighed.groups.n_even) == (len(rows), pytest.approx(len(rows)))


CONTAINERS = {
    "tuple": tuple,
    "numpy": np.array,
    "numpy object": lambda values: np.array(values, dtype=object),
    "series": pd.Series,
    "categorical": lambda values: pd.Series(values, dtype="category"),
}


@given(tables(), st.sampled_from([int, str, bool]), st.sampled_from(list(CONTAINERS)))
def test_06_containers_and_kinds_of_labels_do_not_matter(table, kind, container):
    n_classes, rows = table
    assume(kind is not bool or n_classes == 2)
    make = CONTAINERS[container]
    truth, a, b = ([kind(code) for code in column] for column in columns(rows))
    seen = op.Outcomes.from_labels(make(truth), {"a": make(a), "b": make(b)})
    plain = outcomes(rows)
    if kind is not bool:
        assert seen.labels == tuple(kind(label) for label in plain.labels)
        assert np.array_equal(seen.tables[0].cells, plain.tables[0].cells)
    assert seen == op.Outcomes.from_labels(truth, {"a": a, "b": b})
    assert seen.tables[0].counts.tolist() == plain.tables[0].counts.tolist()


@fewer
@given(tables(), st.sampled_from(["f1", "precision", "recall", "jaccard", "f2"]))
def test_08_an_empty_class_changes_no_other_class(table, metric):
    n_classes, rows = table
    truth, a, b = ([NAMES[code] for code in column] for column in columns(rows))
    asked = {"metric": metric, "pos_label": "bee", "rope": 0.05, "n_draws": 500, "random_state": 1}
    known = list(NAMES[:n_classes])
    before = op.compare(truth, a, b, labels=known, **asked)
    after = op.compare(truth, a, b, labels=[*known, "yak"], **asked)
    assert np.array_equal(before.draws, after.draws)
    assert (before.hdi, before.decision) == (after.hdi, after.decision)


@given(tables(rows=(1, 40)), METRICS, st.sampled_from(["uniform", "unit", "hierarchical"]))
def test_09_equal_models_are_never_told_apart(table, metric, prior):
    n_classes, rows = table
    assume(prior != "hierarchical" or len(rows) % 4 == 0)  # its quadrature is slower
    same = (n_classes, [(y, a, a) for y, a, _ in rows])
    c = compare(same, metric, prior=prior, n_draws=2_000)
    assert c.decision.symbol in "?~≈"
    assert c.observed == 0.0 or math.isnan(c.observed)
    assert close(c.draws.mean(), 0.0, c.sd / math.sqrt(2_000))
    if c.exact:
        assert c.mean == pytest.approx(0.0, abs=1e-12)
        assert c.p_greater == pytest.approx(0.5, abs=1e-12)
        assert c.hdi.midpoint == pytest.approx(0.0, abs=1e-6)
    else:
        assert close(c.p_greater, 0.5, 0.5 / math.sqrt(2_000))


@given(tables(), st.integers(0, 3), st.sampled_from(["accuracy", "recall"]))
def test_10_one_more_right_answer_never_lowers_accuracy(table, label, metric):
    n_classes, rows = table
    label %= n_classes
    means = []
    for these in (rows, [*rows, (label, label, label)]):
        seen = outcomes(these, labels=list(range(n_classes)))
        posterior = build_posterior(seen, get_prior("unit"))
        share, positive = (
            op.metrics.get(metric).share_over(all_classes=True),
            None if metric == "accuracy" else 1,
        )
        means.append(
            [exact_value(posterior, share, model=m, positive=positive).mean for m in (0, 1)]
        )
    assert means[1][0] >= means[0][0]
    assert means[1][1] >= means[0][1]


@fewer
@given(
    tables(),
    METRICS,
    PRIORS,
    st.lists(st.floats(0, 0.9), min_size=2, max_size=5),
    st.floats(0, 1),
)
def test_11_a_wider_rope_never_holds_less(table, metric, prior, widths, skew):
    defined(metric, prior)
    c = compare(table, metric, prior=prior)
    ropes = [op.Rope(low=-width * skew, high=width) for width in sorted(widths)]
    inside = [c.with_rope(rope).p_equivalent for rope in ropes]
    assert all(one <= two + 1e-12 for one, two in pairwise(inside))


@fewer
@given(tables(), METRICS, PRIORS)
def test_12_ninety_five_percent_lie_inside_ninety_nine(table, metric, prior):
    defined(metric, prior)
    narrow, wide = (
        compare(table, metric, prior=prior, n_draws=1_000, hdi_prob=prob) for prob in (0.95, 0.99)
    )
    assert wide.eti.low <= narrow.eti.low <= narrow.eti.high <= wide.eti.high
    assert narrow.hdi.width <= wide.hdi.width + 1e-9
    slack = SIGMAS * max(narrow.hdi.mcse_low, narrow.hdi.mcse_high) + 1e-6
    assert wide.hdi.low <= narrow.hdi.low + slack
    assert narrow.hdi.high <= wide.hdi.high + slack


@given(
    tables(), METRICS, st.sampled_from(["uniform", "unit", "learned", "hierarchical", "bootstrap"])
)
def test_13_metrics_stay_in_their_bounds(table, metric, prior):
    defined(metric, prior)
    assume(prior not in ("learned", "hierarchical") or len(table[1]) % 5 == 0)
    c = compare(table, metric, prior=prior)
    low, high = op.metrics.get(metric).bounds
    for one in (c.a, c.b):
        assert np.isfinite(one.draws).all()
        assert one.draws.min() >= low
        assert one.draws.max() <= high
        assert low - 1e-9 <= one.hdi.low <= one.hdi.high <= high + 1e-9
        assert metric == "cohen_kappa" or low <= one.observed <= high
    assert np.isfinite([c.mean, c.sd, c.mcse, c.hdi.low, c.hdi.high, c.eti.low]).all()


@given(tables(), METRICS, PRIORS, st.floats(0, 0.9), st.floats(0, 0.2))
def test_14_three_probabilities_sum_to_one(table, metric, prior, low, high):
    defined(metric, prior)
    c = compare(table, metric, prior=prior, rope=(-low, high))
    assert abs(c.p_worse + c.p_equivalent + c.p_better - 1) <= 1e-12
    assert min(c.p_worse, c.p_equivalent, c.p_better) >= 0


@fewer
@given(tables(classes=(2, 2)), st.sampled_from(["f1", "recall", "f1_macro"]))
def test_15_the_factors_are_each_others_inverse(table, metric):
    factor = compare(table, metric).bayes_factor
    assert factor.bf01 * factor.bf10 == pytest.approx(1.0, rel=1e-12)
    assert factor.log10_bf10 == pytest.approx(math.log10(factor.bf10), abs=1e-12)


@given(
    st.lists(st.integers(1_000, 100_000), min_size=8, max_size=8),
    st.sampled_from([("recall", "uniform"), ("accuracy", "unit"), ("specificity", "uniform")]),
)
def test_16_ten_times_the_counts_shrink_the_sd_by_root_ten(counts, asked):
    metric, prior = op.metrics.get(asked[0]), get_prior(asked[1])
    cells = [(y, a, b) for y in (0, 1) for a in (0, 1) for b in (0, 1)]
    truth, a, b = columns(cells)
    sds = []
    for times in (1, 10):
        scaled = [times * count for count in counts]
        seen = op.Outcomes.from_counts(truth, {"a": a, "b": b}, scaled)
        posterior = build_posterior(seen, prior)
        found = exact_difference(
            posterior, metric.share_over(all_classes=True), positive=1, paired=True
        )
        sds.append(found.sd)
    assert sds[0] / sds[1] == pytest.approx(math.sqrt(10), rel=0.02)


@pytest.mark.parametrize("prior", ["uniform", "unit", "hierarchical", "bootstrap"])
def test_16_ten_times_the_counts_shrink_the_sd_of_every_metric(prior):
    rng = np.random.default_rng(16)
    cells = [(y, a, b) for y in range(3) for a in range(3) for b in range(3)]
    counts = rng.integers(1_000, 9_000, len(cells))
    truth, a, b = columns(cells)
    sds = []
    for times in (1, 10):
        seen = op.Outcomes.from_counts(truth, {"a": a, "b": b}, times * counts)
        metrics = [name for name in op.metrics.names() if not name.startswith("specificity_")]
        card = op.scorecard(
            seen, "a", "b", metrics=metrics, pos_label=1, prior=prior, rope=0.01,
            n_draws=40_000, random_state=times,
        )  # fmt: skip
        sds.append([c.sd for c in card])
    # 40,000 draws know a ratio of two sds to 0.5%.
    assert np.allclose(np.divide(*sds), math.sqrt(10), rtol=0.02)


@given(tables(), PRIORS, st.booleans())
def test_17_f1_lies_between_precision_and_recall_in_every_draw(table, prior, paired):
    n_classes, rows = table
    seen = outcomes(rows, labels=list(range(n_classes)))
    view = seen if paired else seen.unpair()
    posterior = build_posterior(view, get_prior(prior))
    for sums in posterior.worker("margins")(np.random.default_rng(1), 500):
        margins = op.metrics.Margins(**sums._asdict())
        f1, precision, recall, jaccard, f2 = (
            op.metrics.get(name).evaluate(margins, (1,))
            for name in ("f1", "precision", "recall", "jaccard", "f2")
        )
        low, high = np.minimum(precision, recall), np.maximum(precision, recall)
        for score in (f1, f2):
            assert (score <= high + 1e-12).all()
            assert (score >= low - 1e-12).all()
        assert np.allclose(jaccard, f1 / (2 - f1), atol=1e-9)


@given(tables(), METRICS, PRIORS, st.sampled_from([0.0, 0.01, 0.2, (-0.1, 0.02)]))
def test_18_a_report_in_json_says_the_same(table, metric, prior, rope):
    defined(metric, prior)
    c = compare(table, metric, prior=prior, rope=rope)
    report = json.loads(json.dumps(c.to_dict(), allow_nan=False))
    assert report == c.to_dict()
    hdi, region = op.results.Interval(**report["hdi"]), op.Rope(**report["rope"])
    assert (hdi, region) == (c.hdi, c.rope)
    below, above = report["p_worse"], report["p_better"]
    better = report["greater_is_better"]
    masses = Masses(
        below=below if better else above,
        inside=report["p_equivalent"],
        above=above if better else below,
        greater=report["p_greater"],
    )
    again = decide(hdi, region, masses, greater_is_better=better)
    assert op.Decision[report["decision"]["name"]] is c.decision
    # A decision is only ever withheld, never strengthened.
    assert c.decision in (again, op.Decision.UNDECIDED)


@fewer
@given(tables(), METRICS, PRIORS)
def test_18_outcomes_in_json_give_the_same_decision(table, metric, prior):
    defined(metric, prior)
    n_classes, rows = table
    seen = outcomes(rows, labels=list(range(n_classes)))
    asked = {"metric": metric, "prior": prior, "pos_label": 1, "rope": 0.05, "n_draws": 500}
    before = op.compare(seen, "a", "b", random_state=1, **asked)
    after = op.compare(op.Outcomes.from_json(seen.to_json()), "a", "b", random_state=1, **asked)
    assert facts(before) == facts(after)


@settings(max_examples=max(settings.default.max_examples // 10, 1))
@given(tables(), st.sampled_from(["f1", "f1_macro", "matthews_corrcoef", "accuracy"]), PRIORS)
def test_19_threads_change_no_byte(table, metric, prior):
    one = compare(table, metric, prior=prior, n_draws=9_000, n_jobs=1)
    for n_jobs in (2, 8):
        assert facts(compare(table, metric, prior=prior, n_draws=9_000, n_jobs=n_jobs)) == facts(
            one
        )


@fewer
@given(tables(), METRICS, PRIORS, st.permutations(range(4)))
def test_19_the_order_of_the_classes_changes_no_byte(table, metric, prior, order):
    defined(metric, prior)
    n_classes, _ = table
    labels = [label for label in order if label < n_classes]
    assert facts(compare(table, metric, prior=prior, labels=labels)) == facts(
        compare(table, metric, prior=prior)
    )


@fewer
@given(tables(classes=(2, 2)), METRICS)
def test_20_two_classes_are_the_binary_model_under_the_same_prior(table, metric):
    jeffreys = op.Prior(rows=np.full((2, 2), 0.5), prevalence=1.0)
    unit = compare(table, metric, prior="unit")
    flat = compare(table, metric, prior=jeffreys)
    assert np.allclose(unit.draws, flat.draws, atol=1e-12)
    assert unit.exact == flat.exact
    assert unit.mean == pytest.approx(flat.mean, abs=1e-12)
    assert unit.decision is flat.decision


@fewer
@given(tables(classes=(2, 2)), PRIORS)
def test_20_averages_of_two_classes_are_averages_of_binary_scores(table, prior):
    n_classes, rows = table
    flipped = (n_classes, [(1 - y, 1 - a, 1 - b) for y, a, b in rows])
    macro = compare(table, "f1_macro", prior=prior, n_draws=2_000)
    ones = compare(table, "f1", prior=prior, n_draws=2_000, random_state=2)
    zeros = compare(flipped, "f1", prior=prior, n_draws=2_000, random_state=3)
    assert macro.observed == pytest.approx((ones.observed + zeros.observed) / 2, abs=1e-12)
    error = (macro.sd + ones.sd + zeros.sd) / math.sqrt(2_000)
    halves = (ones.draws.mean() + zeros.draws.mean()) / 2
    assert close(macro.draws.mean(), halves, error)
