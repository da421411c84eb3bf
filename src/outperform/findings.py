"""Findings: notes and warnings about results. ``findings.txt`` contains their texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Literal, cast

from outperform._json import written
from outperform.errors import unknown_name

Level = Literal["note", "warning", "serious"]


@written("name level message")
@dataclass(frozen=True, slots=True)
class Finding:
    """A finding about a result.

    Parameters
    ----------
    name
        Stable identifier such as ``"default_rope"``.
    level
        ``"note"``, ``"warning"`` if it may change the conclusion, or ``"serious"`` if it withholds
        the decision.
    message
        The text: the fact, its consequence and the action.
    parameter
        Parameter to change, such as ``"rope"``; None if there is none.

    Examples
    --------
    >>> print(Finding("default_rope", "note", "The ROPE of ±0.01 is the default."))
    note: The ROPE of ±0.01 is the default. [default_rope]
    """

    name: str
    level: Level
    message: str
    parameter: str | None = None

    def __str__(self) -> str:
        return f"{self.level}: {self.message} [{self.name}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """Text of a finding, its levels (the usual level first), and the parameter to change."""

    name: str
    levels: tuple[Level, ...]
    parameter: str | None
    text: str

    @property
    def fields(self) -> frozenset[str]:
        """Names of the placeholders."""
        return frozenset(name for _, name, _, _ in Formatter().parse(self.text) if name)


def finding(key: str, /, *, level: Level | None = None, **fields: object) -> Finding:
    """Return a finding from the table, with its placeholders filled in.

    Parameters
    ----------
    key
        Name of the finding, followed by a slash and the variant if it has several.
    level
        One of the template's levels. Default: the first level.
    **fields
        Values of exactly the placeholders in the template.

    Examples
    --------
    >>> finding("few_groups/size", n=12.0, least=30).message
    'The effective number of groups is 12 (below 30). The interval may be too narrow.'
    """
    if key not in TEMPLATES:
        raise KeyError(unknown_name("finding", key, TEMPLATES))
    template = TEMPLATES[key]
    if unexpected := fields.keys() ^ template.fields:
        raise TypeError(f"finding {key!r} must get its template's fields; see {sorted(unexpected)}")
    if level is not None and level not in template.levels:
        raise ValueError(f"finding {key!r} must be a {' or '.join(template.levels)}; got {level!r}")
    text = template.text.format(**fields)
    return Finding(template.name, level or template.levels[0], text, template.parameter)


def restored(name: str, level: Level, message: str) -> Finding:
    """Return a finding from a stored result, perhaps written by a version with other names.

    Examples
    --------
    >>> restored("default_rope", "note", "The ROPE of ±0.01 is the default.").parameter
    'rope'
    """
    parameter = {template.name: template.parameter for template in TEMPLATES.values()}
    return Finding(name, level, message, parameter.get(name))


def is_serious(findings: Iterable[Finding]) -> bool:
    """Return whether any of the findings withholds the decision.

    Examples
    --------
    >>> is_serious([restored("default_rope", "note", "The ROPE of ±0.01 is the default.")])
    False
    """
    return any(each.level == "serious" for each in findings)


def counted(n: float, nouns: str, *, one: str | None = None) -> str:
    """Return a number with its noun, in the singular for 1.

    Examples
    --------
    >>> counted(1, "items"), counted(2000, "items"), counted(1, "batches", one="batch")
    ('1 item', '2,000 items', '1 batch')
    """
    if n == 1:
        nouns = one or " or ".join(noun.removesuffix("s") for noun in nouns.split(" or "))
    return f"{n:,.{0 if n == int(n) else 1}f} {nouns}"  # a sum of weights keeps one decimal


def listed(words: Iterable[str], *, most: int | None = None) -> str:
    """Join words with commas and "and"; of many, list the first and the number of others.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], most=2)
    ('a, b and c', 'a, b and 2 more')
    """
    *before, last = _shortened(words, most) or [""]
    return f"{', '.join(before)} and {last}" if before else last


def clauses(words: Iterable[str], *, most: int | None = None) -> str:
    """Join clauses with semicolons; of many, list the first and the number of others.

    Examples
    --------
    >>> clauses(["a has 1", "b has 2"]), clauses(["a has 1", "b has 2", "c has 3"], most=1)
    ('a has 1; b has 2', 'a has 1; and 2 more')
    """
    *before, last = _shortened(words, most) or [""]
    return "; ".join([*before, f"and {last}" if len(before) == most else last])


def quoted(labels: Iterable[object], *, most: int | None = 5, escaped: bool = False) -> str:
    """Return labels as Python literals, so that similar labels can be distinguished.

    Examples
    --------
    >>> quoted(["spam", 1]), quoted("abc", most=2)
    ("'spam' and 1", "'a', 'b' and 1 more")
    """
    return listed([ascii(label) if escaped else repr(label) for label in labels], most=most)


def _shortened(words: Iterable[str], most: int | None) -> list[str]:
    every = list(words)
    if most is None or len(every) <= most:
        return every
    return [*every[:most], f"{len(every) - most:,} more"]


def _read(table: str) -> dict[str, Template]:
    rows = re.finditer(r"^([\w/]+): ([a-z ]+)(?:; (\w+))?\n((?: {4}.+\n)+)", table, re.MULTILINE)
    return {
        row[1]: Template(
            name=row[1].partition("/")[0],
            levels=cast("tuple[Level, ...]", tuple(row[2].split(" or "))),
            parameter=row[3],
            text=" ".join(row[4].split()),
        )
        for row in rows
    }


TABLE = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
TEMPLATES = _read(TABLE)
