"""Pages of the documentation for agents: ``llms.txt``, the skill, how-to guides, schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import get_args

from outperform.results.schemas import Kind, json_schema

_SCHEME = "outperform://"
_FOLDERS = ("how-to", "reference")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOfDocs:
    """A page that agents can read.

    Parameters
    ----------
    uri
        Its address.
    title
        Its title.
    about
        Its first sentence; empty if none comes soon.
    read
        Function that returns its text.
    """

    uri: str
    title: str
    about: str
    read: Callable[[], str]


@cache
def pages() -> dict[str, PageOfDocs]:
    """Return the pages by address."""
    listed = [
        _page("llms.txt", "outperform", "All pages, and the rules in short.", llms_text),
        _page("skill", "Skill", "When to use which function, and how to report it.", skill),
        *(_page_of(path, name) for path, name in _texts()),
        *(
            _page(f"schemas/{kind}", f"JSON Schema of {kind}", "", partial(_schema, kind))
            for kind in get_args(Kind)
        ),
    ]
    return {page.uri: page for page in listed}


def _page(name: str, title: str, about: str, read: Callable[[], str]) -> PageOfDocs:
    return PageOfDocs(uri=f"{_SCHEME}{name}", title=title, about=about, read=read)


def _page_of(path: Traversable, name: str) -> PageOfDocs:
    text = path.read_text(encoding="utf-8")
    return _page(name, title_of(text), first_sentence(text), partial(path.read_text, "utf-8"))


def _schema(kind: Kind) -> str:
    return json.dumps(json_schema(kind), indent=1, ensure_ascii=False)


def docs() -> Traversable:
    """Return the folder of the pages: in the wheel, or of a checkout."""
    inside = files("outperform.agents").joinpath("docs")
    return inside if inside.is_dir() else Path(__file__).parents[3] / "docs"


def _texts() -> Iterator[tuple[Traversable, str]]:
    for folder in _FOLDERS:
        inside = docs().joinpath(folder)
        if inside.is_dir():
            for path in sorted(inside.iterdir(), key=lambda path: path.name):
                stem, dot, ending = path.name.rpartition(".")
                if dot and ending == "md" and stem != "index":
                    yield path, f"docs/{folder}/{stem}"


def skill() -> str:
    """Return the skill."""
    return files("outperform.agents").joinpath("SKILL.md").read_text(encoding="utf-8")


def rules() -> str:
    """Return the rules of the skill in short: its section "Never", and how to begin."""
    head = re.sub(r"\A---\n.*?\n---\n", "", skill(), flags=re.DOTALL)
    parts = re.split(r"^## ", head, flags=re.MULTILINE)
    kept = [part.strip() for part in parts if part.startswith(("Never", "In short"))]
    return "\n\n".join(f"## {part}" for part in kept)


def llms_text() -> str:
    """Return the pages and what each is about."""
    lines = [
        f"- [{page.title}]({page.uri})" + (f": {page.about}" if page.about else "")
        for page in pages().values()
        if not page.uri.endswith("llms.txt")
    ]
    return "\n".join(["# outperform", "", rules(), "", "## Pages", "", *lines, ""])


def title_of(text: str) -> str:
    r"""Return the title of a page in Markdown.

    Parameters
    ----------
    text
        The page.

    Examples
    --------
    >>> title_of("# Weigh items\n\nText.")
    'Weigh items'
    """
    (title,) = re.findall(r"\A(?:.*?\n)??# (.+)$", text, flags=re.MULTILINE)[:1]
    return str(title)


def first_sentence(text: str) -> str:
    r"""Return the first sentence of the first paragraph, without links; empty if none comes soon.

    Parameters
    ----------
    text
        The page.

    Examples
    --------
    >>> first_sentence("# Weigh items\n\nSee [all](x.md) of it. More.")
    'See all of it.'
    """
    for paragraph in text.split("\n\n")[1:4]:
        if re.match(r"[A-Z*]|`[^`]", paragraph):
            plain = re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", " ".join(paragraph.split()))
            return re.split(r"(?<=[.?!]) ", plain)[0].rstrip(":")
    return ""
