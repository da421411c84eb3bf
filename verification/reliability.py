"""Do probabilities come true? What is claimed with 70% must happen in 70% of the cases.

P(A is better), P(equivalent) and the probability of the null that a Bayes factor gives, on even
odds, held against what was true. Truths are drawn from the model's own prior, where claims must
come true as they stand; and from populations of similar models that no prior of the package
knows, where bold claims must not be too bold.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

import outperform as op
from outperform._typing import FloatArray, IntArray
from verification import markdown
from verification.chance import LEVEL, share_is_off
from verification.claims import judge_claims
from verification.decisions import CELLS, difference, kinds_of, right_together
from verification.defaults import METRICS as OF_CLASSES
from verification.defaults import DefaultWorld, draw_items, true_values

SEED = 20_261_121
REPETITIONS = 2_000
ROPE = 0.02
CLAIMS = ("P(A is better)", "P(equivalent)", "P(null)")
BINS = (0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)
# Of claims above 95% that are not of the own prior, so many must come true.
_BOLD, _LEAST = 0.95, 0.94
_PREVALENCE, _APART, _CLASSES = 0.3, 0.05, 5
_N_DRAWS = 4_000
STORED = Path(__file__).parents[1] / "docs" / "figures" / "reliability.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimWorld:
    """Where truths come from, the metric, and how many items a test set has.

    ``"prior"``: that of the model; ``"hypotheses"``: the null or the alternative, by a coin, and
    then its part of that prior; ``"models"``: pairs of similar models.
    """

    truths: Literal["prior", "hypotheses", "models"]
    metric: str
    n: int

    @property
    def name(self) -> str:
        """What to call it in a failure."""
        return f"{self.metric}, {self.n:,} items, {self.truths}"


WORLDS = (
    ClaimWorld(truths="prior", metric="accuracy", n=200),
    ClaimWorld(truths="hypotheses", metric="accuracy", n=200),
    *(
        ClaimWorld(truths="models", metric=metric, n=n)
        for metric in ("accuracy", "f1")
        for n in (200, 1_000)
    ),
    ClaimWorld(truths="models", metric="f1_macro", n=500),
)

Claim = tuple[str, float, bool]
"""What is claimed, how probable it is said to be, and whether it is so."""


def repeat(world: ClaimWorld, first: int, last: int) -> list[list[Claim]]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    return [_claims(world, number) for number in range(first, last)]


def _claims(world: ClaimWorld, number: int) -> list[Claim]:
    rng = np.random.default_rng([SEED, WORLDS.index(world), number])
    if world.truths == "models":
        draw = _classes if world.metric == "f1_macro" else _models
        seen, truth = draw(world, number, rng)
        c = op.compare(
            seen,
            *("A", "B"),
            metric=world.metric,
            rope=ROPE,
            n_draws=_N_DRAWS,
            random_state=rng,
            n_jobs=1,
        )
    else:
        shares = draw_shares(world.truths, rng)
        truth = float(shares[0] - shares[1])
        c = op.compare(
            _right_or_wrong(rng.multinomial(world.n, shares)),
            *("A", "B"),
            metric="accuracy",
            rope=ROPE,
            prior="uniform",
        )
    equivalent = abs(truth) <= ROPE
    if world.truths == "hypotheses" and c.bayes_factor is not None:
        return [("P(null)", 1 / (1 + c.bayes_factor.bf10), equivalent)]
    return [
        ("P(A is better)", c.p_greater, truth > 0),
        ("P(equivalent)", c.p_equivalent, equivalent),
    ]


def draw_shares(truths: str, rng: np.random.Generator) -> FloatArray:
    """Draw how often only A, only B and both or none are right, a priori."""
    null = rng.random() < 0.5
    while True:
        shares: FloatArray = rng.dirichlet((1, 1, 2))
        if truths == "prior" or (abs(shares[0] - shares[1]) <= ROPE) == null:
            return shares


def _right_or_wrong(counts: IntArray) -> op.Outcomes:
    a, b = np.repeat([[1, 0, 1], [0, 1, 1]], counts, axis=1)
    return op.Outcomes.from_correct({"A": a, "B": b})


def _models(world: ClaimWorld, _: int, rng: np.random.Generator) -> tuple[op.Outcomes, float]:
    """Draw two models of two classes, and what they say."""
    given = []
    for alpha, beta in ((27, 3), (15, 5)):  # of the negative class, of the positive
        b = rng.beta(alpha, beta)
        a = float(np.clip(b + rng.normal(0, _APART), 0.02, 0.98))
        given.append(right_together(a, b))
    population = kinds_of(_PREVALENCE, *given)
    counts = rng.multinomial(world.n, population)
    y, a, b = CELLS.T
    seen = op.Outcomes.from_counts(y, {"A": a, "B": b}, counts, labels=[0, 1])
    return seen, float(difference(population[None], world.metric)[0])


def _classes(world: ClaimWorld, number: int, rng: np.random.Generator) -> tuple[op.Outcomes, float]:
    """Draw two models of several classes that are equally good in the mean of all pairs."""
    population = DefaultWorld(n_classes=_CLASSES, n=world.n, zipf=True, gap=0.0)
    y, a, b = draw_items(population, number, rng)
    values = true_values(population, number)[:, OF_CLASSES.index(world.metric)]
    seen = op.Outcomes.from_labels(y, {"A": a, "B": b}, labels=list(range(_CLASSES)))
    return seen, float(values[0] - values[1])


Found = Mapping[ClaimWorld, Sequence[Sequence[Claim]]]


def pairs_of(ones: Sequence[Sequence[Claim]]) -> dict[str, FloatArray]:
    """Return what was claimed and whether it was so, ``(2, n_claims)`` by claim."""
    return {
        claim: np.array([pair for one in ones for name, *pair in one if name == claim], float).T
        for claim in CLAIMS
        if any(name == claim for name, *_ in ones[0])
    }


class Bin(NamedTuple):
    """Claims of about one strength: their mean, how many came true, the error of that."""

    claimed: float
    came_true: float
    error: float
    n: int


def curve(claimed: FloatArray, happened: FloatArray) -> list[Bin | None]:
    """Return each of BINS; None where nothing was claimed."""
    found: list[Bin | None] = []
    for low, high in pairwise(BINS):
        here = (claimed >= low) & ((claimed < high) | (high == 1.0))
        n = int(here.sum())
        if not n:
            found.append(None)
            continue
        share, said = float(happened[here].mean()), float(claimed[here].mean())
        found.append(Bin(said, share, float(np.sqrt(max(said * (1 - said), 1e-12) / n)), n))
    return found


def table(found: Found) -> str:
    """Return what came true of claims of each strength, in per cent."""
    head = ["claim", "truths from", "metric", "items"]
    head += [f"{100 * low:.0f} to {100 * high:.0f}%" for low, high in pairwise(BINS)]
    rows = []
    for claim in CLAIMS:
        for world, ones in found.items():
            pairs = pairs_of(ones)
            if claim in pairs:
                cells = [
                    "–" if one is None else f"{100 * one.claimed:.1f}: {_came_true(one)}"
                    for one in curve(*pairs[claim])
                ]
                rows.append([claim, _FROM[world.truths], world.metric, f"{world.n:,}", *cells])
    n = min(len(ones) for ones in found.values())
    return markdown.table(head, rows, numbers_from=3) + (
        "\nThe mean claim of each bin, how many came true, and the standard error of that if "
        f"claims are right; {n:,} test sets a row.\n"
    )


def _came_true(one: Bin) -> str:
    return markdown.percent(one.came_true, one.error)


_FROM = {"prior": "the prior", "hypotheses": "null or alternative", "models": "similar models"}


def stored(found: Found) -> str:
    """Return what the figure draws."""
    rows = [
        {"claim": claim, "truths": world.truths, "metric": world.metric, "n": world.n, "bins": bins}
        for world, ones in found.items()
        for claim, pair in pairs_of(ones).items()
        for bins in [[[round(of, 4) for of in one] for one in curve(*pair) if one]]
    ]
    return json.dumps(rows, indent=1) + "\n"


def failures(found: Found) -> list[str]:
    """Return where claims of the own prior do not come true, and bold ones of others too rarely."""
    failed = []
    for world, ones in found.items():
        for claim, (claimed, happened) in pairs_of(ones).items():
            if world.truths != "models":
                worst = min(judge_claims(claimed, happened).values())
                if worst < LEVEL:
                    failed.append(f"{claim}, {world.name}: p = {worst:.2g}")
                continue
            bold = np.maximum(claimed, 1 - claimed) >= _BOLD
            right = np.where(claimed >= 0.5, happened, 1 - happened)[bold]
            if share_is_off(float(right.mean()) if right.size else 1.0, right.size, _LEAST):
                failed.append(f"{claim}, {world.name}: bold claims came true in {right.mean():.1%}")
    return failed
