"""Means of grades and of costs: which way is better, and what is said of it."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

import outperform as op
from outperform.decision.rope import Decision
from outperform.errors import UsageError

N = 400
SLOW = np.random.default_rng(0).gamma(9.0, 0.2, size=N)
FAST = SLOW - np.random.default_rng(1).uniform(0.1, 0.3, size=N)


def compare(metric, a=FAST, b=SLOW, **asked):
    return op.compare(None, a, b, **({"metric": metric, "rope": 0.02, "random_state": 0} | asked))


def names(result):
    return [finding.name for finding in result.findings]


def test_the_faster_model_is_better_by_its_mean_cost():
    c = compare("mean_cost", names=("fast", "slow"))
    assert c.decision is Decision.BETTER
    assert c.observed == pytest.approx(FAST.mean() - SLOW.mean())
    assert (c.a.observed, c.b.observed) == pytest.approx((FAST.mean(), SLOW.mean()))
    # Under Dirichlet(1, …, 1) weights the variance of a mean is that of the values / (n + 1).
    sd = np.sqrt(np.var(FAST - SLOW) / (N + 1))
    assert c.sd == pytest.approx(sd, rel=0.03)
    assert c.mean == pytest.approx(c.observed, abs=4 * sd / np.sqrt(c.draws.size))
    assert c.p_better > 0.999
    assert "lower is better" in " ".join(str(c).split())
    assert "fast is better than slow: mean cost lower by" in repr(c)
    assert names(c) == []


def test_the_mean_and_its_negative_are_the_same_draws():
    mean, cost, negative = (compare(metric) for metric in ("mean", "mean_cost", "neg_mean"))
    assert np.array_equal(mean.draws, cost.draws)
    assert np.array_equal(mean.draws, -negative.draws)
    assert (mean.decision, cost.decision) == (Decision.WORSE, Decision.BETTER)
    assert negative.decision is Decision.BETTER
    assert negative.spec.metric.greater_is_better
    assert negative.a.observed == pytest.approx(-FAST.mean())
    assert (mean.p_worse, mean.p_better) == (cost.p_better, cost.p_worse)


def test_costs_rank_and_pass_gates_by_less():
    seen = op.Scores.from_values({"slow": SLOW, "fast": FAST})
    ranking = op.rank(seen, metric="mean_cost", rope=0.02, random_state=0)
    assert ranking.names == ("fast", "slow")
    gate = op.gate(seen, "fast", "slow", metric="mean_cost", rope=0.02, random_state=0)
    assert gate.passed
    assert not op.gate(seen, "slow", "fast", metric="mean_cost", rope=0.02, random_state=0).passed


def test_bounds_and_the_default_rope_of_costs_from_0_to_1():
    a, b = FAST / 10, SLOW / 10
    for metric, bounds in (("mean", (0, 1)), ("mean_cost", (0, 1)), ("neg_mean", (-1, 0))):
        c = compare(metric, a, b, rope=None)
        assert c.spec.metric.bounds == bounds
        assert c.rope.default


@pytest.mark.parametrize("metric", ["mean", "mean_cost", "neg_mean"])
def test_a_rope_is_suggested_in_the_units_of_the_scores(metric):
    with pytest.raises(
        UsageError, match=r"range from 1 to 10, and a hundredth of that is rope=0\.09"
    ):
        compare(metric, [1, 5, 10.0], [2, 3, 4.0], rope=None)


def test_a_rope_is_suggested_for_losses():
    y, p = [1, 0, 1], np.array([0.5, 0.2, 0.9])
    with pytest.raises(UsageError, match=r"'log_loss' has no default.*e\.g\. rope=0\.01: .*1% hi"):
        op.compare(y, p, p / 2, metric="log_loss")
    rows = np.full((3, 3), 1 / 3)
    with pytest.raises(UsageError, match=r"e\.g\. rope=0\.01; over several classes"):
        op.compare(["a", "b", "c"], rows, rows, metric="brier_score")


def test_a_log_loss_lower_by_a_hundredth_is_a_probability_higher_by_one_percent():
    y, p = np.ones(5, dtype=int), np.array([0.2, 0.4, 0.5, 0.6, 0.9])
    loss, better = (
        op.estimate(y, one, metric="log_loss", labels=[0, 1], random_state=0).observed
        for one in (p, p * np.exp(0.01))
    )
    assert loss - better == pytest.approx(0.01)
    assert np.exp(0.01) == pytest.approx(1.01, abs=1e-4)


# Which way is better


def test_every_output_of_a_mean_says_which_way_is_better():
    c = compare("mean")
    assert c.to_dict()["greater_is_better"] is True
    for text in (str(c), c.report(), c._repr_html_()):
        assert "higher is better" in " ".join(text.split())
    seen = op.Scores.from_values({"slow": SLOW, "fast": FAST})
    ranking = op.rank(seen, metric="mean", rope=0.02, random_state=0)
    assert "higher is better" in " ".join(str(ranking).split())
    gate = op.gate(seen, "slow", "fast", metric="mean", rope=0.02, random_state=0)
    assert "higher is better in mean" in " ".join(str(gate).split())
    assert "is better in" not in str(
        op.gate([1, 0] * 50, [1, 0] * 50, [1, 0] * 50, metric="f1", random_state=0)
    )


def test_a_note_where_scores_may_be_costs():
    (finding,) = (one for one in compare("mean").findings if one.name == "higher_is_better")
    assert finding.level == "note"
    assert "'mean_cost'" in finding.message
    assert "'neg_mean'" in finding.message
    inside = FAST / 10, SLOW / 10
    assert "higher_is_better" not in names(compare("mean", *inside))
    for name in ("latency_ms", "totalTime", "errors", "price (USD)", "n_tokens", "Cost"):
        assert "higher_is_better" in names(compare("mean", *inside, names=(name, "other"))), name
    for name in ("costello", "timeless", "lossless", "gpt-4"):
        assert "higher_is_better" not in names(compare("mean", *inside, names=(name, "b"))), name
    assert op.estimate(None, FAST, metric="mean", random_state=0).findings == ()


def test_columns_and_scores_of_files_are_known_by_their_names(tmp_path):
    text = "a_latency,b_latency\n" + "0.1,0.2\n0.3,0.2\n" * 20
    seen = op.read_scores(io.StringIO(text), models={"a": "a_latency", "b": "b_latency"})
    assert "higher_is_better" in names(op.compare(seen, "a", "b", metric="mean", random_state=0))
    assert "higher_is_better" not in names(
        op.compare(seen, "a", "b", metric="mean_cost", random_state=0)
    )
    for model in ("a", "b"):
        rows = [{"doc_id": k, "filter": "none", "cost": 0.1 * (k % 3)} for k in range(30)]
        path = tmp_path / model / "samples_t_2026-01-01T00-00-00.jsonl"
        path.parent.mkdir()
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    seen = op.read_scores(tmp_path, format="lm-eval")
    assert seen.select(["b", "a"]).sources == ("cost",)
    assert "higher_is_better" in names(op.compare(seen, "a", "b", metric="mean", random_state=0))


# Names that no metric has


@pytest.mark.parametrize("metric", ["modus", "neg_men", "pass@0", "win_rat"])
def test_unknown_metrics_of_grades(metric):
    seen = op.Scores.from_values({"a": FAST, "b": SLOW})
    message = rf"unknown metric '{metric}'.*Known: mean, mean_cost, neg_mean, .*; or pass a func"
    for ask in (
        lambda: compare(metric),
        lambda: op.estimate(None, FAST, metric=metric),
        lambda: op.rank(None, {"a": FAST, "b": SLOW}, metric=metric),
        lambda: op.scorecard(None, FAST, SLOW, metrics=[metric]),
        lambda: op.compare(seen, "a", "b", metric=metric),
    ):
        with pytest.raises(UsageError, match=message):
            ask()


def test_metrics_of_labels_and_rankings_need_a_truth():
    with pytest.raises(UsageError, match="'f1' is computed from labels, but these are grades"):
        compare("f1")
    with pytest.raises(
        UsageError, match="'f2_macro' is computed from labels, but these are grades"
    ):
        compare("f2_macro")
    with pytest.raises(UsageError, match="'roc_auc' needs the true labels; without them use one"):
        compare("roc_auc")
    with pytest.raises(UsageError, match="must take y_true, score and weight"):
        compare(lambda confusion: 0.0)


def test_unknown_names_list_what_fits_the_data():
    y, score = [0, 1] * 20, np.linspace(0, 1, 40)
    with pytest.raises(UsageError, match="did you mean 'log_loss'") as caught:
        op.compare(y, score, score, metric="log_los")
    every = op.metrics.names() + op.metrics.set_names() + op.metrics.score_names(graded=False)
    known, _, rest = str(caught.value).partition("Known: ")[2].partition(" and ")
    assert known.startswith("log_loss, ")
    assert set(known.split(", ")) < set(every)
    assert rest.startswith(f"{len(every) - 5} more, see op.metrics.names()")
    counted = op.Outcomes.from_labels(y, {"a": y, "b": y})
    with pytest.raises(UsageError, match="did you mean 'accuracy'") as caught:
        op.compare(counted, "a", "b", metric="acuracy")
    assert f" and {len(op.metrics.names()) - 5} more" in str(caught.value)
    seen = op.Scores.from_arrays(y, {"a": score, "b": score})
    with pytest.raises(UsageError, match=r"did you mean 'roc_auc'.*; or pass a function"):
        op.compare(seen, "a", "b", metric="rocauc")
