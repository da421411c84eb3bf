"""Did a change cost time or memory? The same work with two checkouts, in turns, as ratios.

Each piece of work runs in a fresh interpreter, first with the one checkout, then with the other, as
often as there are rounds. A row has the medians of processor time and of the peak memory of its
process.

    python bench/compare_checkouts.py BEFORE AFTER [--rounds 5] [--only TEXT] [--quick]

BEFORE and AFTER are checkouts, for instance of ``git worktree add``. The exit code is 1 if a row
takes more than 1.10 times as long or as much memory, the first call more than 1.05 times as long,
or all rows together (their geometric mean) longer than before. ``--quick`` leaves out rows of
seconds, ``--json FILE`` keeps the medians.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from measuring import machine, run_fresh, seconds, three_digits

CSV_ROWS = 1_000_000
MOST = 1.10  # of the time and of the memory of a row
MOST_FIRST = 1.05  # of the first call, import included
MOST_TOGETHER = 1.00
LEAST_SECONDS = 0.02  # the clock of the processor ticks in hundredths

MEASURE = """
import json, time
from pathlib import Path
processor = 0.0
def mark():
    global processor
    processor = time.process_time()
mark()
{work}
spent = time.process_time() - processor
status = Path("/proc/self/status").read_text(encoding="ascii")
peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
print(json.dumps([spent, peak / 1024]))
"""

LABELS = """
import numpy as np
import outperform as op
rng = np.random.default_rng(0)
truth = rng.integers({classes}, size={items})
models = {{}}
for right in (0.80, 0.81, 0.82, 0.83, 0.84):
    guesses = rng.integers({classes}, size=truth.size)
    models[str(right)] = np.where(rng.random(truth.size) < right, truth, guesses)
a, b, *_ = models.values()
group = np.arange(truth.size) // 5
weight = rng.choice([0.5, 1.0, 3.0], truth.size)
"""

NUMBERS = """
import numpy as np
import outperform as op
rng = np.random.default_rng(0)
truth = rng.integers(2, size=10_000)
a, b = (truth + lift * rng.normal(size=truth.size) for lift in (1.0, 1.2))
"""

ASK = """
op.compare({data}, metric={metric!r}, n_draws=200, random_state=1, rope=0.01{options})
mark()
for _ in range({times}):
    op.compare({data}, metric={metric!r}, n_draws={draws}, random_state=1, rope=0.01{options})
"""

SETS = """
import numpy as np
import outperform as op
rng = np.random.default_rng(0)
truth = rng.random((2_000, 20)) < 0.1
seen = op.Outcomes.from_label_sets(truth, {"a": truth ^ (rng.random(truth.shape) < 0.02),
                                           "b": truth ^ (rng.random(truth.shape) < 0.03)})
"""

COUNT = """
from outperform.cli.main import main
main(["count", {csv!r}, "--truth", "label", "-o", {csv!r} + ".json"])
"""


class Work(NamedTuple):
    """What one row runs, and whether it takes seconds."""

    code: str
    slow: bool = False
    most: float = MOST


def labels(classes: int, metric: str, *, items: int = 10_000, draws: int = 20_000, times: int = 1,
           options: str = "", slow: bool = False) -> Work:  # fmt: skip
    ask = ASK.format(data="truth, a, b", metric=metric, draws=draws, times=times, options=options)
    return Work(LABELS.format(classes=classes, items=items) + ask, slow)


WORK = {
    "import outperform": Work("import outperform", most=MOST_FIRST),
    "first call: import, compare of 100 items": Work(
        "import outperform as op\nop.compare([1, 0] * 50, [1, 0] * 50, [1] * 100, random_state=1)",
        most=MOST_FIRST,
    ),
    "accuracy, 2 classes": labels(2, "accuracy", times=20),
    "F1, 2 classes": labels(2, "f1", times=5),
    "macro-F1, 4 classes, bootstrap": labels(4, "f1_macro", times=5, options=', prior="bootstrap"'),
    "macro-F1, 4 classes, default prior": labels(4, "f1_macro", times=2),
    "macro-F1, 20 classes, default prior": labels(20, "f1_macro"),
    "macro-F1, 20 classes, unit": labels(20, "f1_macro", options=', prior="unit"'),
    "macro-F1, 1,000 classes, default prior, 2,000 draws": labels(
        1_000, "f1_macro", draws=2_000, slow=True
    ),
    "macro-F1, 1,000 classes, bootstrap, 2,000 draws": labels(
        1_000, "f1_macro", draws=2_000, options=', prior="bootstrap"'
    ),
    "macro-F1, 10,000 classes, default prior, 50,000 items, 500 draws": labels(
        10_000, "f1_macro", items=50_000, draws=500, slow=True
    ),
    "F1, 2 classes, groups of 5": labels(2, "f1", options=", groups=group"),
    "F1, 2 classes, weights": labels(2, "f1", draws=5_000, options=", sample_weight=weight"),
    "macro-F1 of 20 labels of sets": Work(
        SETS
        + ASK.format(data='seen, "a", "b"', metric="f1_macro", draws=5_000, times=1, options="")
    ),
    "ROC AUC": Work(
        NUMBERS + ASK.format(data="truth, a, b", metric="roc_auc", draws=2_000, times=1, options="")
    ),
    "mean of 10,000 grades": Work(
        NUMBERS + ASK.format(data="None, a, b", metric="mean", draws=2_000, times=1, options="")
    ),
    "rank, macro-F1, 5 models, 20 classes": Work(
        LABELS.format(classes=20, items=10_000)
        + 'mark()\nop.rank(truth, models, metric="f1_macro", n_draws=5_000, random_state=1)',
        slow=True,
    ),
    "slices, accuracy, 50 of 200 items": Work(
        LABELS.format(classes=2, items=10_000)
        + 'day = {"day": np.arange(10_000) % 50}\n'
        'seen = op.Outcomes.from_labels(truth, {"a": a, "b": b}, by=day)\nmark()\n'
        'op.compare_slices(seen, "a", "b", metric="accuracy", n_draws=2_000, random_state=1)'
    ),
    "more_data of a comparison of accuracy": Work(
        LABELS.format(classes=2, items=500)
        + 'c = op.compare(truth, a, b, metric="accuracy", random_state=1)\nmark()\n'
        "c.more_data(n_simulations=200, random_state=1)"
    ),
    "text of a result": Work(
        LABELS.format(classes=4, items=500)
        + "c = op.compare(truth, a, b, n_draws=500, random_state=1)\nmark()\n"
        "str(c), c._repr_html_()"
    ),
    f"outperform count, CSV of {CSV_ROWS:,} rows": Work(COUNT, slow=True),
}  # fmt: skip


@dataclass(slots=True)
class Measured:
    """Processor seconds and peak megabytes of one checkout, a value per round."""

    spent: list[float] = field(default_factory=list)
    peak: list[float] = field(default_factory=list)

    @property
    def time(self) -> float:
        return statistics.median(self.spent)

    @property
    def memory(self) -> float:
        return statistics.median(self.peak)


def write_csv(folder: Path) -> Path:
    """Write labels of two models that are right in 80% of the rows."""
    rng = np.random.default_rng(0)
    names = np.array([f"class {code}" for code in range(20)])
    truth = rng.integers(20, size=CSV_ROWS)
    columns = [truth]
    for _ in range(2):
        guesses = rng.integers(20, size=CSV_ROWS)
        columns.append(np.where(rng.random(CSV_ROWS) < 0.8, truth, guesses))
    path = folder / "predictions.csv"
    rows = zip(*(names[codes].tolist() for codes in columns), strict=True)
    path.write_text("label,bert,gpt\n" + "\n".join(",".join(row) for row in rows) + "\n")
    return path


def in_turns(work: Work, trees: dict[str, Path], folder: Path, rounds: int) -> dict[str, Measured]:
    """Run one piece of work with each checkout in every round, each in a fresh interpreter."""
    code = work.code
    if code is COUNT:
        csv = folder / "predictions.csv"
        code = COUNT.format(csv=str(csv if csv.exists() else write_csv(folder)))
    found = {tree: Measured() for tree in trees}
    for number in range(rounds + 1):
        for tree, path in trees.items():
            spent, peak = run_fresh(
                MEASURE.format(work=code),
                str(folder / "bytecode" / tree),
                cwd=str(folder),
                PYTHONPATH=str(path / "src"),
            )
            if number:  # the first round writes bytecode
                found[tree].spent.append(spent)
                found[tree].peak.append(peak)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("before", type=lambda text: Path(text).resolve())
    parser.add_argument("after", type=lambda text: Path(text).resolve())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="only rows that have this in their name"
    )
    parser.add_argument("--quick", action="store_true", help="leave out rows of seconds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the medians")
    options = parser.parse_args()
    trees = {"before": options.before, "after": options.after}
    kept, too_much = {}, 0
    print("| what | before | after | time | memory | memory, ratio |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        for what, work in WORK.items():
            if options.only not in what or (work.slow and options.quick):
                continue
            before, after = in_turns(work, trees, Path(name), options.rounds).values()
            time, memory = after.time / before.time, after.memory / before.memory
            beyond = memory > MOST or (
                time > work.most and after.time - before.time > LEAST_SECONDS
            )
            too_much += beyond
            print(
                f"| {what} | {seconds(before.time)} | {seconds(after.time)} | {time:.2f} | "
                f"{three_digits(before.memory)} → {three_digits(after.memory)} MB | {memory:.2f} |"
                + (" **too much**" if beyond else ""),
                flush=True,
            )
            kept[what] = {
                "before": [before.time, before.memory],
                "after": [after.time, after.memory],
                "ratios": [time, memory],
            }
    if not kept:
        parser.error(f"no row has {options.only!r} in its name")
    together = [
        math.exp(statistics.fmean(math.log(row["ratios"][which]) for row in kept.values()))
        for which in (0, 1)
    ]
    print(f"\nGeometric means: time {together[0]:.3f}, memory {together[1]:.3f}. {machine()}")
    if options.json:
        options.json.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return 1 if too_much or together[0] > MOST_TOGETHER + 0.005 else 0


if __name__ == "__main__":
    sys.exit(main())
