"""A written report, read as a browser reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import html5lib

XHTML = "{http://www.w3.org/1999/xhtml}"


class Page:
    """A written report as a tree."""

    def __init__(self, path: Path) -> None:
        self.parse(path.read_text(encoding="utf-8"))

    def parse(self, text: str) -> None:
        """Read the text of a page."""
        self.text = text
        self.size = len(text.encode())
        parser = html5lib.HTMLParser(tree=html5lib.getTreeBuilder("etree"))
        self.tree = parser.parse(self.text)
        self.errors = parser.errors

    def json(self, name: str) -> Any:
        """Return one of the embedded blocks."""
        return json.loads(self.one("id", name).text)

    def one(self, attribute: str, value: str) -> Any:
        """Return the only element with an attribute's value."""
        (found,) = (each for each in self.tree.iter() if each.get(attribute) == value)
        return found

    def words(self) -> str:
        """Return what can be read, without styles, scripts and data."""
        silent = {f"{XHTML}style", f"{XHTML}script"}
        kept = [each for each in self.tree.iter() if each.tag not in silent]
        return "\n".join(part for each in kept for part in (each.text, each.tail) if part)
