"""From spans to tags."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from outperform.errors import DataError, UsageError
from outperform.outcomes.schemes.reading import read
from outperform.outcomes.schemes.scheme import BARE_TYPE, Scheme, Span


def write(scheme: Scheme, spans: Iterable[Span], length: int) -> list[str]:
    """Return the tags of spans that do not overlap."""
    ordered = _in_order(spans, length)
    tags = [_outside(scheme)] * length
    for before, span, after in zip((None, *ordered), ordered, (*ordered[1:], None), strict=False):
        start, end, kind = span
        prefixes = _prefixes(scheme, span, _touch(before, span), _touch(span, after))
        ending = "" if kind == BARE_TYPE else scheme.delimiter + kind
        tags[start:end] = [prefix + ending for prefix in prefixes]
    _check_written(scheme, tags, ordered)
    return tags


def _in_order(spans: Iterable[Span], length: int) -> list[Span]:
    ordered = sorted(_checked(span, length) for span in spans)
    for first, second in pairwise(ordered):
        if second[0] < first[1]:
            nested = second[1] <= first[1] or second[0] == first[0]
            raise DataError(
                f"spans must not {'lie inside one another' if nested else 'overlap'}, because a "
                f"tag belongs to one span only; got {first!r} and {second!r}"
            )
    return ordered


def _checked(span: Span, length: int) -> Span:
    if len(span) != 3:
        raise DataError(f"a span must be start, end and type; got {span!r}")
    start, end, kind = span
    if not (hasattr(start, "__index__") and hasattr(end, "__index__")):
        raise DataError(f"the start and the end of a span must be whole numbers; got {span!r}")
    if not 0 <= start < end <= length:
        raise DataError(
            f"a span must have 0 <= start < end <= {length}, the length of the sequence; "
            f"got {span!r}; the end is exclusive"
        )
    if not isinstance(kind, str) or not kind:
        raise DataError(f"the type of a span must be text; got {span!r}")
    return int(start), int(end), kind


def _outside(scheme: Scheme) -> str:
    return next((prefix for prefix, role in scheme.roles.items() if role == "outside"), "")


def _touch(left: Span | None, right: Span | None) -> bool:
    """Return whether two spans of one type stand side by side."""
    return left is not None and right is not None and left[1:] == (right[0], right[2])


def _prefixes(scheme: Scheme, span: Span, after_same: bool, before_same: bool) -> list[str]:
    start, end, _ = span
    length = end - start
    found: list[str] = []
    for position in range(length):
        last = position == length - 1
        allowed = scheme.follows[found[-1]] if position else scheme.opens
        able = scheme.closes if last else scheme.follows
        fit = [one for one in allowed if one in able]
        if position == 0:
            fit = _in_context(fit, scheme.after_same, after_same)
        if last:
            fit = _in_context(fit, scheme.before_same, before_same)
        if not fit:
            raise DataError(
                f"{scheme.name} has no tags for a span of length {length}; got {span!r}"
            )
        found.append(fit[0])
    return found


def _in_context(fit: Sequence[str], bound: Sequence[str], here: bool) -> list[str]:
    """Return the prefixes for a span with such a neighbour, those made for it first."""
    made = [one for one in fit if one in bound]
    free = [one for one in fit if one not in bound]
    return made + free if here else free


def _check_written(scheme: Scheme, tags: list[str], spans: list[Span]) -> None:
    """Refuse what could not be read again."""
    if "" in tags:
        raise UsageError(
            f"{scheme.name} has no prefix for what is outside of spans, so spans must cover the "
            f"whole sequence; position {tags.index('')} is in none"
        )
    if read(scheme, tags, strict=False).spans != tuple(spans):
        raise DataError(
            f"{scheme.name} cannot tell these spans apart: neighbours of one type need a scheme "
            f"with a prefix for the beginning or the end; got {spans!r}"
        )
