"""Write closed.json, the golden values of the closed forms.

Run ``python tests/reference/make_reference.py`` after changing a case; it takes some
minutes. Values are decimal strings of 25 digits; arguments are the exact floats.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath as mp

sys.path.insert(0, str(Path(__file__).parent))

import mp_closed as reference

HALF = 0.5
LEVELS = (1e-12, 1e-6, 1e-3, 0.025, 0.5, 0.975, 0.999, 1 - 1e-6, 1 - 1e-12)
SIZES = (0, 1, 10, 1_000, 1_000_000, 1_000_000_000_000)


def number(value: float) -> Any:
    return mp.mpf(value)


def text(value: Any) -> str:
    return str(mp.nstr(value, 25))


def share_quantiles() -> list[dict[str, Any]]:
    """Recall and its kin: every size, count and level of the grid, two priors; then F1."""
    cases = []
    for n in SIZES:
        for k in sorted({0, min(1, n), n // 2, max(n - 1, 0), n}):
            for prior in (1.0, HALF):
                cases.append((k + prior, n - k + prior, 1.0))
    for tp, errors in ((80, 30), (70, 45), (0, 0), (0, 50), (80_000, 30_000), (8e8, 3e8)):
        cases.append((tp + 1.0, errors + 2.0, HALF))
    rows = []
    for a, b, weight in cases:
        for level in LEVELS:
            value = reference.share_quantile(*map(number, (a, b, weight, level)))
            rows.append({"shapes": [a, b, weight], "level": level, "quantile": text(value)})
    return rows


def share_values() -> list[dict[str, Any]]:
    """Density and both tails at up to seven standard deviations."""
    cases = [
        (81.0, 32.0, HALF),
        (1.0, 2.0, HALF),
        (HALF, 3.5, 1.0),
        (1.0, 1e5 + 1, 1.0),
        (1_001.0, 12.0, 1.0),
        (3e4, 7e4, 1.0),
        (5e4, 5e4, HALF),
        (1e5, 3.0, HALF),
        (2e8, 8e8, 1.0),
        (1e9, 40.0, 1.0),
        (5e8, 1e8, HALF),
        (4e11, 6e11, 1.0),
        (1e12, 2e6, 1.0),
    ]
    rows = []
    for a, b, weight in cases:
        centre = math.log(a) - math.log(b) - math.log(weight)
        for z in (-7.0, -2.5, -0.3, 0.4, 3.0, 6.5):
            odds = math.exp(centre + z * math.sqrt(1 / a + 1 / b))
            value = odds / (1 + odds)
            if not 0 < value < 1 - 1e-15:
                continue
            arguments = tuple(map(number, (a, b, weight, value)))
            rows.append(
                {
                    "shapes": [a, b, weight],
                    "value": value,
                    "cdf": text(reference.share_cdf(*arguments)),
                    "sf": text(reference.share_sf(*arguments)),
                    "pdf": text(reference.share_pdf(*arguments)),
                }
            )
    return rows


def both_tails(
    lower: Callable[[], Any], upper: Callable[[], Any], *, low_side: bool
) -> tuple[str, str]:
    """Integrate the smaller tail and take the other as what is left."""
    if low_side:
        tail = lower()
        return text(tail), text(1 - tail)
    tail = upper()
    return text(1 - tail), text(tail)


def weighted_shares() -> list[dict[str, Any]]:
    cases = [
        ((81.0, 11.0, 0.2, 21.0, 0.8), (0.6, 0.8, 0.93)),
        ((1.0, 1.0, 0.2, 1.0, 0.8), (0.05, 0.9)),
        ((5.0, 2.0, 0.8, 400.0, 0.2), (0.01, 0.1)),
        ((6e4, 1e4, 0.2, 2e4, 0.8), (0.777, 0.782)),
    ]
    rows = []
    for shapes, values in cases:
        for value in values:
            arguments = tuple(map(number, (*shapes, value)))
            upper = reference.weighted_share_sf(*arguments)
            rows.append(
                {
                    "shapes": list(shapes),
                    "value": value,
                    "sf": text(upper),
                    "cdf": text(1 - upper),
                    "pdf": text(reference.weighted_share_pdf(*arguments)),
                }
            )
    return rows


def dirichlet_differences() -> list[dict[str, Any]]:
    cases = [
        ((13.0, 6.0, 85.0), (-0.2, -0.01, 0.01, 0.06, 0.3)),
        ((31.0, 11.0, 162.0), (-0.01, 0.01, 0.1)),
        ((1.0, 1.0, 52.0), (-0.01, 0.01, 0.4)),
        ((41.0, 41.0, 922.0), (-0.01, 0.01)),
        ((1.0, 1.0, 2.0), (-0.7, 0.2)),
        ((300.0, 1.0, 2.0), (0.95, 0.995)),
        ((3e4, 2.9e4, 4e4), (0.0005, 0.012)),
        ((2.5e8, 2.49e8, 5e8), (0.00102, 0.00085)),
    ]
    rows = []
    for shapes, values in cases:
        ends = 240 if min(shapes) < 1 else 50
        mean = (shapes[0] - shapes[1]) / sum(shapes)
        for value in values:
            arguments = tuple(map(number, (*shapes, value)))
            lower, upper = both_tails(
                lambda arguments=arguments, ends=ends: reference.dirichlet_difference_cdf(
                    *arguments, ends=ends
                ),
                lambda arguments=arguments, ends=ends: reference.dirichlet_difference_sf(
                    *arguments, ends=ends
                ),
                low_side=value < mean,
            )
            density = reference.dirichlet_difference_pdf(*arguments, ends=ends)
            rows.append(
                {
                    "shapes": list(shapes),
                    "value": value,
                    "cdf": lower,
                    "sf": upper,
                    "pdf": text(density),
                }
            )
    return rows


def share_differences() -> list[dict[str, Any]]:
    cases = [
        ([81.0, 32.0, HALF], [71.0, 47.0, HALF], (-0.2, 0.0, 0.08, 0.35)),
        ([801.0, 302.0, HALF], [601.0, 502.0, HALF], (0.0, 0.12)),
        ([1.0, 2.0, HALF], [1.0, 2.0, HALF], (0.0, 0.5)),
        ([91.0, 11.0, 1.0], [81.0, 21.0, 1.0], (-0.01, 0.01)),
        ([1_001.0, 1.0, 1.0], [996.0, 6.0, 1.0], (0.0, 0.012)),
        ([5e4, 3e4, HALF], [4.9e4, 3.1e4, HALF], (0.0, 0.02)),
        ([4e8, 6e8, 1.0], [4.001e8, 5.999e8, 1.0], (0.0,)),
    ]
    rows = []
    for x, y, values in cases:
        mean = x[0] / (x[0] + x[2] * x[1]) - y[0] / (y[0] + y[2] * y[1])
        ends = 240 if min(x + y) < HALF + 0.1 and 0.5 in (x[0], y[0]) else 50
        for value in values:
            pair = tuple(map(number, x)), tuple(map(number, y)), number(value)
            lower, upper = both_tails(
                lambda pair=pair, ends=ends: reference.share_difference_cdf(*pair, ends=ends),
                lambda pair=pair, ends=ends: reference.share_difference_sf(*pair, ends=ends),
                low_side=value < mean,
            )
            density = reference.share_difference_pdf(*pair, ends=ends)
            rows.append(
                {
                    "x": x,
                    "y": y,
                    "value": value,
                    "cdf": lower,
                    "sf": upper,
                    "pdf": text(density),
                }
            )
    return rows


def bayes_factors() -> dict[str, list[dict[str, Any]]]:
    """Ratios of marginal likelihoods, which know nothing of densities at zero."""
    paired = [(12, 5, 83), (30, 10, 160), (0, 0, 50), (40, 40, 920), (500, 350, 9_150)]
    unpaired = [((80, 30), (70, 45)), ((800, 300), (600, 500)), ((8_000, 3_000), (7_900, 3_100))]
    return {
        "paired": [
            {"counts": list(counts), "bf01": text(reference.paired_bf01(*counts))}
            for counts in paired
        ],
        "unpaired": [
            {"counts": [list(a), list(b)], "bf01": text(reference.unpaired_f1_bf01(a, b))}
            for a, b in unpaired
        ],
    }


SECTIONS: dict[str, Callable[[], Any]] = {
    "share_quantiles": share_quantiles,
    "share_values": share_values,
    "weighted_shares": weighted_shares,
    "dirichlet_differences": dirichlet_differences,
    "share_differences": share_differences,
    "bayes_factors": bayes_factors,
}


def main(names: list[str]) -> None:
    """Write all sections, or only the named ones into the file that is there."""
    path = Path(__file__).with_name("closed.json")
    made = {name: SECTIONS[name]() for name in names or SECTIONS}
    golden = json.loads(path.read_text()) if names and path.exists() else {}
    golden["versions"] = {"mpmath": mp.__version__, "digits": mp.mp.dps}
    path.write_text(json.dumps(golden | made, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
