"""What does adding up two columns of grades cost beside the bare aggregates, and what is lost?

The bare side is what one would write by hand in DuckDB: one aggregate of sums and products, and
one ORDER BY … LIMIT. Each side runs in a process of its own, in turns. Then, for data sets of
many shapes and every metric of sums, the sd and the ends of the 95% interval from the table of
sums are compared with those of all rows, to the third order: both are known exactly there, so no
draws blur them.

    python bench/bench_added_up.py [--rows 100000000] [--accuracy]
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np
from measuring import run_fresh

from outperform.data.moments import moments_of
from outperform.data.scores import Scores
from outperform.inference.score_spec import make_score_spec
from outperform.inference.spec import Choices

ROUNDS = 3
ITEMS = 100_000
METRICS = (
    "mse", "rmse", "mae", "poisson_deviance", "r2", "explained_variance", "pearson", "pinball_0.9",
)  # fmt: skip
_UNIFORM = "(hash({0}) & 1048575) / 1048576.0 + 1e-7"
_BARE = """
import duckdb, json, time
from measuring import peak_memory
rows = "(SELECT a::DOUBLE - 1e0 AS a, b::DOUBLE - 1e0 AS b FROM read_parquet('PATH'))"
with duckdb.connect() as connection:
    connection.execute("SET memory_limit = '1GB'")
    start = time.process_time()
    connection.execute(
        "SELECT count(*), min(a), max(a), min(b), max(b), count(*) FILTER (a <> b), sum(a), "
        f"sum(b), sum(a * a), sum(a * b), sum(b * b) FROM {rows}"
    ).fetchall()
    connection.execute(
        f"SELECT a, b FROM {rows} ORDER BY greatest(abs(a), abs(b), abs(a - b)) DESC LIMIT 2048"
    ).fetchall()
print(json.dumps([time.process_time() - start, peak_memory()]))
"""
_OURS = """
import json, time
from measuring import peak_memory
import outperform as op
op.read_scores
start = time.process_time()
seen = op.read_scores("PATH", models=["a", "b"], keep="sums")
print(json.dumps([time.process_time() - start, peak_memory()]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--path", help="a Parquet file with columns a and b, instead of a new one")
    parser.add_argument("--accuracy", action="store_true", help="only what is lost")
    args = parser.parse_args()
    if not args.accuracy:
        with TemporaryDirectory() as folder:
            path = args.path or f"{folder}/grades.parquet"
            if not args.path:
                _write(path, args.rows)
            _time(path, folder)
    _accuracy()


def _write(path: str, n_rows: int) -> None:
    u, v = _UNIFORM.format("i"), _UNIFORM.format("i + 7777777777")
    duckdb.execute(
        f"COPY (SELECT CAST(-ln(u) AS FLOAT) AS a, CAST(-0.7 * ln(u) - 0.3 * ln(v) AS FLOAT) AS b "
        f"FROM (SELECT {u} AS u, {v} AS v FROM range({n_rows}) AS r(i))) TO '{path}'"
    )


def _time(path: str, folder: str) -> None:
    found: dict[str, list[list[float]]] = {"bare": [], "ours": []}
    for _ in range(ROUNDS):
        for name, code in (("bare", _BARE), ("ours", _OURS)):
            here = str(Path(__file__).parent)
            code = code.replace("PATH", path)
            found[name].append(run_fresh(code, folder, cwd=here))
    n_rows = duckdb.execute("SELECT count(*) FROM read_parquet(?)", [path]).fetchall()[0][0]
    seconds = {name: [one[0] for one in runs] for name, runs in found.items()}
    ratio = statistics.median(seconds["ours"]) / statistics.median(seconds["bare"])
    print(f"{n_rows:,} rows; processor seconds {seconds}; ratio of medians {ratio:.2f}")
    print({name: f"{max(one[1] for one in runs)} MB" for name, runs in found.items()})


def _data(number: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return a data set: targets and the predictions of two models, of one of five shapes."""
    rng = np.random.default_rng(number)
    hard = rng.lognormal(sigma=0.5, size=ITEMS)
    shape = number % 5
    if shape == 0:
        target, noise = rng.gamma(2, size=ITEMS), rng.normal(size=(2, ITEMS)) / 5
    elif shape == 1:
        target, noise = rng.gamma(2, size=ITEMS), rng.standard_t(5, size=(2, ITEMS)) / 5
    elif shape == 2:
        target, noise = rng.lognormal(sigma=1.0, size=ITEMS), rng.normal(size=(2, ITEMS)) / 3
    elif shape == 3:
        target, noise = 1 + rng.pareto(4, size=ITEMS), rng.laplace(size=(2, ITEMS)) / 4
    else:
        target = rng.poisson(3, size=ITEMS) + rng.random(ITEMS)
        noise = np.log1p(rng.pareto(6, size=(2, ITEMS)))
    noise[1] *= 1.05
    predicted = target * np.exp(noise * hard / 3) + 0.05
    return target, {"a": predicted[0], "b": predicted[1]}


def _accuracy() -> None:
    """Print the largest error over data sets and metrics, relative to the sd."""
    z = 1.959964
    worst_sd = worst_end = 0.0
    for number in range(20):
        target, predicted = _data(number)
        columns = {name: np.stack([target, one], axis=1) for name, one in predicted.items()}
        rows = Scores.from_targets(target, predicted)
        table = Scores._of_moments(moments_of("targets", columns, None))
        for metric in METRICS:
            shapes = []
            for seen in (rows, table):
                spec = make_score_spec(seen, metric, Choices())
                (influence,) = spec.influences
                moved = influence.moved[0] - influence.moved[1]
                sd = np.sqrt(np.square(moved) @ influence.repeats)
                # An Exp(1) weight has third central moment 2.
                shapes.append((sd, 2 * (moved**3 @ influence.repeats) / sd**3))
            (exact, skew), (sd, own) = shapes
            worst_sd = max(worst_sd, abs(sd / exact - 1))
            # By Cornish and Fisher: a skewness s moves the ends by s (z² − 1) / 6.
            end = abs(sd / exact - 1) * z + abs(own - skew) * (z * z - 1) / 6
            worst_end = max(worst_end, end)
            print(f"{number} {metric}: sd {sd / exact - 1:+.1e}, ends {end:.2%} of the sd")
    print(f"at most: sd off by {worst_sd:.1e}, ends of the interval by {worst_end:.2%} of the sd")
    sys.exit(int(worst_sd > 0.005 or worst_end > 0.02))


if __name__ == "__main__":
    main()
