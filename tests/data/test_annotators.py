"""Several annotators: three truths, agreement, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import outperform as op
from outperform.data.annotators import agreement
from outperform.errors import DataError, UsageError
from tests.loops import each

N = 400


def world(seed, *, n=N, right=(0.85, 0.8, 0.75, 0.7), missing=0.15):
    rng = np.random.default_rng(seed)
    true = (rng.random(n) < 0.4).astype(int)
    said = [np.where(rng.random(n) < share, true, 1 - true) for share in (*right, 0.92, 0.82)]
    given = np.stack(said[: len(right)], axis=1).astype(float)
    given[:, 1:][rng.random((n, len(right) - 1)) < missing] = np.nan
    return true, given, {"a": said[-2], "b": said[-1]}


def accuracy(given, models, truth, **asked):
    seen = op.Outcomes.from_annotators(given, models, truth=truth)
    return op.compare(seen, "a", "b", metric="accuracy", rope=0.02, random_state=0, **asked)


def test_against_a_random_annotator_it_is_the_mean_share_that_agrees():
    _, given, models = world(1)
    c = accuracy(given, models, "random")
    shares = {name: [] for name in models}
    for name, said in models.items():
        for row, one in zip(given, said, strict=True):
            there = row[~np.isnan(row)]
            shares[name].append((there == one).mean())
    assert c.a.observed == pytest.approx(np.mean(shares["a"]), rel=1e-12)
    plain = op.compare(op.Scores.from_values(shares), "a", "b", rope=0.02, random_state=0)
    assert c.observed == pytest.approx(plain.observed, abs=1e-12)
    assert c.sd == pytest.approx(plain.sd, rel=0.03)  # 20,000 draws each


def test_against_the_majority_ties_share_the_item():
    given = [["x", "x", "y"], ["x", "y", None], ["y", "y", "y"], ["z", "x", "y"]]
    seen = op.Outcomes.from_annotators(given, {"m": ["x", "x", "x", "y"]}, truth="majority")
    found = op.estimate(seen, "m", metric="accuracy", random_state=0)
    assert found.observed == pytest.approx((1 + 1 / 2 + 0 + 1 / 3) / 4)
    assert "On 2 items, tied labels share the item" in str(seen.findings[-1])
    even = op.Outcomes.from_annotators([[1, 1, 0], [0, 0, 0]], {"m": [1, 1]}, truth="majority")
    assert even.n == 2
    assert not even.weighted


def test_a_latent_truth_takes_the_annotators_errors_out():
    """By the majority both models look worse than they are, and so does their difference."""
    true, given, models = world(2, n=3_000)
    gold = [float((said == true).mean()) for said in models.values()]
    c = accuracy(given, models, "latent")
    for found, right in zip((c.a, c.b), gold, strict=True):
        assert found.mean == pytest.approx(right, abs=4 * found.sd)
    by_majority = accuracy(given, models, "majority")
    assert by_majority.a.mean < gold[0] - 4 * by_majority.a.sd


def test_the_interval_is_that_of_fits_to_resampled_items():
    """The sd is that of the whole estimate, error rates included, over bootstrap samples."""
    _, given, models = world(3, n=300)
    c = accuracy(given, models, "latent")
    rng, found = np.random.default_rng(0), []
    for _ in range(200):
        rows = rng.integers(0, 300, 300)
        again = {name: said[rows] for name, said in models.items()}
        seen = op.Outcomes.from_annotators(given[rows], again, truth="latent")
        table = seen.tables[0].in_weights()
        counts = table.counts.astype(float)
        a, b = counts @ (table.cells[:, :1] == table.cells[:, 1:]) / counts.sum()
        found.append(a - b)
    error = 4 / np.sqrt(2 * 200)  # of a standard deviation from 200 samples
    assert c.sd == pytest.approx(np.std(found), rel=error + 0.05)


def test_every_items_numbers_add_up_to_one_and_their_mean_is_the_fit():
    _, given, models = world(4)
    seen = op.Outcomes.from_annotators(given, models, truth="latent")
    groups = seen.tables[0].groups
    sizes = np.bincount(groups.pattern, groups.times)
    assert sizes == pytest.approx(np.ones(len(sizes)), abs=1e-6)
    assert (groups.amounts(n_cells=len(seen.tables[0].cells)) > 0).all()


@pytest.mark.parametrize("seed", range(3))
def test_alpha_is_that_of_krippendorff(seed):
    krippendorff = pytest.importorskip("krippendorff")
    rng = np.random.default_rng(seed)
    given = (rng.integers(0, 3, (80, 1)) + rng.integers(0, 3, (80, 5)) // 2) % 3
    given[rng.random(given.shape) < 0.3] = -1
    given[:, 0] = np.maximum(given[:, 0], 0)
    theirs = krippendorff.alpha(
        np.where(given < 0, np.nan, given).T, level_of_measurement="nominal"
    )
    ours = agreement(given, 3)
    assert ours.alpha == pytest.approx(theirs, abs=1e-9)
    assert ours.low < ours.alpha < ours.high


def test_the_interval_of_alpha_is_as_wide_as_samples_of_items_differ():
    _, given, _ = world(5)
    codes = np.where(np.isnan(given), -1, given).astype(int)
    rng = np.random.default_rng(0)
    many = [agreement(codes[rng.integers(0, N, N)], 2).alpha for _ in range(200)]
    ours = agreement(codes, 2)
    assert (ours.high - ours.low) / 3.92 == pytest.approx(np.std(many), rel=4 / np.sqrt(400))


def test_no_accuracy_against_random_annotators_is_above_the_ceiling():
    _, given, _ = world(6)
    codes = np.where(np.isnan(given), -1, given).astype(int)
    majority = (np.nanmean(given, axis=1) >= 0.5).astype(int)
    c = accuracy(given, {"a": majority, "b": 1 - majority}, "random")
    assert c.a.observed == pytest.approx(agreement(codes, 2).most)
    pairs = []
    for row in codes:
        there = row[row >= 0]
        if len(there) > 1:
            same = there[:, None] == there[None]
            pairs.append((same.sum() - len(there)) / (len(there) * (len(there) - 1)))
    assert agreement(codes, 2).pairs == pytest.approx(np.mean(pairs))


def test_what_says_nothing_of_a_truth_is_refused():
    _, given, models = world(7)
    with pytest.raises(DataError, match="three annotators"):
        op.Outcomes.from_annotators(given[:, :2], models, truth="latent")
    noise = np.random.default_rng(0).integers(0, 2, (N, 4))
    with pytest.raises(DataError, match="no more than expected by chance"):
        op.Outcomes.from_annotators(noise, models, truth="latent")
    with pytest.raises(UsageError, match="truth"):
        op.Outcomes.from_annotators(given, models, truth="gold")
    with pytest.raises(DataError, match="one per annotator"):
        op.Outcomes.from_annotators([1, 0], {"a": [1, 0]}, truth="random")
    with pytest.raises(DataError, match="no label, the first in row 1"):
        op.Outcomes.from_annotators([[1, 0], [None, None]], {"a": [1, 0]}, truth="random")
    with pytest.raises(DataError, match="same items"):
        op.Outcomes.from_annotators([[1, 0], [1, 1]], {"a": [1]}, truth="random")
    many = {"a": np.arange(N) % 20, "b": np.arange(N) % 19}
    wide = np.stack([np.arange(N) % 20] * 3, axis=1)
    with pytest.raises(UsageError, match="parameters"):
        op.Outcomes.from_annotators(wide, many, truth="latent")
    with pytest.raises(UsageError, match="cannot be stored"):
        op.Outcomes.from_annotators(given, models, truth="latent").to_json()


def test_a_frame_and_texts_are_read_alike():
    frame = pd.DataFrame({"ann": ["x", "y", "x"], "bob": ["x", None, "y"]})
    seen = op.Outcomes.from_annotators(frame, {"m": ["x", "x", "x"]}, truth="random")
    found = op.estimate(seen, "m", metric="accuracy", random_state=0)
    assert found.observed == pytest.approx((1 + 0 + 0.5) / 3)


# A row for each label

PREDICTED = {"a": [1, 0, 1, 1], "b": [0, 0, 1, 0]}
MATRIX = [[1, 1, 0], [0, None, 0], [1, None, None], [0, 1, 1]]
IDS = ["p", "q", "r", "s"]


def long_rows(matrix, ids, *, seed=0):
    """Return a row for each label, in any order."""
    names = ["ann", "bob", "eve", "joe"]
    rows = [
        (item, names[k], label)
        for item, given in zip(ids, matrix, strict=True)
        for k, label in enumerate(given)
        if label is not None and label == label
    ]
    order = np.random.default_rng(seed).permutation(len(rows))
    columns = zip(*(rows[place] for place in order), strict=True)
    return dict(zip(("item", "annotator", "label"), map(list, columns), strict=True))


@pytest.mark.parametrize("truth", ["random", "majority"])
def test_a_row_for_each_label_is_the_same_as_a_matrix(truth):
    seen = op.Outcomes.from_annotators(MATRIX, PREDICTED, truth=truth)
    rows = long_rows(MATRIX, IDS)
    assert op.Outcomes.from_annotators(rows, PREDICTED, truth=truth, ids=IDS) == seen
    frame = pd.DataFrame(rows | {"seconds": 1.5})  # other columns do not matter
    assert op.Outcomes.from_annotators(frame, PREDICTED, truth=truth, ids=IDS) == seen
    polars = pytest.importorskip("polars")
    ids = polars.Series(IDS)
    table = polars.DataFrame(rows)
    assert op.Outcomes.from_annotators(table, PREDICTED, truth=truth, ids=ids) == seen


def test_a_latent_truth_of_rows_is_that_of_the_matrix():
    _, given, models = world(8, n=200)
    ids = np.arange(1_000, 1_200)
    seen = op.Outcomes.from_annotators(given, models, truth="latent")
    rows = long_rows(given.tolist(), ids.tolist(), seed=3)
    found = op.Outcomes.from_annotators(rows, models, truth="latent", ids=ids)
    kept = [np.array_equal(one.tables[0].cells, seen.tables[0].cells) for one in (found, seen)]
    assert kept == [True, True]
    # Annotators stand in another order, so sums are rounded differently.
    ours, theirs = (one.tables[0].in_weights().counts.astype(float) for one in (found, seen))
    assert ours == pytest.approx(theirs, rel=1e-5)


def test_predictions_with_an_index_follow_that_of_the_ids():
    rows = long_rows(MATRIX, IDS)
    turned = [2, 0, 3, 1]
    frame = pd.DataFrame(PREDICTED, index=list("wxyz")).iloc[turned]
    ids = pd.Series(IDS, index=list("wxyz"))
    found = op.Outcomes.from_annotators(rows, frame, truth="random", ids=ids)
    seen = op.Outcomes.from_annotators(MATRIX, PREDICTED, truth="random")
    assert np.array_equal(found.confusion("a"), seen.confusion("a"))
    assert np.array_equal(found.confusion("b"), seen.confusion("b"))


def test_a_missing_label_is_no_label():
    rows = long_rows(MATRIX, IDS)
    rows = {"item": [*rows["item"], "r"], "annotator": [*rows["annotator"], "bob"],
            "label": [*rows["label"], None]}  # fmt: skip
    seen = op.Outcomes.from_annotators(MATRIX, PREDICTED, truth="random")
    assert op.Outcomes.from_annotators(rows, PREDICTED, truth="random", ids=IDS) == seen


def changed(column, place, value):
    rows = long_rows(MATRIX, IDS)
    rows[column][place] = value
    return rows


@each(
    ("rows", "ids", "words"),
    [
        (changed("item", 2, "z"), IDS, r"item 'z' in row 2 .* not in"),
        (changed("item", 2, None), IDS, "no item or annotator in row 2"),
        (changed("annotator", 0, float("nan")), IDS, "no item or annotator in row 0"),
        (
            {one: [*v, v[0]] for one, v in long_rows(MATRIX, IDS).items()},
            IDS,
            "twice, the second time in",
        ),
        (long_rows(MATRIX, IDS) | {"label": [1]}, IDS, "the same length"),
        ({"item": ["p"], "label": [1]}, IDS, r"the columns item, .*got \['item', 'label'\]"),
        (MATRIX, IDS, "the columns item"),
        (long_rows(MATRIX, IDS), None, "pass the item"),
        (pd.DataFrame(long_rows(MATRIX, IDS)), None, "pass the item"),
        ({"x": [1], "y": [2]}, None, "must be a matrix"),
        (long_rows(MATRIX, IDS), ["p", "q", "r", "r"], "every id must be unique"),
        (long_rows(MATRIX, IDS), 4, "ids"),
        (long_rows(MATRIX[:3], IDS[:3]), IDS, "no label, the first in row 3"),
        (long_rows(MATRIX, IDS), [*IDS, "t"], "no label"),
    ],
)
def test_rows_that_do_not_fit_are_refused(rows, ids, words):
    with pytest.raises((DataError, UsageError), match=words):
        op.Outcomes.from_annotators(rows, PREDICTED, truth="random", ids=ids)


# Shares of classes


def test_shares_of_classes_are_what_a_random_annotator_says():
    seen = op.Outcomes.from_annotators(MATRIX, PREDICTED, truth="random")
    votes = {0: [1, 2, 0, 1], 1: [2, 0, 1, 2]}
    found = op.Outcomes.from_annotators(votes, PREDICTED, truth="shares")
    for name in PREDICTED:
        asked = {"metric": "accuracy", "random_state": 0}
        one, other = (op.estimate(each, name, **asked) for each in (found, seen))
        assert one.observed == pytest.approx(other.observed)
        assert np.allclose(one.draws, other.draws)
    shares = {label: np.array(one) / [3, 2, 1, 3] for label, one in votes.items()}
    again = op.Outcomes.from_annotators(shares, PREDICTED, truth="shares")
    asked = {"metric": "f1", "random_state": 0}
    ours, theirs = (op.estimate(each, "a", **asked).observed for each in (again, found))
    assert ours == pytest.approx(theirs)
    assert "on more than 83.3% of the items" in str(found.findings[-1])  # (2/3 + 1 + 1 + 2/3) / 4


@each(
    ("shares", "words"),
    [
        (MATRIX, "one column of shares per class"),
        ({0: [1, 1, 1], 1: [0, 0, 0, 0]}, "number for each item and class"),
        ({0: [1, 1, 1, -0.1], 1: [0, 0, 0, 1]}, "number for each item and class"),
        ({0: [1, 1, 1, 0], 1: [0, 0, 0, 0]}, "at least one above 0 per item"),
        ({0: [1, 1, 1, None], 1: [0, 0, 0, 1]}, "number for each item and class"),
        ({0: ["x"] * 4, 1: [1] * 4}, "number for each item and class"),
        ({0: [1, 1], 1: [0, 1]}, "same items"),
    ],
)
def test_shares_that_do_not_fit_are_refused(shares, words):
    with pytest.raises((DataError, UsageError), match=words):
        op.Outcomes.from_annotators(shares, PREDICTED, truth="shares")
    with pytest.raises(UsageError, match="omit ids"):
        op.Outcomes.from_annotators({0: [1], 1: [2]}, PREDICTED, truth="shares", ids=IDS)


def test_weak_annotators_are_warned_of_and_good_ones_are_not():
    """At 65% alpha is about 0.09, three standard errors above 0; at 85% about 0.49."""
    rng = np.random.default_rng(4)
    warned = {0.65: 0, 0.85: 0}
    for _ in range(6):
        true = rng.random(500) < 0.4

        def labels(share, true=true):
            return np.where(rng.random(500) < share, true, ~true).astype(int)

        for right in warned:
            given = np.stack([labels(right) for _ in range(3)], axis=1)
            models = {"a": labels(0.85), "b": labels(0.8)}
            try:
                seen = op.Outcomes.from_annotators(given, models, truth="latent")
            except op.errors.DataError:
                continue  # no better than chance
            found = [one.level for one in seen.findings if one.name == "annotators_agree_little"]
            warned[right] += found == ["warning"]
    assert warned[0.65] >= 3
    assert warned[0.85] == 0
