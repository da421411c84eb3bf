"""The same score of several models, item by item: which score counts, and which answers pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from outperform._files import shown
from outperform.errors import DataError, UsageError, either, param, unknown_name
from outperform.findings import Finding, clauses, counted, finding
from outperform.io.group_by import OnNull
from outperform.io.join import OnMissing
from outperform.io.logs.samples import LONG, Item, Samples, as_grade, is_right

_EXAMPLES = 5


# Which score counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What the values of a score are, and what to say of those that are not."""

    read: Callable[[Any], float | None]  # None where it is missing, else a ValueError
    says: str
    looks: str
    otherwise: Callable[[], str]


RIGHT = Kind(
    read=is_right,
    says="say right or wrong",
    looks="right or wrong (1 and 0, true and false, C and I)",
    otherwise=lambda: either(
        "which is neither right nor wrong. Compare the mean of such grades, read by "
        "op.read_scores, or decide what is good enough and count that with "
        "Outcomes.from_correct({'model': score >= 0.5, …})",
        "which is neither right nor wrong; compare the mean of such grades with --metric mean",
    ),
)
GRADE = Kind(
    read=as_grade,
    says="are grades",
    looks="grades, as numbers",
    otherwise=lambda: "which is no finite number",
)


def choose_score(every: Sequence[Samples], score: str | None, kind: Kind) -> str:
    """Return the score that was asked for, or the only one of its kind."""
    if score is not None:
        score = _full_name(every, score)
        for samples in every:
            if score not in samples.scores:
                raise UsageError(f"{samples.name}: {unknown_name('score', score, samples.scores)}")
            _refuse_others(samples, score, kind)
        return score
    shared = [name for name in every[0].scores if all(name in log.scores for log in every)]
    fitting = [name for name in shared if all(_is_of(log, name, kind) for log in every)]
    if kind is GRADE and len(fitting) > 1:  # right or wrong is a grade only where there is no other
        numbers = [name for name in fitting if not _is_of_truth(every, name)]
        fitting = numbers or fitting
    if len(fitting) == 1:
        return fitting[0]
    tasks = sorted({item.task for samples in every for item in samples.items})
    each = param("score=", dict.fromkeys(tasks[:2], (*fitting, "acc")[0]))
    if fitting:
        own = either(f", or one for each task with {each}", "") if len(tasks) > 1 else ""
        shown = ", ".join(map(repr, fitting)) + f"; name one with {param('score=')}{own}"
        raise UsageError(f"several scores {kind.says}: {shown}")
    if len(shared) == 1:
        for samples in every:
            _refuse_others(samples, shared[0], kind)
    known = ", ".join(map(repr, dict.fromkeys(name for log in every for name in log.scores)))
    own = either(
        f"name that of each task, {each}",
        f"take each task by its own score with {param('by=', 'task')}",
    )
    which = f"{param('score=')} to see why it does not fit"
    raise DataError(
        f"there is no score that all logs have and whose values are {kind.looks}; they have "
        f"{known or 'none'}. "
        + (f"They are of {len(tasks)} tasks: {own}" if len(tasks) > 1 else f"Name one with {which}")
    )


def choose_by_task(
    every: Sequence[Samples], scores: Mapping[str, str], kind: Kind
) -> tuple[list[Samples], str]:
    """Return the samples of all tasks, each with the score that was asked of it, as one score."""
    parts = [(task, log) for samples in every for task, log in samples.by_task().items()]
    known = dict.fromkeys(task for task, _ in parts)
    for task in scores:
        if task not in known:
            raise UsageError(unknown_name("task", task, known))
    lacking = [task for task in known if task not in scores]
    if lacking:
        raise UsageError(
            f"{param('score=')} names no score of {', '.join(map(repr, lacking))}; name one for "
            f"each task, or leave tasks out with {param('where=')}"
        )
    chosen = {
        task: choose_score([log for of, log in parts if of == task], score, kind)
        for task, score in scores.items()
    }
    name = ", ".join(dict.fromkeys(chosen.values()))
    return [replace(log, scores={name: log.scores[chosen[task]]}) for task, log in parts], name


def _full_name(every: Sequence[Samples], score: str) -> str:
    """Return ``scorer.key`` for a key that only one scorer has; any other name as it is."""
    known = dict.fromkeys(name for samples in every for name in samples.scores)
    if score in known:
        return score
    keys = [name for name in known if name.partition(".")[2] == score]
    if len(keys) == 1:
        return keys[0]
    scorer_keys = keys or [name for name in known if name.startswith(f"{score}.")]
    if scorer_keys:
        shown = ", ".join(map(repr, scorer_keys))
        raise UsageError(
            f"{score!r} stands for several scores, {shown}; name one with {param('score=')}"
        )
    return score


def _is_of(samples: Samples, score: str, kind: Kind) -> bool:
    try:
        grades = {kind.read(value) for value in samples.scores[score]}
    except ValueError:
        return False
    return grades != {None}


def _is_of_truth(every: Sequence[Samples], score: str) -> bool:
    values = (value for samples in every for value in samples.scores[score])
    return all(value is None or isinstance(value, bool) for value in values)


def _refuse_others(samples: Samples, score: str, kind: Kind) -> None:
    for item, value in zip(samples.items, samples.scores[score], strict=True):
        try:
            kind.read(value)
        except ValueError:
            raise DataError(
                f"{samples.name}: {score!r} is {shown(value)} for {item.id!r}, {kind.otherwise()}"
            ) from None


# The answers to the same items


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
    known = {answer for scored in answers.values() for answer in scored}
    naming = Naming(
        several_tasks=len({answer.item.task for answer in known}) > 1,
        repeated=any(answer.number > 1 for answer in known),
    )
    compared = compare_items(every, naming)
    names = {model: _lacking(runs, score, kind) for model, runs in by_model.items()}
    findings = compared + _without_score(answers, names, score, naming, on_null)
    findings += _without_partner(answers, naming, on_missing)
    kept = sorted(next(iter(answers.values())))
    together: list[Any] | None = [answer.item for answer in kept] if naming.repeated else None
    if groups is not None:
        together = _field(every, groups, kept)
        tasks = [answer.item.task for answer in kept]
        findings += _kept_apart(groups, tasks, together)
        together = list(zip(tasks, together, strict=True))  # tasks number their passages alike
    return Paired(
        score,
        # None is missing any more.
        {
            model: [value for answer in kept if (value := values[answer]) is not None]
            for model, values in answers.items()
        },
        together,
        {name: _field(every, name, kept) for name in by} or None,
        findings,
        [naming.id(answer) for answer in kept],
    )


def _kept_apart(name: str, tasks: Sequence[str], together: Sequence[object]) -> tuple[Finding, ...]:
    """Say which names of groups are in several tasks, where they are groups of their own."""
    known: dict[object, set[str]] = {}
    for task, group in zip(tasks, together, strict=True):
        known.setdefault(group, set()).add(task)
    shared = [group for group, own in known.items() if len(own) > 1]
    if not shared:
        return ()
    n_groups = len(set(zip(tasks, together, strict=True)))
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
"""What every sample knows of its item."""


def _field(every: Sequence[Samples], name: str, kept: Sequence[Answer]) -> list[Any]:
    """Return what the logs say of each item that is kept; they must agree on it."""
    if name in OWN:
        return [getattr(answer.item, name) for answer in kept]
    first: dict[Item, tuple[Any, Samples]] = {}
    for samples in every:
        for item, value in zip(samples.items, samples.fields[name], strict=True):
            known, before = first.setdefault(item, (value, samples))
            if known != value:
                own_name, name_before = _told_apart(samples, before)
                raise DataError(
                    f"{name!r} of {item.id!r} is {value!r} for {own_name} and {known!r} for "
                    f"{name_before}; it must be the same for every model"
                )
    values = [first[answer.item][0] for answer in kept]
    lost = [answer.item.id for answer, value in zip(kept, values, strict=True) if value is None]
    if lost:
        raise DataError(
            f"{len(lost)} of {len(kept)} items have no {name!r}, e.g. {lost[0]!r}; name a field "
            "that all of them have"
        )
    odd = next((value for value in values if not isinstance(value, (str, int, float))), None)
    if odd is not None:
        raise DataError(f"{name!r} must be a text or a number of each item; got {str(odd)[:60]!r}")
    return values


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
    answers: Answers = {}
    for item, _, _, value, _ in sorted(rows, key=lambda row: row[:3]):
        numbers[item] += 1
        answers[Answer(item, numbers[item])] = kind.read(value)
    return answers


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
    names = " and ".join(dict.fromkeys(run.name for run in runs[:_EXAMPLES]))
    model = runs[0].model
    mend = (
        "Keep one row each, or number repeated answers in a column called 'epoch'"
        if runs[0].origin == LONG
        else f"Keep one log, or the newest with {param('latest=', True)}, or list them as repeated "
        f"answers to the same items: {{{model!r}: [first log, second log]}}"
    )
    raise DataError(
        f"every sample of {model!r} must be there once, but {len(keys) - len(times)} are repeated "
        f"in {names}, e.g. {shown}. {mend}"
    )


class _Aspect(NamedTuple):
    """Something that the logs of all models must say alike of an item."""

    columns: Callable[[Samples], Mapping[str, list[str | None]]]
    differs: str
    nouns: str


_QUESTIONS = _Aspect(lambda one: one.questions, "ask something else", "questions")
_GOLD = _Aspect(lambda one: one.gold, "have another expected answer", "expected answers")
_PROMPTS = _Aspect(lambda one: one.prompts, "", "prompts")


class _Difference(NamedTuple):
    """An item of which two logs say different things under one name."""

    item: Item
    column: str
    value: str
    other: str
    before: Samples


def compare_items(every: Sequence[Samples], naming: Naming) -> tuple[Finding, ...]:
    """Refuse logs in which an id stands for different items, as far as they say what it is.

    Only what several logs hold in the same form can be compared. Items of which some logs lack that
    are told in a finding, and so are logs that say nothing of any item.
    """
    for aspect in (_QUESTIONS, _GOLD):
        for samples, other in _differences(every, aspect):
            _refuse_difference(samples, other, aspect)
    findings: tuple[Finding, ...] = ()
    for samples, other in _differences(every, _PROMPTS):
        own_name, name_before = _told_apart(samples, other[0].before)
        findings += (
            finding(
                "prompts_differ",
                first=own_name,
                second=name_before,
                n=len(other),
                total=len(samples.items),
                ids=_ids(other),
            ),
        )
        break
    silent = not any(_known_columns(log, _QUESTIONS) | _known_columns(log, _GOLD) for log in every)
    if silent and len({log.model for log in every}) > 1 and every[0].origin != LONG:
        return (*findings, finding("items_not_compared/nothing"))
    for aspect in (_QUESTIONS, _GOLD):
        alone = _not_compared(every, aspect)
        if alone:
            answers = [Answer(item, 1) for item in alone]
            shown = naming._replace(repeated=False).of(answers)
            unlike = finding(
                "items_not_compared/some",
                nouns=aspect.nouns,
                n=len(alone),
                total=len({item for log in every for item in log.items}),
                ids=shown,
            )
            findings = (*findings, unlike)
    return findings


def _differences(
    every: Sequence[Samples], aspect: _Aspect
) -> Iterator[tuple[Samples, list[_Difference]]]:
    """Yield the samples that say something else of items than others before them."""
    first: dict[tuple[str, Item], tuple[str, Samples]] = {}
    for samples in every:
        other: dict[int, _Difference] = {}
        for column, values in aspect.columns(samples).items():
            for row, (item, value) in enumerate(zip(samples.items, values, strict=True)):
                if value is None:
                    continue
                known, before = first.setdefault((column, item), (value, samples))
                if known != value:
                    other.setdefault(row, _Difference(item, column, value, known, before))
        if other:
            yield samples, list(other.values())


def _refuse_difference(samples: Samples, other: Sequence[_Difference], aspect: _Aspect) -> None:
    first = other[0]
    value, known = _parted(first.value, first.other)
    own_name, name_before = _told_apart(samples, first.before)
    raise DataError(
        f"{own_name} and {name_before} {aspect.differs} under the same id in "
        f"{len(other)} of {len(samples.items)} samples, e.g. {_ids(other)}; {first.column!r} of "
        f"{first.item.id!r} is {value} in the first and {known} in the second. They are of "
        "different versions of the data. Evaluate the models on the same one"
    )


def _told_apart(one: Samples, other: Samples) -> tuple[str, str]:
    """Return the names of two logs, or of their models if one file has both."""
    if one.name != other.name or one.model == other.model:
        return one.name, other.name
    return f"{one.model!r} in {one.name}", f"{other.model!r}"


def _ids(other: Sequence[_Difference]) -> str:
    return ", ".join([*dict.fromkeys(repr(difference.item.id) for difference in other)][:_EXAMPLES])


_LONGEST = 40  # characters of a question or an expected answer to show


def _parted(first: str, second: str) -> tuple[str, str]:
    """Return two texts as far as they show where they part."""
    same = next(
        (k for k, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]),
        min(len(first), len(second)),
    )
    start = max(0, same - _LONGEST // 2) if max(len(first), len(second)) > _LONGEST else 0

    def part(text: str) -> str:
        shown = text[start : start + _LONGEST]
        return repr(("…" if start else "") + shown + ("…" if len(text) > start + _LONGEST else ""))

    return part(first), part(second)


def _known_columns(samples: Samples, aspect: _Aspect) -> set[str]:
    """Return under which names a log says something of any item."""
    columns = aspect.columns(samples)
    return {name for name, values in columns.items() if any(value is not None for value in values)}


def _not_compared(every: Sequence[Samples], aspect: _Aspect) -> list[Item]:
    """Return the items of which not all models hold one thing in the same form, but some do."""
    whole = [
        {name for name, values in aspect.columns(log).items() if None not in values}
        for log in every
    ]
    if set.intersection(*whole):
        return []
    known: dict[Item, dict[str, set[str]]] = {}
    for samples in every:
        columns = aspect.columns(samples)
        for k, item in enumerate(samples.items):
            own = {name for name, values in columns.items() if values[k] is not None}
            known.setdefault(item, {}).setdefault(samples.model, set()).update(own)
    return [
        item
        for item, models in known.items()
        if any(models.values()) and not set.intersection(*models.values())
    ]


def _lacking(runs: Sequence[Samples], score: str, kind: Kind) -> str:
    """Return some names of logs with answers that have no score."""
    without = [run for run in runs if any(kind.read(value) is None for value in run.scores[score])]
    return " and ".join(dict.fromkeys(run.name for run in without[:_EXAMPLES]))


def _without_score(
    answers: Mapping[str, Answers],
    names: Mapping[str, str],
    score: str,
    naming: Naming,
    on_null: OnNull,
) -> tuple[Finding, ...]:
    """Refuse answers without a score, or take them from all models and say so."""
    lost = {
        model: [answer for answer, value in scored.items() if value is None]
        for model, scored in answers.items()
    }
    faults = [
        f"{model!r} has no {score!r} for {len(gone)} of {len(answers[model])} {naming.noun}, e.g. "
        f"{naming.of(gone)}, in {names[model]}"
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
    every = {answer for scored in answers.values() for answer in scored}
    lacking = {model: every - scored.keys() for model, scored in answers.items()}
    faults = [
        f"{model!r} lacks {len(gone)}, e.g. {naming.of(gone)}"
        for model, gone in lacking.items()
        if gone
    ]
    common = len(every) - len(set().union(*lacking.values()))
    if not common:
        text = "; ".join(faults) or "no sample is left"
        raise DataError(f"there is no item that all models answered: {text}")
    if not faults:
        return ()
    text = f"of {len(every)} {naming.noun} that some model answered, {'; '.join(faults)}"
    if on_missing == "raise":
        as_often = ", each as often" if naming.repeated else ""
        raise DataError(
            f"{text}. Evaluate the models on the same items{as_often}, or keep the "
            f"{common} that all of them answered with {param('on_missing=', 'drop')}"
        )
    _drop(answers, set().union(*lacking.values()))
    return (finding("unmatched_ids_dropped/logs", common=common, nouns=naming.noun, faults=text),)


def _drop(answers: Mapping[str, Answers], gone: set[Answer]) -> None:
    for scored in answers.values():
        for answer in gone:
            scored.pop(answer, None)
