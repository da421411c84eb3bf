"""Results in MLflow: numbers as metrics, decisions as tags, JSON and the report as artefacts."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from outperform.comparison.result import Comparison
from outperform.errors import UsageError, require
from outperform.gates.result import Gate, LevelCheck
from outperform.report.api import Result, write_report

__all__ = ["log"]

_MAX_TAG = 5000  # characters


def log(result: Comparison | Gate | Result, *, key: str = "outperform") -> None:
    """Log a result to the active MLflow run, or to a new run if none is active.

    A comparison is logged as metrics (``difference``, ``hdi_low``, ``p_better``, …) and tags
    (``decision``, ``metric``, ``rope``, ``findings``, ``signature``, …). A gate is logged with the
    metrics and tags of its main comparison, its ``status``, and the metrics of each guard. Every
    result also adds two artefacts, ``KEY.json`` and the report ``KEY.html``.

    Parameters
    ----------
    result
        Result to log.
    key
        Prefix of metrics and tags, and name of the files. Use a different key for every result in a
        run.

    Examples
    --------
    >>> import mlflow  # doctest: +SKIP
    >>> with mlflow.start_run():  # doctest: +SKIP
    ...     op.mlflow.log(op.compare(y_true, new, old, metric="f1_macro", rope=0.01))
    """
    client = require("mlflow", extra="mlflow", purpose="outperform.mlflow")
    if not key or not all(part.isascii() and part.isidentifier() for part in key.split(".")):
        raise UsageError(
            f"key must consist of names of letters, digits and _, separated by dots; got {key!r}"
        )
    numbers, words = _of(result)
    if numbers:
        client.log_metrics({f"{key}.{name}": value for name, value in numbers.items()})
        client.set_tags({f"{key}.{name}": value[:_MAX_TAG] for name, value in words.items()})
    client.log_dict(result.to_dict(), f"{key}.json")
    with TemporaryDirectory(prefix="outperform-") as folder:
        client.log_artifact(str(write_report(result, Path(folder) / f"{key}.html")))


def _of(result: object) -> tuple[dict[str, float], dict[str, str]]:
    """Return the metrics and tags of a comparison or gate; empty for other results."""
    if isinstance(result, Comparison):
        return _numbers(result), _words(result)
    if not isinstance(result, Gate):
        return {}, {}
    numbers: dict[str, float] = {}
    words: dict[str, str] = {}
    if len(result.names) == 2:
        numbers, words = _numbers(result.main), _words(result.main)
    for k, check in enumerate(
        (check for check in result.checks if isinstance(check, LevelCheck)), start=1
    ):
        estimate, key = check.estimate, f"level_{k}"
        values = {"mean": estimate.mean, "hdi_low": estimate.hdi.low, "hdi_high": estimate.hdi.high}
        numbers |= {f"{key}.{name}": float(value) for name, value in values.items()}
        words |= {f"{key}.metric": estimate.metric, f"{key}.required": check.level.side}
        numbers[f"{key}.value"] = check.level.value
    for k, guard in enumerate(result.guards, start=1):
        numbers |= {f"guard_{k}.{name}": value for name, value in _numbers(guard).items()}
        words |= {f"guard_{k}.metric": guard.metric}
    findings = ", ".join(finding.name for finding in result.findings)
    return numbers, words | {"status": result.status.value, "findings": findings}


def _numbers(c: Comparison) -> dict[str, float]:
    values: dict[str, Any] = {
        "difference": c.mean,
        "sd": c.sd,
        "hdi_low": c.hdi.low,
        "hdi_high": c.hdi.high,
        "p_worse": c.p_worse,
        "p_equivalent": c.p_equivalent,
        "p_better": c.p_better,
        "observed_difference": c.observed,
        "a": c.a.mean,
        "b": c.b.mean,
    }
    return {name: float(value) for name, value in values.items()}


def _words(c: Comparison) -> dict[str, str]:
    return {
        "a": c.names[0],
        "b": c.names[1],
        "metric": c.metric,
        "rope": f"{c.rope.low:g} to {c.rope.high:g}",
        "hdi_prob": f"{c.hdi.prob:g}",
        "decision": c.decision.name.lower(),
        "findings": ", ".join(finding.name for finding in c.findings),
        "signature": c.signature,
    }
