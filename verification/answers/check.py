"""Check that the installed outperform still answers as it did when ``answers.json`` was recorded.

Purpose: the library can be rebuilt inside, and anybody can see afterwards whether a user would notice.
It makes some 850 calls of the public interface (``calls.py``) and compares what they return with
the record (see ``record.py`` for the three kinds of values)::

    python -m verification.answers.check                      # everything, about a minute
    python -m verification.answers.check --only compare/spans # calls whose name begins so
    python -m verification.answers.check --list               # their names
    python -m verification.answers.check --seed-offset 7      # with other random draws: must pass as well

Each difference is one line, ``call path old new``. The last line is ``N calls, M differ``, and the
exit code is 0 only if none does. A value that is missing, a new one, and another exception are
differences too. Which outperform is checked is what Python imports: set PYTHONPATH to try another.

Values from random draws may lie six Monte Carlo errors from the recorded middle, so that an
implementation that draws in another order passes. The last but one line says how many of them still
have the recorded digits: all of them, if the same seed still gives the same draws.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator

from verification.answers.calls import CALLS
from verification.answers.facts import Facts, Plain, answer
from verification.answers.record import ANSWERS, BY_CHANCE, LEAST, WIDTH

RELATIVE = 1e-9  # how equal two floats are that do not come from draws
ABSENT = "(absent)"

Difference = tuple[str, object, object]  # path, old, new


def differences(old: dict, new: Facts) -> Iterator[Difference]:
    """Yield what differs between the record of a call and its new facts."""
    for path, value in old.get("exact", {}).items():
        if not is_equal(value, new.get(path, ABSENT)):
            yield path, value, new.get(path, ABSENT)
    for path, (middle, spread, _) in old.get("drawn", {}).items():
        value = new.get(path, ABSENT)
        if not is_near(value, middle, max(WIDTH * spread, LEAST)):
            yield path, f"{middle:.6g}±{WIDTH * spread:.2g}", value
    known = {*old.get("exact", {}), *old.get("drawn", {}), *old.get("loose", ())}
    for path, value in new.items():
        if (
            path not in known
            and not any(one in path for one in BY_CHANCE)
            and not beside_loose(path, old)
        ):
            yield path, ABSENT, value


def is_equal(old: Plain, new: object) -> bool:
    """Say whether two values are the same; floats to nine digits."""
    if isinstance(old, float) and isinstance(new, float):
        return math.isclose(old, new, rel_tol=RELATIVE, abs_tol=LEAST)
    return type(old) is type(new) and old == new


def is_near(value: object, middle: float, tolerance: float) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value - middle) <= tolerance


def beside_loose(path: str, old: dict) -> bool:
    """Say whether a new path belongs to a part that only some seeds have, such as ``needed/n``."""
    front = path.rpartition("/")[0]
    return any(
        (front and one.rpartition("/")[0] == front) or path.startswith(f"{one}/")
        for one in old.get("loose", ())
    )


def same_digits(old: dict, new: Facts) -> tuple[int, int]:
    """Return how many drawn values are the very ones of the base seed, and how many there are."""
    drawn = old.get("drawn", {})
    return sum(is_equal(base, new.get(path)) for path, (_, _, base) in drawn.items()), len(drawn)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--only", default="", metavar="PREFIX", help="only calls whose name begins so"
    )
    parser.add_argument("--list", action="store_true", help="print the names of the calls and stop")
    parser.add_argument(
        "--seed-offset", type=int, default=0, metavar="N", help="add N to the random seed"
    )
    return parser.parse_args()


def main() -> int:
    asked = arguments()
    record = json.loads(ANSWERS.read_text(encoding="utf-8"))
    names = [name for name in sorted({*CALLS, *record["calls"]}) if name.startswith(asked.only)]
    if asked.list:
        print(*names, sep="\n")
        return 0
    seed = record["about"]["base_seed"] + asked.seed_offset
    differ = same = drawn = 0
    for name in names:
        if name not in CALLS or name not in record["calls"]:
            found = [("(call)", name in record["calls"], name in CALLS)]  # recorded? made?
        else:
            old, (new, _) = record["calls"][name], answer(CALLS[name], seed)
            found = list(differences(old, new))
            counted = same_digits(old, new)
            same, drawn = same + counted[0], drawn + counted[1]
        differ += bool(found)
        for path, before, after in found:
            print(name, path or "(value)", before, after)
    print(f"{same} of {drawn} drawn values have the recorded digits")
    print(f"{len(names)} calls, {differ} differ")
    return 1 if differ or not names else 0


if __name__ == "__main__":
    sys.exit(main())
