"""How much longer than the bare NumPy draws does a comparison take?

Every comparison goes from label arrays to the decision. Its reference is what
nobody can do without: the gamma draws of the same posterior, as one would
write them down with ``numpy.random.default_rng()`` on one thread.

    PYTHONPATH=. python bench/bench_compare.py [--write]
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from measuring import Timing, alternate, ratios, seconds
from recording import Row, report, wants_writing

import outperform as op
from papers.published import published

DRAWS = 50_000
CHUNK = 1_000
NEWS = op.datasets.load_news20()
A, B = NEWS.predictions["nb_bern"], NEWS.predictions["nb_mult"]

SIMULATIONS = 100  # of the 2,000 a cell that are the default
ALL_SIMULATIONS = 2_000


def flat_shapes(label: str) -> np.ndarray:
    """Return the 4 + 4 row shapes and the 2 prevalence shapes of one class against the rest."""
    truth, a, b = (values == label for values in (NEWS.y_true, A, B))
    cells = np.bincount(4 * truth + 2 * a + b, minlength=8)
    return 1.0 + np.concatenate([cells, np.bincount(truth, minlength=2)])


def bare_flat(shapes: np.ndarray) -> list[np.ndarray]:
    generator = np.random.default_rng()
    return [generator.standard_gamma(shape, DRAWS) for shape in shapes]


def cell_counts() -> np.ndarray:
    """Return how often each cell of (truth, A, B) occurred."""
    codes = [np.searchsorted(NEWS.target_names, values) for values in (NEWS.y_true, A, B)]
    return np.unique(np.stack(codes, axis=1), axis=0, return_counts=True)[1].astype(float)


def bare_cells(counts: np.ndarray) -> None:
    generator = np.random.default_rng()
    for _ in range(0, DRAWS, CHUNK):
        generator.standard_gamma(counts, size=(CHUNK, counts.size))


def bare_runs(counts: np.ndarray) -> None:
    """Draw cells of equal counts in one call, which spares NumPy to look up each shape."""
    generator = np.random.default_rng()
    found = np.unique(counts, return_counts=True)
    for _ in range(0, DRAWS, CHUNK):
        for count, size in zip(*found, strict=True):
            generator.standard_gamma(count, size=(size, CHUNK))


def compare(**chosen: object) -> op.Comparison:
    chosen = {"n_jobs": -1, **chosen}
    return op.compare(NEWS.y_true, A, B, n_draws=DRAWS, rope=0.05, random_state=1, **chosen)


def one_class() -> list[Row]:
    label = NEWS.target_names[8]
    ask = partial(compare, metric="f1", pos_label=label, prior="uniform")
    timings = alternate(
        {
            "compare": ask,
            "compare, one thread": partial(ask, n_jobs=1),
            "bare draws": partial(bare_flat, flat_shapes(label)),
        },
        rounds=41,
    )
    show("F1 of one class, paired, prior uniform, 10 gammas a draw", timings)
    what = "`compare`, F1 of one of 20 classes, paired, prior uniform, 50,000 draws"
    return rows_of(what, "its 10 gammas a draw in bare NumPy", timings, "at most 2")


def all_classes() -> list[Row]:
    counts = cell_counts()
    ask = partial(compare, metric="f1_macro", prior="unit")
    timings = alternate(
        {
            "compare": ask,
            "compare, one thread": partial(ask, n_jobs=1),
            "bare draws": partial(bare_cells, counts),
            "bare draws, one call a count": partial(bare_runs, counts),
        },
        rounds=5,
    )
    show(f"macro-F1 of 20 classes, paired, prior unit, {counts.size} cells occurred", timings)
    what = "`compare`, macro-F1 of 20 classes, paired, prior unit, 50,000 draws"
    against = f"the {counts.size:,} cells that occurred, in bare NumPy"
    runs = timings["bare draws, one call a count"]
    ours = timings["compare, one thread"]
    return [
        *rows_of(what, against, timings, "at most 1.5"),
        row_of("the same on one thread", ours, "one call for all cells of a count", runs, ""),
    ]


def class_by_class() -> list[Row]:
    whole = compare(metric="f1_macro")
    shapes = [flat_shapes(label) for label in NEWS.target_names]
    timings = alternate(
        {
            "compare": whole.by_class,
            "table": lambda: str(whole.by_class()),
            "bare draws": lambda: [bare_flat(one) for one in shapes],
        },
        rounds=5,
    )
    show("by_class(), 20 comparisons; the table also has p-values and Bayes factors", timings)
    ours, bare = timings["compare"], timings["bare draws"]
    what = "`by_class()`, 20 comparisons of F1, 50,000 draws each"
    return [row_of(what, ours, "their gammas in bare NumPy", bare, "")]


def power_table() -> list[Row]:
    """Time the power analysis of SIGIR table 3 with fewer simulations, and extrapolate."""
    printed = published("sigir2016")["table_3_power"]
    goals = {"scenario_a": "≫", "scenario_b": "≈"}
    timing = Timing()
    start = time.perf_counter()
    for scenario, goal in goals.items():
        world = {key: printed[scenario][key] for key in ("theta_pos", "theta_neg", "prevalence")}
        for paired in (True, False):
            timing.run(
                partial(
                    op.power,
                    **world,
                    sizes=printed["dataset_sizes"],
                    goal=goal,
                    rope=0.05,
                    paired=paired,
                    n_jobs=-1,
                    n_simulations=SIMULATIONS,
                    random_state=1,
                )
            )
    measured = time.perf_counter() - start
    extrapolated = measured * ALL_SIMULATIONS / SIMULATIONS
    cells = len(goals) * 2 * len(printed["dataset_sizes"])
    print(
        f"\npower, {cells} cells of SIGIR table 3: {seconds(measured)} with {SIMULATIONS} "
        f"simulations a cell (processor {seconds(sum(timing.processor))}); extrapolated to "
        f"{ALL_SIMULATIONS}: {seconds(extrapolated)}"
    )
    what = f"`power`, all {cells} cells of SIGIR table 3, 2,000 simulated test sets each"
    said = f"{seconds(extrapolated)}, extrapolated from {SIMULATIONS} sets a cell"
    return [Row(what, said)]


def rows_of(what: str, against: str, timings: dict[str, Timing], aim: str) -> list[Row]:
    bare = timings["bare draws"]
    return [
        row_of(what, timings["compare"], against, bare, aim),
        row_of("the same on one thread", timings["compare, one thread"], "the same", bare, ""),
    ]


def row_of(what: str, ours: Timing, against: str, bare: Timing, aim: str) -> Row:
    ratio = f"{ours.median / bare.median:.2f}"
    return Row(what, seconds(ours.median), against, seconds(bare.median), ratio, aim)


def show(title: str, timings: dict[str, Timing]) -> None:
    print(f"\n{title}")
    for name, timing in timings.items():
        print(f"  {name}: {timing}")
    for name, timing in timings.items():
        if not name.startswith("bare draws"):
            print(f"  {name} / bare draws: {ratios(timing, timings['bare draws'])}")


if __name__ == "__main__":
    write = wants_writing(__doc__)
    found = [*one_class(), *all_classes(), *class_by_class(), *power_table()]
    report("compare", found, write=write)
