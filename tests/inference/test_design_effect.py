"""The finding ``repeated_ids``: the sd that groups would give, found without draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import outperform as op
from outperform import Outcomes
from outperform.data.views import emptied
from outperform.inference.items import spreads
from tests.loops import each

N, N_USERS = 2_000, 100
OPTIONS = {"rope": 0.01, "n_draws": 1_000, "random_state": 1}
ASKED = {"truth": "label", "models": ["a", "b"]}


def table(together=1.0, n=N, n_users=N_USERS, seed=1):
    """Three classes, two models; how far items of one user go wrong together."""
    rng = np.random.default_rng(seed)
    user = rng.integers(0, n_users, n)
    truth = rng.choice(list("xyz"), n, p=[0.5, 0.3, 0.2])
    good = together * rng.normal(size=(2, n_users))[:, user] + rng.normal(size=(2, n))
    other = rng.choice(list("xyz"), n)
    models = {
        name: np.where(one + ease > 0, truth, other)
        for name, one, ease in zip("ab", good, (0.9, 0.7), strict=True)
    }
    return pd.DataFrame({"user_id": user, "label": truth, **models})


@pytest.fixture(scope="module")
def frame():
    return table()


@pytest.fixture(scope="module")
def seen(frame):
    return op.read(frame, **ASKED)


@pytest.fixture(scope="module")
def grouped(frame):
    return op.read(frame, groups="user_id", **ASKED)


def finding(result):
    """Return the finding of a result, or None."""
    return next((one for one in result.findings if one.name == "repeated_ids"), None)


def of(seen, metric, *, models=(0, 1), **options):
    """Return both sds of a comparison."""
    c = op.compare(seen, "a", "b", metric=metric, **OPTIONS, **options)
    (column,) = c.spec.data._repeated
    return spreads(c.spec, column, models)


# The number


@pytest.mark.parametrize("n_users", [40, 900])  # every user alike no other, and many alike
def test_the_sd_of_accuracy_is_that_of_group_sums(n_users):
    """Of a mean it is √Σ_g (Σ_i (d_i − d̄))² / n; without groups √Σ_i (d_i − d̄)² / n."""
    frame = table(n_users=n_users)
    seen = op.read(frame, **ASKED)
    assert (seen._repeated[0].outcomes.groups.repeats.max() > 1) == (n_users == 900)
    right = {name: (frame[name] == frame["label"]).astype(float) for name in "ab"}

    def spread(moved):
        moved = moved - moved.mean()
        return np.square(moved.groupby(frame["user_id"]).sum()).sum(), np.square(moved).sum()

    paired = [np.sqrt(one) / N for one in spread(right["a"] - right["b"])]
    assert of(seen, "accuracy") == pytest.approx(paired, rel=1e-5)
    sums = zip(spread(right["a"]), spread(right["b"]), strict=True)
    unpaired = [np.sqrt(a + b) / N for a, b in sums]
    assert of(seen, "accuracy", paired=False) == pytest.approx(unpaired, rel=1e-5)


def test_the_sd_of_a_ratio_is_its_linearised_one(frame, seen):
    """Precision is Σ u / Σ v; linearised, an item moves it by (u − p v) / Σ v."""
    slopes = []
    for name in "ab":
        v = (frame[name] == "y").astype(float)
        u = v * (frame["label"] == "y")
        slopes.append((u - u.sum() / v.sum() * v) / v.sum())
    sums = (slopes[0] - slopes[1]).groupby(frame["user_id"]).sum()
    found = of(seen, "precision", pos_label="y")
    assert found.grouped == pytest.approx(np.sqrt(np.square(sums).sum()), rel=1e-5)


@each("paired", [True, False])
@each(
    "metric",
    [
        *("accuracy", "f1_macro", "f1_weighted", "precision_macro", "recall_macro"),
        *("balanced_accuracy", "matthews_corrcoef", "cohen_kappa", "jaccard_macro"),
    ],
)
def test_the_sd_is_what_groups_give(seen, grouped, metric, paired):
    found = of(seen, metric, paired=paired)
    options = {**OPTIONS, "n_draws": 8_000, "paired": paired, "metric": metric}
    drawn = op.compare(grouped, "a", "b", **options).sd
    plain = op.compare(seen, "a", "b", prior="bootstrap", **options).sd
    # Five Monte Carlo errors, 1 / √(2 · 8,000) each, and 1 / (2 · 100) by which a hundred
    # groups fall short of infinitely many.
    assert found.grouped == pytest.approx(drawn, rel=5 / np.sqrt(16_000) + 0.005)
    assert found.apart == pytest.approx(plain, rel=5 / np.sqrt(16_000))
    assert found.ratio > 1.5


def test_functions_of_shares_have_an_sd_too(seen, grouped):
    costs = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [2.0, 4.0, 0.0]])
    cost = op.metrics.from_function(
        lambda shares: (shares * costs).sum() / shares.sum(), name="cost", bounds=(0, 4)
    )
    drawn = op.compare(grouped, "a", "b", metric=cost, **{**OPTIONS, "n_draws": 4_000}).sd
    assert of(seen, cost).grouped == pytest.approx(drawn, rel=5 / np.sqrt(8_000) + 0.005)


def test_a_rare_class_is_stepped_in_its_own_size():
    frame = table(n=4_000)
    frame.loc[:5, "label"] = "rare"
    frame.loc[[0, 1, 2, 40, 50], "a"] = "rare"
    frame.loc[[0, 1, 3, 60], "b"] = "rare"
    seen = op.read(frame, **ASKED)
    counted = of(seen, "f1", pos_label="rare")
    drawn = op.compare(
        op.read(frame, groups="user_id", **ASKED), "a", "b", metric="f1", pos_label="rare",
        **{**OPTIONS, "n_draws": 4_000},
    )  # fmt: skip
    assert counted.grouped == pytest.approx(
        drawn.sd, rel=0.25
    )  # a handful is far from a straight line


def test_one_model_and_the_first_two_of_many(frame, seen, grouped):
    alone = op.estimate(seen, "a", metric="accuracy", n_draws=1_000, random_state=1)
    drawn = op.estimate(grouped, "a", metric="accuracy", n_draws=8_000, random_state=1)
    said = float(finding(alone).message.partition("The sd of a would be ")[2][:6])
    assert said == pytest.approx(drawn.sd, rel=5 / np.sqrt(16_000) + 0.01)
    wide = frame.assign(c=frame["b"], d="x")
    many = op.read(wide, truth="label", models=["d", "c", "b", "a"])
    ranking = op.rank(many, metric="accuracy", rope=0.01, n_draws=2_000, random_state=1)
    first = finding(ranking)
    assert first.level == "warning"
    a, b = ranking.names[:2]
    pair = op.compare(many, a, b, metric="accuracy", **OPTIONS)
    assert f"The sd of {a} − {b} would be" in first.message
    said = first.message.partition("would be ")[2][:6]
    assert said == finding(pair).message.partition("would be ")[2][:6]


# What is said


def test_the_sentence(seen):
    c = op.compare(seen, "a", "b", metric="accuracy", **OPTIONS)
    sd = of(seen, "accuracy").grouped
    assert finding(c).level == "warning"
    assert finding(c).message == (
        "Column 'user_id' repeats: 100 values in 2,000 rows. If rows with the same value "
        "are related, pass 'user_id' as groups so that they count as one unit. The sd of a − b "
        f"would be {sd:.4f} instead of {c.sd:.4f}."
    )


def test_where_nothing_goes_wrong_together_it_is_a_note():
    seen = op.read(table(together=0.0), **ASKED)
    c = op.compare(seen, "a", "b", metric="accuracy", **OPTIONS)
    assert of(seen, "accuracy").ratio == pytest.approx(1, abs=5 / np.sqrt(2 * N_USERS))
    assert finding(c).level == "note"


def test_of_several_columns_the_one_that_matters_most_is_named(frame):
    more = frame.assign(item=np.arange(N) % 50)
    c = op.compare(op.read(more, **ASKED), "a", "b", metric="accuracy", **OPTIONS)
    assert [one.column for one in c.spec.data._repeated] == ["item", "user_id"]
    assert finding(c).message.startswith("Column 'user_id' repeats")


def test_every_row_of_a_table_has_its_own(seen):
    card = op.scorecard(seen, "a", "b", metrics=["accuracy", "f1_macro"], **OPTIONS)
    assert len({finding(one).message for one in card}) == 2
    rows = op.compare(seen, "a", "b", metric="f1_macro", **OPTIONS).by_class()
    assert len({finding(one).message for one in rows}) == 3
    assert finding(op.gate(seen, "a", "b", metric="accuracy", **OPTIONS)) is not None


def test_without_an_sd_the_column_is_still_named(seen, monkeypatch):
    share = op.metrics.from_function(
        lambda shares: shares[0, 0] / shares.sum(), name="share", bounds=(0, 1)
    )
    monkeypatch.setattr("outperform.inference.items._MOST_CELLS", 3)
    c = op.compare(seen, "a", "b", metric=share, **OPTIONS)
    assert finding(c).level == "note"
    assert finding(c).message.endswith("so that they count as one unit.")
    monkeypatch.setattr("outperform.inference.items._MOST_CLASSES", 2)
    c = op.compare(seen, "a", "b", metric="f1_macro", **OPTIONS)
    assert finding(c).message.endswith("so that they count as one unit.")


def test_what_nothing_near_can_move_has_no_spread(seen):
    step = op.metrics.from_function(
        lambda shares: float(shares[0, 0] / shares.sum() > 0.3), name="step", bounds=(0, 1)
    )
    assert finding(op.compare(seen, "a", "b", metric=step, **OPTIONS)) is None


# What must not be said


def test_groups_that_are_given_raise_no_finding(grouped, seen):
    c = op.compare(grouped, "a", "b", metric="accuracy", **OPTIONS)
    assert finding(c) is None
    plain = replace(seen, _repeated=())
    assert finding(op.compare(plain, "a", "b", metric="accuracy", **OPTIONS)) is None


def test_the_numbers_do_not_depend_on_it(seen):
    one, two = (
        op.compare(outcomes, "a", "b", metric="f1_macro", **OPTIONS)
        for outcomes in (seen, replace(seen, _repeated=()))
    )
    assert np.array_equal(one.draws, two.draws)
    assert one.signature == two.signature
    assert seen == replace(seen, _repeated=())


def test_outcomes_that_are_no_longer_what_was_read_are_passed_over(frame, seen):
    assert (seen + seen)._repeated == ()
    assert Outcomes.from_json(seen.to_json())._repeated == ()
    assert emptied(seen)._repeated == ()
    binary = op.compare(seen.binarize("x"), "a", "b", metric="accuracy", **OPTIONS)
    assert finding(binary) is None
    other = replace(seen, tables=(seen + seen).tables)
    assert finding(op.compare(other, "a", "b", metric="accuracy", **OPTIONS)) is None
    renamed = replace(seen, models=("b", "a"))
    assert finding(op.compare(renamed, "a", "b", metric="accuracy", **OPTIONS)) is None
    days = op.read(frame.assign(day=np.arange(N) % 2), by="day", **ASKED)
    assert len(days._repeated) == 1
    assert days.slice(0)._repeated == ()
    zero_one = frame.assign(**{name: (frame[name] == "x") * 1 for name in ("label", "a", "b")})
    numbers = op.read(zero_one, **ASKED)
    bits = op.compare(numbers.binarize(1), "a", "b", metric="accuracy", **OPTIONS)
    assert finding(bits) is None  # True is not 1


def test_selected_models_and_more_labels_are_what_was_read(seen):
    plain = of(seen, "accuracy")
    assert of(seen.with_labels(["w"]), "accuracy") == pytest.approx(plain, rel=1e-9)
    turned = op.compare(seen.select(["b", "a"]), "b", "a", metric="accuracy", **OPTIONS)
    assert f"The sd of b − a would be {plain.grouped:.4f}" in finding(turned).message
    subset = op.compare(seen, "a", "b", metric="f1_macro", labels=["x", "y"], **OPTIONS)
    assert finding(subset) is not None


def test_models_that_always_agree_have_nothing_to_spread(frame):
    same = op.read(frame.assign(b=frame["a"]), **ASKED)
    assert finding(op.compare(same, "a", "b", metric="accuracy", **OPTIONS)) is None
