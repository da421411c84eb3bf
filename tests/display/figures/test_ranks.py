"""The pictures of a ranking hold its numbers."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

from outperform.ranking.pairs import plot_decisions, plot_ranks

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


def test_bars_are_the_probabilities_of_ranks(ax, grey):
    facts = make(4)
    assert plot_ranks(facts, ax=ax) is ax
    assert [text.get_text() for text in ax.get_yticklabels()] == facts["names"]
    assert len(ax.containers) == 4
    for rank, bars in enumerate(ax.containers):
        assert bars.get_label() == f"rank {rank + 1}"
        widths = [bar.get_width() for bar in bars]
        assert widths == pytest.approx([model["p_rank"][rank] for model in facts["models"]])
    last = ax.containers[-1]
    assert [bar.get_x() + bar.get_width() for bar in last] == pytest.approx([1.0] * 4)
    shades = [grey(bars[0].get_facecolor()) for bars in ax.containers]
    assert shades == sorted(shades)
    assert np.diff(shades).min() > 0.1
    top, bottom = ax.get_ylim()[::-1]
    assert top < 0 < 3 < bottom


def test_p_best_stands_at_the_right_and_tied_models_are_bold(ax, texts):
    facts = make(3)
    facts["models"][0]["p_best"] = 0.834
    plot_ranks(facts, ax=ax)
    assert texts(ax)[0] == "83.4%"
    weights = [text.get_fontweight() for text in ax.get_yticklabels()]
    assert weights == ["bold", "bold", "normal"]


def test_symbols_stand_where_row_minus_column_is(ax):
    facts = make(5)
    plot_decisions(facts, ax=ax)
    found = {(round(text.get_position()[1]), round(text.get_position()[0])): text.get_text()
             for text in ax.texts}  # fmt: skip
    assert found == {
        (i, j): symbol
        for i, row in enumerate(facts["decisions"])
        for j, symbol in enumerate(row)
        if symbol is not None
    }
    assert [text.get_text() for text in ax.get_yticklabels()] == facts["names"]
    assert [text.get_text() for text in ax.get_xticklabels()] == facts["names"]
    assert "≫ better" in ax.get_xlabel()
    assert "row − column, ROPE ±0.01" in ax.get_title("left")


def test_only_the_symbols_that_occur_are_explained(ax):
    facts = make(2) | {"decisions": [[None, "≈"], ["≈", None]]}
    plot_decisions(facts, ax=ax)
    assert ax.get_xlabel() == "≈ equivalent"


@pytest.mark.parametrize("draw", [plot_ranks, plot_decisions])
def test_names_are_mere_text(draw, ax, written):
    draw(make(3, names=["$x^2$", r"\alpha_1", "a_b"]), ax=ax)
    assert all(not text.get_parse_math() for text in written(ax) if "$" in text.get_text())


@pytest.mark.parametrize("draw", [plot_ranks, plot_decisions])
@pytest.mark.parametrize("n", [2, 10, 50])
def test_figures_of_their_own_have_room(draw, n, written, outside, crowded):
    ax = draw(make(n))
    try:
        assert crowded(ax) == []
        assert outside(ax, written) == []
    finally:
        pyplot.close(ax.figure)


@pytest.mark.parametrize("draw", [plot_ranks, plot_decisions])
def test_given_axes_are_used(draw):
    ax = Figure(figsize=(3.3, 2.5)).subplots()
    assert draw(make(3), ax=ax) is ax
