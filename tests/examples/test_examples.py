"""The worked examples: their tagger, and both scripts on slices of their corpora."""

from __future__ import annotations

import pickle
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import outperform as op
from outperform.data.spans import get_scheme
from tests.corpora import corpus
from tests.lazily import lazily

pytest.importorskip("pycrfsuite", reason="the examples need the dependency group `examples`")

import named_entities
import tag_sets
import tagging
import word_segmentation

clone = lazily("sklearn.base.clone")

RECORDED = Path(__file__).parents[2] / "docs" / "explanation" / "_generated" / "taggers.md"
SCRIPTS = {
    "ud_zh_gsdsimp": (word_segmentation, ["Word segmentation"]),
    "wnut17": (named_entities, ["Named entities, all types", "Named entities, person"]),
}

TOKENS = [
    ["Ada", "Lovelace", "met", "Charles", "Babbage", "in", "London"],
    ["Grace", "left", "New", "York", "City"],
    ["nobody", "was", "there"],
] * 4
TAGS = [
    ["B-PER", "I-PER", "O", "B-PER", "I-PER", "O", "B-LOC"],
    ["B-PER", "O", "B-LOC", "I-LOC", "I-LOC"],
    ["O", "O", "O"],
] * 4


@pytest.fixture(params=["IOB2", "IOBES"])
def tagger(request):
    return tagging.CrfTagger(request.param)


def test_learns_what_it_was_shown(tagger):
    assert tagger.fit(TOKENS, TAGS).predict(TOKENS) == TAGS


def test_answers_are_well_formed(tagger):
    tagger.fit(TOKENS[:1], TAGS[:1])
    answers = tagger.predict([["London", "Lovelace", "met", "York", "Babbage"], ["x"]])
    assert [len(tags) for tags in answers] == [5, 1]
    assert not any(get_scheme("IOB2").read(tags).malformed for tags in answers)


def test_a_clone_is_unfitted_and_the_same(tagger):
    tagger.set_params(c2=0.5, max_iterations=7).fit(TOKENS, TAGS)
    copy = clone(tagger)
    assert copy.get_params() == tagger.get_params()
    assert not hasattr(copy, "model_")
    assert copy.fit(TOKENS, TAGS).predict(TOKENS) == tagger.predict(TOKENS)


def test_a_trained_tagger_can_be_pickled(tagger):
    tagger.fit(TOKENS, TAGS)
    assert pickle.loads(pickle.dumps(tagger)).predict(TOKENS) == tagger.predict(TOKENS)


@pytest.mark.parametrize(("scheme", "into"), [("IOB2", "IOBES"), ("BMES", "BB2B3MES")])
def test_rewriting_keeps_the_spans(scheme, into):
    rng = np.random.default_rng(0)
    ends = np.cumsum(rng.integers(1, 7, size=60)).tolist()
    spans = [(start, end, "PER") for start, end in pairwise(ends)]
    tags = list(get_scheme(scheme).write(spans[::2] + spans[1::4], ends[-1]))
    there = tagging.rewrite(tags, scheme, into)
    assert there != tags
    assert tagging.rewrite(there, into, scheme) == tags


def test_features_of_the_middle_and_of_the_ends():
    first, _, last = tagging.characters("abc")
    assert len(first) == len(last) == 12
    assert "0 1 a|b" in first
    assert "-1 0 |a" in first
    assert "-2 0 a|b|c" in last
    (seen,) = tagging.words(["McDonald's"])
    assert {"0 0 mcdonald's", "shape 0 0 XxXx'x", "begins mcd", "ends ld's"} <= set(seen)


def test_blanks_belong_to_no_word():
    tokens, tags = word_segmentation.characters(["看", "New", "York"], ["SpaceAfter=No", "_", "_"])
    assert tokens == list("看New York ")
    assert tags == ["S", "B", "M", "E", "O", "B", "M", "M", "E", "O"]


def test_only_one_type_is_kept():
    assert named_entities.only(["B-person", "I-person", "O", "B-group"], "person") == [
        "B-person",
        "I-person",
        "O",
        "O",
    ]


def test_spans_that_go_wrong_together_widen_the_interval():
    # Each finds all eight spans of a sentence or none, so eight spans are worth one.
    rng = np.random.default_rng(0)
    found = {
        name: [["B-PER" if hit else "O"] * 8 for hit in rng.random(400) < 0.5] for name in "AB"
    }
    fold = op.Outcomes.from_tags([["B-PER"] * 8] * 400, found, scheme="IOB2")
    # With 20,000 draws an sd is known to 0.5%.
    assert tag_sets.sd_factors([fold, fold]) == pytest.approx([np.sqrt(8)] * 2, rel=0.02)


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("form", [[], ["--markdown"]])
def test_a_script_on_few_sentences(name, form, capsys):
    script, titles = SCRIPTS[name]
    few = ["--sentences", "120", "--draws", "2000", "--jobs", "1"]
    script.main([str(corpus(name).parent), *few, *form])
    printed = capsys.readouterr()
    assert [line for line in printed.out.splitlines() if " against " in line] == [
        f"{'### ' if form else ''}{title}: {' against '.join(script.SCHEMES)}" for title in titles
    ]
    assert len(re.findall(r"^(?:\| )?(?:P|R|F1) ", printed.out, re.MULTILINE)) == 3 * len(titles)
    assert printed.err.count("12 of 12 trainings\n") == len(titles)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_recorded_outcome_is_what_comes_out(name, capsys):
    script, titles = SCRIPTS[name]
    script.main([str(corpus(name).parent), "--markdown"])
    ours, recorded = (cells(text) for text in (capsys.readouterr().out, RECORDED.read_text()))
    for title in titles:
        assert list(ours[title]) == list(recorded[title]) == ["P", "R", "F1"]
        for metric, row in ours[title].items():
            # Another processor rounds otherwise, which may turn a few of the answers.
            printed = recorded[title][metric]
            levels, before = (np.array(one[:2], dtype=float) for one in (row, printed))
            assert levels == pytest.approx(before, abs=0.002)
            assert row[4] == printed[4]  # what the paper's test accepts


def cells(text: str) -> dict[str, dict[str, list[str]]]:
    """Return the cells of each row, by title and metric."""
    found: dict[str, dict[str, list[str]]] = {}
    title = ""
    for line in text.splitlines():
        if line.startswith("### "):
            title = line[4:].partition(":")[0]
        elif line.startswith(("| P |", "| R |", "| F1 |")):
            metric, *row = (cell.strip() for cell in line.strip("|").split("|"))
            found.setdefault(title, {})[metric] = row
    return found
