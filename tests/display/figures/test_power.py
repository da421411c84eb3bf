from __future__ import annotations

import numpy as np
import pytest
from matplotlib.text import Text

from outperform.errors import UsageError
from outperform.planning.text import plot_power
from tests.display.payloads import every_payload

SIZES, POWER, ERROR = [500, 1500, 3000], [0.3, 0.7, 0.95], [0.02, 0.02, 0.01]


def test_points_and_errors_are_where_they_belong(ax):
    assert plot_power(SIZES, POWER, ERROR, goal="≫", ax=ax) is ax
    line, _, (bars,) = ax.containers[0]
    assert list(line.get_xdata()) == SIZES
    assert list(line.get_ydata()) == POWER
    ends = [segment[:, 1] for segment in bars.get_segments()]
    assert np.array(ends) == pytest.approx(np.array([(0.26, 0.34), (0.66, 0.74), (0.93, 0.97)]))
    said = ax.get_title(loc="left").replace("\n", " ")
    assert said == "With 3,000 items the decision is ≫ with a probability of 95%"
    assert ax.get_legend() is None


def test_a_second_curve_differs_without_colours(ax):
    plot_power(SIZES, POWER, ERROR, goal="≫", label="paired", ax=ax)
    plot_power(SIZES, [0.2, 0.6, 0.9], ERROR, goal="≫", label="unpaired", ax=ax)
    first, second = (line for line in ax.lines if len(line.get_xdata()) > 100)
    assert not first.is_dashed()
    assert second.is_dashed()
    assert first.get_color() == second.get_color() == "#0072B2"
    one, two = (container[0] for container in ax.containers)
    assert one.get_markerfacecolor() != two.get_markerfacecolor()
    assert {"paired", "unpaired"} <= {text.get_text() for text in ax.texts}
    assert ax.get_legend() is None
    assert ax.get_title(loc="left") == "How often the decision is ≫"
    (note,) = [text for text in ax.texts if "simulated" in text.get_text()]
    (title,) = [text for text in ax.findobj(Text) if text.get_text().startswith("How often")]
    ax.get_figure().draw_without_rendering()
    assert title.get_window_extent().y0 >= note.get_window_extent().y1


def test_the_line_goes_through_the_points_and_not_beyond_them(ax):
    plot_power(SIZES, POWER, ERROR, goal="decided", ax=ax)
    line = next(line for line in ax.lines if len(line.get_xdata()) > 100)
    assert np.interp(SIZES, *line.get_data()) == pytest.approx(POWER, abs=1e-3)
    assert (np.diff(line.get_ydata()) >= 0).all()
    assert line.get_color() == "black"


def test_nothing_touches_or_leaves_one_column(ax, crowded, outside, written):
    plot_power([50_000, 100_000, 3_000_000], POWER, ERROR, goal="decided", label="x", ax=ax)
    assert crowded(ax) == []
    assert outside(ax, written) == []


def test_one_size_without_errors(ax):
    plot_power([500], [1.0], goal="≈", ax=ax)
    ax.figure.draw_without_rendering()


@every_payload
def test_payloads_are_text(ax, payload):
    ax.clear()
    plot_power(SIZES, POWER, goal="≫", label=payload, ax=ax)
    for text in ax.texts:
        assert not text.get_parse_math()


def test_what_cannot_be_drawn_is_refused(ax):
    with pytest.raises(UsageError, match="needs one share per size"):
        plot_power([1, 2], [0.5], goal="≫", ax=ax)
