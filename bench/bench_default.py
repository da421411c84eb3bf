"""How much longer than the bare NumPy draws does a comparison with all defaults take?

One thread against one thread, in processor time, so that other work on the machine hardly
matters: a comparison of macro-F1 from label arrays to the decision, under the default prior
`learned`, and the gamma draws of the cells that occurred, as one would write them down with
``numpy.random.default_rng()``. And what a thousand and ten thousand classes cost under it, in
processor time and in memory, each in an interpreter of its own.

    PYTHONPATH=. python bench/bench_default.py [--write]
"""

from __future__ import annotations

import statistics
import tempfile
from functools import partial
from pathlib import Path

from bench_compare import DRAWS, bare_cells, bare_runs, cell_counts, compare
from compare_checkouts import WORK, in_turns
from measuring import alternate, seconds, three_digits
from recording import Row, report, wants_writing


def rows() -> list[Row]:
    counts = cell_counts()
    ask = partial(compare, metric="f1_macro", n_jobs=1)
    against = {
        f"the {counts.size:,} cells that occurred, in bare NumPy": partial(bare_cells, counts),
        "one call for all cells of a count": partial(bare_runs, counts),
    }
    timings = alternate({"compare": ask, **against}, rounds=5)
    for name, timing in timings.items():
        print(f"{name}: {timing}")
    ours, *bare = (statistics.median(timing.processor) for timing in timings.values())
    what = f"`compare`, macro-F1 of 20 classes, all defaults, {DRAWS:,} draws, one thread"
    return [
        Row(what, seconds(ours), name, seconds(theirs), f"{ours / theirs:.2f}")
        for name, theirs in zip(against, bare, strict=True)
    ]


def rows_of_many_classes() -> list[Row]:
    """Measure the rows of many classes under the default prior, each in a fresh interpreter."""
    found = []
    tree = {"here": Path(__file__).resolve().parent.parent}
    with tempfile.TemporaryDirectory() as folder:
        for what, work in WORK.items():
            if "000 classes, default prior" in what:
                measured = in_turns(work, tree, Path(folder), rounds=3)["here"]
                time, memory = seconds(measured.time), three_digits(measured.memory)
                found.append(Row(f"`compare`, {what}", f"{time}, peak memory {memory} MB"))
    return found


if __name__ == "__main__":
    write = wants_writing(__doc__)
    note = "The rows with all defaults are medians of processor time, not of the clock"
    report("default", [*rows(), *rows_of_many_classes()], write=write, note=note)
