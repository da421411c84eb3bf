"""Closed forms against golden values in fifty-digit arithmetic: the largest relative errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from outperform._typing import Distribution
from outperform.posterior.exact.difference import DirichletDifference, IndependentDifference
from outperform.posterior.exact.f_score import WeightedShare
from outperform.posterior.exact.share import Share
from verification import markdown

GOLDEN = Path(__file__).parents[1] / "tests" / "reference" / "closed.json"
# Counts up to here, what they are called, and the relative error that is allowed.
_BOUNDS = ((3e5, "counts up to 10⁵", 1e-12), (3e9, "up to 10⁹", 1e-10), (9e99, "up to 10¹²", 1e-8))

Row = Mapping[str, Any]
Errors = dict[str, list[float | None]]
"""The largest error of each kind, by the bounds of the counts; None where nothing was compared."""


def _difference(row: Row) -> IndependentDifference:
    return IndependentDifference(Share(*row["x"]), Share(*row["y"]))


_KINDS: dict[str, tuple[str, Callable[[Row], Distribution]]] = {
    "tails and density of a share": ("share_values", lambda row: Share(*row["shapes"])),
    "tails and density of F-beta": ("weighted_shares", lambda row: WeightedShare(*row["shapes"])),
    "tails and density of a paired difference": (
        "dirichlet_differences",
        lambda row: DirichletDifference(*row["shapes"]),
    ),
    "tails and density of an unpaired difference": ("share_differences", _difference),
}
_QUANTILES = "quantiles of a share, levels 10⁻¹² to 1 − 10⁻¹²"


def measure() -> Errors:
    """Compare every golden value with the package's."""
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    found: Errors = {}
    for what, total, error in _errors(golden):
        largest = found.setdefault(what, [None] * len(_BOUNDS))
        place = next(place for place, (most, _, _) in enumerate(_BOUNDS) if total <= most)
        largest[place] = max(error, largest[place] or 0.0)
    return found


def _errors(golden: Mapping[str, list[Row]]) -> Iterator[tuple[str, float, float]]:
    for row in golden["share_quantiles"]:
        quantile = Share(*row["shapes"]).quantile(row["level"])
        yield _QUANTILES, _total(row), _relative(quantile, row["quantile"])
    for what, (kind, make) in _KINDS.items():
        for row in golden[kind]:
            one, value = make(row), row["value"]
            for name in ("cdf", "sf", "pdf"):
                yield what, _total(row), _relative(getattr(one, name)(value), row[name])


def _total(row: Row) -> float:
    """Return about how many counts the shapes stand for; weights are at most 1."""
    return float(sum(row["shapes"] if "shapes" in row else [*row["x"], *row["y"]]))


def _relative(found: float, exact: str) -> float:
    return abs(found - float(exact)) / abs(float(exact))


def table(found: Errors) -> str:
    """Return the largest errors, one digit of each."""
    rows = [
        [what, *("" if error is None else f"{error:.0e}" for error in errors)]
        for what, errors in found.items()
    ]
    return markdown.table(("what", *(name for _, name, _ in _BOUNDS)), rows)


def failures(found: Errors) -> list[str]:
    """Return the errors that are larger than is allowed."""
    return [
        f"{what}, {name}: off by {error:.1e}"
        for what, errors in found.items()
        for error, (_, name, most) in zip(errors, _BOUNDS, strict=True)
        if error is not None and error > most
    ]
