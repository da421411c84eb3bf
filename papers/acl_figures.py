"""Figures 1 to 3 of the ACL 2019 paper: the posteriors of P, R and F1, one figure a task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import outperform as op
from outperform._typing import FloatArray
from outperform.errors import require
from papers.acl import COUNTS, METRICS, TASKS
from papers.curves import plot_curves
from papers.published import published

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WAYS = {"averaged": "ACL 2019", "full": "Wang et al. 2015"}
_PANELS = {"P": "precision", "R": "recall", "F1": "F1"}
_TAIL = 0.001
_POINTS = 201
_SIZE = (3.5, 2.9)  # inches: one column of a two-column page
_STYLE: dict[str, Any] = {
    "font.size": 8,
    "axes.titlesize": 8.5,
    "xtick.labelsize": 7.5,
    "axes.linewidth": 0.7,
    "xtick.major.width": 0.7,
    "xtick.minor.width": 0.5,
    "legend.fontsize": 7,
    "savefig.dpi": 240,
}
_LEGEND: dict[str, Any] = {
    "loc": "center",
    "frameon": False,
    "handlelength": 1.5,
    "handletextpad": 0.5,
    "labelspacing": 0.8,
    "borderpad": 0,
}


def draw_task(task: str) -> Figure:
    """Draw both models of a task, each with two posteriors: three panels and one legend."""
    matplotlib = require("matplotlib", extra="plot", purpose="--figures")
    figures = require("matplotlib.figure", extra="plot", purpose="--figures")
    with matplotlib.rc_context(_STYLE):
        figure: Figure = figures.Figure(figsize=_SIZE, layout="constrained")
        *panels, corner = figure.subplots(2, 2).flat
        for panel, short in zip(panels, METRICS, strict=True):
            plot_curves(task_curves(task, short), title=_PANELS[short], ax=panel)
        corner.axis("off")
        legend = corner.legend(*panels[0].get_legend_handles_labels(), **_LEGEND)
        # Or the layout would make room for a long name by narrowing the panels.
        legend.set_in_layout(False)
    return figure


def task_curves(task: str, short: str) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return four densities, each from its 0.001 to its 0.999 quantile."""
    figures = published("acl2019")[task]
    return {
        f"{figures[model]}, {paper}": _curve(figures["counts"][model], METRICS[short], correlation)
        for model in ("A", "B")
        for correlation, paper in _WAYS.items()
    }


def _curve(folds: list[list[int]], metric: str, correlation: str) -> tuple[FloatArray, FloatArray]:
    found = op.estimate_cv_counts(folds, metric=metric, counts=COUNTS, correlation=correlation)
    assert found.distribution is not None
    low, high = (found.distribution.quantile(p) for p in (_TAIL, 1 - _TAIL))
    grid = np.linspace(low, high, _POINTS)
    return grid, found.pdf(grid)


def save(folder: Path, suffix: str) -> list[Path]:
    """Draw the figures of all tasks into a folder and return where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for place, task in enumerate(TASKS.values(), start=1):
        written.append(folder / f"acl-figure-{place}-{task}.{suffix}")
        draw_task(task).savefig(written[-1], dpi=_STYLE["savefig.dpi"])
    return written
