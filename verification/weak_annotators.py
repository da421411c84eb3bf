"""From which agreement on do levels hold against a truth that weak annotators leave open?

Three annotators, or more, are right equally often about both classes; the models err independently
of them. The intervals of A − B and of A by ``truth="latent"`` are held against the class that
nobody saw. Where A is covered too rarely, the finding ``annotators_agree_little`` must come; for
annotators who are right in 85% it must hardly ever come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import outperform as op
from outperform._typing import FloatArray
from outperform.decision.hdi import narrowest
from outperform.errors import DataError
from outperform.inference import engine
from outperform.inference.question import Sampling
from outperform.inference.spec import counted, make_spec
from verification import markdown
from verification.chance import share_is_off

SEED = 20_261_120
REPETITIONS = 200
LEAST, LEAST_LEVEL, LEAST_WARNED, MOST_WARNED = 0.925, 0.90, 0.90, 0.05
_N_DRAWS = 2_000
_SHARES, _POSITIVE = (0.85, 0.80), 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """How many annotators are right how often, and on how many items."""

    right: float
    n_annotators: int
    n: int

    @property
    def name(self) -> str:
        """What to call it in a table."""
        return f"{self.n_annotators} of {self.right:.0%}, {self.n:,} items"


WORLDS = tuple(
    World(right=right, n_annotators=k, n=n)
    for right, k, n in (
        (0.65, 3, 500), (0.70, 3, 500), (0.75, 3, 500), (0.85, 3, 500), (0.85, 3, 200),
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Whether intervals held the truth and what was warned of; None where data were refused."""

    difference: bool | None
    level: bool | None
    warned: bool | None


def repeat(world: World, first: int, last: int) -> list[Held]:
    """Repeat the test sets ``first`` to ``last``, not included, of a world."""
    return [_repeat(world, number) for number in range(first, last)]


def _repeat(world: World, number: int) -> Held:
    place = WORLDS.index(world)
    rng = np.random.default_rng([SEED, place, number])
    true = rng.random(world.n) < _POSITIVE

    def labels(share: float) -> FloatArray:
        return np.where(rng.random(world.n) < share, true, ~true).astype(np.float64)

    given = np.stack([labels(world.right) for _ in range(world.n_annotators)], axis=1)
    models = {name: labels(share) for name, share in zip("ab", _SHARES, strict=True)}
    try:
        seen = op.Outcomes.from_annotators(given, models, truth="latent")
    except DataError:
        return Held(difference=None, level=None, warned=None)
    spec = counted(
        make_spec(seen, metric="accuracy", prior=None, paired=True, labels=None, pos_label=None)
    )
    stream = np.random.SeedSequence([SEED, place, number])
    a, b = engine.draw_view(spec, spec.view, Sampling(_N_DRAWS, stream))
    apart, level = narrowest(np.sort(a - b), 0.95), narrowest(np.sort(a), 0.95)
    return Held(
        difference=apart.low <= _SHARES[0] - _SHARES[1] <= apart.high,
        level=level.low <= _SHARES[0] <= level.high,
        warned=any(one.name == "annotators_agree_little" for one in seen.findings),
    )


Found = Mapping[World, Sequence[Held]]


def table(found: Found) -> str:
    """Return one row per world."""
    head = [
        "annotators", "right", "items", "repetitions", "refused", "A − B covered", "A covered",
        "warned", "A covered, unwarned",
    ]  # fmt: skip
    rows = [
        [
            f"{world.n_annotators}",
            f"{world.right:.0%}",
            f"{world.n:,}",
            f"{len(held):,}",
            f"{sum(one.level is None for one in held)}",
            *(markdown_share(_known(held, name)) for name in ("difference", "level", "warned")),
            markdown_share(_unwarned(held)),
        ]
        for world, held in found.items()
    ]
    return markdown.table(head, rows, numbers_from=0) + (
        f"\n95% intervals of accuracies by {_N_DRAWS:,} draws, against the class that nobody saw. "
        f"A − B must be covered in {LEAST:.1%} or more. A must be covered in {LEAST_LEVEL:.0%}, or "
        f"`annotators_agree_little` come in {LEAST_WARNED:.0%} of the test sets that are not "
        f"refused; for annotators of 85% it may come in {MOST_WARNED:.0%}.\n"
    )


def markdown_share(known: Sequence[bool]) -> str:
    """Return a share in per cent, or a dash if there is nothing to share."""
    return f"{np.mean(known):.1%}" if len(known) else "–"


def _known(held: Sequence[Held], name: str) -> list[bool]:
    return [getattr(one, name) for one in held if getattr(one, name) is not None]


def _unwarned(held: Sequence[Held]) -> list[bool]:
    return [bool(one.level) for one in held if one.level is not None and not one.warned]


def failures(found: Found) -> list[str]:
    """Return the worlds that do not keep to what the table states."""
    broken = []
    for world, held in found.items():
        known = {name: _known(held, name) for name in ("difference", "level", "warned")}
        n = len(known["level"])
        if not n:
            continue
        apart, level, warned = (float(np.mean(one)) for one in known.values())
        if share_is_off(apart, n, LEAST):
            broken.append(f"weak annotators, {world.name}: {apart:.1%} of A − B covered")
        if share_is_off(level, n, LEAST_LEVEL) and share_is_off(warned, n, LEAST_WARNED):
            broken.append(
                f"weak annotators, {world.name}: {level:.1%} of A covered, {warned:.1%} warned"
            )
        if world.right >= 0.85 and share_is_off(warned, n, high=MOST_WARNED):
            broken.append(f"weak annotators, {world.name}: {warned:.1%} warned")
    return broken
