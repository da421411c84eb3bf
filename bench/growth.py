"""How do time and memory grow with items, slices, models, classes and tasks?

Every size runs in a fresh interpreter; the data are made before the clock starts. The exponent is
that of the last step: 1 means that twice the size takes twice the processor time.

    python bench/growth.py [--write] [--only models] [--quick]

``--quick`` leaves out the last size of each row of sizes.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from typing import NamedTuple

from measuring import machine, run_fresh, seconds, three_digits
from recording import HEAD_OF_GROWTH, keep, markdown_table


class Course(NamedTuple):
    """One dimension: its sizes, and the code that makes the data and answers."""

    what: str
    sizes: tuple[int, ...]
    data: str
    work: str


LABELS = """
truth = generator.integers(2, size=size)
a, b = (np.where(generator.random(size) < right, truth, 1 - truth) for right in (0.82, 0.8))
"""
COURSES = {
    "labels": Course(
        "items with labels, F1",
        tuple(10**power for power in range(3, 9)),
        LABELS,
        "op.compare(truth, a, b, metric='f1', rope=0.01, random_state=0)",
    ),
    "grades": Course(
        "items with grades, mean",
        tuple(10**power for power in range(3, 8)),
        """
hard = generator.normal(size=size)
scores = op.Scores.from_values({m: hard + generator.exponential(size=size) for m in ("a", "b")})
""",
        "op.compare(scores, 'a', 'b', metric='mean', rope=0.01, random_state=0)",
    ),
    "auc": Course(
        "items with scores, ROC AUC",
        tuple(10**power for power in range(3, 6)),
        """
truth = generator.integers(2, size=size)
scores = {m: truth + generator.normal(size=size) for m in ("a", "b")}
""",
        "op.compare(truth, scores['a'], scores['b'], metric='roc_auc', rope=0.01, random_state=0)",
    ),
    "slices": Course(
        "slices of 200 items, two classes",
        tuple(10**power for power in range(1, 6)),
        "n, size = size, 200 * size" + LABELS + "country = np.arange(size) % n",
        "op.compare_slices(truth, a, b, by=country, metric='f1', rope=0.01, random_state=0)",
    ),
    "slices of 20 classes": Course(
        "slices of 200 items, 20 classes",
        (10, 100, 1_000),
        """
truth = generator.integers(20, size=200 * size)
guess = generator.integers(20, size=200 * size)
a, b = (np.where(generator.random(200 * size) < right, truth, guess) for right in (0.82, 0.8))
country = np.arange(200 * size) % size
""",
        "op.compare_slices(truth, a, b, by=country, metric='f1_macro', rope=0.01, random_state=0)",
    ),
    "models": Course(
        "models on 2,000 items, accuracy, `rank`",
        (2, 10, 50, 100, 200, 1_000),
        """
skill, hard = generator.normal(1.4, 0.2, size), generator.normal(size=2_000)
right = {f"m{m}": generator.logistic(size=2_000) < skill[m] + hard for m in range(size)}
outcomes = op.Outcomes.from_correct(right)
""",
        "op.rank(outcomes, metric='accuracy', rope=0.01, random_state=0)",
    ),
    "classes": Course(
        "classes, 20 items each, macro-F1, 2,000 draws",
        (2, 10, 100, 1_000, 10_000),
        """
truth = generator.integers(size, size=20 * size)
guess = generator.integers(size, size=20 * size)
a, b = (np.where(generator.random(20 * size) < right, truth, guess) for right in (0.82, 0.8))
""",
        "op.compare(truth, a, b, metric='f1_macro', rope=0.01, n_draws=2_000, random_state=0)",
    ),
    "tasks": Course(
        "tasks of 200 items, accuracy, `compare` of a suite",
        (1, 10, 100, 1_000),
        """
suite = op.Suite({f"t{t}": op.Outcomes.from_correct(
    {m: generator.random(200) < 0.8 for m in ("a", "b")}) for t in range(size)},
    metrics="accuracy", ropes=0.01)
""",
        "op.compare(suite, 'a', 'b', random_state=0)",
    ),
}
MEASURE = """
import json, time
from pathlib import Path
import numpy as np
import outperform as op
size, generator = {size}, np.random.default_rng(1)
{data}
op.compare([0, 1, 1] * 9, [0, 1, 0] * 9, [0, 1, 1] * 9, metric="f1", rope=0.01)  # imports
before = time.process_time()
{work}
spent = time.process_time() - before
status = Path("/proc/self/status").read_text(encoding="ascii")
peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
print(json.dumps([spent, peak / 1024]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="how time and memory grow")
    parser.add_argument("--write", action="store_true", help="keep the results for the docs")
    parser.add_argument("--only", choices=list(COURSES), help="one row of sizes")
    parser.add_argument("--quick", action="store_true", help="leave out the last sizes")
    arguments = parser.parse_args()
    chosen = [arguments.only] if arguments.only else list(COURSES)
    rows = []
    with tempfile.TemporaryDirectory() as bytecode:
        for name in chosen:
            course = COURSES[name]
            sizes = course.sizes[:-1] if arguments.quick else course.sizes
            measured = [_measure(course, size, bytecode) for size in sizes]
            rows += _rows(course.what, sizes, measured)
    print(markdown_table(HEAD_OF_GROWTH, rows), end="")
    print(machine())
    if arguments.write and not (arguments.only or arguments.quick):
        text = f"{markdown_table(HEAD_OF_GROWTH, rows)}\n{machine()}.\n"
        keep("growth", {"machine": machine(), "rows": rows}, {"growth.md": text})


def _measure(course: Course, size: int, bytecode: str) -> tuple[float, float]:
    code = MEASURE.format(size=size, data=course.data, work=course.work)
    spent, megabytes = run_fresh(code, bytecode)
    print(f"{course.what}: {size:,} {seconds(spent)}, {megabytes:,.0f} MB", flush=True)
    return spent, megabytes


def _rows(
    what: str, sizes: tuple[int, ...], measured: list[tuple[float, float]]
) -> list[tuple[str, ...]]:
    rows = []
    for place, (size, (spent, megabytes)) in enumerate(zip(sizes, measured, strict=True)):
        exponent = ""
        if place == len(sizes) - 1 and place:
            grown = math.log(spent / measured[place - 1][0])
            exponent = f"{grown / math.log(size / sizes[place - 1]):.2f}"
        name = what if not place else ""
        rows.append((name, f"{size:,}", seconds(spent), f"{three_digits(megabytes)} MB", exponent))
    return rows


if __name__ == "__main__":
    main()
