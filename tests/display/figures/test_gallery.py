"""Every example of the gallery has its picture, and every picture its example."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "gallery.md").read_text(encoding="utf-8")
# A heading, its picture, and the code that draws it.
EXAMPLE = re.compile(
    r"^### .+\n\n```\{figure\} (\S+)\n:alt: .+\n```\n\n```python\n((?:(?:>>>|\.\.\.).*\n)+)\n```$",
    re.MULTILINE,
)


def test_all_examples_have_a_picture_each():
    pictures = [picture for picture, _ in EXAMPLE.findall(PAGE)]
    assert len(set(pictures)) == len(re.findall("^### ", PAGE, re.MULTILINE)) == 22
    folder = DOCS / "_static" / "gallery"
    assert sorted(DOCS / one for one in pictures) == sorted(folder.iterdir())
    assert max(one.stat().st_size for one in folder.iterdir()) < 60_000


def test_every_example_draws():
    for _, code in EXAMPLE.findall(PAGE):
        assert re.search(r"\.plot\w*\(", code)
