"""HELM: run_spec.json, per_instance_stats.json and scenario_state.json in a run folder."""

from __future__ import annotations

import os
import re
from pathlib import Path

from outperform.errors import DataError
from outperform.io.logs.format import (
    Log,
    LogFormat,
    Row,
    check_total,
    get_optional,
    get_typed,
    read_json,
)
from outperform.io.logs.samples import field_of

_INSTANCES = "per_instance_stats.json"
_MODEL_PART = re.compile(r"(?<=[:,])model(?:_deployment)?=[^,]*,?")


def _read(path: Path) -> Log:
    name = os.fspath(path)
    spec = read_json(path.with_name("run_spec.json"))
    spec_name = os.fspath(path.with_name("run_spec.json"))
    model = get_typed(spec, "adapter_spec.model", str, at=spec_name)
    task = _MODEL_PART.sub("", get_typed(spec, "name", str, at=spec_name)).rstrip(":,")
    instances = _instances(path.with_name("scenario_state.json"))
    entries = read_json(path)
    if not isinstance(entries, list) or not entries:
        raise DataError(f"{name} must be a list of instances; is it damaged?")
    scores: dict[tuple[str, str, int], dict[str, object]] = {}
    splits: dict[tuple[str, str, int], str] = {}
    for number, entry in enumerate(entries, start=1):
        at = f"{name}, entry {number}"
        key = (
            get_typed(entry, "instance_id", str, at=at),
            get_optional(entry, "perturbation.name", str, at=at) or "none",
            get_typed(entry, "train_trial_index", int, at=at),
        )
        entry_scores = scores.setdefault(key, {})
        for stat in get_typed(entry, "stats", list, at=at):
            metric = get_typed(stat, "name.name", str, at=at)
            if metric in entry_scores:  # an instance has several entries with different metrics
                raise DataError(f"{at}: {metric!r} of {key[0]!r} occurs twice")
            entry_scores[metric] = _mean(stat, f"{at}, {metric!r}")
            splits[key] = get_optional(stat, "name.split", str, at=at) or "none"
    return Log(
        [
            Row(
                model=model,
                id=key[0],
                task=task,
                epoch=key[2] + 1,
                scores=instance_scores,
                question={"input": field_of(instances.get(key[:2]), "input.text")},
                gold={"references": field_of(instances.get(key[:2]), "references")},
                about={
                    **instances.get(key[:2], {}),
                    "perturbation": key[1],
                    "split": splits.get(key),
                },
            )
            for key, instance_scores in scores.items()
        ]
    )


def _mean(stat: object, at: str) -> float | None:
    """Return the mean of a statistic, which must equal its sum divided by its count."""
    count = get_typed(stat, "count", int, at=at)
    get_typed(stat, "count", float, at=at)  # an integer can be too large for a float
    if not count:
        return None
    mean, total = (get_typed(stat, key, float, at=at) for key in ("mean", "sum"))
    check_total(at, "as the mean", mean, total / count)
    return float(mean)


def _instances(path: Path) -> dict[tuple[str, str], dict[str, object]]:
    """Return the instances by id and perturbation, if the run stored them."""
    if not path.is_file():
        return {}
    at = os.fspath(path)
    instances = {}
    for state in get_typed(read_json(path), "request_states", list, at=at):
        instance = get_typed(state, "instance", dict, at=at)
        perturbation = get_optional(instance, "perturbation.name", str, at=at) or "none"
        instances[get_typed(instance, "id", str, at=at), perturbation] = instance
    return instances


FORMAT = LogFormat(
    name="helm",
    read=_read,
    files=(_INSTANCES,),
    what=f"run, a folder with {_INSTANCES}",
    unmistakable=(_INSTANCES,),
    single=("perturbation", "split"),
)
