"""One option forgotten or wrong, on the bundled data: an answer, or a sentence that mends it."""

from __future__ import annotations

import io
import shlex
import time

import pytest

import outperform as op
from outperform.cli.main import main
from outperform.errors import UsageError
from tests.loops import each

SECONDS = 10  # of the processor
COLUMNS = "'id', 'label', 'nb_bern', 'nb_mult', 'svm_l1', 'svm_l2'"
MODELS = "--model nb_bern --model nb_mult --model svm_l1 --model svm_l2"
AN_ID = "'id' has 7,532 different values in 7,532 rows and none is a label of 'label'"


@pytest.fixture(scope="module")
def news(tmp_path_factory):
    """Return the file that the README begins with."""
    path = tmp_path_factory.mktemp("news") / "preds.csv"
    assert main(["example", "news20", "-o", str(path)]) == 0
    return path


CASES = {
    # compare
    "compare: nothing": ("compare", 2, ["pass --truth, --a, --b", COLUMNS]),
    "compare: no models": ("compare --truth label", 2, ["pass --a, --b", COLUMNS]),
    "compare: no b": ("compare --truth label --a svm_l1", 2, ["pass --b", COLUMNS]),
    "compare: no truth": ("compare --a svm_l1 --b svm_l2", 2, ["pass --truth", COLUMNS]),
    "compare: no metric": ("compare --truth label --a svm_l1 --b svm_l2", 0, []),
    "compare: no rope, no id": (
        "compare --truth label --a svm_l1 --b svm_l2 --metric f1_macro", 0, []),
    "compare: wrong truth": (
        "compare --truth lable --a svm_l1 --b svm_l2", 2, ["did you mean 'label'?", COLUMNS]),
    "compare: wrong model": (
        "compare --truth label --a svm --b svm_l2", 2, ["no column 'svm'", COLUMNS]),
    "compare: one model twice": (
        "compare --truth label --a svm_l1 --b svm_l1", 2, ["every column has one role"]),
    "compare: the id as a model": (
        "compare --truth label --a id --b svm_l1 --metric f1_macro", 2, [AN_ID, "--id id"]),
    "compare: the id as the truth": (
        "compare --truth id --a svm_l1 --b svm_l2 --metric f1_macro", 2,
        ["no model predicts any of them", "--truth"]),
    "compare: labels as right or wrong": (
        "compare --correct svm_l1 --correct svm_l2", 3, ["for right and wrong", "--truth"]),
    "compare: wrong id": (
        "compare --truth label --a svm_l1 --b svm_l2 --id doc", 2, ["no column 'doc'", COLUMNS]),
    "compare: options of a join": (
        "compare --label label --a svm_l1 --b svm_l2 --id id", 2, ["use --truth; type: "]),
    # rank
    "rank: nothing": ("rank", 2, ["--truth label", COLUMNS]),
    "rank: no id": (
        "rank --truth label --metric f1_macro", 2, [AN_ID, "pass --id id", MODELS]),
    "rank: no metric": ("rank --truth label --id id", 0, []),
    "rank: no truth": ("rank --id id --metric f1_macro", 2, ["--truth label", COLUMNS]),
    "rank: one model": ("rank --truth label --model svm_l1", 2, ["at least two models"]),
    "rank: the id as the truth": (
        "rank --truth id --metric f1_macro", 2, ["no label of 'id' occurs in any other column"]),
    "rank: all there": ("rank --truth label --id id --metric accuracy", 0, []),
    # gate
    "gate: nothing": ("gate", 2, ["pass --candidate", COLUMNS]),
    "gate: no models": ("gate --truth label", 2, ["pass --candidate", COLUMNS]),
    "gate: no baseline": (
        "gate --truth label --candidate svm_l1", 2, ["pass --baseline", COLUMNS]),
    "gate: no truth": (
        "gate --candidate svm_l1 --baseline svm_l2", 2, ["pass --truth", COLUMNS]),
    "gate: no metric": (
        "gate --truth label --candidate svm_l1 --baseline svm_l2", 4, []),
    "gate: one model twice": (
        "gate --truth label --candidate svm_l1 --baseline svm_l1", 2, ["must differ"]),
    "gate: wrong candidate": (
        "gate --truth label --candidate svm-l1 --baseline svm_l2", 2,
        ["did you mean 'svm_l1'?", COLUMNS]),
    # others that read
    "slices: no by": ("slices --truth label --a svm_l1 --b svm_l2", 2, ["pass --by", COLUMNS]),
    "estimate: no model": ("estimate --truth label", 2, ["pass --model", COLUMNS]),
    "count: no id": ("count --truth label", 2, [AN_ID, "pass --id id", MODELS]),
    "count: nothing": ("count", 2, ["--truth label", COLUMNS]),
}  # fmt: skip


@each("case", CASES)
def test_a_command_answers_or_says_what_to_type(news, capsys, case):
    line, code, words = CASES[case]
    command, *options = shlex.split(line)
    few = [] if command == "count" else ["--draws", "400", "--seed", "1"]
    start = time.process_time()
    assert main([command, str(news), *options, *few]) == code
    assert time.process_time() - start < SECONDS
    told = capsys.readouterr()
    assert all(word in told.err for word in words), told.err
    assert (told.err == "") == (code in (0, 4))


PYTHON = {
    "nothing": ({}, ["truth='label'", "correct=", COLUMNS]),
    "no models, no id": ({"truth": "label"}, [AN_ID, "id='id'", "models=['nb_bern', 'nb_mult',"]),
    "wrong truth": ({"truth": "labels", "id": "id"}, ["did you mean 'label'?", COLUMNS]),
    "wrong model": ({"truth": "label", "models": ["svm"]}, ["no column 'svm'", COLUMNS]),
    "a model as text": ({"truth": "label", "models": "svm_l1"}, ["a list of columns"]),
    "the id as a model": ({"truth": "label", "models": ["id"]}, [AN_ID, "id='id'"]),
    "label for truth": ({"label": "label", "id": "id"}, ["label= is for a join"]),
}


@each("case", PYTHON)
def test_read_says_what_to_type(news, case):
    options, words = PYTHON[case]
    start = time.process_time()
    with pytest.raises(UsageError) as caught:
        op.read(news, **options)
    assert time.process_time() - start < SECONDS
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_read_takes_all_other_columns_if_they_are_models(news):
    seen = op.read(news, truth="label", id="id")
    assert seen.models == ("nb_bern", "nb_mult", "svm_l1", "svm_l2")


def test_two_columns_that_are_one_are_named():
    twice = op.Outcomes.from_counts(
        ["a", "b"], {"new": ["a", "b"], "old": ["a", "b"]}, counts=[50, 50]
    )
    for asked in ({"metric": "accuracy"}, {"metric": "f1_macro", "prior": "bootstrap"}):
        c = op.compare(twice, "new", "old", rope=0.01, n_draws=400, random_state=1, **asked)
        (told,) = [one.message for one in c.findings if one.name == "few_disagreements"]
        assert "identical on every item; did you pass the same column twice?" in told
        assert not c.decision.decided


def test_a_file_for_each_model_holds_no_scores_that_are_read_together(news):
    with pytest.raises(UsageError, match=r"one table with one column per model.*correct="):
        op.read_scores({"bert": news, "gpt": news}, models=["score"])


@pytest.mark.parametrize("stdin", [None, io.StringIO()])
def test_closed_standard_input_is_said(capsys, monkeypatch, stdin):
    if stdin is not None:
        stdin.close()
    monkeypatch.setattr("sys.stdin", stdin)
    asked = ["--truth", "label", "--a", "svm_l1", "--b", "svm_l2", "--metric", "accuracy"]
    assert main(["compare", "-", *asked]) == 2
    assert "standard input is closed" in capsys.readouterr().err
