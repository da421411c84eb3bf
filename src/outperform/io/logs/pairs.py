"""Pair the answers of several models by item, and choose the score to compare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, NamedTuple

from outperform._files import shown
from outperform.errors import DataError, UsageError, either, param, unknown_name
from outperform.findings import Finding, clauses, counted, finding
from outperform.io.group_by import OnNull
from outperform.io.join import OnMissing
from outperform.io.logs.samples import LONG, Item, Samples, as_grade, each_once, is_right

_EXAMPLES = 5


# Choice of the score


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Kind of score: how to parse its values, and wording for messages."""

    read: Callable[[Any], float | None]  # None if it is missing; raises ValueError
    says: str
    looks: str
    otherwise: Callable[[], str]

    def grades(self, values: Sequence[Any]) -> list[float | None]:
        """Return the grade of each value; ValueError as in ``read``."""
        return each_once(self.read, values)


RIGHT = Kind(
    read=is_right,
    says="record right or wrong",
    looks="right or wrong (1 and 0, true and false, C and I)",
    otherwise=lambda: either(
        "which is neither right nor wrong. Compare the mean of such grades, read by "
        "op.read_scores, or set a threshold and count with "
        "Outcomes.from_correct({'model': score >= 0.5, …})",
        "which is neither right nor wrong; compare the mean of such grades with --metric mean",
    ),
)
GRADE = Kind(
    read=as_grade,
    says="are grades",
    looks="grades, as numbers",
    otherwise=lambda: "which is not a finite number",
)


def choose_score(every: Sequence[Samples], score: str | None, kind: Kind) -> str:
    """Return the full name of the requested score, or the only score of its kind."""
    if score is not None:
        score = _full_name(every, score)
        for samples in every:
            if score not in samples.scores:
                raise UsageError(f"{samples.name}: {unknown_name('score', score, samples.scores)}")
            _check_values(samples, score, kind)
        return score
    shared = [name for name in every[0].scores if all(name in log.scores for log in every)]
    fitting = [name for name in shared if all(_is_of(log, name, kind) for log in every)]
    if kind is GRADE and len(fitting) > 1:  # numeric scores are preferred to right/wrong scores
        numbers = [name for name in fitting if not _is_boolean(every, name)]
        fitting = numbers or fitting
    if len(fitting) == 1:
        return fitting[0]
    tasks = sorted({item.task for samples in every for item in samples.items})
    each = param("score=", dict.fromkeys(tasks[:2], (*fitting, "acc")[0]))
    if fitting:
        by_task = either(f", or one per task with {each}", "") if len(tasks) > 1 else ""
        raise UsageError(
            f"several scores {kind.says}: {', '.join(map(repr, fitting))}; select one with "
            f"{param('score=')}{by_task}"
        )
    if len(shared) == 1:
        for samples in every:
            _check_values(samples, shared[0], kind)
    known = ", ".join(map(repr, dict.fromkeys(name for log in every for name in log.scores)))
    by_task = either(
        f"pass the score of each task, {each}",
        f"compare each task by its score with {param('by=', 'task')}",
    )
    raise DataError(
        f"no score occurs in all logs and has values that are {kind.looks}; the logs have "
        f"{known or 'none'}. "
        + (
            f"The logs have {len(tasks)} tasks: {by_task}"
            if len(tasks) > 1
            else f"Select one with {param('score=')} to see why it does not fit"
        )
    )


def choose_by_task(
    every: Sequence[Samples], scores: Mapping[str, str], kind: Kind
) -> tuple[list[Samples], str]:
    """Return the samples of all tasks, with each task's requested score under one name."""
    parts = [(task, log) for samples in every for task, log in samples.by_task().items()]
    known = dict.fromkeys(task for task, _ in parts)
    for task in scores:
        if task not in known:
            raise UsageError(unknown_name("task", task, known))
    missing = [task for task in known if task not in scores]
    if missing:
        raise UsageError(
            f"{param('score=')} has no score for {', '.join(map(repr, missing))}; add one for each "
            f"task, or drop tasks with {param('where=')}"
        )
    names = {
        task: choose_score([log for log_task, log in parts if log_task == task], score, kind)
        for task, score in scores.items()
    }
    joint = ", ".join(dict.fromkeys(names.values()))
    return [replace(log, scores={joint: log.scores[names[task]]}) for task, log in parts], joint


def _full_name(every: Sequence[Samples], score: str) -> str:
    """Return ``scorer.key`` if a key belongs to only one scorer; otherwise the name unchanged."""
    known = dict.fromkeys(name for samples in every for name in samples.scores)
    if score in known:
        return score
    keys = [name for name in known if name.partition(".")[2] == score]
    if len(keys) == 1:
        return keys[0]
    scorer_keys = keys or [name for name in known if name.startswith(f"{score}.")]
    if scorer_keys:
        raise UsageError(
            f"{score!r} matches several scores, {', '.join(map(repr, scorer_keys))}; select one "
            f"with {param('score=')}"
        )
    return score


def _is_of(samples: Samples, score: str, kind: Kind) -> bool:
    try:
        grades = kind.grades(samples.scores[score])
    except ValueError:
        return False
    return grades.count(None) < len(grades)


def _is_boolean(every: Sequence[Samples], score: str) -> bool:
    values = (value for samples in every for value in samples.scores[score])
    return all(value is None or isinstance(value, bool) for value in values)


def _check_values(samples: Samples, score: str, kind: Kind) -> None:
    with suppress(ValueError):
        kind.grades(samples.scores[score])
        return
    for item, value in zip(samples.items, samples.scores[score], strict=True):
        try:
            kind.read(value)
        except ValueError:
            raise DataError(
                f"{samples.name}: {score!r} is {shown(value)} for {item.id!r}, {kind.otherwise()}"
            ) from None


# Answers to the same items


class Answer(NamedTuple):
    """Answer to an item, numbered from 1."""

    item: Item
    number: int


Answers = dict[Answer, float | None]
"""Score of each answer of a model, where right is 1; None if it has no score."""


class Paired(NamedTuple):
    """Scores of all models on the same answers."""

    score: str
    scores: dict[str, list[float]]
    groups: list[Any] | None  # group of each answer; None if every item has one answer
    by: dict[str, list[Any]] | None  # columns that define slices
    findings: tuple[Finding, ...]
    ids: list[str]  # name of each answer in tables


class Naming(NamedTuple):
    """Display names of answers in messages, as short as possible."""

    several_tasks: bool
    repeated: bool

    def of(self, answers: Iterable[Answer]) -> str:
        """Return a few answers as examples."""
        listed = sorted(answers)
        examples = ", ".join(self.name_of(answer) for answer in listed[:_EXAMPLES])
        return examples + (", …" if len(listed) > _EXAMPLES else "")

    def name_of(self, answer: Answer) -> str:
        """Return the name of one answer: its id, with task and epoch if needed."""
        task, number = answer.item.task, f", epoch {answer.number}"
        text = repr(answer.item.id) + (f" of {task}" if self.several_tasks else "")
        return text + (number if self.repeated else "")

    def id(self, answer: Answer) -> str:
        """Return the name of one answer in a table: ``task/id#number``, as far as needed."""
        text = f"{answer.item.task}/{answer.item.id}" if self.several_tasks else answer.item.id
        return f"{text}#{answer.number}" if self.repeated else text

    @property
    def noun(self) -> str:
        """Noun for answers in messages."""
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
    """Pair the answers of all models; several answers to one item form a group."""
    by_model: dict[str, list[Samples]] = {}
    for samples in every:
        by_model.setdefault(samples.model, []).append(samples)
    only: dict[Item, Answer] = {}
    answers = {model: _answers(runs, score, kind, only) for model, runs in by_model.items()}
    naming = Naming(
        several_tasks=len({item.task for samples in every for item in samples.items}) > 1,
        repeated=any(answer.number > 1 for scored in answers.values() for answer in scored),
    )
    compared = compare_items(every, naming)
    names = {model: _unscored_logs(runs, score, kind) for model, runs in by_model.items()}
    findings = compared + _without_score(answers, names, score, naming, on_null)
    findings += _without_partner(answers, naming, on_missing)
    common = sorted(next(iter(answers.values())))
    group_of: list[Any] | None = [answer.item for answer in common] if naming.repeated else None
    if groups is not None:
        group_of = _field(every, groups, common)
        tasks = [answer.item.task for answer in common]
        findings += _shared_groups(groups, tasks, group_of)
        group_of = list(zip(tasks, group_of, strict=True))  # tasks may reuse names of groups
    return Paired(
        score,
        # No score is None at this point; the condition is for the type checker.
        {
            model: [value for answer in common if (value := values[answer]) is not None]
            for model, values in answers.items()
        },
        group_of,
        {name: _field(every, name, common) for name in by} or None,
        findings,
        [naming.id(answer) for answer in common],
    )


def _shared_groups(
    name: str, tasks: Sequence[str], group_of: Sequence[object]
) -> tuple[Finding, ...]:
    """Report group names that occur in several tasks, where they mean different groups."""
    known: dict[object, set[str]] = {}
    for task, group in zip(tasks, group_of, strict=True):
        known.setdefault(group, set()).add(task)
    shared = [group for group, of_tasks in known.items() if len(of_tasks) > 1]
    if not shared:
        return ()
    n_groups = len(set(zip(tasks, group_of, strict=True)))
    return (
        finding(
            "groups_kept_apart",
            column=name,
            n=len(shared),
            examples=clauses([repr(group) for group in shared], most=_EXAMPLES),
            groups=n_groups,
        ),
    )


OWN = ("task", "id")
"""Fields that every item has."""


def _field(every: Sequence[Samples], name: str, answers: Sequence[Answer]) -> list[Any]:
    """Return an item field for each answer; the logs must agree on it."""
    if name in OWN:
        return [getattr(answer.item, name) for answer in answers]
    first: dict[Item, tuple[Any, Samples]] = {}
    for samples in every:
        for item, value in zip(samples.items, samples.fields[name], strict=True):
            known, before = first.setdefault(item, (value, samples))
            if known != value:
                log, log_before = _distinct_names(samples, before)
                raise DataError(
                    f"{name!r} of {item.id!r} is {value!r} for {log} and {known!r} for "
                    f"{log_before}; it must be the same for every model"
                )
    values = [first[answer.item][0] for answer in answers]
    missing = [
        answer.item.id for answer, value in zip(answers, values, strict=True) if value is None
    ]
    if missing:
        raise DataError(
            f"{len(missing)} of {len(answers)} items have no {name!r}, e.g. {missing[0]!r}; use a "
            "field that all items have"
        )
    invalid = next((value for value in values if not isinstance(value, (str, int, float))), None)
    if invalid is not None:
        raise DataError(
            f"{name!r} must be a text or a number for each item; got {str(invalid)[:60]!r}"
        )
    return values


def _answers(runs: Sequence[Samples], score: str, kind: Kind, only: dict[Item, Answer]) -> Answers:
    """Return the answers of one model; answers to the same item are numbered in order.

    The only answers to items are shared by all models, in ``only``.
    """
    grades = [grade for samples in runs for grade in kind.grades(samples.scores[score])]
    items = [item for samples in runs for item in samples.items]
    if len(set(items)) == len(items):
        answers = [only.get(item) or only.setdefault(item, Answer(item, 1)) for item in items]
        return dict(zip(answers, grades, strict=True))
    turns = [samples.turn for samples in runs for _ in samples.items]
    epochs = [epoch for samples in runs for epoch in samples.epochs]
    keys = [*zip(items, turns, epochs, strict=True)]
    _check_unique(keys, runs)
    numbers: Counter[Item] = Counter()
    numbered: Answers = {}
    for (item, *_), grade in sorted(zip(keys, grades, strict=True), key=itemgetter(0)):
        numbers[item] += 1
        numbered[Answer(item, numbers[item])] = grade
    return numbered


def _check_unique(keys: Sequence[tuple[Item, int, int]], runs: Sequence[Samples]) -> None:
    if len(set(keys)) == len(keys):
        return
    times = Counter(keys)
    repeated = sorted(key for key, number in times.items() if number > 1)
    naming = Naming(
        several_tasks=len({item.task for item, *_ in keys}) > 1,
        repeated=any(epoch > 1 for *_, epoch in keys),
    )
    examples = ", ".join(
        f"{naming.name_of(Answer(item, epoch))} ({times[item, turn, epoch]} times)"
        for item, turn, epoch in repeated[:_EXAMPLES]
    )
    names = " and ".join(dict.fromkeys(run.name for run in runs[:_EXAMPLES]))
    model = runs[0].model
    action = (
        "Keep one row each, or number repeated answers in a column 'epoch'"
        if runs[0].origin == LONG
        else f"Keep one log, or the newest with {param('latest=', True)}, or list them as repeated "
        f"answers to the same items: {{{model!r}: [first log, second log]}}"
    )
    raise DataError(
        f"every sample of {model!r} must occur once, but {len(keys) - len(times)} are repeated in "
        f"{names}, e.g. {examples}. {action}"
    )


class _Aspect(NamedTuple):
    """Item property on which the logs of all models must agree."""

    columns: Callable[[Samples], Mapping[str, list[str | None]]]
    differs: str
    nouns: str


_QUESTIONS = _Aspect(lambda samples: samples.questions, "ask different questions", "questions")
_GOLD = _Aspect(lambda samples: samples.gold, "expect different answers", "expected answers")
_PROMPTS = _Aspect(lambda samples: samples.prompts, "", "prompts")


class _Difference(NamedTuple):
    """An item with different values in a column of two logs."""

    item: Item
    column: str
    value: str
    other: str
    before: Samples


def compare_items(every: Sequence[Samples], naming: Naming) -> tuple[Finding, ...]:
    """Raise an error if logs have different items under the same id; return findings.

    Only forms of the question or the answer that several logs contain can be compared. A finding
    reports items without a common form, and another finding reports logs without any.
    """
    for aspect in (_QUESTIONS, _GOLD):
        for samples, other in _differences(every, aspect):
            raise _different_items(samples, other, aspect)
    findings: tuple[Finding, ...] = ()
    for samples, other in _differences(every, _PROMPTS):
        log, log_before = _distinct_names(samples, other[0].before)
        findings += (
            finding(
                "prompts_differ",
                first=log,
                second=log_before,
                n=len(other),
                total=len(samples.items),
                ids=_ids(other),
            ),
        )
        break
    has_items = any(_known_columns(log, _QUESTIONS) | _known_columns(log, _GOLD) for log in every)
    if not has_items and len({log.model for log in every}) > 1 and every[0].origin != LONG:
        return (*findings, finding("items_not_compared/nothing"))
    for aspect in (_QUESTIONS, _GOLD):
        uncompared = _not_compared(every, aspect)
        if uncompared:
            answers = [Answer(item, 1) for item in uncompared]
            findings += (
                finding(
                    "items_not_compared/some",
                    nouns=aspect.nouns,
                    n=len(uncompared),
                    total=len({item for log in every for item in log.items}),
                    ids=naming._replace(repeated=False).of(answers),
                ),
            )
    return findings


def _differences(
    every: Sequence[Samples], aspect: _Aspect
) -> Iterator[tuple[Samples, list[_Difference]]]:
    """Yield the samples that differ from earlier ones, with the differences."""
    known: dict[str, dict[Item, str]] = {}
    last: dict[tuple[str, str], tuple[list[Item], list[str | None]]] = {}
    for k, samples in enumerate(every):
        other: dict[int, _Difference] = {}
        for column, values in aspect.columns(samples).items():
            # Usually, the models' logs of a task have the same items in the same order.
            key = column, samples.items[0].task if samples.items else ""
            if last.get(key) == (samples.items, values):
                continue
            last[key] = samples.items, values
            first = known.setdefault(column, {})
            before = [*map(first.get, samples.items)]
            if before == values:
                continue
            pairs = zip(samples.items, values, strict=True)
            new = {item: value for item, value in pairs if value is not None}
            if len(new) == len(values) and before.count(None) == len(before):
                first |= new
                continue
            for row, (item, value) in enumerate(zip(samples.items, values, strict=True)):
                if value is not None and value != first.setdefault(item, value):
                    log = _first_with(every[: k + 1], aspect, column, item)
                    other.setdefault(row, _Difference(item, column, value, first[item], log))
        if other:
            yield samples, list(other.values())


def _first_with(every: Sequence[Samples], aspect: _Aspect, column: str, item: Item) -> Samples:
    """Return the first samples with a value in a column of an item."""
    return next(
        samples
        for samples in every
        for other, value in zip(
            samples.items, aspect.columns(samples).get(column, ()), strict=False
        )
        if other == item and value is not None
    )


def _different_items(samples: Samples, other: Sequence[_Difference], aspect: _Aspect) -> DataError:
    first = other[0]
    value, known = _around_difference(first.value, first.other)
    log, log_before = _distinct_names(samples, first.before)
    return DataError(
        f"{log} and {log_before} {aspect.differs} under the same id in {len(other)} of "
        f"{len(samples.items)} samples, e.g. {_ids(other)}; {first.column!r} of "
        f"{first.item.id!r} is {value} in the first and {known} in the second. They come from "
        "different versions of the data. Evaluate the models on the same version"
    )


def _distinct_names(first: Samples, second: Samples) -> tuple[str, str]:
    """Return the names of two logs, plus their models if both are in one file."""
    if first.name != second.name or first.model == second.model:
        return first.name, second.name
    return f"{first.model!r} in {first.name}", f"{second.model!r}"


def _ids(other: Sequence[_Difference]) -> str:
    return ", ".join([*dict.fromkeys(repr(difference.item.id) for difference in other)][:_EXAMPLES])


_MAX_TEXT = 40  # number of characters of a question or expected answer to show


def _around_difference(first: str, second: str) -> tuple[str, str]:
    """Return excerpts of two texts around their first difference."""
    n_same = next(
        (k for k, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]),
        min(len(first), len(second)),
    )
    start = max(0, n_same - _MAX_TEXT // 2) if max(len(first), len(second)) > _MAX_TEXT else 0

    def part(text: str) -> str:
        end = start + _MAX_TEXT
        return repr(("…" if start else "") + text[start:end] + ("…" if len(text) > end else ""))

    return part(first), part(second)


def _known_columns(samples: Samples, aspect: _Aspect) -> set[str]:
    """Return the columns in which a log has a value for at least one item."""
    columns = aspect.columns(samples)
    return {name for name, values in columns.items() if any(value is not None for value in values)}


def _not_compared(every: Sequence[Samples], aspect: _Aspect) -> list[Item]:
    """Return the items with values in some logs, but in no column that all models have."""
    complete = [
        {name for name, values in aspect.columns(log).items() if None not in values}
        for log in every
    ]
    if set.intersection(*complete):
        return []
    known: dict[Item, dict[str, set[str]]] = {}
    for samples in every:
        columns = aspect.columns(samples)
        for k, item in enumerate(samples.items):
            names = {name for name, values in columns.items() if values[k] is not None}
            known.setdefault(item, {}).setdefault(samples.model, set()).update(names)
    return [
        item
        for item, models in known.items()
        if any(models.values()) and not set.intersection(*models.values())
    ]


def _unscored_logs(runs: Sequence[Samples], score: str, kind: Kind) -> str:
    """Return the names of some logs with answers without a score."""
    without = [run for run in runs if None in kind.grades(run.scores[score])]
    return " and ".join(dict.fromkeys(run.name for run in without[:_EXAMPLES]))


def _without_score(
    answers: Mapping[str, Answers],
    names: Mapping[str, str],
    score: str,
    naming: Naming,
    on_null: OnNull,
) -> tuple[Finding, ...]:
    """Raise an error for answers without a score, or drop these for all models with a finding."""
    unscored = {
        model: [answer for answer, value in scored.items() if value is None]
        for model, scored in answers.items()
    }
    faults = [
        f"{model!r} has no {score!r} for {len(missing)} of {len(answers[model])} {naming.noun}, "
        f"e.g. {naming.of(missing)}, in {names[model]}"
        for model, missing in unscored.items()
        if missing
    ]
    if not faults:
        return ()
    if on_null == "raise":
        raise DataError(
            "; ".join(faults) + ". If the evaluation failed on these, rerun them, or drop them "
            f"for all models with {param('on_null=', 'drop')}"
        )
    every = {answer for missing in unscored.values() for answer in missing}
    _drop(answers, every)
    return (
        finding(
            "null_rows_dropped/logs", items=counted(len(every), naming.noun), faults=clauses(faults)
        ),
    )


def _without_partner(
    answers: Mapping[str, Answers], naming: Naming, on_missing: OnMissing
) -> tuple[Finding, ...]:
    """Raise an error for answers missing from some models, or drop these with a finding."""
    every: set[Answer] = set().union(*answers.values())
    missing = {model: every - scored.keys() for model, scored in answers.items()}
    faults = [
        f"{model!r} lacks {len(lacking)}, e.g. {naming.of(lacking)}"
        for model, lacking in missing.items()
        if lacking
    ]
    common = len(every) - len(set().union(*missing.values()))
    if not common:
        text = "; ".join(faults) or "no sample is left"
        raise DataError(f"no item was answered by all models: {text}")
    if not faults:
        return ()
    text = f"of {len(every)} {naming.noun} that some model answered, {'; '.join(faults)}"
    if on_missing == "raise":
        as_often = ", equally often" if naming.repeated else ""
        raise DataError(
            f"{text}. Evaluate the models on the same items{as_often}, or keep the "
            f"{common} that all of them answered with {param('on_missing=', 'drop')}"
        )
    _drop(answers, set().union(*missing.values()))
    return (finding("unmatched_ids_dropped/logs", common=common, nouns=naming.noun, faults=text),)


def _drop(answers: Mapping[str, Answers], dropped: set[Answer]) -> None:
    for scored in answers.values():
        for answer in dropped:
            scored.pop(answer, None)
