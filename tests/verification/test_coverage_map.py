"""The coverage map: its metrics are the field's, and what is known better stays."""

from __future__ import annotations

import json

import numpy as np
import pytest

import outperform as op
from outperform.posterior.base import Sums
from tests.lazily import lazily
from tests.loops import each
from verification import coverage_map
from verification.defaults import draw_items, true_margins

reference = lazily("sklearn.metrics")


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_metrics_are_those_of_scikit_learn(n_classes):
    generator = np.random.default_rng(1)
    truth = generator.integers(0, n_classes, 400)
    said = np.where(generator.random(400) < 0.7, truth, generator.integers(0, n_classes, 400))
    table = reference.confusion_matrix(truth, said)
    margins = Sums(
        *(one[:, None] for one in (np.diag(table), table.sum(axis=1), table.sum(axis=0)))
    )
    each = [
        score(truth, said, average=None)[-1]
        for score in (reference.precision_score, reference.recall_score, reference.f1_score)
    ]
    expected = [
        reference.accuracy_score(truth, said),
        reference.balanced_accuracy_score(truth, said),
        reference.precision_score(truth, said, average="macro"),
        reference.f1_score(truth, said, average="macro"),
        reference.jaccard_score(truth, said, average="macro"),
        reference.precision_score(truth, said, average="weighted"),
        reference.f1_score(truth, said, average="weighted"),
        reference.matthews_corrcoef(truth, said),
        reference.cohen_kappa_score(truth, said),
        *each,
    ]
    assert coverage_map.values_of(margins)[:, 0] == pytest.approx(expected, abs=1e-12)


# Correlation of right and wrong; classes that are easier for both make some of their own.
TOGETHER = {
    "usual": (0.4, 0.9),
    "independent": (-0.05, 0.05),
    "close": (0.8, 1.0),
    "opposed": (-1.0, -0.2),
}


@pytest.mark.parametrize("place", [3, 7, 11, 15])
def test_the_truth_is_what_many_items_show_and_errors_go_together_as_said(place):
    world = coverage_map.WORLDS[place]
    drawn = draw_items(world, 0, np.random.default_rng(2))
    truth = [coverage_map.values_of(one)[0, 0] for one in true_margins(world, 0)]
    right = [drawn[0] == one for one in drawn[1:]]
    error = np.sqrt(0.25 / world.n)
    assert [one.mean() for one in right] == pytest.approx(truth, abs=4 * error)
    together = np.corrcoef(*right)[0, 1]
    low, high = TOGETHER[world.kind]
    assert low < together < high


@pytest.mark.parametrize("n_classes", [2, 4])
def test_metrics_are_drawn_as_compare_draws_them(n_classes):
    generator = np.random.default_rng(5)
    y = generator.integers(0, n_classes, 150)
    a, b = (
        np.where(generator.random(150) < right, y, generator.integers(0, n_classes, 150))
        for right in (0.8, 0.6)
    )
    drawn = coverage_map.draw_default(y, a, b, n_classes, generator)
    for metric, row in zip(coverage_map.METRICS, drawn[0] - drawn[1], strict=True):
        one = {"pos_label": n_classes - 1} if metric in ("precision", "recall", "f1") else {}
        labels = list(range(n_classes))
        c = op.compare(y, a, b, metric=metric, rope=0.01, labels=labels, random_state=1, **one)
        assert row.mean() == pytest.approx(c.mean, abs=4 * c.sd / np.sqrt(row.size))
        # The error of a standard deviation of 1,000 draws is 2.2%; tails that are not normal, 4%.
        assert row.std() == pytest.approx(c.sd, rel=0.16)


def test_every_setting_has_its_own_name():
    names = [coverage_map.key(world) for world in coverage_map.WORLDS]
    assert len(set(names)) == len(names) == 192
    assert 192 * len(coverage_map.METRICS) == 2_304


def test_what_is_known_better_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(coverage_map, "RESULTS", tmp_path / "map.json")
    world = coverage_map.WORLDS[0]
    held = coverage_map.repeat(world, 0, 3)
    known = coverage_map.merge(coverage_map.count({world: held}, "abc"))
    one = known[coverage_map.key(world)]
    assert (one["repetitions"], one["commit"]) == (3, "abc")
    assert one["default"]["difference"] == np.sum(held, axis=0)[0, 1].astype(int).tolist()
    (tmp_path / "map.json").write_text(coverage_map.stored(known), encoding="utf-8")
    fewer = coverage_map.count({world: held[:2]}, "def")
    assert coverage_map.merge(fewer) == known == json.loads(coverage_map.stored(known))
    assert coverage_map.table(known).count("\n") == 5


def test_settings_with_few_test_sets_stand_apart():
    n = len(coverage_map.METRICS)

    def one(repetitions, held):
        shares = {"level": [held] * n, "difference": [held] * n}
        return {"repetitions": repetitions} | dict.fromkeys(coverage_map.WAYS, shares)

    worlds = [world for world in coverage_map.WORLDS if world.n == 30 and world.n_classes == 20]
    known = dict(zip(map(coverage_map.key, worlds), (one(1_000, 940), one(20, 15)), strict=False))
    *_, whole, few, _, note = coverage_map.table(known).splitlines()
    assert whole.startswith("| 20 | < 40 | 12 | 1,000 | 94.0 (94–94) |")
    assert few.startswith("| 20 | < 40 | 12 | 20 | 75.0 (75–75) |")
    assert note.endswith("12 of 2,304 settings have 1,000 test sets each.")


def test_intervals_that_hold_too_rarely_fail():
    world = coverage_map.WORLDS[1]
    n = len(coverage_map.METRICS)
    one = {"repetitions": 1_000, "default": {"level": [950] * n, "difference": [950] * n}}
    known = {coverage_map.key(world): one}
    assert coverage_map.failures(known) == []
    one["default"]["difference"][3] = 890
    (failed,) = coverage_map.failures(known)
    assert failed == "difference of f1_macro, 2 even 200 typical: 0.890"


SHIPPED = json.loads(coverage_map.SHIPPED.read_text(encoding="utf-8"))


def shipped_key(line):
    return f"{line['classes']} {line['balance']} {line['items']} {line['dependence']}"


def test_the_package_ships_what_was_found():
    known = json.loads(coverage_map.RESULTS.read_text(encoding="utf-8"))
    assert tuple(SHIPPED["metrics"]) == coverage_map.METRICS
    found = {
        shipped_key(one): {
            "repetitions": one["repetitions"],
            **{of: one[of] for of in coverage_map.OF},
        }
        for one in SHIPPED["settings"]
    }
    assert found == {
        name: {"repetitions": one["repetitions"], **one["default"]} for name, one in known.items()
    }


@each("place", [0, 21, 62, 100, 160, 188])
def test_what_a_shipped_setting_looks_like_is_what_its_test_sets_do(place):
    world = coverage_map.WORLDS[place]
    (line,) = (one for one in SHIPPED["settings"] if shipped_key(one) == coverage_map.key(world))
    described = coverage_map.described(world)
    assert {name: line[name] for name in described} == pytest.approx(described, abs=1e-3)
    # The first of them, by scikit-learn.
    sets = [
        draw_items(world, k, np.random.default_rng([coverage_map.SEED, place, k]))
        for k in range(24)
    ]
    together = [reference.matthews_corrcoef(y == a, y == b) for y, a, b in sets]
    right = [np.mean([y == a, y == b]) for y, a, b in sets]
    assert line["correlation"] == pytest.approx(np.mean(together), abs=1e-3)
    assert line["right"] == pytest.approx(np.mean(right), abs=1e-3)


def test_a_file_is_written_as_it_is_shipped():
    world = coverage_map.WORLDS[1]
    known = json.loads(coverage_map.RESULTS.read_text(encoding="utf-8"))
    text = coverage_map.shipped({coverage_map.key(world): known[coverage_map.key(world)]})
    assert json.loads(text)["settings"] == [SHIPPED["settings"][1]]


# Of few items or classes the balance and the dependence may look otherwise by chance.
TOLD = [
    place for place, one in enumerate(coverage_map.WORLDS) if one.n == 2_000 and one.n_classes >= 10
]


@each("place", TOLD[::6])
def test_a_test_set_of_a_setting_finds_it(place):
    world = coverage_map.WORLDS[place]
    y, a, b = draw_items(world, 1_000, np.random.default_rng(place))
    asked = {"metric": "accuracy", "rope": 0.01, "n_draws": 100, "random_state": 1}
    c = op.compare(y, a, b, labels=list(range(world.n_classes)), **asked)
    found = c.expected_coverage().setting
    assert shipped_key(found._asdict()) == coverage_map.key(world)


FOUND = json.loads(coverage_map.RESULTS.read_text(encoding="utf-8"))
MACRO = coverage_map.METRICS.index("f1_macro")
WORST = {
    world: min(one["default"][of][MACRO] for of in coverage_map.OF) / one["repetitions"]
    for world in coverage_map.WORLDS
    for one in [FOUND.get(coverage_map.key(world))]
    if one is not None and one["repetitions"] >= 1_000
}


def test_no_interval_of_macro_f1_holds_in_less_than_90_percent():
    assert len(WORST) >= 125
    assert min(WORST.values()) >= 0.9


def test_settings_in_which_intervals_hold_too_rarely_are_warned_of():
    poor = [world for world, share in WORST.items() if share < 0.92]
    assert poor
    for world in poor:
        y, a, b = draw_items(world, 2_000, np.random.default_rng(4))
        c = op.compare(
            *(y, a, b),
            metric="f1_macro",
            rope=0.02,
            labels=list(range(world.n_classes)),
            n_draws=200,
            random_state=1,
        )
        found = {one.name for one in c.findings}
        assert found & {"sparse_classes", "few_disagreements"}, coverage_map.key(world)
