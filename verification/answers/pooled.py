"""Do the drawn values still have the recorded middles, all of them together?

``check.py`` lets one value move by six spreads, so that a change of all of them by 2% passes. This
test takes other seeds than the record, divides what each drawn value differs from its recorded
middle by its recorded spread, and averages these z by kind of value (mean, sd, width of the HDI,
each probability), by property (groups, weights, pools, slices, …) and by both. Each average must
lie within ±0.2::

    python -m verification.answers.pooled                # ten seeds
    python -m verification.answers.pooled --plant 0.98   # and again with every sd times 0.98: must fail
    python -m verification.answers.pooled --only compare

Three rules keep an unchanged library within the limits:

- Ends of intervals jump, since a posterior may have two narrowest intervals. Their distance is
  looked at instead, and no z counts for more than three.
- Values of one seed hang together, because many calls draw from the same stream, and the recorded
  middles hang together in the same way. So the error of an average comes from the averages of the
  single seeds, the recorded nine included, and an average of few values may be as far from zero as
  chance makes it in one run of a hundred, all averages taken together. The column ``limit`` says how far.
- A value that is the same for all seeds says nothing and is left out.

The exit code is 0 only if every average is within its limit. Calls that simulate for long
(``LEFT_OUT``) are only looked at by ``check.py``.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from scipy.stats import t as student

from verification.answers.calls import CALLS
from verification.answers.facts import answer
from verification.answers.record import ANSWERS, OTHER_SEEDS

FIRST_SEED = 2_001
LIMIT = 0.2
FARTHEST = 3.0  # no z counts for more, whichever way
CHANCE = 0.01  # of a wrong alarm in a whole run
LEAST_VALUES = 4  # fewer are no average
LEFT_OUT = ("plan/", "power/", "propose/", "result/more_data", "result/curve", "pymc/")

# Which calls have a property: what their names match.
PROPERTIES = {
    "annotators": "annotators", "bootstrap": "bootstrap", "classes, three": "/three",
    "classes, twenty and more": "twenty|zipf|thousand|learned/50", "class scores": "class-scores",
    "documents": "documents", "fold scores": "fold-scores", "folds": "^bcv/|^cross/",
    "gates": "^gate/|/gate", "grades": "grades|seconds", "groups": "groups|both|unordered",
    "hierarchical": "hierarchical", "jeffreys": "jeffreys", "judged": "judged",
    "label errors": "label-errors", "label sets": "/sets|label_sets|^sets/", "learned": "learned|three/default",
    "many draws": "many-draws", "masks": "masks", "metrics of one's own": "/own(-|$)|/gap",
    "monitors": "^monitor/", "own priors": "prior-(number|own|matrix|cube|shares)",
    "pairs": "^pairs/", "pools": "pool", "proportions": "prevalence", "rankings": "^rank/|/rank",
    "ratios": "ratio", "repeated": "repeated", "runs": "^runs/", "scorecards": "scorecard",
    "scores": "/scores/|probabilities", "sensitivity": "sensitivity", "slices": "slices",
    "spans": "spans|tags", "statistics": "statistics", "suites": "^suite/", "targets": "targets|regression",
    "texts": "texts", "uniform": "uniform", "unit": "unit", "unpaired": "unpaired|confusion",
    "votes": "votes", "weights": "weights|both",
}  # fmt: skip
COUNTED_KINDS = ("mean", "sd", "HDI width")  # looked at by property, besides all probabilities


def kind_of(path: str) -> str | None:
    """Return the kind of a drawn value: mean, sd, or the name of a probability."""
    name = next((part for part in reversed(path.split("/")) if not part.isdigit()), "")
    if name in ("mean", "sd") or name.startswith("p_") or name in ("win_rate", "expected_rank"):
        return name
    return None


def distances(
    facts: dict[str, object], drawn: dict[str, list[float]]
) -> Iterator[tuple[str, float]]:
    """Yield the kind and the z of each drawn value of a call, and of the width of each interval."""
    for path, (middle, spread, _) in drawn.items():
        value = facts.get(path)
        kind = kind_of(path)
        if kind is not None and isinstance(value, int | float) and spread > 0:
            yield kind, (value - middle) / spread
        high = f"{path.removesuffix('low')}high"
        if path.endswith(("hdi/low", "eti/low")) and high in drawn:
            ends = facts.get(path), facts.get(high)
            error = float(np.hypot(spread, drawn[high][1]))
            if all(isinstance(end, float) for end in ends) and error > 0:
                kind = "HDI width" if path.endswith("hdi/low") else "ETI width"
                yield kind, (ends[1] - ends[0] - drawn[high][0] + middle) / error


def groups_of(call: str, kind: str) -> Iterator[str]:
    """Yield the averages that a value counts in."""
    yield kind
    probability = kind.startswith("p_")
    if probability:
        yield "all probabilities"
    if kind in COUNTED_KINDS or probability:
        for name in properties_of(call):
            yield f"{name}: {'probabilities' if probability else kind}"


def properties_of(call: str) -> list[str]:
    return [name for name, pattern in PROPERTIES.items() if re.search(pattern, call)] or ["plain"]


def planted(facts: dict[str, object], factor: float) -> dict[str, object]:
    """Return the facts with every sd times a factor."""
    return {
        path: value * factor if kind_of(path) == "sd" and isinstance(value, float) else value
        for path, value in facts.items()
    }


class Averages:
    """Sums of z by group and seed."""

    def __init__(self, n_seeds: int) -> None:
        self.n_seeds = n_seeds
        self.sums: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(n_seeds))
        self.numbers: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(n_seeds))

    def add(
        self, seed: int, call: str, facts: dict[str, object], drawn: dict[str, list[float]]
    ) -> None:
        for kind, z in distances(facts, drawn):
            for group in groups_of(call, kind):
                self.sums[group][seed] += np.clip(z, -FARTHEST, FARTHEST)
                self.numbers[group][seed] += 1

    def report(self) -> int:
        """Print every average, the worst last; return how many are beyond their limits."""
        kept = {name: one.min() for name, one in self.numbers.items() if one.min() >= LEAST_VALUES}
        width = student.ppf(1 - CHANCE / 2 / max(len(kept), 1), max(self.n_seeds - 1, 1))
        rows = []
        for name, number in kept.items():
            by_seed = self.sums[name] / self.numbers[name]
            sd = float(np.std(by_seed, ddof=1)) if self.n_seeds > 1 else 0.0
            error = sd * np.sqrt(1 / self.n_seeds + 1 / (1 + len(OTHER_SEEDS)))
            rows.append(
                (float(by_seed.mean()), max(LIMIT, float(width * error)), name, int(number))
            )
        rows.sort(key=lambda row: abs(row[0]) / row[1])
        print(f"{'mean z':>8} {'limit':>6} {'values':>6}  of")
        for mean, limit, name, number in rows:
            mark = "  BEYOND" if abs(mean) > limit else ""
            print(f"{mean:8.3f} {limit:6.2f} {number:6}  {name}{mark}")
        beyond = sum(abs(mean) > limit for mean, limit, *_ in rows)
        print(f"{len(rows)} averages over {self.n_seeds} seeds, {beyond} beyond their limits")
        return beyond


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=10, help="how many (default 10)")
    parser.add_argument(
        "--only", default="", metavar="PREFIX", help="only calls whose name begins so"
    )
    parser.add_argument("--plant", type=float, metavar="FACTOR", help="multiply every sd, too")
    options = parser.parse_args()
    record = json.loads(ANSWERS.read_text(encoding="utf-8"))["calls"]
    calls = {
        name: function
        for name, function in CALLS.items()
        if name.startswith(options.only)
        and not name.startswith(LEFT_OUT)
        and record.get(name, {}).get("drawn")
    }
    begun = time.process_time()
    averages, with_plant = Averages(options.seeds), Averages(options.seeds)
    for seed in range(options.seeds):
        for name, function in calls.items():
            facts, _ = answer(function, FIRST_SEED + seed)
            drawn = record[name]["drawn"]
            averages.add(seed, name, facts, drawn)
            if options.plant:
                with_plant.add(seed, name, planted(facts, options.plant), drawn)
    beyond = averages.report()
    print(f"{len(calls)} calls, {time.process_time() - begun:.0f} s of processor time")
    if options.plant:
        print(f"\nWith every sd times {options.plant}:")
        beyond = with_plant.report()
    return 1 if beyond or not calls else 0


if __name__ == "__main__":
    sys.exit(main())
