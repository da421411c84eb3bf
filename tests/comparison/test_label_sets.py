"""Comparing classifiers that give an item several labels."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.errors import UsageError
from outperform.inference.spec import make_spec
from outperform.posterior.bootstrap import LabelMargins
from outperform.posterior.rng import child
from tests.lazily import lazily
from tests.loops import each

reference = lazily("sklearn.metrics")

RNG = np.random.default_rng(11)


def items(n=300, n_labels=5, seed=0):
    """Return truth and two models' labels; an item's labels go wrong together."""
    rng = np.random.default_rng(seed)
    truth = rng.random((n, n_labels)) < 0.3
    hard = rng.beta(0.4, 2.0, size=(n, 1))
    a, b = (truth ^ (rng.random((n, n_labels)) < hard * rate) for rate in (0.8, 1.1))
    return truth, a, b


Y, A, B = items()
SEEN = op.Outcomes.from_label_sets(Y, {"a": A, "b": B})
ALL = [
    f"{score}_{average}"
    for score in ("precision", "recall", "f1", "f2", "jaccard")
    for average in ("samples", "micro", "macro", "weighted")
] + ["accuracy", "hamming_loss"]


def sklearn_value(metric, y, predicted, *, labels=None, weights=None):
    """Return scikit-learn's number, 0 for 0/0."""
    rest = {"sample_weight": weights}
    if metric == "accuracy":
        return reference.accuracy_score(y, predicted, **rest)
    if metric == "hamming_loss":
        return reference.hamming_loss(y, predicted, **rest)
    score, _, average = metric.partition("_")
    rest |= {"average": average, "labels": labels, "zero_division": 0}
    if score in ("f1", "f2"):
        return reference.fbeta_score(y, predicted, beta=float(score[1:]), **rest)
    return getattr(reference, f"{score}_score")(y, predicted, **rest)


def asked(seen, metric, **rest):
    given = {
        "prior": None, "paired": True, "labels": None,
        "pos_label": None,
    }  # fmt: skip
    return make_spec(seen, metric=metric, **given | rest)


def names(result):
    return {finding.name for finding in result.findings}


@pytest.mark.parametrize("first", [0, pytest.param(110, marks=pytest.mark.slow)])
def test_observed_values_are_scikit_learns_on_random_matrices(first):
    rng = np.random.default_rng(first)
    for place in range(first, 1_000 if first else 110):
        n, n_labels = int(rng.integers(1, 12)), int(rng.integers(2, 6))
        share = rng.random()  # items without labels and labels without items come by
        y, a, b = (rng.random((n, n_labels)) < share for _ in range(3))
        seen = op.Outcomes.from_label_sets(y, {"a": a, "b": b})
        metric = ALL[place % len(ALL)]
        found = asked(seen, metric).observed
        # a label that is never true is left out of an average over labels
        true = np.flatnonzero(y.any(axis=0))
        chosen = true if metric.endswith(("_macro", "_weighted")) and true.size else None
        wanted = [sklearn_value(metric, y, one, labels=chosen) for one in (a, b)]
        assert found == pytest.approx(wanted, abs=1e-12), (metric, y, a, b)
        named = asked(seen, metric, labels=range(n_labels)).observed
        wanted = [sklearn_value(metric, y, one) for one in (a, b)]
        assert named == pytest.approx(wanted, abs=1e-12), (metric, y, a, b)


@each("metric", ALL)
def test_observed_values_of_forms_and_choices(metric):
    c = op.compare(Y, A, B, metric=metric, n_draws=100, random_state=0)
    wanted = [sklearn_value(metric, Y, one) for one in (A, B)]
    assert (c.a.observed, c.b.observed) == pytest.approx(wanted, abs=1e-12)
    kept = [0, 3, 4]
    some = asked(SEEN, metric, labels=kept).observed
    wanted = [sklearn_value(metric, Y[:, kept], one[:, kept]) for one in (A, B)]
    assert some == pytest.approx(wanted, abs=1e-12)
    if "_" in metric and metric != "hamming_loss":
        assert some[0] == pytest.approx(sklearn_value(metric, Y, A, labels=kept), abs=1e-12)


def plain_value(metric, y, predicted, weights):
    """Return the metric under every row of weights ``(n_draws, n_items)``, in plain numpy."""
    score, _, average = metric.partition("_")
    if metric == "accuracy":
        return weights @ (y == predicted).all(axis=1) / weights.sum(axis=1)
    if metric == "hamming_loss":
        return weights @ (y != predicted).mean(axis=1) / weights.sum(axis=1)
    tp, fp, fn = (one.astype(float) for one in (y & predicted, ~y & predicted, y & ~predicted))
    if average == "samples":
        tp, fp, fn = (one.sum(axis=1) for one in (tp, fp, fn))
    else:
        tp, fp, fn = (weights @ one for one in (tp, fp, fn))
    if average == "micro":
        tp, fp, fn = (one.sum(axis=1) for one in (tp, fp, fn))
    bottom = {
        "f1": tp + (fp + fn) / 2, "jaccard": tp + fp + fn, "recall": tp + fn, "precision": tp + fp,
    }[score]  # fmt: skip
    value = np.where(bottom == 0, 0.0, tp / np.where(bottom == 0, 1.0, bottom))
    if average == "samples":
        return weights @ value / weights.sum(axis=1)
    return value if average == "micro" else value.mean(axis=1)


def bootstrap(metric, y, a, b, *, n_draws=20_000, groups=None, seed=1):
    """Return A − B under a plain Bayesian bootstrap of the items, or of groups of them."""
    units = np.arange(len(y)) if groups is None else groups
    drawn = np.random.default_rng(seed).exponential(size=(n_draws, units.max() + 1))
    one, two = (plain_value(metric, y, model, drawn[:, units]) for model in (a, b))
    return one - two


PLAIN = ["f1_samples", "jaccard_samples", "f1_macro", "recall_micro", "accuracy", "hamming_loss"]


@each("metric", PLAIN)
def test_weighted_values_are_scikit_learns(metric):
    """The plain values, and the package's own of the same weights, item by item."""
    weights = np.random.default_rng(0).exponential(size=(2, len(Y)))
    wanted = [sklearn_value(metric, Y, A, weights=one) for one in weights]
    assert plain_value(metric, Y, A, weights) == pytest.approx(wanted, abs=1e-12)
    if metric == "accuracy":
        return
    view = op.Outcomes.from_label_sets(Y, {"a": A})
    spec = asked(view, metric)
    cells = np.stack([cell_sums(view, one) for one in weights], axis=1)
    if spec.measured.per_item:
        (values,) = spec.item_values()
        found = values @ cells / cells.sum(axis=0)
    else:
        tally = LabelMargins(view, view.tables[0].cells)
        (sums,) = tally.split(tally.of_cells(cells))
        found = spec.measured.evaluate(op.metrics.Margins(**sums._asdict()))
    assert found == pytest.approx(wanted, abs=1e-12)


def cell_sums(view, weights):
    """Add the items' weights up in each cell."""
    cells = [(view.sets[t], view.sets[p]) for t, p in view.tables[0].cells.tolist()]
    rows = [tuple(tuple(np.flatnonzero(m[row]).tolist()) for m in (Y, A)) for row in range(len(Y))]
    return np.bincount([cells.index(row) for row in rows], weights, minlength=len(cells))


def assert_same_distribution(found, wanted):
    """Compare means and sds; five Monte Carlo errors of both together."""
    error = np.sqrt(found.var() / found.size + wanted.var() / wanted.size)
    assert abs(found.mean() - wanted.mean()) < 5 * error
    ratio = found.std() / wanted.std()
    assert abs(np.log(ratio)) < 5 * np.sqrt(0.5 / found.size + 0.5 / wanted.size)


@pytest.mark.usefixtures("plain_weights")
@pytest.mark.parametrize("metric", [one for one in PLAIN if one != "accuracy"])
def test_draws_are_those_of_a_bootstrap_of_items(metric):
    y, a, b = items(n=80, n_labels=4, seed=3)
    c = op.compare(y, a, b, metric=metric, rope=0.01, random_state=2)
    assert_same_distribution(c.draws, bootstrap(metric, y, a, b))


@pytest.mark.usefixtures("plain_weights")
@pytest.mark.parametrize("metric", ["f1_samples", "f1_micro"])
def test_draws_are_those_of_a_bootstrap_of_groups(metric):
    # The items of a group are the same, so that three of them know no more than one.
    y, a, b = (np.repeat(one, 3, axis=0) for one in items(n=40, n_labels=4, seed=4))
    groups = np.arange(120) // 3
    c = op.compare(y, a, b, metric=metric, rope=0.01, random_state=2, groups=groups)
    assert c.spec.n_groups == 40
    assert_same_distribution(c.draws, bootstrap(metric, y, a, b, groups=groups))


def test_a_subset_is_right_or_wrong_and_has_a_closed_form():
    c = op.compare(Y, A, B, metric="accuracy", rope=0.01)
    right = {"a": (Y == A).all(axis=1), "b": (Y == B).all(axis=1)}
    wanted = op.compare(op.Outcomes.from_correct(right), "a", "b", metric="accuracy", rope=0.01)
    assert c.exact
    assert (c.mean, c.sd, c.hdi) == (wanted.mean, wanted.sd, wanted.hdi)
    assert c.spec.metric.label == "subset accuracy"
    assert "subset accuracy" in str(c)
    weighed = op.compare(Y, A, B, metric="accuracy", rope=0.01, prior="bootstrap", random_state=1)
    assert_same_distribution(weighed.draws, bootstrap("accuracy", Y, A, B))


@each("prior", ["uniform", "unit", "bootstrap", None])
@each("metric", ["f1", "recall", "specificity"])
def test_one_label_is_a_comparison_of_its_column(prior, metric):
    c = op.compare(SEEN, "a", "b", metric=metric, pos_label=3, prior=prior, rope=0.01,
                   n_draws=500, random_state=5)  # fmt: skip
    wanted = op.compare(Y[:, 3], A[:, 3], B[:, 3], metric=metric, prior=prior, rope=0.01,
                        n_draws=500, random_state=5)  # fmt: skip
    assert np.array_equal(c.draws, wanted.draws)
    assert (c.mean, c.hdi, c.exact) == (wanted.mean, wanted.hdi, wanted.exact)
    assert c.exact == (metric != "f1" and prior != "bootstrap")


@pytest.mark.parametrize("metric", ["f1_macro", "f1_samples", "accuracy"])
def test_by_class_has_a_row_for_each_label(metric):
    c = op.compare(SEEN, "a", "b", metric=metric, rope=0.01, n_draws=500, random_state=5)
    table = c.by_class()
    assert table.keys == (0, 1, 2, 3, 4)
    for label, row in zip(table.keys, table, strict=True):
        column = (m[:, label] for m in (Y, A, B))
        wanted = op.compare(*column, metric="f1", rope=0.01, n_draws=500,
                            random_state=child(c.seed, label))  # fmt: skip
        assert np.array_equal(row.draws, wanted.draws)
    assert "by label" in str(table)
    assert "by label" in repr(table)


def test_flat_labels_are_independent_and_say_so():
    c = op.compare(SEEN, "a", "b", metric="f1_macro", prior="uniform", rope=0.01, random_state=1)
    assert "independent_labels" in names(c)
    rows = c.by_class()
    mean = np.mean([row.mean for row in rows])
    sd = np.sqrt(sum(row.sd**2 for row in rows)) / len(rows)
    assert c.mean == pytest.approx(mean, abs=6 * c.mcse)
    assert c.sd == pytest.approx(sd, rel=5 * np.sqrt(0.5 / c.draws.size) * 1.5)
    assert c.bayes_factor is not None
    alone = op.compare(SEEN, "a", "b", metric="f1_macro", rope=0.01, random_state=1)
    assert "independent_labels" not in names(alone)
    assert alone.spec.prior.name == "bootstrap"


def test_a_macro_average_over_one_label_is_that_label():
    wide = op.compare(SEEN, "a", "b", metric="f1_macro", labels=[2], prior="uniform", rope=0.01,
                      n_draws=500, random_state=3)  # fmt: skip
    one = op.compare(SEEN, "a", "b", metric="f1", pos_label=2, prior="uniform", rope=0.01,
                     n_draws=500, random_state=3)  # fmt: skip
    assert wide.draws == pytest.approx(one.draws, abs=1e-12)
    assert "independent_labels" not in names(wide)


@pytest.mark.parametrize("metric", ["f1_samples", "f1_micro"])
def test_labels_that_go_wrong_together_are_not_weighed_one_by_one(metric):
    """Weights of labels instead of items would make the interval far too narrow."""
    rng = np.random.default_rng(0)
    y = rng.random((150, 8)) < 0.5
    a, b = (y ^ (rng.random((150, 1)) < rate) for rate in (0.2, 0.3))  # all labels, or none
    c = op.compare(y, a, b, metric=metric, rope=0.01, random_state=2)
    wanted = bootstrap(metric, y, a, b)
    assert_same_distribution(c.draws, wanted)
    rows = op.compare(y, a, b, metric="f1_micro", prior="uniform", rope=0.01, random_state=2)
    assert rows.sd < 0.6 * c.sd
    with pytest.raises(AssertionError):
        assert_same_distribution(rows.draws, wanted)


@pytest.mark.parametrize("metric", ["f1_samples", "f1_macro", "accuracy"])
def test_shards_shuffles_and_selections_change_nothing(metric):
    order = np.random.default_rng(1).permutation(len(Y))
    shards = [
        op.Outcomes.from_label_sets(Y[rows], {"a": A[rows], "b": B[rows], "c": Y[rows]})
        for rows in np.array_split(order, 3)
    ]
    whole = shards[2] + shards[0] + shards[1]
    wanted = op.compare(Y, A, B, metric=metric, n_draws=200, random_state=1, names=("a", "b"))
    found = op.compare(whole, "a", "b", metric=metric, n_draws=200, random_state=1)
    assert np.array_equal(found.draws, wanted.draws)
    assert found.signature == wanted.signature


@pytest.mark.parametrize("metric", ["f1_samples", "f1_macro", "f1_micro", "hamming_loss"])
def test_swapping_the_models_turns_the_sign(metric):
    one = op.compare(SEEN, "a", "b", metric=metric, random_state=1, rope=0.01)
    two = op.compare(SEEN, "b", "a", metric=metric, random_state=1, rope=0.01)
    assert one.observed == -two.observed
    assert one.mean == pytest.approx(-two.mean, abs=6 * (one.mcse + two.mcse))
    if metric == "hamming_loss":
        assert not one.spec.metric.greater_is_better
        assert one.p_better == one._masses.below


def test_unpaired_is_wider_and_knows_both_models():
    apart = op.compare(SEEN, "a", "b", metric="f1_samples", paired=False, rope=0.01, random_state=1)
    together = op.compare(SEEN, "a", "b", metric="f1_samples", rope=0.01, random_state=1)
    assert apart.observed == pytest.approx(together.observed, abs=1e-12)
    sd = np.hypot(apart.a.sd, apart.b.sd)
    assert apart.sd == pytest.approx(sd, rel=0.05)
    assert apart.sd > together.sd
    twins = op.compare(Y, A, A, metric="f1_samples", paired=False, rope=0.01, random_state=1)
    assert twins.sd == pytest.approx(np.sqrt(2) * twins.a.sd, rel=0.05)


def test_estimate_rank_and_scorecard():
    one = op.estimate(Y, A, metric="f1_samples", random_state=1)
    assert one.observed == pytest.approx(sklearn_value("f1_samples", Y, A))
    assert op.estimate(SEEN, "a", metric="f1_macro", random_state=1).spec.prior.name == (
        "bootstrap"
    )
    for metric in ("f1_samples", "f1_macro", "accuracy"):
        ranking = op.rank(Y, {"a": A, "b": B, "y": Y}, metric=metric, random_state=1, rope=0.01)
        assert ranking.names[0] == "y"
        pair = op.compare(SEEN, "a", "b", metric=metric, random_state=1, rope=0.01)
        assert ranking.spec.prior == pair.spec.prior
    wanted = ["f1_samples", "f1_macro", "f1_micro", "accuracy", "hamming_loss", "recall_samples"]
    card = op.scorecard(SEEN, "a", "b", metrics=wanted, rope=0.01, random_state=1, n_draws=500)
    for metric, c in zip(wanted, card, strict=True):
        alone = op.compare(SEEN, "a", "b", metric=metric, rope=0.01, random_state=1, n_draws=500)
        assert np.array_equal(c.draws, alone.draws), metric


def test_words_and_facts():
    c = op.compare(SEEN, "a", "b", metric="f1_samples", rope=0.01, random_state=1, n_draws=500)
    facts = c.to_dict()
    assert facts["n_labels"] == 5
    assert facts["n_classes"] is None
    assert facts["n"] == 300
    assert "300 items, 5 labels" in str(c)
    assert "300 items with 5 labels" in c.report()
    assert c.with_metric("f1_macro").metric == "f1_macro"
    assert "label 3" in str(c.with_metric("accuracy").by_class()[3])


def test_items_that_count_as_zero_are_counted():
    y = np.array([[0, 0], [1, 0], [0, 0], [1, 1]] * 20)
    a = np.array([[0, 0], [1, 0], [0, 1], [0, 1]] * 20)
    b = np.array([[0, 0], [0, 0], [0, 0], [1, 1]] * 20)
    c = op.compare(y, a, b, metric="f1_samples", rope=0.01, random_state=1)
    (note,) = (one for one in c.findings if one.name == "undefined_items")
    assert "20 of A; 40 of B" in note.message
    assert "F1 is 0/0 because there are no labels" in note.message
    assert "undefined_items" not in names(c.with_metric("hamming_loss"))


def test_findings_speak_of_items_and_labels():
    y, a, b = items(n=300, n_labels=4, seed=8)
    few = a.copy()
    few[:4] ^= True
    assert "few_disagreements" in names(op.compare(y, a, few, metric="f1_samples", random_state=1))
    apart = op.compare(y, a, few, metric="f1_macro", rope=0.3, random_state=1)
    (finding,) = (one for one in apart.findings if one.name == "few_disagreements")
    assert "disagree on only 4 items" in finding.message
    assert finding.level == "serious"
    y[:, 1] = False
    found = {one.name: one for one in op.compare(y, a, b, metric="f1_macro").findings}
    assert found["predicted_never_true"].message.startswith("Label 1 is never true, so")
    y[:5, 1] = True
    found = {one.name: one for one in op.compare(y, a, b, metric="f1_macro").findings}
    assert "1 of 4 labels have fewer than 10 items" in found["sparse_classes"].message
    groups = np.arange(300) // 30
    assert "few_groups" in names(op.compare(y, a, b, metric="f1_samples", groups=groups))
    assert "few_items" in names(op.compare(y[:8], a[:8], b[:8], metric="f1_samples"))
    ignored = op.compare(y, a, b, metric="f1_macro", groups=groups, prior="uniform")
    assert {"groups_ignored", "independent_labels"} <= names(ignored)


def test_recall_does_not_see_false_alarms():
    y = np.array([[1, 0, 1]] * 40)
    a, b = y.copy(), y.copy()
    a[:20, 1] = 1
    c = op.compare(y, a, b, metric="recall_macro", rope=0.01, random_state=1)
    assert "few_disagreements" in names(c)
    assert "few_disagreements" not in names(c.with_metric("precision_micro"))


def test_a_model_against_itself_is_a_tie():
    c = op.compare(Y, A, A, metric="f1_samples", rope=0.01, random_state=1)
    assert c.mean == 0
    assert c.decision.symbol == "?"


@each(
    ("metric", "rest", "sentence"),
    [
        ("f1", {}, "for one label, but there are 5 labels; use 'f1_samples'"),
        ("specificity", {}, "there are 5 labels; pass the label"),
        ("specificity_macro", {}, "needs one class per item"),
        ("informedness_micro", {}, "needs one class per item"),
        ("matthews_corrcoef", {}, "needs one class per item"),
        ("balanced_accuracy", {}, "needs one class per item"),
        (np.trace, {}, "needs one class per item"),
        ("f1_samples", {"prior": "uniform"}, "treats an item's labels as independent"),
        ("f1_macro", {"prior": "hierarchical"}, "does not support label sets; use one of"),
        ("f1_macro", {"labels": [9]}, "unknown label '9'"),
        ("f1", {"pos_label": 9}, "unknown label '9'"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(metric, rest, sentence):
    with pytest.raises(UsageError, match=sentence):
        op.compare(Y, A, B, metric=metric, **rest)


@each("metric", op.metrics.set_names())
def test_one_label_an_item_has_no_mean_over_sets(metric):
    with pytest.raises(UsageError, match="several labels each; pass indicator matrices"):
        op.compare([0, 1, 1], [0, 1, 0], [1, 1, 1], metric=metric)
    gold = [[(0, 2, "PER")], [(1, 2, "LOC")]]
    spans = op.Outcomes.from_spans(gold, {"a": gold, "b": [[], []]})
    with pytest.raises(UsageError, match="several labels each"):
        op.compare(spans, "a", "b", metric=metric)
    with pytest.raises(UsageError, match="several labels each"):
        op.metrics.get(metric).evaluate(op.metrics.Margins.from_confusion([[1, 0], [0, 1]]))


def test_a_report_of_label_sets_can_be_written(tmp_path):
    c = op.compare(SEEN, "a", "b", metric="f1_macro", rope=0.01, random_state=1, n_draws=500)
    page = tmp_path / "report.html"
    op.write_report(c, page)
    assert "label" in page.read_text(encoding="utf-8")
