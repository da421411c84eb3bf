"""Record what the public interface of outperform answers, in ``answers.json`` beside this file.

Run it once, before a change that must not alter any answer::

    python -m verification.answers.record                   # nine times all calls; --jobs 2 uses two processes
    python -m verification.answers.record --only plan       # only calls whose name begins so; the others stay as they are

It makes every call of ``calls.py`` with the base seed and with eight other seeds, and sorts what
comes back (``facts.py``) into three kinds:

``exact``
    The same for every seed: observed values, counts, names, firm decisions, findings, closed forms.
    A float must be equal to nine digits.
``drawn``
    Comes from random draws. Kept as ``[middle, spread, base]``: the mean over all seeds, how far one
    seed lies from it (one standard deviation), and the value of the base seed. A new value may be six
    spreads from the middle.
``loose``
    Depends on the seed and is not a number, such as a decision whose interval ends at an edge of the
    ROPE. Not compared.

``check.py`` compares an installed version with the file.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import outperform as op
from verification.answers.calls import CALLS
from verification.answers.facts import Facts, Plain, answer

ANSWERS = Path(__file__).resolve().parent / "answers.json"
BASE_SEED = 1
OTHER_SEEDS = (101, 102, 103, 104, 105, 106, 107, 108)
WIDTH = 6  # a drawn value may be so many spreads from the middle
LEAST = 1e-12  # and always so far
UNSURE = 2  # a spread from a few seeds alone, with nothing to hold it against, is doubled
STEP = 0.1  # mean ranks over five tasks move in steps of 0.2, and so do the ends of their intervals
CHANCES = ("p_", "win_rate", "borda", "regret", "expected_", "p_like_overall", "probabilities")
BY_CHANCE = ("monte_carlo", "coarse")  # findings about the draws themselves

Answers = list[tuple[Facts, dict[str, float]]]


def all_answers(only: str, seed: int) -> dict[str, tuple[Facts, dict[str, float]]]:
    """Make every call whose name begins so with one seed."""
    return {
        name: answer(function, seed) for name, function in CALLS.items() if name.startswith(only)
    }


def sorted_out(found: Answers) -> dict[str, object]:
    """Sort the facts of one call into exact, drawn and loose; the base seed comes first."""
    base = found[0][0]
    paths = {path: None for facts, _ in found for path in facts}
    exact: Facts = {}
    drawn: dict[str, list[float]] = {}
    loose: list[str] = []
    for path in paths:
        if any(path not in facts for facts, _ in found) or any(one in path for one in BY_CHANCE):
            loose.append(path)
            continue
        values = [facts[path] for facts, _ in found]
        stated = statistics.median(errors.get(path, 0.0) for _, errors in found)
        spread = spread_of(path, values, stated, base)
        if spread is not None:
            drawn[path] = [_short(statistics.fmean(values)), float(f"{spread:.3g}"), values[0]]
        elif all(one == values[0] for one in values):
            exact[path] = values[0]
        else:
            loose.append(path)
    for path in [one for one in exact if is_decision(one) and not is_firm(one, base, drawn)]:
        del exact[path]
        loose.append(path)
    return {
        kind: kept for kind, kept in (("exact", exact), ("drawn", drawn), ("loose", loose)) if kept
    }


def spread_of(path: str, values: list[Plain], stated: float, base: Facts) -> float | None:
    """Return how far a drawn value varies from seed to seed; None if it is no drawn number."""
    if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in values):
        return None
    seen, draws = statistics.stdev(values), draws_of(path, base)
    likely = least_spread(path, statistics.fmean(values), draws) if draws else 0.0
    if seen <= 1e-12 * abs(values[0]):  # the same for every seed, perhaps by chance
        by_chance = (
            likely and isinstance(values[0], float) and (values[0] in (0.0, 1.0) or likely == STEP)
        )
        return likely if by_chance and not is_exact(path, base) else None
    return max(seen, stated, likely) if stated or likely else UNSURE * seen


def least_spread(path: str, value: float, draws: float) -> float:
    """Return the binomial error of a probability, which is never quite 0; 0 if it is something else."""
    if "mean_rank_hdi" in path:
        return STEP
    name = next((one for one in reversed(path.split("/")) if not one.isdigit()), "")
    if not name.startswith(CHANCES) and "regret" not in path:
        return 0.0
    if name.startswith("p_") and 0 <= value <= 1:
        return math.sqrt(max(value * (1 - value), 1 / draws) / draws)
    return 1 / draws


def draws_of(path: str, base: Facts) -> float | None:
    """Return how many draws or simulations a value comes from, as the nearest table around it says."""
    return next(
        (
            float(base[name])
            for name in around(path, "n_draws", "n_simulations")
            if isinstance(base.get(name), int)
        ),
        None,
    )


def is_exact(path: str, base: Facts) -> bool:
    """Say whether a result says of itself that it is a closed form."""
    return next((base[name] is True for name in around(path, "exact") if name in base), False)


def around(path: str, *names: str) -> list[str]:
    """Return the paths of some names beside a path, then around it, the nearest first."""
    parts = path.split("/")[:-1]
    return ["/".join([*parts[:k], name]) for k in range(len(parts), -1, -1) for name in names]


def is_decision(path: str) -> bool:
    return path.rsplit("/", 1)[-1] in ("decision", "unpooled_decision")


def is_firm(path: str, base: Facts, drawn: dict[str, list[float]]) -> bool:
    """Say whether the ends of the interval are farther from the ROPE than draws may move them."""
    front, _, name = path.rpartition("/")
    own = f"{front}/" if front else ""
    interval = f"{own}{name.replace('decision', 'hdi')}"
    for end in ("low", "high"):
        place = f"{interval}/{end}"
        if place not in drawn:
            continue  # a closed form, or no interval at all
        middle, spread, _ = drawn[place]
        edges = [
            base.get(one) for edge in ("low", "high") for one in around(f"{own}x", f"rope/{edge}")
        ]
        if any(isinstance(one, float) and abs(middle - one) <= WIDTH * spread for one in edges):
            return False
    return True


def _short(value: float) -> float:
    return float(f"{value:.10g}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=1, help="how many processes (default 1)")
    parser.add_argument(
        "--only", default="", metavar="PREFIX", help="only calls whose name begins so"
    )
    asked = parser.parse_args()
    begun = time.time()
    with ProcessPoolExecutor(asked.jobs) as pool:
        found = list(pool.map(partial(all_answers, asked.only), (BASE_SEED, *OTHER_SEEDS)))
    kept = json.loads(ANSWERS.read_text(encoding="utf-8"))["calls"] if asked.only else {}
    kept = {name: one for name, one in kept.items() if name in CALLS}
    kept |= {name: sorted_out([one[name] for one in found]) for name in found[0]}
    about = {"version": op.__version__, "base_seed": BASE_SEED, "other_seeds": list(OTHER_SEEDS)}
    text = json.dumps(
        {"about": about, "calls": kept}, sort_keys=True, ensure_ascii=False, separators=(",", ":")
    )
    ANSWERS.write_text(text.replace('},"', '},\n"') + "\n", encoding="utf-8")
    count = {
        kind: sum(len(one.get(kind, ())) for one in kept.values())
        for kind in ("exact", "drawn", "loose")
    }
    print(
        f"{len(kept)} calls, {count}, {ANSWERS.stat().st_size:,} bytes, {time.time() - begun:.0f} s"
    )


if __name__ == "__main__":
    main()
