from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from outperform.display.posterior_figure import plot_posterior
from outperform.errors import UsageError
from tests.display.payloads import attack, every_payload
from tests.lazily import lazily
from tests.loops import each

pyplot = lazily("matplotlib.pyplot")
to_rgba = lazily("matplotlib.colors.to_rgba")

norm = lazily("scipy.stats.norm")

RNG = np.random.default_rng(20)
DRAWS = RNG.normal(-0.10861, 0.00761, 20_000)


def rope_span(ax):
    patch = ax.patches[0]
    box = patch.get_extents().transformed(ax.transData.inverted())
    return box.x0, box.x1


def test_the_picture_says_it_all(ax, facts, texts):
    assert plot_posterior(DRAWS, facts=facts, ax=ax) is ax
    assert ax.get_title(loc="left") == "nb_bern is worse than nb_mult"
    assert ax.get_xlabel() == "macro-averaged F1, nb_bern − nb_mult\n→ nb_bern better"
    assert ax.get_legend() is None
    assert set(texts(ax)) == {
        "nb_bern worse\n>99.98%",
        "equivalent\n<0.02%",
        "nb_bern better\n<0.02%",
        "ROPE ±0.01 (default)",
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


@pytest.mark.parametrize("greater_is_better", [True, False])
def test_the_areas_of_the_parts_are_their_probabilities(ax, facts, areas, greater_is_better):
    draws = RNG.normal(0.004, 0.01, 20_000)
    told = {**facts, "greater_is_better": greater_is_better}
    plot_posterior(draws, facts=told, ax=ax)
    below, inside, above = areas(ax)
    assert below + inside + above == pytest.approx(1, abs=1e-9)
    # A kernel of width h moves at most h² / 2 times the slope of the density, 0.24 / sd²,
    # over an edge, 0.0018 with h = 0.12 sd; the draws of a cell, 0.04 sd wide, are spread over it.
    assert below == pytest.approx((draws < -0.01).mean(), abs=0.003)
    assert inside == pytest.approx((np.abs(draws) <= 0.01).mean(), abs=0.004)
    assert above == pytest.approx((draws > 0.01).mean(), abs=0.003)
    shades = [tuple(part.get_facecolor()[0]) for part in ax.collections]
    wanted = [to_rgba(one) for one in ("#D55E00", "#8C8C8C", "#0072B2")]
    assert shades == (wanted if greater_is_better else wanted[::-1])


def test_the_areas_of_an_exact_density(ax, facts, areas):
    law = norm(0.004, 0.01)
    grid = np.linspace(law.ppf(5e-4), law.ppf(1 - 5e-4), 161)
    plot_posterior((grid, law.pdf(grid)), facts=facts, ax=ax)
    below, inside, above = areas(ax)
    # Half of one in a thousand is left out at either end; the trapezoids are off by 1e-4.
    assert below == pytest.approx(law.cdf(-0.01) - 5e-4, abs=2e-4)
    assert inside == pytest.approx(law.cdf(0.01) - law.cdf(-0.01), abs=2e-4)
    assert above == pytest.approx(law.sf(0.01) - 5e-4, abs=2e-4)


def test_a_density_is_drawn_as_it_is(ax, facts, texts):
    grid = np.linspace(0.58, 0.63, 200)
    height = np.exp(-0.5 * ((grid - 0.6023) / 0.0055) ** 2)
    plot_posterior((grid, height), facts=facts["a"], ax=ax)
    assert ax.get_xlabel() == "macro-averaged F1 of nb_bern"
    assert ax.get_title(loc="left").replace("\n", " ") == "nb_bern: macro-averaged F1 0.6023"
    assert len(ax.patches) == 0
    assert set(texts(ax)) == {"95% HDI, ● mean, ◇ observed", "0.5915", "0.6130"}
    assert ax.collections[0].get_paths()[0].vertices[:, 1].max() == pytest.approx(height.max())


def test_below_the_rope_is_better_where_lower_is_better(ax, facts):
    told = {**facts, "greater_is_better": False, "p_better": 1.0, "p_worse": 0.0}
    plot_posterior(DRAWS, facts=told, ax=ax)
    shares = {text.get_position()[0]: text.get_text() for text in ax.texts[1:4]}
    assert shares == {
        0.0: "nb_bern better\n>99.98%",
        0.5: "equivalent\n<0.02%",
        1.0: "nb_bern worse\n<0.02%",
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
@every_payload
def test_payloads_are_text_and_not_formulas(ax, facts, payload):
    ax.clear()
    attacked = attack(facts, payload)
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
    said = ax.get_title(loc="left").replace("\n", " ")
    assert said == "bert-…sed-v1 is worse than bert-…sed-v2"
    assert ax.get_xlabel() == (
        "macro-averaged F1,\nbert-bas…ncased-v1 − bert-bas…ncased-v2\n→ bert-bas…ncased-v1 better"
    )


def test_names_from_right_to_left_do_not_turn_the_difference_round(ax, facts):
    names = ["שלום", "עולם"]
    plot_posterior(DRAWS, facts={**facts, "names": names}, ax=ax)
    first, second = (f"\u2068{name}\u2069" for name in names)
    assert ax.get_xlabel().startswith(f"macro-averaged F1, {first} − {second}")
    assert ax.get_title(loc="left").startswith("\u2066שלום is worse")


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
    import matplotlib as mpl

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


@pytest.mark.parametrize(("size", "inches"), [("column", 3.4), ("text", 6.5), ("slide", 10.0)])
def test_new_figures_have_the_size_asked_for(facts, size, inches, outside, written):
    drawn = plot_posterior(DRAWS, facts=facts, size=size)
    assert drawn.figure.get_figwidth() == inches
    assert drawn.figure.dpi == 150
    assert outside(drawn, written) == []
    pyplot.close(drawn.figure)


def test_slides_have_larger_text(facts):
    drawn = [plot_posterior(DRAWS, facts=facts, size=size) for size in ("text", "slide")]
    text, slide = (ax.xaxis.label.get_fontsize() for ax in drawn)
    assert slide == pytest.approx(1.6 * text)
    pyplot.close("all")


def test_another_size_is_refused(facts):
    with pytest.raises(UsageError, match="size must be one of column, text, slide; got 'huge'"):
        plot_posterior(DRAWS, facts=facts, size="huge")


def test_the_users_settings_stay_in_charge(facts):
    import matplotlib as mpl

    own = {"font.family": "monospace", "font.size": 14, "axes.titleweight": "light"}
    with mpl.rc_context({**own, "figure.dpi": 77}):
        ax = plot_posterior(DRAWS, facts=facts)
        assert mpl.rcParams["font.size"] == 14
    assert ax.figure.dpi == 77
    assert ax.xaxis.label.get_fontfamily()[0] == "monospace"
    assert ax.texts[0].get_fontfamily() == ["monospace"]
    assert ax.xaxis.label.get_fontsize() == pytest.approx(0.833 * 14)
    assert ax._left_title.get_fontweight() == "light"
    pyplot.close(ax.figure)


def test_a_dark_background_has_light_text_and_brighter_colours(facts, grey):
    with pyplot.style.context("dark_background"):
        ax = plot_posterior(DRAWS, facts=facts)
    assert tuple(ax.collections[0].get_facecolor()[0]) == to_rgba("#FF9E4A")
    bar = next(line for line in ax.lines if line.get_marker() == "|")
    for colour in (bar.get_color(), ax.xaxis.label.get_color(), ax._left_title.get_color()):
        assert grey(colour) == 1
    pyplot.close(ax.figure)


def test_the_style_file_is_found_by_its_name():
    import matplotlib as mpl

    with pyplot.style.context("outperform.display.outperform"):
        assert mpl.rcParams["axes.titlelocation"] == "left"
        assert not mpl.rcParams["axes.spines.top"]


@each(
    ("given", "match"),
    [
        ([], "one-dimensional array of finite numbers"),
        ([[0.1, 0.2]], "one-dimensional array of finite numbers"),
        ([0.1, np.nan], "one-dimensional array of finite numbers"),
        (([0.1, 0.2], [1.0]), "a grid and heights of the same length"),
        (([0.1, 0.2], [1.0, np.inf]), "must be finite"),
        (([0.1, 0.2], [0.0, 0.0]), "must be finite"),
    ],
)
def test_what_cannot_be_drawn_is_refused(ax, facts, given, match):
    with pytest.raises(UsageError, match=match):
        plot_posterior(given, facts=facts, ax=ax)
