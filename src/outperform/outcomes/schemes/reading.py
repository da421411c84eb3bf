"""From tags to spans: as conlleval reads them, and strictly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from outperform.errors import DataError
from outperform.outcomes.schemes.scheme import BARE_TYPE, Reading, Role, Scheme, Span


class _Tag(NamedTuple):
    """One tag taken apart; outside of spans there is neither prefix nor type."""

    prefix: str
    role: Role
    type: str
    allowed: bool = True


_OUTSIDE = _Tag("", "outside", "")


def read(scheme: Scheme, tags: Sequence[str], *, strict: bool) -> Reading:
    """Return the spans of one sequence of tags, and where the tags break the scheme."""
    parsed = _parse(scheme, tags)
    spans = _strict_spans(scheme, parsed) if strict else _lenient_spans(parsed)
    return Reading(spans=tuple(spans), malformed=tuple(_malformed(scheme, parsed)))


def _parse(scheme: Scheme, tags: Sequence[str]) -> list[_Tag]:
    if isinstance(tags, str | bytes):
        raise DataError(
            f"the tags of a sequence must be a list of text; got {type(tags).__name__} {tags!r}"
        )
    known: dict[str, _Tag] = {}
    parsed = []
    # A list, because what can be gone through need not count its places from 0.
    tags = list(tags)
    for position, tag in enumerate(tags):
        if not isinstance(tag, str):
            raise DataError(f"a tag must be text; got {tag!r} at position {position}")
        if tag not in known:
            known[tag] = _take_apart(scheme, tags, position)
        parsed.append(known[tag])
    return parsed


def _take_apart(scheme: Scheme, tags: Sequence[str], position: int) -> _Tag:
    tag = str(tags[position])
    prefix, delimiter, kind = tag.partition(scheme.delimiter)
    role = scheme.roles.get(prefix)
    if role is None:
        raise DataError(_unknown_prefix(scheme, tags, position))
    if role == "outside":
        return _OUTSIDE._replace(allowed=not delimiter)
    if delimiter and not kind:
        raise DataError(
            f"a tag must name a type after {delimiter!r}; got {tag!r} at position {position}; "
            f"write {prefix!r} alone if there are no types"
        )
    return _Tag(prefix, role, kind or BARE_TYPE)


def _unknown_prefix(scheme: Scheme, tags: Sequence[str], position: int) -> str:
    from outperform.outcomes.schemes.table import fitting

    prefixes = {str(tag).partition(scheme.delimiter)[0] for tag in tags}
    others = fitting(prefixes)
    hint = (
        f"the tags of this sequence would fit {' or '.join(others)}"
        if others
        else "give a table of prefixes and roles if the scheme is your own"
    )
    return (
        f"a tag of {scheme.name} must begin with {', '.join(scheme.roles)}; "
        f"got {str(tags[position])!r} at position {position}; {hint}"
    )


def _lenient_spans(tags: list[_Tag]) -> list[Span]:
    """Return the spans by conlleval's rules, which leave no tag of a span unread.

    Two neighbours belong to one span unless the left one ends it, the right one
    begins another, or their types differ.
    """
    spans: list[Span] = []
    start, before = 0, _OUTSIDE
    for position, tag in enumerate((*tags, _OUTSIDE)):
        apart = (
            tag.role in ("begin", "single", "outside")
            or before.role in ("end", "single", "outside")
            or tag.type != before.type
        )
        if apart:
            if before.role != "outside":
                spans.append((start, position, before.type))
            start = position
        before = tag
    return spans


def _strict_spans(scheme: Scheme, tags: list[_Tag]) -> list[Span]:
    """Return the spans that open, go on and close as the scheme asks."""
    spans: list[Span] = []
    start: int | None = None
    before = _OUTSIDE
    for position, tag in enumerate((*tags, _OUTSIDE)):
        if start is None or not _continues(scheme, before, tag):
            if start is not None and _closes_strictly(scheme, before, tag):
                spans.append((start, position, before.type))
            start = position if _opens_strictly(scheme, before, tag) else None
        before = tag
    return spans


def _malformed(scheme: Scheme, tags: list[_Tag]) -> list[int]:
    """Return the positions of tags that do not get on with a neighbour."""
    wrong = {position for position, tag in enumerate(tags) if not tag.allowed}
    before = _OUTSIDE
    for position, tag in enumerate((*tags, _OUTSIDE)):
        if not _continues(scheme, before, tag):
            if before.role != "outside" and not _closes(scheme, before, tag):
                wrong.add(position - 1)
            if tag.role != "outside" and not _opens(scheme, before, tag):
                wrong.add(position)
        before = tag
    return sorted(wrong)


def _continues(scheme: Scheme, before: _Tag, tag: _Tag) -> bool:
    return before.type == tag.type and tag.prefix in scheme.follows.get(before.prefix, ())


def _opens(scheme: Scheme, before: _Tag, tag: _Tag) -> bool:
    return tag.prefix in scheme.opens and (
        tag.prefix not in scheme.after_same or before.type == tag.type
    )


def _closes(scheme: Scheme, tag: _Tag, after: _Tag) -> bool:
    return tag.prefix in scheme.closes and (
        tag.prefix not in scheme.before_same or tag.type == after.type
    )


def _opens_strictly(scheme: Scheme, before: _Tag, tag: _Tag) -> bool:
    return _opens(scheme, before, tag) and (
        tag.prefix not in scheme.strict_after_same or before.type == tag.type
    )


def _closes_strictly(scheme: Scheme, tag: _Tag, after: _Tag) -> bool:
    doubled = tag.prefix == after.prefix and tag.type != after.type
    return _closes(scheme, tag, after) and not (doubled and tag.prefix in scheme.strict_not_doubled)
