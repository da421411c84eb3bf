"""Spans in compare, estimate, scorecard and by_class: models, findings, words and coverage."""

from __future__ import annotations

import re

import numpy as np
import pytest

import outperform as op
from outperform import Outcomes
from outperform.data.views import only
from outperform.errors import UsageError
from outperform.posterior.registry import get_prior
from tests.lazily import lazily
from tests.loops import each

plt = lazily("matplotlib.pyplot")

TYPES = ("LOC", "ORG", "PER")


def corrupted(documents, rng, missed, moved):
    kept = [[span for span in spans if rng.random() > missed] for spans in documents]
    return [[(s, e + (rng.random() < moved), kind) for s, e, kind in spans] for spans in kept]


@pytest.fixture(scope="module")
def seen():
    """300 sentences, some without spans; crf is better than bert."""
    rng = np.random.default_rng(5)
    gold = [
        [(10 * place, 10 * place + 2, TYPES[rng.integers(3)]) for place in range(rng.poisson(1.5))]
        for _ in range(300)
    ]
    models = {"crf": corrupted(gold, rng, 0.05, 0.05), "bert": corrupted(gold, rng, 0.2, 0.15)}
    return Outcomes.from_spans(gold, models)


@pytest.fixture(scope="module")
def bare():
    return Outcomes.from_tp_fp_fn({"A": (80, 10, 20), "B": (70, 15, 30)})


def ask(seen, *names, **options):
    return op.compare(seen, *(names or seen.models), random_state=1, n_draws=2_000, **options)


# Which model answers


def test_the_default_model(seen, bare):
    assert ask(seen).spec.prior.name == "bootstrap"
    assert ask(seen, metric="f1_macro").spec.prior.name == "bootstrap"
    assert ask(bare).spec.prior.name == "unit"
    assert ask(seen.ungroup()).spec.prior.name == "unit"
    assert ask(seen.ungroup(), metric="f1_macro").spec.prior.name == "unit"
    assert ask(seen, prior=1.0).spec.prior == get_prior("uniform")
    assert op.estimate(seen, "crf", random_state=0).spec.prior.name == "bootstrap"


def test_where_every_span_counts_by_itself_a_finding_says_so(seen, names):
    assert "independent_spans" not in names(ask(seen))
    assert "independent_spans" in names(ask(seen, prior="uniform"))
    assert "independent_spans" in names(ask(seen.ungroup(), prior="bootstrap"))
    assert "independent_spans" in names(op.estimate(seen, "crf", prior="unit", random_state=0))


def test_forgetting_sentences_leaves_what_was_observed(seen):
    for metric in ("f1", "precision", "recall_macro", "jaccard_weighted"):
        one, other = (ask(outcomes, metric=metric) for outcomes in (seen, seen.ungroup()))
        assert one.a.observed == other.a.observed


# Metrics


@each(
    "metric",
    ["accuracy", "specificity", "matthews_corrcoef", "cohen_kappa", "balanced_accuracy",
     "informedness", lambda confusion: confusion[0, 0]],
)  # fmt: skip
def test_metrics_that_need_true_negatives_are_refused(seen, metric):
    with pytest.raises(UsageError, match=r"spans have no true negatives, so .* cannot be computed"):
        ask(seen, metric=metric)
    with pytest.raises(UsageError, match="use precision, recall, f1, jaccard"):
        op.scorecard(seen, "crf", "bert", metrics=["f1", metric])


def test_every_metric_without_true_negatives_answers(seen):
    refused = 0
    for name in op.metrics.names():
        try:
            c = ask(seen, metric=name)
        except UsageError:
            refused += 1
        else:
            assert re.match(r"(precision|recall|f1|jaccard)", name), name
            assert 0 <= c.a.hdi.low <= c.a.observed <= c.a.hdi.high <= 1
    assert refused < len(op.metrics.names()) / 2


def test_some_types_only(seen):
    two = ask(seen, metric="f1_macro", labels=["LOC", "PER"])
    each = [ask(seen, pos_label=kind).a.observed for kind in ("LOC", "PER")]
    assert two.a.observed == pytest.approx(np.mean(each))
    pooled = ask(seen, labels=["LOC", "PER"])
    hits, actual, predicted = only(seen, ["LOC", "PER"]).margins("crf")
    assert pooled.a.observed == pytest.approx(float(2 * hits[0] / (actual[0] + predicted[0])))


@each(
    ("options", "words"),
    [
        ({"labels": ["X"]}, "unknown type 'X'"),
        ({"labels": []}, "labels must be distinct classes"),
        ({"labels": ["PER", "PER"], "metric": "f1_macro"}, "labels must be distinct classes"),
        ({"labels": "PER"}, "labels must be a list of classes; got 'PER'"),
        ({"pos_label": "X"}, "unknown type 'X'"),
        (
            {"prior": "learned"},
            "prior 'learned' does not support spans; use one of bootstrap, uniform, jeffreys, unit",
        ),
    ],
)
def test_what_is_refused(seen, options, words):
    with pytest.raises(UsageError) as caught:
        ask(seen, **options)
    assert words in str(caught.value)


# Tables


def test_one_row_a_type(seen):
    table = ask(seen, metric="f1_macro").by_class()
    assert table.keys == TYPES
    rows = table.table().rows
    assert [row["n_true"] for row in rows] == seen.margins("crf").actual.tolist()
    for kind in TYPES:
        alone = ask(seen, pos_label=kind)
        assert table[kind].a.observed == alone.a.observed
        assert abs(table[kind].mean - alone.mean) < 6 * (table[kind].mcse + alone.mcse)
        assert table[kind].spec.prior.name == "bootstrap"


def test_a_scorecard_counts_true_spans(seen):
    card = op.scorecard(
        seen, "crf", "bert", metrics=["f1", "recall", "f1_macro"], random_state=1, n_draws=2_000
    )
    n_true = int(seen.margins("crf").actual.sum())
    assert [row["n_true"] for row in card.table().rows] == [n_true] * 3
    for metric in ("f1", "f1_macro"):
        assert card[metric].draws.tobytes() == ask(seen, metric=metric).draws.tobytes()


def test_a_type_called_span_is_not_all_of_them():
    gold = [[(0, 1, "span"), (2, 3, "PER")]] * 20
    a = [[(0, 1, "span")]] * 12 + [[(2, 3, "PER")]] * 8
    b = [[(2, 3, "PER")]] * 20
    seen = Outcomes.from_spans(gold, {"a": a, "b": b})
    card = op.scorecard(
        seen, "a", "b", metrics=["f1", "f1_micro"], pos_label="span", random_state=1, n_draws=500
    )
    for metric, of_a in (("f1", 24 / 32), ("f1_micro", 40 / 60)):
        assert card[metric].a.observed == pytest.approx(of_a)
        assert abs(card[metric].a.mean - of_a) < 0.06


def test_another_metric_and_another_rope(seen):
    c = ask(seen)
    assert c.with_metric("recall").draws.tobytes() == ask(seen, metric="recall").draws.tobytes()
    assert c.with_rope(0.4).decision is op.Decision.EQUIVALENT


# Findings


def sentences(n_apart, n_same, n_spans=4):
    """Return outcomes in which A finds every span of some sentences and B none of these."""
    spans = [(place, place + 1, "X") for place in range(n_spans)]
    gold = [spans] * (n_apart + n_same)
    missed = [spans] * n_same + [[]] * n_apart
    return Outcomes.from_spans(gold, {"a": gold, "b": missed})


def test_disagreements_count_sentences_not_spans(names):
    few, many = sentences(9, 400), sentences(10, 400)
    assert "few_disagreements" in names(ask(few))
    assert "few_disagreements" not in names(ask(many))
    # 36 spans apart would be enough if each counted by itself
    assert "few_disagreements" not in names(ask(few.ungroup()))
    (finding,) = (one for one in ask(few).findings if one.name == "few_disagreements")
    assert "disagree on only 9 " in finding.message


def test_equivalence_is_withheld_where_few_sentences_disagree():
    c = ask(sentences(3, 400), rope=0.2)
    assert c.decision is op.Decision.UNDECIDED
    assert [one.level for one in c.findings if one.name == "few_disagreements"] == ["serious"]
    assert ask(sentences(12, 400), rope=0.2).decision is op.Decision.EQUIVALENT


def test_few_groups_counts_sentences_with_spans(names):
    few = sentences(12, 17)
    empty = Outcomes.from_spans([[]] * 500 + [[(0, 1, "X")]], {m: [[]] * 501 for m in ("a", "b")})
    assert "few_groups" in names(ask(few))
    assert "few_groups" in names(op.estimate(few, "a", random_state=0))
    assert "few_groups" not in names(ask(sentences(12, 18)))
    # 501 more sentences of which one has a span, and fewer of them than the others
    assert "few_groups" in names(ask(few + empty))
    assert "few_groups" not in names(ask(sentences(12, 18) + empty))


def test_malformed_tags_come_along(names):
    tags = [["I-X", "O"]] * 40
    seen = Outcomes.from_tags(tags, {"a": tags, "b": [["O", "I-X"]] * 40}, scheme="IOB2")
    assert names(ask(seen)).count("malformed_tags") == 3


def test_a_type_that_is_never_true(names):
    gold = [[(0, 1, "X")]] * 40
    made_up = [[(0, 1, "X"), (2, 3, "Y")]] * 20 + [[]] * 20
    seen = Outcomes.from_spans(gold, {"a": made_up, "b": gold})
    found = ask(seen, metric="f1_macro")
    assert "predicted_never_true" in names(found)
    # the average leaves out the type that only a predicts, for a too
    assert found.b.observed == 1.0
    assert found.a.observed == pytest.approx(2 / 3)
    assert "class_never_predicted" not in names(ask(seen))


def message(result, name):
    return next(finding.message for finding in result.findings if finding.name == name)


def test_findings_speak_of_types_and_spans(seen, bare):
    gold = [[(0, 1, "X")]] * 40
    made_up = [[(0, 1, "X"), (2, 3, "Y")]] * 20 + [[]] * 20
    silent = [[(2, 3, "Y")]] * 40
    two = Outcomes.from_spans(gold, {"a": made_up, "b": silent})
    found = ask(two, metric="f1_macro")
    assert message(found, "predicted_never_true").startswith(
        "No true span is of type 'Y', so the average excludes it, "
    )
    named = ask(two, metric="f1_macro", labels=["X", "Y"])
    assert message(named, "class_without_truth") == (
        "No true span is of type 'Y'; the data contain no information about it."
    )
    assert message(ask(two, pos_label="Y"), "class_without_truth").startswith(
        "No true span is of type 'Y'; "
    )
    assert "come from the prior alone" in message(
        ask(two, metric="f1_macro", prior="unit", labels=["X", "Y"]), "class_without_truth"
    )
    assert message(found, "class_never_predicted").startswith("b never predicts 'X'. ")
    of_type = message(ask(two, pos_label="X"), "class_never_predicted")
    assert of_type.startswith("b never predicts a span of type 'X'. ")
    assert of_type.endswith("and remains unknown.")
    few = Outcomes.from_spans(gold[:9] + [[(0, 1, "Z")]] * 40, {m: gold + [[]] * 9 for m in "ab"})
    assert message(ask(few, metric="f1_macro"), "sparse_classes") == (
        "1 of 2 types have fewer than 10 true spans; averages over types depend on few true spans."
    )
    assert message(ask(bare), "unpaired_outcomes") == (
        "The data do not show which spans both models found, so the comparison is unpaired. Tags "
        "or spans for the same sentences would narrow the interval."
    )
    many = Outcomes.from_spans(
        [[(k, k + 1, f"T{k}") for k in range(5)]] * 400,
        {"a": [[(k, k + 1, f"T{k}") for k in range(5)]] * 400, "b": [[(0, 1, "T0")]] * 400},
    )
    pulled = [ask(many, metric="f1_macro", prior="uniform"), ask(seen.ungroup(), prior="unit")]
    assert all("'learned'" not in finding.message for c in pulled for finding in c.findings)


def test_a_table_by_type(seen):
    table = ask(seen, metric="f1_macro").by_class()
    assert repr(table).startswith("ComparisonTable(by type, 3 comparisons: ")
    assert str(table).splitlines()[0] == "crf against bert in 3 types: better in 3"
    assert "crf − bert in F1 by type, on 300 sentences or " in " ".join(str(table).split())
    assert table.table().columns[0].title == "type"
    assert table.table().keys[0] == "class"
    with pytest.raises(UsageError, match="unknown type 'X'"):
        table["X"]


def test_a_third_model_changes_nothing_between_two():
    rng = np.random.default_rng(31)
    gold = [[(0, 1, "X"), (2, 3, "Y")]] * 60
    two = {name: corrupted(gold, rng, 0.2, 0.1) for name in ("a", "b")}
    third = {"c": [[*spans, (5, 6, "Z")] for spans in gold]}
    one = ask(Outcomes.from_spans(gold, two), metric="f1_macro")
    other = ask(Outcomes.from_spans(gold, two | third), "a", "b", metric="f1_macro")
    assert one.draws.tobytes() == other.draws.tobytes()
    assert one.a.observed == other.a.observed


# Words


@pytest.mark.parametrize("metric", ["f1", "f1_macro"])
def test_everything_that_is_shown(seen, bare, metric):
    for outcomes in (seen, bare, seen.ungroup()):
        c = ask(outcomes, metric=metric)
        for text in (str(c), repr(c), c.report(), c.to_markdown(), c.to_latex(), c.to_html()):
            assert c.names[0] in text
            assert "true negative" not in text
        assert f"n={outcomes.n}" in c.signature
        axes = c.plot()
        plt.close(axes.figure)
        for table in (c.by_class(), c.by_class().table()):
            assert table.to_markdown()
            assert table.to_latex()
        e = op.estimate(outcomes, c.names[0], metric=metric, random_state=0)
        assert e.report()
        assert e.to_html()
        axes = e.plot()
        plt.close(axes.figure)


def test_words_for_spans(seen, bare):
    of_type = ask(seen, pos_label="PER")
    assert "300 sentences or documents, 3 types of spans, type PER, paired" in str(of_type)
    assert "in F1 (type PER)" in of_type.report(length="short")
    assert "115 spans, unpaired" in str(ask(bare))
    assert "On 115 spans, the posterior mean" in ask(bare).report(length="short")
    assert "300 spans" not in str(ask(seen, prior="uniform"))
    for c in (of_type, ask(seen, metric="f1_macro"), ask(bare)):
        for text in (c.report(), c.report(length="short"), str(c), c.a.report()):
            text = text.partition("outperform ")[0]
            assert "class" not in text
            assert "item" not in text


def test_n_is_the_number_of_sentences(seen, bare):
    assert ask(seen).n == 300
    assert ask(seen).to_dict()["n"] == 300
    assert ask(bare).n == 115


# Coverage: spans of a sentence share its difficulty


def simulate(rng, n_sentences, n_models):
    """Count sentences of 1 + Poisson(3) spans, each found with its sentence's own rate.

    Half as many spurious as missed spans are expected. Returns true positives, false negatives
    and false positives as spans of one type.
    """
    n_spans = 1 + rng.poisson(3, n_sentences)
    rates = rng.beta(1.6, 0.4, n_sentences)
    gold, models = [], [[] for _ in range(n_models)]
    for n, rate in zip(n_spans.tolist(), rates.tolist(), strict=True):
        gold.append([(place, place + 1, "X") for place in range(n)])
        for spans in models:
            found = [(place, place + 1, "X") for place in range(n) if rng.random() < rate]
            spurious = rng.binomial(n, (1 - rate) / 2)
            spans.append(found + [(place, place + 2, "X") for place in range(spurious)])
    return Outcomes.from_spans(gold, {f"m{place}": spans for place, spans in enumerate(models)})


TRUE_F1 = 2 * 0.8 / (2 * 0.8 + 0.2 + 0.1)


def coverage(n_sets, n_sentences, seed):
    """Return how often 95% intervals of F1 hold the truth, by sentences and by bare counts."""
    rng = np.random.default_rng(seed)
    covered = np.zeros(2)
    for number in range(n_sets):
        drawn = simulate(rng, n_sentences, 1)
        for place, options in enumerate(({"n_draws": 1_000}, {"prior": "uniform"})):
            e = op.estimate(drawn, "m0", random_state=number, **options)
            covered[place] += e.eti.low <= TRUE_F1 <= e.eti.high
    return covered / n_sets


def test_sentence_weights_cover_and_bare_counts_do_not():
    by_sentence, by_span = coverage(150, 120, seed=21)
    # 150 sets: the sd of a rate of 0.94 is 0.019, of one of 0.75 it is 0.035
    assert by_sentence > 0.94 - 3.5 * 0.019
    assert by_span < 0.75 + 3.5 * 0.035


@pytest.mark.slow
def test_sentence_weights_cover_as_often_as_they_say():
    by_sentence, by_span = coverage(2_000, 200, seed=22)
    # 2,000 sets: the sd of a rate of 0.945 is 0.005
    assert 0.945 - 4 * 0.005 < by_sentence < 0.945 + 4 * 0.005
    assert by_span < 0.8


@pytest.mark.slow
def test_differences_of_equal_models_are_covered():
    rng = np.random.default_rng(23)
    n_sets, covered = 1_000, 0
    for number in range(n_sets):
        drawn = simulate(rng, 150, 2)
        c = op.compare(drawn, "m0", "m1", random_state=number, n_draws=1_000)
        covered += c.eti.low <= 0 <= c.eti.high
    assert abs(covered / n_sets - 0.945) < 4 * 0.0072


@pytest.mark.slow
def test_few_sentences_seldom_tell_equal_models_apart():
    # What the guide says of twenty and of five sentences; 600 sets: the sd is at most 0.012.
    for n_sentences, rate in ((20, 0.08), (5, 0.0)):
        rng = np.random.default_rng(n_sentences)
        found = [
            op.compare(simulate(rng, n_sentences, 2), "m0", "m1", random_state=0, n_draws=500)
            for _ in range(600)
        ]
        decided = [c.decision in (op.Decision.BETTER, op.Decision.WORSE) for c in found]
        assert abs(np.mean(decided) - rate) < 0.045
        assert all({"few_groups"} <= {one.name for one in c.findings} for c in found)


def test_equivalence_without_any_width_is_withheld():
    # No false positives at all: precision is 1 whatever the weights are, and says nothing.
    gold = [[(0, 1, "X"), (2, 3, "X")]] * 40
    a, b = [[(0, 1, "X")]] * 40, [[(2, 3, "X")]] * 40
    c = op.compare(
        Outcomes.from_spans(gold, {"a": a, "b": b}), "a", "b", metric="precision", rope=0.01
    )
    assert (c.hdi.low, c.hdi.high) == (0.0, 0.0)
    assert c.decision is op.Decision.UNDECIDED
