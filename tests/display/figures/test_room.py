"""Figures of results keep a margin, and no line crosses a text."""

from __future__ import annotations

import io

import numpy as np
import pytest

import outperform as op
from tests.lazily import lazily

pyplot = lazily("matplotlib.pyplot")
Path = lazily("matplotlib.path.Path")

SIZES = ("column", "text", "slide")
LEAST = 0.06  # inches between the border and what is drawn
QUICK = {"n_draws": 2_000, "random_state": 1}


@pytest.fixture(scope="module")
def outcomes():
    """Return three models on 400 items; the HDI of a − b ends just below zero."""
    rng = np.random.default_rng(4)
    truth = rng.integers(3, size=400)
    levels = {"model_a": 0.74, "model_b": 0.80, "model_c": 0.6}
    models = {
        name: np.where(rng.random(400) < level, truth, (truth + 1) % 3)
        for name, level in levels.items()
    }
    return op.Outcomes.from_labels(truth, models)


@pytest.fixture(scope="module")
def compared(outcomes):
    asked = {"metric": "accuracy", "rope": 0.01, **QUICK}
    return op.compare(outcomes, "model_a", "model_b", **asked)


def figures(compared, outcomes):
    """Return the functions that draw every kind of figure of a comparison and a ranking."""
    ranking = op.rank(outcomes, metric="accuracy", rope=0.01, **QUICK)
    return {
        "plot": compared.plot,
        "estimate": compared.a.plot,
        "plot_models": compared.plot_models,
        "plot_rope_curve": compared.plot_rope_curve,
        "plot_confusion": compared.plot_confusion,
        "classes": compared.by_class().plot,
        "rank": ranking.plot,
        "rank matrix": ranking.plot_matrix,
    }


def gaps(figure):
    """Return the inches between each border of a saved figure and what is drawn."""
    file = io.BytesIO()
    figure.savefig(file, format="png")
    file.seek(0)
    pixels = pyplot.imread(file)[..., :3]
    drawn = np.abs(pixels - pixels[0, 0]).sum(axis=2) > 0.1
    rows, columns = (np.flatnonzero(drawn.any(axis=axis)) for axis in (1, 0))
    height, width = drawn.shape
    inside = (rows[0], height - 1 - rows[-1], columns[0], width - 1 - columns[-1])
    return [gap / figure.dpi for gap in inside]


@pytest.mark.parametrize("size", SIZES)
def test_saved_figures_keep_a_margin(compared, outcomes, size):
    for name, draw in figures(compared, outcomes).items():
        axes = draw(size=size)
        figure = (axes[0] if name == "plot_confusion" else axes).figure
        try:
            assert min(gaps(figure)) >= LEAST, name
        finally:
            pyplot.close(figure)


def crossed(ax):
    """Return the texts in axes that a line, or an edge between areas, crosses."""
    ax.figure.draw_without_rendering()
    paths = [line.get_transform().transform_path(line.get_path()) for line in ax.lines]
    return [
        text.get_text()
        for text in ax.texts
        for box in [text.get_window_extent().padded(-1)]
        if any(path.intersects_bbox(box, filled=False) for path in paths)
    ]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("share", [-0.12, -0.05, 0.0, 0.05, 0.12])
def test_no_line_crosses_the_numbers_of_a_posterior(size, share):
    # The upper end of the HDI comes before zero by a share of the HDI's width.
    from outperform.display.posterior_figure import plot_posterior

    rng = np.random.default_rng(0)
    draws = rng.normal(size=4_000)
    low, high = np.quantile(draws, [0.025, 0.975])
    shift = -high + share * (high - low)
    facts = {
        "names": ["model_a", "model_b"],
        "metric": "f1",
        "mean": 0.01 * (draws.mean() + shift),
        "sd": 0.01,
        "observed": 0.01 * shift,
        "hdi": {"low": 0.01 * (low + shift), "high": 0.01 * (high + shift), "prob": 0.95},
        "rope": {"low": -0.004, "high": 0.004},
        "p_worse": 0.9, "p_equivalent": 0.1, "p_better": 0.0, "n_draws": 4_000,
        "decision": {"name": "UNDECIDED", "symbol": "?", "words": "undecided"},
    }  # fmt: skip
    ax = plot_posterior(0.01 * (draws + shift), facts=facts, size=size)
    try:
        assert crossed(ax) == []
    finally:
        pyplot.close(ax.figure)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("rope", [0.005, 0.02, 0.05, 0.1])
def test_no_line_crosses_a_word_of_the_rope_curve(compared, size, rope):
    ax = compared.with_rope(rope).plot_rope_curve(size=size)
    try:
        assert crossed(ax) == []
        assert any(text.get_text() == "worse" for text in ax.texts)
    finally:
        pyplot.close(ax.figure)
