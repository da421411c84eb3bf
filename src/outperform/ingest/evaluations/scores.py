"""Which score counts, and what to do where several could, or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from outperform.errors import DataError, UsageError, unknown_name
from outperform.ingest.evaluations.samples import Samples, as_grade, is_right


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What the values of a score are, and what to say of those that are not."""

    read: Callable[[Any], float | None]  # None where it is missing, else a ValueError
    says: str
    looks: str
    otherwise: str


RIGHT = Kind(
    read=is_right,
    says="say right or wrong",
    looks="right or wrong (1 and 0, true and false, C and I)",
    otherwise="which is neither right nor wrong. Compare the mean of such grades, read by "
    "op.read_scores, or decide what is good enough and count that with "
    "Outcomes.from_correct({'model': score >= 0.5, …})",
)
GRADE = Kind(
    read=as_grade,
    says="are grades",
    looks="grades, as numbers",
    otherwise="which is no number",
)


def spread(scores: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Give every key of scores that are dictionaries a name of its own, ``scorer.key``.

    Examples
    --------
    >>> spread({"judge": [{"tone": 3, "right": 1}, None], "match": ["C", "I"]})
    {'judge.tone': [3, None], 'judge.right': [1, None], 'match': ['C', 'I']}
    """
    found: dict[str, list[Any]] = {}
    for name, values in scores.items():
        keys = dict.fromkeys(key for one in values if isinstance(one, dict) for key in one)
        if not keys or any(_is_plain(one) for one in values):
            found[name] = values
        for key in keys:
            found[f"{name}.{key}"] = [
                one.get(key) if isinstance(one, dict) else None for one in values
            ]
    return found


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, int, float)) and value == value and value != ""


def choose_score(every: Sequence[Samples], score: str | None, kind: Kind) -> str:
    """Return the score that was asked for, or the only one of its kind."""
    if score is not None:
        score = _full_name(every, score)
        for samples in every:
            if score not in samples.scores:
                raise UsageError(f"{samples.name}: {unknown_name('score', score, samples.scores)}")
            _refuse_others(samples, score, kind)
        return score
    shared = [name for name in every[0].scores if all(name in one.scores for one in every)]
    fitting = [name for name in shared if all(_is_of(one, name, kind) for one in every)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        shown = ", ".join(map(repr, fitting))
        raise UsageError(f"several scores {kind.says}: {shown}; name one with score=")
    if len(shared) == 1:
        for samples in every:
            _refuse_others(samples, shared[0], kind)
    known = ", ".join(map(repr, dict.fromkeys(name for one in every for name in one.scores)))
    raise UsageError(
        f"there is no score that all logs have and whose values are {kind.looks}; they have "
        f"{known or 'none'}. Name one with score=, or read tasks with different scores apart"
    )


def _full_name(every: Sequence[Samples], score: str) -> str:
    """Return ``scorer.key`` for a key that only one scorer has; any other name as it is."""
    known = dict.fromkeys(name for samples in every for name in samples.scores)
    if score in known:
        return score
    keys = [name for name in known if name.partition(".")[2] == score]
    if len(keys) == 1:
        return keys[0]
    held = keys or [name for name in known if name.startswith(f"{score}.")]
    if held:
        shown = ", ".join(map(repr, held))
        raise UsageError(f"{score!r} stands for several scores, {shown}; name one with score=")
    return score


def _is_of(samples: Samples, score: str, kind: Kind) -> bool:
    try:
        found = {kind.read(value) for value in samples.scores[score]}
    except ValueError:
        return False
    return found != {None}


def _refuse_others(samples: Samples, score: str, kind: Kind) -> None:
    for item, value in zip(samples.items, samples.scores[score], strict=True):
        try:
            kind.read(value)
        except ValueError:
            raise DataError(
                f"{samples.name}: {score!r} is {str(value)[:60]!r} for {item.id!r}, "
                f"{kind.otherwise}"
            ) from None
