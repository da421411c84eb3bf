from __future__ import annotations

import numpy as np
import pytest

from outperform.display.rope_figure import draw_factor, factor_window
from outperform.errors import UsageError
from tests.display.payloads import attack, every_payload

GRID = np.linspace(-0.2, 0.3, 301)
AFTER = GRID, np.exp(-0.5 * ((GRID - 0.05) / 0.02) ** 2) / (0.02 * np.sqrt(2 * np.pi))
BEFORE = GRID, np.full(GRID.size, 1.5)


@pytest.fixture
def told(facts):
    return {
        **facts,
        "hdi": {"low": 0.01, "high": 0.09, "prob": 0.95},
        "exact": True,
        "bayes_factor": {"bf01": 0.2, "kind": "interval"},
    }


@pytest.fixture
def null():
    return {"inside": (0.03, 0.006), "density": (1.5, 0.375), "point": {"bf01": 0.25}}


def test_both_nulls_are_written_with_what_they_mean(ax, told, null):
    assert draw_factor(AFTER, BEFORE, facts=told, null=null, ax=ax) is ax
    assert ax.texts[-1].get_text().replace("\n", " ") == (
        "inside the ROPE: prior 3.00%, posterior 0.60%; BF10 = 5.00 "
        "density at 0: prior ○ 1.5, posterior ● 0.375; BF10 = 4.00"
    )
    said = ax.get_title(loc="left").replace("\n", " ")
    assert said == "The odds of lying outside the ROPE grew 5.00-fold"
    assert {"prior", "posterior"} < {text.get_text() for text in ax.texts}


def test_the_densities_at_zero_are_marked(ax, told, null, marks):
    draw_factor(AFTER, BEFORE, facts=told, null=null, ax=ax)
    dots = [line.get_ydata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert dots == [1.5, 0.375]
    assert marks(ax, "o") == [0, 0]
    assert ax.get_yscale() == "log"
    low, high = ax.get_ylim()
    assert low < 0.375
    assert high > AFTER[1].max()


def test_evidence_for_the_null_and_bounds(ax, told, null):
    told |= {"bayes_factor": {"bf01": 1 / 519, "bound": "upper"}}
    null |= {"point": {"bf01": 40.0}, "density": (1.5, 60.0)}
    draw_factor(AFTER, BEFORE, facts=told, null=null, ax=ax)
    said = ax.get_title(loc="left").replace("\n", " ")
    assert said == "The odds of lying outside the ROPE grew >519-fold"
    assert ax.texts[-1].get_text().replace("\n", " ").endswith("BF01 = 40.0")


def test_without_a_point_null_nothing_is_marked_at_zero(ax, told, null, marks):
    null |= {"point": None, "density": None}
    draw_factor(AFTER, BEFORE, facts=told, null=null, ax=ax)
    assert marks(ax, "o") == []
    assert ax.texts[-1].get_text().endswith("point null (exactly 0): no exact Bayes factor")


def test_a_rope_without_width_has_no_interval_null(ax, told, null):
    told |= {"rope": {"low": 0.0, "high": 0.0}, "bayes_factor": None}
    null |= {"inside": None}
    draw_factor(AFTER, BEFORE, facts=told, null=null, ax=ax)
    assert ax.texts[-1].get_text().startswith("interval null: the ROPE has no width")


def test_a_density_far_below_the_axis_becomes_an_arrow(ax, told, null, marks):
    null |= {"density": (1.5, 1e-40), "point": {"log10_bf10": 40.18}}
    draw_factor(AFTER, BEFORE, facts=told, null=null, ax=ax)
    assert marks(ax, "v") == [0]
    assert ax.get_ylim()[0] > 1e-6
    assert "posterior ● 1e-40" in ax.texts[-1].get_text()


def test_draws_are_a_smooth_line_within_the_window(ax, told, null, crowded, outside, written):
    rng = np.random.default_rng(3)
    draws, prior = rng.normal(0.05, 0.02, 20_000), rng.uniform(-1, 1, 20_000)
    null |= {"point": None, "density": None}
    draw_factor(draws, prior, facts=told, null=null, ax=ax)
    line = next(one for one in ax.lines if one.is_dashed() and len(one.get_xdata()) > 100)
    # Some 250 of the uniform prior's draws lie under the kernel at each place.
    assert line.get_ydata() == pytest.approx(0.5, abs=0.15)
    assert ax.get_xlim() == factor_window(told)
    assert crowded(ax) == []
    assert outside(ax, written) == []


def test_a_prior_whose_draws_miss_some_bins_is_drawn(ax, told, null):
    prior = np.random.default_rng(4).normal(0.9, 0.3, 300)
    draw_factor(AFTER, prior, facts=told, null=null, ax=ax)
    ax.figure.draw_without_rendering()


def test_the_window_shows_posterior_rope_and_zero(told):
    low, high = factor_window(told)
    assert low < told["rope"]["low"]
    assert high > told["hdi"]["high"]
    low, high = factor_window({**told, "hdi": {"low": -0.3, "high": -0.2}})
    assert low < -0.3
    assert high > 0.01


def test_prior_and_posterior_differ_without_colours(ax, told, null, grey):
    draw_factor(AFTER, BEFORE, facts=told, null=null, ax=ax)
    rope, shape = ax.patches[0].get_facecolor(), ax.collections[0].get_facecolor()[0]
    line = next(one for one in ax.lines if len(one.get_xdata()) == GRID.size)
    assert abs(grey(rope) - grey(shape)) > 0.15
    assert abs(grey(shape) - grey(line.get_color())) > 0.3
    assert line.is_dashed()


@every_payload
def test_payloads_are_text(ax, null, facts, payload):
    ax.clear()
    attacked = attack(facts, payload)
    told = {**attacked, "hdi": {"low": 0.01, "high": 0.09, "prob": 0.95}}
    draw_factor(AFTER, BEFORE, facts=told, null=null, ax=ax)
    for text in [*ax.texts, ax.xaxis.label]:
        assert not text.get_parse_math()


def test_what_cannot_be_drawn_is_refused(ax, told, null):
    with pytest.raises(UsageError, match="draws of the prior must be a non-empty"):
        draw_factor(AFTER, [np.nan], facts=told, null=null, ax=ax)
