"""Evaluation logs of several models, read and paired on the item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.errors import DataError, UsageError, param, unknown_name
from outperform.findings import Finding, clauses, counted, finding
from outperform.io import inspect_logs
from outperform.io.group_by import OnNull
from outperform.io.inspect_logs import read_table
from outperform.io.join import OnMissing
from outperform.io.lm_eval_logs import read_lm_eval
from outperform.io.log_samples import (
    GRADE,
    LONG,
    RIGHT,
    FailedLog,
    Item,
    Kind,
    Part,
    Samples,
    choose_score,
    is_path,
    logs_under,
    parts_of,
    read_long,
)
from outperform.io.tables import Where

_EXAMPLES = 5


class Answer(NamedTuple):
    """One of the answers to an item, numbered from 1."""

    item: Item
    number: int


Answers = dict[Answer, float | None]
"""What each answer of a model scored, right being 1; None where it has no score."""


class Paired(NamedTuple):
    """What every model scored on the same answers, side by side."""

    score: str
    scores: dict[str, list[float]]
    groups: list[Any] | None  # what each answer belongs to; None where every item has one
    by: dict[str, list[Any]] | None  # what divides the answers into slices
    findings: tuple[Finding, ...]
    ids: list[str]  # what to call each answer


class Naming(NamedTuple):
    """How to call answers in a message: as shortly as the data allow."""

    several_tasks: bool
    repeated: bool

    def of(self, answers: Iterable[Answer]) -> str:
        """Return some answers as examples."""
        listed = sorted(answers)
        shown = ", ".join(self.one(answer) for answer in listed[:_EXAMPLES])
        return shown + (", …" if len(listed) > _EXAMPLES else "")

    def one(self, answer: Answer) -> str:
        """Return one answer: its id, and what else tells it from others."""
        task, number = answer.item.task, f", epoch {answer.number}"
        text = repr(answer.item.id) + (f" of {task}" if self.several_tasks else "")
        return text + (number if self.repeated else "")

    def id(self, answer: Answer) -> str:
        """Return what to call one answer in a table: ``task/id#number`` as far as needed."""
        text = f"{answer.item.task}/{answer.item.id}" if self.several_tasks else answer.item.id
        return f"{text}#{answer.number}" if self.repeated else text

    @property
    def noun(self) -> str:
        """What is counted."""
        return "samples" if self.repeated else "items"


def pair(
    every: Sequence[Samples],
    score: str,
    kind: Kind,
    *,
    by: Sequence[str] = (),
    groups: str | None = None,
    on_missing: OnMissing,
    on_null: OnNull,
) -> Paired:
    """Put side by side what all models answered; repeated answers to one item are a group."""
    by_model: dict[str, list[Samples]] = {}
    for samples in every:
        by_model.setdefault(samples.model, []).append(samples)
    answers = {model: _answers(runs, score, kind) for model, runs in by_model.items()}
    known = {answer for one in answers.values() for answer in one}
    naming = Naming(
        several_tasks=len({answer.item.task for answer in known}) > 1,
        repeated=any(answer.number > 1 for answer in known),
    )
    _refuse_other_versions(every)
    findings = _without_score(answers, score, naming, on_null)
    findings += _without_partner(answers, naming, on_missing)
    kept = sorted(next(iter(answers.values())))
    if by and naming.repeated:
        raise UsageError(
            "slices cannot keep repeated answers to one item together yet; keep one answer, e.g. "
            f"with {param('where=', {'epoch': 1})}, or leave {param('by=')} out"
        )
    together: list[Any] | None = [answer.item for answer in kept] if naming.repeated else None
    if groups is not None:
        together = _field(every, groups, kept)
    return Paired(
        score,
        {model: _known(one, kept) for model, one in answers.items()},
        together,
        {name: _field(every, name, kept) for name in by} or None,
        findings,
        [naming.id(answer) for answer in kept],
    )


OWN = ("task", "id")
"""What every sample knows of its item."""


def _field(every: Sequence[Samples], name: str, kept: Sequence[Answer]) -> list[Any]:
    """Return what the logs say of each item that is kept; they must agree on it."""
    if name in OWN:
        return [getattr(answer.item, name) for answer in kept]
    found: dict[Item, Any] = {}
    for samples in every:
        for item, value in zip(samples.items, samples.fields[name], strict=True):
            if found.setdefault(item, value) != value:
                raise DataError(
                    f"{name!r} of {item.id!r} is {value!r} in {samples.name} and {found[item]!r} "
                    "in another log; it must be the same for every model"
                )
    values = [found[answer.item] for answer in kept]
    lost = [answer.item.id for answer, value in zip(kept, values, strict=True) if value is None]
    if lost:
        raise DataError(
            f"{len(lost)} of {len(kept)} items have no {name!r}, e.g. {lost[0]!r}; name a field "
            "that all of them have"
        )
    odd = next((one for one in values if not isinstance(one, (str, int, float))), None)
    if odd is not None:
        raise DataError(f"{name!r} must be a text or a number of each item; got {str(odd)[:60]!r}")
    return values


def _known(answers: Answers, kept: Sequence[Answer]) -> list[float]:
    values = (answers[answer] for answer in kept)
    return [value for value in values if value is not None]  # none is missing any more


def _answers(runs: Sequence[Samples], score: str, kind: Kind) -> Answers:
    """Return the answers of one model, those to the same item numbered in their order."""
    rows = [
        (item, samples.turn, epoch, value, samples.name)
        for samples in runs
        for item, epoch, value in zip(
            samples.items, samples.epochs, samples.scores[score], strict=True
        )
    ]
    _refuse_repeated([(item, turn, epoch) for item, turn, epoch, *_ in rows], runs)
    numbers: Counter[Item] = Counter()
    found: Answers = {}
    for item, _, _, value, _ in sorted(rows, key=lambda row: row[:3]):
        numbers[item] += 1
        found[Answer(item, numbers[item])] = kind.read(value)
    return found


def _refuse_repeated(keys: Sequence[tuple[Item, int, int]], runs: Sequence[Samples]) -> None:
    times = Counter(keys)
    if len(times) == len(keys):
        return
    twice = sorted(key for key, number in times.items() if number > 1)
    naming = Naming(
        several_tasks=len({item.task for item, *_ in keys}) > 1,
        repeated=any(epoch > 1 for *_, epoch in keys),
    )
    shown = ", ".join(
        f"{naming.one(Answer(item, epoch))} ({times[item, turn, epoch]} times)"
        for item, turn, epoch in twice[:_EXAMPLES]
    )
    names = " and ".join(dict.fromkeys(one.name for one in runs[:_EXAMPLES]))
    model = runs[0].model
    mend = (
        "Keep one row each, or number repeated answers in a column called 'epoch'"
        if runs[0].origin == LONG
        else "Keep one log, or list them as repeated answers to the same items: "
        f"{{{model!r}: [first log, second log]}}"
    )
    raise DataError(
        f"every sample of {model!r} must be there once, but {len(keys) - len(times)} are repeated "
        f"in {names}, e.g. {shown}. {mend}"
    )


def _refuse_other_versions(every: Sequence[Samples]) -> None:
    """Refuse logs in which an id stands for different items."""
    first: dict[tuple[str, Item], tuple[str, Samples]] = {}
    for samples in every:
        other: list[tuple[Item, Samples]] = []
        for item, version in zip(samples.items, samples.versions, strict=True):
            if version is None:
                continue
            known, where = first.setdefault((samples.origin, item), (version, samples))
            if known != version:
                other.append((item, where))
        if other:
            ids = ", ".join(repr(item.id) for item, _ in other[:_EXAMPLES])
            raise DataError(
                f"{samples.name} and {other[0][1].name} ask something else under the same id in "
                f"{len(other)} of {len(samples.items)} samples, e.g. {ids}; they are of different "
                "versions of the data. Evaluate the models on the same one"
            )


def _without_score(
    answers: Mapping[str, Answers], score: str, naming: Naming, on_null: OnNull
) -> tuple[Finding, ...]:
    """Refuse answers without a score, or take them from all models and say so."""
    lost = {
        model: [answer for answer, value in one.items() if value is None]
        for model, one in answers.items()
    }
    faults = [
        f"{model!r} has no {score!r} for {len(gone)} of {len(answers[model])} {naming.noun}, e.g. "
        f"{naming.of(gone)}"
        for model, gone in lost.items()
        if gone
    ]
    if not faults:
        return ()
    if on_null == "raise":
        raise DataError(
            "; ".join(faults) + ". Did the evaluation fail on them? Run them again, or leave them "
            f"out for all models with {param('on_null=', 'drop')}"
        )
    every = {answer for gone in lost.values() for answer in gone}
    _drop(answers, every)
    return (
        finding(
            "null_rows_dropped/logs", items=counted(len(every), naming.noun), faults=clauses(faults)
        ),
    )


def _without_partner(
    answers: Mapping[str, Answers], naming: Naming, on_missing: OnMissing
) -> tuple[Finding, ...]:
    """Refuse answers that not all models gave, or leave them out and say so."""
    every = {answer for one in answers.values() for answer in one}
    lacking = {model: every - one.keys() for model, one in answers.items()}
    faults = [
        f"{model!r} lacks {len(gone)}, e.g. {naming.of(gone)}"
        for model, gone in lacking.items()
        if gone
    ]
    common = len(every) - len(set().union(*lacking.values()))
    if not common:
        told = "; ".join(faults) or "no sample is left"
        raise DataError(f"there is no item that all models answered: {told}")
    if not faults:
        return ()
    told = f"of {len(every)} {naming.noun} that some model answered, {'; '.join(faults)}"
    if on_missing == "raise":
        raise DataError(
            f"{told}. Evaluate the models on the same items{_as_often(naming)}, or keep the "
            f"{common} that all of them answered with {param('on_missing=', 'drop')}"
        )
    _drop(answers, set().union(*lacking.values()))
    return (finding("unmatched_ids_dropped/logs", common=common, nouns=naming.noun, faults=told),)


def _as_often(naming: Naming) -> str:
    return ", each as often" if naming.repeated else ""


def _drop(answers: Mapping[str, Answers], gone: set[Answer]) -> None:
    for one in answers.values():
        for answer in gone:
            one.pop(answer, None)


FORMATS = ("lm-eval", "inspect", LONG)
_READING_EXAMPLES = 5

Models = Sequence[str] | Mapping[str, str] | None


_PATTERNS = {"inspect": "*.eval", "lm-eval": "samples_*_????-??-??T*.jsonl"}


def recognized(source: object) -> str | None:
    """Return what kind of logs files or folders are, if their names leave no doubt."""
    if isinstance(source, Mapping):
        source = list(source.values())
    given = source if isinstance(source, (list, tuple)) else [source]
    kinds = {_kind_of(Path(str(one))) if is_path(one) else None for one in given}
    return kinds.pop() if len(kinds) == 1 else None


def _kind_of(path: Path) -> str | None:
    """Return the kind of one path; in folders logs lie, or the folders of models with logs."""
    found = [
        kind
        for kind, pattern in _PATTERNS.items()
        if path.match(pattern)
        or (path.is_dir() and any(any(path.glob(f"{under}{pattern}")) for under in ("", "*/")))
    ]
    return found[0] if len(found) == 1 else None


def read_evaluations(source: object, **asked: Any) -> Outcomes:
    """Count what several models got right, paired on the item; see :func:`outperform.read`."""
    paired = _read(source, RIGHT, **asked)
    right = {model: [value == 1 for value in scores] for model, scores in paired.scores.items()}
    seen = Outcomes.from_correct(right, groups=paired.groups, by=paired.by, ids=paired.ids)
    return replace(seen, findings=paired.findings + seen.findings)


def read_grades(source: object, **asked: Any) -> Scores:
    """Return what several models scored, by item; see :func:`outperform.read_scores`."""
    paired = _read(source, GRADE, **asked)
    seen = Scores.from_values(paired.scores, groups=paired.groups, ids=paired.ids)
    return replace(seen, findings=paired.findings + seen.findings, sources=(paired.score,))


def _read(
    source: object,
    kind: Kind,
    *,
    format: str | None,
    score: str | None = None,
    models: Models = None,
    where: Where = None,
    by: Sequence[str] = (),
    groups: str | None = None,
    on_missing: OnMissing = "raise",
    on_null: OnNull = "raise",
    skip_failed: bool = False,
    **long: Any,
) -> Paired:
    told: tuple[Finding, ...] = ()
    if format is None:
        format = recognized(source)
        told = (finding("logs_recognized", format=format),)
    parts = parts_of(source)
    asked = [one for one in dict.fromkeys((*by, groups)) if one is not None]
    fields = asked if format == LONG else [one for one in asked if one not in OWN]
    wanted = score if format != "inspect" or score is None else score.removeprefix("score_")
    every: list[Samples]
    failed: list[FailedLog] = []
    if format == LONG:
        every = [one for part in parts for one in read_long(part, wanted, where, fields, **long)]
    elif format == "lm-eval":
        every, failed = read_lm_eval(parts, score=wanted, where=where, fields=fields)
    else:
        every, failed = _read_inspect(parts, score=wanted, where=where, fields=fields)
    findings = _without_failed(every, _asked_for(failed, models), skip_failed)
    if not every:
        raise UsageError(f"no log is left after {param('where=', dict(where or {}))}")
    chosen = _only(every, models)
    score = choose_score(chosen, wanted, kind)
    paired = pair(chosen, score, kind, by=by, groups=groups, on_missing=on_missing, on_null=on_null)
    return paired._replace(findings=told + findings + paired.findings)


def _read_inspect(
    parts: Sequence[Part], *, score: str | None, where: Where, fields: Sequence[str]
) -> tuple[list[Samples], list[FailedLog]]:
    found: list[Samples] = []
    failed: list[FailedLog] = []
    for part in parts:
        if is_path(part.source):
            samples, bad = _read_paths(part, score=score, where=where, fields=fields)
            failed += bad
        else:
            samples = read_table(part, score=score, where=where, fields=fields)
        found += _under_one_name(part, samples)
    return found, failed


def _read_paths(
    part: Part, *, score: str | None, where: Where, fields: Sequence[str]
) -> tuple[list[Samples], list[FailedLog]]:
    found: list[Samples] = []
    failed: list[FailedLog] = []
    for path in logs_under(part.source, inspect_logs.is_log, what="log, *.eval or *.json,"):
        if path.suffix.lower() not in inspect_logs.ENDINGS:
            found += read_table(part._replace(source=path), score=score, where=where, fields=fields)
            continue
        log = inspect_logs.read_log(part, path, where=where, fields=fields)
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
    reasons = clauses([one.reason for one in failed], most=_READING_EXAMPLES)
    n_logs = len(failed) + len({one.name for one in every})
    if not skip or not every:
        told = f"{len(failed)} of {n_logs} logs cannot be used: " if n_logs > 1 else ""
        rest = f", or leave it out with {param('skip_failed=', True)}" if every else ""
        raise DataError(f"{told}{reasons}. Run the evaluation again, or mend the file{rest}")
    return (finding("failed_logs_skipped", failed=len(failed), n=n_logs, reasons=reasons),)


def _under_one_name(part: Part, found: Sequence[Samples]) -> list[Samples]:
    """Give the samples of a part the name that the caller gave it, if that is one model."""
    if part.model is None:
        return list(found)
    own = dict.fromkeys(one.model for one in found)
    if len(own) > 1:
        raise UsageError(
            f"what is given as {part.model!r} has the models {', '.join(map(repr, own))}; leave "
            f"the name out and choose with {param('models=')}"
        )
    return [replace(one, model=part.model) for one in found]


def _only(every: Sequence[Samples], models: Models) -> list[Samples]:
    """Keep the models that were asked for, under the names that they should have."""
    if models is None:
        return list(every)
    if isinstance(models, (str, bytes)) or not models:
        raise UsageError(
            f"{param('models')} must be a list of names, e.g. ['llama', 'gpt']; got {models!r}"
        )
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
