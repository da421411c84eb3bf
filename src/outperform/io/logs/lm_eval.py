"""lm-evaluation-harness: the JSON Lines written with ``--log_samples``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from outperform._files import shown
from outperform.errors import DataError, UsageError, param, unknown_name
from outperform.io.columnar import no_column
from outperform.io.engine import workspace
from outperform.io.formats import Dialect
from outperform.io.json_lines import keys_and_values, whole
from outperform.io.logs.format import LogFormat, read_json
from outperform.io.logs.samples import (
    FailedLog,
    Item,
    Part,
    Samples,
    as_grade,
    as_id,
    as_text,
    as_texts,
    contradiction,
    each_once,
    field_of,
    is_near,
    is_path,
)
from outperform.io.paths import find_files, stem
from outperform.io.tables import SEVERAL, Where

_NAME = re.compile(
    r"samples_(?P<task>.+?)(?:_(?P<when>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?))?\.jsonl(?:\.gz|\.zst)?"
)
# Fields of a line that are not scores, needed because older versions do not list the scores.
_FIELDS = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
    "doc_hash", "prompt_hash", "target_hash", "task_name",
}  # fmt: skip
_RANDOM = re.compile("[a-z0-9_]{8}")  # folder that lm_eval creates for a model without a name
# Most of a line; documents and lists of scores are handled at once.
_UNUSED = ("arguments", "resps", "filtered_resps", "doc", "metrics")
_HASHES = ("doc_hash",)  # of the question
_GOLD = ("target", "target_hash")


class Log(NamedTuple):
    """Log file, with its model and task."""

    model: str
    turn: int
    task: str
    source: Any
    name: str
    when: str | None = None
    outer: str | None = None  # name of the parent of the logs' folder, if it may name the model


class _Lines(NamedTuple):
    """Lines of one log, as columns, and their filters."""

    filters: list[str] | None  # None if the lines have no filter
    ids: list[Any]
    questions: dict[str, list[str | None]]
    gold: dict[str, list[str | None]]
    scores: dict[str, list[Any]]
    fields: dict[str, list[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _LmEval(LogFormat):
    def is_log(self, path: Path) -> bool:
        return _NAME.fullmatch(path.name) is not None

    def load(
        self, parts: Sequence[Part], *, score: str | None, where: Where, fields: Sequence[str]
    ) -> tuple[list[Samples], list[FailedLog]]:
        """Read doc_id, hashes, target, scores and doc fields, but not prompts and answers.

        Questions are also read if a line has no question hash. Unreadable logs are returned as
        failed.
        """
        conditions = dict(where or {})
        logs = _with_run_names([log for part in parts for log in _logs(part)])
        if "task" in conditions:
            logs = _of_tasks(logs, conditions.pop("task"))
        read, failed = _read(logs, score, conditions or None, fields)
        _check_filters(read)
        if not conditions.keys() - {"filter"}:
            reasons = [_contradiction(log, lines) for log, lines in read]
            failed += [
                FailedLog(log.name, log.model, reason)
                for (log, _), reason in zip(read, reasons, strict=True)
                if reason
            ]
            read = [entry for entry, reason in zip(read, reasons, strict=True) if not reason]
        known: dict[str, dict[str, Item]] = {}
        return [
            _samples(log, lines, conditions or None, known.setdefault(log.task, {}))
            for log, lines in read
        ], failed


FORMAT = _LmEval(
    name="lm-eval",
    what="log of samples, samples_<task>_<time>.jsonl",
    unmistakable=("samples_*_????-??-??T*.jsonl",),
)


def _contradiction(log: Log, lines: _Lines) -> str | None:
    """Return how the results file next to a log contradicts its lines, or None."""
    if log.when is None or not is_path(log.source):
        return None
    path = Path(log.source).with_name(f"results_{log.when}.json")
    if not path.is_file():
        return None
    try:
        results = read_json(path)
    except DataError as error:
        return str(error)

    differs = partial(contradiction, log.name, summary=path.name, parts="lines")
    total = field_of(field_of(field_of(results, "n-samples"), log.task), "effective")
    if total is not None and total != len(lines.ids):
        return differs("samples", total, str(len(lines.ids)))
    means = field_of(field_of(results, "results"), log.task)
    for score, values in lines.scores.items():
        reported = field_of(means, f"{score},{(lines.filters or ['none'])[0]}")
        if reported is None or not _is_mean(results, log.task, score):
            continue
        try:
            grades = [grade for grade in each_once(as_grade, values) if grade is not None]
        except ValueError:
            continue
        if grades and not is_near(reported, sum(grades) / len(grades), within=1e-6):
            return differs(f"as the mean of {score!r}", reported, f"{sum(grades) / len(grades):g}")
    return None


def _is_mean(results: object, task: str, score: str) -> bool:
    """Return whether the score of a task is the plain mean over its documents."""
    listed = field_of(field_of(field_of(results, "configs"), task), "metric_list")
    for entry in listed if isinstance(listed, list) else ():
        if field_of(entry, "metric") == score and field_of(entry, "aggregation") is not None:
            return field_of(entry, "aggregation") == "mean"
    return score in ("acc", "acc_norm", "exact_match")


def _read(
    logs: Sequence[Log], score: str | None, where: Where, fields: Sequence[str]
) -> tuple[list[tuple[Log, _Lines]], list[FailedLog]]:
    """Read all logs, each line once; return the logs that cannot be read as failed.

    A log whose lines have no question hash is compared by its questions. They are kept from the
    first such line on, and of all other logs only if they must be compared with it.
    """
    read: list[tuple[Log, _Lines]] = []
    failed: list[FailedLog] = []
    with workspace() as folder:
        for log in logs:
            is_stream = not is_path(log.source)  # it cannot be read twice
            try:
                read.append((log, _lines(log, score, where, fields, folder, with_doc=is_stream)))
            except DataError as error:
                failed.append(FailedLog(log.name, log.model, _single_list(log) or str(error)))
        if any(_is_unhashed(lines) for _, lines in read):
            read = [
                (log, lines)
                if "doc" in lines.questions
                else (log, _lines(log, score, where, fields, folder, with_doc=True))
                for log, lines in read
            ]
    return read, failed


def _is_unhashed(lines: _Lines) -> bool:
    """Return whether questions can only be compared as texts."""
    return "doc" in lines.questions and None in lines.questions.get("doc_hash", [None])


def _lines(
    log: Log,
    score: str | None,
    where: Where,
    fields: Sequence[str],
    folder: str,
    *,
    with_doc: bool,
) -> _Lines:
    """Read one log; if the first line has no question hash, with its questions."""
    (file,) = find_files(log.source, Dialect(format="jsonl"), folder=folder)
    is_selected = _selection(where)
    blocks: list[_Block] = []
    docs: list[object] = []
    metrics: dict[tuple[str, ...], None] = {}
    shape: tuple[str, ...] | None = None
    listed: object = None
    for keys, values in keys_and_values(file):
        if keys is not shape:
            shape = keys
            block = _Block(shape)
            with_doc = with_doc or (not blocks and block.value("doc_hash", values) is None)
            blocks.append(block)
            pick, append = block.pick, block.rows.append
        if is_selected is not None and not is_selected(dict(zip(keys, values, strict=True))):
            continue
        append(pick(values))
        if fields or with_doc:
            docs.append(whole(block.value("doc", values)))
        if (names := block.value("metrics", values)) != listed:
            listed = names
            metrics[_as_metrics(names, log)] = None
    file.refuse_changes()
    known = list(dict.fromkeys(name for block in blocks for name in block.shape))
    _check_names(log, known, where)
    scores = _scores(log, known, metrics, score)

    def column(name: str) -> list[Any]:
        return [value for block in blocks for value in block.column(name)]

    def texts(names: Sequence[str]) -> dict[str, list[str | None]]:
        return {name: as_texts(column(name)) for name in names if name in known}

    questions = texts(_HASHES)
    if not with_doc and None in questions.get("doc_hash", []):
        return _lines(log, score, where, fields, folder, with_doc=True)
    if with_doc and "doc" in known:
        questions["doc"] = as_texts(docs)
    return _Lines(
        filters=_filters(column("filter")) if "filter" in known else None,
        ids=column("doc_id"),
        questions=questions,
        gold=texts(_GOLD),
        scores={name: _wholes(column(name)) for name in scores},
        fields={name: [field_of(doc, name) for doc in docs] for name in fields},
    )


class _Block:
    """Lines with the same keys: one row per line, with a value for each key that may be used."""

    def __init__(self, shape: tuple[str, ...]) -> None:
        self.shape = shape
        self.rows: list[Any] = []
        self._names = [name for name in shape if name not in _UNUSED]
        self._place = {name: index for index, name in enumerate(shape)}
        indices = [self._place[name] for name in self._names]
        pick = itemgetter(*indices) if indices else tuple
        # With one place, itemgetter returns the value and not a tuple.
        self.pick = (lambda values: (pick(values),)) if len(indices) == 1 else pick

    def value(self, name: str, values: Sequence[object]) -> object:
        """Return one of a line's values."""
        return values[self._place[name]] if name in self._place else None

    def column(self, name: str) -> list[Any]:
        """Return a column of the rows."""
        if name not in self._names:
            return [None] * len(self.rows)
        return [*map(itemgetter(self._names.index(name)), self.rows)]


def _wholes(values: list[object]) -> list[object]:
    return [whole(value) if isinstance(value, (tuple, list)) else value for value in values]


def _check_names(log: Log, known: Sequence[str], where: Where) -> None:
    """Raise an error if lines lack ids, or the fields of a condition."""
    if not known:
        raise DataError(f"{log.name} has no rows")
    if "doc_id" not in known:
        raise DataError(
            f"{log.name} is not a log of samples: its lines have no 'doc_id'; pass the "
            "samples_*.jsonl files that lm_eval writes with --log_samples"
        )
    for name in where or {}:
        if name not in known:
            raise UsageError(no_column(name, known, log.name))


def _selection(where: Where) -> Callable[[Mapping[str, object]], bool] | None:
    """Return a function that selects lines by the texts of their values; None for all lines."""
    if not where:
        return None
    selected = {
        name: {_text(allowed) for allowed in (value if isinstance(value, SEVERAL) else [value])}
        for name, value in where.items()
    }
    return lambda record: all(_text(record.get(name)) in texts for name, texts in selected.items())


def _text(value: object) -> str | None:
    """Return a value of a condition or a line as text; None for a missing value."""
    if isinstance(value, bool):
        return str(value).lower()
    return as_text(whole(value))


def _check_filters(read: Sequence[tuple[Log, _Lines]]) -> None:
    """Raise an error if a log, or the logs of one task, have several filters."""
    known: dict[str, tuple[str, str]] = {}
    every = [lines.filters or ["none"] for _, lines in read]
    for (log, _), names in zip(read, every, strict=True):
        if len(names) > 1:
            # Tasks without this filter would lose all lines.
            others = {listed[0]: None for listed in every if names[0] not in listed}
            keep = [names[0], *others] if others else names[0]
            raise UsageError(
                f"{log.name} has a line for each of the filters {', '.join(map(repr, names))}; "
                f"select one{' per task' if others else ''}, "
                f"e.g. {param('where=', {'filter': keep})}"
            )
        first, before = known.setdefault(log.task, (names[0], log.name))
        if first != names[0]:
            raise DataError(
                f"{log.name} has answers for the filter {names[0]!r}, but {before} answers for "
                f"{first!r}; keep one filter, e.g. with {param('where=', {'filter': first})}"
            )


def _samples(log: Log, lines: _Lines, where: Where, known: dict[str, Item]) -> Samples:
    """Return the samples of a log; ``known`` has the items of its task by id."""
    ids = lines.ids
    if not ids:
        raise DataError(f"{log.name} has no rows" + (" left after where" if where else ""))
    keys = [
        str(key) if type(key) is int else as_id(key, column="doc_id", name=log.name) for key in ids
    ]
    if lines.filters is None and len(set(keys)) < len(keys):
        raise DataError(
            f"{log.name} has {len(keys)} lines for {len(set(keys))} items but does not name their "
            "filters, as with older versions of lm_eval; keep the lines of one filter, or evaluate "
            "with a newer version"
        )
    return Samples(
        model=log.model,
        name=log.name,
        turn=log.turn,
        origin="lm-eval",
        items=[known.get(key) or known.setdefault(key, Item(log.task, key)) for key in keys],
        epochs=[1] * len(ids),
        questions=lines.questions,
        gold=lines.gold,
        scores=lines.scores,
        when=log.when,
        fields={name: values or [None] * len(ids) for name, values in lines.fields.items()},
    )


def _filters(values: Sequence[object]) -> list[str]:
    """Return the distinct filters; newer versions write one line per filter."""
    return sorted({str(whole(value)) for value in dict.fromkeys(values)})


def _as_metrics(value: object, log: Log) -> tuple[str, ...]:
    """Return the names of a line's scores; none if it does not list them."""
    if isinstance(value, list):
        return tuple([name for name in value if isinstance(name, str)])
    if value is None:
        return ()
    raise DataError(f"{log.name}: 'metrics' must be a list of names; got {shown(whole(value))}")


def _scores(
    log: Log, known: Sequence[str], metrics: Iterable[tuple[str, ...]], score: str | None
) -> tuple[str, ...]:
    """Return the scores to read: the requested one, or all."""
    listed = dict.fromkeys(name for names in sorted(metrics) for name in names if name in known)
    names = listed or dict.fromkeys(name for name in known if name not in _FIELDS)
    if score is None:
        return tuple(names)
    if score not in names:
        raise UsageError(f"{log.name}: {unknown_name('score', score, names)}")
    return (score,)


# Files and folders


def _logs(part: Part) -> list[Log]:
    if not is_path(part.source):
        if part.model is None:
            raise UsageError("a stream has no name; pass the name of the model, {'llama': …}")
        return [Log(part.model, part.turn, "", part.source, f"the log of {part.model!r}")]
    paths = FORMAT.logs_in(part.source)
    folders = list(dict.fromkeys(os.fspath(path.parent) for path in paths))
    if part.model is not None and len(folders) > 1:
        raise UsageError(
            f"the logs passed as {part.model!r} are in several folders, one per model: "
            f"{', '.join(folders)}; omit the name and select models with {param('models=')}"
        )
    return [_log(part, path, _outer(part, path, folders)) for path in paths]


def _outer(part: Part, path: Path, folders: Sequence[str]) -> str | None:
    """Return the run folder if it contains only one model folder."""
    root = Path(os.path.abspath(part.source))
    if part.model is not None or not root.is_dir():
        return None
    inner = Path(os.path.abspath(path)).parent.relative_to(root).parts
    if len(inner) > 1:
        every = [Path(os.path.abspath(folder)).relative_to(root).parts for folder in folders]
        return inner[0] if [parts[:1] for parts in every].count(inner[:1]) == 1 else None
    return root.name if inner and len(folders) == 1 else None


def _with_run_names(logs: Sequence[Log]) -> list[Log]:
    """Name models after their run folders if the log folders have the same name.

    In the output folder, lm_eval creates a folder named after the model, or with a random name if
    the model has no name.
    """
    outer = {(log.model, log.outer) for log in logs}
    inner = [model for model, _ in outer]
    if any(name is None for _, name in outer) or len({name for _, name in outer}) < len(outer):
        return list(logs)
    runs = {(log.model, log.task): set[str | None]() for log in logs}
    for log in logs:
        runs[log.model, log.task].add(log.outer)
    random = all(_RANDOM.fullmatch(name) for name in inner) and 2 * sum(
        any(map(str.isdigit, name)) for name in inner
    ) >= len(inner)
    if not random and all(len(outers) == 1 for outers in runs.values()):
        return list(logs)
    return [log._replace(model=str(log.outer)) for log in logs]


def _log(part: Part, path: Path, outer: str | None) -> Log:
    """Return a file with its model, task and time, from its name and folder."""
    if path.name.startswith("results_"):
        raise UsageError(
            f"{os.fspath(path)} contains averages; pass the samples_*.jsonl files that lm_eval "
            "writes with --log_samples"
        )
    match = _NAME.fullmatch(path.name)
    folder = Path(os.path.abspath(path)).parent.name  # links are not resolved
    model = part.model or (stem(path) if match is None else folder)
    task = "" if match is None else match["task"]
    when = None if match is None else match["when"]
    name = os.fspath(path)
    return Log(model, part.turn, task, name, name, when, outer)


def _single_list(log: Log) -> str | None:
    """Return the reason if a log is one list of all samples, as written by the oldest versions."""
    if not is_path(log.source):
        return None
    path = Path(log.source)
    with suppress(OSError), path.open("rb") as stream:
        if stream.read(64).lstrip()[:1] == b"[":
            return (
                f"{os.fspath(path)} is a single list, as written by lm_eval before 0.4.3; convert "
                f"it to one object per line, e.g. with: jq -c '.[]' {path.name}"
            )
    return None


def _of_tasks(logs: Sequence[Log], tasks: object) -> list[Log]:
    names = {str(task) for task in (tasks if isinstance(tasks, SEVERAL) else [tasks])}
    known = dict.fromkeys(log.task for log in logs)
    for name in sorted(names - known.keys()):
        raise UsageError(unknown_name("task", name, known))
    return [log for log in logs if log.task in names]
