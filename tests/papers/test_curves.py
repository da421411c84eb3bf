from __future__ import annotations

import numpy as np
import pytest

from outperform.errors import UsageError
from papers.curves import plot_curves
from tests.lazily import lazily
from tests.loops import each

pyplot = lazily("matplotlib.pyplot")
to_rgb = lazily("matplotlib.colors.to_rgb")
Figure = lazily("matplotlib.figure.Figure")

GRID = np.linspace(0.9, 0.91, 50)


def bell(middle):
    return GRID, np.exp(-(((GRID - middle) / 0.002) ** 2))


@pytest.fixture
def ax():
    return Figure(figsize=(3.5, 2.5), layout="constrained").subplots()


def test_lines_are_what_came_and_end_where_it_ends(ax):
    given = {"A": bell(0.904), "B": bell(0.906)}
    assert plot_curves(given, title="recall", ax=ax) is ax
    assert ax.get_title() == "recall"
    for line, (label, (grid, density)) in zip(ax.get_lines(), given.items(), strict=True):
        assert line.get_label() == label
        np.testing.assert_array_equal(line.get_xdata(), grid)
        np.testing.assert_array_equal(line.get_ydata(), density)
    assert ax.get_ylim()[0] == 0


def test_curves_are_told_apart_without_colours(ax):
    plot_curves({str(place): bell(0.905) for place in range(6)}, ax=ax)
    looks = {
        (to_rgb(line.get_color()), str(line._unscaled_dash_pattern)) for line in ax.get_lines()
    }
    assert len(looks) == 6
    for (red, green, blue), _ in looks:
        assert red == green == blue


def test_ticks_are_plain_numbers(ax):
    plot_curves({"A": (1e-6 * GRID + 0.95, GRID)}, ax=ax)
    ax.figure.draw_without_rendering()
    assert ax.xaxis.get_offset_text().get_text() == ""
    assert all(label.get_text().startswith("0.95") for label in ax.get_xticklabels())


def test_names_are_no_formulas(ax):
    plot_curves({"A": bell(0.905)}, title="a $x_1$ _b_", ax=ax)
    assert ax.title.get_parse_math() is False


def test_new_figure_of_one_column():
    found = plot_curves({"A": bell(0.905)})
    assert tuple(found.figure.get_size_inches()) == (3.5, 2.5)
    pyplot.close(found.figure)


@each(
    ("curves", "message"),
    [
        ({}, "curves must be one to 6.*got 0"),
        ({str(place): bell(0.9) for place in range(7)}, "got 7"),
        ({"A": ([1, 2, 3], [1, 2])}, r"curve 'A' must be a grid and as many heights"),
        ({"A": ([1], [1])}, "two at least"),
        ({"A": ([0, 1], [1, np.inf])}, "curve 'A' must be finite"),
        ({"A": ([np.nan, 1], [1, 1])}, "curve 'A' must be finite"),
    ],
)
def test_what_cannot_be_drawn_is_refused(curves, message, ax):
    with pytest.raises(UsageError, match=message):
        plot_curves(curves, ax=ax)
