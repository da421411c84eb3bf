"""Draw every figure of the documentation into docs/_static; run by `make figures`.

Everything comes from the package and its bundled data, with fixed seeds; the power of
pairing, which takes minutes, from what `python -m verification power` stored. Figures of
chains need `pip install "outperform[pymc]"`, on Python 3.12 or later. Colours mean worse,
equivalent and better; all else is grey, with text for one column of a two-column page.
Those of docs/gallery.md come from make_gallery.py.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter
from scipy.special import ndtr, ndtri
from scipy.stats import gaussian_kde
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import outperform as op
from outperform.decision.hdi import narrowest
from outperform.decision.rope import decide, masses_from_draws
from outperform.display import colours
from outperform.display.pictures import TONES
from outperform.posterior.class_priors import class_sizes, recall_posterior
from papers import news_figures
from papers.acl_figures import draw_task

STATIC = Path(__file__).parents[1] / "_static"
COLUMN, PAGE = 3.5, 7.0  # inches
SLIM = 3.4  # one column, as the figures that results draw are given
BUTT = {"solid_capstyle": "butt"}
COLOURS = {symbol: colours.LIGHT[name] for symbol, name in TONES.items()}
DARK, MIDDLE, LIGHT, PALE = "0.15", "0.45", "0.7", "0.9"

STYLE = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.unicode_minus": True,
    "savefig.dpi": 240,
}


def first_comparison() -> Figure:
    """Draw the tutorial's comparison exactly as a user would."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    svm, lda = (
        make_pipeline(StandardScaler(), model).fit(X_train, y_train).predict(X_test)
        for model in (SVC(), LinearDiscriminantAnalysis())
    )
    c = op.compare(
        y_test, svm, lda, metric="f1_macro", rope=0.01, names=("svm", "lda"), random_state=0
    )
    return c.plot().figure


def decisions() -> Figure:
    """Draw seven posteriors against one ROPE, each with the decision that the package gives."""
    rope = op.Rope.from_param(0.01)
    normals = [
        (0.024, 0.005),
        (0.017, 0.011),
        (-0.001, 0.003),
        (0.002, 0.008),
        (-0.017, 0.011),
        (-0.024, 0.005),
        (0.004, 0.016),
    ]
    figure = new_figure(COLUMN, 2.9)
    ax = figure.subplots()
    ax.axvspan(rope.low, rope.high, color=PALE, zorder=0)
    ax.axvline(0, color=LIGHT, lw=0.8, ls=":", zorder=1)
    for place, (mean, sd) in enumerate(normals):
        draws = np.sort(mean + sd * ndtri((np.arange(20_000) + 0.5) / 20_000))
        hdi, masses = narrowest(draws, 0.95), masses_from_draws(draws, rope)
        decision = decide(hdi, rope, masses)
        shade = COLOURS.get(decision.symbol, "black")
        width = 3 if decision.symbol in COLOURS else 1.2
        grid = mean + sd * np.linspace(-3, 3, 121)
        height = 0.55 * np.exp(-(((grid - mean) / sd) ** 2) / 2) * min(1.0, 0.005 / sd) ** 0.5
        ax.fill_between(grid, -place, height - place, color=shade, alpha=0.25, lw=0, zorder=2)
        ends = [hdi.low, hdi.high]
        ax.plot(ends, [-place, -place], color=shade, lw=width, marker="|", ms=7, **BUTT)
        how = {"va": "center", "color": shade}
        ax.text(-0.064, -place, decision.symbol, ha="center", fontsize=11, **how)
        ax.text(0.047, -place, decision.words.replace(", ", ",\n"), fontsize=7, **how)
    ax.text(0, 0.72, "ROPE ±0.01", ha="center", va="bottom", fontsize=7.5)
    ax.set(xlim=(-0.07, 0.1), ylim=(-6.6, 0.7), yticks=[], xlabel="difference A − B")
    ax.set_xticks([-0.04, -0.02, 0, 0.02, 0.04])
    ax.spines["left"].set_visible(False)
    return figure


def reweighting() -> Figure:
    """Draw one table, a few re-weightings of it, and what they say of two classifiers."""
    counts = np.array([30, 9, 4, 7])
    names = ["both\nright", "only A\nright", "only B\nright", "both\nwrong"]
    draws = np.random.default_rng(9).dirichlet(counts + 1, size=4_000)
    figure = new_figure(PAGE, 2.5)
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    left.bar(range(4), counts / counts.sum(), width=0.62, color=PALE, ec=MIDDLE, lw=0.8)
    marks = ("o", "s", "^", "D")
    for mark, draw, shift in zip(marks, draws, (-0.18, -0.06, 0.06, 0.18), strict=False):
        left.plot(np.arange(4) + shift, draw, mark, color=DARK, ms=4, mfc="white", mew=0.9)
    left.set_xticks(range(4), names)
    left.set(ylabel="share of items", title="the table (bars) and four draws (marks)")
    left.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    accuracy_a, accuracy_b = draws[:, 0] + draws[:, 1], draws[:, 0] + draws[:, 2]
    right.plot(accuracy_b[4:1500], accuracy_a[4:1500], ".", color=LIGHT, ms=2.2, mew=0)
    for place, mark in enumerate(marks):
        right.plot(accuracy_b[place], accuracy_a[place], mark, color=DARK, ms=5, mfc="white")
    right.plot([0.4, 1], [0.4, 1], color=DARK, lw=0.8, ls="--")
    right.text(0.47, 0.93, "A better", fontsize=8)
    right.text(0.92, 0.55, "B better", fontsize=8, ha="right")
    right.set(xlim=(0.45, 0.95), ylim=(0.5, 1), title="each draw, read off as two accuracies")
    right.set(xlabel="accuracy of B", ylabel="accuracy of A", aspect="equal")
    return figure


def pairing() -> Figure:
    """Draw the posterior of SVM-L1 − SVM-L2 without and with pairing, from the same data."""
    unpaired = compare_news("svm_l1", "svm_l2", rope=0.005, paired=False)
    paired = compare_news("svm_l1", "svm_l2", rope=0.005)
    figure = new_figure(COLUMN, 3.0)
    ax = figure.subplots()
    grid = np.linspace(-0.046, 0.018, 400)
    # A little more smoothing than the rule of thumb, so that no draw shows in the outline.
    wide, narrow = (gaussian_kde(c.draws, bw_method=0.2)(grid) for c in (unpaired, paired))
    top = narrow.max()
    ax.axvspan(-0.005, 0.005, color=PALE, zorder=0)
    seen = narrow > 1e-3 * top
    ax.fill_between(grid[seen], narrow[seen], color=LIGHT, ec=DARK, lw=1.2, zorder=2)
    ax.plot(grid, wide, color=DARK, lw=1.3, ls=(0, (4, 2)), zorder=3)
    ax.text(-0.0195, 0.78 * top, "paired", fontsize=8.5, ha="right")
    ax.text(-0.0285, 0.33 * top, "unpaired", fontsize=8.5, ha="right")
    ax.text(0, 1.07 * top, "ROPE\n±0.005", ha="center", va="top", fontsize=7.5)
    for level, result, fill, word in (
        (-0.10, unpaired, "white", "not decided"),
        (-0.23, paired, DARK, "worse"),
    ):
        hdi, height = result.hdi, level * top
        ax.barh(height, hdi.width, 0.05 * top, hdi.low, color=fill, ec=DARK, lw=1, zorder=4)
        decision = f"{word}  {result.decision.symbol}"
        ax.text(hdi.low - 0.001, height, decision, ha="right", va="center", fontsize=8)
        ax.text(0.006, height, f"{minus(hdi.low)} to {minus(hdi.high)}", va="center", fontsize=7)
    ax.set(xlim=(-0.052, 0.0255), ylim=(-0.3 * top, 1.08 * top), yticks=[])
    ax.set_xticks([-0.04, -0.03, -0.02, -0.01, 0, 0.01])
    ax.set_xlabel("SVM-L1 − SVM-L2, macro-averaged F1")
    ax.spines["left"].set_visible(False)
    return figure


def pairing_clouds() -> Figure:
    """Draw both classifiers' macro-F1 in every draw: a round cloud, and a narrow one."""
    figure = new_figure(PAGE, 3.0)
    for ax, paired in zip(figure.subplots(1, 2, sharey=True), (False, True), strict=True):
        result = compare_news("svm_l1", "svm_l2", rope=0.005, paired=paired)
        a, b = result.a.draws[:3000], result.b.draws[:3000]
        ends = np.array([0.615, 0.668])
        ax.fill_between(ends, ends - 0.005, ends + 0.005, color=PALE, zorder=0, lw=0)
        ax.plot(ends, ends, color=MIDDLE, lw=0.8, ls=":")
        ax.plot(b, a, ".", color=DARK, ms=1.6, mew=0, alpha=0.6)
        ax.text(0.6255, 0.6285, "ROPE", rotation=45, fontsize=7.5, ha="center", va="center")
        correlation = np.corrcoef(result.a.draws, result.b.draws)[0, 1]
        name = "paired" if paired else "unpaired"
        ax.set_title(f"{name}: correlation {correlation:.2f}, sd of the difference {result.sd:.4f}")
        ax.set(xlim=(0.622, 0.668), ylim=(0.61, 0.656), aspect="equal")
        ax.set_xlabel("macro-F1 of SVM-L2")
        ax.set_ylabel("macro-F1 of SVM-L1" if not paired else "")
    return figure


POSITIVE = {"11": 0.3, "10": 0.3, "01": 0.2, "00": 0.2}
NEGATIVE = {"11": 0.2, "10": 0.2, "01": 0.3, "00": 0.3}
EQUAL = {"11": 0.3, "10": 0.2, "01": 0.2, "00": 0.3}
SCENARIOS = (
    ("(a) F1 0.6 against 0.5, goal ≫", POSITIVE, NEGATIVE, "≫"),
    ("(b) F1 0.5 both, goal ≈", EQUAL, EQUAL, "≈"),
)


def power() -> Figure:
    """Draw the power of the SIGIR paper's two scenarios, paired and unpaired."""
    figure = new_figure(PAGE, 2.5)
    for ax, (title, theta_pos, theta_neg, goal) in zip(
        figure.subplots(1, 2, sharey=True), SCENARIOS, strict=True
    ):
        for paired in (True, False):
            found = op.power(
                theta_pos=theta_pos,
                theta_neg=theta_neg,
                prevalence=0.5,
                sizes=range(500, 3501, 500),
                goal=goal,
                rope=0.05,
                prior="uniform",
                paired=paired,
                n_simulations=1_000,
                random_state=2016,
            )
            ax.errorbar(
                found.sizes,
                found.power,
                yerr=2 * found.mcse,
                color=DARK,
                marker="o",
                ms=4.5,
                mfc=DARK if paired else "white",
                ls="-" if paired else (0, (4, 2)),
                lw=1,
                elinewidth=0.8,
                label="paired" if paired else "unpaired",
            )
        ax.set(title=title, xlabel="items", ylim=(-0.03, 1.03))
        ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        ax.grid(axis="y", color=PALE, lw=0.7)
        ax.set_axisbelow(True)
    figure.axes[0].set_ylabel("power")
    figure.axes[0].legend(frameon=False, loc="lower right")
    return figure


def plan() -> Figure:
    """Draw the sizes at which the SIGIR paper's scenarios reach 0.8, paired and unpaired."""
    figure = new_figure(PAGE, 2.5)
    for ax, (title, theta_pos, theta_neg, goal) in zip(
        figure.subplots(1, 2, sharey=True), SCENARIOS, strict=True
    ):
        for paired in (True, False):
            op.plan(
                scenario={"theta_pos": theta_pos, "theta_neg": theta_neg, "prevalence": 0.5},
                goal=goal,
                rope=0.05,
                prior="uniform",
                paired=paired,
                n_simulations=2_000,
                n_draws=2_000,
                random_state=2016,
            ).plot(ax, label="paired" if paired else "unpaired")
        ax.set_title(title, loc="left", pad=24)  # above the two lines of the note
    figure.axes[1].set_ylabel("")
    return figure


def more_data() -> Figure:
    """Draw what was predicted and what came; `verification more-data` stores it."""
    stored = json.loads((Path(__file__).parent / "more_data.json").read_text(encoding="utf-8"))
    figure = new_figure(SLIM, 2.6)
    ax = figure.subplots()
    ax.plot([0, 1], [0, 1], color=LIGHT, lw=0.7, zorder=0)
    for (road, bins), filled in zip(stored.items(), (True, False), strict=True):
        ax.errorbar(
            [one["predicted"] for one in bins],
            [one["realised"] for one in bins],
            yerr=[2 * one["error"] for one in bins],
            color=DARK,
            marker="o",
            ms=4.5,
            mfc=DARK if filled else "white",
            ls="none",
            elinewidth=0.8,
            label=road,
        )
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="predicted from a quarter", ylabel="decided by all")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.legend(frameon=False, loc="upper left")
    return figure


def best() -> Figure:
    """Draw P(best) and the leader's value, raw and pooled; `verification best` stores them."""
    stored = json.loads((Path(__file__).parent / "best.json").read_text(encoding="utf-8"))
    figure = new_figure(PAGE, 2.8)
    left, right = figure.subplots(1, 2)
    left.plot([0, 1], [0, 1], color=LIGHT, lw=0.7, zorder=0)
    for name, face in (("raw", "white"), ("pooled", DARK)):
        look = {"color": DARK, "marker": "o", "ms": 4.5, "mfc": face, "ls": "none"}
        claimed, true, error = np.array(stored[name]["bins"]).T
        left.errorbar(claimed, true, yerr=2 * error, elinewidth=0.8, label=name, **look)
        worlds = stored[name]["too_high"]
        places = np.arange(len(worlds))
        right.plot([row[3] for row in worlds], places, **look)
    left.set(xlim=(0, 1), ylim=(0, 1), xlabel="claimed P(best)", ylabel="came true")
    left.legend(frameon=False, loc="upper left")
    right.axvline(0, color=LIGHT, lw=0.7, zorder=0)
    shown = [f"{row[0]} models, {row[1]:,} items, {row[2]:g}" for row in worlds]
    right.set_yticks(places, shown)
    right.invert_yaxis()
    right.set_xlabel("leader's value too high by")
    return figure


def reliability() -> Figure:
    """Draw what came true of what was claimed; `verification reliability` stores it."""
    stored = json.loads((Path(__file__).parent / "reliability.json").read_text(encoding="utf-8"))
    figure = new_figure(PAGE, 2.3)
    marks = {"accuracy": "o", "f1": "s", "f1_macro": "^"}
    claims = list(dict.fromkeys(row["claim"] for row in stored))
    for ax, claim in zip(figure.subplots(1, len(claims), sharey=True), claims, strict=True):
        ax.plot([0, 1], [0, 1], color=LIGHT, lw=0.7, zorder=0)
        for row in stored:
            if row["claim"] == claim:
                said, true, error, _ = np.array(row["bins"]).T
                name = f"{row['metric']}, {row['n']:,} items"
                colour = DARK if row["n"] < 1_000 else MIDDLE
                if row["truths"] != "models":
                    name += ", own prior"
                ax.errorbar(
                    *(said, true),
                    yerr=2 * error,
                    elinewidth=0.8,
                    ls="none",
                    ms=4,
                    marker=marks[row["metric"]],
                    color=colour,
                    mfc=colour if row["truths"] == "models" else "white",
                    label=name,
                )
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=f"claimed {claim}", aspect="equal")
    figure.axes[0].set_ylabel("came true")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, loc="outside lower center", ncols=3)
    return figure


def power_paired() -> Figure:
    """Draw how many newsgroup documents a decision takes; `verification power` stores it."""
    every = json.loads((Path(__file__).parent / "power_paired.json").read_text(encoding="utf-8"))
    stored = [row for row in every if row["rope_share"] == 0.2]
    pairs = list(dict.fromkeys(tuple(row["pair"]) for row in stored))
    figure = new_figure(PAGE, 2.3)
    for ax, pair in zip(figure.subplots(1, len(pairs), sharey=True), pairs, strict=True):
        for row in (row for row in stored if tuple(row["pair"]) == pair):
            draw_power_curve(ax, row)
        ax.axhline(0.8, color=LIGHT, lw=0.7, zorder=0)
        title = " − ".join(name.replace("_", " ") for name in pair)
        ax.set(title=title, xlabel="items", ylim=(0, 1.03))
        ax.set_xlim(left=0)
        ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        ax.xaxis.set_major_locator(MaxNLocator(4))
    figure.axes[0].set_ylabel("power")
    figure.axes[0].legend(frameon=False, loc="lower right")
    return figure


def draw_power_curve(ax: Axes, row: dict[str, Any]) -> None:
    """Draw the points of one curve, the probit curve through them, and where it is at 0.8."""
    n = np.array([point["n"] for point in row["points"]])
    share = np.array([point["decided"] / point["repetitions"] for point in row["points"]])
    errors = np.sqrt(share * (1 - share) / row["points"][0]["repetitions"])
    paired, fit = row["paired"], row["fit"]
    ax.errorbar(
        n,
        share,
        yerr=2 * errors,
        color=DARK,
        marker="o",
        ms=4,
        mfc=DARK if paired else "white",
        ls="",
        elinewidth=0.8,
        label="paired" if paired else "unpaired",
    )
    line = np.linspace(0, 1.05 * n[-1], 200)
    curve = ndtr(fit["intercept"] + fit["slope"] * np.sqrt(line))
    ax.plot(line, curve, color=DARK, lw=1, ls="-" if paired else (0, (4, 2)))
    ax.plot([fit["needed"]] * 2, [0, 0.8], color=MIDDLE, lw=0.7, ls=":")


def divergence() -> Figure:
    """Draw the prior density of the paired F1 difference near zero, ever closer to it."""
    widths = np.geomspace(1e-4, 0.1, 13)
    hits, n = np.zeros(widths.size), 0
    generator = np.random.default_rng(20)
    first = None
    for _ in range(40):
        difference = paired_f1_prior(generator, 500_000)
        first = difference[:50_000] if first is None else first
        hits += [(np.abs(difference) < width).sum() for width in widths]
        n += difference.size
    figure = new_figure(COLUMN, 2.4)
    ax = figure.subplots()
    ax.plot(widths, hits / n / (2 * widths), "o-", color=DARK, ms=4, lw=1)
    estimate = float(gaussian_kde(first)(0)[0])
    ax.axhline(estimate, color=MIDDLE, lw=1, ls="--")
    ax.text(1e-4, estimate - 0.05, f"kernel estimate, 50,000 draws: {estimate:.2f}", va="top")
    ax.set_xscale("log")
    ax.invert_xaxis()
    ax.set(xlabel="half-width h of a window around zero", ylim=(1.7, 3.8))
    ax.set_ylabel("prior mass in (−h, h), over 2h")
    ax.set_yticks([2, 2.5, 3, 3.5])
    ax.texts[0].set_ha("right")
    return figure


def paired_f1_prior(generator: np.random.Generator, n: int) -> np.ndarray:
    """Draw F1 of A minus F1 of B from the prior of the SIGIR paper's paired model."""
    prevalence = generator.random(n)
    positive, negative = generator.dirichlet(np.ones(4), size=(2, n))
    scores = []
    for other in (1, 2):  # outcome pairs are (1,1), (1,0), (0,1), (0,0)
        found = prevalence * (positive[:, 0] + positive[:, other])
        alarms = (1 - prevalence) * (negative[:, 0] + negative[:, other])
        scores.append(2 * found / (found + alarms + prevalence))
    return scores[0] - scores[1]


def prior_pull() -> Figure:
    """Draw one classifier's macro-F1 from few items under every prior."""
    news = op.datasets.load_news20()
    few = slice(None, None, 50)
    figure = new_figure(COLUMN, 2.1)
    ax = figure.subplots()
    priors = ("learned", "bootstrap", "hierarchical", "unit", "uniform")
    for place, prior in enumerate(priors):
        result = op.estimate(
            news.y_true[few],
            news.predictions["nb_mult"][few],
            metric="f1_macro",
            prior=prior,
            random_state=0,
        )
        ax.plot([result.hdi.low, result.hdi.high], [-place, -place], color=LIGHT, lw=5)
        ax.plot(result.mean, -place, "o", color=DARK, ms=5)
    ax.axvline(result.observed, color=DARK, lw=1, ls="--")
    ax.text(result.observed, 0.55, "observed", ha="center", va="bottom", fontsize=7.5)
    ax.set_yticks(-np.arange(len(priors)), priors)
    ax.set(xlim=(0.15, 0.9), ylim=(-4.5, 0.5), xlabel="macro-averaged F1, 151 items")
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    return figure


def learned_mass() -> Figure:
    """Draw the posterior of the prior mass, and what fixing it at 1 does to few items."""
    news = op.datasets.load_news20()
    figure = new_figure(PAGE, 2.3)
    left, right = figure.subplots(1, 2, width_ratios=(1, 1))
    shades = (DARK, DARK, MIDDLE, MIDDLE)
    for place, (name, said) in enumerate(news.predictions.items()):
        seen = op.Outcomes.from_labels(news.y_true, {name: said})
        hits, actual = (part.astype(float) for part in seen.margins(name)[:2])
        grid = recall_posterior(hits, actual - hits, class_sizes(actual)).grid
        density = grid.probabilities.sum(axis=(0, 2))
        style = "-" if place % 2 else "--"
        mass = np.exp(grid.axes[1])
        left.plot(mass, density / density.max(), color=shades[place], ls=style, lw=1.2, label=name)
        draw_levels(right, place, news.y_true[::37], said[::37])
    left.axvline(1, color=DARK, lw=1, ls=":")
    left.text(1.08, 1.0, "ICDM 2015", va="top", fontsize=7.5)
    left.set(xscale="log", xlim=(0.8, 200), ylim=(0, None), yticks=[])
    left.set_xticks([1, 10, 100], ["1", "10", "100"])
    left.set(xlabel="prior mass of a row, 7,532 items")
    left.legend(frameon=False, loc="upper left", bbox_to_anchor=(0.05, 0.88))
    left.spines["left"].set_visible(False)
    right.set_yticks(-np.arange(4), list(news.predictions))
    right.set(xlabel="macro-averaged F1, 204 items", ylim=(-3.5, 0.75))
    right.text(
        0.5,
        1.0,
        "● mass 1   ○ learned   | observed",
        transform=right.transAxes,
        ha="center",
        va="bottom",
        fontsize=7.5,
    )
    right.tick_params(axis="y", length=0)
    right.spines["left"].set_visible(False)
    return figure


def draw_levels(ax: Axes, place: int, truth: np.ndarray, said: np.ndarray) -> None:
    """Draw one classifier's macro-F1 with the mass fixed, above, and learned, below."""
    for prior, shift, face in (("hierarchical", 0.15, DARK), ("learned", -0.15, "white")):
        found = op.estimate(truth, said, metric="f1_macro", prior=prior, random_state=0)
        height = shift - place
        ax.plot([found.hdi.low, found.hdi.high], [height, height], color=LIGHT, lw=4)
        ax.plot(found.mean, height, "o", color=DARK, mfc=face, ms=4.5)
    ax.plot([found.observed] * 2, [-place - 0.35, -place + 0.35], color=DARK, lw=1)


def with_usual_text(draw: Callable[[], Figure]) -> Figure:
    """Draw as a user would, with matplotlib's own sizes of text."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.use("Agg")
        return draw()


def figure_slices() -> Figure:
    """Draw the forest of the guide on slices."""
    rng = np.random.default_rng(3)
    n, countries = 150, [f"{k:02d}" for k in range(60)]
    keys = [(country, channel) for country in countries for channel in ("mail", "web")]
    country, channel = np.repeat(np.array(keys), n, axis=0).T
    truth = rng.integers(2, size=len(country))
    easy = np.where(rng.random(truth.size) < 0.08, 1 - truth, truth)
    old, new = (np.where(rng.random(truth.size) < 0.02, 1 - easy, easy) for _ in range(2))
    fails = (channel == "mail") & np.isin(country, countries[::10])
    new = np.where(fails & (rng.random(truth.size) < 0.15), 1 - truth, new)
    by = {"country": country, "channel": channel}
    seen = op.Outcomes.from_labels(truth, {"new": new, "old": old}, by=by)
    slices = op.compare_slices(seen, "new", "old", metric="f1", rope=0.01, random_state=1)
    return slices.plot().figure


def figure_confusion() -> Figure:
    """Draw the confusion matrices of all classes."""
    return compare_news("nb_mult", "svm_l2", rope=0.01).plot_confusion()[0].figure


@cache
def arviz_tree() -> Any:
    """Return the tree of the guide to ArviZ."""
    news = op.datasets.load_news20()
    return op.compare(
        news.y_true,
        news.predictions["nb_mult"],
        news.predictions["svm_l2"],
        metric="f1",
        pos_label="sci.med",
        rope=0.01,
        names=("nb_mult", "svm_l2"),
        engine=op.PyMC(draws=500, tune=500),
        random_state=0,
    ).to_datatree()


def figure_arviz(name: str, size: tuple[float, float], **how: Any) -> Figure:
    """Draw what ArviZ 1 makes of the tree, in greys."""
    import arviz as az

    greys = mpl.cycler(color=[DARK, MIDDLE, LIGHT, "0.3"])
    with mpl.rc_context({"axes.prop_cycle": greys, "lines.linewidth": 0.7}):
        drawn = getattr(az, name)(
            arviz_tree(),
            var_names="difference",
            backend="matplotlib",
            figure_kwargs={"figsize": size},
            **how,
        )
    return drawn.viz["figure"].item()


def figure_looks() -> Figure:
    """Draw the how-to's monitored comparison."""
    names = ("nb_mult", "svm_l2")
    news = op.datasets.load_news20()
    order = np.random.default_rng(0).permutation(len(news.y_true))
    with TemporaryDirectory() as folder:
        monitor = op.Monitor(folder, *names, metric="accuracy", rope=0.01, stop=("width", 0.03))
        for first in range(0, 3_500, 500):
            rows = order[first : first + 500]
            predictions = {name: news.predictions[name][rows] for name in names}
            monitor.add(news.y_true[rows], predictions, key=f"from {first}")
        return monitor.plot().figure


def compare_news(a: str, b: str, *, rope: float, paired: bool = True) -> op.Comparison:
    """Compare two of the bundled classifiers in macro-F1."""
    news = op.datasets.load_news20()
    return op.compare(
        news.y_true,
        news.predictions[a],
        news.predictions[b],
        metric="f1_macro",
        rope=rope,
        paired=paired,
        names=(a, b),
        random_state=0,
    )


def minus(value: float) -> str:
    """Return a difference with four decimals and a true minus sign."""
    text = f"{value:.4f}".replace("-", "−")
    return "0.0000" if text == "−0.0000" else text


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a width in inches."""
    return Figure(figsize=(width, height), layout="constrained")


FIGURES: dict[str, Callable[[], Figure]] = {
    "first-comparison": partial(with_usual_text, first_comparison),
    "decisions": decisions,
    "reweighting": reweighting,
    "pairing": pairing,
    "pairing-clouds": pairing_clouds,
    "power": power,
    "plan": plan,
    "more-data": more_data,
    "best": best,
    "reliability": reliability,
    "power-paired": power_paired,
    "divergence": divergence,
    "prior-pull": prior_pull,
    "learned-mass": learned_mass,
    **{
        f"figure-{name}": partial(with_usual_text, draw)
        for name, draw in (
            ("slices", figure_slices),
            ("confusion", figure_confusion),
            ("looks", figure_looks),
        )
    },
    **{f"acl-{task}": partial(draw_task, task) for task in ("cws", "ner", "org")},
}

OF_CHAINS: dict[str, Callable[[], Figure]] = {
    "arviz-trace": partial(figure_arviz, "plot_trace", (COLUMN, 1.8)),
    "arviz-rank": partial(figure_arviz, "plot_rank", (COLUMN, 2.2)),
    "arviz-dist": partial(
        figure_arviz,
        "plot_dist",
        (COLUMN, 2.2),
        kind="hist",
        ci_kind="hdi",
        ci_prob=0.95,
        rope=(-0.01, 0.01),
    ),
    **news_figures.SIGIR,
    **news_figures.ICDM,
}


def main(names: list[str]) -> None:
    """Draw the named figures, all of them by default."""
    STATIC.mkdir(exist_ok=True)
    figures = FIGURES | OF_CHAINS
    for name in names or figures:
        if name in OF_CHAINS and find_spec("arviz_plots") is None:
            print(f'{name}: left as it is; it needs pip install "outperform[pymc]"')
            continue
        with mpl.rc_context(STYLE):
            # No date and no version in the file, so that equal figures are equal bytes.
            figures[name]().savefig(STATIC / f"{name}.png", metadata={"Software": None})
        print(name)


if __name__ == "__main__":
    main(sys.argv[1:])
