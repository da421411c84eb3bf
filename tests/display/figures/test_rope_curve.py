from __future__ import annotations

import numpy as np
import pytest

from outperform.display.rope_figure import draw_rope_curve, widest_rope
from tests.display.payloads import attack, every_payload
from tests.lazily import lazily

to_rgba = lazily("matplotlib.colors.to_rgba")
Figure = lazily("matplotlib.figure.Figure")


def bands(ax):
    found = []
    for patch in ax.patches:
        box = patch.get_extents().transformed(ax.transData.inverted())
        found.append((box.x0, box.x1))
    return found


def test_bands_lie_where_the_decision_changes(ax, facts):
    assert draw_rope_curve(facts=facts, ax=ax) is ax
    stop = widest_rope(facts)
    assert np.array(bands(ax)) == pytest.approx(
        np.array([(0, 0.0937), (0.0937, 0.1234), (0.1234, stop)])
    )
    assert ax.get_xlim() == (0, stop)


def test_every_band_has_a_symbol_and_words(ax, facts, texts):
    draw_rope_curve(facts=facts, ax=ax)
    assert texts(ax) == ["worse", "<", "≈", "ROPE ±0.01 (default)"]  # words where they find room
    wide = Figure(figsize=(6.5, 3)).subplots()
    draw_rope_curve(facts=facts, ax=wide)
    assert texts(wide)[:3] == ["worse", "leaning worse,\nnot decided", "equivalent"]
    said = ax.get_title(loc="left").replace("\n", " ")
    assert said == "nb_bern is worse than nb_mult up to ±0.0937; equivalent from ±0.1234 on"


def test_the_chosen_rope_is_marked(ax, facts):
    draw_rope_curve(facts=facts, ax=ax)
    line = next(one for one in ax.lines if one.is_dashed())
    assert list(line.get_xdata()) == [0.01, 0.01]


def test_the_three_probabilities_are_stacked_in_their_colours(ax, facts):
    widths = np.linspace(0, 0.15, 50)
    worse, better = (share * (1 - (widths / 0.15) ** 4) for share in (0.8, 0.2))
    draw_rope_curve((widths, worse, better), facts=facts, ax=ax)
    parts = ax.collections
    assert [tuple(one.get_facecolor()[0]) for one in parts] == [
        to_rgba(one) for one in ("#D55E00", "#8C8C8C", "#0072B2")
    ]
    tops = np.array([worse, 1 - better, np.ones(50)])
    for part, top in zip(parts, tops, strict=True):
        corners = part.get_paths()[0].vertices
        upper = [corners[corners[:, 0] == width, 1].max() for width in widths]
        assert upper == pytest.approx(top)
    assert ax.get_ylabel() == "probability"
    named = {text.get_text(): text.get_position()[1] for text in ax.texts if text.get_zorder() == 4}
    # Each in the middle of its part; equivalent is nowhere broad enough for its name.
    assert named == pytest.approx({"worse": 0.4, "better": 0.9}, abs=0.05)


def test_an_asymmetric_rope_is_scaled(ax, facts, texts):
    draw_rope_curve(facts={**facts, "rope": {"low": -0.02, "high": 0.01}}, ax=ax)
    assert ax.get_xlabel().startswith("multiple of the ROPE −0.02 to +0.01\n")
    said = ax.get_title(loc="left").replace("\n", " ")
    assert "worse than nb_mult up to 0.0937 times the ROPE" in said
    line = next(one for one in ax.lines if one.is_dashed())
    assert list(line.get_xdata()) == [1.0, 1.0]
    assert "the given ROPE" in texts(ax)


def test_one_decision_for_all_widths(ax, facts):
    from matplotlib.patches import Rectangle

    curve = [{"decision": "UNDECIDED", "symbol": "?", "from": 0.0, "to": None}]
    draw_rope_curve(facts={**facts, "rope_curve": curve}, ax=ax)
    said = ax.get_title(loc="left").replace("\n", " ")
    assert said == "nb_bern and nb_mult: withheld for every width"
    assert len([patch for patch in ax.patches if isinstance(patch, Rectangle)]) == 1


def test_empty_and_narrow_stretches(ax, facts, texts):
    curve = [
        {"decision": "WORSE", "symbol": "≪", "from": 0.0, "to": 0.0},
        {"decision": "LEANING_WORSE", "symbol": "<", "from": 0.0, "to": 0.001},
        {"decision": "LEANING_BETTER", "symbol": ">", "from": 0.001, "to": 0.08},
        {"decision": "EQUIVALENT", "symbol": "≈", "from": 0.08, "to": None},
    ]
    draw_rope_curve(facts={**facts, "rope_curve": curve}, ax=ax)
    assert texts(ax) == ["leaning better,\nnot decided", "≈", "ROPE ±0.01 (default)"]


def test_neighbours_differ_in_grey(ax, facts, grey):
    draw_rope_curve(facts=facts, ax=ax)
    worse, leaning, equivalent = (grey(patch.get_facecolor()) for patch in ax.patches)
    assert leaning - worse > 0.2
    assert leaning - equivalent > 0.1
    assert equivalent - worse > 0.07


def test_nothing_touches_in_one_column(ax, facts, crowded, outside, written):
    draw_rope_curve(facts=facts, ax=ax)
    assert crowded(ax) == []
    assert outside(ax, written) == []


@every_payload
def test_payloads_are_text(ax, facts, payload):
    ax.clear()
    attacked = attack(facts, payload)
    draw_rope_curve(facts=attacked, ax=ax)
    assert not ax.xaxis.label.get_parse_math()
    assert "\u202e" not in ax.get_xlabel()
