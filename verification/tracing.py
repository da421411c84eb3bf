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
    computed
        The numbers of the text that follow from numbers of the sources, each with the sum,
        product or quotient that gives it; 1, 2 and 100 may take part.
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
    computed: Mapping[str, str] = field(default_factory=dict)
    part: str | None = None
    seed: str | None = None
    tolerance: str | None = None

    def faults(self, root: Path = ROOT) -> list[str]:
        """Return what is wrong with it; empty if every number is where it is said to be."""
        found = []
        if self.text not in _one_line((root / self.file).read_text(encoding="utf-8")):
            found.append(f"{self.file} does not say {self.text!r}")
        sources = "\n".join(self._source(one, root) for one in self.sources)
        there = numbers_of(sources)
        there |= {
            number
            for number, expression in self.counted.items()
            if int(number) == len(re.findall(expression, sources, re.MULTILINE))
        } | {
            number
            for number, expression in self.computed.items()
            if numbers_of(expression) <= {*there, "1", "2", "100"}
            and number == _rounded(number, expression)
        }
        for number in sorted(_numbers(self.text)):
            if number not in {*self.numbers, *self.counted, *self.computed}:
                found.append(f"{number} of {self.text!r} has no source")
            elif number not in there:
                found.append(f"{', '.join(self.sources)} does not have {number} of {self.text!r}")
        return found

    def _source(self, file: str, root: Path) -> str:
        """Return a source; of the claim's own page only what it includes or a test runs."""
        if file == self.file:
            return "\n".join(re.findall(r"^```(.*)", _condensed(file, root), re.MULTILINE))
        return (root / file).read_text(encoding="utf-8")


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


def _rounded(number: str, expression: str) -> str:
    """Return what an expression gives, with as many decimals as a number has."""
    if not re.fullmatch(r"[\d.,()+*/ -]+", expression):
        raise ValueError(f"{expression!r} must have numbers, + - * / and brackets only")
    return f"{eval(_plain(expression)):,.{len(number.partition('.')[2])}f}"


# Not a part of a name, such as F1, P19-1405 or v1.2.
_NUMBER = re.compile(r"(?<![\w.,])(?<!\w-)\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?(?![\w,]*\d)")


# Blocks whose output tests/test_readme.py checks; those with `>>>` are doctests, on every page.
RUN = {
    "README.md": "text",
    "docs/index.md": "text",
    "docs/tutorial/release-engineer.md": "console",
}


def faults(page: str, root: Path = ROOT) -> list[str]:
    """Return the numbers of a page that come from nowhere, and phrases that it no longer has.

    A number comes from a claim of the manifest, or it stands in a phrase that the manifest lists
    as a definition. Prose may also have numbers of what the same section includes, and of its
    examples that tests run.
    """
    text = _condensed(page, root)
    words = _one_line(re.sub(r"^```.*", "", text, flags=re.MULTILINE))
    known = [*definitions()[page], *(one.text for one in claims() if one.file == page)]
    found = [f"{page} does not say {one!r}" for one in known if one not in words]
    phrases = sorted({*known, *_manifest()["everywhere"]}, key=len, reverse=True)
    for section in re.split(r"^(?=#+ )", text, flags=re.MULTILINE):
        heading, rows = section.partition("\n")[0], re.findall(r"^\|.*", section, re.MULTILINE)
        prose = re.sub(r"^(\||```).*", "", section, flags=re.MULTILINE)
        shown = numbers_of("\n".join(re.findall(r"^```(.*)", section, re.MULTILINE)))
        lacking = {one for one in _numbers(prose, phrases) if not {one, _plain(one)} & shown}
        lacking |= _numbers("\n".join(rows), phrases)
        found += [f"{page}, {heading!r}: {number} is not traced" for number in sorted(lacking)]
    return found


def _numbers(text: str, phrases: Sequence[str] = ()) -> set[str]:
    """Return the numbers of a text outside of phrases, code, formulas, addresses and labels."""
    text = _one_line(_LAYOUT.sub(" ", text))
    for phrase in phrases:
        text = re.sub(rf"(?<![\w.,]){re.escape(phrase)}(?!\d)", " ", text)
    return numbers_of(_LABEL.sub(" ", _CODE.sub(" ", text)))


_CODE = re.compile(r"\[\d+\]\([^)]*\)|\]\([^)]*\)|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|<[^>]*>|doi:\S+")
_LAYOUT = re.compile(r"^ *\d+\. |^:(?:::|[\w-]+:).*", re.MULTILINE)  # lists, directives
_LABEL = re.compile(
    r"\b(?:tables?|figures?|equations?|line|algorithm|group|category) \d+(?:(?: and| to) \d+)?",
    re.IGNORECASE,
)


def _condensed(page: str, root: Path) -> str:
    """Put what a page includes, and each example that tests run, on one line after a fence.

    Captions of figures and the glossary stay, other code goes.
    """

    def line(block: re.Match[str]) -> str:
        kind, file, body = block.groups()
        if kind in ("{include}", "{literalinclude}"):
            body = (root / page).parent.joinpath(file).read_text(encoding="utf-8")
        elif kind in ("{figure}", "{glossary}"):
            return re.sub(r"^:[\w-]+:.*", "", body, flags=re.MULTILINE)
        elif ">>>" not in body and kind != RUN.get(page):
            return ""
        return f"```{_one_line(body)} {_one_line(_SEPARATOR.sub('', body))}\n"

    text = (root / page).read_text(encoding="utf-8")
    return re.sub(r"^```(\S*) ?(.*)\n((?s:.*?))^```$", line, text, flags=re.MULTILINE)


def _plain(number: str) -> str:
    return _SEPARATOR.sub("", number)


_SEPARATOR = re.compile(r"(?<=\d)[_,](?=\d{3})")


def _one_line(text: str) -> str:
    return " ".join(text.split())
