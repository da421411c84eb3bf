"""Timing calls side by side: each round runs all of them once, so that they meet the same noise."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np


def run_fresh(code: str, bytecode: str, *, cwd: str | None = None, **variables: str) -> Any:
    """Run code in a fresh interpreter; return what its last line prints as JSON."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPYCACHEPREFIX": bytecode}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment | variables,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


@dataclass(slots=True)
class Timing:
    """Seconds of one call, a value a round: on the clock, and of all threads together."""

    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.wall)

    def run(self, call: Callable[[], object]) -> None:
        wall, processor = time.perf_counter(), time.process_time()
        call()
        self.processor.append(time.process_time() - processor)
        self.wall.append(time.perf_counter() - wall)

    def __str__(self) -> str:
        figures = [
            f"{name} median {seconds(statistics.median(values))}, least {seconds(min(values))}"
            for name, values in (("clock", self.wall), ("processor", self.processor))
        ]
        return "; ".join(figures)


def alternate(calls: Mapping[str, Callable[[], object]], *, rounds: int) -> dict[str, Timing]:
    """Time each call once a round, after one round that is not counted."""
    timings = {name: Timing() for name in calls}
    for call in calls.values():
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            timings[name].run(call)
    return timings


def ratios(ours: Timing, theirs: Timing) -> str:
    """Return how many times as long ours took, by each way of looking at it."""
    looks = {
        "clock, medians": ours.median / theirs.median,
        "clock, least": min(ours.wall) / min(theirs.wall),
        "processor, medians": statistics.median(ours.processor)
        / statistics.median(theirs.processor),
        "processor, least": min(ours.processor) / min(theirs.processor),
    }
    return "; ".join(f"{name} {value:.2f}" for name, value in looks.items())


def seconds(value: float) -> str:
    """Return a duration in the unit that suits it, with three digits."""
    for unit, size in (("hours", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 1e-3)):
        if value >= (2 * size if size > 1 else size):
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e6:.3g} µs"


def three_digits(value: float) -> str:
    """Return a number with three digits that count, never as a power of ten."""
    return f"{float(f'{value:.3g}'):,.15g}"


def peak_memory() -> int:
    """Return the most megabytes that this process has held, and not its parent."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) // 1024


def machine() -> str:
    """Return what the figures depend on."""
    cores = os.cpu_count()
    return (
        f"{cores} cores ({platform.machine()}), Python {platform.python_version()}, "
        f"NumPy {np.__version__}"
    )
