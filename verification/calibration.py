"""Simulation-based calibration: the truth's rank among posterior draws is uniform.

Draw a truth from the prior, items from the truth, and 1,023 draws from the
posterior given the items. If sampler, prior and likelihood belong together,
the rank of the truth among the draws is uniform on 0 to 1,023, for any quantity
and any number of items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from outperform._typing import FloatArray, IntArray
from outperform.decision.ranks import rank_probabilities
from outperform.posterior.base import Sums
from verification.claims import (
    RankClaim,
    claims,
    joint_claims,
    judge_claims,
    models_of,
    rank_claims,
)
from verification.closed_forms import levels
from verification.posteriors import Sampler, sample
from verification.quantities import log_likelihood, of_sums, of_tables, truth_as_draw
from verification.uniformity import N_DRAWS, holm, judge, rank, rank_of_level
from verification.worlds import World

# Cells times simulations that are evaluated at once.
_BATCH = 2000
# Rounding makes ties of values that differ only by the order of their sums.
_DECIMALS = 12
# Ten sticks a class leave masses below 2⁻¹⁰ in one lump, so rates are compared to
# three decimals there; the log-likelihood and the hyper-parameters know no sticks.
_DECIMALS_OF_STICKS = 3

Reading = Callable[[FloatArray], FloatArray]
"""A last step on the draws ``(n_simulations, n_draws)`` of a quantity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One configuration: a world, a number of items, how often and from which seed.

    With ``joint`` it is also claimed how the accuracies of A and B move together, which is
    what weights that are not shared get wrong.
    """

    world: World
    n: int
    simulations: int
    seed: int
    joint: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The p-values of every quantity of one configuration."""

    setting: Setting
    p_values: dict[tuple[str, str], float]  # by quantity and test

    @property
    def smallest(self) -> tuple[float, str, str]:
        """The smallest p-value, its quantity and its test."""
        return min((p, *key) for key, p in self.p_values.items())

    @property
    def adjusted(self) -> float:
        """The smallest p-value after Holm's correction within this configuration."""
        return smallest_adjusted([self])


def smallest_adjusted(calibrations: Sequence[Calibration]) -> float:
    """Return the smallest p-value after Holm's correction over all configurations."""
    together = [p for one in calibrations for p in one.p_values.values()]
    return float(holm(np.array(together)).min())


def calibrate(
    setting: Setting,
    sampler: Sampler = sample,
    reading: Reading | None = None,
    claim: RankClaim = rank_probabilities,
) -> Calibration:
    """Simulate, rank and test; ``sampler``, ``reading`` and ``claim`` let a bug be planted."""
    generator = np.random.default_rng(setting.seed)
    ranks: dict[str, list[IntArray]] = {}
    claimed: dict[str, list[FloatArray]] = {}
    for size in _batches(setting):
        simulated = _simulate(setting, size, sampler, generator)
        values_of = quantities(simulated)
        for name, values in values_of.items():
            if reading is not None:
                values[:, 1:] = reading(values[:, 1:])
            rounded = np.round(values, _decimals(setting.world, name))
            ranks.setdefault(name, []).append(rank(rounded, generator))
            if name in ("f1 A−B", "f1_macro A−B"):
                _collect(claimed, claims(values))
        if setting.world.n_models > 2:
            _collect(claimed, rank_claims(models_of(values_of, "f1_macro"), claim))
        if setting.joint:
            _collect(claimed, joint_claims(models_of(values_of, "accuracy"), simulated.counts))
        for name, level in simulated.levels.items():
            ranks.setdefault(name, []).append(rank_of_level(np.array(level)))
    p_values = {}
    for name, found in ranks.items():
        judged = judge(np.concatenate(found), generator)
        p_values.update({(name, test): p for test, p in judged._asdict().items()})
    for name, pairs in claimed.items():
        judged_claim = judge_claims(*np.concatenate(pairs, axis=1))
        p_values.update({(name, test): p for test, p in judged_claim.items()})
    return Calibration(setting=setting, p_values=p_values)


def _collect(claimed: dict[str, list[FloatArray]], found: dict[str, FloatArray]) -> None:
    for name, pair in found.items():
        claimed.setdefault(name, []).append(pair)


def _batches(setting: Setting) -> Iterator[int]:
    cells = setting.world.n_classes ** (1 + setting.world.n_models)
    size = max(1, min(_BATCH // cells, 250))
    for start in range(0, setting.simulations, size):
        yield min(size, setting.simulations - start)


def _decimals(world: World, name: str) -> int:
    lumped = world.by_sticks and name not in ("log-likelihood", "η A", "η B")
    return _DECIMALS_OF_STICKS if lumped else _DECIMALS


class _Simulated(NamedTuple):
    own: list[dict[str, FloatArray]]  # of the truth first, then of the posterior's draws
    sums: list[tuple[Sums, ...]]
    likelihood: list[FloatArray]
    counts: list[tuple[IntArray, ...]]
    levels: dict[str, list[float]]  # of the closed forms at the truth


def _simulate(
    setting: Setting, size: int, sampler: Sampler, generator: np.random.Generator
) -> _Simulated:
    simulated = _Simulated([], [], [], [], {})
    for _ in range(size):
        drawn_truth, counts = setting.world.draw(setting.n, generator)
        truth = truth_as_draw(drawn_truth)
        drawn = sampler(setting.world, counts, generator, N_DRAWS)
        own, more = of_tables(truth), of_tables(drawn)
        simulated.own.append({name: np.append(own[name], more[name]) for name in own})
        simulated.counts.append(counts)
        simulated.sums.append(tuple(map(_joined, truth.sums, drawn.sums)))
        simulated.likelihood.append(
            np.append(log_likelihood(truth, counts), log_likelihood(drawn, counts))
        )
        if sampler is sample:
            for name, level in levels(setting.world, counts, truth).items():
                simulated.levels.setdefault(name, []).append(level)
    return simulated


def _joined(truth: Sums, drawn: Sums) -> Sums:
    return Sums(*(np.concatenate(pair, axis=-1) for pair in zip(truth, drawn, strict=True)))


def quantities(simulated: _Simulated) -> dict[str, FloatArray]:
    """Return every quantity of several simulations, ``(n_simulations, 1 + n_draws)`` each."""
    found = {name: np.stack([one[name] for one in simulated.own]) for name in simulated.own[0]}
    together = [
        Sums(*(np.stack(parts, axis=-2) for parts in zip(*group, strict=True)))
        for group in zip(*simulated.sums, strict=True)
    ]
    return found | of_sums(together) | {"log-likelihood": np.stack(simulated.likelihood)}
