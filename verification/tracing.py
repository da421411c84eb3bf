"""The numbers that people read, and where they come from."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MANIFEST = Path(__file__).parent / "manifest.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence with numbers, in the README or in the documentation.

    Parameters
    ----------
    file
        Where people read it, from the root of the project.
    text
        The words, as they stand there.
    sources
        The files that a command wrote, in which the numbers stand.
    command
        What makes the sources.
    numbers
        The numbers of the text that sources have as they are.
    counted
        The numbers of the text that say how often an expression occurs in the sources.
    part
        The part of the programme that it belongs to; None for benches and reproductions.
    seed
        The seed, or how seeds are chosen; the sizes are in the record of the part.
    tolerance
        By how much the numbers may be off before the part fails.
    """

    file: str
    text: str
    sources: Sequence[str]
    command: str
    numbers: Sequence[str] = ()
    counted: Mapping[str, str] = field(default_factory=dict)
    part: str | None = None
    seed: str | None = None
    tolerance: str | None = None

    def faults(self, root: Path = ROOT) -> list[str]:
        """Return what is wrong with it; empty if every number is where it is said to be."""
        found = []
        if self.text not in _one_line((root / self.file).read_text(encoding="utf-8")):
            found.append(f"{self.file} does not say {self.text!r}")
        sources = "\n".join((root / one).read_text(encoding="utf-8") for one in self.sources)
        there = numbers_of(sources) | {
            number
            for number, expression in self.counted.items()
            if int(number) == len(re.findall(expression, sources, re.MULTILINE))
        }
        for number in sorted(numbers_of(self.text)):
            if number not in {*self.numbers, *self.counted}:
                found.append(f"{number} of {self.text!r} has no source")
            elif number not in there:
                found.append(f"{', '.join(self.sources)} does not have {number} of {self.text!r}")
        return found


def claims() -> list[Claim]:
    """Return the claims of the manifest."""
    return [Claim(**one) for one in _manifest()["claim"]]


def definitions() -> dict[str, dict[str, str]]:
    """Return, for each page, phrases whose numbers were chosen, not measured, and why."""
    return {page: dict(phrases) for page, phrases in _manifest()["definitions"].items()}


def pages() -> list[str]:
    """Return the pages on which every number is traced."""
    return list(definitions())


@cache
def _manifest() -> dict[str, Any]:
    return tomllib.loads(MANIFEST.read_text(encoding="utf-8"))


def numbers_of(text: str) -> set[str]:
    """Return the numbers of a text.

    Examples
    --------
    >>> sorted(numbers_of("13,020 tests, 0.96 s, p = 4.5e-13; F1 of 20 classes"))
    ['0.96', '13,020', '20', '4.5e-13']
    """
    return set(_NUMBER.findall(text))


# Not a part of a name, such as F1, P19-1405 or v1.2.
_NUMBER = re.compile(r"(?<![\w.,])(?<!\w-)\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?(?![\w,]*\d)")


def faults(page: str, root: Path = ROOT) -> list[str]:
    """Return the numbers of a page that come from nowhere, and phrases that it no longer has.

    A number comes from a claim of the manifest, or it stands in a phrase that the manifest lists
    as a definition. Prose may also have numbers of a table that the same section includes.
    """
    text = _without_code((root / page).read_text(encoding="utf-8"))
    known = [*definitions()[page], *(one.text for one in claims() if one.file == page)]
    found = [f"{page} does not say {one!r}" for one in known if one not in _one_line(text)]
    phrases = sorted(known, key=len, reverse=True)
    for section in re.split(r"^(?=#+ )", text, flags=re.MULTILINE):
        heading, rows = section.partition("\n")[0], re.findall(r"^\|.*", section, re.MULTILINE)
        prose = re.sub(r"^(\||```).*", "", section, flags=re.MULTILINE)
        included = numbers_of(_included(section, (root / page).parent))
        lacking = _numbers(prose, phrases) - included | _numbers("\n".join(rows), phrases)
        found += [f"{page}, {heading!r}: {number} is not traced" for number in sorted(lacking)]
    return found


def _numbers(text: str, phrases: Sequence[str]) -> set[str]:
    """Return the numbers of a text outside of phrases, code, formulas and addresses."""
    text = _one_line(text)
    for phrase in phrases:
        text = re.sub(rf"(?<![\w.,]){re.escape(phrase)}(?!\d)", " ", text)
    return numbers_of(re.sub(r"\]\([^)]*\)|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|<[^>]*>", " ", text))


def _included(section: str, folder: Path) -> str:
    files = re.findall(r"^```\{include\} (\S+)$", section, re.MULTILINE)
    return "\n".join((folder / file).read_text(encoding="utf-8") for file in files)


def _without_code(text: str) -> str:
    """Leave out what is between fences, but for the line that includes a table."""
    found, fenced = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        if line.startswith("```{include}") or not (fenced or line.startswith("```")):
            found.append(line)
    return "\n".join(found)


def _one_line(text: str) -> str:
    return " ".join(text.split())
