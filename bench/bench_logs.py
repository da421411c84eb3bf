"""What does reading evaluation logs cost beside one json.loads per line?

Logs as lm_eval writes them: 4 models, 40 tasks, about 2 kB a line. In turns, once a round:
`json.loads` of every line, DuckDB's `read_json`, and `outperform.read` of the folder.

    python bench/bench_logs.py [--write] [--lines 100000] [--rounds 3]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np
from measuring import Timing, alternate, seconds
from recording import Row, report

import outperform as op

MODELS, TASKS = 4, 40
AIM = 1.5


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="keep the results for the docs")
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        logs = write_logs(Path(folder, "logs"), args.lines)
        size = sum(path.stat().st_size for path in logs) / args.lines
        assert op.read(logs[0].parent.parent).n * MODELS == args.lines
        calls = {
            "`json.loads` of each line": lambda: parse(logs),
            "DuckDB, `read_json` with its own types": lambda: scan(logs),
            "`op.read`": lambda: op.read(logs[0].parent.parent),
        }
        timings = alternate(calls, rounds=args.rounds)
    first, *others = timings.values()
    ratios = [statistics.median(ratio_by_round(other, first)) for other in others]
    rows = [
        Row(
            f"{name}: {args.lines:,} lines in {len(logs)} files, {size:,.0f} bytes each",
            seconds(statistics.median(other.processor)),
            next(iter(timings)),
            seconds(statistics.median(first.processor)),
            f"{ratio:.2f}",
            f"{AIM}" if name == "`op.read`" else "",
        )
        for (name, other), ratio in zip([*timings.items()][1:], ratios, strict=True)
    ]
    report("logs", rows, write=args.write, note="processor time, medians of the rounds")


def ratio_by_round(ours: Timing, theirs: Timing) -> list[float]:
    return [a / b for a, b in zip(ours.processor, theirs.processor, strict=True)]


def parse(logs: Sequence[Path]) -> None:
    for path in logs:
        with path.open("rb") as stream:
            for line in stream:
                json.loads(line)


def scan(logs: Sequence[Path]) -> None:
    with duckdb.connect() as connection:
        names = [str(path) for path in logs]
        connection.execute("SELECT count(*), sum(acc) FROM read_json(?)", [names]).fetchall()


def write_logs(folder: Path, n_lines: int) -> list[Path]:
    """Write logs with the fields that lm_eval writes; the answers are drawn."""
    rng = np.random.default_rng(0)
    paths = []
    for model in range(MODELS):
        for task in range(TASKS):
            path = (
                folder
                / f"model-{model}"
                / f"samples_task_{task:02}_2026-09-01T00-00-00.000000.jsonl"
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            right = rng.random(n_lines // (MODELS * TASKS)) < 0.7
            lines = [json.dumps(_line(task, k, bool(one))) for k, one in enumerate(right)]
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            paths.append(path)
    return paths


def _line(task: int, number: int, right: bool) -> dict[str, object]:
    question = f"Question {number} of task {task}: " + "which of these four words is a verb? " * 5
    target = str(number % 4)
    choices = ["run", "table", "green", "under"]
    likelihoods = [[str(-1.5 * k - number % 7), "False"] for k in range(4)]
    return {
        "doc_id": number,
        "doc": {"question": question, "choices": choices, "passage_id": number // 5},
        "target": target,
        "arguments": {
            f"gen_args_{k}": {"arg_0": question, "arg_1": f" {one}"}
            for k, one in enumerate(choices)
        },
        "resps": [[one] for one in likelihoods],
        "filtered_resps": likelihoods,
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": _digest(question),
        "prompt_hash": _digest(question + target),
        "target_hash": _digest(target),
        "acc": float(right),
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


if __name__ == "__main__":
    main()
