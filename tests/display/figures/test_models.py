from __future__ import annotations

import numpy as np
import pytest

from outperform.display.posterior_figure import draw_models
from tests.display.payloads import attack, every_payload

RNG = np.random.default_rng(8)
A, B = RNG.normal(0.6023, 0.0055, 5_000), RNG.normal(0.7109, 0.0051, 5_000)


def test_both_models_with_intervals_means_and_observed_values(ax, facts, bars, marks):
    assert draw_models(A, B, facts=facts, ax=ax) is ax
    assert bars(ax) == [(0.5915, 0.613), (0.7009, 0.7208)]
    assert marks(ax, "o") == [0.6023, 0.7109]
    assert marks(ax, "D") == [0.6042, 0.7125]
    assert len(ax.collections) == 2
    assert ax.get_xlabel() == "macro-averaged F1"


def test_ends_and_names_are_written(ax, facts, texts):
    draw_models(A, B, facts=facts, ax=ax)
    assert {"0.5915", "0.6130", "0.7009", "0.7208"} < set(texts(ax))
    assert [text.get_text() for text in ax.get_yticklabels()] == ["nb_bern", "nb_mult"]
    assert ax.get_title(loc="left") == "macro-averaged F1: nb_bern\n0.6023, nb_mult 0.7109"
    assert ax.get_legend() is None


def test_both_densities_have_the_same_scale_and_a_row_of_their_own(ax, facts, areas):
    draw_models(A, B, facts=facts, ax=ax)
    upper, lower = (one.get_paths()[0].get_extents() for one in ax.collections)
    assert (upper.y0, lower.y0) == (1.0, 0.0)
    assert lower.y1 < upper.y0
    one, other = areas(ax)  # both are 1 in their own units
    assert one == pytest.approx(other, rel=1e-9)


def test_models_are_told_apart_by_place_and_not_by_colour(ax, facts):
    draw_models(A, B, facts=facts, ax=ax)
    a, b = (one.get_facecolor()[0] for one in ax.collections)
    assert tuple(a) == tuple(b)


def test_nothing_touches_or_leaves_one_column(ax, facts, crowded, outside, written):
    draw_models(A, B, facts=facts, ax=ax)
    assert crowded(ax) == []
    assert outside(ax, written) == []


def test_an_undefined_observed_value_is_not_drawn(ax, facts, marks):
    draw_models(A, B, facts={**facts, "a": {**facts["a"], "observed": None}}, ax=ax)
    assert marks(ax, "D") == [0.7125]


@every_payload
def test_payloads_are_text(ax, facts, payload):
    ax.clear()
    attacked = attack(facts, payload)
    draw_models(A, B, facts=attacked, ax=ax)
    for text in [*ax.get_yticklabels(), ax.xaxis.label, *ax.texts]:
        assert not text.get_parse_math()
        assert len(text.get_text()) < 80
