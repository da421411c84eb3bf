"""What both examples share: a conditional random field that learns any tag set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pycrfsuite
from sklearn.base import BaseEstimator

from outperform.data.spans import get_scheme

WINDOW = 2
BESIDE = ""  # stands where the window reaches over the end of the sentence; no token is empty


class CrfTagger(BaseEstimator):
    """A linear-chain CRF that learns one tag set and answers in another.

    Two of them that differ in `scheme` alone see the same spans, so that the tag set is all
    that a comparison of them compares.

    Parameters
    ----------
    scheme
        The tag set that the CRF learns.
    gold_scheme
        The tag set of the tags that come in, and of the answers.
    features
        What the CRF sees of a token: a name in `FEATURES`.
    c1, c2
        Weights of the L1 and of the L2 penalty.
    max_iterations
        The most steps that L-BFGS takes.
    min_frequency
        A pair of feature and tag that the training sentences hold less often is left out.
    """

    def __init__(
        self,
        scheme: str = "IOB2",
        *,
        gold_scheme: str = "IOB2",
        features: str = "words",
        c1: float = 0.0,
        c2: float = 0.1,
        max_iterations: int = 100,
        min_frequency: int = 1,
    ) -> None:
        self.scheme = scheme
        self.gold_scheme = gold_scheme
        self.features = features
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.min_frequency = min_frequency

    def fit(self, X: Sequence[Sequence[str]], y: Sequence[Sequence[str]]) -> CrfTagger:
        """Learn from sentences `X` and their tags `y`."""
        settings = {
            "c1": self.c1,
            "c2": self.c2,
            "max_iterations": self.max_iterations,
            "feature.minfreq": self.min_frequency,
        }
        trainer = pycrfsuite.Trainer(algorithm="lbfgs", params=settings, verbose=False)
        for tokens, tags in zip(X, y, strict=True):
            learned = rewrite(tags, self.gold_scheme, self.scheme)
            trainer.append(_seen(self.features, tuple(tokens)), learned)
        # CRFsuite writes a model to a file only; as bytes the trained tagger can be pickled.
        with TemporaryDirectory() as folder:
            file = Path(folder) / "model"
            trainer.train(str(file))
            self.model_ = file.read_bytes()
        return self

    def predict(self, X: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return the most probable tags of each sentence, in the gold tag set."""
        tagger = pycrfsuite.Tagger()
        tagger.open_inmemory(self.model_)
        answers = (tagger.tag(_seen(self.features, tuple(tokens))) for tokens in X)
        return [rewrite(tags, self.scheme, self.gold_scheme) for tags in answers]


def rewrite(tags: Sequence[str], scheme: str, into: str) -> list[str]:
    """Return the tags in another tag set for the spans that `tags` mark."""
    spans = get_scheme(scheme).read(tags).spans
    return list(get_scheme(into).write(spans, len(tags)))


def characters(tokens: Sequence[str]) -> list[list[str]]:
    """Return the features of each character: its n-grams."""
    return [list(_ngrams(tokens, place)) for place in range(len(tokens))]


def words(tokens: Sequence[str]) -> list[list[str]]:
    """Return the features of each word: n-grams of words and of shapes, and how it begins and ends.

    Shapes stand in for the parts of speech, which the corpus does not have.
    """
    lower = [token.lower() for token in tokens]
    shapes = [_shape(token) for token in tokens]
    return [
        [
            *_ngrams(lower, place),
            *_ngrams(shapes, place, "shape "),
            *_edges(lower[place]),
        ]
        for place in range(len(tokens))
    ]


def _ngrams(tokens: Sequence[str], place: int, name: str = "") -> Iterator[str]:
    """Yield the unigrams, bigrams and trigrams within two tokens of a place."""
    for first in range(-WINDOW, WINDOW + 1):
        for last in range(first, min(first + 2, WINDOW) + 1):
            gram = (
                tokens[other] if 0 <= other < len(tokens) else BESIDE
                for other in range(place + first, place + last + 1)
            )
            yield f"{name}{first} {last} " + "|".join(gram)


def _shape(token: str) -> str:
    """Return what a word looks like: ``McDonald's`` is ``XxXx'x`` and ``2pm`` is ``0x``."""
    kinds = ""
    for sign in token:
        if sign.isalpha():
            kind = "X" if sign.isupper() else "x"
        else:
            kind = "0" if sign.isdigit() else sign
        if not kinds.endswith(kind):
            kinds += kind
    return kinds


def _edges(word: str) -> Iterator[str]:
    """Yield the first and the last one to four characters of a word."""
    for length in range(1, 5):
        yield f"begins {word[:length]}"
        yield f"ends {word[-length:]}"


FEATURES: dict[str, Callable[[Sequence[str]], list[list[str]]]] = {
    "characters": characters,
    "words": words,
}


@cache
def _seen(features: str, tokens: tuple[str, ...]) -> pycrfsuite.ItemSequence:
    """Return the features of a sentence, made once and kept for all folds and both taggers."""
    return pycrfsuite.ItemSequence(FEATURES[features](tokens))
