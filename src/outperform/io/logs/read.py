"""Recognize and read evaluation logs of several models, and pair them by item."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.errors import DataError, UsageError, param, unknown_name
from outperform.findings import Finding, clauses, finding
from outperform.io.addresses import masked
from outperform.io.catalogue import LOGS
from outperform.io.compression import magic
from outperform.io.group_by import OnNull
from outperform.io.join import OnMissing
from outperform.io.logs.counted import COUNTED, counted_text
from outperform.io.logs.format import LogFormat
from outperform.io.logs.pairs import (
    GRADE,
    OWN,
    RIGHT,
    Kind,
    Paired,
    choose_by_task,
    choose_score,
    pair,
)
from outperform.io.logs.samples import LONG, FailedLog, Samples, files_under, is_path, parts_of
from outperform.io.remote import is_remote
from outperform.io.tables import Where

_EXAMPLES = 5
_START = 200  # number of bytes of a file that may show its format

Models = Sequence[str] | Mapping[str, str] | None
Score = str | Mapping[str, str] | None


def recognized(source: object) -> str | None:
    """Return the log format of files or folders, if names or first bytes show it.

    Plug-ins are tried only if no built-in format matches.
    """
    if isinstance(source, Mapping):
        source = list(source.values())
    sources = source if isinstance(source, (list, tuple)) else [source]
    if not all(is_path(path) and not is_remote(path) for path in sources):
        return None
    paths = [Path(str(path)) for path in sources]
    built_in = [LOGS.get(name) for name in LOGS.built_in]
    return _shared_format(paths, built_in) or _shared_format(paths, list(LOGS.added()))


def _shared_format(paths: Sequence[Path], formats: Sequence[LogFormat]) -> str | None:
    """Return the format shared by all paths, if any; logs can be at any depth of a folder."""

    def by_name(path: Path) -> set[str]:
        return {
            log_format.name
            for log_format in formats
            if any(fnmatchcase(path.name, pattern) for pattern in log_format.unmistakable)
        }

    shared: set[str] = set()
    for path in paths:
        names = by_name(path)
        with suppress(OSError, ValueError):  # the reader will report the error
            inside = list(files_under(path)) if path.is_dir() else []
            for file in inside:
                names |= by_name(file)
                if len(names) > 1:
                    break
            if not names:
                # Opening a pipe or a device would wait for whoever writes to it.
                files = [file for file in inside or [path] if file.is_file()]
                names = _by_start(files, formats)
        if len(names) != 1:
            return None
        shared |= names
    return shared.pop() if len(shared) == 1 else None


def _by_start(paths: Sequence[Path], formats: Sequence[LogFormat]) -> set[str]:
    """Return the format that the first bytes of all files show, if any."""
    shared: set[str] | None = None
    for path in paths:
        start = _start_of(path)
        names = {
            log_format.name
            for log_format in formats
            if log_format.start is not None
            and (path.suffix in (".json", ".jsonl") or log_format.is_log(path))
            and log_format.start.match(start)
        }
        shared = names if shared is None else shared & names
        if not shared:
            return set()
    return shared or set()


def _start_of(path: Path) -> bytes:
    with path.open("rb") as stream:
        start = stream.read(_START)
    if magic(start) != "gzip":
        return start
    with suppress(EOFError, zlib.error, gzip.BadGzipFile), gzip.open(path) as unpacked:
        start = unpacked.read(_START)
    return start


def read_evaluations(source: object, **options: Any) -> Outcomes:
    """Return outcomes of right and wrong answers, paired by item; see :func:`outperform.read`."""
    paired = _read(source, RIGHT, **options)
    data = _build(paired, RIGHT)
    assert isinstance(data, Outcomes)
    return replace(data, findings=paired.findings + data.findings)


def read_grades(source: object, **options: Any) -> Scores:
    """Return the scores of several models by item; see :func:`outperform.read_scores`."""
    paired = _read(source, GRADE, **options)
    data = Scores.from_values(paired.scores, groups=paired.groups, ids=paired.ids)
    return replace(data, findings=paired.findings + data.findings, sources=(paired.score,))


class CountedFile(NamedTuple):
    """Content of a file of counts, with the names of the models and what was noticed."""

    text: str
    models: tuple[str, ...]
    findings: tuple[Finding, ...] = ()


def count_logs(
    source: object,
    *,
    by: Sequence[str] = (),
    groups: str | None = None,
    on_missing: OnMissing = "raise",
    on_null: OnNull = "raise",
    **options: Any,
) -> CountedFile:
    """Return the content of a file of counted logs, which every function reads like the logs.

    Parameters
    ----------
    source
        Logs, as for :func:`outperform.read`.
    by, groups
        Fields of the items to keep, besides task and id.
    on_missing, on_null
        Ignored, because answers are paired when the file is read.
    **options
        Other options of :func:`outperform.read` for logs.
    """
    fields = [name for name in dict.fromkeys((*by, groups)) if name is not None and name not in OWN]
    loaded = _load(source, RIGHT, by=fields, **options)
    models = tuple(dict.fromkeys(samples.model for samples in loaded.samples))
    return CountedFile(counted_text(loaded.samples, fields), models, loaded.findings)


def read_tasks(
    source: object,
    *,
    groups: str | None = None,
    on_missing: OnMissing = "raise",
    on_null: OnNull = "raise",
    **options: Any,
) -> dict[str, Outcomes | Scores]:
    """Return the data per task: outcomes if the score is right or wrong, otherwise scores.

    Parameters
    ----------
    source
        Logs, as for :func:`outperform.read`.
    groups, on_missing, on_null
        As for :func:`outperform.read`.
    **options
        Other options of :func:`outperform.read` for logs.
    """
    loaded = _load(source, RIGHT, groups=groups, **options)
    parts: dict[str, list[Samples]] = {}
    for samples in loaded.samples:
        for task, of_task in samples.by_task().items():
            parts.setdefault(task, []).append(of_task)
    score_by_task = loaded.requested if isinstance(loaded.requested, Mapping) else None
    if score_by_task is not None:
        # raises an error if a task has no score
        choose_by_task(loaded.samples, score_by_task, GRADE)
    tasks: dict[str, Outcomes | Scores] = {}
    for task, part in parts.items():
        name, kind = _score_of(part, loaded.score if score_by_task is None else score_by_task[task])
        paired = pair(part, name, kind, groups=groups, on_missing=on_missing, on_null=on_null)
        data: Outcomes | Scores = _build(paired, kind)
        tasks[task] = replace(data, findings=loaded.findings + paired.findings + data.findings)
    return tasks


def _score_of(part: Sequence[Samples], score: str | None) -> tuple[str, Kind]:
    """Return the score of a task, with its kind."""
    try:
        return choose_score(part, score, RIGHT), RIGHT
    except (DataError, UsageError) as error:
        try:
            return choose_score(part, score, GRADE), GRADE
        except (DataError, UsageError):
            raise error from None


def _build(paired: Paired, kind: Kind) -> Outcomes | Scores:
    if kind is GRADE:
        return Scores.from_values(paired.scores, groups=paired.groups)
    right = {model: [value == 1 for value in scores] for model, scores in paired.scores.items()}
    return Outcomes.from_correct(right, groups=paired.groups, by=paired.by, ids=paired.ids)


def _read(
    source: object,
    kind: Kind,
    *,
    by: Sequence[str] = (),
    groups: str | None = None,
    on_missing: OnMissing = "raise",
    on_null: OnNull = "raise",
    **options: Any,
) -> Paired:
    loaded = _load(source, kind, by=by, groups=groups, **options)
    samples = loaded.samples
    if isinstance(loaded.requested, Mapping):
        samples, name = choose_by_task(samples, loaded.requested, kind)
    else:
        name = choose_score(samples, loaded.score, kind)
    paired = pair(samples, name, kind, by=by, groups=groups, on_missing=on_missing, on_null=on_null)
    return paired._replace(findings=loaded.findings + paired.findings)


class Loaded(NamedTuple):
    """Samples of all logs, and the requested scores."""

    samples: list[Samples]
    requested: Score  # the score passed by the caller, as the logs name it
    score: str | None  # the same for all tasks, perhaps the default of the format
    findings: tuple[Finding, ...]


def _load(
    source: object,
    kind: Kind,
    *,
    format: str | None,
    score: Score = None,
    models: Models = None,
    where: Where = None,
    by: Sequence[str] = (),
    groups: str | None = None,
    skip_failed: bool = False,
    latest: bool = False,
    **long: Any,
) -> Loaded:
    parts = parts_of(source)
    remote = next((part.source for part in parts if is_remote(part.source)), None)
    if remote is not None and format != LONG:
        raise UsageError(
            f"evaluation logs must be local files; copy {masked(str(remote))} to this machine first"
        )
    recognition: tuple[Finding, ...] = ()
    if format is None:
        format = recognized(source) or ""
        if format != COUNTED:
            recognition = (finding("logs_recognized", format=format),)
    log_format = LOGS.get(format)
    fields = [name for name in dict.fromkeys((*by, groups)) if name is not None]
    if format != LONG:
        fields = [name for name in fields if name not in OWN]
    named = _called(score, log_format)
    if format == LONG and isinstance(score, Mapping):
        raise UsageError(
            f"a long table has one column of scores; name it with {param('score=', 'score')}"
        )
    name = named if isinstance(named, str) else None
    every, failed = log_format.load(parts, score=name, where=where, fields=fields, **long)
    if every and every[0].origin != log_format.name:  # counted logs
        log_format = LOGS.get(every[0].origin)
    default = log_format.right if kind is RIGHT else log_format.grade
    if named is None and any(default in samples.scores for samples in every):
        name = default
    findings = _without_failed(every, _failed_logs(failed, models), skip_failed)
    if not every:
        raise UsageError(f"no log is left after {param('where=', dict(where or {}))}")
    selected = _only(every, models)
    if latest:
        selected, skipped = _latest(selected)
        findings += skipped
    return Loaded(selected, named, name, recognition + findings)


def _called(score: Score, log_format: LogFormat) -> Score:
    """Return the names of scores in the logs of a format."""
    if score is None:
        return None
    if isinstance(score, Mapping):
        return {task: str(_called(name, log_format)) for task, name in score.items()}
    if not isinstance(score, str):
        raise UsageError(
            f"{param('score')} must be a name, or a name per task such as "
            f"{param('score=', {'arc': 'acc'})}; got {score!r}"
        )
    return log_format.score(score)


def _latest(every: Sequence[Samples]) -> tuple[list[Samples], tuple[Finding, ...]]:
    """Keep the newest log per model and task, and report the others."""
    runs: dict[tuple[str, int, str], list[Samples]] = {}
    for samples in every:
        for task, run in samples.by_task().items():
            runs.setdefault((run.model, run.turn, task), []).append(run)
    latest, older = [], []
    for same in runs.values():
        times = [run.when or "" for run in same]
        newest = max(times)
        if len(same) > 1 and ("" in times or times.count(newest) > 1):
            names = " and ".join(run.name for run in same[:_EXAMPLES])
            raise DataError(
                f"{names} have the same model and task, but do not show which is newest; pass "
                "only the log to read"
            )
        latest.append(same[times.index(newest)])
        older += [run.name for run in same if run.when != newest and len(same) > 1]
    if not older:
        return latest, ()
    return latest, (
        finding("older_logs_skipped", n=len(older), names=clauses(older, most=_EXAMPLES)),
    )


def _failed_logs(failed: Sequence[FailedLog], models: Models) -> list[FailedLog]:
    """Return the failed logs of requested or unknown models."""
    if not models or isinstance(models, (str, bytes)):
        return list(failed)
    requested = models.values() if isinstance(models, Mapping) else models
    return [log for log in failed if log.model is None or log.model in requested]


def _without_failed(
    every: Sequence[Samples], failed: Sequence[FailedLog], skip: bool
) -> tuple[Finding, ...]:
    """Raise one error for all failed logs, or drop them with a finding."""
    if not failed:
        return ()
    reasons = clauses([log.reason for log in failed], most=_EXAMPLES)
    n_logs = len(failed) + len({log.name for log in every})
    if not skip or not every:
        count = f"{len(failed)} of {n_logs} logs cannot be used: " if n_logs > 1 else ""
        drop = f", or drop it with {param('skip_failed=', True)}" if every else ""
        end = "" if reasons.endswith("?") else "."
        raise DataError(f"{count}{reasons}{end} Run the evaluation again or repair the file{drop}")
    return (finding("failed_logs_skipped", failed=len(failed), n=n_logs, reasons=reasons),)


def _only(every: Sequence[Samples], models: Models) -> list[Samples]:
    """Keep the requested models, and rename them if names were passed."""
    if models is None:
        return list(every)
    if isinstance(models, (str, bytes)) or not models:
        raise UsageError(
            f"{param('models')} must be a list of names, e.g. ['llama', 'gpt']; got {models!r}"
        )
    requested = dict(models) if isinstance(models, Mapping) else {name: name for name in models}
    known = dict.fromkeys(log.model for log in every)
    for name in requested.values():
        if name not in known:
            raise UsageError(unknown_name("model", name, known))
    return [
        replace(log, model=new_name)
        for new_name, name in requested.items()
        for log in every
        if log.model == name
    ]
