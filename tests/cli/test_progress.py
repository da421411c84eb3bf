"""Long work says how long it takes and how far it is, also where nobody looks at a terminal."""

from __future__ import annotations

import re
import threading

import numpy as np
import pytest

import outperform as op
from outperform.cli import exit_codes
from outperform.cli.exit_codes import Lines
from outperform.cli.main import main
from outperform.errors import UsageError
from outperform.progress import on_progress


@pytest.fixture
def patient(monkeypatch):
    monkeypatch.setattr(exit_codes, "EVERY", 10.0)


@pytest.fixture
def hasty(monkeypatch):
    """Take every piece of work for a long one."""
    for name, seconds in {"EVERY": 0.0, "_MIN_SECONDS": 0.0, "_CHECK_SECONDS": 0.001}.items():
        monkeypatch.setattr(exit_codes, name, seconds)


def said(lines, until, tells):
    """Return what is said when, looking once a second."""
    found = {}
    for now in range(1, until + 1):
        for done, total in tells.get(now, ()):
            lines.tell(done, total, float(now))
        line = lines.line(float(now))
        if line is not None:
            found[now] = line
    return found


def test_the_estimate_comes_first_then_a_line_every_ten_seconds(patient):
    steady = {now: [(now, 40)] for now in range(1, 41)}
    assert said(Lines("drawing", 0.0), 40, steady) == {
        2: "drawing takes about 40 s",
        12: "drawing: 30% after 12 s, about 28 s left",
        22: "drawing: 55% after 22 s, about 18 s left",
        32: "drawing: 80% after 32 s, about 8 s left",
    }


def test_short_work_says_nothing(patient):
    assert said(Lines("drawing", 0.0), 9, {now: [(now, 9)] for now in range(1, 10)}) == {}
    assert said(Lines("drawing", 0.0), 9, {}) == {}


def test_a_slow_start_is_not_the_pace(patient):
    assert said(Lines("drawing", 0.0), 5, {3: [(1, 5)], 4: [(3, 5)], 5: [(5, 5)]}) == {}


def test_work_that_cannot_tell_how_far_it_is_says_that_it_goes_on(patient):
    lines = said(Lines("counting", 0.0), 31, {})
    assert lines == {now: f"counting: {now} s so far" for now in (10, 20, 30)}


def test_another_part_of_the_work_has_a_pace_of_its_own(patient):
    tells = {now: [(now, 20)] for now in range(1, 21)}
    tells |= {20 + now: [(2 * now, 20)] for now in range(1, 11)}  # twice as fast
    lines = said(Lines("drawing", 0.0), 30, tells)
    assert lines[22] == "drawing, part 2: 20% after 22 s, about 8 s left"


def test_what_is_shown_of_a_part_never_runs_backward(patient):
    lines = Lines("drawing", 0.0)
    for now, done in enumerate((10, 30, 28, 50, 45, 60)):
        lines.tell(done, 100, float(now))
        assert lines.done == max((10, 30, 28, 50, 45, 60)[: now + 1])
    assert lines.what == "drawing"
    lines.tell(3, 100, 7.0)
    assert (lines.what, lines.done) == ("drawing, part 2", 3)


@pytest.mark.parametrize(
    ("command", "what"),
    [
        (["rank", "preds.csv", "--truth", "label", "--id", "id"], "drawing"),
        (["compare", "preds.csv", "--truth", "label", "--a", "bert", "--b", "gpt"], "drawing"),
        (["slices", "log.csv", "--truth", "label", "--a", "bert", "--b", "gpt", "--by", "country"],
         "drawing slices"),
        (["sensitivity", "preds.csv", "--truth", "label", "--a", "bert", "--b", "gpt"],
         "trying other priors"),
    ],
)  # fmt: skip
def test_commands_tell_on_stderr_and_answer_on_stdout(folder, capsys, hasty, command, what):
    asked = [*command, "--metric", "f1_macro", "--draws", "4000", "--seed", "1"]
    assert main(asked) == 0
    told = capsys.readouterr()
    lines = [line for line in told.err.splitlines() if line.startswith(f"outperform: {what}")]
    assert lines, told.err
    assert all(
        re.match(r"outperform: [a-z ]+(, part \d+)?( takes about|: )", line) for line in lines
    )
    assert "takes about" not in told.out


def test_draws_tell_how_far_they_are_and_stay_the_same():
    truth = np.arange(600) % 3
    models = {name: np.where(np.arange(600) % k == 0, 0, truth) for name, k in (("a", 5), ("b", 7))}
    seen = op.Outcomes.from_labels(truth, models)
    asked = {"metric": "f1_macro", "rope": 0.01, "n_draws": 20_000, "random_state": 3}
    told = []
    with on_progress(lambda done, total: told.append((done, total))):
        heard = op.rank(seen, **asked)
    n = told[0][1]
    assert told[:n] == [(k, n) for k in range(1, n + 1)]
    told.clear()
    assert np.array_equal(op.rank(seen, **asked).draws, heard.draws)
    assert told == []


def test_sensitivity_tells_how_many_priors_are_done(capsys):
    seen = op.Outcomes.from_correct({"a": [1] * 90 + [0] * 10, "b": [1] * 60 + [0] * 40})
    c = op.compare(seen, "a", "b", metric="accuracy", rope=0.01, n_draws=500, random_state=0)
    told = []
    with on_progress(lambda *one: told.append(one)):
        found = c.sensitivity(priors={"strong": 5.0})
    n = len(told)
    assert told == [(k, n) for k in range(1, n + 1)]
    assert n == len(found.priors) - 1 + len(found.left_out)
    assert capsys.readouterr() == ("", "")


def test_a_listener_must_be_a_function():
    with pytest.raises(UsageError, match="progress must be a function"), on_progress(3):
        pass


def test_nothing_is_left_running(hasty):
    before = threading.active_count()
    with exit_codes.bar("counting") as tell:
        tell(1, 2)
        assert threading.active_count() == before + 1
    assert threading.active_count() == before
