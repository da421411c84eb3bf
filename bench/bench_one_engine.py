"""What does a metric of labels cost if it is written as sums of public statistics?

The same macro-F1 of the same items, asked of labels under the bootstrap and of three statistics
per class whose sums a function of three lines reads: four classes, and a thousand. Beside them
stands the mean of 100,000 different costs.

    python bench/bench_one_engine.py [--write]
"""

from __future__ import annotations

import statistics

import numpy as np
from measuring import Timing, alternate, peak_memory, ratios, seconds
from recording import Row, report, wants_writing

import outperform as op

ITEMS = 3_000
DRAWS = 20_000
GRADES = 100_000
ROUNDS = {4: 7, 1_000: 1}  # by classes
AIMS = {4: 1.5, 1_000: 2.0}


def main(write: bool) -> None:
    rows = [*(_compared(classes) for classes in ROUNDS), _graded()]
    rows.append(Row("peak memory of all of this", f"{peak_memory():,} MB", aim="under 2 GB"))
    report("one_engine", rows, write=write)


def _compared(classes: int) -> Row:
    generator = np.random.default_rng(0)
    truth = generator.integers(classes, size=ITEMS)
    answers = {
        model: np.where(
            generator.random(ITEMS) < right, truth, generator.integers(classes, size=ITEMS)
        )
        for model, right in (("a", 0.8), ("b", 0.78))
    }
    labels = op.Outcomes.from_labels(truth, answers)
    sums = op.Outcomes.from_statistics(
        {model: _statistics(truth, answer, classes) for model, answer in answers.items()}
    )
    asked = {"rope": 0.01, "n_draws": DRAWS, "random_state": 0}
    timings = alternate(
        {
            "labels": lambda: op.compare(
                labels, "a", "b", metric="f1_macro", prior="bootstrap", **asked
            ),
            "sums": lambda: op.compare(sums, "a", "b", metric=_macro_f1, **asked),
        },
        rounds=ROUNDS[classes],
    )
    ours, theirs = timings["sums"], timings["labels"]
    print(f"{classes:,} classes\n  sums {ours}\n  labels {theirs}\n  {ratios(ours, theirs)}")
    of_sums, of_labels = (statistics.median(one.processor) for one in (ours, theirs))
    return Row(
        f"`compare` of {ITEMS:,} items as sums, {classes:,} classes, processor time",
        seconds(of_sums),
        "the same macro-F1 of labels",
        seconds(of_labels),
        f"{of_sums / of_labels:.2f}",
        f"at most {AIMS[classes]:g}",
    )


def _graded() -> Row:
    generator = np.random.default_rng(0)
    hard = generator.lognormal(size=GRADES)
    a, b = (hard * generator.lognormal(size=GRADES) for _ in range(2))
    asked = {"metric": "mean_cost", "rope": 0.01, "n_draws": DRAWS, "random_state": 0}
    ours = Timing()
    for _ in range(3):
        ours.run(lambda: op.compare(None, a, b, **asked))
    return Row(
        f"mean of {GRADES:,} costs of two models, {DRAWS:,} draws, processor time",
        seconds(statistics.median(ours.processor)),
        aim="at most 1 s",
    )


def _statistics(truth: np.ndarray, answer: np.ndarray, classes: int) -> np.ndarray:
    """Return hits, actual and predicted of every class, item by item."""
    each = np.eye(classes)
    return np.hstack([each[truth] * (truth == answer)[:, None], each[truth], each[answer]])


def _macro_f1(means: np.ndarray) -> np.ndarray:
    hits, actual, predicted = np.split(means, 3)
    both = actual + predicted
    return np.divide(2 * hits, both, out=np.zeros_like(both), where=both > 0).mean(axis=0)


if __name__ == "__main__":
    main(wants_writing(__doc__))
