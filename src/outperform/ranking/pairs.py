"""All pairs of models: decisions, diagnostics, and their figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from outperform._json import MaybeNaN, written
from outperform._typing import FigureSize, FloatArray
from outperform.decision.rope import (
    Decision,
    Masses,
    Rope,
    chances_of,
    decide,
    margin,
    masses_from_draws,
)
from outperform.display import facts as read
from outperform.display import figure_style, numbers
from outperform.display.facts import Facts
from outperform.display.pictures import OPEN, TONES
from outperform.errors import require
from outperform.findings import Finding, clauses, finding
from outperform.inference import disagreements, engine
from outperform.inference.disagreements import are_same
from outperform.inference.engine import Answer
from outperform.inference.question import Sampling
from outperform.inference.spec import LabelSpec, Spec, again
from outperform.inference.spelling import (
    SPELLED,
    AsRight,
    NeverTrue,
    ask_as_right,
    interpret_two,
    listed_predictions,
    never_true,
    spelling_findings,
)
from outperform.inference.summary import Summary, summarize
from outperform.inference.thresholds import SAFE_ERRORS
from outperform.posterior.rng import n_workers

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_WORTH_A_THREAD = 20
# As a share of the interval's width. A single mean correlation makes the interval for svm_l1 and
# svm_l2 on 20 Newsgroups 12% wider, so each end moves by 0.06; this is 2.5 times as far.
_CLOSE = 0.15

# 4,950 pairs; the time grows with the square of the number of models.
MOST_FOR_ALL_PAIRS = 100

Matrix = tuple[tuple["Pair | None", ...], ...]
"""One pair per row and column (row − column); None on the diagonal and for pairs not compared."""


@written(
    "names observed mean sd mcse p_worse p_equivalent p_better p_greater hdi decision withheld "
    "coarse"
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Pair(Summary):
    """Difference A − B between two models, regardless of other models.

    It comes from the draws before pooling, and its decision is that of :func:`compare`. With three
    or more classes, an interval far from the edges of the ROPE can be wider or narrower than that
    of :func:`compare`. See :class:`Summary`.

    Parameters
    ----------
    names
        Names of A and B.
    observed
        Plug-in difference.
    mean, sd, mcse
        Mean and sd of A − B, and the Monte Carlo standard error of the mean.
    p_worse, p_equivalent, p_better
        Probabilities that A is worse than B by more than the ROPE, that the difference lies in
        the ROPE, and that A is better by more than the ROPE.
    p_greater
        Probability that A − B is above zero.
    hdi
        Highest density interval.
    decision
        The decision.
    withheld
        Whether a serious finding about the two models withheld a decision.
    coarse
        Whether another set of draws could change the decision.
    """

    names: tuple[str, str]
    observed: MaybeNaN
    p_worse: float
    p_equivalent: float
    p_better: float
    p_greater: float
    decision: Decision
    withheld: bool
    coarse: bool


def pairs_to_compare(n_models: int, leader: int) -> list[tuple[int, int]]:
    """Return the pairs that a ranking compares: all, or those with the leader for many models."""
    if n_models <= MOST_FOR_ALL_PAIRS:
        return list(combinations(range(n_models), 2))
    others = (model for model in range(n_models) if model != leader)
    return [(min(leader, model), max(leader, model)) for model in others]


def compare_pairs(
    spec: Spec,
    values: FloatArray,
    observed: Sequence[float],
    indices: Sequence[tuple[int, int]],
    *,
    rope: Rope,
    prob: float,
    n_jobs: int | None,
) -> Matrix:
    """Compare pairs of models by their unpooled draws ``(n_models, n_draws)``."""
    names = spec.view.models
    work = partial(_both_ways, spec, values, observed, rope, prob)
    workers = n_workers(n_jobs)
    if workers == 1 or len(indices) < _WORTH_A_THREAD:
        results = list(map(work, indices))
    else:
        with ThreadPoolExecutor(workers) as pool:
            results = list(pool.map(work, indices))
    matrix: list[list[Pair | None]] = [[None] * len(names) for _ in names]
    for (i, j), (forward, backward) in zip(indices, results, strict=True):
        matrix[i][j], matrix[j][i] = forward, backward
    return tuple(map(tuple, matrix))


def shares_one_correlation(spec: Spec) -> bool:
    """Return whether joint draws give two models a different correlation than separate draws.

    Under the prior ``learned``, more than two models share one mean correlation of errors.
    """
    learned = isinstance(spec, LabelSpec) and spec.prior.name == "learned"
    n_classes = spec.view.n_classes
    return learned and len(spec.view.models) > 2 and (n_classes is None or n_classes > 2)


def ask_two(
    spec: Spec,
    names: tuple[str, str],
    *,
    n_draws: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> tuple[LabelSpec, Answer]:
    """Compare two models of a ranking as :func:`compare` does, with the same draws."""
    assert isinstance(spec, LabelSpec)
    pair_spec = again(spec, spec.data.select(list(names)))
    (answered,) = engine.answer([pair_spec], Sampling(n_draws, seed, n_jobs))
    return pair_spec, answered


def close_pairs_alone(
    spec: Spec,
    pairs: Matrix,
    *,
    rope: Rope,
    prob: float,
    n_draws: int,
    seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> tuple[Matrix, frozenset[frozenset[str]]]:
    """Replace pairs that :func:`compare` might decide differently, and return the replaced pairs.

    These are the pairs with an interval end close to a ROPE edge.
    """
    if not shares_one_correlation(spec):
        return pairs, frozenset()
    matrix, separate = [list(row) for row in pairs], set()
    for i, j in combinations(range(len(matrix)), 2):
        pair = matrix[i][j]
        if pair is None or margin(pair.hdi, rope)[0] > _CLOSE * pair.hdi.width:
            continue
        pair_spec, answered = ask_two(spec, pair.names, n_draws=n_draws, seed=seed, n_jobs=n_jobs)
        matrix[i][j], matrix[j][i] = _both_ways(
            pair_spec, answered.values, pair_spec.observed, rope, prob, (0, 1)
        )
        separate.add(frozenset(pair.names))
    return tuple(map(tuple, matrix)), frozenset(separate)


class Spelled(NamedTuple):
    """Pairs whose decision depends on how predictions are spelled, and these predictions."""

    pairs: Matrix
    changed: frozenset[frozenset[str]]
    predictions: tuple[NeverTrue, ...]


def unless_spelled(
    spec: Spec,
    pairs: Matrix,
    *,
    rope: Rope,
    prob: float,
    n_draws: int,
    seed: np.random.SeedSequence,
) -> Spelled:
    """Withhold decisions that depend on predictions that resemble another spelling of a class.

    As in :func:`compare`, each pair is compared again with such predictions counted as right.
    """
    misspelled = tuple(each for each in never_true(spec) if each.like is not None)
    if not misspelled:
        return Spelled(pairs, frozenset(), ())
    assert isinstance(spec, LabelSpec)
    matrix, changed = [list(row) for row in pairs], set()
    interpret = interpret_two(prob=prob, n_draws=n_draws, seed=seed)
    models = {prediction.model for prediction in misspelled}
    for i, j in combinations(range(len(matrix)), 2):
        forward, backward = matrix[i][j], matrix[j][i]
        if forward is None or backward is None or models.isdisjoint(forward.names):
            continue
        view = spec.data.select(list(forward.names))
        answers = [each for each in ask_as_right(again(spec, view), interpret) if each.alike]
        if _depends(forward, answers, rope):
            matrix[i][j] = _withheld(forward)
            changed.add(frozenset(forward.names))
        turned = [replace(each, hdi=-each.hdi) for each in answers]
        if _depends(backward, turned, rope):
            matrix[j][i] = _withheld(backward)
            changed.add(frozenset(backward.names))
    relevant = tuple(each for each in misspelled if any(each.model in names for names in changed))
    return Spelled(tuple(map(tuple, matrix)), frozenset(changed), relevant)


def _depends(pair: Pair, answers: Sequence[AsRight], rope: Rope) -> bool:
    return any(each.name == SPELLED for each in spelling_findings(pair.decision, answers, rope))


def _withheld(pair: Pair) -> Pair:
    return replace(pair, decision=Decision.UNDECIDED, withheld=True)


def in_order(matrix: Matrix, order: Sequence[int]) -> Matrix:
    """Return the matrix with its models in another order."""
    return tuple(tuple(matrix[i][j] for j in order) for i in order)


def above_diagonal(matrix: Matrix) -> Iterator[Pair]:
    """Yield every compared pair once, with the model that comes first as A."""
    for i, row in enumerate(matrix):
        yield from (pair for pair in row[i + 1 :] if pair is not None)


def _both_ways(
    spec: Spec,
    values: FloatArray,
    observed: Sequence[float],
    rope: Rope,
    prob: float,
    indices: tuple[int, int],
) -> tuple[Pair, Pair]:
    i, j = indices
    ordered = values[i] - values[j]
    ordered.sort()
    numbers = summarize(ordered, None, prob, signed=True)
    difference = observed[i] - observed[j]
    masses = masses_from_draws(ordered, rope)
    forward = _conclude(spec, (i, j), numbers, masses, observed=difference, rope=rope)
    # Only a symmetric ROPE also applies to B − A.
    mirrored = Rope(low=-rope.high, high=-rope.low)
    turned = _turned(masses_from_draws(ordered, mirrored))
    backward = _conclude(spec, (j, i), -numbers, turned, observed=-difference, rope=rope)
    return forward, backward


def _conclude(
    spec: Spec,
    indices: tuple[int, int],
    numbers: Summary,
    masses: Masses,
    *,
    observed: float,
    rope: Rope,
) -> Pair:
    better, hdi = spec.metric.greater_is_better, numbers.hdi
    decision = decide(hdi, rope, masses, greater_is_better=better)
    decision, few_finding = disagreements.allow(spec, decision, hdi, indices)
    gap, error = margin(hdi, rope)
    models = spec.view.models
    return Pair(
        names=(models[indices[0]], models[indices[1]]),
        observed=observed,
        **numbers._fields() | chances_of(masses, greater_is_better=better),
        decision=decision,
        withheld=decision is Decision.UNDECIDED
        and disagreements.withholds(spec, few_finding, indices),
        coarse=gap < SAFE_ERRORS * error,
    )


def _turned(masses: Masses) -> Masses:
    return Masses(
        below=masses.above, inside=masses.inside, above=masses.below, greater=1 - masses.greater
    )


def spelled_pairs(spec: Spec, spelled: Spelled) -> Iterator[Finding]:
    """Yield a finding if the spelling of predictions withholds decisions on pairs."""
    every = list(above_diagonal(spelled.pairs))
    changed = [pair for pair in every if frozenset(pair.names) in spelled.changed]
    if changed:
        yield finding(
            "spelled_otherwise/pairs",
            predictions=listed_predictions(spelled.predictions, spec.data.kind),
            found=len(changed),
            n=len(every),
            pairs=_named(changed),
        )


def ranking_findings(spec: Spec, spelled: Spelled, *, n_draws: int) -> Iterator[Finding]:
    """Yield findings about pairs."""
    every = list(above_diagonal(spelled.pairs))
    same = [p for p in every if not p.observed and are_same(spec.data, *p.names)]
    if same:
        yield finding(
            "few_disagreements/same_pairs",
            level="serious" if any(pair.withheld for pair in same) else "warning",
            found=len(same),
            n=len(every),
            pairs=_named(same),
        )
    index = {name: i for i, name in enumerate(spec.view.models)}
    withheld = [
        pair
        for pair in every
        if pair.withheld
        and pair not in same
        and frozenset(pair.names) not in spelled.changed
        and not disagreements.wrong_data(spec, [index[name] for name in pair.names])
    ]
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


def _named(pairs: Sequence[Pair]) -> str:
    return clauses([" and ".join(pair.names) for pair in pairs], most=3)


_ROW = 0.26  # inches
_FRAME = 1.1
_CELLS = 14  # numbers do not fit with more models
_WORDS = {
    "≫": "better",
    ">": "leaning better",
    "≈": "equivalent",
    "~": "probably equivalent",
    "<": "leaning worse",
    "≪": "worse",
    "?": "undecided",
}
_LEANING = {">": "better", "~": "equivalent", "<": "worse"}


def plot_ranks(
    facts: Facts, *, title: str | None = None, ax: Axes | None = None, size: FigureSize = "text"
) -> Axes:
    """Draw the probability of each rank, one row per model and one column per rank.

    Parameters
    ----------
    facts
        The ranking as a dictionary.
    title
        Title of the figure.
    ax
        Axes to draw on. Default: a new figure.
    size
        Width of a new figure.

    Examples
    --------
    >>> facts = {"names": ["gpt", "bert"], "metric": "f1", "tied": ["gpt"],
    ...          "models": [{"name": "gpt", "p_rank": [0.8, 0.2], "p_best": 0.8, "tied": True},
    ...                     {"name": "bert", "p_rank": [0.2, 0.8], "p_best": 0.2, "tied": False}]}
    >>> from matplotlib.figure import Figure
    >>> ax = plot_ranks(facts, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_yticklabels()], [text.get_text() for text in ax.texts]
    (['gpt', 'bert'], ['80.0%', '20.0%', '20.0%', '80.0%', 'bold: could still be best'])
    """
    models = facts["models"]
    height = _FRAME + _ROW * len(models)
    with figure_style.canvas(ax, purpose="plot_ranks()", height=height, size=size) as ax:
        shares = np.array([model["p_rank"] for model in models])
        ink = figure_style.ink(ax)
        ax.pcolormesh(shares, cmap=_shades(ax), vmin=0, vmax=1.15, ec=figure_style.paper(ax), lw=1)
        points = figure_style.row_size(ax, len(models))
        for (row, column), share in np.ndenumerate(shares if len(models) <= _CELLS else shares[:0]):
            how: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": points}
            how["color"] = figure_style.paper(ax) if share > 0.6 else ink
            text = numbers.probability(share, facts.get("n_draws"))
            ax.text(column + 0.5, row + 0.5, text, **how, **figure_style.LITERAL)
        margin = _name_rows(ax, facts["names"], points, tied=set(facts["tied"]), shift=0.5)
        ax.set_ylim(len(models), 0)
        step = 1 + (len(models) - 1) // 20
        ranks = range(0, len(models), step)
        ax.set_xticks([rank + 0.5 for rank in ranks], [str(rank + 1) for rank in ranks])
        ax.tick_params(axis="x", length=0, labelsize=figure_style.text_size())
        ax.set_xlabel("rank", **figure_style.SMALL)
        ax.spines[:].set_visible(False)
        title = "Probability of each rank" if title is None else title
        figure_style.write_title(ax, title, note="bold: could still be best", margin=margin)
    return ax


def _shades(ax: Axes) -> Any:
    colours = require("matplotlib.colors", extra="plot", purpose="plot()")
    ends = [figure_style.paper(ax), figure_style.ink(ax)]
    return colours.LinearSegmentedColormap.from_list("outperform", ends)


def plot_decisions(
    facts: Facts, *, title: str | None = None, ax: Axes | None = None, size: FigureSize = "text"
) -> Axes:
    """Draw the decision on row − column for each pair of models, the leader first.

    Firm decisions are coloured, and leaning ones have a tint of the colour. The legend below
    explains the symbols.

    Parameters
    ----------
    facts
        The ranking as a dictionary.
    title
        Title of the figure.
    ax
        Axes to draw on. Default: a new figure with enough space for the models.
    size
        Width of a new figure.

    Examples
    --------
    >>> facts = {"names": ["gpt", "bert"], "metric": "f1", "tied": ["gpt"],
    ...          "decisions": [[None, "≫"], ["≪", None]], "rope": {"low": -0.01, "high": 0.01}}
    >>> from matplotlib.figure import Figure
    >>> ax = plot_decisions(facts, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts[:2]]
    ['≫', '≪']
    """
    names, decisions = facts["names"], facts["decisions"]
    n_models = len(names)
    short = figure_style.names(names, limit=figure_style.SHORT_NAME)
    height = _FRAME + 0.7 + _ROW * n_models
    with figure_style.canvas(ax, purpose="plot_matrix()", height=height, size=size) as ax:
        points = figure_style.row_size(ax, n_models)
        for i, row in enumerate(decisions):
            for j, symbol in enumerate(row):
                if symbol is not None:
                    _draw_decision(ax, i, j, symbol, points)
        margin = _name_rows(ax, names, points, tied=set(facts["tied"]))
        ax.set(xlim=(-0.5, n_models - 0.5), ylim=(n_models - 0.5, -0.5))
        cell = figure_style.points(ax)[0] / n_models
        turn = 90 if 0.65 * points * max(map(len, short)) > cell else 0
        for text in ax.set_xticks(range(n_models), short, rotation=turn) and ax.get_xticklabels():
            text.set(fontsize=min(points, 0.8 * cell), **figure_style.LITERAL)
        ax.tick_params(axis="x", length=0)
        family = figure_style.family(ax)
        ax.set_xlabel(_legend(decisions), family=family, **figure_style.TINY)
        note = f"row − column, ROPE {read.rope_text(facts)}; bold: could still be best"
        title = "Decision on every pair of models" if title is None else title
        figure_style.write_title(ax, title, note=note, margin=margin)
        ax.spines[:].set_visible(False)
    return ax


def _draw_decision(ax: Axes, row: int, column: int, symbol: str, points: float) -> None:
    """Draw a cell in the colour of its decision, or in a tint of it for a leaning."""
    firm = TONES.get(symbol)
    shade = figure_style.colour(ax, firm or _LEANING.get(symbol, OPEN))
    strength = 1.0 if firm else 0.25 if symbol in _LEANING else 0.05
    look: dict[str, Any] = {"color": shade, "alpha": strength, "lw": 0, "zorder": 1}
    ax.bar(column, 0.92, 0.96, row - 0.46, **look)
    how: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 1.1 * points}
    how |= {"family": figure_style.family(ax), **figure_style.LITERAL}
    ink = figure_style.paper(ax) if firm else figure_style.ink(ax)
    ax.text(column, row, symbol, color=ink, **how)


def _legend(decisions: Sequence[Sequence[str | None]]) -> str:
    used = {symbol for row in decisions for symbol in row}
    meanings = [f"{symbol} {words}" for symbol, words in _WORDS.items() if symbol in used]
    lines = [", ".join(meanings[start : start + 3]) for start in range(0, len(meanings), 3)]
    return "\n".join(lines)


def _name_rows(
    ax: Axes, names: Sequence[object], size: float, *, tied: set[object], shift: float = 0.0
) -> float:
    """Name the rows, in bold if they could still be best, and return the width in points."""
    texts = figure_style.name_rows(ax, names, size, shift=shift)
    for name, text in zip(names, texts, strict=True):
        text.set_fontweight("bold" if name in tied else "normal")
    return 0.5 * size * max(len(text.get_text()) for text in texts)
