"""The table of schemes, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from outperform.errors import UsageError, unknown_name
from outperform.outcomes.schemes.scheme import Role, Scheme

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
_B2_B3 = {"B": ("B2", "E"), "B2": ("B3", "E"), "B3": ("M", "E"), "M": ("M", "E")}

_SCHEMES = {
    scheme.name: scheme
    for scheme in (
        Scheme(
            name="IOB1",
            roles=_IOB,
            opens=("I", "B"),
            after_same=("B",),
            strict_not_doubled=("B",),
        ),
        Scheme(name="IOB2", roles=_IOB),
        Scheme(
            name="IOE1",
            roles=_IOE,
            closes=("I", "E"),
            before_same=("E",),
            strict_after_same=("E",),
        ),
        Scheme(name="IOE2", roles=_IOE),
        Scheme(name="IOBES", roles=_IOBES),
        Scheme(name="BILOU", roles=_BILOU),
        Scheme(name="BMES", roles=_BMES),
        Scheme(name="BB2B3MES", roles=_BB2B3MES, follows=_B2_B3),
    )
}

_ALIASES = {"BIO": "IOB2", "BIOES": "IOBES", "BILUO": "BILOU"}


def get(scheme: str | Mapping[str, Role] | Scheme) -> Scheme:
    """Return a scheme by its name, from a table of roles, or as itself.

    Parameters
    ----------
    scheme
        A name such as ``"IOB2"``, in capitals or not, a table that gives the role of each
        prefix (``"begin"``, ``"inside"``, ``"end"``, ``"single"`` or ``"outside"``), or a
        :class:`Scheme`.

    Examples
    --------
    >>> get("bio").name
    'IOB2'
    >>> roles = {"B": "begin", "M": "inside", "E": "end", "S": "single", "O": "outside"}
    >>> get(roles).read(["B", "M", "E", "S"]).spans
    ((0, 3, 'span'), (3, 4, 'span'))
    >>> get("IOBS")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    outperform.errors.UsageError: unknown scheme 'IOBS'; did you mean 'IOBES'? Known: IOB1, ...
    """
    if isinstance(scheme, Scheme):
        return scheme
    if isinstance(scheme, Mapping):
        return Scheme(name="your scheme", roles=scheme)
    if not isinstance(scheme, str):
        raise UsageError(
            "a scheme must be a name, a table of prefixes and roles or a Scheme; "
            f"got {type(scheme).__name__}"
        )
    name = _ALIASES.get(scheme.upper(), scheme.upper())
    if name not in _SCHEMES:
        raise UsageError(unknown_name("scheme", scheme, [*_SCHEMES, *_ALIASES]))
    return _SCHEMES[name]


def names() -> list[str]:
    """Return the names of all schemes of the table.

    Examples
    --------
    >>> names()[:4]
    ['IOB1', 'IOB2', 'IOE1', 'IOE2']
    """
    return list(_SCHEMES)


def fitting(prefixes: Iterable[str]) -> list[str]:
    """Return the names of the schemes that know all these prefixes."""
    wanted = set(prefixes)
    return [name for name, scheme in _SCHEMES.items() if wanted <= set(scheme.roles)]
