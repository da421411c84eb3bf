from __future__ import annotations

import numpy as np
import pytest

from outperform.display.forest_figure import draw_forest
from outperform.errors import UsageError
from tests.lazily import lazily

pyplot = lazily("matplotlib.pyplot")
Figure = lazily("matplotlib.figure.Figure")

DECISIONS = [("BETTER", "≫"), ("LEANING_WORSE", "<"), ("EQUIVALENT", "≈"), ("WORSE", "≪")]


def make(n, keys=None):
    rng = np.random.default_rng(n)
    rows = []
    for place in range(n):
        mean, sd = rng.normal(0, 0.03), 0.01
        name, symbol = DECISIONS[place % len(DECISIONS)]
        rows.append(
            {
                "key": f"class {place}" if keys is None else keys[place],
                "mean": mean,
                "observed": mean + 0.001,
                "hdi": {"low": mean - 2 * sd, "high": mean + 2 * sd, "prob": 0.95},
                "rope": {"low": -0.01, "high": 0.01},
                "decision": {"name": name, "symbol": symbol},
            }
        )
    return rows


def test_rows_stand_in_the_order_given(ax, bars, marks, texts):
    rows = make(5, keys=["d", "a", "c", "b", "e"])
    assert draw_forest(rows, names=("bert", "gpt"), metric="F1", ax=ax) is ax
    assert [text.get_text() for text in ax.get_yticklabels()] == ["d", "a", "c", "b", "e"]
    assert bars(ax) == [(row["hdi"]["low"], row["hdi"]["high"]) for row in rows]
    assert marks(ax, "o") == [row["mean"] for row in rows]
    assert marks(ax, "D") == [row["observed"] for row in rows]
    assert texts(ax)[:5] == ["≫", "<", "≈", "≪", "≫"]
    top, bottom = ax.get_ylim()[::-1]
    assert top < 0 < 4 < bottom
    assert ax.get_xlabel() == "F1, bert − gpt → bert better"
    marked = "95% HDI, ● mean, ◇ observed, shaded: ROPE ±0.01; < undecided"
    assert texts(ax)[5].replace("\n", " ") == marked
    said = ax.get_title("left").replace("\n", " ")
    assert said == "bert is better than gpt in 2, worse in 1, equivalent in 1 of 5"


def test_symbols_stand_at_the_right_of_their_rows(ax):
    draw_forest(make(4), ax=ax)
    ax.figure.draw_without_rendering()
    right = ax.get_window_extent().x1
    for place, text in enumerate(ax.texts[:4]):
        box = text.get_window_extent()
        assert box.x0 >= right
        middle = ax.transData.inverted().transform((0, (box.y0 + box.y1) / 2))[1]
        assert middle == pytest.approx(place, abs=0.3)


def test_the_rope_is_one_band_or_one_a_row(ax):
    rows = make(3)
    draw_forest(rows, ax=ax)
    assert len(ax.patches) == 1
    rows[1] = {**rows[1], "rope": {"low": -0.05, "high": 0.02}}
    other = Figure().subplots()
    draw_forest(rows, ax=other)
    ends = np.array([(bar.get_x(), bar.get_x() + bar.get_width()) for bar in other.patches])
    assert ends == pytest.approx(np.array([(-0.01, 0.01), (-0.05, 0.02), (-0.01, 0.01)]))
    assert other.texts[-1].get_text().endswith("shaded: ROPE of each row; < undecided")


def test_rows_have_the_colours_of_their_decisions_and_open_ones_are_thin(ax):
    draw_forest(make(4), ax=ax)
    bars = [line for line in ax.lines if line.get_marker() == "|"]
    assert [bar.get_color() for bar in bars] == ["#0072B2", "black", "#8C8C8C", "#D55E00"]
    firm, open_, *_ = (bar.get_linewidth() for bar in bars)
    assert firm > 2 * open_


@pytest.mark.parametrize(
    ("decisions", "said"),
    [
        (["EQUIVALENT", "UNDECIDED"], "A is equivalent to B in 1 of 2"),
        (["UNDECIDED"], "A against B: undecided"),
        (["WORSE", "WORSE"], "A is worse than B in 2 of 2"),
    ],
)
def test_the_title_counts_the_decisions(ax, decisions, said):
    rows = make(len(decisions))
    for row, name in zip(rows, decisions, strict=True):
        row["decision"] = {"name": name, "symbol": "?"}
    draw_forest(rows, ax=ax)
    assert ax.get_title("left").replace("\n", " ") == said


@pytest.mark.parametrize("n", [1, 2, 20, 60])
def test_one_to_sixty_rows_are_readable_in_one_column(n, crowded, outside, written):
    ax = draw_forest(make(n), names=("bert", "gpt"), metric="macro-averaged F1", size="column")
    assert ax.figure.get_figwidth() == pytest.approx(3.4)
    assert crowded(ax) == []
    assert outside(ax, written) == []
    assert min(text.get_fontsize() for text in written(ax)) >= 6
    pyplot.close(ax.figure)


def test_many_rows_in_small_axes_get_smaller_text(ax, crowded):
    draw_forest(make(30), ax=ax)
    assert crowded(ax) == []


@pytest.mark.filterwarnings("ignore:Glyph")
def test_payloads_are_text(payloads, written):
    ax = Figure(figsize=(3.4, 7), layout="constrained").subplots()
    rows = make(len(payloads), keys=payloads)
    draw_forest(rows, names=payloads[:2], metric=payloads[2], ax=ax)
    for text in [*ax.get_yticklabels(), ax.xaxis.label, *ax.texts]:
        assert not text.get_parse_math()
        assert "\u202e" not in text.get_text()
        assert len(text.get_text()) < 100
    assert len(written(ax)) > 2 * len(payloads)


def test_long_keys_stay_apart(ax):
    keys = ["talk.politics.misconduct.guns", "talk.politics.misconduct.mideast"]
    draw_forest(make(2, keys=keys), ax=ax)
    assert len({text.get_text() for text in ax.get_yticklabels()}) == 2


def test_no_rows_are_refused(ax):
    with pytest.raises(UsageError, match="at least one comparison"):
        draw_forest([], ax=ax)
