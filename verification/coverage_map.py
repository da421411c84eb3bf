"""The coverage map: how often 95% intervals hold the truth, setting by setting.

Twelve metrics by the number of classes, their balance, the number of items and how far the
models' errors go together, for the level of one model and for the difference of two. Beside
the default: the percentile bootstrap of items, and two confusion matrices with uniform priors
that know nothing of each other, as in packages that compare two posteriors.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import outperform as op
from outperform._typing import FloatArray, IntArray
from outperform.comparison.coverage import Traits, traits_of
from outperform.posterior.base import Sums
from verification import markdown
from verification.chance import share_is_off
from verification.defaults import (
    BOUNDS,
    LEAST,
    DefaultWorld,
    draw_items,
    draw_values,
    holds,
    resampled,
    true_margins,
)

SEED = 20_261_117
REPETITIONS = 1_000
METRICS = (
    *("accuracy", "balanced_accuracy", "precision_macro", "f1_macro", "jaccard_macro"),
    *("precision_weighted", "f1_weighted", "matthews_corrcoef", "cohen_kappa"),
    *("precision", "recall", "f1"),  # of the last class, the rarest of those after Zipf
)
_OF_ONE_CLASS = slice(-3, None)
WAYS = ("default", "percentile", "apart")
OF = ("level", "difference")
CLASSES = (2, 3, 10, 20, 50, 200)
ITEMS = (30, 200, 2_000, 20_000)
# What the worlds of defaults call the ways in which errors go together.
DEPENDENCE = {
    "typical": "usual",
    "independent": "independent",
    "nearly equal": "close",
    "opposed": "opposed",
}
_MOST_APART = 20  # with more classes the uniform prior has more cells than there are items
_N_DRAWS = 1_000
_TAILS = (0.025, 0.975)
_DESCRIBED = 24  # test sets that tell what those of a setting look like
RESULTS = Path(__file__).parent / "results" / "coverage_map.json"
# What `Comparison.expected_coverage` reads.
SHIPPED = Path(__file__).parents[1] / "src/outperform/comparison/coverage_map.json"

WORLDS = tuple(
    DefaultWorld(
        n_classes=n_classes, n=n, zipf=zipf, kind=kind, gap=0.01 if kind == "close" else 0.05
    )
    for n_classes, zipf, kind, n in product(CLASSES, (False, True), DEPENDENCE.values(), ITEMS)
)


def key(world: DefaultWorld) -> str:
    """Return what a world is called in the file of results."""
    (dependence,) = (name for name, kind in DEPENDENCE.items() if kind == world.kind)
    return f"{world.n_classes} {'zipf' if world.zipf else 'even'} {world.n} {dependence}"


def values_of(sums: Sums) -> FloatArray:
    """Return every metric of drawn margins, ``(n_metrics, n_draws)``; 0/0 is 0."""
    total = sums.actual.sum(axis=0)
    hits, actual, predicted = (part / total for part in sums)
    right, chance = hits.sum(axis=0), (actual * predicted).sum(axis=0)
    precision, recall = _ratio(hits, predicted), _ratio(hits, actual)
    f1 = _ratio(2 * hits, actual + predicted)
    room = (1 - (actual**2).sum(axis=0)) * (1 - (predicted**2).sum(axis=0))
    found: FloatArray = np.stack(
        [
            right,
            recall.mean(axis=0),
            precision.mean(axis=0),
            f1.mean(axis=0),
            _ratio(hits, actual + predicted - hits).mean(axis=0),
            (actual * precision).sum(axis=0),
            (actual * f1).sum(axis=0),
            _ratio(right - chance, np.sqrt(np.maximum(room, 0.0))),
            _ratio(right - chance, 1 - chance),
            precision[-1],
            recall[-1],
            f1[-1],
        ]
    )
    return found


def _ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    return np.divide(top, bottom, out=np.zeros_like(bottom), where=bottom > 1e-15)


def repeat(world: DefaultWorld, first: int, last: int) -> list[FloatArray]:
    """Run repetitions ``first`` to ``last`` (not included); each gives ``(n_ways, 2, n_metrics)``.

    An entry is 1 where the interval holds, 0 where it does not, NaN where the way was not run.
    """
    return [_held(world, number) for number in range(first, last)]


def _generator(world: DefaultWorld, number: int) -> np.random.Generator:
    return np.random.default_rng([SEED, WORLDS.index(world), number])


def _held(world: DefaultWorld, number: int) -> FloatArray:
    generator = _generator(world, number)
    truth = np.stack([values_of(one)[:, 0] for one in true_margins(world, number)])
    y_true, a, b = draw_items(world, number, generator)
    seen = _counted(y_true, a, b, n_classes=world.n_classes)
    held = np.full((len(WAYS), len(OF), len(METRICS)), np.nan)
    drawn = draw_default(y_true, a, b, world.n_classes, generator)
    held[0] = holds(drawn[0], truth[0]), holds(drawn[0] - drawn[1], truth[0] - truth[1])
    held[1] = _within_tails(resampled(seen, generator, values_of), truth)
    if world.n_classes <= _MOST_APART:
        held[2] = _within_tails(_apart(y_true, (a, b), world.n_classes, generator), truth)
    return held


def draw_default(
    y_true: IntArray, a: IntArray, b: IntArray, n_classes: int, generator: np.random.Generator
) -> FloatArray:
    """Draw both models' metrics as `compare` does, ``(2, n_metrics, n_draws)``."""
    seen = _counted(y_true, a, b, n_classes=n_classes)
    drawn = draw_values(seen, "learned", generator, values_of)
    if n_classes > 2:  # one class is taken against the rest
        truth, *said = ((one == n_classes - 1).astype(np.int64) for one in (y_true, a, b))
        of_last = draw_values(_counted(truth, *said, n_classes=2), "learned", generator, values_of)
        drawn[:, _OF_ONE_CLASS] = of_last[:, _OF_ONE_CLASS]
    return drawn


def _counted(y_true: IntArray, a: IntArray, b: IntArray, *, n_classes: int) -> op.Outcomes:
    return op.Outcomes.from_labels(y_true, {"A": a, "B": b}, labels=list(range(n_classes)))


def _within_tails(drawn: FloatArray, truth: FloatArray) -> list[FloatArray]:
    found = []
    for draws, true in ((drawn[0], truth[0]), (drawn[0] - drawn[1], truth[0] - truth[1])):
        low, high = np.quantile(draws, _TAILS, axis=1)
        found.append(((low <= true) & (true <= high)).astype(np.float64))
    return found


def _apart(
    y_true: np.ndarray,
    predictions: Sequence[np.ndarray],
    n_classes: int,
    generator: np.random.Generator,
) -> FloatArray:
    """Draw each model's confusion matrix by itself, uniform a priori."""
    found = []
    for one in predictions:
        counts = np.bincount(n_classes * y_true + one, minlength=n_classes**2)
        drawn = generator.standard_gamma(counts + 1.0, (_N_DRAWS, n_classes**2))
        table = drawn.reshape(_N_DRAWS, n_classes, n_classes)
        hits = np.diagonal(table, axis1=1, axis2=2)
        found.append(values_of(Sums(hits.T, table.sum(axis=2).T, table.sum(axis=1).T)))
    return np.stack(found)


Found = dict[DefaultWorld, list[FloatArray]]


Results = dict[str, dict[str, Any]]


def count(found: Found, commit: str) -> Results:
    """Return how often the intervals of each setting that was run held."""
    counted = {}
    for world, held in found.items():
        sums = np.sum(held, axis=0)
        counted[key(world)] = {"repetitions": len(held), "commit": commit} | {
            way: dict(zip(OF, sums[place].astype(int).tolist(), strict=True))
            for place, way in enumerate(WAYS)
            if not np.isnan(sums[place]).any()
        }
    return counted


def merge(counted: Results) -> Results:
    """Return what is known of each setting; what is known better stays."""
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for name, one in counted.items():
        if one["repetitions"] >= known.get(name, {"repetitions": 0})["repetitions"]:
            known[name] = one
    return {key(world): known[key(world)] for world in WORLDS if key(world) in known}


def stored(known: Results) -> str:
    """Return the file of results, a line for each setting."""
    lines = (f"{json.dumps(name)}: {json.dumps(one)}" for name, one in known.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def described(world: DefaultWorld) -> dict[str, float]:
    """Return what the first test sets of a setting look like, in the mean.

    That is what tells which setting is nearest to other data: how even the classes are, how far
    right answers of both models are correlated, and how often a model is right.
    """
    ones = np.ones(world.n, dtype=np.int64)
    sets = [draw_items(world, number, _generator(world, number)) for number in range(_DESCRIBED)]
    found = [traits_of(truth, a, b, ones, world.n_classes) for truth, a, b in sets]
    return dict(zip(Traits._fields, np.mean(found, axis=0).round(4).tolist(), strict=True))


def shipped(known: Results) -> str:
    """Return the file of the package: what the default held, and what each setting looks like."""
    lines = []
    for world in WORLDS:
        if key(world) in known:
            one = known[key(world)]
            n_classes, balance, items, dependence = key(world).split(maxsplit=3)
            setting = {
                "classes": int(n_classes),
                "balance": balance,
                "items": int(items),
                "dependence": dependence,
                **described(world),
                "repetitions": one["repetitions"],
                **one["default"],
            }
            lines.append(json.dumps(setting))
    settings = ",\n".join(lines)
    return f'{{"metrics": {json.dumps(METRICS)},\n"settings": [\n{settings}\n]}}\n'


def table(known: Results) -> str:
    """Return, for each number of classes, how settings with few and with enough errors fare."""
    head = ["classes", "items of the rarest", "settings", "test sets each"]
    head += [f"{way}: {of}" for of in OF for way in WAYS]
    rows = []
    for group in product(CLASSES, (False, True), (True, False)):
        n_classes, dense, _ = group
        worlds = [
            one
            for world in WORLDS
            if (one := known.get(key(world)))
            and (world.n_classes, _is_dense(world), _is_whole(one)) == group
        ]
        if worlds:
            n = [one["repetitions"] for one in worlds]
            shown = f"≥ {_RAREST}" if dense else f"< {_RAREST}"
            row = [f"{n_classes}", shown, f"{len(worlds) * len(METRICS)}"]
            row.append(f"{min(n):,}" if min(n) == max(n) else f"{min(n):,} to {max(n):,}")
            rows.append(row + [_middle(worlds, of, way) for of in OF for way in WAYS])
    whole = len(METRICS) * sum(map(_is_whole, known.values()))
    return markdown.table(head, rows, numbers_from=2) + (
        "\nCoverage of 95% intervals in per cent: median of the settings (lowest to highest). "
        f"{whole:,} of {len(METRICS) * len(WORLDS):,} settings have {REPETITIONS:,} test sets "
        "each.\n"
    )


# With so many items of the rarest class a model makes ten errors in it, about.
_RAREST = 40


def _is_dense(world: DefaultWorld) -> bool:
    return world.rarest >= _RAREST


def _is_whole(one: Mapping[str, Any]) -> bool:
    return bool(one["repetitions"] >= REPETITIONS)


def _middle(worlds: Sequence[Mapping[str, Any]], of: str, way: str) -> str:
    if any(way not in one for one in worlds):
        return "–"
    shares = 100 * np.concatenate([np.array(one[way][of]) / one["repetitions"] for one in worlds])
    return f"{np.median(shares):.1f} ({shares.min():.0f}–{shares.max():.0f})"


def failures(known: Results) -> list[str]:
    """Return where the default's intervals hold too rarely, or too often.

    Where a model makes ten errors or more in the rarest class, all must hold within the bounds;
    where it makes fewer, they must not be far off.
    """
    failed = []
    for world in WORLDS:
        one = known.get(key(world))
        if one is None:
            continue
        low, high = BOUNDS if _is_dense(world) else (LEAST, 1.0)
        for of in OF:
            shares = np.array(one["default"][of]) / one["repetitions"]
            failed += [
                f"{of} of {metric}, {key(world)}: {share:.3f}"
                for metric, share in zip(METRICS, shares.tolist(), strict=True)
                if share_is_off(share, one["repetitions"], low, high)
            ]
    return failed
