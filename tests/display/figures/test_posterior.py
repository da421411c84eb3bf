from __future__ import annotations

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

from matplotlib import pyplot

from outperform.display.posterior_figure import plot_posterior
from outperform.errors import UsageError

RNG = np.random.default_rng(20)
DRAWS = RNG.normal(-0.10861, 0.00761, 20_000)


def rope_span(ax):
    (patch,) = ax.patches
    box = patch.get_extents().transformed(ax.transData.inverted())
    return box.x0, box.x1


def test_the_picture_says_it_all(ax, facts, texts):
    assert plot_posterior(DRAWS, facts=facts, ax=ax) is ax
    assert ax.get_title(loc="left") == "≪ nb_bern is worse than nb_mult"
    assert ax.get_xlabel() == "nb_bern − nb_mult, macro-averaged F1"
    assert set(texts(ax)) == {
        "nb_bern worse\n>99.985%",
        "equivalent\n<0.015%",
        "nb_bern better\n<0.015%",
        "ROPE ±0.01",
        "95% HDI, ● mean, ◇ observed",
        "−0.1234",
        "−0.0937",
    }
    ax.figure.draw_without_rendering()


def test_rope_and_hdi_are_where_they_belong(ax, facts, bars, marks):
    plot_posterior(DRAWS, facts=facts, ax=ax)
    assert rope_span(ax) == pytest.approx((-0.01, 0.01))
    assert bars(ax) == [(-0.1234, -0.0937)]
    assert marks(ax, "o") == [facts["mean"]]
    assert marks(ax, "D") == [facts["observed"]]
    assert ax.lines[0].get_zorder() > ax.patches[0].get_zorder()
    low, high = ax.get_xlim()
    assert low < -0.1234
    assert high > 0.01


def test_the_shape_is_a_density(ax, facts):
    plot_posterior(DRAWS, facts=facts, ax=ax)
    (shape,) = ax.collections
    corners = shape.get_paths()[0].vertices
    x, y = corners[:, 0], corners[:, 1]
    area = 0.5 * abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))
    # The picture leaves out one draw in a thousand.
    assert area == pytest.approx(0.999, abs=0.001)


def test_a_density_is_drawn_as_it_is(ax, facts, texts):
    grid = np.linspace(0.58, 0.63, 200)
    height = np.exp(-0.5 * ((grid - 0.6023) / 0.0055) ** 2)
    plot_posterior((grid, height), facts=facts["a"], ax=ax)
    assert ax.get_xlabel() == "nb_bern, macro-averaged F1"
    assert len(ax.patches) == 0
    assert set(texts(ax)) == {"95% HDI, ● mean, ◇ observed", "0.5915", "0.6130"}
    assert ax.collections[0].get_paths()[0].vertices[:, 1].max() == pytest.approx(height.max())


def test_below_the_rope_is_better_where_lower_is_better(ax, facts):
    told = {**facts, "greater_is_better": False, "p_better": 1.0, "p_worse": 0.0}
    plot_posterior(DRAWS, facts=told, ax=ax)
    shares = {text.get_position()[0]: text.get_text() for text in ax.texts[1:4]}
    assert shares == {
        0.0: "nb_bern better\n>99.985%",
        0.5: "equivalent\n<0.015%",
        1.0: "nb_bern worse\n<0.015%",
    }


def test_an_asymmetric_rope(ax, facts, texts):
    plot_posterior(DRAWS, facts={**facts, "rope": {"low": -0.2, "high": 0.1}}, ax=ax)
    assert rope_span(ax) == pytest.approx((-0.2, 0.1))
    assert "ROPE −0.2 to +0.1" in texts(ax)


@pytest.mark.parametrize(
    "draws",
    [np.zeros(100), np.array([0.5]), np.r_[np.zeros(5000), 1.0], np.r_[np.zeros(999), 1e9]],
    ids=["spike", "one", "outlier", "far_outlier"],
)
def test_awkward_draws_are_drawn(ax, facts, draws):
    plot_posterior(draws, facts={**facts, "sd": 0.0}, ax=ax)
    ax.figure.draw_without_rendering()


@pytest.mark.filterwarnings("ignore:Glyph")
def test_payloads_are_text_and_not_formulas(ax, attacked):
    attacked["metric_label"] = attacked["metric_label"][:50]
    plot_posterior(DRAWS, facts=attacked, ax=ax)
    ax.figure.draw_without_rendering()
    for text in [ax.xaxis.label, ax._left_title, *ax.texts]:
        assert not text.get_parse_math()
        assert not text.get_usetex()
        assert "\u202e" not in text.get_text()


def test_long_names_that_begin_alike_stay_apart(ax, facts):
    names = ["bert-base-uncased-v1", "bert-base-uncased-v2"]
    plot_posterior(DRAWS, facts={**facts, "names": names}, ax=ax)
    assert ax.get_title(loc="left") == "≪ bert-…sed-v1 is worse than bert-…sed-v2"
    assert ax.get_xlabel() == "bert-bas…ncased-v1 − bert-bas…ncased-v2,\nmacro-averaged F1"


def test_names_from_right_to_left_do_not_turn_the_difference_round(ax, facts):
    names = ["שלום", "עולם"]
    plot_posterior(DRAWS, facts={**facts, "names": names}, ax=ax)
    first, second = (f"\u2068{name}\u2069" for name in names)
    assert ax.get_xlabel() == f"{first} − {second}, macro-averaged F1"
    assert ax.get_title(loc="left").startswith("\u2066≪ שלום is worse")


@pytest.mark.parametrize("decision", ["BETTER", "LEANING_WORSE", "EQUIVALENT", "UNDECIDED"])
def test_nothing_touches_or_leaves_one_column(ax, facts, decision, crowded, outside, written):
    told = {**facts, "decision": {"name": decision, "symbol": "≈"}, "names": ["x" * 40, "y" * 40]}
    plot_posterior(DRAWS, facts=told, ax=ax)
    assert crowded(ax) == []
    assert outside(ax, written) == []


def test_posterior_and_rope_differ_in_grey(ax, facts, grey):
    plot_posterior(DRAWS, facts=facts, ax=ax)
    shape, rope = ax.collections[0].get_facecolor()[0], ax.patches[0].get_facecolor()
    assert abs(grey(shape) - grey(rope)) > 0.15
    assert 1 - grey(rope) > 0.08


def test_a_rope_without_width_is_a_line(ax, facts):
    plot_posterior(DRAWS, facts={**facts, "rope": {"low": 0.0, "high": 0.0}}, ax=ax)
    assert list(ax.lines[0].get_xdata()) == [0.0, 0.0]


def test_an_undefined_observed_value_is_not_drawn(ax, facts, marks):
    plot_posterior(DRAWS, facts={**facts, "observed": None}, ax=ax)
    assert marks(ax, "D") == []


def test_given_axes_leave_pyplot_alone(ax, facts):
    before, settings = pyplot.get_fignums(), dict(mpl.rcParams)
    plot_posterior(DRAWS, facts=facts, ax=ax)
    assert pyplot.get_fignums() == before
    assert dict(mpl.rcParams) == settings


def test_given_axes_do_not_even_load_pyplot():
    code = (
        "import sys\n"
        "from matplotlib.figure import Figure\n"
        "from outperform.display.posterior_figure import plot_posterior\n"
        "facts = {'name': 'x', 'metric': 'f1', 'hdi': {'low': 0, 'high': 1, 'prob': 0.95}}\n"
        "plot_posterior([0.1, 0.2, 0.9], facts=facts, ax=Figure().subplots())\n"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_without_axes_there_is_a_new_figure_of_one_column(facts):
    drawn = plot_posterior(DRAWS, facts=facts)
    assert list(drawn.figure.get_size_inches()) == [3.3, 2.5]
    pyplot.close(drawn.figure)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ([], "one row of finite numbers"),
        ([[0.1, 0.2]], "one row of finite numbers"),
        ([0.1, np.nan], "one row of finite numbers"),
        (([0.1, 0.2], [1.0]), "a grid and as many heights"),
        (([0.1, 0.2], [1.0, np.inf]), "must be finite"),
        (([0.1, 0.2], [0.0, 0.0]), "must be finite"),
    ],
)
def test_what_cannot_be_drawn_is_refused(ax, facts, given, match):
    with pytest.raises(UsageError, match=match):
        plot_posterior(given, facts=facts, ax=ax)
