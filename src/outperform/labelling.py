"""``propose``: which items to label next, how many of each stratum, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from outperform import __version__
from outperform._typing import ColumnLike, FloatArray, IntArray, Label, Seed
from outperform.data.build import code_pool
from outperform.data.outcomes import Outcomes
from outperform.data.pool import Pool
from outperform.data.table import Table as CellTable
from outperform.display import numbers
from outperform.display.cards import Card
from outperform.display.facts import Facts
from outperform.display.formats import count_column, text_column
from outperform.display.layout import Line, Page, stacked
from outperform.display.numbers import for_text
from outperform.display.table import Table
from outperform.errors import DataError, UsageError
from outperform.inference.items import cell_slopes
from outperform.inference.spec import LabelSpec, make_label_spec
from outperform.inference.summary import SCHEMA, seed_name
from outperform.metrics.score_metric import MetricLike
from outperform.posterior.rng import seed_sequence
from outperform.results.base import Tabular

if TYPE_CHECKING:
    from outperform.results.feature_schemas import ProposalFacts, StratumFacts


class Stratum(NamedTuple):
    """All items of the pool with the same two predictions.

    Parameters
    ----------
    a, b
        What A and B predict.
    n_pool, n_proposed
        How many items there are, and how many of them to label.
    """

    a: Label
    b: Label
    n_pool: int
    n_proposed: int

    def to_dict(self) -> StratumFacts:
        """Return it as plain values."""
        return {
            "a": self.a,
            "b": self.b,
            "n_pool": self.n_pool,
            "n_proposed": self.n_proposed,
        }

    @property
    def agree(self) -> bool:
        """Whether both models say the same."""
        return self.a == self.b


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Proposal(Tabular):
    """Which items of a pool to label so that two models are told apart with few labels.

    Parameters
    ----------
    items
        Their places in the predictions of A, counted from 0, in the order in which to label them.
        Whoever stops early has a fair sample too: of every stratum about the same share is done.
    strata
        Every pair of predictions, how many items of the pool have it, and how many of these
        are proposed.
    names
        The names of A and of B.
    predictions
        Their predictions for the whole pool, as they were given.
    labels
        Classes that could occur, if they were given.
    metric
        The metric whose difference is to be known.
    signature
        What makes the proposal repeatable.
    """

    items: IntArray = field(repr=False)
    strata: tuple[Stratum, ...]
    names: tuple[str, str]
    predictions: Mapping[str, ColumnLike]
    labels: tuple[Label, ...] | None
    metric: str
    signature: str

    @property
    def n_pool(self) -> int:
        """The number of items in the pool."""
        return sum(one.n_pool for one in self.strata)

    def outcomes(self, y_true: ColumnLike) -> Outcomes:
        """Count the proposed items once they, or the first of them, are labelled.

        Parameters
        ----------
        y_true
            The true labels of ``items``, in their order, of all or of the first of them.

        Examples
        --------
        >>> import outperform as op
        >>> new, old = [1, 1, 0, 0] * 25, [1, 0, 0, 0] * 25
        >>> proposal = op.propose(new, old, budget=40, names=("new", "old"), random_state=0)
        >>> y_true = [new[place] for place in proposal.items]  # somebody labels them
        >>> proposal.outcomes(y_true)
        Outcomes(n=40, models=('new', 'old'), labels=(0, 1), paired=True, cells=3, pool=100)
        """
        n = len(y_true) if isinstance(y_true, Sized) else 0
        if not 0 < n <= len(self.items):
            raise DataError(
                f"y_true must hold the labels of the {len(self.items)} proposed items, or "
                "of the first of them, in their order; for others use Outcomes.from_pool"
            )
        which = self.items[:n]
        return Outcomes.from_pool(y_true, self.predictions, which=which, labels=self.labels)

    def to_dict(self) -> ProposalFacts:
        """Return everything but the predictions as plain values, with a schema version."""
        return {
            "schema": SCHEMA,
            "kind": "proposal",
            "names": list(self.names),
            "metric": self.metric,
            "n_pool": self.n_pool,
            "n_proposed": len(self.items),
            "n_apart": sum(one.n_pool for one in self.strata if not one.agree),
            "n_proposed_apart": sum(one.n_proposed for one in self.strata if not one.agree),
            "strata": [one.to_dict() for one in self.strata],
            "items": self.items.tolist(),
            "signature": self.signature,
        }

    def table(self) -> Table:
        """Return one row a stratum, those with most to label first."""
        return proposal_table(self.to_dict())

    def _card(self) -> Card:
        said = proposal_headline(self.to_dict())
        return Card(headline=said, table=self.table(), signature=for_text(self.signature))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({proposal_headline(self.to_dict())})"

    def _lines(self, page: Page) -> list[Line]:
        return proposal_lines(self.to_dict(), page)


def interleave(chosen: IntArray, generator: np.random.Generator) -> IntArray:
    """Return the stratum of every place in the order, so that each prefix is shared out fairly.

    The j-th of n items of a stratum comes at about j/n of the way, each stratum with a start
    of its own.

    Examples
    --------
    >>> order = interleave(np.array([4, 2]), np.random.default_rng(0))
    >>> sorted(order[:3].tolist()), sorted(order[3:].tolist())
    ([0, 0, 1], [0, 0, 1])
    """
    strata = np.repeat(np.arange(len(chosen)), chosen)
    turn = np.concatenate([np.arange(n) for n in chosen]) if len(chosen) else np.zeros(0)
    starts = generator.random(len(chosen))
    order = np.argsort((turn + starts[strata]) / chosen[strata], kind="stable")
    return strata[order]


# Guesses: how often both are right where they agree, neither where not, and else A.
_RIGHT = 0.9
_NEITHER = 0.1
_A_RATHER_THAN_B = (0.3, 0.5, 0.7)

# What agreements get of the budget at least, since the denominators rest on them; and what every
# stratum gets at least, so that none rests on the prior alone.
_AGREEMENTS = 0.2
_LEAST_AGREE = 10.0
_LEAST_APART = 3.0
# Of the budget, so much may go to the least of every stratum.
_LEAST = 0.3


def guessed_truths(
    cells: IntArray, sizes: FloatArray, *, n_classes: int, a_right: float
) -> FloatArray:
    """Guess p(y | a, b) before any label, ``(n_strata, n_classes)``.

    A class that is neither answer is as likely as both models predict it on average.

    Examples
    --------
    >>> cells, sizes = np.array([[0, 0], [0, 1], [1, 1]]), np.array([80.0, 10.0, 10.0])
    >>> guessed_truths(cells, sizes, n_classes=2, a_right=0.7).round(3).tolist()
    [[0.985, 0.015], [0.7, 0.3], [0.085, 0.915]]
    """
    shares = np.zeros(n_classes)
    np.add.at(shares, cells, (sizes / sizes.sum() / 2)[:, None])
    same, places = cells[:, 0] == cells[:, 1], np.arange(len(cells))
    others = np.tile(shares, (len(cells), 1))
    for model in range(2):
        others[places[~same], cells[~same, model]] = 0.0
    sums: FloatArray = others.sum(axis=1, keepdims=True)
    others = np.divide(others, sums, out=np.zeros_like(others), where=sums > 0)
    truths: FloatArray = others * np.where(same, 1 - _RIGHT, _NEITHER)[:, None]
    for model, right in enumerate((a_right, 1 - a_right)):
        told = np.where(same, _RIGHT / 2, (1 - _NEITHER) * right)
        truths[places, cells[:, model]] += told
    # With two classes, or only two that are ever predicted, one of the models must be right.
    truths /= truths.sum(axis=1, keepdims=True)
    return truths


def needs(spec: LabelSpec, pool: Pool) -> FloatArray:
    """Return what each stratum needs, ``N_s · sd_s(g)``, the variance averaged over the guesses.

    Where the slopes are unknown, since there are too many classes, disagreements need labels in
    proportion to their number.
    """
    sizes, n_classes = pool.counts.astype(np.float64), spec.view.n_classes
    variances = np.zeros(len(sizes))
    for a_right in _A_RATHER_THAN_B:
        truths = guessed_truths(pool.cells, sizes, n_classes=n_classes, a_right=a_right)
        strata, truth = np.nonzero(truths)
        cells = np.column_stack([truth, pool.cells[strata]])
        table = CellTable(cells, (truths * sizes[:, None])[strata, truth])
        a, b = (cell_slopes(spec, table, model) for model in range(2))
        if a is None or b is None or not np.isfinite(a - b).all():
            return np.where(pool.apart, sizes, 0.0)
        change = np.zeros_like(truths)
        change[strata, truth] = a - b
        centred = change - (truths * change).sum(axis=1, keepdims=True)
        variances += (truths * np.square(centred)).sum(axis=1)
    needed: FloatArray = sizes * np.sqrt(variances)
    return needed


def least(pool: Pool, budget: int) -> FloatArray:
    """Return how many labels each stratum gets whatever it needs, no more than half of a budget.

    With very many strata each of them gets less, but agreements together their share.
    """
    sizes = pool.counts.astype(np.float64)
    same = ~pool.apart
    each = np.minimum(np.where(same, _LEAST_AGREE, _LEAST_APART), sizes)
    each *= min(1.0, _LEAST * budget / each.sum())
    reserved = _AGREEMENTS * budget * sizes / max(sizes[same].sum(), 1.0)
    return np.minimum(np.where(same, np.maximum(reserved, each), each), sizes)


def allocate(needed: FloatArray, sizes: IntArray, lowest: FloatArray, *, budget: int) -> IntArray:
    """Share a budget out in proportion to need, no stratum below its least or above its size.

    Examples
    --------
    >>> allocate(np.array([0.0, 3.0, 1.0]), np.array([900, 60, 40]), np.array([20.0, 5.0, 5.0]),
    ...          budget=100).tolist()
    [20, 60, 20]
    """
    if budget >= sizes.sum():
        return sizes.copy()
    scale: float = needed.max(initial=0.0)
    # What nobody needs is shared out last, in proportion to size.
    wanted = needed / scale if scale > 0 else np.zeros(len(sizes))
    wanted = wanted + 1e-9 * sizes / sizes.max()
    low, high = 0.0, float(sizes.max()) / float(wanted[wanted > 0].min())
    for _ in range(200):
        middle = (low + high) / 2
        short = np.clip(middle * wanted, lowest, sizes).sum() < budget
        low, high = (middle, high) if short else (low, middle)
    return _rounded(np.clip(high * wanted, lowest, sizes), sizes, budget)


def _rounded(wanted: FloatArray, sizes: IntArray, budget: int) -> IntArray:
    """Round to whole numbers that add up to the budget, the largest remainders up."""
    whole = np.minimum(np.floor(wanted + 1e-6).astype(np.int64), sizes)
    while (left := budget - int(whole.sum())) != 0:
        movable = np.flatnonzero(whole < sizes if left > 0 else whole > 0)
        order = movable[np.argsort((whole - wanted)[movable] * np.sign(left), kind="stable")]
        whole[order[: abs(left)]] += np.sign(left)
    return whole


def propose(
    a: ColumnLike,
    b: ColumnLike,
    *,
    budget: int,
    metric: MetricLike | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    names: tuple[str, str] = ("A", "B"),
    random_state: Seed = None,
) -> Proposal:
    """Propose which items of a pool to label, so that A − B is known with few labels.

    Labels tell models apart where they disagree, so most of the budget goes there; some goes
    to where they agree, because recall, F1 and their averages need to know how often both are
    wrong. Only the two predictions decide how likely an item is to be chosen, so that
    :meth:`Proposal.outcomes` can account for it.

    Parameters
    ----------
    a, b
        The predicted labels of A and of B for every item of the pool.
    budget
        How many items can be labelled.
    metric
        The metric whose difference is to be known, as :func:`compare` takes it. Others can be
        asked of the same labels.
    labels
        Classes that could occur, if a model may never predict one of them.
    pos_label
        The positive class of a binary metric.
    names
        What to call A and B.
    random_state
        None, a whole number, a SeedSequence, a Generator or a RandomState.

    Examples
    --------
    >>> import outperform as op
    >>> news = op.datasets.load_news20()
    >>> a, b = news.predictions["nb_mult"], news.predictions["svm_l2"]
    >>> proposal = op.propose(a, b, budget=1_000, metric="accuracy", random_state=0)
    >>> proposal
    Proposal(1,000 of 7,532 items: 798 of the 2,221 on which the models disagree, 202 of the others.)
    """  # noqa: E501
    predictions = {names[0]: a, names[1]: b}
    if len(predictions) != 2:
        raise UsageError(f"names must be two different names; got {names!r}")
    known = None if labels is None else tuple(labels)
    spec = _before_labels(predictions, metric, known, pos_label)
    pool = spec.view.pool
    assert pool is not None
    budget = _checked(budget, pool.n)
    sizes = pool.counts.astype(np.int64)
    chosen = allocate(needs(spec, pool), sizes, least(pool, budget), budget=budget)
    seed = seed_sequence(random_state)
    generator = np.random.default_rng(seed)
    strata = pool.strata_of(np.column_stack(code_pool(predictions, spec.view.labels)))
    return Proposal(
        items=_drawn(strata, chosen, generator),
        strata=_strata(spec, pool, chosen),
        names=(names[0], names[1]),
        predictions=predictions,
        labels=known,
        metric=spec.metric.name,
        signature=_signature(spec, pool, budget, seed),
    )


def _before_labels(
    predictions: dict[str, Any],
    metric: MetricLike | None,
    labels: tuple[Label, ...] | None,
    pos_label: Label | None,
) -> LabelSpec:
    """Ask the question of which the labels will be the answer."""
    seen = Outcomes.from_pool([], predictions, which=[], labels=labels)
    return make_label_spec(
        seen,
        metric=metric,
        defaults=("unit", "unit"),
        prior=None,
        paired=True,
        labels=None,
        pos_label=pos_label,
    )


def _checked(budget: Any, n_pool: int) -> int:
    whole = isinstance(budget, (int, np.integer)) and not isinstance(budget, bool)
    if not whole or not 1 <= budget <= n_pool:
        raise UsageError(
            f"budget must be a whole number from 1 to {n_pool:,}, the size of the pool; got "
            f"{budget!r}"
        )
    return int(budget)


def _drawn(strata: IntArray, chosen: IntArray, generator: np.random.Generator) -> IntArray:
    """Draw as many items of each stratum as are chosen, in an order that is fair."""
    shuffled = generator.permutation(len(strata))
    by_stratum = shuffled[np.argsort(strata[shuffled], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(np.bincount(strata, minlength=len(chosen)))])
    order = interleave(chosen, generator)
    turn = np.empty(len(order), dtype=np.int64)
    for stratum in range(len(chosen)):
        here = np.flatnonzero(order == stratum)
        turn[here] = np.arange(len(here))
    items: IntArray = by_stratum[starts[order] + turn]
    return items


def _strata(spec: LabelSpec, pool: Pool, chosen: IntArray) -> tuple[Stratum, ...]:
    labels = spec.view.labels
    rows = zip(pool.cells.tolist(), pool.counts.tolist(), chosen.tolist(), strict=True)
    return tuple(Stratum(labels[a], labels[b], size, n) for (a, b), size, n in rows)


def _signature(spec: LabelSpec, pool: Pool, budget: int, seed: np.random.SeedSequence) -> str:
    parts = [
        f"outperform {__version__}",
        "propose",
        f"metric={spec.metric.name}",
        "" if spec.pos_label is None else f"pos_label={spec.pos_label!r}",
        f"budget={budget}",
        f"pool={pool.n}",
        f"classes={spec.data.n_classes}",
        f"seed={seed_name(seed)}",
        f"numpy={np.__version__}",
    ]
    return " | ".join(part for part in parts if part)


_NAME = 30
_MOST_ROWS = 12


def proposal_headline(facts: ProposalFacts) -> str:
    """Return what is proposed in one sentence.

    Examples
    --------
    >>> proposal_headline({"n_proposed": 400, "n_pool": 10_000, "n_apart": 970,
    ...                    "n_proposed_apart": 320})
    '400 of 10,000 items: 320 of the 970 on which the models disagree, 80 of the others.'
    """
    proposed, apart = facts["n_proposed"], facts["n_proposed_apart"]
    if not facts["n_apart"]:
        return (
            f"{numbers.count(proposed)} of {numbers.count(facts['n_pool'])} items; the models "
            "never disagree, so that no label tells them apart."
        )
    return (
        f"{numbers.count(proposed)} of {numbers.count(facts['n_pool'])} items: "
        f"{numbers.count(apart)} of the {numbers.count(facts['n_apart'])} on which the models "
        f"disagree, {numbers.count(proposed - apart)} of the others."
    )


def proposal_table(facts: ProposalFacts) -> Table:
    """Return one row a stratum, those with most to label first.

    Examples
    --------
    >>> strata = [{"a": 0, "b": 0, "n_pool": 900, "n_proposed": 20},
    ...           {"a": 0, "b": 1, "n_pool": 100, "n_proposed": 80}]
    >>> told = {"names": ["old", "new"], "metric": "f1", "strata": strata, "n_pool": 1_000,
    ...         "n_proposed": 100, "n_apart": 100, "n_proposed_apart": 80}
    >>> print(proposal_table(told).to_text())
    Items to label for f1
    <BLANKLINE>
    old says  new says  in the pool  to label
    --------  --------  -----------  --------
    0         1                 100        80
    0         0                 900        20
    """
    a, b = (for_text(name, limit=_NAME) for name in facts["names"])
    columns = (
        text_column("a", f"{a} says"),
        text_column("b", f"{b} says"),
        count_column("n_pool", "in the pool"),
        count_column("n_proposed", "to label"),
    )
    rows = tuple(
        {**one, "a": for_text(one["a"], limit=_NAME), "b": for_text(one["b"], limit=_NAME)}
        for one in _ordered(facts)
    )
    return Table(columns, rows, title=f"Items to label for {facts['metric']}")


def proposal_lines(facts: ProposalFacts, page: Page) -> list[Line]:
    """Return the sentence and the strata with most to label."""
    whole = proposal_table(facts)
    shown = page.table(Table(whole.columns, whole.rows[:_MOST_ROWS]), labels=["a", "b"])
    if left := _ordered(facts)[_MOST_ROWS:]:
        rest = sum(one["n_proposed"] for one in left)
        shown += page.text(f"and {len(left):,} more pairs of predictions with {rest:,} to label")
    return stacked(page.text(proposal_headline(facts), style="strong"), shown)


def _ordered(facts: ProposalFacts) -> list[Facts]:
    """Return the strata, those with most to label first."""
    return sorted(facts["strata"], key=lambda one: -one["n_proposed"])
