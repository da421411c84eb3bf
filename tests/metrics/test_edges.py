"""Small things about metrics that nothing else would notice."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.metrics.item_statistics import Ranked
from tests.loops import each


def test_bleu_takes_the_ten_numbers_of_each_text_by_name():
    pytest.importorskip("sacrebleu")
    true = ["the cat sat on the mat", "a dog ran to the door", "it is very old and grey"]
    said = ["the cat ran on the mat", "a dog ran to a door", "it is old and very grey"]
    names = ["length", "reference_length"]
    names += [f"{what}_{n}" for what in ("matches", "ngrams") for n in (1, 2, 3, 4)]
    statistics = np.asarray(op.metrics.statistics("bleu", true, said))
    rows = op.Outcomes.from_statistics({"a": statistics, "b": statistics[::-1]}, columns=names)
    asked = {"metric": "bleu", "n_draws": 200, "random_state": 0}
    direct = op.estimate(true, said, **asked)
    found = op.estimate(rows, "a", **asked)
    assert found.observed == pytest.approx(direct.observed, rel=1e-12)


@each("kind", ["ndcg", "map", "mrr", "recall", "precision", "hit"])
def test_a_query_without_relevant_documents_earns_nothing(kind):
    found = Ranked(kind, None)([[0, 0, 0], [1, 0, 0]], [[0.9, 0.5, 0.1]] * 2)
    best = 1 / 3 if kind == "precision" else 1.0
    assert found.ravel()[:2].tolist() == [0.0, best]
