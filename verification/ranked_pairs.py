"""Is a pair of a ranking decided as it would be alone, and is a better model seen among equals?

Worlds that pooling does not suppose: one model better than many equal ones, checkpoints of one
training that hardly differ, and models that are exactly equal. Every interval and decision of a
pair is held against the truth, as the ranking gives them and as pooled draws would have given
them; some are held against ``op.compare`` of the two models. Of the leader P(best) is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

import outperform as op
from outperform._typing import AnyArray, FloatArray
from outperform.decision.rope import Decision
from outperform.inference.question import Sampling
from outperform.inference.spec import rope_for
from outperform.ranking.pairs import Matrix, compare_pairs, pairs_to_compare
from outperform.ranking.result import joint_draws, make_joint_spec, summarize_ranking
from verification import markdown
from verification.chance import mean_is_off, share_error, share_is_off

SEED = 20_261_119
ROPE, PROB = 0.01, 0.95
WAYS = ("pair", "pooled")
COVERAGE = (0.925, 0.98)
MOST_FALSE = 0.025
MOST_LEFT_OUT = 0.05
MOST_OF_EQUALS = 0.2  # P(best) of the leader, where all models are equal
COMPARED = 25  # every so many test sets all pairs with the best model are compared alone
# The narrowest interval of so few draws holds 94.6%, not 95%.
_N_DRAWS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What models there are: accuracies, the best last, items, and what of their ease is shared."""

    name: str
    truth: tuple[float, ...]
    n: int
    shared: float = 0.5

    @property
    def equal(self) -> bool:
        """Whether no model is better than another."""
        return self.truth[0] == self.truth[-1]


WORLDS = (
    World(name="nine at 0.80, one at 0.86", truth=(0.8,) * 9 + (0.86,), n=500),
    World(name="nine at 0.80, one at 0.84", truth=(0.8,) * 9 + (0.84,), n=1_000),
    World(name="four at 0.80, one at 0.86", truth=(0.8,) * 4 + (0.86,), n=500),
    World(
        name="eight checkpoints, 0.002 apart",
        truth=tuple(round(0.8 + 0.002 * step, 3) for step in range(8)),
        n=1_000,
        shared=0.98,
    ),
    World(name="ten equal", truth=(0.8,) * 10, n=500),
)


class Pairs(NamedTuple):
    """What was said of every pair A − B, of which B is the better one or equal."""

    covered: AnyArray
    mean: FloatArray
    symbols: tuple[str, ...]


class Noted(NamedTuple):
    """What one ranking said: its pairs in the order of ``WAYS``, the leader, and who is tied.

    ``false_worse`` and ``false_out`` say whether some model was called ≪ against the leader, or
    left out of the tied, though it is not worse by more than the ROPE. ``same`` and ``compared``
    count the pairs that ``op.compare`` decides alike, and all that it was asked about.
    """

    pairs: tuple[Pairs, Pairs]
    p_best: float
    leads: bool
    best_left_out: bool
    n_tied: int
    false_worse: bool
    false_out: bool
    same: int
    compared: int


Found = Mapping[World, Sequence[Noted]]


def repeat(world: World, first: int, last: int) -> list[Noted]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    return [_note(world, repetition) for repetition in range(first, last)]


def _note(world: World, repetition: int) -> Noted:
    settled = [SEED, len(world.truth), world.n, round(1000 * world.truth[-1]), repetition]
    generator = np.random.default_rng(settled)
    n_models = len(world.truth)
    ease = np.sqrt(world.shared) * generator.normal(size=world.n)
    ease = ease + np.sqrt(1 - world.shared) * generator.normal(size=(n_models, world.n))
    right = ease < norm.ppf(world.truth)[:, None]
    names = [f"m{place:02}" for place in range(n_models)]
    seen = op.Outcomes.from_correct(dict(zip(names, right, strict=True)))
    spec = make_joint_spec(
        seen, metric="accuracy", prior=None, paired=True, labels=None, pos_label=None
    )
    seed, rope = np.random.SeedSequence(settled), rope_for(spec, ROPE)
    pooled, raw = joint_draws(spec, Sampling(_N_DRAWS, seed))
    ranking = summarize_ranking(spec, pooled, raw, rope=rope, prob=PROB, seed=seed, n_jobs=1)
    indices = pairs_to_compare(n_models, leader=0)
    shrunk = compare_pairs(spec, pooled, spec.observed, indices, rope=rope, prob=PROB, n_jobs=1)
    order = [ranking.names.index(name) for name in names]
    own = tuple(tuple(ranking.pairs[i][j] for j in order) for i in order)
    best, leads = names[-1], world.truth[names.index(ranking.leader.name)]
    near = [
        row
        for row in ranking.rows[1:]
        if world.truth[names.index(row.name)] - leads >= -ROPE - 1e-12
    ]
    same = compared = 0
    if repetition % COMPARED == 0:
        for name in names[:-1]:
            pair = ranking.pair(name, best)
            alone = op.compare(seen, name, best, metric="accuracy", rope=ROPE, random_state=seed)
            # Where draws leave the end of the interval on an edge, they may decide otherwise.
            same += alone.decision is pair.decision or pair.coarse or not _firm(pair, alone)
            compared += 1
    return Noted(
        pairs=(_pairs(world, own), _pairs(world, shrunk)),
        p_best=ranking.leader.p_best,
        leads=ranking.leader.name == best,
        best_left_out=best not in ranking.tied,
        n_tied=len(ranking.tied),
        false_worse=any(row.decision is Decision.WORSE for row in near),
        false_out=any(not row.tied for row in near),
        same=same,
        compared=compared,
    )


_FIRM = (Decision.WORSE, Decision.EQUIVALENT, Decision.BETTER)


def _firm(pair: op.results.Pair, alone: op.results.Comparison) -> bool:
    """Return whether either decision is firm; what leans depends on draws near two thirds."""
    return pair.decision in _FIRM or alone.decision in _FIRM


def _pairs(world: World, matrix: Matrix) -> Pairs:
    covered, means, symbols = [], [], []
    for a, b in combinations(range(len(world.truth)), 2):
        pair = matrix[a][b]
        assert pair is not None
        covered.append(world.truth[a] - world.truth[b] in pair.hdi)
        means.append(pair.mean)
        symbols.append(pair.decision.symbol)
    return Pairs(np.array(covered), np.array(means), tuple(symbols))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What was said of all pairs of a world that are equally far apart.

    Shares are means over test sets of the share of these pairs, and errors those of test sets.
    """

    world: World
    difference: float
    n: int
    held: tuple[float, float]
    mean: tuple[float, float]
    symbols: Mapping[str, tuple[tuple[float, float], tuple[float, float]]]

    @property
    def false(self) -> dict[str, float]:
        """The share of each decision that is false here, as the ranking decides."""
        equivalent = abs(self.difference) <= ROPE + 1e-12
        wrong = ("≪", "≫") if equivalent else ("≈", "≫")
        return {symbol: self.symbols[symbol][0][0] for symbol in wrong}


def rows(world: World, noted: Sequence[Noted]) -> Iterator[Row]:
    """Yield a row for each true difference of two models, the greatest first."""
    every = np.array([a - b for a, b in combinations(world.truth, 2)]).round(6)
    for difference in np.unique(every):
        inside = every == difference
        shares = [np.array([one.pairs[way].covered[inside].mean() for one in noted])
                  for way in range(2)]  # fmt: skip
        means = [np.array([one.pairs[way].mean[inside].mean() for one in noted])
                 for way in range(2)]  # fmt: skip
        symbols = {}
        for symbol in ("≪", "≈", "≫"):
            called = [
                np.array([_share(one.pairs[way].symbols, symbol, inside) for one in noted])
                for way in range(2)
            ]
            symbols[symbol] = (_mean(called[0]), _mean(called[1]))
        yield Row(
            world=world,
            difference=float(difference),
            n=len(noted),
            held=(float(shares[0].mean()), float(shares[1].mean())),
            mean=(float(means[0].mean()), float(means[1].mean())),
            symbols=symbols,
        )


def _share(symbols: Sequence[str], symbol: str, inside: AnyArray) -> float:
    return float(np.mean([one == symbol for one in np.array(symbols)[inside]]))


def _mean(values: FloatArray) -> tuple[float, float]:
    """Return the mean over test sets and its standard error."""
    return float(values.mean()), float(values.std() / np.sqrt(len(values)))


def table(found: Found) -> str:
    """Return what is said of pairs, as the ranking gives them and as pooled draws would."""
    header = ["world", "items", "true A − B", "held", "mean", "≪", "≈", "≫"]
    header += ["pooled: held", "mean", "≪", "≈"]
    lines = []
    for world, noted in found.items():
        for row in rows(world, noted):
            line = [world.name, f"{world.n:,}", f"{row.difference:+.3f}"]
            for way, symbols in enumerate((("≪", "≈", "≫"), ("≪", "≈"))):
                line.append(markdown.percent(row.held[way], share_error(row.held[way], row.n)))
                line.append(f"{row.mean[way]:+.4f}")
                line += [markdown.percent(*row.symbols[symbol][way]) for symbol in symbols]
            lines.append(line)
    n = min(len(noted) for noted in found.values())
    return markdown.table(header, lines) + (
        f"\nAccuracy, ROPE ±{ROPE:g}, {n:,} test sets each; shares in per cent, with their "
        f"standard errors. The intervals of pairs must hold in {100 * COVERAGE[0]:g} to "
        f"{100 * COVERAGE[1]:g}%, and false decisions must be at most {100 * MOST_FALSE:g}% each: "
        "≈ beyond the ROPE, ≪ within it, ≫ anywhere. The last four columns are what pooled draws "
        "would say, which no longer decide.\n"
    )


def leader_table(found: Found) -> str:
    """Return what is said of the leader and of who is tied, and how often compare agrees."""
    header = ["world", "leader's P(best)", "is best", "best left out", "tied, mean"]
    header += ["some falsely ≪ against the leader", "some falsely left out", "as compare"]
    lines = []
    for world, noted in found.items():
        n = len(noted)
        leads = float(np.mean([one.leads for one in noted]))
        out = float(np.mean([one.best_left_out for one in noted]))
        claimed, error = _mean(np.array([one.p_best for one in noted]))
        compared = sum(one.compared for one in noted)
        lines.append(
            [
                world.name,
                f"{claimed:.3f} ± {error:.3f}",
                "–" if world.equal else markdown.percent(leads, share_error(leads, n)),
                "–" if world.equal else markdown.percent(out, share_error(out, n)),
                f"{np.mean([one.n_tied for one in noted]):.1f} of {len(world.truth)}",
                *(
                    markdown.percent(share, share_error(share, n))
                    for share in (
                        float(np.mean([one.false_worse for one in noted])),
                        float(np.mean([one.false_out for one in noted])),
                    )
                ),
                f"{sum(one.same for one in noted)} of {compared}",
            ]
        )
    return markdown.table(header, lines) + (
        "\nThe leader's P(best) must not exceed by more than chance how often it is the best, and "
        f"be {MOST_OF_EQUALS:g} at most where all models are equal. The best model may be left out "
        f"in {100 * MOST_LEFT_OUT:g}%. As compare: pairs with the best model that `op.compare` "
        "calls ≫, ≈ or ≪ where the ranking does; all must be.\n"
    )


def failures(found: Found) -> list[str]:
    """Return what did not hold."""
    failed = []
    for world, noted in found.items():
        n, where = len(noted), f"{world.name}, {world.n:,} items"
        for row in rows(world, noted):
            pair = f"pairs {row.difference:+.3f} apart in {where}"
            if share_is_off(row.held[0], n, *COVERAGE):
                failed.append(f"ranked-pairs: coverage {row.held[0]:.3f} of {pair}")
            failed += [
                f"ranked-pairs: {symbol} in {share:.3f} of {pair}"
                for symbol, share in row.false.items()
                if share_is_off(share, n, high=MOST_FALSE)
            ]
        claimed, error = _mean(np.array([one.p_best for one in noted]))
        leads = float(np.mean([one.leads for one in noted]))
        if world.equal and mean_is_off(claimed, error, n, 0.0, MOST_OF_EQUALS):
            failed.append(f"ranked-pairs: the leader's P(best) is {claimed:.3f} in {where}")
        if not world.equal and share_is_off(leads, n, claimed):
            failed.append(
                f"ranked-pairs: P(best) {claimed:.3f} came true in {leads:.3f} of {where}"
            )
        out = float(np.mean([one.best_left_out for one in noted]))
        if not world.equal and share_is_off(out, n, high=MOST_LEFT_OUT):
            failed.append(f"ranked-pairs: the best model left out in {out:.3f} of {where}")
        lacking = sum(one.compared - one.same for one in noted)
        if lacking:
            failed.append(f"ranked-pairs: compare decides {lacking} pairs otherwise in {where}")
    return failed
