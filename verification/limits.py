"""Where the defaults end: settings in which intervals and probabilities do not hold.

Each table puts what the package says beside what is true. Nothing here must hold; the pages
on priors and slices quote these numbers as limits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import outperform as op
from outperform._typing import FloatArray, IntArray
from verification import markdown

SEED = 20_261_116
_N_DRAWS = 5_200
_N_SLICE_DRAWS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A setting: the question, of how many classes, models or slices, on how many items each."""

    kind: str
    many: int
    n: int
    effect: float
    repetitions: int = 200


LIMITS = (
    *(
        Limit(kind="classes", many=many, n=n, effect=0.25, repetitions=repetitions)
        for many, n, repetitions in (
            (20, 400, 200),
            (50, 1_000, 200),
            (200, 2_000, 100),
            (200, 20_000, 40),
        )
    ),
    Limit(kind="slice", many=50, n=100, effect=0.134),
    Limit(kind="slice", many=200, n=60, effect=0.089),
    *(
        Limit(kind="level", many=2, n=n, effect=accuracy, repetitions=1_000)
        for n, accuracy in ((100, 0.97), (228, 0.97), (228, 0.99), (1_000, 0.97))
    ),
    Limit(kind="slice", many=200, n=60, effect=0.15, repetitions=100),
)


class Difference(NamedTuple):
    """A difference of macro-F1: how far off, and whether the interval holds the truth."""

    off: float
    covered: bool
    warned: bool


class Slice(NamedTuple):
    """One bad slice, pooled and alone, and the share of the others that are called."""

    found: bool
    found_alone: bool
    named: bool
    called_equivalent: bool
    covered: bool
    covered_alone: bool
    false: float
    false_alone: float


class Level(NamedTuple):
    """One model's own accuracy in ``compare`` and in ``estimate``, and the difference."""

    off: float
    covered: bool
    covered_by_estimate: bool
    covered_difference: bool


Noted = Difference | Slice | Level


def repeat(limit: Limit, first: int, last: int) -> list[Noted]:
    """Run repetitions ``first`` to ``last`` (not included)."""
    place = LIMITS.index(limit)
    # A stream per repetition, so that chunks can be run in any order.
    return [
        _NOTE[limit.kind](limit, np.random.default_rng([SEED, place, repetition]))
        for repetition in range(first, last)
    ]


def macro_f1(prevalence: FloatArray, recall: float) -> float:
    """Return the true macro-F1 of a model whose errors fall evenly on the other classes.

    Examples
    --------
    >>> macro_f1(np.array([0.5, 0.5]), 0.75)
    0.75
    """
    hits = prevalence * recall
    falsely = (1 - prevalence) * (1 - recall) / (len(prevalence) - 1)
    return float(np.mean(2 * hits / (prevalence + hits + falsely)))


def _many_classes(limit: Limit, generator: np.random.Generator) -> Difference:
    """Compare recalls of 0.85 and 0.85 − effect on classes whose sizes follow Zipf's law."""
    prevalence = 1 / np.arange(1, limit.many + 1)
    prevalence /= prevalence.sum()
    truth = generator.choice(limit.many, limit.n, p=prevalence)
    recalls = (0.85, 0.85 - limit.effect)
    a, b = (_answers(truth, recall, limit.many, generator) for recall in recalls)
    c = op.compare(
        truth,
        *(a, b),
        metric="f1_macro",
        rope=0.01,
        labels=range(limit.many),
        n_draws=_N_DRAWS,
        random_state=generator,
    )
    true = macro_f1(prevalence, recalls[0]) - macro_f1(prevalence, recalls[1])
    return Difference(c.mean - true, true in c.hdi, "prior_pull" in _names(c))


def _answers(
    truth: IntArray, recall: float, n_classes: int, generator: np.random.Generator
) -> IntArray:
    wrong = (truth + generator.integers(1, n_classes, len(truth))) % n_classes
    found: IntArray = np.where(generator.random(len(truth)) < recall, truth, wrong)
    return found


def _one_bad_slice(limit: Limit, generator: np.random.Generator) -> Slice:
    """Compare slices of equal models, but for the first, where A is worse by ``effect``."""
    n = limit.many * limit.n
    slices = np.repeat(np.arange(limit.many), limit.n)
    right_a, right_b = _equal_models(n, 0.85, generator)
    bad = slices == 0
    right_a[bad] &= generator.random(limit.n) >= limit.effect / 0.85
    frame = pd.DataFrame({"y": True, "a": right_a, "b": right_b, "slice": slices})
    options: dict[str, Any] = {
        "metric": "accuracy",
        "rope": 0.01,
        "n_draws": _N_SLICE_DRAWS,
        "random_state": generator,
    }
    pooled = op.compare_slices(frame, truth="y", a="a", b="b", by="slice", **options)
    row = pooled["0"]
    others = [one for one in pooled if one is not row]
    return Slice(
        row.decision.symbol == "≪",
        row.unpooled_decision.symbol == "≪",
        row.decision.symbol == "≪" or row.disagrees,
        row.decision.symbol == "≈",
        -limit.effect in row.hdi,
        -limit.effect in row.unpooled_hdi,
        *(
            float(np.mean([one.symbol in "≪≫" for one in decisions]))
            for decisions in (
                [one.decision for one in others],
                [one.unpooled_decision for one in others],
            )
        ),
    )


def _equal_models(
    n: int, accuracy: float, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw right and wrong of two equally good models that agree on nine items of ten."""
    which = generator.choice(4, n, p=[accuracy - 0.05, 0.05, 0.05, 0.95 - accuracy])
    return (which == 0) | (which == 1), (which == 0) | (which == 2)


def _level(limit: Limit, generator: np.random.Generator) -> Level:
    """Ask for the accuracy of one of two nearly perfect models that fail independently."""
    right = generator.random((2, limit.n)) < limit.effect
    truth = generator.integers(0, 2, limit.n)
    a, b = np.where(right, truth, 1 - truth)
    options: dict[str, Any] = {"metric": "accuracy", "n_draws": _N_DRAWS, "random_state": generator}
    c = op.compare(truth, a, b, rope=0.01, **options)
    e = op.estimate(truth, a, **options)
    return Level(
        c.a.mean - limit.effect, limit.effect in c.a.hdi, limit.effect in e.hdi, 0 in c.hdi
    )


_NOTE: dict[str, Callable[[Limit, np.random.Generator], Noted]] = {
    "classes": _many_classes,
    "slice": _one_bad_slice,
    "level": _level,
}
_HEADERS = {
    "classes": ("classes", "items", "mean − truth", "covered", "`prior_pull` raised"),
    "slice": ("slices", "items each", "difference", "≪", "≪, alone", "≪ or named", "≈", "covered",
              "covered, alone", "others called", "others called, alone"),
    "level": ("items", "accuracy", "mean − truth", "covered", "covered by `estimate`",
              "difference covered"),
}  # fmt: skip


def tables(found: Mapping[Limit, Sequence[Noted]]) -> dict[str, str]:
    """Return one table a kind of limit; shares in per cent with their standard errors."""
    return {
        f"limits_{kind}.md": markdown.table(
            (*header, "repetitions"),
            [_row(limit, noted) for limit, noted in found.items() if limit.kind == kind],
            numbers_from=0,
        )
        for kind, header in _HEADERS.items()
    }


def _row(limit: Limit, noted: Sequence[Noted]) -> list[str]:
    values = np.array(noted, dtype=float)
    means, errors = values.mean(axis=0), values.std(axis=0) / np.sqrt(len(values))
    shares = [markdown.percent(*pair) for pair in zip(means, errors, strict=True)]
    off = f"{means[0]:+.3f} ± {errors[0]:.3f}"
    size = f"{limit.n:,}"
    row = {
        "classes": [str(limit.many), size, off, *shares[1:]],
        "slice": [str(limit.many), size, f"−{limit.effect:g}", *shares],
        "level": [size, f"{limit.effect:g}", off, *shares[1:]],
    }[limit.kind]
    return [*row, f"{len(noted):,}"]


def _names(c: op.Comparison) -> set[str]:
    return {finding.name for finding in c.findings}
