"""Run the examples of docs/gallery.md and save what each of them draws; run by `make figures`.

The page is the source: the picture named before an example is the figure that the example
leaves open, so that picture and code cannot differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from doctest import DocTestParser
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt
from PIL import Image

DOCS = Path(__file__).parents[1]
PAGE = DOCS / "gallery.md"
_COLOURS = 64
_PARTS = re.compile(r"^```\{figure\} (?P<picture>\S+)$|^```python\n(?P<code>.*?)^```$", re.M | re.S)


def examples(text: str) -> Iterator[tuple[str | None, str]]:
    """Give the blocks of code, each with the picture named right before it, or None."""
    picture = None
    for part in _PARTS.finditer(text):
        if part["picture"]:
            picture = part["picture"]
        else:
            yield picture, part["code"]
            picture = None


def save(path: Path) -> None:
    """Save the open figure in few colours, which is a third of the bytes."""
    drawn = BytesIO()
    plt.gcf().savefig(drawn)
    with Image.open(drawn) as image:
        image.convert("RGB").quantize(_COLOURS).save(path, optimize=True)


def main() -> None:
    """Run every block, and save the figure of those that have a picture."""
    names: dict[str, Any] = {}
    for picture, code in examples(PAGE.read_text(encoding="utf-8")):
        steps = [step.source for step in DocTestParser().get_examples(code)]
        for step in steps:
            if "plt.close" not in step:
                exec(compile(step, str(PAGE), "exec"), names)
        if picture is not None:
            save(DOCS / picture)
            print(Path(picture).stem)
        plt.close("all")


if __name__ == "__main__":
    main()
