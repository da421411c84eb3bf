"""From logs of evaluations to outcomes or grades: read, choose a score, pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from outperform.errors import DataError, UsageError, unknown_name
from outperform.findings import Finding
from outperform.ingest.cells import OnNull
from outperform.ingest.evaluations import inspect_logs
from outperform.ingest.evaluations.inspect_tables import read_table
from outperform.ingest.evaluations.lm_eval import read_lm_eval
from outperform.ingest.evaluations.pairing import Paired, pair
from outperform.ingest.evaluations.samples import FailedLog, Samples
from outperform.ingest.evaluations.scores import GRADE, RIGHT, Kind, choose_score
from outperform.ingest.evaluations.sources import Part, is_path, logs_under, parts_of
from outperform.ingest.files.joining import OnMissing
from outperform.ingest.files.tables import Where
from outperform.outcomes import Outcomes, Scores

FORMATS = ("lm-eval", "inspect")
_EXAMPLES = 5

Models = Sequence[str] | Mapping[str, str] | None


def read_evaluations(source: Any, **asked: Any) -> Outcomes:
    """Count what several models got right, paired on the item; see :func:`outperform.read`."""
    paired = _read(source, RIGHT, **asked)
    right = {model: [value == 1 for value in scores] for model, scores in paired.scores.items()}
    seen = Outcomes.from_correct(right, groups=paired.items)
    return replace(seen, findings=paired.findings + seen.findings)


def read_grades(source: Any, **asked: Any) -> Scores:
    """Return what several models scored, by item; see :func:`outperform.read_scores`."""
    paired = _read(source, GRADE, **asked)
    seen = Scores.from_values(paired.scores, groups=paired.items)
    return replace(seen, findings=paired.findings + seen.findings, sources=(paired.score,))


def _read(
    source: Any,
    kind: Kind,
    *,
    format: str,
    score: str | None = None,
    models: Models = None,
    where: Where = None,
    on_missing: OnMissing = "refuse",
    on_null: OnNull = "refuse",
    skip_failed: bool = False,
) -> Paired:
    parts = parts_of(source)
    wanted = score if format == "lm-eval" or score is None else score.removeprefix("score_")
    every, failed = (
        read_lm_eval(parts, score=wanted, where=where)
        if format == "lm-eval"
        else _read_inspect(parts, score=wanted, where=where)
    )
    findings = _without_failed(every, _asked_for(failed, models), skip_failed)
    if not every:
        raise UsageError(f"no log is left after where={dict(where or {})!r}")
    chosen = _only(every, models)
    score = choose_score(chosen, wanted, kind)
    paired = pair(chosen, score, kind, on_missing=on_missing, on_null=on_null)
    return paired._replace(findings=findings + paired.findings)


def _read_inspect(
    parts: Sequence[Part], *, score: str | None, where: Where
) -> tuple[list[Samples], list[FailedLog]]:
    found: list[Samples] = []
    failed: list[FailedLog] = []
    for part in parts:
        if is_path(part.source):
            samples, bad = _read_paths(part, score=score, where=where)
            found += _under_one_name(part, samples)
            failed += bad
        else:
            found += _under_one_name(part, read_table(part, score=score, where=where))
    return found, failed


def _read_paths(
    part: Part, *, score: str | None, where: Where
) -> tuple[list[Samples], list[FailedLog]]:
    found: list[Samples] = []
    failed: list[FailedLog] = []
    for path in logs_under(part.source, inspect_logs.is_log, what="log, *.eval or *.json,"):
        if path.suffix.lower() not in inspect_logs.ENDINGS:
            found += read_table(part._replace(source=path), score=score, where=where)
            continue
        log = inspect_logs.read_log(part, path, where=where)
        if isinstance(log, FailedLog):
            failed.append(log)
        elif log is not None:
            found.append(log)
    return found, failed


def _asked_for(failed: Sequence[FailedLog], models: Models) -> list[FailedLog]:
    """Keep the failed logs of models that were asked for, or that may be theirs."""
    if not models or isinstance(models, (str, bytes)):
        return list(failed)
    asked = models.values() if isinstance(models, Mapping) else models
    return [one for one in failed if one.model is None or one.model in asked]


def _without_failed(
    every: Sequence[Samples], failed: Sequence[FailedLog], skip: bool
) -> tuple[Finding, ...]:
    """Refuse failed logs, all of them at once, or leave them out and say so."""
    if not failed:
        return ()
    shown = "; ".join(one.reason for one in failed[:_EXAMPLES])
    more = f"; and {len(failed) - _EXAMPLES} more" if len(failed) > _EXAMPLES else ""
    n_logs = len(failed) + len({one.name for one in every})
    if not skip or not every:
        told = f"{len(failed)} of {n_logs} logs cannot be used: " if n_logs > 1 else ""
        rest = ", or leave it out with skip_failed=True" if every else ""
        raise DataError(f"{told}{shown}{more}. Run the evaluation again, or mend the file{rest}")
    message = f"{len(failed)} of {n_logs} logs are left out: {shown}{more}."
    return (Finding("failed_logs_skipped", "warning", message),)


def _under_one_name(part: Part, found: Sequence[Samples]) -> list[Samples]:
    """Give the samples of a part the name that the caller gave it, if that is one model."""
    if part.model is None:
        return list(found)
    own = dict.fromkeys(one.model for one in found)
    if len(own) > 1:
        raise UsageError(
            f"what is given as {part.model!r} has the models {', '.join(map(repr, own))}; leave "
            "the name out and choose with models="
        )
    return [replace(one, model=part.model) for one in found]


def _only(every: Sequence[Samples], models: Models) -> list[Samples]:
    """Keep the models that were asked for, under the names that they should have."""
    if models is None:
        return list(every)
    if isinstance(models, (str, bytes)) or not models:
        raise UsageError(f"models must be a list of names, e.g. ['llama', 'gpt']; got {models!r}")
    asked = dict(models) if isinstance(models, Mapping) else {name: name for name in models}
    known = dict.fromkeys(one.model for one in every)
    for name in asked.values():
        if name not in known:
            raise UsageError(unknown_name("model", name, known))
    return [
        replace(one, model=shown)
        for shown, name in asked.items()
        for one in every
        if one.model == name
    ]
