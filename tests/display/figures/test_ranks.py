"""The pictures of a ranking hold its numbers."""

from __future__ import annotations

import numpy as np
import pytest

from outperform.display import numbers
from outperform.display.colours import LIGHT
from outperform.display.forest_figure import draw_ranking
from outperform.ranking.pairs import plot_decisions, plot_ranks
from tests.lazily import lazily
from tests.loops import each

pyplot = lazily("matplotlib.pyplot")
to_rgba = lazily("matplotlib.colors.to_rgba")
Figure = lazily("matplotlib.figure.Figure")

SYMBOLS = ("≫", ">", "≈", "<", "≪", "?")


def make(n, names=None):
    """Return the facts of a ranking of n models."""
    rng = np.random.default_rng(n)
    shares = rng.dirichlet(np.ones(n), size=n)
    names = [f"model {place}" for place in range(n)] if names is None else names
    return {
        "names": names,
        "metric": "f1",
        "n_draws": 1000,
        "tied": names[:2],
        "rope": {"low": -0.01, "high": 0.01},
        "models": [
            {"name": name, "p_rank": row.tolist(), "p_best": float(row[0]), "tied": place < 2}
            for place, (name, row) in enumerate(zip(names, shares, strict=True))
        ],
        "decisions": [
            [None if i == j else SYMBOLS[(i + j) % 6] for j in range(n)] for i in range(n)
        ],
    }


def test_cells_are_the_probabilities_of_ranks(ax, grey, texts):
    facts = make(4)
    assert plot_ranks(facts, ax=ax) is ax
    assert [text.get_text() for text in ax.get_yticklabels()] == facts["names"]
    (cells,) = ax.collections
    shares = np.array([model["p_rank"] for model in facts["models"]])
    assert np.asarray(cells.get_array()) == pytest.approx(shares)
    darkness = [1 - grey(cells.cmap(cells.norm(share))) for share in (0.0, 0.5, 1.0)]
    assert darkness == sorted(darkness)
    assert darkness[0] == 0
    assert texts(ax)[:16] == [numbers.probability(one, 1000) for one in shares.ravel()]
    # Each number stands in the cell of its model and rank.
    places = [text.get_position() for text in ax.texts[:16]]
    assert places == [(rank + 0.5, model + 0.5) for model in range(4) for rank in range(4)]
    bottom, top = ax.get_ylim()
    assert (top, bottom) == (0, 4)


def test_tied_models_are_bold(ax, texts):
    plot_ranks(make(3), title="model 0 is best", ax=ax)
    weights = [text.get_fontweight() for text in ax.get_yticklabels()]
    assert weights == ["bold", "bold", "normal"]
    assert ax.get_title(loc="left") == "model 0 is best"
    assert texts(ax)[-1] == "bold: could still be best"


def test_decisions_have_their_colours_and_leaning_ones_a_tint(ax):
    facts = make(2) | {"decisions": [[None, "≫"], ["<", None]]}
    plot_decisions(facts, ax=ax)
    better, leaning = (bar.get_facecolor() for bar in ax.patches)
    assert better == to_rgba("#0072B2")
    assert leaning == to_rgba("#D55E00", 0.25)


def test_symbols_stand_where_row_minus_column_is(ax):
    facts = make(5)
    plot_decisions(facts, ax=ax)
    found = {(round(text.get_position()[1]), round(text.get_position()[0])): text.get_text()
             for text in ax.texts[:20]}  # fmt: skip
    assert found == {
        (i, j): symbol
        for i, row in enumerate(facts["decisions"])
        for j, symbol in enumerate(row)
        if symbol is not None
    }
    assert [text.get_text() for text in ax.get_yticklabels()] == facts["names"]
    assert [text.get_text() for text in ax.get_xticklabels()] == facts["names"]
    assert "≫ better" in ax.get_xlabel()
    assert "row − column, ROPE ±0.01" in ax.texts[-1].get_text()


def test_only_the_symbols_that_occur_are_explained(ax):
    facts = make(2) | {"decisions": [[None, "≈"], ["≈", None]]}
    plot_decisions(facts, ax=ax)
    assert ax.get_xlabel() == "≈ equivalent"


@pytest.mark.parametrize("draw", [plot_ranks, plot_decisions])
def test_names_are_mere_text(draw, ax, written):
    draw(make(3, names=["$x^2$", r"\alpha_1", "a_b"]), ax=ax)
    assert all(not text.get_parse_math() for text in written(ax) if "$" in text.get_text())


@pytest.mark.parametrize("n", [2, 10, pytest.param(50, marks=pytest.mark.slow)])
@each("draw", [plot_ranks, plot_decisions])
def test_figures_of_their_own_have_room(draw, n, written, outside, crowded):
    ax = draw(make(n))
    try:
        assert crowded(ax) == []
        assert outside(ax, written) == []
    finally:
        pyplot.close(ax.figure)


@pytest.mark.parametrize("draw", [plot_ranks, plot_decisions])
def test_given_axes_are_used(draw):
    ax = Figure(figsize=(3.4, 2.5)).subplots()
    assert draw(make(3), ax=ax) is ax


def make_models(tied, symbols=None):
    """Return the facts of models whose intervals get lower, and which of them are tied.

    The symbols are the decisions against the first model; by default, models not tied are worse.
    """
    symbols = ["?" if in_band else "≪" for in_band in tied] if symbols is None else symbols
    return [
        {
            "name": f"model {k}",
            "mean": 0.8 - 0.05 * k,
            "observed": 0.81 - 0.05 * k,
            "hdi": {"low": 0.77 - 0.05 * k, "high": 0.83 - 0.05 * k, "prob": 0.95},
            "tied": in_band,
            "decision": {"symbol": symbols[k]} if k else None,
        }
        for k, in_band in enumerate(tied)
    ]


def test_ranking_forest_has_interval_mean_and_observed_per_model(ax, bars, marks):
    models = make_models([True, True, False])
    draw_ranking(models, metric="F1", greater_is_better=True, ax=ax)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["model 0", "model 1", "model 2"]
    assert bars(ax) == [(model["hdi"]["low"], model["hdi"]["high"]) for model in models]
    assert marks(ax, "o") == [model["mean"] for model in models]
    assert marks(ax, "D") == [model["observed"] for model in models]
    assert [line.get_ydata()[0] for line in ax.lines if line.get_marker() == "o"] == [0, 1, 2]
    bottom, top = ax.get_ylim()
    assert bottom > top


def test_ranking_forest_separates_tied_by_band_colour_and_weight(ax, texts):
    # A model with a wide interval can be tied although a better one is not.
    draw_ranking(make_models([True, False, True]), metric="F1", greater_is_better=True, ax=ax)
    assert [patch.get_y() + patch.get_height() / 2 for patch in ax.patches] == [0, 2]
    colours = [to_rgba(line.get_color()) for line in ax.lines if line.get_marker() == "|"]
    black, orange = to_rgba("black"), to_rgba("#D55E00")
    assert colours == [black, orange, black]
    weights = [text.get_fontweight() for text in ax.get_yticklabels()]
    assert weights == ["bold", "normal", "bold"]
    assert "shaded: could still be best; orange: worse" in " ".join(texts(ax)[-1].split())


def test_ranking_forest_has_the_colours_of_decisions(ax, texts):
    """A model that is worse than the leader is orange even if it could still be best."""
    models = make_models([True] * 4 + [False], ["", "?", "≪", "≈", "≪"])
    draw_ranking(models, metric="F1", greater_is_better=True, ax=ax)
    colours = [to_rgba(line.get_color()) for line in ax.lines if line.get_marker() == "|"]
    shades = [LIGHT["worse"], LIGHT["equivalent"], LIGHT["worse"]]
    assert colours == [to_rgba(shade) for shade in ("black", "black", *shades)]
    assert [patch.get_y() + patch.get_height() / 2 for patch in ax.patches] == [0, 1, 2, 3]
    key = " ".join(texts(ax)[-1].split())
    assert key.endswith("shaded: could still be best; orange: worse; grey: practically equivalent")


@pytest.mark.parametrize(
    ("tied", "greater", "expected"),
    [
        ([True, False], True, ("shaded: best; orange: worse", "F1 → better")),
        ([True, True], False, ("shaded: could still be best", "F1 → worse")),
    ],
)
def test_ranking_forest_names_only_what_is_drawn(tied, greater, expected, texts):
    ax = Figure(figsize=(10, 3)).subplots()
    draw_ranking(make_models(tied), metric="F1", greater_is_better=greater, ax=ax)
    assert texts(ax)[-1].endswith(expected[0])
    assert ax.get_xlabel() == expected[1]


@pytest.mark.parametrize("n", [2, 40])
@pytest.mark.parametrize("size", ["column", "text"])
def test_ranking_forest_has_room(n, size, written, outside, crowded):
    models = make_models([k < 3 for k in range(n)])
    title = "model 0 looks best in accuracy (P 40%); not shown to be worse: model 1 (~) and model 2"
    ax = draw_ranking(models, metric="F1", greater_is_better=True, title=title, size=size)
    try:
        assert crowded(ax) == []
        assert outside(ax, written) == []
    finally:
        pyplot.close(ax.figure)
