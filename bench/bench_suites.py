"""How long does it take from a folder of logs to a ranking over all tasks, in one command?

Ten tasks of 200 to 2,000 items, five models, eight tasks of right or wrong and two of grades: as
logs of lm-evaluation-harness, ``outperform rank logs --by task`` from the start of the process to
the answer on the screen. Beside it stands what reading the same files as JSON takes alone.

    python bench/bench_suites.py [--rounds 3]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

TASKS, MODELS, GRADED = 10, 5, 2


def write_logs(folder: Path) -> int:
    """Write the logs and return how many samples they hold."""
    rng, total = np.random.default_rng(1), 0
    for task in range(TASKS):
        n = round(float(np.exp(rng.uniform(np.log(200), np.log(2_000)))))
        hard = rng.normal(size=n)
        for model in range(MODELS):
            ability = 0.8 * hard + 0.6 * rng.normal(size=n) + 0.5 + 0.05 * model
            own = folder / f"model{model}"
            own.mkdir(exist_ok=True)
            graded = task >= TASKS - GRADED
            values = np.clip(5 + 2 * ability, 0, 10) if graded else (ability > 0).astype(int)
            key = "grade" if graded else "acc"
            lines = [json.dumps({"doc_id": k, key: v}) for k, v in enumerate(values.tolist())]
            path = own / f"samples_task{task}_2026-01-01T00-00-00.000001.jsonl"
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            total += n
    return total


def run(folder: Path) -> tuple[float, str]:
    """Return how long the command took, and what it said first."""
    ropes = ",".join(
        f"task{task}={0.2 if task >= TASKS - GRADED else 0.01}" for task in range(TASKS)
    )
    command = [sys.executable, "-m", "outperform", "rank", str(folder), "--by", "task"]
    start = time.perf_counter()
    done = subprocess.run(
        [*command, "--rope", ropes], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    return time.perf_counter() - start, " ".join(done.stdout.split("\n\n")[0].split())


def read(folder: Path) -> float:
    """Return how long the same files take to be read as JSON and nothing else."""
    start = time.perf_counter()
    for path in folder.rglob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            json.loads(line)
    return time.perf_counter() - start


def main() -> None:
    """Time both in turns and print medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        n = write_logs(folder)
        found = [(*run(folder), read(folder)) for _ in range(rounds)]
    command, bare = median(one[0] for one in found), median(one[2] for one in found)
    print(found[0][1])
    print(
        f"{TASKS} tasks x {MODELS} models, {n:,} samples: {command:.1f} s for the command, "
        f"{bare:.2f} s to read the files alone"
    )


if __name__ == "__main__":
    main()
