"""Item statistics from raw outputs: texts, rankings of documents, repeated answers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from outperform._missing import is_missing, unmasked
from outperform._typing import AnyArray, FloatArray, Label
from outperform.errors import DataError, UsageError, param, require
from outperform.metrics.metric import Basis, Sums
from outperform.metrics.sums import ratio, rows


def n_edits(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Return the minimum number of insertions, deletions and replacements between sequences.

    Examples
    --------
    >>> n_edits("kitten", "sitting")
    3
    """
    codes: dict[Hashable, int] = {}
    a, b = (np.array([codes.setdefault(x, len(codes)) for x in side]) for side in (first, second))
    steps = np.arange(len(b) + 1)
    row = steps.copy()
    for x in a:
        # Moves from above or diagonally, then from the left at a cost of 1 per step.
        moved = row + 1
        np.minimum(moved[1:], row[:-1] + (b != x), out=moved[1:])
        row = np.minimum.accumulate(moved - steps) + steps
    return int(row[-1])


@dataclass(frozen=True, slots=True)
class Edits:
    """Number of wrong words or characters in a text, and number in the reference."""

    characters: bool

    def __call__(self, references: object, texts: object) -> FloatArray:
        """Return the two numbers of every text."""
        split = list if self.characters else str.split
        return np.array(
            [
                (n_edits(split(true), split(text)), len(split(true)))
                for true, text in _pairs(references, texts)
            ],
            dtype=np.float64,
        )


def _pairs(references: object, texts: object) -> Iterator[tuple[str, str]]:
    sides = []
    for name, side in (("y_true", references), ("a prediction", texts)):
        if isinstance(side, str) or not isinstance(side, Iterable):
            raise DataError(f"{name} must be a list of texts; got {type(side).__name__}")
        sides.append([*side])
    true, predicted = sides
    if len(true) != len(predicted):
        raise DataError(
            f"there are {len(predicted)} texts and {len(true)} references; pass one "
            "reference per text"
        )
    for row, (reference, text) in enumerate(zip(true, predicted, strict=True)):
        if not isinstance(reference, str) or not isinstance(text, str):
            raise DataError(
                f"row {row} (counted from 0) must be texts; got {reference!r} and {text!r}"
            )
        yield reference, text


@dataclass(frozen=True, slots=True)
class SacreBleu:
    """Statistics of a sacrebleu metric, one row per text.

    Parameters
    ----------
    kind
        ``"BLEU"``, ``"CHRF"`` or ``"TER"``, with sacrebleu's defaults.
    """

    kind: str

    def __call__(self, references: object, texts: object) -> FloatArray:
        """Return the statistics of every text."""
        library = require("sacrebleu", extra="texts", purpose=f"metric {self.kind}")
        metric = getattr(library.metrics, self.kind)()
        true, predicted = zip(*_pairs(references, texts), strict=True)
        statistics = metric._extract_corpus_statistics(list(predicted), [list(true)])
        return np.array(statistics, dtype=np.float64)


_ORDERS = 4
_CHARACTERS = 6


@dataclass(frozen=True, slots=True)
class WithNumber:
    """Statistics plus the number of texts, because smoothing depends on counts, not means."""

    n: int | None = None  # None means the number of rows, if equal rows were not merged

    def __call__(self, items: FloatArray) -> FloatArray:
        """Return the statistics of each item with an additional column."""
        n = len(items) if self.n is None else self.n
        return np.column_stack([items, np.full(len(items), float(n))])


def bleu(means: FloatArray) -> FloatArray:
    """Return corpus BLEU from lengths, matches and n-grams, smoothed as in sacrebleu.

    If no n-gram of an order matches, its precision is 1/2, 1/4, … of a match.
    """
    length, reference, *counts, n = rows(means)
    matches, grams = np.stack(counts[:_ORDERS]), np.stack(counts[_ORDERS:])
    missing = (matches <= 0) & (grams > 0)
    halves = 0.5 ** np.cumsum(missing, axis=0)
    whole = np.where(grams > 0, grams * n, 1.0)
    precision = np.where(missing, halves, matches * n) / whole
    possible = grams > 0
    logs = np.log(np.where(possible, precision, 1.0)).sum(axis=0) / _ORDERS
    short = np.where(length < reference, 1 - reference / np.where(length > 0, length, 1.0), 0.0)
    value = 100 * np.exp(logs + short)
    return np.where(possible.all(axis=0) & (counts[0] > 0) & (length > 0), value, 0.0)


def _bleu_of(statistics: FloatArray) -> Sums:
    basis = replace(BLEU.basis, terms=WithNumber(len(statistics)))
    return replace(BLEU, basis=basis, of_data=None)


def chrf(means: FloatArray) -> FloatArray:
    """Return corpus chrF from the n-grams in texts, in references and in both.

    Precision and recall are averaged over the n-gram orders that occur in both.
    """
    predicted, true, both = (means[start::3] for start in range(3))
    possible = (predicted > 0) & (true > 0)
    n = np.maximum(possible.sum(axis=0), 1)
    precision = (
        np.where(possible, both / np.where(predicted > 0, predicted, 1.0), 0.0).sum(axis=0) / n
    )
    recall = np.where(possible, both / np.where(true > 0, true, 1.0), 0.0).sum(axis=0) / n
    bottom = 4 * precision + recall
    value = 100 * 5 * precision * recall / np.where(bottom > 0, bottom, 1.0)
    return np.asarray(np.where(bottom > 0, value, 0.0))


def ter(means: FloatArray) -> FloatArray:
    """Return edits per reference word, in per cent."""
    return 100 * ratio(means)


WER = Sums(basis=Basis(names=("errors", "words"), read=Edits(characters=False)), combine=ratio)
CER = Sums(basis=Basis(names=("errors", "characters"), read=Edits(characters=True)), combine=ratio)
TER = Sums(basis=Basis(names=("edits", "words"), read=SacreBleu("TER")), combine=ter)
BLEU = Sums(
    basis=Basis(
        names=(
            "length",
            "reference_length",
            *(f"matches_{n}" for n in range(1, _ORDERS + 1)),
            *(f"ngrams_{n}" for n in range(1, _ORDERS + 1)),
        ),
        terms=WithNumber(),
        read=SacreBleu("BLEU"),
    ),
    combine=bleu,
    of_data=_bleu_of,
)
CHRF = Sums(
    basis=Basis(
        names=tuple(
            f"{what}_{n}"
            for n in range(1, _CHARACTERS + 1)
            for what in ("text", "reference", "both")
        ),
        read=SacreBleu("CHRF"),
    ),
    combine=chrf,
)


@dataclass(frozen=True, slots=True)
class Ranked:
    """Metric of document rankings, query by query.

    A document is relevant if its grade is above 0. Ties are broken against the model: the less
    relevant document comes first, so ties are not rewarded.

    Parameters
    ----------
    kind
        ``"ndcg"`` (gain: the grade itself), ``"map"``, ``"mrr"``, ``"recall"``,
        ``"precision"`` or ``"hit"``.
    k
        Number of top documents to use. None means all.

    Examples
    --------
    >>> relevance = [[1, 0, 1], [0, 2, 0]]  # a row for each query
    >>> scores = [[0.9, 0.8, 0.1], [0.5, 0.6, 0.1]]
    >>> Ranked("mrr", None)(relevance, scores)
    array([[1.],
           [1.]])
    >>> qrels, run = {"q1": {"d1": 1, "d2": 1}}, {"q1": {"d3": 0.9, "d1": 0.5}}
    >>> Ranked("recall", 10)(qrels, run)
    array([[0.5]])
    """

    kind: str
    k: int | None

    def __call__(self, truth: object, scores: object) -> FloatArray:
        """Return the metric of each query."""
        pairs = _by_query(truth, scores) if isinstance(truth, Mapping) else _by_row(truth, scores)
        return np.array([[self.of_query(*pair)] for pair in pairs])

    def of_query(self, gains: FloatArray, ideal: FloatArray) -> float:
        """Return the metric of one query.

        Parameters
        ----------
        gains
            Grades of the retrieved documents, from the top down.
        ideal
            Grades of all known documents, in descending order.
        """
        top = gains if self.k is None else gains[: self.k]
        hits, n_relevant = top > 0, int((ideal > 0).sum())
        ranks = np.flatnonzero(hits)
        if self.kind == "mrr":
            return 1 / (1 + int(ranks[0])) if ranks.size else 0.0
        if self.kind == "hit":
            return float(ranks.size > 0)
        if self.kind == "precision":
            return ranks.size / (self.k or max(len(gains), 1))
        if not n_relevant:
            return 0.0
        if self.kind == "recall":
            return ranks.size / n_relevant
        if self.kind == "map":
            return float(((1 + np.arange(ranks.size)) / (1 + ranks)).sum()) / n_relevant
        best = ideal if self.k is None else ideal[: self.k]
        return _gain(top) / _gain(best)


def _gain(gains: FloatArray) -> float:
    return float(gains @ (1 / np.log2(2 + np.arange(len(gains)))))


def _ordered(scores: FloatArray, gains: FloatArray) -> FloatArray:
    return np.asarray(gains[np.lexsort((gains, -scores))])


def _by_row(truth: object, scores: object) -> Iterable[tuple[FloatArray, FloatArray]]:
    if not isinstance(truth, (Sequence, np.ndarray)) or not isinstance(
        scores, (Sequence, np.ndarray)
    ):
        raise UsageError(
            "a ranking metric needs the relevance of each document as y_true, one row per query "
            "or a mapping {query: {document: grade}}, and scores of the same form"
        )
    if len(truth) != len(scores):
        raise DataError(
            f"y_true has {len(truth)} queries but the scores have {len(scores)}; both must list "
            "the same queries in the same order"
        )
    for row, (grades, scored) in enumerate(zip(truth, scores, strict=True)):
        gains, values = _numbers(grades, row), _numbers(scored, row)
        if gains.shape != values.shape:
            raise DataError(
                f"query {row} (counted from 0) has {gains.size} grades but {values.size} scores"
            )
        yield _ordered(values, gains), np.sort(gains)[::-1]


Documents: TypeAlias = Mapping[Hashable, float]


def _by_query(
    truth: Mapping[Hashable, Documents], scores: object
) -> Iterable[tuple[FloatArray, FloatArray]]:
    if not isinstance(scores, Mapping):
        raise DataError("named queries need scores of the form {query: {document: score}}")
    spare = [query for query in scores if query not in truth]
    if spare:
        raise DataError(
            f"query {spare[0]!r} has scores but no grades; every query needs grades in y_true"
        )
    for query, grades in truth.items():  # a query without results retrieved nothing
        run: Documents = scores.get(query, {})
        gains = _numbers([grades.get(document, 0.0) for document in run], query)
        yield (
            _ordered(_numbers(list(run.values()), query), gains),
            np.sort(_numbers(list(grades.values()), query))[::-1],
        )


def _numbers(values: ArrayLike, query: object) -> FloatArray:
    array: AnyArray = np.asarray(unmasked(values), dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise DataError(f"grades and scores of query {query!r} must be finite numbers, in one row")
    return array


@dataclass(frozen=True, slots=True)
class Repeated:
    """Estimate for k answers to an item from all its sampled answers.

    ``pass@k`` is the probability that at least one of k answers is right, ``pass^k`` that all k
    are, and ``maj@k`` that more than half are. The k answers are drawn without replacement from the
    sampled ones, which makes the estimates unbiased.

    Examples
    --------
    >>> Repeated("pass@", 2)(None, [[1, 0, 0, 0], [1, 1, 1, 1]]).round(3)
    array([[0.5],
           [1. ]])
    """

    kind: str
    k: int

    def __call__(self, truth: object, answers: object) -> FloatArray:
        """Return the estimate of each item."""
        if not isinstance(answers, Iterable):
            raise DataError("answers must have one row of 0 and 1 per item")
        if truth is not None:
            raise UsageError(
                f"{self.kind}{self.k} uses the correctness of each answer; pass None as y_true"
            )
        return np.array([[self.of_item(row, index)] for index, row in enumerate(answers)])

    def of_item(self, answers: ArrayLike, row: int) -> float:
        """Return the estimate for one item from its answers (1 means right)."""
        bits = np.asarray(unmasked(answers), dtype=np.float64)
        if bits.ndim != 1 or not np.isin(bits, (0, 1)).all():
            raise DataError(f"item {row} (counted from 0) must be a row of answers, each 0 or 1")
        n, right = bits.size, int(bits.sum())
        if n < self.k:
            raise DataError(
                f"item {row} (counted from 0) has {n} answers, fewer than the {self.k} of "
                f"{self.kind}{self.k}"
            )
        least = {"pass@": 1, "pass^": self.k, "maj@": self.k // 2 + 1}[self.kind]
        ways = sum(comb(right, j) * comb(n - right, self.k - j) for j in range(least, self.k + 1))
        return ways / comb(n, self.k)


@dataclass(frozen=True, slots=True)
class OfGroups:
    """Numerator and denominator of a rate, in the columns of the item's group.

    Parameters
    ----------
    rate
        ``"accuracy"``, ``"recall"``, ``"precision"``, ``"f1"``, ``"selection_rate"`` or
        ``"mae"``.
    group
        Code of the group of each item.
    n_groups
        Number of groups.
    positive
        Positive class.
    """

    rate: str
    group: tuple[int, ...]
    n_groups: int
    positive: Label

    def __call__(self, truth: object, prediction: object) -> FloatArray:
        """Return numerator and denominator of the rate, in columns by group."""
        true, predicted = (_whole(side) for side in (truth, prediction))
        n = len(self.group)
        if true.shape != (n,) or predicted.shape != (n,):
            raise DataError(
                f"the gap was defined for {n} items; y_true has shape {true.shape} and the "
                f"prediction {predicted.shape}"
            )
        top, bottom = RATES[self.rate](true, predicted, self.positive)
        codes = np.array(self.group)
        empty = np.bincount(codes, weights=bottom, minlength=self.n_groups) == 0
        if empty.any():
            raise DataError(
                f"{self.rate} is 0/0 in {np.count_nonzero(empty)} of {self.n_groups} groups, "
                f"which have no item of class {self.positive!r}; pass the positive class with "
                f"{param('pos_label=')}, or drop these groups"
            )
        sums = np.zeros((n, 2 * self.n_groups))
        sums[np.arange(n), 2 * codes] = top
        sums[np.arange(n), 2 * codes + 1] = bottom
        return sums


def _whole(values: object) -> AnyArray:
    """Return labels or numbers as an array, checked for missing values."""
    array: AnyArray = np.asarray(unmasked(values))
    missing = [row for row, value in enumerate(array.ravel().tolist()) if is_missing(value)]
    if missing:
        raise DataError(
            f"{len(missing)} values are missing, the first in row {missing[0]} (counted from 0); "
            "drop those rows from all columns"
        )
    return array


Rate: TypeAlias = Callable[[AnyArray, AnyArray, Label], tuple[AnyArray, AnyArray]]
RATES: dict[str, Rate] = {
    "accuracy": lambda true, predicted, _: (true == predicted, np.ones(len(true))),
    "recall": lambda true, predicted, positive: (
        (true == positive) & (predicted == positive),
        true == positive,
    ),
    "precision": lambda true, predicted, positive: (
        (true == positive) & (predicted == positive),
        predicted == positive,
    ),
    "f1": lambda true, predicted, positive: (
        2.0 * ((true == positive) & (predicted == positive)),
        (true == positive).astype(float) + (predicted == positive),
    ),
    "selection_rate": lambda true, predicted, positive: (predicted == positive, np.ones(len(true))),
    "mae": lambda true, predicted, _: (np.abs(true - predicted), np.ones(len(true))),
}


def gap_between(means: FloatArray) -> FloatArray:
    """Return the largest rate of any group minus the smallest."""
    rates = means[::2] / np.where(means[1::2] > 0, means[1::2], 1.0)
    return np.asarray(rates.max(axis=0) - rates.min(axis=0))
