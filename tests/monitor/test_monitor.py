"""Batches in a folder: what is counted, in which order, what each look says, when it stops."""

from __future__ import annotations

import json
import math
import os
import stat

import numpy as np
import pandas as pd
import pytest

import outperform as op
from outperform._files import signed
from outperform.display.layout import Page, plain
from outperform.errors import DataError, UsageError
from outperform.monitor.batches import History
from tests.loops import each

NAMES = ("new", "old")


def labels(number, n=100, right=(0.9, 0.75)):
    """Return truth and predictions of one batch."""
    generator = np.random.default_rng([7, number])
    truth = generator.integers(0, 2, size=n)
    hard = generator.random(n)
    predictions = {
        name: np.where(np.where(generator.random(n) < 0.6, hard, generator.random(n)) < share,
                       truth, 1 - truth)
        for name, share in zip(NAMES, right, strict=True)
    }  # fmt: skip
    return truth, predictions


def both(values):
    """Return predictions on which the models agree."""
    return {name: values for name in NAMES}


def outcomes(number, **how):
    return op.Outcomes.from_labels(*labels(number, **how))


def hostile(*path, value):
    """Return a batch as text, with another value at a path and a checksum that fits."""
    data = inside = outcomes(9).to_dict()
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = value
    return json.dumps(signed(data))


def watched(folder, **asked):
    return op.Monitor(folder, *NAMES, **{"metric": "f1", "rope": 0.02, "n_draws": 1_000} | asked)


def filled(folder, n_batches=4, **asked):
    monitor = watched(folder, **asked)
    for number in range(n_batches):
        monitor.add(*labels(number), key=number)
    return monitor


# What is counted


def test_the_whole_is_the_sum_and_every_look_a_comparison_of_the_first_batches(tmp_path):
    monitor = filled(tmp_path)
    whole = None
    for number, look in enumerate(monitor.looks, start=1):
        seen = outcomes(number - 1)
        whole = seen if whole is None else whole + seen
        seed = np.random.SeedSequence(0, spawn_key=(number,))
        same = op.compare(whole, *NAMES, metric="f1", rope=0.02, n_draws=1_000, random_state=seed)
        assert (look.number, look.key, look.n) == (number, str(number - 1), whole.n)
        assert (look.mean, look.hdi, look.decision) == (same.mean, same.hdi, same.decision)
        assert look.bayes_factor == same.bayes_factor
        assert (look.p_worse, look.p_equivalent) == (same.p_worse, same.p_equivalent)
        np.testing.assert_array_equal(monitor.at(number).draws, same.draws)
    assert monitor.outcomes == whole
    np.testing.assert_array_equal(monitor.latest.draws, same.draws)


def test_a_history_does_not_depend_on_when_or_how_often_it_is_read(tmp_path):
    often = watched(tmp_path)
    for number in range(4):
        often.add(*labels(number), key=number)
        assert len(often.looks) == number + 1
        assert often.latest.n == 100 * (number + 1)
    assert often.looks == watched(tmp_path).looks == often.looks


def test_a_batch_added_again_is_counted_once(tmp_path):
    monitor = filled(tmp_path, 2)
    monitor.add(outcomes(0), key="0")
    watched(tmp_path).add(*labels(1), key=1)
    assert [look.key for look in monitor.looks] == ["0", "1"]
    assert monitor.outcomes.n == 200


def test_other_outcomes_under_the_same_key_are_refused(tmp_path):
    monitor = filled(tmp_path, 1)
    with pytest.raises(DataError, match=r"the batch '0' is already in .*, with other outcomes"):
        monitor.add(*labels(5), key=0)
    assert monitor.outcomes == outcomes(0)


def test_models_beside_the_two_are_summed_out(tmp_path):
    truth, predictions = labels(0)
    monitor = watched(tmp_path)
    monitor.add(truth, predictions | {"third": truth}, key="a")
    monitor.add(*labels(1), key="b")
    assert monitor.outcomes == outcomes(0) + outcomes(1)


def test_files_that_count_wrote_are_batches_in_the_order_of_their_age(tmp_path):
    for age, name in enumerate(("zulu", "alpha", "mike")):
        path = tmp_path / f"{name}.json"
        path.write_text(outcomes(age).to_json(), encoding="utf-8")
        os.utime(path, ns=(age, age))
    assert [look.key for look in watched(tmp_path).looks] == ["zulu", "alpha", "mike"]
    assert op.read(tmp_path) == watched(tmp_path).outcomes


def test_what_comes_later_stands_after_what_was_seen_whatever_its_age(tmp_path):
    monitor = filled(tmp_path, 2)
    before = monitor.looks
    path = tmp_path / "0-early.json"
    path.write_text(outcomes(8).to_json(), encoding="utf-8")
    os.utime(path, ns=(1, 1))
    assert monitor.looks[:2] == before
    assert [look.key for look in watched(tmp_path).looks] == ["0", "1", "0-early"]


def test_a_lost_order_is_made_again(tmp_path):
    monitor = filled(tmp_path)
    for path in (tmp_path / "_arrivals").iterdir():
        path.unlink()
    assert watched(tmp_path).outcomes == monitor.outcomes
    assert [look.key for look in watched(tmp_path).looks] == ["0", "1", "2", "3"]


def test_a_batch_numbered_by_two_processes_counts_once(tmp_path):
    monitor = filled(tmp_path, 2)
    first = (tmp_path / "_arrivals" / "00000001.json").read_bytes()
    (tmp_path / "_arrivals" / "00000003.json").write_bytes(first)
    monitor.add(*labels(2), key=2)
    assert [look.key for look in watched(tmp_path).looks] == ["0", "1", "2"]


# What is not counted, and said


def test_unfinished_files_are_not_counted(tmp_path):
    monitor = filled(tmp_path, 2)
    (tmp_path / ".outperform-0.part").write_text(outcomes(9).to_json(), encoding="utf-8")
    assert monitor.outcomes.n == watched(tmp_path).outcomes.n == 200
    assert "unfinished_batches" in {finding.name for finding in monitor.findings}


@each(
    ("name", "text", "reason"),
    [
        ("half.json", outcomes(9).to_json()[:99], "this JSON does not contain outcomes"),
        ("empty.json", "", "this JSON does not contain outcomes"),
        ("odd.json", '{"a": 1}', "these are not outcomes: the field 'format'"),
        ("deep.json", "[" * 100_000, "nested too deeply"),
        ("digits.json", '{"schema": ' + "1" * 5_000 + "}", "digits"),
        ("cell.json", hostile("tables", 0, "cells", 0, 0, value=2**70), "must be an integer"),
        ("count.json", hostile("tables", 0, "counts", 0, value=10**400), "must be an integer"),
        ("many.json", hostile("tables", 0, "counts", 0, value=10**30), "must be an integer"),
        ("level.json", hostile("findings", value=[["x", "bogus", "y"]]), "must be one of 'note'"),
        ("serious.json", hostile("findings", value=[["x", "serious", "y"]]), "cannot contain the"),
        (
            "finding.json",
            hostile("findings", value=[[["x"], "warning", {"a": 1}]]),
            "findings[0][0] must be text",
        ),
        ("half.json", hostile("models", 0, value="\ud800"), "lone surrogates"),
        ("preds.csv", "label,new,old\n1,1,1\n", "it is not a .json file"),
        (
            "other.json",
            op.Outcomes.from_labels([1, 0], {"new": [1, 0], "x": [1, 0]}).to_json(),
            "unknown model 'old'",
        ),
        ("text.json", op.Outcomes.from_labels(["p"], both(["p"])).to_json(),
            "does not fit the earlier batches"),
    ],
)  # fmt: skip
def test_what_is_no_batch_is_said_and_left_out(tmp_path, name, text, reason):
    monitor = filled(tmp_path, 2)
    (tmp_path / name).write_text(text, encoding="utf-8")
    for one in (monitor, watched(tmp_path)):
        assert one.outcomes.n == 200
        (said,) = [each for each in one.findings if each.name == "batches_not_counted"]
        assert name in said.message
        assert reason in said.message
    (tmp_path / name).unlink()
    assert "batches_not_counted" not in {each.name for each in monitor.findings}


def test_batches_of_other_models_may_lie_in_the_same_folder(tmp_path):
    truth, predictions = labels(0)
    other = op.Monitor(tmp_path, "new", "third", metric="f1", rope=0.02, n_draws=1_000)
    other.add(truth, {"new": truth, "third": truth}, key="a")
    monitor = watched(tmp_path)
    monitor.add(truth, predictions | {"third": truth}, key="b")
    assert [look.key for look in monitor.looks] == ["b"]
    assert "batches_not_counted" in {one.name for one in monitor.findings}
    assert other.n_batches == 2
    assert monitor.n_batches == 1


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot create the folder"):
        watched(tmp_path / "file").add(*labels(0), key=0)


def test_what_does_not_fit_the_first_batch_is_refused_before_it_is_written(tmp_path):
    truth, predictions = labels(0)
    filled(tmp_path, 1)
    texts = {name: values.astype(str) for name, values in predictions.items()}
    with pytest.raises(DataError, match=r"'texts' does not fit '0', the first in .* mixture"):
        watched(tmp_path).add(truth.astype(str), texts, key="texts")
    with pytest.raises(DataError, match="with and without groups cannot be added"):
        watched(tmp_path).add(
            op.Outcomes.from_labels(truth, predictions, groups=truth), key="groups"
        )
    assert not (tmp_path / "texts.json").exists()
    assert watched(tmp_path).outcomes == outcomes(0)


def test_why_nothing_is_counted_is_said(tmp_path):
    filled(tmp_path, 2)
    (tmp_path / "notes.txt").write_text("")
    monitor = op.Monitor(tmp_path, "new", "odl")
    with pytest.raises(DataError, match=r"no batch of 'new' and 'odl' .* did you mean 'old'"):
        _ = monitor.outcomes


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda text: text[:50], "this JSON does not contain outcomes"),
        (lambda text: "", "this JSON does not contain outcomes"),
        (lambda text: text.replace('"schema": 2', '"schema": 3'), "upgrade"),
    ],
    ids=["cut", "empty", "newer"],
)
def test_a_damaged_batch_is_mended_by_adding_it_again(tmp_path, damage, reason):
    before = filled(tmp_path, 3).looks
    path = tmp_path / "1.json"
    path.write_text(damage(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(
        DataError, match=r"1\.json in .* is not the batch that arrived as number 2"
    ) as caught:
        _ = watched(tmp_path).looks
    assert reason in str(caught.value)
    with pytest.raises(DataError, match=reason):  # and not as if it were there
        watched(tmp_path).add(*labels(1), key=1)
    path.rename(tmp_path.parent / "away.json")
    watched(tmp_path).add(*labels(1), key=1)
    assert watched(tmp_path).looks == before


class Growing(History):
    """A folder to which somebody adds a batch each time it has been read."""

    def refresh(self):
        super().refresh()
        self.store(str(len(self.batches)), outcomes(len(self.batches)))


def test_what_comes_while_it_is_read_is_in_all_parts_of_the_answer_or_in_none(tmp_path):
    monitor = watched(tmp_path, stop=("width", 0.9))
    monitor._history = Growing(tmp_path, NAMES)
    with pytest.raises(DataError, match="no batch"):
        _ = monitor.latest
    for _ in range(3):
        facts = monitor.to_dict()
        assert facts["n_batches"] == facts["looks"][-1]["number"]
        since = [one["message"] for one in facts["findings"] if one["name"] == "looks_after_stop"]
        after = facts["n_batches"] - facts["stopped"]
        assert [int(message.split()[0]) for message in since] == [after] * (after > 0)


def test_when_it_returns_every_name_is_on_disk(tmp_path, monkeypatch):
    synced, fsync = set(), os.fsync

    def spy(handle):
        fsync(handle)
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            synced.add(os.fstat(handle).st_ino)

    monkeypatch.setattr(os, "fsync", spy)
    folder = tmp_path / "a" / "b"
    watched(folder).add(*labels(0), key=0)
    made = {tmp_path, tmp_path / "a", folder, folder / "_arrivals"}
    assert {one.stat().st_ino for one in made} <= synced
    synced.clear()
    watched(folder).add(*labels(0), key=0)  # whose first writer may not have come to that
    assert folder.stat().st_ino in synced


def test_a_batch_that_was_changed_is_refused(tmp_path):
    filled(tmp_path, 2)
    (tmp_path / "1.json").write_text(outcomes(9).to_json(), encoding="utf-8")
    with pytest.raises(DataError, match=r"1\.json in .* is not the batch that arrived as number 2"):
        _ = watched(tmp_path).looks


def test_a_batch_that_is_gone_is_missed(tmp_path):
    filled(tmp_path, 2)
    (tmp_path / "0.json").unlink()
    with pytest.raises(DataError, match=r"0\.json does not exist"):
        _ = watched(tmp_path).outcomes


def test_a_gap_in_the_order_is_refused(tmp_path):
    filled(tmp_path, 3)
    (tmp_path / "_arrivals" / "00000002.json").unlink()
    with pytest.raises(DataError, match="is missing"):
        _ = watched(tmp_path).looks


@each(
    ("text", "reason"),
    [
        ("{", "Expecting property name"),
        ("", "Expecting value"),
        ("[" * 100_000, "nested too deeply"),
        ('{"key": "1"}', "the field sha256 is missing"),
        ('{"key": 1, "sha256": "' + "0" * 64 + '"}', "key must be text"),
        ('{"key": "1", "sha256": "0"}', "sha256 must be a SHA-256"),
        ('{"key": "1", "key": "2", "sha256": "0"}', "occurs twice"),
        (None, "it cannot be read"),
    ],
)
def test_a_damaged_number_is_said_and_its_batch_gets_another(tmp_path, text, reason):
    before = filled(tmp_path, 3)
    path = tmp_path / "_arrivals" / "00000002.json"
    path.unlink()
    path.mkdir() if text is None else path.write_text(text)
    for _ in range(2):
        monitor = watched(tmp_path)
        assert monitor.outcomes == before.outcomes
        assert [look.key for look in monitor.looks] == ["0", "2", "1"]
        (said,) = [one for one in monitor.findings if one.name == "batches_not_counted"]
        assert "_arrivals/00000002.json" in said.message
        assert reason in said.message
    monitor.add(*labels(3), key=3)
    assert [look.key for look in watched(tmp_path).looks] == ["0", "2", "1", "3"]
    assert sorted(path.name for path in (tmp_path / "_arrivals").iterdir()) == [
        f"{number:08d}.json" for number in range(1, 6)
    ]


def test_a_copied_batch_is_told(tmp_path):
    monitor = watched(tmp_path, stop=("width", 0.9))
    monitor.add(*labels(0, n=3_000), key="mon")
    monitor.add(*labels(1, n=3_000), key="tue")
    assert "repeated_sources" not in {one.name for one in monitor.findings}
    assert monitor.looks[1].status.value == "pass"
    (tmp_path / "copy.json").write_bytes((tmp_path / "mon.json").read_bytes())
    for one in (monitor, watched(tmp_path, stop=("width", 0.9)), watched(tmp_path)):
        (said,) = [each for each in one.findings if each.name == "repeated_sources"]
        assert said.message.startswith("mon.json and copy.json have exactly the same counts")
        assert one.outcomes.n == 9_000
        assert one.looks[2].status.value == "undecided"


@each(
    "key",
    ["", ".hidden", "_x", "a/b", "a\\b", "a\nb", "x" * 300, None, 1.5, "x:y", "a?", "a*", "<b>",
     'a"b', "a|b", "CON", "nul", "Com1", "LPT9.old", "aux .x", "end.", "end ", "\ud800"],
)  # fmt: skip
def test_a_key_must_be_able_to_name_a_file(tmp_path, key):
    with pytest.raises(UsageError, match=r"key must (not )?be"):
        watched(tmp_path).add(*labels(0), key=key)
    assert list(tmp_path.iterdir()) == []


def test_numbers_of_numpy_are_keys_and_its_arrays_are_labels(tmp_path):
    monitor = watched(tmp_path, metric="f1_macro", labels=np.array([0, 1]))
    monitor.add(*labels(0), key=np.int64(7))
    assert [look.key for look in monitor.looks] == ["7"]


def test_the_metric_of_the_first_batch_is_that_of_all_looks(tmp_path):
    monitor = watched(tmp_path, metric=None, n_draws=100)
    truth, predictions = labels(0)
    monitor.add(truth, predictions, key=0)
    monitor.add(truth, pd.DataFrame(predictions), key=1)  # a frame is as good
    assert [monitor.at(number).metric for number in (1, 2)] == ["f1", "f1"]
    words = np.array(["ham", "spam"])
    other = watched(tmp_path / "words", metric=None, n_draws=100)
    other.add(words[truth], {name: words[one] for name, one in predictions.items()}, key=0)
    assert other.latest.metric == "f1_macro"


def test_a_batch_of_other_models_is_refused_before_it_is_written(tmp_path):
    with pytest.raises(UsageError, match="unknown model 'old'"):
        watched(tmp_path / "new").add([1], {"new": [1]}, key="a")
    with pytest.raises(UsageError, match="true labels with predictions by model"):
        watched(tmp_path / "new").add([1], key="a")
    with pytest.raises(UsageError, match="remove predictions="):
        watched(tmp_path / "new").add(outcomes(0), {"new": [1]}, key="a")
    assert not (tmp_path / "new").exists()


def test_before_the_first_batch(tmp_path):
    with pytest.raises(UsageError, match="does not exist"):
        _ = watched(tmp_path / "none").looks
    monitor = watched(tmp_path, stop="width")
    assert monitor.looks == ()
    assert monitor.stopped is None
    assert "no batch has arrived" in repr(monitor)
    assert "no batch has arrived" in str(monitor)
    assert "no batch has arrived" in monitor.report()
    assert monitor.to_dict()["comparison"] is None
    for ask in (lambda: monitor.latest, lambda: monitor.outcomes):
        with pytest.raises(DataError, match=r"no batch of .* has arrived"):
            ask()
    with pytest.raises(UsageError, match="nothing to plot yet"):
        monitor.plot()


def test_looks_without_an_answer_wait_for_the_next_batch(tmp_path):
    monitor = watched(tmp_path, metric="accuracy")
    monitor.add([1, 1], both([1, 1]), key="ones")
    assert monitor.looks == ()
    assert "no result yet" in repr(monitor)
    monitor.add(*labels(0), key="both")
    assert [look.number for look in monitor.looks] == [2]
    (said,) = [one for one in monitor.findings if one.name == "looks_left_out"]
    assert "ones (only the class 1 occurs" in said.message


def test_classes_named_at_the_beginning_need_not_have_occurred(tmp_path):
    monitor = watched(tmp_path, pos_label=1, metric="recall")
    monitor.add([0, 0], both([0, 0]), key="zeros")
    assert len(monitor.looks) == 1
    macro = watched(tmp_path, metric="f1_macro", labels=[0, 1, 2])
    macro.add([2, 1], both([2, 1]), key="others")
    assert len(macro.looks) == 2
    assert "classes_grew" not in {one.name for one in macro.findings}
    assert "classes_grew" in {one.name for one in watched(tmp_path, metric="accuracy",
        labels=[0, 1]).findings}  # fmt: skip


# When it stops


def test_by_width(tmp_path):
    monitor = filled(tmp_path, stop=("width", 0.1))
    widths = [look.hdi.width for look in monitor.looks]
    first = next(place for place, width in enumerate(widths) if width <= 0.1)
    assert [look.holds for look in monitor.looks] == [width <= 0.1 for width in widths]
    assert monitor.stopped is not None
    assert monitor.stopped.number == first + 1 > 1


def test_a_width_that_is_just_reached_stops(tmp_path):
    width = filled(tmp_path, 2).looks[1].hdi.width
    holds = [look.holds for look in watched(tmp_path, stop=("width", width)).looks]
    assert holds == [False, True]


def test_every_look_judges_as_a_gate_does(tmp_path):
    monitor = filled(tmp_path, metric="accuracy", rope=0.3)
    for look in monitor.looks:
        gate = op.gate(
            sum_of(look.number), *NAMES,
            metric="accuracy", rope=0.3, n_draws=1_000,
            random_state=np.random.SeedSequence(0, spawn_key=(look.number,)),
        )  # fmt: skip
        assert look.status is gate.status is op.results.GateStatus.PASS
        assert look.decision is op.Decision.EQUIVALENT  # no gate that asks for better would pass


def sum_of(n_batches):
    """Return the outcomes of the first batches."""
    seen = outcomes(0)
    for number in range(1, n_batches):
        seen = seen + outcomes(number)
    return seen


def test_a_decision_at_the_first_look_was_not_waited_for(tmp_path):
    monitor = watched(tmp_path, stop="decision")
    monitor.add(*labels(0, n=2_000, right=(0.95, 0.6)), key=0)
    assert monitor.stopped.number == 1
    assert "stopped_by_decision" not in [one.name for one in monitor.findings]
    later = watched(tmp_path / "later", stop="decision")
    for number, size in enumerate((20, 2_000)):
        later.add(*labels(number, n=size, right=(0.95, 0.6)), key=number)
    assert later.stopped.number == 2
    (said,) = [one for one in later.findings if one.name == "stopped_by_decision"]
    assert "checked 2 times" in said.message
    assert "looks_after_stop" not in [one.name for one in later.findings]


def test_a_bayes_factor_beyond_the_draws_that_is_large_enough_raises_no_finding(tmp_path):
    monitor = watched(tmp_path, stop=("bayes_factor", 5))
    monitor.add(*labels(0, n=2_000, right=(0.95, 0.6)), key=0)
    (look,) = monitor.looks
    assert look.bayes_factor.bound is not None
    assert look.holds
    said = [one.message for one in monitor.findings if one.name == "monte_carlo_too_coarse"]
    assert not any("larger Bayes factor" in message for message in said)


def test_by_decision_and_what_comes_after_does_not_unsay_it(tmp_path):
    monitor = filled(tmp_path, stop="decision")
    stopped = monitor.stopped
    assert stopped is not None
    assert stopped.decision is op.Decision.BETTER
    for number in range(10, 14):  # now the other one is better
        monitor.add(*labels(number, right=(0.6, 0.95)), key=number)
    assert monitor.looks[-1].decision is op.Decision.UNDECIDED
    assert "batches_differ" in {one.name for one in monitor.findings}
    assert monitor.stopped == stopped == watched(tmp_path, stop="decision").stopped
    names = [one.name for one in monitor.findings]
    assert "looks_after_stop" in names
    assert ("stopped_by_decision" in names) is (stopped.number > 1)
    assert monitor.to_dict()["comparison"]["n"] == stopped.n


def test_by_bayes_factor_either_way(tmp_path):
    monitor = filled(tmp_path / "far", stop=("bayes_factor", 20), n_draws=20_000)
    assert monitor.stopped is not None
    assert monitor.stopped.bayes_factor.bf10 >= 20
    few = watched(tmp_path / "far", stop=("bayes_factor", 200))
    assert few.stopped is None
    (said,) = [one for one in few.findings if one.name == "monte_carlo_too_coarse"]
    assert "larger Bayes factor" in said.message
    same = watched(tmp_path / "same", stop=("bayes_factor", 5), rope=0.05, metric="accuracy")
    truth = [0, 1] * 500
    same.add(truth, both([0, 1] * 450 + [1, 0] * 50), key=1)
    same.add(truth, {"new": [0, 1] * 450 + [1, 0] * 50, "old": [1, 0] * 50 + [0, 1] * 450}, key=2)
    factors = [look.bayes_factor.bf01 for look in same.looks]
    assert [look.holds for look in same.looks] == [factor >= 5 for factor in factors]
    assert same.looks[-1].holds


def test_defaults_of_the_rules(tmp_path):
    monitor = filled(tmp_path, stop="width", rope=(-0.02, 0.03))
    assert monitor.to_dict()["stop"] == {"rule": "width", "at": pytest.approx(0.04)}
    factor = watched(tmp_path, stop="bayes_factor")
    assert factor.to_dict()["stop"] == {"rule": "bayes_factor", "at": 10.0}
    assert watched(tmp_path, stop="decision").to_dict()["stop"] == {"rule": "decision", "at": None}
    assert watched(tmp_path).to_dict()["stop"] is None


def test_a_withheld_decision_never_stops(tmp_path):
    same = [0, 1] * 100
    for rule in ("width", "decision"):
        monitor = watched(tmp_path, stop=rule, prior="bootstrap", metric="accuracy")
        monitor.add(same, both(same), key="a")
        (look,) = monitor.looks
        assert look.hdi.width == 0
        assert not look.holds


@each(
    ("stop", "match"),
    [
        ("widht", "did you mean 'width'"),
        (("width", 0), "the width to stop at must be above 0; got 0"),
        (("width", math.nan), "must be above 0; got nan"),
        (("bayes_factor", 1), "the bayes factor to stop at must be above 1"),
        (("decision", 1), "remove 1"),
        (0.02, "stop must be one of width, decision, bayes_factor, anytime, a pair"),
    ],
)
def test_rules_that_are_none(tmp_path, stop, match):
    with pytest.raises(UsageError, match=match):
        watched(tmp_path, stop=stop)


def test_no_bayes_factor_no_stop_by_it(tmp_path):
    monitor = filled(tmp_path, 1, stop="bayes_factor", prior="bootstrap")
    with pytest.raises(UsageError, match="a Bayes factor needs a ROPE"):
        _ = monitor.looks


def test_no_rope_no_default_width(tmp_path):
    with pytest.raises(UsageError, match=r"but the ROPE is ±0; set a width such as \('width', 0"):
        _ = filled(tmp_path, 1, stop="width", rope=0).looks
    assert watched(tmp_path, stop=("width", 0.9), rope=0).stopped is not None


def test_two_different_models(tmp_path):
    with pytest.raises(UsageError, match="two different models"):
        op.Monitor(tmp_path, "new", "new")


@pytest.mark.parametrize("number", [0, 3, True, 1.0])
def test_a_look_that_is_not_there(tmp_path, number):
    with pytest.raises(UsageError, match="number of a look must be from 1 to 2"):
        filled(tmp_path, 2).at(number)


# Words, tables, pictures


def test_tables_words_and_json(tmp_path):
    monitor = filled(tmp_path, stop=("width", 0.1))
    frame = monitor.to_frame()
    assert frame["n"].tolist() == [100, 200, 300, 400]
    assert frame["stop"].tolist().count("stop") == 1
    assert json.loads(json.dumps(monitor.to_dict()))["n_batches"] == 4
    assert f"stopped at look {monitor.stopped.number}, when the HDI is at most 0.1 wide" in str(
        monitor
    ).replace("\n", " ")
    assert "the stopping rule (the HDI is at most 0.1 wide) was met at look" in monitor.report()
    assert "without a stopping rule" in watched(tmp_path).report()
    assert "is not met yet" in watched(tmp_path, stop=("width", 0.001)).report()
    for text in (monitor.to_markdown(), monitor.to_latex(), monitor.to_html()):
        assert "400" in text


def test_the_figure_shows_every_look_and_the_stop(tmp_path):
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    monitor = filled(tmp_path, stop=("width", 0.1))
    ax = monitor.plot(ax=Figure().subplots())
    means = ax.get_lines()[1].get_ydata()
    np.testing.assert_allclose(means, [look.mean for look in monitor.looks])
    assert f"stop, look {monitor.stopped.number}" in [text.get_text() for text in ax.texts]


def test_hostile_keys_are_text(tmp_path):
    (tmp_path / "<b>$x_1$ [red].json").write_text(outcomes(0).to_json(), encoding="utf-8")
    monitor = watched(tmp_path)
    assert "<b>" not in monitor.to_html()
    assert "$x_1$" in plain(monitor._document().lines(Page(width=120)))
    assert [look.key for look in monitor.looks] == ["<b>$x_1$ [red]"]
