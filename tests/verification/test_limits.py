"""The study of limits: its truths are worked out, and its tables hold what was noted."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lazily import lazily
from verification import limits

f1_score = lazily("sklearn.metrics.f1_score")


@pytest.mark.parametrize("recall", [0.85, 0.6])
def test_the_true_macro_f1_is_that_of_a_large_population(recall):
    prevalence = np.array([0.5, 0.3, 0.15, 0.05])
    generator = np.random.default_rng(0)
    truth = generator.choice(4, 400_000, p=prevalence)
    answers = limits._answers(truth, recall, 4, generator)
    seen = f1_score(truth, answers, average="macro")
    # The rarest class has 20,000 items; its F1 has an sd of about 0.003.
    assert seen == pytest.approx(limits.macro_f1(prevalence, recall), abs=0.003)


def test_two_equal_models_are_equally_good_and_agree_on_nine_items_of_ten():
    a, b = limits._equal_models(200_000, 0.85, np.random.default_rng(1))
    error = 4 * np.sqrt(0.25 / 200_000)
    assert [a.mean(), b.mean(), (a == b).mean()] == pytest.approx([0.85, 0.85, 0.9], abs=error)


def test_repetitions_do_not_depend_on_how_they_are_cut():
    limit = next(one for one in limits.LIMITS if one.kind == "level")
    whole = limits.repeat(limit, 0, 4)
    assert whole == limits.repeat(limit, 0, 1) + limits.repeat(limit, 1, 4)


def test_a_table_has_means_and_their_errors():
    limit = next(one for one in limits.LIMITS if one.kind == "level")
    noted = [limits.Level(0.4, True, False, False), limits.Level(0.6, False, True, False)]
    tables = limits.tables({limit: noted})
    # sd of (0.4, 0.6) is 0.1, of (0, 1) is 0.5; over the root of two.
    shares = "50.0 ± 35.4 | 50.0 ± 35.4 | 0.0 ± 0.0"
    row = f"| 100 | 0.97 | +0.500 ± 0.071 | {shares} | 2 |"
    assert tables["limits_level.md"].splitlines()[2] == row
    assert set(tables) == {f"limits_{kind}.md" for kind in ("classes", "slice", "level")}
