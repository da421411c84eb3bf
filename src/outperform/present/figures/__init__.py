"""Pictures of results, readable in grey and in one column: one module a figure."""

from outperform.present.figures.confusion import plot_confusion
from outperform.present.figures.factor import factor_window, plot_factor
from outperform.present.figures.forest import plot_forest
from outperform.present.figures.looks import plot_looks
from outperform.present.figures.models import plot_models
from outperform.present.figures.posterior import plot_posterior
from outperform.present.figures.power import plot_plan, plot_power
from outperform.present.figures.ranks import plot_ranks, plot_verdicts
from outperform.present.figures.rope_curve import plot_rope_curve, widest_rope
from outperform.present.figures.runs import plot_runs

__all__ = [
    "factor_window",
    "plot_confusion",
    "plot_factor",
    "plot_forest",
    "plot_looks",
    "plot_models",
    "plot_plan",
    "plot_posterior",
    "plot_power",
    "plot_ranks",
    "plot_rope_curve",
    "plot_runs",
    "plot_verdicts",
    "widest_rope",
]
