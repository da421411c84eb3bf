"""What a tagging scheme is: prefixes, what each of them says, and which may stand where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias, get_args

from outperform.errors import UsageError

Role: TypeAlias = Literal["begin", "inside", "end", "single", "outside"]
ROLES: tuple[Role, ...] = get_args(Role)

Span: TypeAlias = tuple[int, int, str]
"""Start, end (exclusive) and type."""

BARE_TYPE = "span"
"""The type of a tag that is a prefix and nothing else."""


class Reading(NamedTuple):
    """What was read from the tags of one sequence.

    Attributes
    ----------
    spans
        Start, end (exclusive) and type of every span, in the order of the text.
    malformed
        The positions of the tags that the scheme does not allow where they stand.
    """

    spans: tuple[Span, ...]
    malformed: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """A tagging scheme: how the tags of a sequence mark its spans.

    A tag is a prefix, a delimiter and a type, as in ``B-PER``; a prefix alone has the type
    ``"span"``. The roles of the prefixes are enough to read tags as conlleval does. The other
    fields say which tags are well-formed; left empty, they follow from the roles.

    Parameters
    ----------
    name
        What the scheme is called.
    roles
        What each prefix says: ``"begin"``, ``"inside"``, ``"end"``, ``"single"`` or
        ``"outside"``.
    opens
        The prefixes that may open a span.
    closes
        The prefixes that may close a span.
    follows
        For each prefix, those that may follow it within a span.
    after_same
        The prefixes that open a span only right after another one of the same type.
    before_same
        The prefixes that close a span only right before another one of the same type.
    strict_after_same
        The prefixes that the scheme lets open a span anywhere, but strict reading only right
        after a tag of the same type, because seqeval reads so.
    strict_not_doubled
        The prefixes that the scheme lets close a span anywhere, but strict reading not right
        before the same prefix with another type, because seqeval reads so.
    delimiter
        What stands between prefix and type.

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
        """Return the spans of one sequence of tags, and where the tags break the scheme.

        By default malformed tags are read as conlleval reads them: a tag that cannot continue
        the span before it opens a new one. Strict reading gives only the spans that are
        well-formed.

        Parameters
        ----------
        tags
            The tags of one sequence, in order.
        strict
            Whether spans that break the scheme are left out.

        Examples
        --------
        >>> from outperform.outcomes.schemes import get
        >>> tags = ["O", "I-PER", "I-PER", "B-LOC"]
        >>> get("IOB2").read(tags)
        Reading(spans=((1, 3, 'PER'), (3, 4, 'LOC')), malformed=(1,))
        >>> get("IOB2").read(tags, strict=True).spans
        ((3, 4, 'LOC'),)
        """
        from outperform.outcomes.schemes.reading import read

        return read(self, tags, strict=strict)

    def write(self, spans: Iterable[Span], length: int) -> list[str]:
        """Return the tags of spans: the inverse of reading.

        Parameters
        ----------
        spans
            Start, end (exclusive) and type of each span, in any order; they may not overlap.
        length
            How many tags the sequence has.

        Examples
        --------
        >>> from outperform.outcomes.schemes import get
        >>> get("IOBES").write([(0, 1, "PER"), (2, 4, "LOC")], 5)
        ['S-PER', 'O', 'B-LOC', 'E-LOC', 'O']
        """
        from outperform.outcomes.schemes.writing import write

        return write(self, spans, length)


def _with_role(roles: Mapping[str, Role], *wanted: Role) -> tuple[str, ...]:
    return tuple(prefix for prefix, role in roles.items() if role in wanted)


def _derive_opens(roles: Mapping[str, Role]) -> tuple[str, ...]:
    """Return what opens a span: a prefix made for it, or else whatever comes first."""
    present = set(roles.values())
    wanted: list[Role] = ["single", "begin" if "begin" in present else "inside"]
    if not present & {"begin", "single"}:
        wanted.append("end")
    return _with_role(roles, *wanted)


def _derive_closes(roles: Mapping[str, Role]) -> tuple[str, ...]:
    """Return what closes a span: a prefix made for it, or else whatever comes last."""
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
    """Refuse rules about prefixes that have no role, or about those outside of spans."""
    inside = {prefix for prefix, role in scheme.roles.items() if role != "outside"}
    rules = {
        "opens": scheme.opens,
        "closes": scheme.closes,
        "follows": (*scheme.follows, *(one for these in scheme.follows.values() for one in these)),
        "after_same": scheme.after_same,
        "before_same": scheme.before_same,
        "strict_after_same": scheme.strict_after_same,
        "strict_not_doubled": scheme.strict_not_doubled,
    }
    for rule, prefixes in rules.items():
        strange = sorted(set(prefixes) - inside)
        if strange:
            raise UsageError(
                f"{rule} must name prefixes of spans, here {', '.join(sorted(inside))}; "
                f"got {', '.join(map(repr, strange))}"
            )
