"""How fast is the Bayes test of blocked cross-validation, beside the paper's way of doing it?

The nine comparisons of the ACL 2019 paper, from its counts: three tasks, three
metrics. The paper draws a million values from the posterior of each model and
counts; here NumPy's beta and gamma generators do that, on effective counts that
cost nothing. Ours are exact, and bring intervals, decision and findings along.

    PYTHONPATH=. python bench/bench_bcv.py [--write]
"""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
from measuring import alternate, ratios, seconds
from recording import Row, report, wants_writing

import outperform as op
from papers.published import published

ROUNDS = 9
DRAWS = 1_000_000
WORTH = 0.3688  # of a count, as the paper prints it
TASKS = ("cws", "ner", "org")
METRICS = ("precision", "recall", "f1")


def exact(figures: dict[str, Any]) -> list[float]:
    """Return P(H1) of all nine by quadrature."""
    found = []
    for task in TASKS:
        folds = figures[task]["counts"]
        for metric in METRICS:
            compared = op.compare_cv_counts(
                folds["A"],
                folds["B"],
                metric=metric,
                counts="gold_predicted_correct",
                rope=0.001,
                random_state=0,
            )
            found.append(compared.p_h1)
    return found


def drawn(effective: list[list[list[float]]], generator: np.random.Generator) -> list[float]:
    """Return P(H1) of all nine by a million draws each."""
    found = []
    for models in effective:
        for metric in METRICS:
            a, b = (posterior(metric, counts, generator) for counts in models)
            found.append(float(np.mean(b > a)))
    return found


def posterior(metric: str, counts: list[float], generator: np.random.Generator) -> np.ndarray:
    """Draw from one model's posterior under the paper's prior count of 1."""
    tp, fp, fn = counts
    if metric == "f1":
        missed = generator.gamma(fp + fn + 2, size=DRAWS)
        return 2 / (2 + missed / generator.gamma(tp + 1, size=DRAWS))
    return generator.beta(tp + 1, (fp if metric == "precision" else fn) + 1, size=DRAWS)


def effective_counts(figures: dict[str, Any]) -> list[list[list[float]]]:
    """Return tp, fp and fn of both models for each task, scaled to independent ones."""
    found = []
    for task in TASKS:
        models = []
        for model in ("A", "B"):
            gold, predicted, correct = np.sum(figures[task]["counts"][model], axis=0)
            counts = WORTH * np.array([correct, predicted - correct, gold - correct])
            models.append(counts.tolist())
        found.append(models)
    return found


def main(write: bool) -> None:
    figures, generator = published("acl2019"), np.random.default_rng(0)
    effective = effective_counts(figures)
    timings = alternate(
        {"exact": lambda: exact(figures), "drawn": lambda: drawn(effective, generator)},
        rounds=ROUNDS,
    )
    ours, theirs = timings["exact"], timings["drawn"]
    print(f"nine compare_cv_counts calls\n  {ours}")
    print(f"nine times {DRAWS:,} draws of both models\n  {theirs}")
    print(f"  ours / draws: {ratios(ours, theirs)}")
    off = np.abs(np.subtract(exact(figures), drawn(effective, generator)))
    print(f"  P(H1), exact against drawn: at most {off.max():.4f} apart")
    row = Row(
        "`compare_cv_counts`, the nine comparisons of the ACL paper, exact",
        seconds(ours.median),
        f"{DRAWS:,} draws for each in bare NumPy",
        seconds(theirs.median),
        f"{ours.median / theirs.median:.2f}",
        "under 0.1 s on a quiet machine",
    )
    used = [seconds(statistics.median(timing.processor)) for timing in (ours, theirs)]
    note = f"In processor time, {used[0]} for `compare_cv_counts` and {used[1]} for the draws"
    report("bcv", [row], write=write, note=note)


if __name__ == "__main__":
    main(wants_writing(__doc__))
