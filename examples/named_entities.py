"""Named entities: does a CRF find them better in finer tags?

Compares IOB2 with IOBES, which also tells the last token of an entity and entities of a
single token, on the training part of the W-NUT 2017 shared task on emerging entities:
for all six types at once, and for persons alone.

    python examples/named_entities.py CORPORA

CORPORA is the folder that has ``wnut17/`` in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import tag_sets

import outperform as op

SCHEMES = ("IOB2", "IOBES")
ALONE = "person"


def tasks(corpora: Path) -> Iterator[tag_sets.Task]:
    """Yield the entities of all types, then those of one type."""
    seen = op.read_conll(corpora / "wnut17" / "wnut17train.conll")
    kept = [
        ("Named entities, all types", seen["tag"]),
        (f"Named entities, {ALONE}", [only(tags, ALONE) for tags in seen["tag"]]),
    ]
    for title, tags in kept:
        yield tag_sets.Task(
            title=title, tokens=seen["token"], tags=tags, schemes=SCHEMES, features="words"
        )


def only(tags: list[str], kind: str) -> list[str]:
    """Return the tags of one type; all others become O."""
    return [tag if tag.endswith(f"-{kind}") else "O" for tag in tags]


def main(arguments: list[str] | None = None) -> None:
    """Compare the two tag sets and print what came out."""
    tag_sets.main(tasks, about="Compare IOB2 with IOBES in named entities.", arguments=arguments)


if __name__ == "__main__":
    main()
