"""Chinese word segmentation: does a CRF find words better in finer tags?

Compares BMES with BB2B3MES, which also tells the second and the third character of a
word, on the simplified Chinese GSD treebank of Universal Dependencies: the development
and the test part, 1,000 sentences, of which the words are read and nothing else.

    python examples/word_segmentation.py CORPORA

CORPORA is the folder that has ``ud_zh_gsdsimp/`` in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import tag_sets

import outperform as op
from outperform.data.spans import get_scheme

SCHEMES = ("BMES", "BB2B3MES")
FILES = ("zh_gsdsimp-ud-dev.conllu", "zh_gsdsimp-ud-test.conllu")


def tasks(corpora: Path) -> Iterator[tag_sets.Task]:
    """Yield the one task, with characters as tokens."""
    sentences: list[tuple[list[str], list[str]]] = []
    for name in FILES:
        seen = op.read_conll(corpora / "ud_zh_gsdsimp" / name, {"word": 1, "note": 9})
        sentences += map(characters, seen["word"], seen["note"])
    yield tag_sets.Task(
        title="Word segmentation",
        tokens=[tokens for tokens, _ in sentences],
        tags=[tags for _, tags in sentences],
        schemes=SCHEMES,
        features="characters",
    )


def characters(words: Sequence[str], notes: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the characters of a sentence as it was written, and their tags.

    Blanks, which stand around foreign words, belong to no word and are tagged O.
    """
    tokens: list[str] = []
    spans = []
    for word, note in zip(words, notes, strict=True):
        spans.append((len(tokens), len(tokens) + len(word), "span"))
        tokens.extend(word)
        if "SpaceAfter=No" not in note.split("|"):
            tokens.append(" ")
    return tokens, list(get_scheme(SCHEMES[0]).write(spans, len(tokens)))


def main(arguments: list[str] | None = None) -> None:
    """Compare the two tag sets and print what came out."""
    tag_sets.main(tasks, about="Compare BMES with BB2B3MES on Chinese words.", arguments=arguments)


if __name__ == "__main__":
    main()
