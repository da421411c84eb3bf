"""Axes of one column's width, and what a picture holds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.lazily import lazily

to_rgba = lazily("matplotlib.colors.to_rgba")
Figure = lazily("matplotlib.figure.Figure")


COLUMN = 3.4  # inches


@pytest.fixture
def ax():
    """Empty axes in a figure of one column's width."""
    return Figure(figsize=(COLUMN, 2.5), layout="constrained").subplots()


@pytest.fixture
def three():
    """Three axes side by side."""
    return Figure(figsize=(7, 3), layout="constrained").subplots(1, 3)


@pytest.fixture(scope="session")
def texts():
    """Return the texts in axes."""
    return lambda ax: [text.get_text() for text in ax.texts]


def tick_labels(axis):
    """Return the labels of the ticks that are seen."""
    low, high = sorted(axis.get_view_interval())
    ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    return [tick.label1 for tick in ticks if tick.label1.get_text()]


@pytest.fixture(scope="session")
def written():
    """Return every text artist of axes, titles, labels, ticks and legend included."""

    def find(ax):
        ax.figure.draw_without_rendering()
        legend = ax.get_legend()
        found = [
            *ax.texts,
            ax.title,
            ax._left_title,
            ax._right_title,
            ax.xaxis.label,
            ax.yaxis.label,
            *tick_labels(ax.xaxis),
            *tick_labels(ax.yaxis),
            *(legend.get_texts() if legend else ()),
        ]
        return [text for text in found if text.get_text() and text.get_visible()]

    return find


@pytest.fixture(scope="session")
def crowded():
    """Return the pairs of tick labels of an axis that touch each other."""

    def find(ax):
        ax.figure.draw_without_rendering()
        pairs = []
        for axis in (ax.xaxis, ax.yaxis):
            boxes = [(label.get_text(), label.get_window_extent()) for label in tick_labels(axis)]
            pairs += [
                (one[0], two[0])
                for one, two in itertools.combinations(boxes, 2)
                if one[1].overlaps(two[1])
            ]
        return pairs

    return find


@pytest.fixture(scope="session")
def outside():
    """Return the texts that leave the figure by more than a point."""

    def find(ax, written):
        figure = ax.figure
        width, height = figure.get_size_inches() * figure.dpi
        slack = figure.dpi / 72
        found = []
        for text in written(ax):
            box = text.get_window_extent()
            if min(box.x0, box.y0) < -slack or box.x1 > width + slack or box.y1 > height + slack:
                found.append(text.get_text())
        return found

    return find


@pytest.fixture(scope="session")
def grey():
    """Return how light a colour is on white paper, from 0 to 1."""

    def lightness(colour):
        red, green, blue, alpha = to_rgba(colour)
        return 1 - alpha + alpha * (0.2126 * red + 0.7152 * green + 0.0722 * blue)

    return lightness


@pytest.fixture(scope="session")
def areas():
    """Return the areas of the filled outlines, from left to right."""

    def find(ax):
        found = []
        for filled in ax.collections:
            x, y = filled.get_paths()[0].vertices.T
            found.append(0.5 * abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))))
        return found

    return find


@pytest.fixture(scope="session")
def bars():
    """Return the ends of the intervals drawn in axes, from the first to the last."""
    return lambda ax: [tuple(line.get_xdata()) for line in ax.lines if line.get_marker() == "|"]


@pytest.fixture(scope="session")
def marks():
    """Return where the markers of one kind lie."""
    return lambda ax, kind: [
        float(line.get_xdata()[0]) for line in ax.lines if line.get_marker() == kind
    ]
