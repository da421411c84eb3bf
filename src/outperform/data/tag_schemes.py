"""Tag schemes: meanings of prefixes, and conversion of tags to spans and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias, get_args

from outperform.errors import DataError, UsageError

Role: TypeAlias = Literal["begin", "inside", "end", "single", "outside"]
SchemeLike: TypeAlias = "str | Mapping[str, Role] | Scheme"
ROLES: tuple[Role, ...] = get_args(Role)

Span: TypeAlias = tuple[int, int, str]
"""Start, end (exclusive) and type."""

BARE_TYPE = "span"
"""Type of a tag that consists only of a prefix."""


class Reading(NamedTuple):
    """Spans and malformed tags of one sequence.

    Attributes
    ----------
    spans
        Start, end (exclusive) and type of every span, in the order of the text.
    malformed
        Positions of tags that the scheme does not allow at that point.
    """

    spans: tuple[Span, ...]
    malformed: tuple[int, ...]


_IOB: dict[str, Role] = {"B": "begin", "I": "inside", "O": "outside"}
_IOE: dict[str, Role] = {"I": "inside", "E": "end", "O": "outside"}
_IOBES: dict[str, Role] = {**_IOB, "E": "end", "S": "single"}
_BILOU: dict[str, Role] = {**_IOB, "L": "end", "U": "single"}
_BMES: dict[str, Role] = {
    "B": "begin",
    "M": "inside",
    "E": "end",
    "S": "single",
    "O": "outside",
}
_BB2B3MES: dict[str, Role] = {**_BMES, "B2": "inside", "B3": "inside"}

ROLES_OF = {
    "IOB1": _IOB,
    "IOB2": _IOB,
    "IOE1": _IOE,
    "IOE2": _IOE,
    "IOBES": _IOBES,
    "BILOU": _BILOU,
    "BMES": _BMES,
    "BB2B3MES": _BB2B3MES,
}


def fitting(prefixes: Iterable[str]) -> list[str]:
    """Return the names of the schemes that have all these prefixes."""
    wanted = set(prefixes)
    return [name for name, roles in ROLES_OF.items() if wanted <= set(roles)]


class _Tag(NamedTuple):
    """Parsed tag; outside of spans it has neither prefix nor type."""

    prefix: str
    role: Role
    type: str
    allowed: bool = True


_OUTSIDE = _Tag("", "outside", "")


def read(scheme: Scheme, tags: Sequence[str], *, strict: bool) -> Reading:
    """Return the spans of one sequence of tags, and the positions of malformed tags."""
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
    # A list is made because an iterable need not support indexing from 0.
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
            f"a tag must have a type after {delimiter!r}; got {tag!r} at position {position}; "
            f"write only {prefix!r} if there are no types"
        )
    return _Tag(prefix, role, kind or BARE_TYPE)


def _unknown_prefix(scheme: Scheme, tags: Sequence[str], position: int) -> str:
    prefixes = {str(tag).partition(scheme.delimiter)[0] for tag in tags}
    others = fitting(prefixes)
    hint = (
        f"the tags of this sequence fit {' or '.join(others)}"
        if others
        else "for a custom scheme, pass a table of prefixes and roles"
    )
    return (
        f"a tag of {scheme.name} must begin with {', '.join(scheme.roles)}; "
        f"got {str(tags[position])!r} at position {position}; {hint}"
    )


def _lenient_spans(tags: list[_Tag]) -> list[Span]:
    """Return the spans according to conlleval's rules, which use every tag of a span.

    Two adjacent tags belong to one span unless the left one ends it, the right one begins another,
    or their types differ.
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
    """Return the spans that open, continue and close as required by the scheme."""
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
    """Return the positions of tags that do not fit an adjacent tag."""
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


def write(scheme: Scheme, spans: Iterable[Span], length: int) -> list[str]:
    """Return the tags for non-overlapping spans."""
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
                f"tag belongs to only one span; got {first!r} and {second!r}"
            )
    return ordered


def _checked(span: Span, length: int) -> Span:
    if len(span) != 3:
        raise DataError(f"a span must consist of start, end and type; got {span!r}")
    start, end, kind = span
    if not (hasattr(start, "__index__") and hasattr(end, "__index__")):
        raise DataError(f"the start and the end of a span must be integers; got {span!r}")
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
    """Return whether two spans of one type are adjacent."""
    return left is not None and right is not None and left[1:] == (right[0], right[2])


def _prefixes(scheme: Scheme, span: Span, after_same: bool, before_same: bool) -> list[str]:
    start, end, _ = span
    length = end - start
    prefixes: list[str] = []
    for position in range(length):
        last = position == length - 1
        allowed = scheme.follows[prefixes[-1]] if position else scheme.opens
        able = scheme.closes if last else scheme.follows
        fit = [prefix for prefix in allowed if prefix in able]
        if position == 0:
            fit = _in_context(fit, scheme.after_same, after_same)
        if last:
            fit = _in_context(fit, scheme.before_same, before_same)
        if not fit:
            raise DataError(
                f"{scheme.name} has no tags for a span of length {length}; got {span!r}"
            )
        prefixes.append(fit[0])
    return prefixes


def _in_context(fit: Sequence[str], bound: Sequence[str], here: bool) -> list[str]:
    """Return the prefixes for a span next to such a span, most specific first."""
    made = [prefix for prefix in fit if prefix in bound]
    free = [prefix for prefix in fit if prefix not in bound]
    return made + free if here else free


def _check_written(scheme: Scheme, tags: list[str], spans: list[Span]) -> None:
    """Check that the tags can be read back."""
    if "" in tags:
        raise UsageError(
            f"{scheme.name} has no prefix for tags outside of spans, so spans must cover the "
            f"entire sequence; position {tags.index('')} is not covered"
        )
    if read(scheme, tags, strict=False).spans != tuple(spans):
        raise DataError(
            f"{scheme.name} cannot separate these spans: adjacent spans of one type need a scheme "
            f"with a prefix for the beginning or the end; got {spans!r}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """Tagging scheme: how the tags of a sequence mark its spans.

    A tag is a prefix, a delimiter and a type, as in ``B-PER``; a prefix alone has the type
    ``"span"``. The roles of the prefixes are enough to read tags as conlleval does. The other
    fields define which tags are well-formed; if empty, they follow from the roles.

    Parameters
    ----------
    name
        Name of the scheme.
    roles
        Role of each prefix: ``"begin"``, ``"inside"``, ``"end"``, ``"single"`` or ``"outside"``.
    opens
        Prefixes that can open a span.
    closes
        Prefixes that can close a span.
    follows
        Prefixes that can follow each prefix within a span.
    after_same
        Prefixes that open a span only directly after another span of the same type.
    before_same
        Prefixes that close a span only directly before another span of the same type.
    strict_after_same
        Prefixes that the scheme allows to open a span anywhere, but strict reading allows only
        directly after a tag of the same type, as in seqeval.
    strict_not_doubled
        Prefixes that the scheme allows to close a span anywhere, but strict reading does not allow
        directly before the same prefix with another type, as in seqeval.
    delimiter
        Separator between prefix and type.

    Examples
    --------
    >>> roles = {"B": "begin", "M": "inside", "E": "end", "S": "single", "O": "outside"}
    >>> scheme = Scheme(name="mine", roles=roles)
    >>> scheme.read(["B-PER", "E-PER", "O", "S-LOC"]).spans
    ((0, 2, 'PER'), (3, 4, 'LOC'))
    >>> scheme.closes
    ('E', 'S')
    """

    name: str
    roles: Mapping[str, Role] = field(hash=False)
    opens: tuple[str, ...] = ()
    closes: tuple[str, ...] = ()
    follows: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    after_same: tuple[str, ...] = ()
    before_same: tuple[str, ...] = ()
    strict_after_same: tuple[str, ...] = ()
    strict_not_doubled: tuple[str, ...] = ()
    delimiter: str = "-"

    def __post_init__(self) -> None:
        roles = dict(self.roles)
        _check_roles(roles, self.delimiter)
        follows = {prefix: tuple(these) for prefix, these in self.follows.items() if these}
        derived = {
            "roles": roles,
            "opens": tuple(self.opens) or _derive_opens(roles),
            "closes": tuple(self.closes) or _derive_closes(roles),
            "follows": follows or _derive_follows(roles),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)
        _check_known(self)

    def read(self, tags: Sequence[str], *, strict: bool = False) -> Reading:
        """Return the spans of one sequence of tags, and the positions of malformed tags.

        By default, malformed tags are read as in conlleval: a tag that cannot continue the
        preceding span opens a new one. Strict reading returns only well-formed spans.

        Parameters
        ----------
        tags
            Tags of one sequence, in order.
        strict
            Whether to drop spans that break the scheme.

        Examples
        --------
        >>> from outperform.data.spans import get_scheme
        >>> tags = ["O", "I-PER", "I-PER", "B-LOC"]
        >>> get_scheme("IOB2").read(tags)
        Reading(spans=((1, 3, 'PER'), (3, 4, 'LOC')), malformed=(1,))
        >>> get_scheme("IOB2").read(tags, strict=True).spans
        ((3, 4, 'LOC'),)
        """
        return read(self, tags, strict=strict)

    def write(self, spans: Iterable[Span], length: int) -> list[str]:
        """Return the tags for some spans: the inverse of reading.

        Parameters
        ----------
        spans
            Start, end (exclusive) and type of each span, in any order, without overlap.
        length
            Number of tags in the sequence.

        Examples
        --------
        >>> from outperform.data.spans import get_scheme
        >>> get_scheme("IOBES").write([(0, 1, "PER"), (2, 4, "LOC")], 5)
        ['S-PER', 'O', 'B-LOC', 'E-LOC', 'O']
        """
        return write(self, spans, length)


def _with_role(roles: Mapping[str, Role], *wanted: Role) -> tuple[str, ...]:
    return tuple(prefix for prefix, role in roles.items() if role in wanted)


def _derive_opens(roles: Mapping[str, Role]) -> tuple[str, ...]:
    """Return the prefixes that open a span: specific ones, or else all that can come first."""
    present = set(roles.values())
    wanted: list[Role] = ["single", "begin" if "begin" in present else "inside"]
    if not present & {"begin", "single"}:
        wanted.append("end")
    return _with_role(roles, *wanted)


def _derive_closes(roles: Mapping[str, Role]) -> tuple[str, ...]:
    """Return the prefixes that close a span: specific ones, or else all that can come last."""
    present = set(roles.values())
    wanted: list[Role] = ["single", "end" if "end" in present else "inside"]
    if not present & {"end", "single"}:
        wanted.append("begin")
    return _with_role(roles, *wanted)


def _derive_follows(roles: Mapping[str, Role]) -> dict[str, tuple[str, ...]]:
    later = _with_role(roles, "inside", "end")
    return {prefix: later for prefix in _with_role(roles, "begin", "inside")}


def _check_roles(roles: Mapping[str, Role], delimiter: str) -> None:
    if not delimiter:
        raise UsageError("the delimiter of a scheme must be text such as '-'; got ''")
    for prefix, role in roles.items():
        if not isinstance(prefix, str) or not prefix or delimiter in prefix:
            raise UsageError(
                f"a prefix must be text without the delimiter {delimiter!r}; got {prefix!r}"
            )
        if role not in ROLES:
            raise UsageError(
                f"the role of a prefix must be one of {', '.join(ROLES)}; "
                f"got {role!r} for {prefix!r}"
            )
    if not set(roles.values()) - {"outside"}:
        raise UsageError(
            "a scheme must have a prefix for the tags of spans, e.g. "
            '{"B": "begin", "I": "inside", "O": "outside"}; '
            f"got {dict(roles)!r}"
        )


def _check_known(scheme: Scheme) -> None:
    """Check that rules concern only prefixes with a role within spans."""
    inside = {prefix for prefix, role in scheme.roles.items() if role != "outside"}
    rules = {
        "opens": scheme.opens,
        "closes": scheme.closes,
        "follows": (
            *scheme.follows,
            *(prefix for these in scheme.follows.values() for prefix in these),
        ),
        "after_same": scheme.after_same,
        "before_same": scheme.before_same,
        "strict_after_same": scheme.strict_after_same,
        "strict_not_doubled": scheme.strict_not_doubled,
    }
    for rule, prefixes in rules.items():
        strange = sorted(set(prefixes) - inside)
        if strange:
            raise UsageError(
                f"{rule} must contain only prefixes of spans ({', '.join(sorted(inside))}); got "
                f"{', '.join(map(repr, strange))}"
            )
