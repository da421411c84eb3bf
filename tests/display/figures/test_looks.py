"""The figure of the interval closing in."""

from __future__ import annotations

import numpy as np
import pytest

from outperform.errors import UsageError
from outperform.monitor.text import plot_looks
from tests.lazily import lazily

Figure = lazily("matplotlib.figure.Figure")


def facts(widths=(0.8, 0.1, 0.08, 0.06), *, stopped=None, rope=(-0.02, 0.02)):
    looks = [
        {
            "number": place,
            "n": 100 * place,
            "mean": 0.03,
            "hdi": {"low": 0.03 - width / 2, "high": 0.03 + width / 2, "prob": 0.95},
            "decision": {"symbol": "?" if place < 3 else "≫"},
        }
        for place, width in enumerate(widths, start=1)
    ]
    asked = {"metric": "f1", "names": ["$a$", "b"], "rope": {"low": rope[0], "high": rope[1]}}
    return {"names": ["$a$", "b"], "looks": looks, "stopped": stopped, "comparison": asked}


def drawn(told):
    ax = plot_looks(facts=told, ax=Figure().subplots())
    ax.figure.canvas.draw()
    return ax


def test_a_wide_first_interval_runs_out_of_the_picture():
    low, high = drawn(facts()).get_ylim()
    assert -0.1 < low < -0.02
    assert 0.08 < high < 0.15


def test_decisions_stand_where_they_changed_and_the_stop_is_marked():
    ax = drawn(facts(stopped=3))
    assert [text.get_text() for text in ax.texts[:3]] == ["?", "≫", "stop, look 3"]
    assert ax.get_ylabel() == "f1, $a$ − b ↑ $a$ better"
    assert ax.get_title(loc="left") == "Stopped at look 3: $a$ − b"
    assert not ax.yaxis.label.get_parse_math()


def test_decisions_that_come_and_go_do_not_overprint():
    told = facts([0.1] * 60, stopped=60)
    for look, symbol in zip(told["looks"], "?<?" + 20 * "<" + "?<?" + 34 * ">", strict=True):
        look["decision"]["symbol"] = symbol
    ax = drawn(told)
    assert [(text.get_text(), text.xy[0]) for text in ax.texts[:2]] == [("<", 400), (">", 2_700)]


@pytest.mark.parametrize(("looks", "bars"), [(40, 40), (41, 21), (1_000, 40)])
def test_many_looks_have_fewer_bars_and_the_last_is_among_them(looks, bars):
    ax = drawn(facts([0.1] * looks))
    segments = ax.collections[1].get_segments()
    assert len(segments) == bars
    assert max(segment[0][0] for segment in segments) == 100 * looks


@pytest.mark.parametrize("told", [facts((0.1,)), facts(rope=(0.0, 0.0)), facts((0.0, 0.0))])
def test_one_look_no_rope_no_width(told):
    assert np.isfinite(drawn(told).get_ylim()).all()


def test_no_look_no_figure():
    with pytest.raises(UsageError, match="nothing to plot yet"):
        plot_looks(facts=facts(()))


def test_nothing_leaves_one_column(ax, outside, written):
    told = facts(stopped=4)
    for look in told["looks"]:
        look["n"] *= 1_000
    plot_looks(facts=told, ax=ax)
    assert outside(ax, written) == []
