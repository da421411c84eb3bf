"""Slices from every source and in every metric, and what the result says of them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import outperform as op
from outperform import metrics
from outperform.decision.rope import Masses, decide
from outperform.errors import UsageError
from tests.loops import each

N = 600


def labelled(n_classes=3, n=N, seed=7):
    """Return truth, two models' predictions and two columns that divide the items."""
    generator = np.random.default_rng(seed)
    y = generator.integers(n_classes, size=n)
    a, b = (
        np.where(generator.random(n) < 0.8, y, generator.integers(n_classes, size=n))
        for _ in range(2)
    )
    country = generator.choice(["DE", "FR", "UK", "US"], size=n, p=[0.4, 0.3, 0.2, 0.1])
    channel = generator.choice(["mail", "web"], size=n)
    return y, a, b, {"country": country, "channel": channel}


def counted(n_classes=3, **more):
    y, a, b, by = labelled(n_classes, **more)
    return op.Outcomes.from_labels(y, {"bert": a, "gpt": b}, by=by)


@pytest.fixture(scope="module")
def found():
    return op.compare_slices(counted(), "bert", "gpt", metric="f1_macro", rope=0.05, random_state=1)


# Every metric


@each("metric", metrics.names())
def test_every_metric_in_every_slice_as_scikit_learn_has_it(metric):
    n_classes = 2 if metrics.get(metric).average == "binary" else 3
    y, a, b, by = labelled(n_classes)
    seen = op.Outcomes.from_labels(y, {"bert": a, "gpt": b}, by=by)
    asked = {"metric": metric, "rope": 0.05, "random_state": 1}
    slices = op.compare_slices(seen, "bert", "gpt", n_draws=200, **asked)
    assert len(slices) == 8
    for row in [*slices][::3]:
        alone = op.compare(seen.slice(*row.key), "bert", "gpt", n_draws=200, **asked)
        assert row.n == alone.n
        assert row.observed_a == pytest.approx(alone.a.observed, abs=1e-12)
        assert row.observed == pytest.approx(alone.observed, abs=1e-12)
        assert abs(row.mean - alone.mean) < 4 * alone.sd


def test_a_function_of_the_confusion_array_and_a_cost():
    cost = metrics.from_function(
        lambda table: (5 * table[0, 1] + table[1, 0]) / table.sum(axis=(0, 1)),
        name="cost",
        bounds=(0, 5),
        greater_is_better=False,
        vectorized=True,
    )
    seen = counted(2)
    slices = op.compare_slices(seen, "bert", "gpt", metric=cost, rope=0.1, random_state=1)
    for row in slices:
        assert row.p_worse + row.p_equivalent + row.p_better == pytest.approx(1)
        masses = Masses(
            below=row.p_better, inside=row.p_equivalent, above=row.p_worse, greater=row.p_greater
        )
        assert row.decision is decide(row.hdi, slices.rope, masses, greater_is_better=False)
    means = [row.mean for row in slices if row.p_worse == slices.rows[0].p_worse]
    assert means == sorted(means, reverse=True)


def test_a_class_that_a_slice_lacks_is_left_out_of_what_was_observed_there():
    y = [0, 1, 2, 0, 1, 0, 1, 0, 1]
    a, b = [0, 1, 2, 1, 1, 0, 0, 0, 1], [0, 1, 1, 0, 1, 1, 1, 0, 1]
    by = {"day": [1] * 3 + [2] * 6}
    seen = op.Outcomes.from_labels(y, {"a": a, "b": b}, by=by)
    slices = op.compare_slices(seen, "a", "b", metric="f1_macro", rope=0.1, random_state=1)
    pytest.importorskip("sklearn")
    from sklearn.metrics import f1_score

    assert slices["2"].observed_a == pytest.approx(f1_score(y[3:], a[3:], average="macro"))
    given = op.compare_slices(
        seen, "a", "b", metric="f1_macro", rope=0.1, random_state=1, labels=[0, 1, 2]
    )
    expected = f1_score(y[3:], a[3:], average="macro", labels=[0, 1, 2], zero_division=0)
    assert given["2"].observed_a == pytest.approx(expected)


def test_twenty_classes_take_the_cells_that_occurred():
    seen = counted(20, n=3_000)
    slices = op.compare_slices(seen, "bert", "gpt", metric="f1_macro", n_draws=400, random_state=1)
    whole = slices.whole
    for row in slices:
        assert abs(row.mean - whole.mean) < 6 * max(row.sd, whole.sd)


# Every source


def test_files_frames_and_outcomes_give_the_same(tmp_path):
    pandas = pytest.importorskip("pandas")
    y, a, b, by = labelled(2)
    frame = pandas.DataFrame({"label": y, "bert": a, "gpt": b, **by})
    frame.to_parquet(tmp_path / "preds.parquet")
    asked = {"metric": "f1", "rope": 0.01, "random_state": 3, "n_draws": 500}
    named = {"truth": "label", "a": "bert", "b": "gpt", "by": ["country", "channel"]}
    seen = op.Outcomes.from_labels(y, {"bert": a, "gpt": b}, by=by)
    answers = [
        op.compare_slices(str(tmp_path / "preds.parquet"), **named, **asked),
        op.compare_slices(frame, **named, **asked),
        op.compare_slices(seen, "bert", "gpt", **asked),
    ]
    assert answers[0].to_dict() == answers[1].to_dict() == answers[2].to_dict()
    some = op.compare_slices(frame, **named, where={"country": ["DE", "FR"]}, **asked)
    assert {row.key[0] for row in some} == {"DE", "FR"}


def test_a_third_model_is_summed_out():
    y, a, b, by = labelled(2)
    seen = op.Outcomes.from_labels(y, {"x": a, "bert": a, "gpt": b}, by=by)
    asked = {"metric": "recall", "rope": 0.02, "random_state": 3, "n_draws": 300}
    three = op.compare_slices(seen, "bert", "gpt", **asked)
    two = op.compare_slices(counted(2), "bert", "gpt", **asked)
    assert three.to_dict() == two.to_dict()


# The draws


def test_threads_change_nothing_and_seeds_do():
    seen = counted(2, n=4_000)
    asked = {"metric": "f1", "rope": 0.01, "n_draws": 4_000}
    one, two, other = (
        op.compare_slices(seen, "bert", "gpt", n_jobs=n_jobs, random_state=seed, **asked)
        for n_jobs, seed in ((1, 1), (2, 1), (1, 2))
    )
    assert one.to_dict() == two.to_dict()
    assert one.rows[0].mean != other[one.rows[0].key].mean
    for row in one:
        assert abs(row.mean - other[row.key].mean) < 6 * row.mcse


def test_numbers_scatter_over_seeds_as_their_errors_say():
    # The sd of such a ratio is 7% with 100 seeds, so 30% are more than four of it.
    seen = counted(2, n=4_000)
    runs = [
        op.compare_slices(
            seen, "bert", "gpt", metric="f1", rope=0.01, n_draws=500, random_state=seed, n_jobs=1
        )
        for seed in range(100)
    ]
    for key in seen.slices:
        rows = [run[key] for run in runs]
        for name in ("mean", "sd", "p_worse", "p_better", "p_greater"):
            scatter = np.std([getattr(row, name) for row in rows], ddof=1)
            told = np.mean([row.mc_errors[name] for row in rows])
            assert 0.7 < scatter / told < 1.3, (key, name)


def test_slices_do_not_depend_on_what_they_are_called():
    y, a, b, by = labelled(2)
    numbered = {"place": [f"{c}-{d}" for c, d in zip(by["country"], by["channel"], strict=True)]}
    asked = {"metric": "f1", "rope": 0.01, "n_draws": 300, "random_state": 5}
    models = {"bert": a, "gpt": b}
    two = op.compare_slices(op.Outcomes.from_labels(y, models, by=by), "bert", "gpt", **asked)
    one = op.compare_slices(op.Outcomes.from_labels(y, models, by=numbered), "bert", "gpt", **asked)
    assert [row.mean for row in two] == [row.mean for row in one]


# The result


def test_rows_are_in_the_order_of_concern(found):
    order = [(-row.p_worse, row.mean) for row in found]
    assert order == sorted(order)
    assert len(found) == 8
    assert list(found) == list(found.rows)
    assert sum(found.counts.values()) == 8
    assert found["DE", "web"].key == ("DE", "web")
    assert found.names == ("bert", "gpt")
    assert found.metric == "f1_macro"
    assert found.whole.n == N


def test_what_is_called_and_how_much_of_it_is_wrong():
    y = [1] * 1_200
    worse = [0] * 150 + [1] * 1_050
    by = {"part": [k // 200 for k in range(1_200)]}
    seen = op.Outcomes.from_labels(y, {"new": worse, "old": y}, labels=[0, 1], by=by)
    slices = op.compare_slices(seen, "new", "old", metric="recall", rope=0.02, random_state=1)
    assert [row.key for row in slices.flagged] == [("0",)]
    assert slices["0"].flagged
    assert not slices["1"].flagged
    wrong = 1 - slices["0"].p_worse
    assert slices.expected_false_alarms == pytest.approx(wrong)
    assert slices["0"].p_wrong == wrong
    assert slices["1"].p_wrong == 0
    assert "new is worse than old in 1 of 6 slices" in repr(slices)
    mirrored = op.compare_slices(seen, "old", "new", metric="recall", rope=0.02, random_state=1)
    assert mirrored["0"].decision.symbol == "≫"


def test_every_format(found):
    frame = found.to_frame()
    assert list(frame.columns[:3]) == ["country", "channel", "n"]
    assert len(frame) == len(found.to_polars()) == found.to_arrow().num_rows == 8
    facts = json.loads(json.dumps(found.to_dict()))
    assert facts["n_slices"] == len(facts["rows"]) == 8
    assert facts["rows"][0]["key"] == list(found.rows[0].key)
    for text in (found.to_markdown(), found.to_latex(), found.to_html(), str(found)):
        assert "country" in text
        assert "web" in text
    assert len(found.table(3)) == 3
    assert "and 5 more" in found.text(3)
    assert "SliceComparison(" in repr(found)


def test_a_column_called_like_a_number_of_the_table():
    y, a, b, _ = labelled(2)
    seen = op.Outcomes.from_labels(y, {"a": a, "b": b}, by={"n": [k % 2 for k in range(N)]})
    slices = op.compare_slices(seen, "a", "b", n_draws=200, random_state=1)
    assert set(slices.to_frame()["by_n"]) == {"0", "1"}


def test_a_forest_of_the_most_concerning(found):
    pytest.importorskip("matplotlib")
    ax = found.plot(top=3)
    shown = [text.get_text() for text in ax.get_yticklabels()]
    assert shown == [", ".join(row.key) for row in found.rows[:3]]


def test_findings_say_what_may_be_wrong(found):
    names = {finding.name for finding in found.findings}
    assert "few_slices" in names
    assert "default_rope" not in names
    tiny = op.compare_slices(counted(2, n=30), "bert", "gpt", n_draws=200, random_state=1)
    more = {finding.name for finding in tiny.findings}
    assert {"default_rope", "small_slices", "few_slices"} <= more
    assert "slices=8" in found.signature
    assert "draws=4000" in found.signature
    coarse = any(row.coarse for row in found)
    assert coarse == ("monte_carlo_too_coarse" in names)


# What is refused


def test_mistakes_are_named(found):
    seen = counted(2)
    with pytest.raises(UsageError, match="remove by="):
        op.compare_slices(seen, "bert", "gpt", by="country")
    with pytest.raises(UsageError, match="no slices"):
        op.compare_slices(seen.slice("DE", "web"), "bert", "gpt")
    with pytest.raises(UsageError, match="slices support the priors"):
        op.compare_slices(seen, "bert", "gpt", prior="bootstrap")
    with pytest.raises(UsageError, match="two models"):
        op.compare_slices("preds.parquet", a="bert", b="bert", truth="label", by="country")
    with pytest.raises(UsageError, match="unknown slice"):
        found["DE", "phone"]
    with pytest.raises(UsageError, match="one value for each"):
        found["DE"]


# False alarms


def alike(n_slices, n, n_classes, seed):
    """Return outcomes of slices in which two models are equally good."""
    generator = np.random.default_rng(seed)
    size = n_slices * n
    y = generator.integers(n_classes, size=size)
    both = np.where(generator.random(size) < 0.1, generator.integers(n_classes, size=size), y)
    a, b = (
        np.where(generator.random(size) < 0.1, generator.integers(n_classes, size=size), both)
        for _ in range(2)
    )
    by = {"slice": np.repeat([f"{k:04d}" for k in range(n_slices)], n)}
    return op.Outcomes.from_labels(y, {"a": a, "b": b}, by=by)


@pytest.mark.parametrize(("n_classes", "metric"), [(2, "f1"), (5, "f1_macro"), (5, "accuracy")])
def test_equal_slices_raise_no_alarm_whatever_the_classes_and_the_metric(n_classes, metric):
    seen = alike(200, 150, n_classes, seed=n_classes)
    asked = {"metric": metric, "rope": 0.01, "n_draws": 1_000, "random_state": 1}
    # At most one in a thousand is called falsely, so hardly ever two of 200.
    assert len(op.compare_slices(seen, "a", "b", **asked).flagged) <= 1


def test_the_whole_has_as_many_draws_as_were_wanted():
    seen = alike(10, 50, 2, seed=1)
    asked = {"metric": "accuracy", "rope": 0.01, "random_state": 1}
    found = op.compare_slices(seen, "a", "b", n_draws=600, **asked)
    assert (found.whole.draws.size, found.n_draws) == (600, 600)
    found = op.compare_slices(seen, "a", "b", **asked)
    assert (found.whole.draws.size, found.n_draws) == (20_000, 4_000)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"metric": "acuracy"}, "unknown metric 'acuracy'; did you mean 'accuracy'"),
        ({"hdi_prob": 95}, "hdi_prob must lie"),
        ({"n_draws": 3}, "n_draws must be"),
    ],
)
def test_questions_are_checked_before_rows_are_counted(wrong, sentence, tmp_path):
    asked = {"metric": "accuracy", "truth": "y", "by": "country"} | wrong
    with pytest.raises(UsageError, match=sentence):
        op.compare_slices(tmp_path / "nowhere.csv", "a", "b", **asked)


def test_predictions_that_never_match_are_not_explained_by_other_slices():
    rng = np.random.default_rng(0)
    truth = rng.choice(["a", "b"], 300)
    a = np.where(rng.random(300) < 0.9, truth, "a")
    by = {"country": rng.choice(["DE", "FR", "IT"], 300)}
    slices = op.compare_slices(
        truth, a, np.char.upper(truth), by=by, metric="accuracy", rope=0.01, random_state=0
    )
    assert {row.decision.symbol for row in slices} == {"?"}
    text = " ".join(str(slices).split())
    assert "predictions_never_match" in text
    assert "because of the other slices" not in text
