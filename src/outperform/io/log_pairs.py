"""What several models answered, put side by side on the item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from outperform.errors import DataError, UsageError, param
from outperform.findings import Finding, clauses, counted, finding
from outperform.io.group_by import OnNull
from outperform.io.join import OnMissing
from outperform.io.log_samples import LONG, Item, Kind, Samples

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
    names = {model: _lacking(runs, score, kind) for model, runs in by_model.items()}
    findings = _without_score(answers, names, score, naming, on_null)
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
        else f"Keep one log, or the newest with {param('latest=', True)}, or list them as repeated "
        f"answers to the same items: {{{model!r}: [first log, second log]}}"
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
            ids = ", ".join([*dict.fromkeys(repr(item.id) for item, _ in other)][:_EXAMPLES])
            raise DataError(
                f"{samples.name} and {other[0][1].name} ask something else under the same id in "
                f"{len(other)} of {len(samples.items)} samples, e.g. {ids}; they are of different "
                "versions of the data. Evaluate the models on the same one"
            )


def _lacking(runs: Sequence[Samples], score: str, kind: Kind) -> str:
    """Return some names of logs with answers that have no score."""
    found = [one for one in runs if any(kind.read(value) is None for value in one.scores[score])]
    return " and ".join(dict.fromkeys(one.name for one in found[:_EXAMPLES]))


def _without_score(
    answers: Mapping[str, Answers],
    names: Mapping[str, str],
    score: str,
    naming: Naming,
    on_null: OnNull,
) -> tuple[Finding, ...]:
    """Refuse answers without a score, or take them from all models and say so."""
    lost = {
        model: [answer for answer, value in one.items() if value is None]
        for model, one in answers.items()
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
