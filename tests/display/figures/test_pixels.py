"""Figures have the colours of what they say: the rendered pixels."""

from __future__ import annotations

import numpy as np
import pytest

from outperform.display.colours import DARK, LIGHT
from outperform.display.forest_figure import draw_forest
from tests.browsing import rgb
from tests.lazily import lazily
from tests.report.test_pixels import EXPECTED, ZONES, hill_of, parts_of, states

pyplot = lazily("matplotlib.pyplot")

THEMES = {"default": LIGHT, "dark_background": DARK}


@pytest.fixture(params=THEMES)
def colours(request):
    """Return the three colours of a theme while it holds."""
    with pyplot.style.context(request.param):
        yield {name: rgb(colour) for name, colour in THEMES[request.param].items()}
    pyplot.close("all")


def pixel_reader(ax):
    """Return a function from a place in the data, and pixels to the right, to its colour."""
    canvas = ax.figure.canvas
    canvas.draw()
    drawn = np.asarray(canvas.buffer_rgba())[..., :3]

    def read(x, y, *, right=0.0):
        column, row = ax.transData.transform((x, y))
        return drawn[drawn.shape[0] - 1 - int(row), int(column + right)].tolist()

    return read


@pytest.mark.parametrize("state", EXPECTED)
def test_the_posterior(colours, state):
    c = states()[state]
    ax = c.plot()
    read = pixel_reader(ax)
    top = max(path.vertices[:, 1].max() for part in ax.collections for path in part.get_paths())
    inverted = ax.transData.inverted()
    pixel = np.subtract(inverted.transform((1, 0)), inverted.transform((0, 0)))[0]
    seen = set()
    for name, values, share in parts_of(**hill_of(c)):
        tall = values[share > 0.2]
        if tall.size == 0 or np.ptp(tall) < 12 * pixel:
            continue
        seen.add(name)
        for part in (0.2, 0.5, 0.8):
            at = tall[0] + part * np.ptp(tall)
            if abs(at) < 3 * pixel:  # the line at zero
                at += 5 * pixel
            height = 0.6 * top * np.interp(at, values, share)
            assert read(at, height) == colours[name], (name, at)
    assert seen == EXPECTED[state]


@pytest.mark.parametrize("state", ["≫", "≪", "across both edges"])
def test_the_probabilities_by_the_width_of_the_rope(colours, state):
    c = states()[state]
    ax = c.plot_rope_curve()
    read = pixel_reader(ax)
    stop = ax.get_xlim()[1]
    lines = np.array([c.rope.high, *(step.start for step in c.rope_curve())])
    seen = set()
    for width in np.linspace(0.05, 0.95, 19) * stop:
        if np.abs(lines - width).min() < 0.02 * stop:
            continue
        asked = c.with_rope(float(width))
        floor = 0.0
        for name in ZONES:
            mass = getattr(asked, f"p_{name}")
            if mass > 0.2:
                seen.add(name)
                assert read(width, floor + 0.12 * mass) == colours[name], (name, width)
            floor += mass
    assert "equivalent" in seen
    assert len(seen) >= 2


def test_rows(colours):
    decided = {"BETTER": "≫", "WORSE": "≪", "EQUIVALENT": "≈", "LEANING_BETTER": ">"}
    rows = [
        {
            "key": name,
            "mean": 0.2,
            "observed": None,
            "rope": {"low": -0.01, "high": 0.01},
            "hdi": {"low": 0.1, "high": 0.3, "prob": 0.95},
            "decision": {"name": name, "symbol": symbol},
        }
        for name, symbol in decided.items()
    ]
    ax = draw_forest(rows)
    read = pixel_reader(ax)
    for place, name in enumerate(decided):
        expected = colours.get(name.lower())
        for x in (0.13, 0.2, 0.27):
            colour = read(x, place)
            if expected is None:
                assert colour not in colours.values()
            else:
                assert colour == expected
