"""The ACL 2019 tables and figures come out as published."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest

import outperform as op
from papers.__main__ import main
from papers.acl import TABLES, TASKS, closeness, speed
from papers.acl_figures import draw_task, save, task_curves
from papers.published import published
from papers.tables import Effort

# From quadrature, to four decimals.
P_H1 = {
    3: [0.9759, 1.0, 1.0],
    4: [0.6799, 0.6274, 0.6998],
    5: [0.8097, 0.2950, 0.4127],
}
CWS_F1 = {"A": (0.95304711, 0.95358765), "B": (0.95388363, 0.95441926)}
NUMBERS = pytest.mark.parametrize("number", TASKS)


@pytest.fixture(scope="module")
def tables():
    return {number: make(Effort()) for number, make in TABLES.items()}


def test_every_interval_is_within_a_hundredth_of_a_percent(tables):
    off = np.abs(tables[2].differences("interval ends"))
    assert len(off) == 2 * 18
    assert off.max() <= 0.01


def test_all_ends_but_two_are_the_printed_ones(tables):
    # 95.118 and 90.7096 are 95.11 and 90.70 in print, cut off where others are rounded.
    (ends,) = tables[2].agreement()
    assert (ends.equal, ends.cells) == (34, 36)


@pytest.mark.parametrize("model", ["A", "B"])
def test_interval_of_segmentation_f1(model):
    folds = published("acl2019")["cws"]["counts"][model]
    eti = op.estimate_cv_counts(folds, metric="f1", counts="gold_predicted_correct").eti
    assert (eti.low, eti.high) == pytest.approx(CWS_F1[model], abs=1e-8)


@NUMBERS
def test_probabilities(tables, number):
    found = [row.ours["p_h1"] for row in tables[number].rows]
    assert [round(value, 4) for value in found] == P_H1[number]
    assert np.abs(tables[number].differences("P(H1)")).max() <= 0.002
    assert [row.ours["p_h0"] for row in tables[number].rows] == pytest.approx(
        [1 - value for value in found], abs=1e-12
    )


def test_segmentation_is_all_but_certain(tables):
    _, recall, f1 = tables[3].rows
    assert min(recall.ours["p_h1"], f1.ours["p_h1"]) >= 0.999


@NUMBERS
def test_decisions_are_the_printed_ones(tables, number):
    for row in tables[number].rows:
        assert row.ours["decision"] == row.published["decision"]


def test_interval_and_rope_decide_less(tables):
    decisions = {
        key: "".join(row.ours[key] for number in TASKS for row in tables[number].rows)
        for key in ("narrow", "default")
    }
    assert decisions == {"narrow": "<<<<<<<>>", "default": "≈≈≈≈≈≈<>>"}


def test_what_only_we_say_is_not_held_against_print(tables):
    assert [found.part for found in tables[3].agreement()] == ["P(H0)", "P(H1)", "decisions"]
    assert tables[3].differences("means") == []


def test_first_line_says_how_close_it_is(tables):
    assert closeness(list(tables.values())) == (
        "18 of 18 intervals within 0.01 percentage points of print (largest difference 0.0096), "
        "9 of 9 decisions as printed, P(H1) at most 0.0010 from print."
    )
    assert closeness([tables[4]]) == (
        "3 of 3 decisions as printed, P(H1) at most 0.0009 from print."
    )


def test_last_line_is_the_time():
    said = (
        r"The nine comparisons of tables 3 to 5 take \d+ ms once warm, \d+ ms of processor time\."
    )
    assert re.fullmatch(said, speed(Effort(draws=100)))


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_command(form, capsys):
    assert main(["acl", "--format", form, "--table", "5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("3 of 3 decisions")
    assert lines[-1].endswith("ms of processor time.")
    assert sum("published" in line for line in lines) == 3


# Figures 1 to 3


def test_curves_end_where_a_thousandth_is_left():
    folds = published("acl2019")["ner"]["counts"]["B"]
    curves = task_curves("ner", "R")
    for correlation, label in {"averaged": "ACL 2019", "full": "Wang et al. 2015"}.items():
        grid, density = curves[f"IOBES, {label}"]
        found = op.estimate_cv_counts(
            folds, metric="recall", counts="gold_predicted_correct", correlation=correlation
        )
        assert found.cdf(grid[[0, -1]]) == pytest.approx([0.001, 0.999], abs=1e-9)
        # The trapezium rule on 200 strips of a curve that is nearly normal.
        area = ((density[:-1] + density[1:]) / 2 * np.diff(grid)).sum()
        assert area == pytest.approx(0.998, abs=1e-4)


def test_figure_has_three_panels_and_one_legend():
    figure = draw_task("org")
    *panels, corner = figure.axes
    assert [panel.get_title() for panel in panels] == ["precision", "recall", "F1"]
    assert [len(panel.get_lines()) for panel in panels] == [4, 4, 4]
    assert [ax.get_legend() is None for ax in figure.axes] == [True, True, True, False]
    assert [text.get_text() for text in corner.get_legend().get_texts()] == [
        "IOB2, ACL 2019",
        "IOB2, Wang et al. 2015",
        "IOBES, ACL 2019",
        "IOBES, Wang et al. 2015",
    ]


@pytest.mark.parametrize("task", TASKS.values())
def test_nothing_overlaps_or_is_cut_off(task):
    figure = draw_task(task)
    figure.draw_without_rendering()
    whole = figure.bbox
    legend = figure.axes[-1].get_legend().get_window_extent()
    assert whole.x0 <= legend.x0
    assert legend.x1 <= whole.x1
    for panel in figure.axes[:-1]:
        assert not legend.overlaps(panel.get_tightbbox())
        seen = [
            label.get_window_extent()
            for tick, label in zip(panel.get_xticks(), panel.get_xticklabels(), strict=True)
            if panel.get_xlim()[0] <= tick <= panel.get_xlim()[1]
        ]
        assert len(seen) >= 2
        for left, right in pairwise(seen):
            assert left.x1 < right.x0


def test_drawing_changes_no_settings():
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    draw_task("ner")
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_files(tmp_path, suffix):
    written = save(tmp_path / "new" / "folder", suffix)
    assert [path.name for path in written] == [
        f"acl-figure-{place}-{task}.{suffix}" for place, task in enumerate(TASKS.values(), 1)
    ]
    assert all(path.stat().st_size > 5_000 for path in written)


def test_figures_from_the_command(tmp_path):
    assert main(["acl", "--table", "3", "--figures", str(tmp_path)]) == 0
    assert len(list(tmp_path.glob("*.png"))) == 3
