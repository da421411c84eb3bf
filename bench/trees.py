"""Are two source trees equally fast? The same work on both, in turns, as ratios.

Each piece of work runs in a fresh interpreter, first with the one tree, then with the other, as
often as there are rounds.

    python bench/trees.py BEFORE AFTER [--rounds 7]

where BEFORE and AFTER are checkouts, for instance of ``git worktree add``.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from measuring import Timing, ratios, run_fresh

CSV_ROWS = 1_000_000

MEASURE = """
import json, time
def mark():
    global wall, processor
    wall, processor = time.perf_counter(), time.process_time()
mark()
{work}
print(json.dumps([time.perf_counter() - wall, time.process_time() - processor]))
"""

LABELS = """
import numpy as np
import outperform as op
rng = np.random.default_rng(0)
truth = rng.integers({classes}, size=10_000)
models = {{}}
for right in (0.80, 0.81, 0.82, 0.83, 0.84):
    guesses = rng.integers({classes}, size=truth.size)
    models[str(right)] = np.where(rng.random(truth.size) < right, truth, guesses)
a, b, *_ = models.values()
"""

COMPARE = """
op.compare(truth, a, b, metric={metric!r}, random_state=1)
mark()
for _ in range({times}):
    op.compare(truth, a, b, metric={metric!r}, random_state=1)
"""

RANK = """
op.rank
mark()
op.rank(truth, models, metric="f1_macro", random_state=1)
"""

COUNT = """
import sys
from outperform.cli.main import main
main(["count", {csv!r}, "--truth", "label", "--of", "bert", "--of", "gpt", "-o", {csv!r} + ".json"])
"""

WORK = {
    "import outperform": "import outperform",
    "import outperform; outperform.compare": "import outperform; outperform.compare",
    "compare, accuracy, 2 classes, 10,000 items": LABELS.format(classes=2)
    + COMPARE.format(metric="accuracy", times=20),
    "compare, macro-F1, 20 classes, 10,000 items": LABELS.format(classes=20)
    + COMPARE.format(metric="f1_macro", times=2),
    "rank, macro-F1, 5 models, 20 classes, 10,000 items": LABELS.format(classes=20) + RANK,
    f"outperform count, CSV of {CSV_ROWS:,} rows": COUNT,
}


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


def run(tree: Path, work: str, folder: Path) -> tuple[float, float]:
    """Run work with a tree in a fresh interpreter; return the seconds of clock and processor."""
    wall, processor = run_fresh(
        MEASURE.format(work=work),
        str(folder / "bytecode"),
        cwd=str(folder),
        PYTHONPATH=str(tree / "src"),
    )
    return wall, processor


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("before", type=lambda text: Path(text).resolve())
    parser.add_argument("after", type=lambda text: Path(text).resolve())
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        csv = write_csv(folder)
        for what, template in WORK.items():
            work = template.format(csv=str(csv)) if template is COUNT else template
            timings = {"before": Timing(), "after": Timing()}
            for number in range(args.rounds + 1):
                for tree, timing in timings.items():
                    wall, processor = run(getattr(args, tree), work, folder)
                    if number:  # the first round writes bytecode
                        timing.wall.append(wall)
                        timing.processor.append(processor)
            print(what)
            for tree, timing in timings.items():
                print(f"  {tree}: {timing}")
            print(f"  after / before: {ratios(timings['after'], timings['before'])}", flush=True)


if __name__ == "__main__":
    main()
