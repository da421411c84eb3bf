"""What mistakes cost, from the command line: ``--cost fraud:ok=100,ok:fraud=5 --unit EUR``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outperform.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from outperform._typing import Label
    from outperform.metrics import Metric
    from outperform.outcomes import Outcomes, Scores


def priced(
    seen: Outcomes | Scores, metric: str | None, cost: str | None, unit: str | None
) -> str | Metric | None:
    """Return the metric that was named, or the cost that was given instead."""
    if cost is None:
        if unit is not None:
            raise UsageError("--unit is that of --cost, which is not given")
        return metric
    if metric is not None:
        raise UsageError(f"give --metric or --cost, not both; got {metric!r} and {cost!r}")
    from outperform import metrics

    return metrics.cost(dict(_pair(seen, part) for part in cost.split(",")), unit=unit)


def _pair(seen: Outcomes | Scores, text: str) -> tuple[tuple[Label, Label], float]:
    """Read truth:prediction=cost; a class may have colons of its own."""
    pair, sign, number = text.strip().rpartition("=")
    try:
        cost = float(number)
    except ValueError:
        sign = ""
    if not sign or ":" not in pair:
        raise UsageError(
            f"--cost must be truth:prediction=cost, e.g. fraud:ok=100,ok:fraud=5; got {text!r}"
        )
    known = {str(label): label for label in seen.labels}
    cuts = [place for place, sign in enumerate(pair) if sign == ":"]
    found = [(pair[:cut], pair[cut + 1 :]) for cut in cuts]
    named = [one for one in found if one[0] in known and one[1] in known]
    if len(named) != 1:
        unknown = [name for name in found[0] if name not in known]
        raise UsageError(
            unknown_name("class", unknown[0], known)
            if unknown
            else f"{pair!r} in --cost can be read in more than one way"
        )
    return (known[named[0][0]], known[named[0][1]]), cost
