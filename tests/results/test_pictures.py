"""The doors from results to figures: what is drawn is what the result says."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.display.pictures import outline
from outperform.errors import UndefinedBayesFactorError, UsageError
from tests.lazily import lazily

Figure = lazily("matplotlib.figure.Figure")


def axes(*shape):
    return Figure(figsize=(7, 3), layout="constrained").subplots(*shape)


def ends(ax):
    return [tuple(line.get_xdata()) for line in ax.lines if line.get_marker() == "|"]


def words(ax):
    return [text.get_text() for text in ax.texts]


def shares_at(ax, width):
    """Return how thick the three parts of a stack are at a width."""
    found = []
    for part in ax.collections:
        corners = part.get_paths()[0].vertices
        grid = np.unique(corners[:, 0])
        thick = [np.ptp(corners[corners[:, 0] == one, 1]) for one in grid]
        found.append(np.interp(width, grid, thick))
    return found


@pytest.fixture(scope="module")
def exact(two):
    asked = {"metric": "recall", "rope": 0.05, "names": ("new", "old"), "random_state": 0}
    return op.compare(*two, prior="uniform", **asked)


@pytest.fixture(scope="module")
def sampled(four):
    return op.compare(*four, metric="f1_macro", rope=0.05, names=("new", "old"), random_state=0)


def test_an_exact_posterior_is_its_density_and_a_sampled_one_its_draws(exact, sampled):
    grid, height = outline(exact.draws, exact.distribution)
    middle = len(grid) // 2
    assert height[middle] == exact.distribution.pdf(grid[middle])
    assert height.sum() * (grid[1] - grid[0]) == pytest.approx(0.999, abs=1e-3)
    assert outline(sampled.draws, sampled.distribution) is sampled.draws


@pytest.mark.parametrize("which", ["exact", "sampled"])
def test_the_posterior(request, which):
    result = request.getfixturevalue(which)
    ax = result.plot(axes())
    assert ends(ax) == [(result.hdi.low, result.hdi.high)]
    assert ends(result.a.plot(axes())) == [(result.a.hdi.low, result.a.hdi.high)]


def test_the_factor_of_a_closed_form(exact):
    ax = exact.plot_bayes_factor(axes())
    point, interval = exact.bayes_factor_point_null(), exact.bayes_factor
    dots = [line.get_ydata()[0] for line in ax.lines if line.get_marker() in ("o", "v")]
    assert dots[0] == pytest.approx(1.5)  # the prior density of a difference of paired recalls
    assert f"BF10 = {interval.bf10:.1e}\n" in words(ax)[-1]
    assert words(ax)[-1].endswith(f"BF10 = {point.bf10:.1e}")
    said = ax.get_title(loc="left")
    assert said == f"The odds of lying outside the ROPE grew {interval.bf10:.1e}-fold"


def test_the_factor_from_draws(sampled):
    text = words(sampled.plot_bayes_factor(axes()))[-1]
    assert "point null (exactly 0): no exact Bayes factor" in text
    assert text.startswith("inside the ROPE: prior ")


def test_a_model_without_a_prior_has_no_factor_to_draw(two):
    result = op.compare(*two, metric="recall", rope=0.05, prior="bootstrap", random_state=0)
    with pytest.raises(UndefinedBayesFactorError, match="is improper and cannot be plotted"):
        result.plot_bayes_factor(axes())


def test_a_rope_without_width_leaves_the_point_null(exact):
    ax = exact.with_rope(0.0).plot_bayes_factor(axes())
    assert words(ax)[-1].startswith("interval null: the ROPE has no width")
    assert "a difference grew" in ax.get_title(loc="left")


def test_the_rope_curve(exact):
    ax = exact.plot_rope_curve(axes())
    steps = exact.rope_curve()
    assert len(ax.patches) == len(steps)
    assert shares_at(ax, exact.rope.high) == pytest.approx(
        [exact.p_worse, exact.p_equivalent, exact.p_better], abs=0.01
    )


def test_the_rope_curve_of_an_asymmetric_rope(exact):
    other = exact.with_rope((-0.1, 0.3))
    assert shares_at(other.plot_rope_curve(axes()), 1.0) == pytest.approx(
        [other.p_worse, other.p_equivalent, other.p_better], abs=0.01
    )


def test_the_models(exact):
    ax = exact.plot_models(axes())
    assert ends(ax) == [(one.hdi.low, one.hdi.high) for one in (exact.a, exact.b)]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["new", "old"]


def test_the_confusions(sampled):
    panels = sampled.plot_confusion(axes(1, 3))
    seen = sampled.spec.data
    for panel, name in zip(panels, seen.models, strict=False):
        assert words(panel) == [f"{count}" for count in seen.confusion(name).ravel()]
    assert [text.get_text() for text in panels[0].get_yticklabels()] == list(seen.labels)


def test_some_classes_as_shares(sampled):
    panels = sampled.plot_confusion(axes(1, 3), normalise=True, labels=["spam", "ham"])
    assert [text.get_text() for text in panels[0].get_yticklabels()] == ["spam", "ham"]
    with pytest.raises(UsageError, match="eggs"):
        sampled.plot_confusion(axes(1, 3), labels=["eggs"])


def test_right_and_wrong_and_unpaired_outcomes():
    seen = op.Outcomes.from_correct({"a": [1] * 90 + [0] * 10, "b": [1] * 60 + [0] * 40})
    result = op.compare(seen, "a", "b", metric="accuracy", rope=0.01, random_state=0)
    assert words(result.plot_confusion(axes(1, 3))[0]) == ["0", "0", "10", "90"]
    apart = op.Outcomes.from_confusion({"a": [[90, 10], [20, 80]], "b": [[80, 20], [20, 80]]})
    result = op.compare(apart, "a", "b", metric="f1", rope=0.01, random_state=0)
    assert words(result.plot_confusion(axes(1, 3))[2]) == ["+10", "−10", "0", "0"]
    for draw in (result.plot, result.plot_bayes_factor, result.plot_rope_curve, result.plot_models):
        assert draw(axes()).get_xlabel()


def test_spans_have_no_span_as_a_class():
    tags = [["B-X", "I-X", "O"], ["O", "B-Y", "O"]]
    wrong = [["B-X", "O", "O"], ["O", "B-Y", "B-X"]]
    seen = op.Outcomes.from_tags(tags, {"a": tags, "b": wrong}, scheme="IOB2")
    result = op.compare(seen, "a", "b", metric="f1", rope=0.05, random_state=0)
    panels = result.plot_confusion(axes(1, 3))
    assert [text.get_text() for text in panels[0].get_yticklabels()] == ["X", "Y", "(no span)"]


def test_a_table_is_a_forest(sampled):
    table = sampled.by_class()
    ax = table.plot(axes())
    assert [text.get_text() for text in ax.get_yticklabels()] == list(table.keys)
    assert ends(ax) == [(one.hdi.low, one.hdi.high) for one in table]
    assert words(ax)[:-1] == [one.decision.symbol for one in table]
    assert ax.get_xlabel() == "F1, new − old → new better"


def test_a_scorecard_names_its_metrics_in_the_rows(four):
    card = op.scorecard(*four, metrics=["accuracy", "f1_macro"], rope=0.05, random_state=0)
    ax = card.plot(axes())
    assert [text.get_text() for text in ax.get_yticklabels()] == ["accuracy", "f1_macro"]
    assert ax.get_xlabel() == "A − B → A better"


def test_power_curves_share_axes():
    world = {"11": 0.6, "10": 0.3, "01": 0.0, "00": 0.1}
    other = {"11": 0.1, "10": 0.0, "01": 0.0, "00": 0.9}
    ax = axes()
    for paired in (True, False):
        found = op.power(
            theta_pos=world,
            theta_neg=other,
            prevalence=0.5,
            sizes=[50, 100],
            goal="≫",
            rope=0.05,
            paired=paired,
            n_simulations=100,
            n_draws=200,
            random_state=0,
        )
        assert found.plot(ax, label="paired" if paired else "unpaired") is ax
    assert len(ax.containers) == 2
    assert list(ax.containers[1][0].get_ydata()) == list(found.power)


def test_blocked_results_draw_too():
    folds = [[60, 20, 15], [58, 22, 17]] * 3
    better = [[67, 12, 8], [66, 14, 9]] * 3
    result = op.compare_cv_counts(better, folds, metric="f1", counts="tp_fp_fn", random_state=0)
    for draw in (result.plot, result.plot_bayes_factor, result.plot_rope_curve, result.plot_models):
        assert draw(axes()).get_xlabel()
    assert len(result.plot_confusion(axes(1, 3))) == 3
