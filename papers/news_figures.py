"""Figures 4 to 6 of the ICDM 2015 and 4 and 6 of the SIGIR 2016 paper, on the news groups.

Trace plots are of chains, which PyMC draws; posterior and factor plots are of independent
draws, those of the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import outperform as op
from outperform.errors import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAIRS = {4: ("nb_bern", "nb_mult"), 5: ("svm_l1", "svm_l2"), 6: ("nb_mult", "svm_l2")}
# Of 760 cells a step takes a tenth of a second; few are enough to see that chains agree.
_SHORT = op.PyMC(chains=2, draws=400, tune=200)
_EXAMPLE = {
    "Metropolis, as in the paper": op.PyMC(
        sampler="metropolis", chains=2, draws=25_000, tune=2_000
    ),
    "NUTS": op.PyMC(chains=2, draws=2_000, tune=500),
}
_CATEGORY = 8
_DRAWS = 50_000
_SHADES = ("0.15", "0.55")
_WIDTH = 3.5  # inches: one column of a two-column page
_MOST_POINTS = 1_000  # of one chain's line; more only make it blacker
STYLE: dict[str, Any] = {
    "font.size": 8,
    "axes.titlesize": 8,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "axes.linewidth": 0.7,
    "savefig.dpi": 240,
}


def _pair(a: str, b: str) -> op.Outcomes:
    news = op.datasets.load_news20()
    return op.Outcomes.from_labels(news.y_true, {name: news.predictions[name] for name in (a, b)})


def average(a: str, b: str, **how: Any) -> op.Comparison:
    """Compare macro-averaged F1 as the ICDM paper does: hierarchical model, unpaired."""
    options: dict[str, Any] = {
        "metric": "f1_macro",
        "prior": "hierarchical",
        "paired": False,
        "n_jobs": -1,
    }
    return op.compare(_pair(a, b), a, b, rope=0.005, random_state=0, **options | how)


def category(**how: Any) -> op.Comparison:
    """Compare F1 of the SIGIR paper's example category: paired."""
    a, b = PAIRS[6]
    label = op.datasets.load_news20().target_names[_CATEGORY]
    options: dict[str, Any] = {
        "metric": "f1",
        "pos_label": label,
        "prior": "uniform",
        "n_jobs": -1,
    }
    return op.compare(_pair(a, b), a, b, rope=0.05, random_state=0, **options | how)


def average_chain(a: str, b: str) -> op.Comparison:
    """Return the same comparison of averages, drawn by NUTS."""
    return average(a, b, engine=_SHORT)


def example_chain(engine: op.PyMC) -> op.Comparison:
    """Return the same comparison of a category, drawn by a chain."""
    return category(engine=engine)


def draw_pair(exact: op.Comparison, chained: op.Comparison) -> Figure:
    """Draw trace, posterior and factor plot of one comparison, one above the other."""
    figure = _new_figure(6.6)
    trace, posterior, factor = figure.subplots(3, 1, height_ratios=(1, 2, 2))
    draw_trace(trace, chained, "trace plot")
    exact.plot(posterior)
    exact.plot_bayes_factor(factor)
    return figure


def draw_category(exact: op.Comparison) -> Figure:
    """Draw posterior and factor plot of one category."""
    figure = _new_figure(5.4)
    posterior, factor = figure.subplots(2, 1)
    exact.plot(posterior)
    exact.plot_bayes_factor(factor)
    return figure


def draw_example(chains: dict[str, op.Comparison]) -> Figure:
    """Draw the trace of one comparison by several samplers."""
    figure = _new_figure(1.5 * len(chains))
    panels = figure.subplots(len(chains), 1, sharey=True)
    for ax, (name, chained) in zip(panels, chains.items(), strict=True):
        draw_trace(ax, chained, name)
    return figure


def draw_trace(ax: Axes, chained: op.Comparison, name: str) -> None:
    """Draw where each chain was at each step, and say what its draws are worth."""
    said, engine = chained.chain, chained.spec.choices.engine
    assert said is not None
    assert engine is not None
    n_chains = engine.chains
    for shade, draws in zip(_SHADES, chained.draws.reshape(n_chains, -1), strict=True):
        every = max(1, draws.size // _MOST_POINTS)
        ax.plot(np.arange(draws.size)[::every], draws[::every], color=shade, lw=0.4)
    ax.set_title(
        f"{name}: R-hat {said.rhat:.3f},\n{said.ess:,.0f} effective of {said.n_draws:,} draws",
        loc="left",
    )
    ax.set(xlabel="step", ylabel="A − B")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.margins(x=0.01)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _new_figure(height: float) -> Figure:
    figures = require("matplotlib.figure", extra="plot", purpose="--figures")
    figure: Figure = figures.Figure(figsize=(_WIDTH, height), layout="constrained")
    return figure


def _draw_averages(a: str, b: str) -> Figure:
    chained = average_chain(a, b)  # first, since it says at once if PyMC is missing
    return draw_pair(average(a, b, n_draws=_DRAWS), chained)


def _draw_samplers() -> Figure:
    return draw_example({name: example_chain(engine) for name, engine in _EXAMPLE.items()})


ICDM: dict[str, Callable[[], Figure]] = {
    f"icdm-figure-{number}": partial(_draw_averages, a, b) for number, (a, b) in PAIRS.items()
}
SIGIR: dict[str, Callable[[], Figure]] = {
    "sigir-figure-4": _draw_samplers,
    "sigir-figure-6": lambda: draw_category(category(n_draws=_DRAWS)),
}


def save(figures: dict[str, Callable[[], Figure]], folder: Path, suffix: str) -> list[Path]:
    """Draw the figures of a paper into a folder and return where they are."""
    matplotlib = require("matplotlib", extra="plot", purpose="--figures")
    written = []
    for name, draw in figures.items():
        with matplotlib.rc_context(STYLE):
            figure = draw()
            folder.mkdir(parents=True, exist_ok=True)
            written.append(folder / f"{name}.{suffix}")
            figure.savefig(written[-1])
    return written
