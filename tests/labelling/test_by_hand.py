"""Allocation and order of labels from small tables that are worked out by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import outperform as op
from outperform.data.pool import Pool
from outperform.inference.spec import counted
from outperform.labelling import allocate, guessed_truths, interleave, least, needs

CELLS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])


def asked(metric, labels=(0, 1)):
    answers = list(itertools.product(labels, labels))
    columns = {name: [pair[place] for pair in answers] for place, name in enumerate("AB")}
    seen = op.Outcomes.from_pool([], columns, which=[])
    return counted(op.compare(seen, "A", "B", metric=metric, rope=0.01, n_draws=100).spec)


def test_guesses_of_three_classes():
    """Shares of the answers of both: (3 + 3 + 2) / 20 = 0.4, (2 + 4) / 20 = 0.3, (4 + 2) / 20."""
    cells = np.array([[0, 0], [0, 1], [1, 1], [2, 0], [2, 2]])
    sizes = np.array([2.0, 2.0, 2.0, 2.0, 2.0])
    shares = np.array([4, 3, 3]) / 10
    found = guessed_truths(cells, sizes, n_classes=3, a_right=0.7)
    expected = [
        0.1 * shares + [0.9, 0, 0],  # both say 0, and are right nine times in ten
        [0.9 * 0.7, 0.9 * 0.3, 0.1],  # A is right rather than B; the third class gets the rest
        0.1 * shares + [0, 0.9, 0],
        [0.9 * 0.3, 0.1, 0.9 * 0.7],
        0.1 * shares + [0, 0, 0.9],
    ]
    np.testing.assert_allclose(found, expected)


def test_what_accuracy_needs_of_two_classes():
    """Where they differ, y = a is worth +1/N and y = b is worth −1/N, for each guess of who is."""
    sizes = np.array([50, 30, 10, 10])
    found = needs(asked("accuracy"), Pool(cells=CELLS, counts=sizes))
    variances = [1 - (2 * p - 1) ** 2 for p in (0.3, 0.5, 0.7)]
    sd = np.sqrt(sum(variances)) / sizes.sum()
    np.testing.assert_allclose(found, [0, 30 * sd, 10 * sd, 0], rtol=1e-5, atol=1e-6)


def test_what_accuracy_needs_of_three_classes():
    """With a third class neither is right one time in ten, which is worth nothing."""
    cells = np.array(list(itertools.product(range(3), range(3))))
    sizes = np.arange(10, 100, 10)
    found = needs(asked("accuracy", (0, 1, 2)), Pool(cells=cells, counts=sizes))
    variances = [0.9 - (0.9 * (2 * p - 1)) ** 2 for p in (0.3, 0.5, 0.7)]
    sd = np.sqrt(sum(variances)) / sizes.sum()
    expected = np.where(cells[:, 0] == cells[:, 1], 0.0, sizes * sd)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_what_recall_needs():
    """Recall knows only positives: of n true ones each is worth (1[a] − 1[b] − r_A + r_B) / n."""
    sizes = np.array([50.0, 20.0, 10.0, 20.0])
    found = needs(asked("recall"), Pool(cells=CELLS, counts=sizes.astype(int)))
    variances = np.zeros(4)
    for a_right in (0.3, 0.5, 0.7):
        p = guessed_truths(CELLS, sizes, n_classes=2, a_right=a_right)[:, 1]  # of being positive
        n = (sizes * p).sum()
        recall_a, recall_b = ((sizes * p) @ CELLS[:, model] / n for model in range(2))
        worth = (CELLS[:, 0] - CELLS[:, 1] - recall_a + recall_b) / n
        variances += p * (1 - p) * worth**2
    np.testing.assert_allclose(found, sizes * np.sqrt(variances), rtol=1e-5)


def test_the_least_of_every_stratum():
    """A fifth of the labels goes to agreements by size, and ten to each; three to the others."""
    pool = Pool(cells=CELLS, counts=np.array([900, 50, 2, 40]))
    # 0.2 · 200 · 900/940 = 38.3 and 1.7, which is below ten
    np.testing.assert_allclose(least(pool, 200), [40 * 900 / 940, 3, 2, 10])
    # 10 + 3 + 2 + 10 are more than 0.3 of 40, so that all get 12/25 of them; but 0.2 · 40 = 8
    np.testing.assert_allclose(least(pool, 40), [8 * 900 / 940, 3 * 12 / 25, 2 * 12 / 25, 4.8])


def test_no_other_allocation_leaves_less_variance():
    """Of all ways to share 12 labels out, proportional to need is the best, as Neyman has it."""
    needed, sizes = np.array([4.0, 2.0, 6.0]), np.array([40, 40, 40])

    def left(n):
        return float((needed**2 / np.asarray(n)).sum())

    found = allocate(needed, sizes, np.ones(3), budget=12)
    every = [n for n in itertools.product(range(1, 11), repeat=3) if sum(n) == 12]
    assert tuple(found) == min(every, key=left) == (4, 2, 6)


def test_what_is_left_over_goes_to_the_largest_remainders():
    found = allocate(np.array([1.0, 1.0, 1.5]), np.array([50, 50, 50]), np.zeros(3), budget=9)
    assert found.tolist() == [2, 3, 4] or found.tolist() == [3, 2, 4]  # 2.57, 2.57, 3.86
    found = allocate(np.array([5.0, 3.2, 1.8]), np.array([50, 50, 50]), np.zeros(3), budget=10)
    assert found.tolist() == [5, 3, 2]


def test_a_stratum_with_one_label_comes_at_any_time():
    """In an order of a hundred its place is uniform, wherever the others begin."""
    chosen = np.array([1, 99])
    places = [
        int(np.flatnonzero(interleave(chosen, np.random.default_rng(seed)) == 0)[0])
        for seed in range(400)
    ]
    error = np.sqrt(100**2 / 12 / 400)
    assert abs(np.mean(places) - 49.5) < 4 * error
    assert np.std(places) == pytest.approx(100 / np.sqrt(12), rel=0.1)


def test_it_says_how_many_were_labelled_where():
    """Of 40 + 10 + 6 + 24 items 12, 3, 1 and 4 are labelled; one is not none."""
    sizes, n_labelled = (40, 10, 6, 24), (12, 3, 1, 4)
    a, b = (np.repeat(CELLS[:, model], sizes) for model in range(2))
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    which = np.concatenate([np.arange(s, s + n) for s, n in zip(starts, n_labelled, strict=True)])
    seen = op.Outcomes.from_pool(a[which], {"A": a, "B": b}, which=which)
    found = op.compare(seen, "A", "B", metric="accuracy", rope=0.01, n_draws=200).findings
    said = {one.name: one.message for one in found}
    assert said["chosen_by_predictions"].startswith(
        "The labels come from a pool of 80 items: 4 of the 16 on which the models disagree, and "
        "16 of the rest."
    )
    assert "unlabelled_strata" not in said
