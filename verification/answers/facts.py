"""What of an answer is recorded: a flat mapping from a path such as ``hdi/low`` to a plain value.

Taken from ``to_dict()`` where a result has it, without texts. Rows of a table go by their name, not
by their place, so that two models that change places do not change every path.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

import outperform as op

# Texts, what follows from other numbers, and the Monte Carlo errors, which are used in another way.
LEFT_OUT = {
    "schema",
    "signature",
    "metric_label",
    "symbol",
    "words",
    "message",
    "parameter",
    "mc_errors",
    "rope_curve",
    "mcse_low",
    "mcse_high",
    "unit",
    "n_types",
    "greater_is_better",
    "bf01",
    "items",
    "names",
    "error",
    "shapes",
    "left_out",
    "method",
}
SEARCHED = {"sizes", "shares", "widths"}  # where a plan looked, which depends on the seed
# Of A and B inside a comparison, only these: the rest is that of the comparison.
OF_ONE_MODEL = {"name", "observed", "mean", "sd", "mcse", "hdi", "exact", "findings"}
ROW_NAMES = ("name", "task", "key", "prior", "number")
MOST = 10  # values of a long list of numbers, evenly chosen

Plain = str | int | float | bool | None | list
Facts = dict[str, Plain]


def answer(function: Callable[[int], object], seed: int) -> tuple[Facts, dict[str, float]]:
    """Make a call; return its facts, and the Monte Carlo errors that the result itself states."""
    try:
        found = function(seed)
    except Exception as error:  # a refusal is an answer too
        return {"error": type(error).__name__, "message": str(error)[:80]}, {}
    facts: Facts = {}
    errors: dict[str, float] = {}
    _walk("", plain(found), facts, errors)
    return facts, errors


def plain(found: object) -> object:
    """Return an answer as dictionaries, lists and plain values."""
    if isinstance(found, op.Outcomes):
        return _outcomes(found)
    if isinstance(found, op.Scores):
        return _scores(found)
    if isinstance(found, op.nhst.TestResult):
        return {
            "statistic": found.statistic,
            "p_value": found.p_value,
            "n": found.n,
            "degrees_of_freedom": list(found.degrees_of_freedom),
        }
    if isinstance(found, np.ndarray):
        return found.tolist()
    if isinstance(found, Mapping | list | tuple | str | int | float | bool | None | np.generic):
        return found
    return {"names": list(getattr(found, "names", ())), **found.to_dict()}


def _outcomes(found: op.Outcomes) -> dict[str, object]:
    """Return how many items, whose, of which classes, and each model's own confusion matrix."""
    facts: dict[str, object] = {
        "n": found.n,
        "models": list(found.models),
        "kind": found.kind,
        "paired": found.paired,
        "n_classes": found.n_classes,
        "labels": [str(one) for one in found.labels[:6]],
        "groups": found.groups.n if found.groups is not None else None,
        "weighted": found.weighted,
        "findings": _findings(found.findings),
    }
    if found.kind == "spans":
        facts["hits"] = {m: np.asarray(found.margins(m).hits).tolist() for m in found.models}
    elif found.kind in ("classes", "correct") and found.n_classes and found.n_classes <= 3:
        facts["confusion"] = {m: np.ravel(found.confusion(m)).tolist() for m in found.models}
    return facts


def _scores(found: op.Scores) -> dict[str, object]:
    return {
        "n": found.n,
        "n_groups": found.n_groups,
        "models": list(found.models),
        "labels": [str(one) for one in found.labels[:6]],
        "findings": _findings(found.findings),
        "sums": {m: float(np.sum(v)) for m, v in zip(found.models, found.values)},
    }


def _findings(found: object) -> list[dict[str, str]]:
    return [{"name": one.name, "level": str(one.level)} for one in found]


def _walk(path: str, value: object, facts: Facts, errors: dict[str, float]) -> None:
    """Add all values below a path."""
    if isinstance(value, Mapping):
        _walk_mapping(path, value, facts, errors)
    elif isinstance(value, list | tuple):
        _walk_list(path, list(value), facts, errors)
    else:
        facts[path] = _scalar(value)


def _walk_mapping(path: str, value: Mapping, facts: Facts, errors: dict[str, float]) -> None:
    _note_errors(path, value, errors)
    for key, inner in value.items():
        if key == "decision" and isinstance(inner, Mapping):
            facts[_join(path, "decision")] = inner["name"]
        elif key == "findings":
            for one in inner:  # a finding, or its name alone
                name, level = (
                    (one, "") if isinstance(one, str) else (one["name"], str(one["level"]))
                )
                facts[_join(path, f"findings/{name}")] = level
        elif key == "names" and path == "":
            facts["names"] = [str(one) for one in inner]
        elif key in ("a", "b") and isinstance(inner, Mapping) and inner.get("kind") == "estimate":
            kept = {k: v for k, v in inner.items() if k in OF_ONE_MODEL}
            _note_errors(_join(path, key), inner, errors)
            _walk(_join(path, key), kept, facts, errors)
        elif key == "mcse" and "mean" not in value:
            continue  # that of a Bayes factor, which says little
        elif key in SEARCHED and value.get("kind") == "plan":
            continue
        elif key not in LEFT_OUT:
            _walk(_join(path, str(key)), inner, facts, errors)


def _walk_list(path: str, value: list, facts: Facts, errors: dict[str, float]) -> None:
    if value and all(
        isinstance(one, Mapping) and "symbol" in one and "name" in one for one in value
    ):
        facts[path] = [one["name"] for one in value]  # decisions
    elif any(isinstance(one, Mapping | list | tuple) for one in value):
        for place, one in enumerate(value):
            _walk(_join(path, _row_name(one, place)), one, facts, errors)
    elif any(isinstance(one, float | np.floating) for one in value):
        for place in sorted(
            {round(k) for k in np.linspace(0, len(value) - 1, min(MOST, len(value)))}
        ):
            facts[_join(path, str(place))] = _scalar(value[place])
        facts[_join(path, "length")] = len(value)
    else:
        facts[path] = [_scalar(one) for one in value]


def _row_name(row: object, place: int) -> str:
    """Name a row by what it is about; by its place if it does not say."""
    if isinstance(row, Mapping):
        if "names" in row:
            return " - ".join(map(str, row["names"])) + f" {row.get('metric', '')}".rstrip()
        for name in ROW_NAMES:
            if name in row:
                key = row[name]
                return " ".join(map(str, key)) if isinstance(key, list | tuple) else str(key)
    return str(place)


def _note_errors(path: str, value: Mapping, errors: dict[str, float]) -> None:
    """Keep the Monte Carlo errors that a result states, under the paths that they are about."""
    for key, error in (
        (value.get("mc_errors") or {}).items()
        if isinstance(value.get("mc_errors"), Mapping)
        else ()
    ):
        errors[_join(path, key.replace("regret_", "regret/"))] = float(error)
    if isinstance(value.get("mcse"), float) and "mean" in value:
        errors[_join(path, "mean")] = value["mcse"]
    for end in ("low", "high"):
        if isinstance(value.get(f"mcse_{end}"), float):
            errors[_join(path, end)] = value[f"mcse_{end}"]


def _scalar(value: object) -> Plain:
    """Return a plain value; floats keep ten digits."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.10g}") if math.isfinite(value) else str(value)
    if value is None or isinstance(value, bool | int):
        return value
    return str(value)[:80]


def _join(path: str, key: str) -> str:
    return f"{path}/{key}" if path else key
