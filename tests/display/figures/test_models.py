from __future__ import annotations

import numpy as np
import pytest

from outperform.display.posterior_figure import draw_models

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
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["nb_bern", "nb_mult"]


def test_densities_are_drawn_as_they_are(ax, facts):
    grid = np.linspace(0.58, 0.63, 50)
    height = np.exp(-((grid - 0.6) ** 2) / 1e-4)
    draw_models((grid, height), B, facts=facts, ax=ax)
    assert ax.collections[0].get_paths()[0].vertices[:, 1].max() == pytest.approx(height.max())


def test_models_differ_in_grey(ax, facts, grey):
    draw_models(A, B, facts=facts, ax=ax)
    a, b = (grey(one.get_facecolor()[0]) for one in ax.collections)
    assert b - a > 0.3
    assert 1 - b > 0.1


def test_nothing_touches_or_leaves_one_column(ax, facts, crowded, outside, written):
    draw_models(A, B, facts=facts, ax=ax)
    assert crowded(ax) == []
    assert outside(ax, written) == []


def test_an_undefined_observed_value_is_not_drawn(ax, facts, marks):
    draw_models(A, B, facts={**facts, "a": {**facts["a"], "observed": None}}, ax=ax)
    assert marks(ax, "D") == [0.7125]


def test_payloads_are_text(ax, attacked):
    draw_models(A, B, facts=attacked, ax=ax)
    for text in [*ax.get_legend().get_texts(), ax.xaxis.label, *ax.texts]:
        assert not text.get_parse_math()
        assert len(text.get_text()) < 80
