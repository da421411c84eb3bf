"""Slices of items with several labels, and of sentences with spans."""

from __future__ import annotations

import numpy as np
import pytest

import outperform as op
from outperform.data.respelled import taken_as_right
from outperform.errors import DataError, UsageError
from tests.loops import each

RNG = np.random.default_rng(20_261_119)
N = 240
LANGUAGE = np.array(["de", "en", "fr"])[np.arange(N) % 3]
AB = ("a", "b")


def sets_of(kept=None, **known):
    """Return label sets of two models and a third, of some items."""
    kept = np.arange(N) if kept is None else kept
    rng = np.random.default_rng(1)
    truth = rng.random((N, 3)) < 0.4
    columns = [truth, *(truth ^ (rng.random(truth.shape) < wrong) for wrong in (0.1, 0.15, 0.4))]
    gold, *said = [
        [set(np.flatnonzero(row).tolist()) for row in column[kept]] for column in columns
    ]
    return op.Outcomes.from_label_sets(gold, dict(zip("abc", said, strict=True)), **known)


def spans_of(kept=None, **known):
    """Return spans of two models and a third that invents a type, of some sentences."""
    rng = np.random.default_rng(2)
    gold, models = [], {"a": [], "b": [], "c": []}
    for _ in range(N):
        true = [(k, k + 1, ("LOC", "PER")[k % 2]) for k in np.flatnonzero(rng.random(8) < 0.2)]
        gold.append(true)
        for m, missed in zip("ab", (0.1, 0.3), strict=True):
            own = [one for one in true if rng.random() > missed]
            models[m].append(own + ([(20, 21, "PER")] if rng.random() < 0.2 else []))
        models["c"].append([(30, 31, "ORG")])
    kept = range(N) if kept is None else kept
    chosen = {m: [one[k] for k in kept] for m, one in models.items()}
    return op.Outcomes.from_spans([gold[k] for k in kept], chosen, **known)


@each(
    ("make", "asked"),
    [
        *((sets_of, {"metric": metric}) for metric in ("f1_micro", "f1_macro", "f1_samples")),
        (sets_of, {"metric": "accuracy"}),
        (sets_of, {"metric": "hamming_loss"}),
        (sets_of, {"metric": "f1", "pos_label": 1}),
        (sets_of, {"metric": "f1_micro", "labels": [0, 2]}),
        *((spans_of, {"metric": metric}) for metric in ("f1", "recall", "f1_macro")),
        (spans_of, {"metric": "f1", "pos_label": "LOC"}),
        (spans_of, {"metric": "f1_micro", "labels": ["PER"]}),
    ],
)
def test_each_slice_is_what_its_own_outcomes_are(make, asked):
    seen = make(by={"language": LANGUAGE})
    found = op.compare_slices(seen, *AB, rope=0.02, random_state=1, n_draws=4_000, **asked)
    assert [row.key for row in sorted(found.rows, key=lambda row: row.key)] == [
        ("de",), ("en",), ("fr",)
    ]  # fmt: skip
    for row in found.rows:
        own = make(np.flatnonzero(row.key[0] == LANGUAGE))
        alone = op.compare(own, *AB, rope=0.02, n_draws=4_000, random_state=2, **asked)
        assert row.observed == pytest.approx(alone.observed)
        for ours, theirs in (
            (row.unpooled_hdi.low, alone.hdi.low),
            (row.unpooled_hdi.high, alone.hdi.high),
        ):
            assert ours == pytest.approx(theirs, abs=0.3 * alone.sd)
        # Pulled toward the others, which differ by chance only.
        assert row.hdi.width < row.unpooled_hdi.width
    whole = op.compare(make(), *AB, rope=0.02, random_state=1, **asked)
    assert found.whole.observed == pytest.approx(whole.observed)


@pytest.mark.parametrize("make", [sets_of, spans_of])
def test_slices_are_written_added_up_and_taken_out(make):
    seen = make(by={"language": LANGUAGE})
    assert op.Outcomes.from_json(seen.to_json()) == seen
    first, last = (
        make(part, by={"language": LANGUAGE[part]}) for part in (range(90), range(90, N))
    )
    assert (first + last).slices.n.tolist() == seen.slices.n.tolist()
    assert (first + last).to_dict()["slices"] == seen.to_dict()["slices"]
    for key in ("de", "en", "fr"):
        own = make(np.flatnonzero(key == LANGUAGE))
        for model in "abc":
            for ours, theirs in zip(
                seen.slice(key).margins(model), own.margins(model), strict=True
            ):
                assert ours.sum() == theirs.sum()
    pair = seen.select(["b", "a"])
    assert sum(pair.slices.n) == pair.tables[0].n
    assert pair.slices.table.cells[:, 1:].max() < len(pair.sets or (*pair.labels, None))


@pytest.mark.parametrize("make", [sets_of, spans_of])
def test_groups_across_slices_move_them_together(make):
    groups = np.arange(N) // 6  # each in all three languages
    seen = make(by={"language": LANGUAGE}, groups=groups)
    metric = "f1_micro" if make is sets_of else "f1"
    found = op.compare_slices(seen, *AB, metric=metric, rope=0.02, random_state=1)
    for row in found.rows:
        kept = np.flatnonzero(row.key[0] == LANGUAGE)
        alone = op.compare(make(kept, groups=groups[kept]), *AB, metric=metric, rope=0.02)
        assert row.observed == pytest.approx(alone.observed)
        assert row.unpooled_hdi.width == pytest.approx(alone.hdi.width, rel=0.1)


def test_files_with_several_labels_a_field_keep_their_slices():
    texts = ["x|y", "x", "", "y|z", "z", "x|z"] * 20
    noisy = [text if k % 5 else "y" for k, text in enumerate(texts)]
    worse = [text if k % 3 else "z" for k, text in enumerate(texts)]
    by = {"day": [f"d{k % 4}" for k in range(len(texts))]}
    seen = op.Outcomes.from_labels(texts, {"a": noisy, "b": worse}, by=by).split_labels("|")

    def split(column):
        return [set(text.split("|")) - {""} for text in column]

    same = op.Outcomes.from_label_sets(split(texts), {"a": split(noisy), "b": split(worse)}, by=by)
    assert seen == same
    found = op.compare_slices(seen, *AB, metric="f1_micro", rope=0.05, n_draws=500)
    assert len(found.rows) == 4


@pytest.mark.parametrize("make", [sets_of, spans_of])
def test_what_is_never_true_is_taken_as_right_in_every_slice(make):
    seen = make(by={"language": LANGUAGE})
    code = seen.labels.index("ORG" if make is spans_of else 2)
    meant = {2: {code: None}}
    if make is spans_of:
        changed = taken_as_right(seen, meant)
    else:  # the label counts as never true for this model
        changed = taken_as_right(seen, {0: {code: None}})
    place = 2 if make is spans_of else 0
    for key in ("de", "en", "fr"):
        own = make(np.flatnonzero(key == LANGUAGE))
        own_code = own.labels.index("ORG" if make is spans_of else 2)
        alone = taken_as_right(own, {place: {own_code: None}})
        for model in "abc":
            ours, theirs = changed.slice(key).margins(model), alone.margins(model)
            assert [one.sum() for one in ours] == [one.sum() for one in theirs]
    assert [one.sum() for one in changed.margins("abc"[place])] != [
        one.sum() for one in seen.margins("abc"[place])
    ]


def test_a_column_of_another_length_and_too_many_slices_are_refused():
    with pytest.raises(DataError):
        spans_of(by={"language": LANGUAGE[:-1]})
    with pytest.raises(DataError):
        sets_of(by={"language": LANGUAGE[:-1]})
    many = op.Outcomes.from_label_sets(
        [{1}] * 400, {"a": [{1}] * 400, "b": [set()] * 400}, by={"k": np.arange(400)}
    )
    with pytest.raises(UsageError, match="too many"):
        op.compare_slices(many, *AB, metric="f1_micro", rope=0.02)
    with pytest.raises(UsageError, match="no slices"):
        op.compare_slices(spans_of(), *AB, rope=0.02)
