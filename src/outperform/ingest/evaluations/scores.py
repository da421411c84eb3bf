"""Which score counts, and what to do where several could, or none."""

from __future__ import annotations

from collections.abc import Sequence

from outperform.errors import DataError, UsageError, unknown_name
from outperform.ingest.evaluations.samples import Samples, is_right


def choose_score(every: Sequence[Samples], score: str | None) -> str:
    """Return the score that was asked for, or the only one of right and wrong."""
    if score is not None:
        for samples in every:
            if score not in samples.scores:
                raise UsageError(f"{samples.name}: {unknown_name('score', score, samples.scores)}")
            _refuse_between(samples, score)
        return score
    shared = [name for name in every[0].scores if all(name in one.scores for one in every)]
    binary = [name for name in shared if all(_is_binary(one, name) for one in every)]
    if len(binary) == 1:
        return binary[0]
    if binary:
        shown = ", ".join(map(repr, binary))
        raise UsageError(f"several scores say right or wrong: {shown}; name one with score=")
    if len(shared) == 1:
        for samples in every:
            _refuse_between(samples, shared[0])
    known = ", ".join(map(repr, dict.fromkeys(name for one in every for name in one.scores)))
    raise UsageError(
        "there is no score that all logs have and that says right or wrong (1 and 0, true and "
        f"false, C and I); they have {known or 'none'}. Name one with score=, or read tasks with "
        "different scores apart"
    )


def _is_binary(samples: Samples, score: str) -> bool:
    try:
        found = {is_right(value) for value in samples.scores[score]}
    except ValueError:
        return False
    return found != {None}


def _refuse_between(samples: Samples, score: str) -> None:
    for item, value in zip(samples.items, samples.scores[score], strict=True):
        try:
            is_right(value)
        except ValueError:
            raise DataError(
                f"{samples.name}: {score!r} is {str(value)[:60]!r} for {item.id!r}, which is "
                "neither right nor wrong. Scores in between need a threshold: decide what is good "
                "enough and count that with Outcomes.from_correct({'model': score >= 0.5, …}); "
                "there is no metric for their mean yet"
            ) from None
