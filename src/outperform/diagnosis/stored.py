"""What can be asked of counted files, stores, monitored folders, ledgers, logs and CoNLL files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.data.serialization import SCORES
from outperform.diagnosis.calls import Call, in_python
from outperform.diagnosis.result import ClassCount, Diagnosis, Suggestion
from outperform.diagnosis.samples import MOST_BYTES
from outperform.diagnosis.tables import ROPE, ROPE_TEXT, counted_models, questions, suggestion
from outperform.errors import DataError, OutperformError, UsageError, spelled
from outperform.gates.ledger import REQUIRED
from outperform.io.catalogue import LOGS
from outperform.io.compression import PACKINGS
from outperform.io.counted_files import holds_outcomes
from outperform.io.join import GOLD
from outperform.io.logs.counted import COUNTED
from outperform.io.logs.read import read_tasks, recognized
from outperform.io.logs.samples import LONG, files_under
from outperform.io.paths import stem
from outperform.io.periods import day_of
from outperform.io.read import read, read_scores
from outperform.io.store import SPEC
from outperform.monitor.batches import list_batches, load_batch
from outperform.results.schemas import Kind

_MOST_CLASSES = 20
_START = 400  # bytes that show what a JSON file is
_METRICS = {"classes": "f1_macro", "label_sets": "f1_macro", "spans": "f1", "correct": "accuracy"}
_KIND = {
    "classes": "labels", "label_sets": "label sets", "spans": "spans", "correct": "right and wrong"
}  # fmt: skip
_TAG = re.compile(r"O|[BIESLUM]-\S+")
_CONLL = (".conll", ".conllu", ".bio", ".iob", ".iob2", ".tags")
_REASONS = {
    "skip_failed": "Failed or damaged logs are skipped.",
    "on_missing": "Items that some models did not answer are dropped.",
    "on_null": "Items without a score are dropped.",
    "latest": "Only the newest log of each model and task is read.",
    "where": "Items are selected by {value}, one of several possibilities.",
    "score": "Several scores are there; {value!r} is read.",
}
_PACKED = 10  # unpacked bytes per byte of a packed log, roughly
Data = Outcomes | Scores


def diagnose_stored(paths: Sequence[str], format: str | None) -> Diagnosis | None:
    """Return the diagnosis of files that are not plain tables; None for tables.

    Parameters
    ----------
    paths
        Files or folders.
    format
        Format of evaluation logs; None to detect it.
    """
    first = Path(paths[0])
    if len(paths) == 1 and first.is_dir():
        if (first / SPEC).is_file():
            return _counted(paths, what="a store of counts")
        if _is_monitored(first):
            return _monitored(first, paths[0])
    logs = recognized(list(paths)) if format is None else format
    if logs is not None:
        return _logs(paths, logs, named=format is not None)
    if first.is_file():
        if all(Path(path).is_file() and _is_conll(Path(path)) for path in paths):
            return _conll(paths)
        start = _start_of(first)
        if _is_ledger(start):
            return _ledger(first, paths[0])
        _refuse_results(start, paths[0])
        if f'"{SCORES}"' in start:
            return _scores_file(first, paths[0])
    if all(os.path.exists(path) and _are_counts(path) for path in paths):
        return _counted(paths, what="counted outcomes")
    unnamed = _unnamed_format(paths)
    return None if unnamed is None else _logs(paths, unnamed, named=True)


def _are_counts(path: str) -> bool:
    try:
        return holds_outcomes(path)
    except OutperformError:  # such as an empty folder; the reader of tables explains it
        return False


def _start_of(path: Path) -> str:
    with path.open("rb") as stream:
        return stream.read(_START).decode("utf-8", "replace")


def _size(paths: Sequence[str]) -> int:
    """Return the size of files and folders in bytes, packed files as if unpacked."""
    files: Iterator[Path] = (
        file
        for path in map(Path, paths)
        for file in (files_under(path) if path.is_dir() else [path])
        if file.is_file()
    )
    return sum(
        file.stat().st_size * (_PACKED if file.suffix in (*PACKINGS, ".eval") else 1)
        for file in files
    )


# Counted outcomes


def _question_about(data: Data) -> dict[str, Any]:
    """Return metric and ROPE for data, by their kind."""
    if isinstance(data, Outcomes):
        return {"metric": _METRICS[data.kind], "rope": ROPE}
    if data.columns is not None:
        return {"metric": "rmse" if "target" in data.columns else "mean", "rope": 0.1}
    if data.truth is None:
        return {"metric": "mean", "rope": 0.1}
    return {"metric": "roc_auc" if len(data.labels) == 2 else "roc_auc_ovr", "rope": ROPE}


def _facts_of(data: Data) -> dict[str, Any]:
    """Return items, models and classes as arguments of a diagnosis."""
    facts: dict[str, Any] = {"n_rows": int(data.n), "models": tuple(map(str, data.models))}
    if isinstance(data, Outcomes) and data.kind == "classes":
        matrix = data.confusion(data.models[0])
        top = sorted(zip(data.labels, matrix.sum(axis=1), strict=True), key=lambda pair: -pair[1])
        facts["n_classes"] = len(data.labels)
        facts["classes"] = tuple(
            ClassCount(label=label, n=int(n)) for label, n in top[:_MOST_CLASSES]
        )
    return facts


def _kind_of(data: Data) -> str:
    if isinstance(data, Outcomes):
        return _KIND[data.kind]
    return "grades" if data.truth is None else "labels and scores"


def _counted(paths: Sequence[str], *, what: str) -> Diagnosis:
    sources, format = tuple(paths), "counts, as written by outperform count"
    what = what if len(paths) == 1 else f"{len(paths)} files of {what}"
    call: dict[str, Any] = {"sources": sources}
    why = ROPE_TEXT.format(rope=ROPE)
    if _size(paths) > 4 * MOST_BYTES:
        rank = Call(verb="rank", question={"rope": ROPE}, **call)
        note = "These files are large, so they were not read; models and classes are not listed."
        made = suggestion("Which model is the best?", rank, why)
        return Diagnosis(
            sources=sources, what=what, format=format, suggestions=(made,), notes=(note,)
        )
    if len(paths) > 1:
        return _two_counts(paths, what, format, why)
    data = read(paths[0])
    models = list(data.models)
    question = _question_about(data)
    every = questions(call, models, question, why)
    if data.slices is not None and len(models) > 1 and data.kind in ("classes", "correct"):
        slices = Call(verb="slices", models=tuple(models[:2]), question=question, **call)
        names = ", ".join(data.slices.by)
        every.append(suggestion(f"In which slice by {names} does one model do better?", slices))
    if os.path.isdir(paths[0]) and len(models) > 1 and _has_days(paths[0]):
        every.append(_watch(paths[0], models, question, "Has the decision changed over the days?"))
    about = f"{what} of {counted_models(models)}: {_kind_of(data)}"
    return Diagnosis(
        sources=sources, what=about, format=format, **_facts_of(data), suggestions=tuple(every),
    )  # fmt: skip


def _two_counts(paths: Sequence[str], what: str, format: str, why: str) -> Diagnosis:
    every = [read(path) for path in paths]
    alone = all(len(data.models) == 1 for data in every)
    if len(paths) != 2 or not alone:
        folder = "Put them into one folder and pass the folder, if they count different items."
        return Diagnosis(
            sources=tuple(paths), what=what, format=format, notes=(folder,),
            models=tuple(dict.fromkeys(str(name) for data in every for name in data.models)),
        )  # fmt: skip
    names = [str(data.models[0]) for data in every]
    if names[0] == names[1]:
        names = [stem(path) for path in paths]
    made = questions({"sources": tuple(paths)}, names, _question_about(every[0]), why)
    python = (
        f"op.compare(*[op.read(f).confusion(m) for f, m in {list(zip(paths, names, strict=True))}])"
    )
    return Diagnosis(
        sources=tuple(paths), what=f"{what}, one model each", format=format, models=tuple(names),
        suggestions=tuple(_spelled(call, python) for call in made),
    )  # fmt: skip


def _spelled(made: Suggestion, python: str) -> Suggestion:
    return Suggestion(question=made.question, command=made.command, python=python, why=made.why)


def _has_days(folder: str) -> bool:
    names = [name for name in os.listdir(folder) if not name.startswith((".", "_"))]
    return bool(names) and all(day_of(name.partition(".jsonl")[0]) is not None for name in names)


# Monitored folders


def _is_monitored(folder: Path) -> bool:
    """Return whether a folder contains batches of a monitor."""
    if (folder / "_arrivals").is_dir():
        return True
    files = sorted(folder.glob("*.json"))
    return bool(files) and f'"{SCORES}"' in _start_of(files[0])


def _watch(folder: str, models: Sequence[str], options: Mapping[str, Any], question: str,
           why: str = "") -> Suggestion:  # fmt: skip
    call = Call(
        verb="watch",
        sources=(folder,),
        models=tuple(models[:2]),
        question={**options, "once": True},
    )
    passed = ", ".join([repr(folder), *map(repr, models[:2]),
                        *(f"{key}={value!r}" for key, value in options.items())])  # fmt: skip
    return Suggestion(
        question=question, command=call.command, python=f"op.Monitor({passed})", why=why
    )


def _monitored(folder: Path, source: str) -> Diagnosis:
    listing = list_batches(folder)
    format = f"{len(listing.keys)} batches, as written by outperform count or Monitor.add"
    if not listing.keys:
        return Diagnosis(
            sources=(source,), what="no batches yet", format=format,
            notes=("There are no batches yet; count writes them.",),
        )  # fmt: skip
    data = load_batch(folder, listing.keys[0]).outcomes
    facts = {**_facts_of(data), "n_rows": None}
    options = _question_about(data)
    models = list(facts["models"])
    notes = [f"The first batch, {listing.keys[0]!r}, has {data.n:,} items."]
    made = []
    if isinstance(data, Scores) and data.columns is not None and "target" not in data.columns:
        names = ", ".join(map(repr, data.columns))
        notes.append(
            f"These are statistics ({names}); name their metric in Python: op.Monitor(…, metric=…)."
        )
    elif len(models) > 1:
        why = ROPE_TEXT.format(rope=options["rope"])
        question = f"Is {models[0]} better than {models[1]}, batch by batch?"
        made.append(_watch(source, models, options, question, why))
    return Diagnosis(
        sources=(source,),
        what=f"batches of a monitor: {_kind_of(data)} of {counted_models(models)}",
        format=format, **facts, suggestions=tuple(made), notes=tuple(notes),
    )  # fmt: skip


def _scores_file(path: Path, source: str) -> Diagnosis:
    return Diagnosis(
        sources=(source,), what="one batch of scores of a monitor", format="JSON",
        notes=(f"Pass its folder, {str(path.parent)!r}, to watch.",),
    )  # fmt: skip


# Ledgers, and results


def _is_ledger(start: str) -> bool:
    return all(f'"{name}":' in start for name in REQUIRED)


def _ledger(path: Path, source: str) -> Diagnosis:
    with path.open("rb") as stream:
        lines = stream.read(MOST_BYTES).splitlines()
    entries = [json.loads(line) for line in lines if line.startswith(b"{")]
    models = tuple(dict.fromkeys(str(entry["candidate"]) for entry in entries))
    made = Suggestion(
        question="Which releases passed, and how much was lost since the best one?",
        command=Call(verb="ledger", sources=("show", source)).command,
        python=f"op.Ledger({source!r})",
    )
    return Diagnosis(
        sources=(source,), what=f"a ledger of {len(entries)} decisions of a gate",
        format="JSON Lines, as written by outperform gate --ledger", models=models,
        suggestions=(made,),
    )  # fmt: skip


def _refuse_results(start: str, source: str) -> None:
    match = re.search(r'"kind":\s*"(\w+)"', start)
    looks = start.lstrip().startswith("{") and '"schema"' in start and '"format"' not in start
    if looks and match is not None and match[1] in get_args(Kind):
        raise DataError(
            f"{source} is a result of outperform ({match[1]}), which contains no data; pass "
            "the file from which it was computed"
        )


# Evaluation logs


def _logs(paths: Sequence[str], format: str, *, named: bool) -> Diagnosis:
    """Return the diagnosis of logs; ``named`` if their format must be named to read them."""
    sources = tuple(paths)
    facts: dict[str, Any] = {"sources": sources, "format": format}
    what = f"evaluation logs of {format}"
    because = (
        f"They can be read as logs of {format}, but their names do not show it."
        if named
        else f"Names or first bytes show that these are logs of {format}."
    )
    reading: dict[str, Any] = {"format": format} if named else {}
    source = paths[0] if len(paths) == 1 else list(paths)
    if _size(paths) > 2 * MOST_BYTES:
        rank = Call(verb="rank", sources=sources, reading=reading, question={"rope": ROPE})
        made = suggestion("Which model is the best?", rank, ROPE_TEXT.format(rope=ROPE))
        note = "The logs are large, so they were not read; models and tasks are not listed."
        return Diagnosis(**facts, what=what, suggestions=(made,), notes=(because, note))
    data, options, why = _read_logs(source, reading)
    if data is None:
        tasks = _only_by_task(source, sources, options)
        if tasks is not None:
            models, made = tasks
            about = f"{what}: several tasks with different scores, {counted_models(models)}"
            return Diagnosis(
                **facts, what=about, models=tuple(models), suggestions=(made,), notes=(because,)
            )
        return Diagnosis(**facts, what=what, notes=(because, *why))
    question: dict[str, Any] = {"metric": "accuracy", "rope": ROPE}
    if isinstance(data, Scores):
        spread = max(float(values.max() - values.min()) for values in data.values)
        question = {"metric": "mean", "rope": float(f"{max(spread / 100, 1e-6):.0e}")}
    why.append(ROPE_TEXT.format(rope=question["rope"]))
    models = list(map(str, data.models))
    call = {"sources": sources, "reading": options, "scores": isinstance(data, Scores)}
    every = questions(call, models, question, " ".join(why))
    every += _per_task(source, call, models, question)
    kind = "grades" if isinstance(data, Scores) else "right and wrong answers"
    return Diagnosis(
        **facts,
        what=f"{what}: {kind} of {counted_models(models)}",
        **_facts_of(data),
        suggestions=tuple(every),
        notes=(because,),
    )


def _unnamed_format(paths: Sequence[str]) -> str | None:
    """Return the only format as which JSON files can be read, if their names do not show one."""
    files = [
        file
        for path in map(Path, paths)
        for file in (files_under(path) if path.is_dir() else [path])
    ]
    if not files or not all(".json" in file.suffixes for file in files):
        return None
    if _size(paths) > 2 * MOST_BYTES:
        return None
    source = paths[0] if len(paths) == 1 else list(paths)
    known = [name for name in LOGS.built_in if name not in (LONG, COUNTED)]
    readable = [name for name in known if _read_logs(source, {"format": name})[0] is not None]
    return readable[0] if len(readable) == 1 else None


def _read_logs(
    source: Any, reading: Mapping[str, Any]
) -> tuple[Data | None, dict[str, Any], list[str]]:
    """Read logs with as few options as needed; return the data, the options and their reasons.

    The options are those that the reader's errors advise. One is used if it changes the error. If
    nothing helps, the only reason is the last error.
    """
    options: dict[str, Any] = dict(reading)
    why: list[str] = []
    data, error, advice = _tried(source, options)
    while data is None:
        for name, value in advice:
            if name in options or name not in _REASONS:
                continue
            data, other, further = _tried(source, {**options, name: value})
            # A score that some tasks lack only exchanges one error about scores for another.
            helps = other != error and (name != "score" or "score" not in other)
            if data is not None or helps:
                options[name] = value
                why.append(_REASONS[name].format(value=value))
                error, advice = other, further
                break
        else:
            return None, options, [_message_of(source, options)]
    return data, options, why


Advice = list[tuple[str, Any]]


def _tried(source: Any, options: Mapping[str, Any]) -> tuple[Data | None, str, Advice]:
    """Read logs; return the data, or the error and the parameters that it advises."""
    advice: Advice = []

    def spell(name: str, values: tuple[object, ...]) -> str:
        advice.extend((name, value) for value in values)
        return f"{name}=" + " or ".join(map(repr, values))

    errors: list[str] = []
    for reader in (read, read_scores):
        try:
            with spelled(spell):
                return reader(source, **options), "", []
        except OutperformError as error:
            errors.append(str(error))
    if any(name == "score" for name, _ in advice) or "score=" in errors[0]:
        advice += [("score", name) for name in _quoted(errors[0])]
    return None, errors[0], advice


def _quoted(error: str) -> list[str]:
    """Return the names that an error quotes."""
    return re.findall(r"'([^']+)'", error)


def _message_of(source: Any, options: Mapping[str, Any]) -> str:
    """Return the error of reading, as spelled for the caller."""
    try:
        read(source, **options)
    except OutperformError as error:
        return str(error)
    return ""


def _only_by_task(
    source: Any, sources: tuple[str, ...], reading: Mapping[str, Any]
) -> tuple[list[str], Suggestion] | None:
    """Return the models and the question per task, if tasks have different scores."""
    scores = _score_by_task(source, reading)
    reading = {**reading, **({"score": scores} if scores else {})}
    try:
        tasks = read_tasks(source, **{"format": None, **reading})
    except OutperformError:
        return None
    models = [str(name) for name in next(iter(tasks.values())).models]
    if len(tasks) < 2 or len(models) < 2:
        return None
    verb = "compare" if len(models) == 2 else "rank"
    question = {"rope": ROPE, "by": "task"}
    call = Call(
        verb=verb, sources=sources, models=tuple(models), reading=reading, question=question
    )
    each = f"op.read({source!r}, where={{'task': task}}, score=…)"
    made = Suggestion(
        question=f"What is the result per task ({', '.join(list(tasks)[:5])}), and on average?",
        command=call.command,
        python=_suite_call(verb, models, f"{{task: {each} for task in {list(tasks)[:5]!r}}}"),
        why=" ".join(
            [
                *(f"In {task!r}, {score!r} is read." for task, score in scores.items()),
                ROPE_TEXT.format(rope=ROPE),
            ]
        ),
    )
    return models, made


def _score_by_task(source: Any, reading: Mapping[str, Any]) -> dict[str, str]:
    """Return the first score of each task that is right or wrong, if the reader asks for them."""
    _, error, advice = _tried(source, reading)
    named = next((value for name, value in advice if isinstance(value, dict)), {})
    scores = {}
    for task in named:
        where = {**(reading.get("where") or {}), "task": task}
        for score in _quoted(error):
            with suppress(OutperformError):
                read(source, **{**reading, "where": where, "score": score})
                scores[task] = score
                break
    return scores if len(scores) == len(named) else {}


def _suite_call(verb: str, models: Sequence[str], tasks: str) -> str:
    names = "" if verb == "rank" else f", {', '.join(map(repr, models))}"
    return f"op.{verb}(op.Suite({tasks}, ropes={ROPE}){names})"


def _per_task(
    source: Any, call: dict[str, Any], models: Sequence[str], question: dict[str, Any]
) -> list[Suggestion]:
    """Return the question of the mean over tasks, if there are several."""
    if len(models) < 2 or call["scores"]:
        return []
    try:
        slices = read(source, **call["reading"], by=["task"]).slices
    except OutperformError:
        return []
    if slices is None or len(slices.keys) < 2:
        return []
    verb = "compare" if len(models) == 2 else "rank"
    tasks = Call(verb=verb, models=tuple(models), question={**question, "by": "task"}, **call)
    names = ", ".join(key[0] for key in slices.keys[:5])
    return [
        Suggestion(
            question=f"What is the result per task ({names}), and on average over tasks?",
            command=tasks.command,
            python=_suite_call(verb, models, f"op.read({source!r}, by=['task'])"),
        )
    ]


# CoNLL


def _conll_rows(path: Path) -> list[list[str]]:
    with path.open("rb") as stream:
        text = stream.read(MOST_BYTES // 16).decode("utf-8", "replace")
    lines = text.splitlines()[:5_000]
    rows = [re.split(r"[ \t]+", line.strip()) for line in lines]
    return [row for row in rows if row != [""] and row[0] not in ("#", "-DOCSTART-")]


def _tag_columns(rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the columns, counted from 0, that contain tags such as B-PER and O."""
    width = len(rows[0])
    columns = []
    for column in range(width):
        cells = [row[column] for row in rows if len(row) == width]
        if all(map(_TAG.fullmatch, cells)) and any(cell != "O" for cell in cells):
            columns.append(column)
    return columns


def _is_conll(path: Path) -> bool:
    if path.suffix.lower() in (".csv", ".json", ".jsonl", ".parquet", ".arrow", *PACKINGS):
        return False
    with path.open("rb") as stream:
        if b"\0" in stream.read(1024):
            return False
    rows = _conll_rows(path)
    usual = len(rows) >= 2 and len(rows[0]) >= 2 and len({len(row) for row in rows}) <= 2
    return usual and (bool(_tag_columns(rows)) or path.suffix.lower() in _CONLL)


def _scheme(rows: Sequence[Sequence[str]], column: int) -> str:
    first = {row[column][0] for row in rows if len(row) > column}
    if first & {"L", "U"}:
        return "BILOU"
    return "IOBES" if first & {"S", "E"} else "IOB2"


def _conll(paths: Sequence[str]) -> Diagnosis:
    rows = _conll_rows(Path(paths[0]))
    tags = _tag_columns(rows) or [len(rows[0]) - 1]
    scheme = _scheme(rows, tags[-1])
    types = sorted({row[tags[-1]][2:] for row in rows if len(row) > tags[-1]} - {""})
    format = f"CoNLL, {len(rows[0])} columns, tags in column {', '.join(str(t + 1) for t in tags)}"
    why = f"The tags are read as {scheme}, because of their prefixes. {ROPE_TEXT.format(rope=ROPE)}"
    facts: dict[str, Any] = {
        "sources": tuple(paths), "format": format, "n_classes": len(types),
        "notes": (f"Types of spans in the first lines: {', '.join(types[:_MOST_CLASSES])}.",),
    }  # fmt: skip
    if len(paths) > 1:
        return _conll_files(paths, scheme, why, facts)
    if len(tags) < 2:
        note = (
            "Only one column has tags. Pass the gold file and the files of the models together: "
            "outperform doctor gold.conll bert.conll gpt.conll."
        )
        facts["notes"] = (note, *facts["notes"])
        return Diagnosis(**facts, what="tags in CoNLL format")
    names = {"gold": tags[0]} | {f"model_{k}": column for k, column in enumerate(tags[1:], 1)}
    models = tuple(name for name in names if name != "gold")
    read_tags = f"op.read_conll({paths[0]!r}, {names!r})"
    each = ", ".join(f"{name!r}: c[{name!r}]" for name in models)
    outcomes = f"op.Outcomes.from_tags(c['gold'], {{{each}}}, scheme={scheme!r})"
    why = f"Column {tags[0] + 1}, the first with tags, is the truth. {why}"
    made = _about_tags(f"(lambda c: {outcomes})({read_tags})", models, why)
    return Diagnosis(**facts, what="tags in several columns in CoNLL format", models=models,
                     suggestions=(made,))  # fmt: skip


def _conll_files(paths: Sequence[str], scheme: str, why: str, facts: dict[str, Any]) -> Diagnosis:
    stems = [Path(path).stem for path in paths]
    gold = next((k for k, name in enumerate(stems) if name.lower() in GOLD), 0)
    because = "its name" if stems[gold].lower() in GOLD else "it comes first: check this"
    models = tuple(name for k, name in enumerate(stems) if k != gold)
    if len(set(stems)) < len(stems):
        raise UsageError(f"files must have different names, which name the models; got {stems}")
    each = ", ".join(
        f"{name!r}: op.read_conll({path!r})['tag']"
        for k, (name, path) in enumerate(zip(stems, paths, strict=True))
        if k != gold
    )
    truth = f"op.read_conll({paths[gold]!r})['tag']"
    outcomes = f"op.Outcomes.from_tags({truth}, {{{each}}}, scheme={scheme!r})"
    made = _about_tags(outcomes, models, f"{paths[gold]!r} is the truth, because {because}. {why}")
    what = f"tags of {counted_models(models)} in CoNLL format"
    return Diagnosis(**facts, what=what, models=models,
                     suggestions=(made,))  # fmt: skip


def _about_tags(outcomes: str, models: Sequence[str], why: str) -> Suggestion:
    """Return the question about spans, which only Python can answer."""
    if len(models) == 1:
        question, python = f"How good is {models[0]}?", f"op.estimate({outcomes}, {models[0]!r})"
    elif len(models) == 2:
        pair = ", ".join(map(repr, models))
        question = f"Is {models[0]} better than {models[1]}, or worse, or practically equivalent?"
        python = f"op.compare({outcomes}, {pair}, rope={ROPE})"
    else:
        question = "Which model is the best, and which are practically tied with it?"
        python = f"op.rank({outcomes}, rope={ROPE})"
    return Suggestion(question=question, command=in_python(python), python=python, why=why)
