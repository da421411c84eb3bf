"""Metrics that users and plug-ins write: what is computed of them, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import outperform as op
from outperform.errors import DataError, UsageError
from outperform.metrics import Basis, Margins, Metric, Order, Sums, Whole, registry
from outperform.metrics.confusion import without_negatives
from tests.loops import each

ANY = (-math.inf, math.inf)
RANDOM = np.random.default_rng(4)
N = 120
GRADES = {"a": RANDOM.gamma(2.0, size=N), "b": RANDOM.gamma(1.5, size=N)}
TRUTH = RANDOM.integers(0, 2, N)
CHANCES = {name: RANDOM.beta(2 + 2 * TRUTH, 4 - 2 * TRUTH) for name in ("a", "b")}


def own(how, *, name="own", bounds=ANY, merge="terms", **options):
    return Metric(name=name, label=name, how=how, merge=merge, bounds=bounds, **options)


def of_grades(combine, terms=None, **options):
    return own(Sums(basis=Basis(reads="grade", terms=terms), combine=combine), **options)


def first(means):
    return means[0]


def growth(means):
    return np.exp(means[0])


def with_squares(grades):
    return np.stack([grades, grades**2], axis=1)


def spread(means):
    return np.sqrt(np.maximum(means[1] - means[0] ** 2, 0))


def loss(truth, chances):
    return -np.log(chances[np.arange(len(truth)), truth])


ASKED = {"rope": 0.1, "n_draws": 4000, "random_state": 1}


def drawn_weights(groups=None, times=1.0):
    """Draw weights of items of the Bayesian bootstrap, independently of the package."""
    rng = np.random.default_rng(9)
    if groups is None:
        return rng.exponential(size=(4000, N)) * times
    return rng.exponential(size=(4000, groups.max() + 1))[:, groups] * times


# What combine makes of means


@each(
    ("combine", "terms", "expected"),
    [
        (growth, None, lambda w, x: np.exp(w @ x / w.sum(axis=1))),
        (
            spread,
            with_squares,
            lambda w, x: np.sqrt(w @ x**2 / w.sum(axis=1) - (w @ x / w.sum(axis=1)) ** 2),
        ),
        (first, np.sqrt, lambda w, x: w @ np.sqrt(x) / w.sum(axis=1)),
    ],
)
@each("rows", ["apart", "groups", "weights"])
def test_sums_of_grades_are_combined(combine, terms, expected, rows):
    groups = np.arange(N) // 2 if rows == "groups" else None
    times = GRADES["b"] if rows == "weights" else 1.0
    options = {} if groups is None else {"groups": groups}
    options |= {"sample_weight": times} if rows == "weights" else {}
    metric = of_grades(combine, terms)
    c = op.compare(None, GRADES["a"], GRADES["b"], metric=metric, **ASKED, **options)
    plain = np.ones((1, N)) * times
    assert c.a.observed == pytest.approx(expected(plain, GRADES["a"])[0])
    assert c.b.observed == pytest.approx(expected(plain, GRADES["b"])[0])
    weights = drawn_weights(groups, times)
    draws = expected(weights, GRADES["a"]) - expected(weights, GRADES["b"])
    error = 5 * draws.std() / np.sqrt(4000)  # of the difference of two means of draws
    assert c.mean == pytest.approx(draws.mean(), abs=error)
    statistics = {name: one if terms is None else terms(one) for name, one in GRADES.items()}
    scores = op.Scores.from_statistics(
        {name: one.reshape(N, -1) for name, one in statistics.items()}, **options
    )
    of_sums = op.compare(scores, "a", "b", metric=combine, **ASKED)
    # Few items with long tails widen the interval, so the sd is that of sums, within 5 errors.
    assert c.sd == pytest.approx(of_sums.sd, rel=5 * math.sqrt(2 / (2 * 4000)))


def test_sums_of_probabilities_are_combined():
    how = Sums(basis=Basis(reads="probability", terms=loss), combine=growth)
    perplexity = own(how, bounds=(1, math.inf), greater_is_better=False)
    c = op.compare(TRUTH, CHANCES["a"], CHANCES["b"], metric=perplexity, **ASKED)
    plain = op.compare(TRUTH, CHANCES["a"], CHANCES["b"], metric="log_loss", **ASKED)
    assert c.a.observed == pytest.approx(math.exp(plain.a.observed))
    error = 5 * c.a.sd / np.sqrt(4000)
    assert c.a.mean == pytest.approx(np.exp(plain.a.draws).mean(), abs=error)
    assert len(c.item_table(which="all")) == N


def test_sums_of_a_ranking_read_which_items_are_positive_and_their_score():
    def hinge(positive, score):
        assert positive.dtype == bool
        return np.maximum(0, 1 - np.where(positive, score, -score))

    margins = 4 * CHANCES["a"] - 2
    expected = np.maximum(0, 1 - np.where(TRUTH == 1, margins, -margins))
    metric = own(Sums(basis=Basis(reads="ranking", terms=hinge), combine=first))
    c = op.compare(TRUTH, margins, -margins, metric=metric, **ASKED)
    assert c.a.observed == pytest.approx(expected.mean())
    named = np.array(["no", "yes"])[TRUTH]
    c = op.compare(named, margins, -margins, metric=metric, pos_label="yes", **ASKED)
    assert c.a.observed == pytest.approx(expected.mean())


def test_the_mean_of_one_statistic_equals_the_built_in_mean():
    metric = of_grades(first)
    for data in (GRADES, {name: grades / 50 for name, grades in GRADES.items()}):
        found = op.estimate(op.Scores.from_values(data), "a", metric=metric, n_draws=500)
        assert found.observed == pytest.approx(data["a"].mean())


def test_bounds_of_grades_within_0_and_1_are_those_of_their_mean_only():
    grades = {name: np.clip(values / 20, 0, 1) for name, values in GRADES.items()}
    scores = op.Scores.from_values(grades)
    percent = op.estimate(scores, "a", metric=of_grades(lambda means: 100 * means[0]), n_draws=500)
    assert percent.observed == pytest.approx(100 * grades["a"].mean())
    assert percent.mean > 1


def test_a_metric_of_grades_is_computed_of_a_named_column(monkeypatch):
    metric = of_grades(spread, with_squares, name="spread", greater_is_better=False)
    monkeypatch.setattr(registry.ADDED, "added", lambda: iter([metric]))
    columns = {
        name: {"grade": grades, "seconds": grades[::-1] * 3} for name, grades in GRADES.items()
    }
    scores = op.Scores.from_statistics(columns)
    c = op.compare(scores, "a", "b", metric="spread:seconds", **ASKED)
    assert c.a.observed == pytest.approx(3 * GRADES["a"].std())


def test_an_order_reads_what_terms_make_of_grades():
    metric = own(Order(basis=Basis(reads="grade", terms=np.negative), prepare=Least), merge="rows")
    found = op.estimate(op.Scores.from_values(GRADES), "a", metric=metric, n_draws=100)
    assert found.observed == -GRADES["a"].max()


class Least:
    """The least value."""

    def __init__(self, items):
        self.least = items.values.min()

    def worker(self):
        return lambda weights: np.full(len(weights), self.least)


class Returned(Least):
    """Whatever a function makes of weights."""

    def __init__(self, items, answer):
        super().__init__(items)
        self.answer = answer

    def worker(self):
        return self.answer


# What is refused


def nowhere(means):
    return np.full(np.shape(means)[-1], np.nan)


def two(means):
    return np.full(np.shape(means)[-1], 2.0)


def alone(means):
    return 0.5


FAULTS = {
    "a number for every draw": nowhere,
    r"numbers within its bounds \(0.0, 1.0\); it returned 2.0; widen bounds=": two,
    "must return": alone,
}


@each(("message", "combine"), FAULTS.items())
@each("reads", ["statistics", "grade", "probability"])
def test_what_combine_returns_is_checked(message, combine, reads):
    terms = loss if reads == "probability" else None
    how = Sums(basis=Basis(reads=reads, terms=terms), combine=combine)
    metric = own(how, name="odd", bounds=(0.0, 1.0))
    if reads == "probability":
        seen = op.Scores.from_arrays(TRUTH, CHANCES)
    elif reads == "grade":
        seen = op.Scores.from_values(GRADES)
    else:
        seen = op.Scores.from_statistics({"a": GRADES["a"][:, None], "b": GRADES["b"][:, None]})
    with pytest.raises(UsageError, match=rf"'odd'.*{message}"):
        op.compare(seen, "a", "b", metric=metric, **ASKED)


@each(("message", "combine"), FAULTS.items())
def test_what_an_order_returns_is_checked(message, combine):
    def answer(weights):
        return combine(weights.T)

    how = Order(basis=Basis(reads="grade"), prepare=Returned, settings=(answer,))
    metric = own(how, name="odd", bounds=(0.0, 1.0), merge="rows")
    with pytest.raises(UsageError, match=rf"'odd'.*{message}"):
        op.compare(None, GRADES["a"], GRADES["b"], metric=metric, **ASKED)


def test_what_prepare_returns_is_checked():
    how = Order(basis=Basis(reads="grade"), prepare=lambda items: items.values)
    with pytest.raises(UsageError, match=r"prepare of the metric 'odd' .* worker\(\).* ndarray"):
        op.compare(None, GRADES["a"], GRADES["b"], metric=own(how, name="odd"), **ASKED)


@each(
    ("message", "combine"),
    {
        "a number for every draw": lambda margins, rows: margins.hits[0] * np.nan,
        r"numbers within its bounds \(0.0, 1.0\)": lambda margins, rows: margins.hits[0] * 0 + 2,
        "must return an array of shape": lambda margins, rows: margins.hits,
    }.items(),
)
def test_what_sums_of_labels_return_is_checked(message, combine):
    how = Sums(basis=Basis(reads="labels"), combine=combine)
    metric = own(how, name="odd", bounds=(0.0, 1.0))
    with pytest.raises(UsageError, match=f"'odd' {message}|'odd' must return {message}"):
        op.compare(TRUTH, TRUTH, 1 - TRUTH, metric=metric, **ASKED)


def test_sums_of_labels_that_are_right_are_accepted():
    def informed(margins: Margins, rows):
        return (margins.hits[rows].sum(axis=0)) / margins.total

    metric = own(Sums(basis=Basis(reads="labels"), combine=informed), bounds=(0.0, 1.0))
    answers = np.where(np.arange(N) % 4, TRUTH, 1 - TRUTH)
    c = op.compare(TRUTH, answers, 1 - answers, metric=metric, **ASKED)
    assert c.a.observed == pytest.approx(0.75)


@each(
    ("message", "terms"),
    {
        r"must convert 120 items to an array of shape .*returned an array of shape \(119,\)": (
            lambda grades: grades[1:]
        ),
        r"must return finite numbers.*for item 3 \(counted from 0\)": (
            lambda grades: np.where(np.arange(len(grades)) == 3, np.nan, grades)
        ),
        "returned an array of shape": lambda grades: np.ones((len(grades), 2, 2)),
    }.items(),
)
def test_what_terms_return_is_checked(message, terms):
    scores = op.Scores.from_values({"a": np.arange(N) * 1.0, "b": np.arange(N) + 1.0})
    with pytest.raises(UsageError, match=f"'own' .*{message}|'own' {message}"):
        op.compare(scores, "a", "b", metric=of_grades(first, terms), **ASKED)


def count_words(references, texts):
    pairs = [(set(a.split()), set(b.split())) for a, b in zip(references, texts, strict=True)]
    return np.array([[len(a & b), len(a)] for a, b in pairs], dtype=float)


def reading(read, names=("kept", "words")):
    how = Sums(basis=Basis(names=names, read=read), combine=lambda means: means[0] / means[1])
    return own(how, bounds=(0.0, 1.0))


def test_statistics_of_items_are_read_and_checked():
    texts = ["one two", "three", "four five six"]
    assert reading(count_words).read_items(texts, texts).tolist() == [[2, 2], [1, 1], [3, 3]]
    assert reading(lambda y, p: [1.0] * len(p), ()).read_items(None, texts).shape == (3, 1)
    with pytest.raises(DataError, match="'own' got 3 items in y_true but 2 in a prediction"):
        reading(count_words).read_items(texts, texts[:2])
    with pytest.raises(UsageError, match=r"names 1 statistics \(kept\).* returned 2 per item"):
        reading(count_words, ("kept",)).read_items(texts, texts)
    with pytest.raises(UsageError, match=r"'own' must convert 3 items to .* shape \(2, 2\)"):
        reading(lambda y, p: np.ones((2, 2))).read_items(texts, texts)
    with pytest.raises(UsageError, match="'own' must return finite numbers for each item"):
        reading(lambda y, p: np.full((3, 2), np.nan)).read_items(texts, texts)
    with pytest.raises(UsageError, match="no item statistics"):
        of_grades(first).read_items(None, [1.0])


@each("reads", ["anything", "labels", "probability"])
def test_a_basis_that_no_metric_can_read_is_refused(reads):
    basis = Basis(reads=reads)
    with pytest.raises(UsageError, match=r"metric 'own' (cannot read|needs the truth)"):
        own(
            Sums(basis=basis, combine=first)
            if reads == "probability"
            else Order(basis=basis, prepare=Least)
        )


def test_built_in_functions_are_not_checked_and_others_are():
    assert not op.metrics.get("mse").how.own
    assert not op.metrics.get("f1_macro").how.own
    assert of_grades(first).how.own
    assert of_grades(first).own


# Findings and items


class Above:
    """The share of the weight of positive items whose score is above a half."""

    def __init__(self, items):
        self.above = (items.values > 0.5) & items.truth
        self.truth, self.pick = items.truth, items.units.picker(np.arange(len(items.values)))

    def worker(self):
        def evaluate(weights):
            weight = self.pick(weights)
            return weight @ self.above / (weight @ self.truth)

        return evaluate


def test_an_order_of_a_ranking_has_no_ties_of_its_own():
    how = Order(basis=Basis(reads="ranking"), prepare=Above)
    metric = own(how, merge="rows", bounds=(0.0, 1.0))
    c = op.compare(TRUTH, np.round(CHANCES["a"], 1), CHANCES["b"], metric=metric, **ASKED)
    positive = CHANCES["b"][TRUTH == 1]
    assert c.b.observed == pytest.approx((positive > 0.5).mean())
    assert "tied_scores" not in [one.name for one in c.findings]


def test_who_does_better_on_an_item_comes_from_swapping_answers():
    rng = np.random.default_rng(2)
    words = rng.integers(3, 12, 30)
    errors = {"a": rng.integers(0, 3, 30), "b": rng.integers(0, 4, 30)}
    stats = {name: np.stack([one, words], axis=1) for name, one in errors.items()}
    seen = op.Scores.from_statistics(stats, columns=("errors", "words"))
    assert errors["a"].sum() != errors["b"].sum()  # else each item adds as much to either
    c = op.compare(seen, "a", "b", metric="wer", **ASKED)
    found = {one.id: one.right for one in c.item_table(which="all")}
    for item in range(30):
        a, b = errors["a"][item], errors["b"][item]
        assert found[item] == ("both" if a == b else "a" if a < b else "b")
    flips = {one.id for one in c.item_table()}
    assert flips == set(np.flatnonzero(errors["a"] != errors["b"]))


@each("metric", ["pearson", "r2", "rmse"])
@each("weighted", [False, True])
def test_who_does_better_equals_models_with_swapped_answers(metric, weighted):
    rng = np.random.default_rng(5)
    target = rng.normal(size=25) * 3 + 7
    answers = [target + rng.normal(size=25) + 2, 0.4 * target + rng.normal(size=25)]
    weights = rng.exponential(size=25) if weighted else None

    def values(*models):
        scores = op.Scores.from_targets(
            target, dict(zip("ab", models, strict=True)), sample_weight=weights
        )
        c = op.compare(scores, "a", "b", metric=metric, **{**ASKED, "n_draws": 100})
        return c, np.array([c.a.observed, c.b.observed])

    c, plain = values(*answers)
    items = {one.id: one.right for one in c.item_table(which="all")}
    sign = 1 if op.metrics.get(metric).greater_is_better else -1
    for item in range(25):
        swapped = [one.copy() for one in answers]
        swapped[0][item], swapped[1][item] = answers[1][item], answers[0][item]
        _, after = values(*swapped)
        gain = sign * ((plain[0] - after[0]) + (after[1] - plain[1]))
        assert items[item] == ("a" if gain > 0 else "b")


# Functions of a confusion array under label errors

NEGATIVE = np.array([[30.0, -2.0, 3.0], [4.0, 20.0, 1.0], [-1.0, 5.0, 25.0]])


def test_cells_below_zero_are_emptied_and_columns_keep_their_sums():
    rng = np.random.default_rng(0)
    tables = NEGATIVE[:, :, None] + 0.3 * rng.normal(size=(3, 3, 50))
    found = without_negatives(tables)
    assert (found >= 0).all()
    assert np.allclose(found.sum(axis=0), tables.sum(axis=0))
    assert np.allclose(np.einsum("iin->in", found), np.einsum("iin->in", tables))
    assert without_negatives(np.abs(tables)).tolist() == np.abs(tables).tolist()
    more_hits = without_negatives(np.array([[5.0, 0.0], [-2.0, 4.0]]))
    assert more_hits.tolist() == [[3.0, 0.0], [0.0, 4.0]]
    less_than_none = without_negatives(np.array([[-1.0, 2.0], [4.0, 4.0]]))
    assert less_than_none.tolist() == [[0.0, 2.0], [3.0, 4.0]]


def test_functions_of_a_confusion_array_never_see_cells_below_zero():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 90)
    a, b = (np.where(rng.random(90) < share, truth, (truth + 1) % 3) for share in (0.97, 0.9))
    least = []

    def root(confusion):
        least.append(confusion.min())
        assert np.isfinite(np.sqrt(confusion)).all()
        return np.trace(confusion) / confusion.sum()

    options = {"rope": 0.02, "n_draws": 300, "random_state": 0, "prior": "bootstrap"}
    metric = op.metrics.from_function(root, bounds=(0, 1))
    found = op.compare(truth, a, b, metric=metric, **options).with_label_errors(0.02)
    plain = op.compare(truth, a, b, metric="accuracy", **options).with_label_errors(0.02)
    assert min(least) == 0
    assert found.a.observed == pytest.approx(plain.a.observed)
    assert found.draws == pytest.approx(plain.draws)
    whole = own(Whole(function=root, of="confusion"), bounds=(0.0, 1.0))
    assert whole.evaluate(NEGATIVE) == pytest.approx(75 / 85)


# What counted labels cannot be asked


def test_a_metric_of_texts_names_the_right_call(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("truth,a,b\n" + "one two,one,one two\nthree,three,four\n" * 9)
    seen = op.read(path, truth="truth", models=["a", "b"])
    call = r"op.compare\(references, answers_a, answers_b, metric='wer'\)"
    with pytest.raises(UsageError, match=f"'wer' needs the answers themselves.*{call}"):
        op.compare(seen, "a", "b", metric="wer", rope=0.1)
    with pytest.raises(UsageError, match="'own' needs the answers themselves"):
        op.compare(seen, "a", "b", metric=reading(count_words), rope=0.1)
