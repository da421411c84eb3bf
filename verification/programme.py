"""The programme: what is run, at which size, what must hold, and the tables made of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import outperform as op
from outperform.errors import MissingExtraError, require
from verification import (
    annotators,
    anytime,
    batches,
    best,
    blocked,
    blocked_tables,
    calibration,
    clusters,
    collapses,
    coverage,
    coverage_map,
    curves,
    damage,
    dataset_scores,
    decisions,
    defaults,
    disagreement,
    disagreement_tables,
    drawn,
    engine_tables,
    engines,
    exactness,
    few_items,
    fold_scores,
    honesty,
    influence,
    judges,
    label_errors,
    label_set_tables,
    label_sets,
    learned_worlds,
    levels,
    limits,
    markdown,
    mass,
    more_data,
    multiclass,
    noise,
    plans,
    plants,
    pool_shares,
    power,
    predicted,
    prevalence,
    prevalence_tables,
    promises,
    proposed,
    quarters,
    ranked_pairs,
    ranks,
    rare_labels,
    records,
    releases,
    reliability,
    runs,
    score_tables,
    scorecards,
    scores,
    slice_classes,
    slice_groups,
    slice_kinds,
    slice_tables,
    slices,
    spans,
    stopping,
    suite_best,
    suites,
    sums,
    tails,
    true_shares,
    votes,
    weak_annotators,
    weak_spots,
    weights,
    winner,
    worlds,
)
from verification.chance import share_is_off, spread_is_off
from verification.spreading import Machine, Repeat, Unfinished, spread, spread_worlds

# The chance that a run of all calibrations without any fault raises an alarm.
BUDGET = 1e-3
ITEMS = (0, 1, 5, 50, 500)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much of everything is run; worlds of more ``classes`` are left out of grids of them."""

    simulations: int = 20_000
    plant_simulations: int = 20_000
    long_simulations: int = 20_000
    repetitions: int = 1_000
    seeds: int = 1_000
    runs: int = 2_000
    training_sets: int = 1_000
    slices: int = 10_000
    test_sets: int = 2_000
    pair_test_sets: int = 2_000
    power_runs: int = 400
    projects: int = 2_000
    pilots: int = 200
    quarters: int = 30
    futures: int = 8_000
    experiments: int = 20_000
    damages: int = 100_000
    classes: int = 1_000
    machine: Machine = field(default_factory=Machine)


# Enough to see that everything runs and that nothing is far off.
QUICK = Sizes(
    simulations=100,
    plant_simulations=20_000,
    long_simulations=200,
    repetitions=20,
    seeds=50,
    runs=20,
    training_sets=20,
    slices=200,
    test_sets=20,
    pair_test_sets=500,
    power_runs=20,
    projects=20,
    pilots=2,
    quarters=2,
    futures=500,
    experiments=1_000,
    damages=40,
    classes=3,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part's tables, by file name, what did not hold, and what figures draw.

    ``unfinished`` says what is left to run, ``skipped`` why nothing could be run; a part that has
    either is not recorded as run.
    """

    tables: dict[str, str]
    failures: list[str]
    data: dict[Path, str] = field(default_factory=dict)
    unfinished: str = ""
    skipped: str = ""


def all_worlds() -> list[worlds.World]:
    """Return every prior of the package."""
    World, LearnedWorld = worlds.World, learned_worlds.LearnedWorld
    skewed = op.Prior(rows=[[2.0, 0.7], [0.4, 1.5]], prevalence=[3.0, 0.8])
    skewed_3 = op.Prior(rows=[[2.0, 0.3, 1.0], [0.5, 3.0, 0.5], [0.2, 0.9, 1.4]], prevalence=0.7)
    binary = World(prior="uniform", n_classes=2)
    shapes = (binary, replace(binary, n_models=2, paired=False), replace(binary, n_models=2))
    unit, pair = World(prior="unit", n_classes=3), World(prior="unit", n_classes=3, n_models=2)
    hierarchical = World(prior="hierarchical", n_classes=3)
    return [
        *(replace(one, prior=prior) for one in shapes for prior in ("uniform", "jeffreys", skewed)),
        *(World(prior=one, n_classes=3) for one in ("uniform", "jeffreys", skewed_3)),
        World(prior="uniform", n_classes=10),
        unit,
        replace(unit, n_classes=10),
        replace(unit, n_classes=10, sticks=True),
        hierarchical,
        replace(hierarchical, n_classes=10),
        LearnedWorld(n_classes=3),
        pair,
        replace(pair, sticks=True),
        replace(hierarchical, n_models=2),
        LearnedWorld(n_classes=3, listed=True),
        LearnedWorld(n_classes=10),
    ]


def run_exactness(sizes: Sizes) -> Part:
    """Hold closed forms against golden values of fifty digits; it takes seconds at any size."""
    found = exactness.measure()
    return Part(
        tables={"closed_forms.md": exactness.table(found)}, failures=exactness.failures(found)
    )


def run_calibration(sizes: Sizes) -> Part:
    """Calibrate every world at every number of items."""
    return _calibrate(all_worlds(), "calibration", sizes)


def run_calibration_default(sizes: Sizes) -> Part:
    """Calibrate what two classes have by default, one model and two on the same items."""
    unit = worlds.World(prior="unit", n_classes=2)
    return _calibrate([unit, replace(unit, n_models=2)], "calibration-default", sizes)


def _calibrate(chosen: Sequence[worlds.World], name: str, sizes: Sizes) -> Part:
    settings = [
        calibration.Setting(world=world, n=n, simulations=sizes.simulations, seed=100 * place + n)
        for place, world in enumerate(chosen)
        for n in ITEMS
        if world.serves(n)
    ]
    found = spread(name, calibration.calibrate, settings, sizes.machine)
    return _calibrated(found, f"{name.replace('-', '_')}.md", sizes.simulations)


def _calibrated(found: Sequence[calibration.Calibration], file: str, simulations: int) -> Part:
    by_world: dict[str, list[calibration.Calibration]] = {}
    for one in found:
        by_world.setdefault(one.setting.world.name, []).append(one)
    rows = [_calibration_row(name, group) for name, group in by_world.items()]
    adjusted = calibration.smallest_adjusted(found)
    n_tests = sum(len(one.p_values) for one in found)
    header = ("prior", "p-values", "smallest", "of", "by", "items")
    text = markdown.table(header, rows) + (
        f"\n{len(found)} configurations of {simulations:,} simulations each, {n_tests:,} "
        f"p-values; the smallest after Holm's correction over all of them is "
        f"{markdown.p_value(adjusted)} and must be above {BUDGET:g}.\n"
    )
    failures = [] if adjusted > BUDGET else [f"{file}: Holm p {adjusted:.2g}"]
    return Part(tables={file: text}, failures=failures)


def _calibration_row(name: str, group: Sequence[calibration.Calibration]) -> list[str]:
    worst = min(group, key=lambda one: one.smallest)
    p, quantity, test = worst.smallest
    n_tests = sum(len(one.p_values) for one in group)
    shown = (markdown.p_value(p), quantity, test.replace("_", " "), str(worst.setting.n))
    return [name, f"{n_tests:,}", *shown]


def run_plants(sizes: Sizes) -> Part:
    """Calibrate with each planted bug in place; every one must be rejected."""
    # Tables of three classes take fifty times as long.
    most = max(sizes.simulations, _FEW_PLANTED)
    bugs = [one for one in plants.PLANTS if one.world.n_classes == 2 or one.needs <= most]
    found = spread("plants", _plant, _planted(bugs, sizes), sizes.machine)
    return _rejected(bugs, found, "plants.md", left_out=len(plants.PLANTS) - len(bugs))


_FEW_PLANTED = 500


def _planted(bugs: Sequence[plants.Plant], sizes: Sizes) -> list[tuple[plants.Plant, int, int]]:
    """Return what is to be calibrated: each bug as often as it needs, or as is asked for."""
    return [(bug, min(bug.needs, sizes.plant_simulations), place) for place, bug in enumerate(bugs)]


def _rejected(
    bugs: Sequence[plants.Plant],
    found: Sequence[calibration.Calibration],
    file: str,
    *,
    left_out: int,
) -> Part:
    rows, failures = [], []
    for plant, one in zip(bugs, found, strict=True):
        p, quantity, test = one.smallest
        caught = one.adjusted < BUDGET
        if not caught:
            failures.append(f"planted bug {plant.name!r} was not found: Holm p {one.adjusted:.2g}")
        model = plant.world.name
        size = f"{one.setting.simulations:,}"
        shown = (str(plant.n), size, markdown.p_value(p), quantity, test.replace("_", " "))
        rows.append([plant.name, model, *shown, "yes" if caught else "**no**"])
    header = ("planted bug", "prior", "items", "simulations", "smallest p", "of", "by", "found")
    text = markdown.table(header, rows, numbers_from=2)
    if left_out:
        text += f"\n{left_out} bugs need more simulations than were asked for, and were left out.\n"
    return Part(tables={file: text}, failures=failures)


def _plant(task: tuple[plants.Plant, int, int]) -> calibration.Calibration:
    plant, size, seed = task
    return plant.calibrate(size, seed)


def run_multiclass(sizes: Sizes) -> Part:
    """Calibrate many classes paired and many models ranked at length, and plant bugs there."""
    settings = multiclass.settings(sizes.long_simulations)
    found = spread("multiclass", calibration.calibrate, settings, sizes.machine)
    held = _calibrated(found, "multiclass.md", sizes.long_simulations)
    bugs = [one for one in multiclass.PLANTS if one.needs <= sizes.long_simulations]
    planted = spread("bugs", _plant, _planted(bugs, sizes), sizes.machine)
    left_out = len(multiclass.PLANTS) - len(bugs)
    caught = _rejected(bugs, planted, "multiclass_plants.md", left_out=left_out)
    return Part(tables=held.tables | caught.tables, failures=held.failures + caught.failures)


def run_coverage(sizes: Sizes) -> Part:
    """Resample 20 Newsgroups and count how often intervals hold the truth."""
    repetitions = dict.fromkeys(coverage.SIZES, sizes.repetitions)
    hits = spread_worlds("coverage", coverage.repeat, repetitions, sizes.machine)
    found = coverage.summarise([hit for group in hits.values() for hit in group])
    failures = []
    for row in found:
        bounds = coverage.gate(row)
        if bounds is not None and share_is_off(row.covered, row.repetitions, *bounds):
            failures.append(
                f"coverage of {row.what} at {row.n} under {row.road}: {row.covered:.3f}"
            )
    roads = [road for road, _, _ in coverage.DIFFERENCES]
    return Part(
        tables={
            "coverage_differences.md": _coverage_table(found, "A − B", roads),
            "coverage_levels.md": _coverage_table(found, "classifier", list(coverage.LEVELS)),
        },
        failures=failures,
    )


def _coverage_table(found: Sequence[coverage.Coverage], first: str, roads: Sequence[str]) -> str:
    pairs = first == "A − B"
    rows: dict[tuple[str, int], dict[str, coverage.Coverage]] = {}
    for one in found:
        if ("−" in one.what) == pairs:
            rows.setdefault((one.what, one.n), {})[one.road] = one
    ordered = sorted(rows.items(), key=lambda item: item[0][1])
    lines = []
    for (what, n), group in ordered:
        cells = [
            f"{markdown.percent(group[road].covered, group[road].error)} "
            f"({group[road].width:.3f}, {group[road].bias:+.3f})"
            for road in roads
        ]
        lines.append([what, f"{n:,}", *cells])
    return markdown.table((first, "items", *roads), lines)


def run_honesty(sizes: Sizes) -> Part:
    """Repeat comparisons from many seeds: are their errors true, their decisions flagged?"""
    step = 50
    tasks = [
        (place, range(first, min(first + step, sizes.seeds)))
        for place in range(len(honesty.CASES))
        for first in range(0, sizes.seeds, step)
    ]
    runs: dict[int, list[Any]] = {}
    for (place, _), chunk in zip(
        tasks, spread("honesty", _run_case, tasks, sizes.machine), strict=True
    ):
        runs.setdefault(place, []).extend(chunk)
    found = [row for place, group in runs.items() for row in honesty.judge_case(place, group)]
    failures = [
        f"{row.case}: the error of {row.number} is off by {row.ratio:.2f}"
        for row in found
        if spread_is_off(row.ratio, row.seeds, *row.bounds)
    ]
    flips, more = _flips(sizes)
    tables = {"honesty.md": _honesty_table(found), "flips.md": flips}
    return Part(tables=tables, failures=failures + more)


def _run_case(task: tuple[int, range]) -> list[Any]:
    return honesty.run_case(*task)


def _honesty_table(found: Sequence[honesty.Honesty]) -> str:
    numbers = list(dict.fromkeys(row.number for row in found))
    ratios = {(row.case, row.number): row.ratio for row in found}
    rows = []
    for case in dict.fromkeys(row.case for row in found):
        shown = (ratios.get((case, number)) for number in numbers)
        rows.append([case, *("" if ratio is None else f"{ratio:.2f}" for ratio in shown)])
    return markdown.table(("comparison", *numbers), rows)


def _flips(sizes: Sizes) -> tuple[str, list[str]]:
    near = spread("edges", honesty.sigir_edges, coverage.PAIRS, sizes.machine)
    edges = [edge for group in near for edge in group] + honesty.leaning_edges()
    found = spread("flips", _count, [(edge, sizes.seeds) for edge in edges], sizes.machine)
    rows = [
        [
            one.what,
            " ".join(f"{symbol} {count}" for symbol, count in one.decisions.items()),
            str(one.flagged),
            str(one.unflagged_flips),
        ]
        for one in found
    ]
    failures = [
        f"{one.what}: {one.unflagged_flips} decisions changed with the seed and carry no flag"
        for one in found
        if one.unflagged_flips
    ]
    return markdown.table(
        ("comparison", "decisions", "flagged", "changed, not flagged"), rows
    ), failures


def _count(task: tuple[honesty.Edge, int]) -> honesty.Flips:
    return honesty.count_flips(*task)


def run_blocked(sizes: Sizes) -> Part:
    """Cross-validate equal learners: are intervals true, and are unstable learners noticed?"""
    runs = dict.fromkeys(blocked.MAIN, sizes.runs)
    runs[blocked.DRAWN] = min(sizes.runs, blocked.DRAWN_RUNS)
    runs |= dict.fromkeys(blocked.LIMITS, min(sizes.runs, blocked.LIMITS_RUNS))
    truths = _blocked_truths(list(runs), sizes)
    noted = spread_worlds("blocked", blocked.repeat, runs, sizes.machine)
    rows = {world: blocked.summarise(world, noted[world], truths[world]) for world in runs}
    return Part(tables=blocked_tables.tables(rows), failures=blocked_tables.failures(rows))


def _blocked_truths(
    worlds: Sequence[blocked.World], sizes: Sizes
) -> dict[blocked.World, tuple[float, float]]:
    """Return the true F1 of A and of B in each world; those that agree are found once."""
    cases = {
        (world.stream, learner): (world, learner, sizes.training_sets)
        for world in worlds
        for learner in world.learners
    }
    found = dict(
        zip(cases, spread("truths", _truth, list(cases.values()), sizes.machine), strict=True)
    )
    return {
        world: (found[world.stream, world.learners[0]], found[world.stream, world.learners[1]])
        for world in worlds
    }


def _truth(task: tuple[blocked.World, str, int]) -> float:
    return blocked.true_f1(*task)


def run_slices(sizes: Sizes) -> Part:
    """Compare thousands of slices: false calls where all are equal, and what is found."""
    tasks = [(world, sizes.slices, 1 + place) for place, world in enumerate(slices.WORLDS)]
    found = dict(
        zip(slices.WORLDS, spread("slices", slices.run, tasks, sizes.machine), strict=True)
    )
    tasks = [(world, sizes.slices, 1 + place) for place, world in enumerate(slices.FEW)]
    traded = dict(
        zip(slices.FEW, spread("doubts", slices.trade, tasks, sizes.machine), strict=True)
    )
    tables = {
        "slices.md": slice_tables.table(found, sizes.slices),
        "slices_doubt.md": slice_tables.trades(traded, sizes.slices),
    }
    failures = slice_tables.failures(found, sizes.slices)
    most = max(1, min(slice_classes.REPETITIONS, sizes.test_sets // 2))
    repetitions = dict.fromkeys(slice_classes.WORLDS, most)
    noted = spread_worlds("classes", slice_classes.repeat, repetitions, sizes.machine, step=10)
    tables["slices_classes.md"] = slice_classes.table(noted)
    return Part(tables=tables, failures=[*failures, *slice_classes.failures(noted)])


def run_limits(sizes: Sizes) -> Part:
    """Measure where the defaults end; nothing must hold there, so half as many say enough."""
    most = max(1, sizes.test_sets // 2)
    repetitions = {limit: min(limit.repetitions, most) for limit in limits.LIMITS}
    found = spread_worlds("limits", limits.repeat, repetitions, sizes.machine)
    return Part(tables=limits.tables(found), failures=[])


def run_fold_scores(sizes: Sizes) -> Part:
    """Draw scores of folds, or cross-validate: do the intervals hold the true difference?"""
    repetitions = {one: min(one.repetitions, sizes.test_sets) for one in fold_scores.WORLDS}
    found = spread_worlds("fold-scores", fold_scores.repeat, repetitions, sizes.machine)
    return Part(tables=fold_scores.tables(found), failures=fold_scores.failures(found))


def run_defaults(sizes: Sizes) -> Part:
    """Draw test sets of 2 to 1,000 classes: do the default's intervals hold the truth?"""
    repetitions = dict.fromkeys(_up_to(sizes.classes, defaults.WORLDS), sizes.test_sets)
    found = spread_worlds("defaults", defaults.repeat, repetitions, sizes.machine)
    return Part(tables=defaults.tables(found), failures=defaults.failures(found))


def _up_to(classes: int, worlds: Sequence[defaults.DefaultWorld]) -> list[defaults.DefaultWorld]:
    return [world for world in worlds if world.n_classes <= classes]


def run_map(sizes: Sizes) -> Part:
    """Draw test sets of every setting: how often do intervals hold?

    Settings whose chunks are all here are counted, also while others are not run.
    """
    n = min(sizes.repetitions, coverage_map.REPETITIONS)
    every = dict.fromkeys(_up_to(sizes.classes, coverage_map.WORLDS), n)
    kept = sizes.machine.chunks is not None
    found: coverage_map.Found = {}
    for some in [{world: n} for world in every] if kept else [every]:
        with suppress(Unfinished):
            found |= spread_worlds("map", coverage_map.repeat, some, sizes.machine)
    counted = coverage_map.count(found, records.commit())
    known = coverage_map.merge(counted)
    lacking = len(every) - len(found)
    return Part(
        tables={"map.md": coverage_map.table(known)},
        # What was run now is judged, even where more test sets were drawn before.
        failures=coverage_map.failures(known | counted),
        unfinished=f"map: {len(found)} of {len(every)} settings are finished" if lacking else "",
        data={
            coverage_map.RESULTS: coverage_map.stored(known),
            coverage_map.SHIPPED: coverage_map.shipped(known),
        },
    )


def run_noise(sizes: Sizes) -> Part:
    """Run models again: do gates flip as often as predicted, do intervals of the noise hold?"""
    repetitions = dict.fromkeys(noise.WORLDS, min(noise.REPETITIONS, sizes.test_sets))
    found = spread_worlds("noise", noise.repeat, repetitions, sizes.machine)
    return Part(tables={"noise.md": noise.table(found)}, failures=noise.failures(found))


def run_best(sizes: Sizes) -> Part:
    """Rank models that are more or less alike: does P(best) come true, is the leader's value?"""
    repetitions = dict.fromkeys(best.WORLDS, min(best.REPETITIONS, sizes.test_sets))
    found = spread_worlds("best", best.repeat, repetitions, sizes.machine)
    return Part(
        tables={"best.md": best.table(found), "best_claims.md": best.claims_table(found)},
        failures=best.failures(found),
        data={best.STORED: best.stored(found)},
    )


def run_winner(sizes: Sizes) -> Part:
    """Choose the best of many on the test set: do intervals hold, how often is ≫ false?"""
    tasks = [(world, sizes.experiments) for world in winner.WORLDS]
    found = dict(
        zip(winner.WORLDS, spread("winner", winner.run, tasks, sizes.machine), strict=True)
    )
    return Part(tables={"winner.md": winner.table(found)}, failures=winner.failures(found))


def run_rank(sizes: Sizes) -> Part:
    """Rank models: does every interval of a pair hold, is the best one among those tied?"""
    repetitions = dict.fromkeys(ranks.WORLDS, sizes.test_sets)
    repetitions[ranks.BY_PAIR] = max(sizes.test_sets, sizes.pair_test_sets)
    noted = spread_worlds("rank", ranks.repeat, repetitions, sizes.machine)
    found = {world: ranks.summarise(world, hits) for world, hits in noted.items()}
    return Part(
        tables={
            "rank.md": ranks.table(list(found.values())),
            "rank_pairs.md": ranks.pair_table(found[ranks.BY_PAIR]),
        },
        failures=ranks.failures(list(found.values())),
    )


def run_ranked_pairs(sizes: Sizes) -> Part:
    """Rank models of worlds that pooling does not suppose: are pairs decided as if alone?"""
    repetitions = dict.fromkeys(ranked_pairs.WORLDS, sizes.test_sets)
    found = spread_worlds("ranked-pairs", ranked_pairs.repeat, repetitions, sizes.machine)
    return Part(
        tables={
            "ranked_pairs.md": ranked_pairs.table(found),
            "ranked_pairs_leader.md": ranked_pairs.leader_table(found),
        },
        failures=ranked_pairs.failures(found),
    )


def run_reliability(sizes: Sizes) -> Part:
    """Ask for probabilities where the truth is known: do they come true?"""
    repetitions = dict.fromkeys(reliability.WORLDS, min(reliability.REPETITIONS, sizes.test_sets))
    found = spread_worlds("reliability", reliability.repeat, repetitions, sizes.machine)
    return Part(
        tables={"reliability.md": reliability.table(found)},
        failures=reliability.failures(found),
        data={reliability.STORED: reliability.stored(found)},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """Test sets drawn again and again from worlds whose truth is known."""

    worlds: Sequence[Any]
    repeat: Repeat[Any, Any]
    table: Callable[[dict[Any, list[Any]]], str]
    failures: Callable[[dict[Any, list[Any]]], list[str]]
    enough: int | None = None  # test sets, where each takes long

    def run(self, name: str, sizes: Sizes) -> Part:
        """Draw the test sets of all worlds."""
        repetitions = dict.fromkeys(self.worlds, sizes.test_sets)
        found = spread_worlds(name, self.repeat, repetitions, sizes.machine)
        return Part(
            tables={f"{name.replace('-', '_')}.md": self.table(found)},
            failures=self.failures(found),
        )


def _of_summaries(study: Any) -> Study:
    """Return a study whose worlds are summed up before they are tabulated."""

    def summed(found: dict[Any, list[Any]]) -> list[Any]:
        return [study.summarise(world, noted) for world, noted in found.items()]

    return Study(
        worlds=study.WORLDS,
        repeat=study.repeat,
        table=lambda found: str(study.table(summed(found))),
        failures=lambda found: list(study.failures(summed(found))),
    )


def _of_worlds(study: Any, tables: Any) -> Study:
    return Study(
        worlds=study.WORLDS, repeat=study.repeat, table=tables.table, failures=tables.failures
    )


def _of_few(study: Any) -> Study:
    return replace(_of_worlds(study, study), enough=study.REPETITIONS)


# Made when they are run: nothing of another study is loaded then.
STUDIES: dict[str, Callable[[], Study]] = {
    "scores": partial(_of_worlds, scores, score_tables),
    "curves": partial(_of_few, curves),
    "label-sets": partial(_of_worlds, label_sets, label_set_tables),
    "clusters": partial(_of_worlds, clusters, clusters),
    "decisions": partial(_of_few, decisions),
    "influence": partial(_of_few, influence),
    "rare-labels": partial(_of_few, rare_labels),
    "prevalence": partial(_of_worlds, prevalence, prevalence_tables),
    "disagreement": partial(_of_worlds, disagreement, disagreement_tables),
    "judges": partial(_of_few, judges),
    "drawn": partial(_of_few, drawn),
    "label-errors": partial(_of_few, label_errors),
    "true-shares": partial(_of_few, true_shares),
    "pool-shares": partial(_of_few, pool_shares),
    "slice-kinds": partial(_of_few, slice_kinds),
    "proposed": partial(_of_few, proposed),
    "annotators": partial(_of_few, annotators),
    "weak-annotators": partial(_of_few, weak_annotators),
    "runs": partial(_of_summaries, runs),
    "collapses": partial(_of_few, collapses),
    "dataset-scores": partial(_of_few, dataset_scores),
    "slice-groups": partial(_of_few, slice_groups),
    "spans": partial(_of_worlds, spans, spans),
    "sums": partial(_of_few, sums),
    "few-items": partial(_of_few, few_items),
    "tails": partial(_of_few, tails),
    "batches": partial(_of_few, batches),
    "quarters": partial(_of_few, quarters),
    "scorecards": partial(_of_few, scorecards),
    "votes": partial(_of_few, votes),
    "weak-spots": partial(_of_few, weak_spots),
    "weights": partial(_of_worlds, weights, weights),
}


EXPERIMENTS = {"winner": winner.EXPERIMENTS, "anytime": anytime.EXPERIMENTS}


def sizes_of(name: str) -> Sizes:
    """Return how much of a part is run when nothing else is asked for."""
    if name in EXPERIMENTS:
        return Sizes(experiments=EXPERIMENTS[name])
    enough = STUDIES[name]().enough if name in STUDIES else None
    return Sizes() if enough is None else Sizes(test_sets=enough)


def run_study(name: str, sizes: Sizes) -> Part:
    """Draw the test sets of one of the studies that are alike."""
    return STUDIES[name]().run(name, sizes)


def run_anytime(sizes: Sizes) -> Part:
    """Look 20, 200 and 2,000 times: does the truth stay inside, how often is a decision false?"""
    tasks = [
        (world, plan, -(-sizes.experiments // (1 if plan.looks <= anytime.MANY else 2)))
        for world in anytime.WORLDS
        for plan in anytime.PLANS
    ]
    watched = spread("anytime", anytime.run, tasks, sizes.machine)
    found = {task[:2]: one for task, one in zip(tasks, watched, strict=True)}
    return Part(
        tables={
            "anytime_errors.md": anytime.error_table(found),
            "anytime_price.md": anytime.price_table(found),
        },
        failures=anytime.failures(found),
    )


def run_stopping(sizes: Sizes) -> Part:
    """Watch experiments with twenty looks: what does it do to stop by what is seen?"""
    every = [(world, sizes.experiments) for world in stopping.WORLDS]
    watched = spread("stopping", stopping.run, every, sizes.machine)
    found = dict(zip(stopping.WORLDS, watched, strict=True))
    size = min(sizes.experiments, stopping.PLAN_EXPERIMENTS)
    tasks = [(plan, size) for plan in stopping.PLANS]
    looked = spread("plans of looks", stopping.look, tasks, sizes.machine)
    tables = {
        "stopping_ropes.md": stopping.plan_table(dict(zip(stopping.PLANS, looked, strict=True))),
        "stopping_factors.md": stopping.factor_table(found),
        "stopping_rules.md": stopping.rule_table(found),
        "stopping_bias.md": stopping.bias_table(found),
    }
    return Part(tables=tables, failures=stopping.failures(found))


def run_levels(sizes: Sizes) -> Part:
    """Gate models that lie exactly on a level: how often do they pass, or fail?"""
    exact = spread(
        "levels of accuracy",
        _counted,
        [(n, theta) for theta in levels.THRESHOLDS for n in levels.SIZES],
        sizes.machine,
    )
    drawn_tasks = [(world, sizes.test_sets) for world in levels.WORLDS]
    found = spread("levels", _on_the_level, drawn_tasks, sizes.machine)
    return Part(
        tables={"levels.md": levels.table(exact, found)}, failures=levels.failures(exact, found)
    )


def _counted(task: tuple[int, float]) -> levels.Counted:
    return levels.counted(*task)


def _on_the_level(task: tuple[levels.LevelWorld, int]) -> levels.Drawn:
    return levels.draw(*task)


def run_releases(sizes: Sizes) -> Part:
    """Release twenty times, with and without a ledger: what is lost, and what passes?"""
    tasks = [(world, sizes.test_sets) for world in releases.WORLDS]
    found = spread("releases", _released, tasks, sizes.machine)
    return Part(tables={"releases.md": releases.table(found)}, failures=releases.failures(found))


def _released(task: tuple[releases.ReleaseWorld, int]) -> releases.Released:
    return releases.run(*task)


def run_damage(sizes: Sizes) -> Part:
    """Damage files of every format: is each refused in words, or read?"""
    damages = dict.fromkeys(damage.WORLDS, sizes.damages)
    found = spread_worlds("damage", damage.repeat, damages, sizes.machine, step=200)
    return Part(tables={"damage.md": damage.table(found)}, failures=damage.failures(found))


def run_power(sizes: Sizes) -> Part:
    """Draw test sets until the decision is reached: what does pairing save?"""
    tasks = [(curve, n, sizes.power_runs) for curve in power.CURVES for n in power.sizes(curve)]
    found: power.Found = {curve: [] for curve in power.CURVES}
    for (curve, _, _), point in zip(
        tasks, spread("power", _decide, tasks, sizes.machine), strict=True
    ):
        found[curve].append(point)
    return Part(
        tables={"power.md": power.table(found)},
        failures=power.failures(found),
        data={power.STORED: power.stored(found)},
    )


def _decide(task: tuple[power.Curve, int, int]) -> power.Point:
    return power.repeat(*task)


def run_engines(sizes: Sizes) -> Part:
    """Hold the PyMC engine against the direct one, and plant bugs; needs PyMC and NumPyro."""
    try:
        for needed in ("pymc", engines.CHAINS.sampler):
            require(needed, extra=needed, purpose="the study of engines")
    except MissingExtraError as missing:
        return Part(tables={}, failures=[], skipped=str(missing))
    found = spread("engines", engines.agree, engines.CASES, sizes.machine)
    bugs = spread("bugs", engines.run_plant, engines.PLANTS, sizes.machine)
    planted = dict(zip(engines.PLANTS, bugs, strict=True))
    return Part(
        tables=engine_tables.tables(found, planted),
        failures=engine_tables.failures(found, planted),
    )


def run_mass(sizes: Sizes) -> Part:
    """Free the prior mass of the ICDM model on 20 Newsgroups: what changes?"""
    tasks = [(thinned, start) for thinned in mass.WORLDS for start in range(thinned.starts)]
    found: dict[mass.Thinned, list[mass.Seen]] = {thinned: [] for thinned in mass.WORLDS}
    for (thinned, _), seen in zip(
        tasks, spread("mass", mass.look, tasks, sizes.machine), strict=True
    ):
        found[thinned].append(seen)
    return Part(tables=mass.tables(found), failures=mass.failures(found))


def run_plans(sizes: Sizes) -> Part:
    """Plan from pilots and carry the plans out: are goals reached as often as planned?"""
    repetitions = {
        world: sizes.projects if world.gated else max(1, sizes.projects * 2 // 5)
        for world in plans.WORLDS
    }
    found = spread_worlds("plans", plans.repeat, repetitions, sizes.machine)
    return Part(tables={"plans.md": plans.table(found)}, failures=plans.failures(found))


def run_promises(sizes: Sizes) -> Part:
    """Continue pilots by the promised items, where models differ little: are they enough?"""
    repetitions = dict.fromkeys(promises.WORLDS, sizes.pilots)
    found = spread_worlds("promises", promises.repeat, repetitions, sizes.machine, step=20)
    return Part(tables={"promises.md": promises.table(found)}, failures=promises.failures(found))


def run_more_data(sizes: Sizes) -> Part:
    """Predict from a quarter what the rest decides, and check: 20 Newsgroups, simulations."""
    repetitions = dict.fromkeys(predicted.WORLDS, sizes.futures)
    futures = spread_worlds("futures", predicted.repeat, repetitions, sizes.machine, step=500)
    tasks = list(range(sizes.quarters))
    chunks = spread("more-data", _quarter, tasks, sizes.machine)
    found = [one for chunk in chunks for one in chunk]
    return Part(
        tables={"more_data.md": more_data.table(found), "predicted.md": predicted.table(futures)},
        failures=more_data.failures(found) + predicted.failures(futures),
        data={more_data.STORED: more_data.stored(found)},
    )


def _quarter(number: int) -> list[more_data.Predicted]:
    return more_data.quarters(number, number + 1)


def run_suites(sizes: Sizes) -> Part:
    """Draw suites of tasks: do intervals hold, does P(best), is the gate wrong as it says?"""
    worlds = dict.fromkeys(suites.WORLDS, sizes.repetitions)
    held = spread_worlds("suites", suites.repeat, worlds, sizes.machine)
    rows = [suites.summarize(world, found) for world, found in held.items()]
    cases = dict.fromkeys(suites.CASES, sizes.repetitions)
    judged = spread_worlds("gates", suites.judge, cases, sizes.machine)
    repetitions = min(suite_best.REPETITIONS, sizes.repetitions)
    ranked = dict.fromkeys(suite_best.WORLDS, repetitions)
    noted = spread_worlds("ranked suites", suite_best.repeat, ranked, sizes.machine)
    return Part(
        tables={
            "suites.md": suites.coverage_table(rows),
            "suite_gates.md": suites.gate_table(judged),
            "suite_best.md": suite_best.table(noted),
            "suite_best_claims.md": suite_best.claims_table(noted),
        },
        failures=[
            *suites.coverage_failures(rows),
            *suites.gate_failures(judged),
            *suite_best.failures(noted),
        ],
    )


PARTS: dict[str, Callable[[Sizes], Part]] = {
    "exactness": run_exactness,
    "calibration": run_calibration,
    "calibration-default": run_calibration_default,
    "plants": run_plants,
    "coverage": run_coverage,
    "defaults": run_defaults,
    "map": run_map,
    "honesty": run_honesty,
    "multiclass": run_multiclass,
    "blocked": run_blocked,
    "slices": run_slices,
    "limits": run_limits,
    "fold-scores": run_fold_scores,
    "best": run_best,
    "noise": run_noise,
    "winner": run_winner,
    "reliability": run_reliability,
    "suites": run_suites,
    "rank": run_rank,
    "ranked-pairs": run_ranked_pairs,
    **{name: partial(run_study, name) for name in STUDIES},
    "power": run_power,
    "mass": run_mass,
    "plans": run_plans,
    "promises": run_promises,
    "more-data": run_more_data,
    "stopping": run_stopping,
    "levels": run_levels,
    "releases": run_releases,
    "anytime": run_anytime,
    "damage": run_damage,
    "engines": run_engines,
}

# What --quick leaves out unless it is named, and why.
NOT_QUICK = {"engines": "its chains need PyMC and NumPyro, and an hour of processor time"}
