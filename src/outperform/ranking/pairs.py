"""All pairs of models: decisions, diagnostics, and their figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from outperform._typing import FloatArray
from outperform.decision.hdi import narrowest
from outperform.decision.intervals import Interval
from outperform.decision.rope import (
    Decision,
    Masses,
    Rope,
    decide,
    margin,
    masses_from_draws,
    mean_error,
)
from outperform.display import figure_style, numbers
from outperform.display.facts import Facts
from outperform.findings import Finding, clauses, finding
from outperform.inference import diagnostics, disagreements
from outperform.inference.diagnostics import SAFE_ERRORS
from outperform.inference.disagreements import are_same
from outperform.inference.spec import Spec
from outperform.posterior.rng import n_workers

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_WORTH_A_THREAD = 20

Matrix = tuple[tuple["Pair | None", ...], ...]
"""A pair for each row − column; None on the diagonal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The difference A − B between two of the models.

    Parameters
    ----------
    names
        A and B.
    observed
        The plug-in difference.
    mean, sd, mcse
        Of A − B, and the Monte Carlo error of the mean.
    hdi
        The narrowest interval.
    p_worse, p_equivalent, p_better
        The probabilities that A is worse than B by more than the ROPE, that the
        difference lies in it, and that A is better.
    p_greater
        The probability that A − B is above zero.
    decision
        The decision.
    withheld
        Whether a decision was withheld because the two hardly ever disagree.
    coarse
        Whether so few draws leave the decision open.
    """

    names: tuple[str, str]
    observed: float
    mean: float
    sd: float
    mcse: float
    hdi: Interval
    p_worse: float
    p_equivalent: float
    p_better: float
    p_greater: float
    decision: Decision
    withheld: bool
    coarse: bool


def all_pairs(
    spec: Spec,
    values: FloatArray,
    observed: Sequence[float],
    *,
    rope: Rope,
    prob: float,
    n_jobs: int | None,
) -> Matrix:
    """Compare every model with every other, ``values`` being ``(n_models, n_draws)``."""
    names = spec.view.models
    work = partial(_both_ways, spec, values, observed, rope, prob)
    places = list(combinations(range(len(names)), 2))
    workers = n_workers(n_jobs)
    if workers == 1 or len(places) < _WORTH_A_THREAD:
        found = list(map(work, places))
    else:
        with ThreadPoolExecutor(workers) as pool:
            found = list(pool.map(work, places))
    matrix: list[list[Pair | None]] = [[None] * len(names) for _ in names]
    for (i, j), (forward, backward) in zip(places, found, strict=True):
        matrix[i][j], matrix[j][i] = forward, backward
    return tuple(map(tuple, matrix))


def in_order(matrix: Matrix, order: Sequence[int]) -> Matrix:
    """Return the matrix with its models in another order."""
    return tuple(tuple(matrix[i][j] for j in order) for i in order)


def above_diagonal(matrix: Matrix) -> Iterator[Pair]:
    """Yield every pair once, the model that comes first as A."""
    for i, row in enumerate(matrix):
        for pair in row[i + 1 :]:
            assert pair is not None
            yield pair


def _both_ways(
    spec: Spec,
    values: FloatArray,
    observed: Sequence[float],
    rope: Rope,
    prob: float,
    places: tuple[int, int],
) -> tuple[Pair, Pair]:
    i, j = places
    ordered = values[i] - values[j]
    ordered.sort()
    mean, sd = float(ordered.mean()), float(ordered.std(ddof=1))
    hdi = replace(narrowest(ordered, prob), signed=True)
    conclude = partial(_conclude, spec, rope=rope, sd=sd, mcse=mean_error(sd, ordered.size))
    seen = observed[i] - observed[j]
    forward = conclude((i, j), hdi, masses_from_draws(ordered, rope), mean=mean, observed=seen)
    # Only a symmetric ROPE says the same of B − A.
    mirrored = Rope(low=-rope.high, high=-rope.low)
    turned = _turned(masses_from_draws(ordered, mirrored))
    backward = conclude((j, i), _negated(hdi), turned, mean=-mean, observed=-seen)
    return forward, backward


def _conclude(
    spec: Spec,
    places: tuple[int, int],
    hdi: Interval,
    masses: Masses,
    *,
    mean: float,
    observed: float,
    sd: float,
    mcse: float,
    rope: Rope,
) -> Pair:
    better = spec.metric.greater_is_better
    said = decide(hdi, rope, greater_is_better=better)
    decision, few = disagreements.allow(spec, said, hdi, rope, places)
    gap, error = margin(hdi, rope)
    models = spec.view.models
    return Pair(
        names=(models[places[0]], models[places[1]]),
        observed=observed,
        mean=mean,
        sd=sd,
        mcse=mcse,
        hdi=hdi,
        p_worse=masses.below if better else masses.above,
        p_equivalent=masses.inside,
        p_better=masses.above if better else masses.below,
        p_greater=masses.greater,
        decision=decision,
        withheld=few is not None and few.level == "serious",
        coarse=gap < diagnostics.SAFE_ERRORS * error,
    )


def _negated(hdi: Interval) -> Interval:
    return replace(
        hdi, low=-hdi.high, high=-hdi.low, mcse_low=hdi.mcse_high, mcse_high=hdi.mcse_low
    )


def _turned(masses: Masses) -> Masses:
    return Masses(
        below=masses.above, inside=masses.inside, above=masses.below, greater=1 - masses.greater
    )


def mean_matrix(matrix: Matrix) -> FloatArray:
    """Return the means of row − column; zero on the diagonal."""
    return np.array([[0.0 if pair is None else pair.mean for pair in row] for row in matrix])


def ranking_findings(spec: Spec, pairs: Matrix, *, n_draws: int) -> Iterator[Finding]:
    """Yield findings about pairs and about who leads."""
    every = list(above_diagonal(pairs))
    same = [p for p in every if not p.observed and are_same(spec.data, *p.names)]
    if same:
        yield finding(
            "few_disagreements/same_pairs",
            level="serious" if any(pair.withheld for pair in same) else "warning",
            found=len(same),
            n=len(every),
            pairs=_named(same),
        )
    withheld = [pair for pair in every if pair.withheld and pair not in same]
    if withheld:
        yield finding(
            "few_disagreements/pairs", found=len(withheld), n=len(every), pairs=_named(withheld)
        )
    coarse = [pair for pair in every if pair.coarse]
    if coarse:
        yield finding(
            "monte_carlo_too_coarse/pairs",
            found=len(coarse),
            n=len(every),
            pairs=_named(coarse),
            n_draws=n_draws,
        )
    second = pairs[0][1]
    assert second is not None
    if abs(second.mean) < SAFE_ERRORS * second.mcse:
        yield finding(
            "monte_carlo_too_coarse/first",
            first=second.names[0],
            second=second.names[1],
            gap=abs(second.mean),
            errors=SAFE_ERRORS,
            error=second.mcse,
        )


def _named(pairs: Sequence[Pair]) -> str:
    return clauses([" and ".join(pair.names) for pair in pairs], most=3)


_ROW = 0.2  # inches
_FRAME = 0.85
_FIRST = 0.12  # the darkest grey, of rank 1
_LAST = 0.93
_WIDEST = 12.0
_FIRM = {"≫": 0.55, "≪": 0.8, "≈": 0.93}
_WORDS = {
    "≫": "better",
    ">": "leaning better",
    "≈": "equivalent",
    "<": "leaning worse",
    "≪": "worse",
    "?": "undecided",
}


def plot_ranks(facts: Facts, *, ax: Axes | None = None) -> Axes:
    """Draw the probability of each rank as a bar a model, rank 1 at the left and darkest.

    Parameters
    ----------
    facts
        The facts of the ranking.
    ax
        The axes to draw in; a new figure of one column's width if None.

    Examples
    --------
    >>> facts = {"names": ["gpt", "bert"], "metric": "f1", "tied": ["gpt"],
    ...          "models": [{"name": "gpt", "p_rank": [0.8, 0.2], "p_best": 0.8, "tied": True},
    ...                     {"name": "bert", "p_rank": [0.2, 0.8], "p_best": 0.2, "tied": False}]}
    >>> from matplotlib.figure import Figure
    >>> ax = plot_ranks(facts, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['gpt', 'bert']
    """
    models = facts["models"]
    ax = figure_style.new_axes(ax, purpose="plot()", height=_FRAME + _ROW * len(models))
    shares = np.array([model["p_rank"] for model in models])
    starts = np.cumsum(shares, axis=1) - shares
    places = np.arange(len(models))
    for rank in range(len(models)):
        grey = str(_grey(rank, len(models)))
        look: dict[str, Any] = {"color": grey, "edgecolor": "0.45", "lw": 0.4}
        label = f"rank {rank + 1}"
        ax.barh(places, shares[:, rank], 0.78, starts[:, rank], label=label, **look)
    size = _text_size(ax, len(models))
    _name_rows(ax, facts["names"], size, tied=set(facts["tied"]))
    for place, model in enumerate(models):
        _beside(ax, place, numbers.probability(model["p_best"], facts.get("n_draws")), size)
    _finish_ranks(ax, len(models))
    return ax


def _grey(rank: int, n_models: int) -> float:
    """Return a grey that is darkest for rank 1; the first ranks are the furthest apart."""
    share = rank / max(n_models - 1, 1)
    return _FIRST + (_LAST - _FIRST) * float(share**0.6)


def _beside(ax: Axes, place: int, text: str, size: float) -> None:
    ax.annotate(
        text,
        (1.0, place),
        xycoords=ax.get_yaxis_transform(),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        fontsize=size,
        **figure_style.LITERAL,
    )


def _finish_ranks(ax: Axes, n_models: int) -> None:
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(n_models - 0.4, -0.6)
    ax.set_xlabel("probability of each rank", **figure_style.SMALL)
    ax.set_title(
        f"darkest: rank 1, lightest: rank {n_models}; at the right P(best)\nbold: tied for best",
        loc="left",
        **figure_style.TINY,
    )
    figure_style.number_ticks(ax)
    figure_style.bare(ax, sides=("top", "right"))
    ax.spines["left"].set_visible(False)


def plot_decisions(facts: Facts, *, ax: Axes | None = None) -> Axes:
    """Draw the decision on row − column for every two models, the leader first.

    Firm decisions have a grey ground; what the symbols mean stands below.

    Parameters
    ----------
    facts
        The facts of the ranking.
    ax
        The axes to draw in; a new figure as large as the models need if None.

    Examples
    --------
    >>> facts = {"names": ["gpt", "bert"], "metric": "f1", "tied": ["gpt"],
    ...          "decisions": [[None, "≫"], ["≪", None]], "rope": {"low": -0.01, "high": 0.01}}
    >>> from matplotlib.figure import Figure
    >>> ax = plot_decisions(facts, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['≫', '≪']
    """
    names, decisions = facts["names"], facts["decisions"]
    n_models = len(names)
    side = min(_WIDEST, max(figure_style.COLUMN, 1.3 + 0.24 * n_models))
    ax = figure_style.new_axes(ax, purpose="plot_matrix()", height=side, width=side)
    greys = [[_FIRM.get(symbol, 1.0) for symbol in row] for row in decisions]
    ax.imshow(np.array(greys), cmap="gray", vmin=0.0, vmax=1.0, alpha=0.6)
    size = _text_size(ax, n_models)
    for i, row in enumerate(decisions):
        for j, symbol in enumerate(row):
            if symbol is not None:
                how: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 1.1 * size}
                ax.text(j, i, symbol, family=figure_style.family(ax), **how, **figure_style.LITERAL)
    _name_rows(ax, names, size, tied=set(facts["tied"]))
    short = figure_style.names(names, limit=figure_style.SHORT_NAME)
    for text in ax.set_xticks(range(n_models), short, rotation=90) and ax.get_xticklabels():
        text.set(fontsize=size, **figure_style.LITERAL)
    ax.tick_params(axis="x", length=0)
    ax.set_xlabel(_legend(decisions), **figure_style.TINY)
    rope = figure_style.minus(numbers.rope(facts["rope"]["low"], facts["rope"]["high"]))
    ax.set_title(f"row − column, ROPE {rope}; bold: tied for best", loc="left", **figure_style.TINY)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def _legend(decisions: Sequence[Sequence[str | None]]) -> str:
    used = {symbol for row in decisions for symbol in row}
    shown = [f"{symbol} {words}" for symbol, words in _WORDS.items() if symbol in used]
    lines = [", ".join(shown[start : start + 3]) for start in range(0, len(shown), 3)]
    return "\n".join(lines)


def _name_rows(ax: Axes, names: Sequence[object], size: float, *, tied: set[object]) -> None:
    shown = figure_style.names(names)
    for name, text in zip(
        names, ax.set_yticks(range(len(names)), shown) and ax.get_yticklabels(), strict=True
    ):
        weight = "bold" if name in tied else "normal"
        text.set(fontsize=size, fontweight=weight, **figure_style.LITERAL)
    ax.tick_params(axis="y", length=0)


def _text_size(ax: Axes, n_rows: int) -> float:
    """Return the points that a row leaves for its text."""
    return max(3.0, min(figure_style.text_size(), 0.85 * figure_style.points(ax)[1] / (n_rows + 1)))
