"""How alike are the halves of a corpus, blocked and balanced or at random?

Reads a file of tokens and IOB2 tags, counts the entities of each type in each
sentence, and splits the sentences in halves: at random, by ``BlockedTwoFold``,
and by ``BlockedTwoFold`` with these counts as ``balance``. Shown are the
Jensen–Shannon divergence (in bits) between the types' shares in the two halves,
and the largest difference of a type's count between the halves relative to
their mean; both are averages over all repetitions and seeds.

    python bench/bench_halves.py [CORPUS]

Without an argument it takes wnut17/wnut17train.conll in the folder that
OUTPERFORM_CORPORA names.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np

import outperform as op

SEEDS = 200
REPETITIONS = 3
DEFAULT = Path("wnut17", "wnut17train.conll")


def sentences(path: Path) -> Iterator[list[str]]:
    """Yield the tags of each sentence; a line without a token ends it."""
    tags: list[str] = []
    for line in chain(path.read_text(encoding="utf-8").split("\n"), [""]):
        token, _, tag = line.rstrip("\r").rpartition("\t")
        if token.strip():
            tags.append(tag.strip())
        elif tags:
            yield tags
            tags = []


def entity_counts(path: Path) -> tuple[list[str], np.ndarray]:
    """Return the entity types, and how many of each begin in each sentence."""
    tagged = list(sentences(path))
    types = sorted({tag[2:] for tags in tagged for tag in tags if tag.startswith("B-")})
    counts = [[tags.count(f"B-{name}") for name in types] for tags in tagged]
    return types, np.array(counts)


def divergence(one: np.ndarray, other: np.ndarray) -> float:
    """Return the Jensen–Shannon divergence between two distributions given as counts, in bits."""
    shares = np.stack([one / one.sum(), other / other.sum()])
    middle = np.broadcast_to(shares.mean(axis=0), shares.shape)
    seen = shares > 0
    return float((shares[seen] * np.log2(shares[seen] / middle[seen])).sum() / 2)


def random_halves(n: int, seed: int) -> Iterator[np.ndarray]:
    generator = np.random.default_rng(seed)
    for _ in range(REPETITIONS):
        yield generator.permutation(n)[: n // 2]


def blocked_halves(n: int, seed: int, balance: np.ndarray | None = None) -> Iterator[np.ndarray]:
    splitter = op.BlockedTwoFold(REPETITIONS, balance=balance, random_state=seed)
    for train, _ in list(splitter.split(range(n)))[::2]:
        yield train


def unlikeness(halves: Iterable[np.ndarray], counts: np.ndarray) -> tuple[float, float]:
    """Return the mean divergence and the mean largest relative difference over many halves."""
    found = []
    for half in halves:
        one = counts[half].sum(axis=0)
        other = counts.sum(axis=0) - one
        found.append((divergence(one, other), (abs(one - other) * 2 / (one + other)).max()))
    first, second = np.mean(found, axis=0)
    return float(first), float(second)


def measure(counts: np.ndarray, seeds: int) -> dict[str, tuple[float, float]]:
    n, every = len(counts), range(seeds)
    ways = {
        "random": (random_halves(n, seed) for seed in every),
        "`BlockedTwoFold(3)`": (blocked_halves(n, seed) for seed in every),
        "`BlockedTwoFold(3, balance=counts)`": (blocked_halves(n, seed, counts) for seed in every),
    }
    return {name: unlikeness(chain.from_iterable(way), counts) for name, way in ways.items()}


def show(found: dict[str, tuple[float, float]]) -> None:
    print("| halves | divergence | random is | largest difference | random is |")
    print("|---|---|---|---|---|")
    against = found["random"]
    for name, values in found.items():
        cells = [
            f"{value:.3g} | {base / value:.3g} times"
            for value, base in zip(values, against, strict=True)
        ]
        print(f"| {name} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("corpus", nargs="?", type=Path, help="tokens and IOB2 tags, by tab")
    chosen, folder = parser.parse_args().corpus, os.environ.get("OUTPERFORM_CORPORA")
    if chosen is None and not folder:
        print("halves: skipped, no corpus; give a file, or its folder in OUTPERFORM_CORPORA")
        return
    types, counts = entity_counts(chosen or Path(str(folder)) / DEFAULT)
    print(f"{len(counts):,} sentences, {counts.sum():,} entities of {len(types)} types, ", end="")
    print(f"{REPETITIONS} repetitions, {SEEDS} seeds\n")
    show(measure(counts, SEEDS))


if __name__ == "__main__":
    main()
