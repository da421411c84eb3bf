"""Several comparisons side by side: by class and by metric."""

from __future__ import annotations

import json

import numpy as np
import pytest

import outperform as op
from outperform.errors import UsageError
from tests.lazily import lazily
from tests.loops import each

f1_score = lazily("sklearn.metrics.f1_score")
recall_score = lazily("sklearn.metrics.recall_score")

FEW = {"n_draws": 500, "rope": 0.05, "random_state": 1}


@pytest.fixture(scope="module")
def by_class(four):
    return op.compare(*four, metric="f1_macro", **FEW).by_class()


def test_each_class_stands_against_the_rest(by_class, four):
    truth, a, b = four
    assert by_class.what == "class"
    assert by_class.keys == ("ham", "jam", "lamb", "spam")
    expected = f1_score(truth, a, average=None) - f1_score(truth, b, average=None)
    assert [c.observed for c in by_class] == pytest.approx(expected.tolist())
    assert len(by_class) == 4
    for label, c in zip(by_class.keys, by_class, strict=True):
        assert by_class[label] is c
        assert c.spec.pos_label == label
        assert c.metric == "f1"
        assert c.rope.high == 0.05


@each(
    ("metric", "single"),
    [
        ("recall_macro", "recall"),
        ("f2_weighted", "f2"),
        ("jaccard_micro", "jaccard"),
        ("accuracy", "f1"),
        ("matthews_corrcoef", "f1"),
    ],
)
def test_the_metric_of_a_class_is_the_averages_own(metric, single, four):
    card = op.compare(*four, metric=metric, **FEW).by_class()
    assert {c.metric for c in card} == {single}


def test_a_class_does_not_depend_on_the_others(by_class, four):
    truth, a, b = (np.where(column == "ham", "zebra", column) for column in four)
    renamed = op.compare(truth, a, b, metric="f1_macro", **FEW).by_class()
    assert [c.observed for c in renamed] == [by_class[key].observed for key in
        ("jam", "lamb", "spam", "ham")]  # fmt: skip
    assert renamed["jam"].mean == pytest.approx(by_class["jam"].mean, abs=0.02)


def test_the_table_has_the_papers_columns(by_class, four):
    truth, a, b = four
    frame = by_class.to_frame()
    assert list(frame["class"]) == ["ham", "jam", "lamb", "spam"]
    assert list(frame["n_true"]) == [int((truth == label).sum()) for label in frame["class"]]
    for column in (
        "sign_test_p", "t_test_p", "observed", "mean", "sd", "log10_bf10", "p_below_zero",
        "p_above_zero", "p_equivalent", "hdi_low", "hdi_high", "decision", "flags",
    ):  # fmt: skip
        assert column in frame
    assert np.allclose(frame["p_below_zero"] + frame["p_above_zero"], 1)
    right_a, right_b = (a == "ham") == (truth == "ham"), (b == "ham") == (truth == "ham")
    only_a, only_b = (right_a & ~right_b).sum(), (~right_a & right_b).sum()
    assert frame["sign_test_p"][0] == pytest.approx(op.nhst.sign_test(only_a, only_b).p_value)


def test_tables_in_every_format(by_class):
    for text in (
        str(by_class), by_class.to_markdown(), by_class.to_latex(), by_class.to_html(),
        by_class._repr_html_(),
    ):  # fmt: skip
        assert "spam" in text
    assert by_class.to_polars().height == 4
    assert by_class.to_arrow().num_rows == 4
    symbols = "".join(c.decision.symbol for c in by_class)
    assert repr(by_class) == f"ComparisonTable(by class, 4 comparisons: {symbols})"
    facts = by_class.to_dict()
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert (facts["by"], facts["keys"]) == ("class", ["ham", "jam", "lamb", "spam"])


def test_the_text_fits_a_terminal_and_says_what_the_marks_mean():
    news = op.datasets.load_news20()
    seen = op.Outcomes.from_labels(news.y_true, news.predictions)
    c = op.compare(seen, "nb_mult", "svm_l2", metric="f1_macro", n_draws=2_000, random_state=0)
    lines = str(c.by_class()).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("nb_mult against svm_l2 in 20 classes: better in ")
    assert " ".join(lines[-2:]) == (
        "nb_mult − svm_l2 in F1 by class, on 7,532 items in 20 classes (paired, prior unit, "
        "95% HDI, ROPE ±0.01 (default))"
    )
    assert lines[1] == "95% HDI, ROPE ±0.01 (default)"
    assert lines[3].split() == [
        "class",
        "n",
        "observed",
        "mean",
        "95%",
        "HDI",
        "decision",
        "findings",
    ]
    assert len(lines[4:24]) == len({line.split()[0] for line in lines[4:24]}) == 20
    legend = "\n".join(lines[24:])
    for one in c.by_class():
        assert f"{one.decision.symbol} {one.decision.words}" in legend.replace("\n", " ")
    assert any(line.startswith("a: ") for line in lines)


def test_odd_names_fit_a_terminal_too():
    truth = ["a" * 500, "b"] * 30
    c = op.compare(
        truth, truth, truth[1:] + truth[:1], metric="f1_macro", names=("x" * 200, "y" * 200), **FEW
    )
    assert max(map(len, str(c.by_class()).splitlines())) <= 80


def test_latex_shows_all_columns_or_some(by_class):
    whole = by_class.to_latex()
    assert whole.count("&") == 5 * (len(by_class.table().columns) - 1)
    assert r"\label{tab:a-b-f1-by-class}" in whole
    assert "in F1 by class, on " in whole
    assert "ROPE $\\pm$0.05" in whole
    assert "leaning" not in whole.partition("bottomrule")[0]
    some = by_class.to_latex(columns=["class", "mean", "decision"], caption="50% done", label="t:1")
    assert some.count("&") == 5 * 2
    assert r"\caption{50\% done}" in some
    assert r"\label{t:1}" in some
    assert r"\begin{table}" in some
    with pytest.raises(UsageError, match="unknown column 'x'"):
        by_class.to_latex(columns=["x"])


def test_an_unknown_key_is_told(by_class):
    with pytest.raises(UsageError, match=r"unknown class 'yam'.*ham, jam, lamb, spam"):
        by_class["yam"]


def test_odd_labels_are_shown_harmlessly():
    labels = ["", "a\u202eb", "x" * 10_000, "line\nbreak", "=1+1", "<b>"]
    truth = labels * 10
    c = op.compare(truth, truth, truth[1:] + truth[:1], metric="f1_macro", **FEW)
    for text in (c.by_class().to_markdown(), str(c.by_class()), c.by_class().to_html()):
        assert "(empty)" in text
        assert "\u202e" not in text
        assert "x" * 1_000 not in text
    assert "<b>" not in c.by_class().to_html()
    assert c.by_class().keys[0] == ""
    assert set(c.by_class().keys) == set(labels)


def test_a_scorecard_has_one_comparison_per_metric(two):
    metrics = ["recall", "f1", "accuracy", "matthews_corrcoef", op.metrics.fbeta(2)]
    card = op.scorecard(*two, metrics=metrics, **FEW)
    assert card.what == "metric"
    assert card.keys == ("recall", "f1", "accuracy", "matthews_corrcoef", "f2")
    for key in card.keys:
        alone = op.compare(*two, metric=key, **FEW)
        assert card[key].observed == alone.observed
        assert card[key].exact == alone.exact
        assert card[key].rope == alone.rope
        assert card[key].mean == pytest.approx(alone.mean, abs=5 * alone.sd / np.sqrt(250))


def test_metrics_of_one_table_share_every_draw(four):
    card = op.scorecard(*four, metrics=["recall_macro", "balanced_accuracy", "f1_macro"], **FEW)
    assert np.allclose(card["recall_macro"].draws, card["balanced_accuracy"].draws)
    together = np.corrcoef(card["recall_macro"].draws, card["f1_macro"].draws)[0, 1]
    assert together > 0.9


def test_a_class_of_booleans_and_the_whole_table_do_not_mix():
    rng = np.random.default_rng(1)
    truth = rng.random(300) < 0.3
    a, b = truth ^ (rng.random(300) < 0.1), truth ^ (rng.random(300) < 0.2)
    prior = op.Prior(rows=[[80.0, 1.0], [1.0, 1.0]])
    asked = {"prior": prior, "pos_label": False, **FEW}
    metrics = ["recall", "recall_macro", "precision"]
    card = op.scorecard(truth, a, b, metrics=metrics, **asked)
    for metric in metrics:
        alone = op.compare(truth, a, b, metric=metric, **asked)
        assert card[metric].mean == pytest.approx(alone.mean, abs=5 * alone.sd / np.sqrt(250))
        assert card[metric].a.mean == pytest.approx(alone.a.mean, abs=0.01)


def test_a_scorecard_checks_what_it_is_asked(two):
    for metrics in ([], "f1", ()):
        with pytest.raises(UsageError, match="metrics must be a list"):
            op.scorecard(*two, metrics=metrics)
    with pytest.raises(UsageError, match="unknown metric"):
        op.scorecard(*two, metrics=["f1", "f3x"])
    with pytest.raises(UsageError, match="n_draws"):
        op.scorecard(*two, metrics=["f1"], n_draws=1)


def test_unpaired_tables_have_no_paired_tests():
    seen = op.Outcomes.from_confusion({"a": [[50, 10], [20, 80]], "b": [[40, 20], [30, 70]]})
    frame = op.scorecard(seen, "a", "b", metrics=["f1", "recall"], **FEW).to_frame()
    assert frame["sign_test_p"].isna().all()
    assert frame["t_test_p"].isna().all()


def test_recall_by_class_of_numbers():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 200)
    a, b = (np.where(rng.random(200) < 0.7, truth, rng.integers(0, 3, 200)) for _ in range(2))
    card = op.compare(truth, a, b, metric="recall_macro", **FEW).by_class()
    expected = recall_score(truth, a, average=None) - recall_score(truth, b, average=None)
    assert [c.observed for c in card] == pytest.approx(expected.tolist())
    assert card[2].spec.pos_label == 2
    assert all(c.exact for c in card)
