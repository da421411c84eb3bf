"""The bundled answers are those of the published classifiers."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
from importlib.resources import files

import numpy as np
import pytest

from outperform.datasets import load_news20
from papers.published import published

CLASSIFIERS = ["nb_bern", "nb_mult", "svm_l1", "svm_l2"]


def f1_per_group(news, name):
    answers = news.predictions[name]
    return np.array(
        [
            2
            * ((news.y_true == group) & (answers == group)).sum()
            / ((news.y_true == group).sum() + (answers == group).sum())
            for group in news.target_names
        ]
    )


def test_shape_and_names():
    news = load_news20()
    assert news.y_true.shape == (7532,)
    assert news.y_true.dtype.kind == "U"
    assert list(news.predictions) == CLASSIFIERS
    for answers in news.predictions.values():
        assert answers.shape == (7532,)
        assert answers.dtype.kind == "U"
        assert set(answers) <= set(news.target_names)
    assert len(news.target_names) == 20
    assert list(news.target_names) == sorted(set(news.y_true.tolist()))
    assert all(type(name) is str for name in news.target_names)


def test_documents_are_in_order_of_their_group():
    y_true = load_news20().y_true
    assert (y_true[1:] >= y_true[:-1]).all()
    # Group sizes of the "bydate" test half.
    assert (y_true == "alt.atheism").sum() == 319
    assert (y_true == "talk.religion.misc").sum() == 251


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_micro_and_macro_f1_are_the_published_ones(name):
    news, table = load_news20(), published("icdm2015")["table_2_f1"]
    assert round(float((news.predictions[name] == news.y_true).mean()), 3) == table["micro"][name]
    assert round(float(f1_per_group(news, name).mean()), 3) == table["macro"][name]


@pytest.mark.parametrize(
    ("name", "differing", "largest"),
    [("nb_bern", 0, 0.0005), ("nb_mult", 0, 0.0005), ("svm_l1", 7, 0.004), ("svm_l2", 1, 0.002)],
)
def test_f1_of_each_group_against_the_published_one(name, differing, largest):
    printed = np.array(published("icdm2015")["table_2_f1"]["per_category"][name])
    ours = f1_per_group(load_news20(), name)
    assert (ours.round(3) != printed).sum() == differing
    assert np.abs(ours - printed).max() <= largest


def test_each_call_is_fresh_and_the_result_is_frozen():
    first = load_news20()
    first.y_true[0] = "changed"
    assert load_news20().y_true[0] == "alt.atheism"
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.y_true = None
    assert pickle.loads(pickle.dumps(first)).target_names == first.target_names


def test_description_names_source_and_licence():
    description = load_news20().description
    for words in ("20 Newsgroups", "public research", "none of\nthe texts", "ICDM 2015"):
        assert words in description


def test_file_is_small_and_holds_no_objects():
    file = files("outperform") / "datasets" / "news20.npz"
    assert len(file.read_bytes()) < 40_000
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
        assert {stored[name].dtype.kind for name in stored.files} == {"U", "u"}


def test_loading_needs_numpy_only():
    code = (
        "import sys; from outperform.datasets import load_news20; load_news20(); "
        "print(sorted({'scipy', 'sklearn', 'pandas', 'narwhals'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
