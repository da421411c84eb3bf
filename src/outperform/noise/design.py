"""``noise.plan``: more items, or more trials of each, for given prices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy.special import ndtri

from outperform._json import written
from outperform._typing import FloatArray
from outperform.display import numbers
from outperform.display.document import Document, Rows
from outperform.display.formats import count_column, number_column
from outperform.display.table import Table
from outperform.errors import UsageError, param
from outperform.inference.thresholds import FEW_GROUPS
from outperform.noise.floor import Components
from outperform.results.base import Tabular

_SHOWN = (1, 2, 3, 5, 10, 20, 50, 100)


@written("n_trials n_items cost width width_low width_high")
@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Number of items and of trials per item that a budget buys.

    Parameters
    ----------
    n_trials
        Answers per item.
    n_items
        Items.
    cost
        Price of the items and of all trials.
    width
        Expected width of the HDI of the score.
    width_low, width_high
        Its own 95% interval, because the variances are estimated.
    """

    n_trials: int
    n_items: int
    cost: float
    width: float
    width_low: float
    width_high: float


@written("item_price trial_price budget n_trials best designs signature", kind="design")
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class TrialsOrItems(Tabular):
    """The best numbers of items and trials for given prices, and other designs at the same cost.

    Parameters
    ----------
    item_price
        Price of one more item, such as writing and labelling it.
    trial_price
        Price of one answer to one item.
    budget
        Most that all items and answers may cost.
    n_trials
        Answers per item in the best design.
    designs
        The designs, by number of trials.
    signature
        One line with everything needed to repeat the computation.

    Examples
    --------
    >>> import outperform as op
    >>> noise = op.noise_floor([[1, 0, 1], [1, 1, 1], [0, 0, 1], [1, 1, 0]] * 50, random_state=0)
    >>> noise.plan(item_price=5, trial_price=0.1, budget=1_000).best.n_items
    31
    """

    item_price: float
    trial_price: float
    budget: float
    n_trials: int
    designs: tuple[Design, ...]
    signature: str

    @property
    def best(self) -> Design:
        """Design with the smallest expected width."""
        return next(each for each in self.designs if each.n_trials == self.n_trials)

    def table(self) -> Table:
        """Return one row per design."""
        rows = [
            {
                "n_trials": each.n_trials,
                "n_items": each.n_items,
                "cost": each.cost,
                "width": each.width,
                "width_low": each.width_low,
                "width_high": each.width_high,
            }
            for each in self.designs
        ]
        columns = (
            count_column("n_trials", "trials per item"),
            count_column("n_items", "items"),
            number_column("cost", digits=2),
            number_column("width", "width of the HDI"),
            number_column("width_low", "95% interval low"),
            number_column("width_high", "high"),
        )
        return Table(columns, tuple(rows), title="Designs at the same cost")

    def _document(self) -> Document:
        table = self.table()
        return Document(
            headline=self._sentence(),
            screen=[Rows(table=table, first=["n_trials", "n_items", "width"])],
            table=table,
            caption=table.title or "",
            parts=(),
            signature=self.signature,
        )

    def _sentence(self) -> str:
        best, once = self.best, self.designs[0]
        trials = "one trial" if best.n_trials == 1 else f"{best.n_trials} trials"
        text = (
            f"With {trials} of each of {numbers.count(best.n_items)} items, the HDI of the score "
            f"is narrowest: {numbers.plain(best.width)} wide"
        )
        if best.n_trials == 1:
            return f"{text}. More trials would cost more than they are worth."
        return f"{text}, instead of {numbers.plain(once.width)} with one trial each."

    def __repr__(self) -> str:
        return f"TrialsOrItems({self._sentence()})"


def best_design(
    drawn: Components,
    *,
    item_price: float,
    trial_price: float,
    budget: float,
    prob: float,
    signature: str,
) -> TrialsOrItems:
    """Return the number of trials per item with the narrowest interval that a budget buys.

    N items with T trials each cost N (p + q T) and have a score of variance (σ_b² + σ_w² / T) / N,
    so for a given cost the variance is proportional to (σ_b² + σ_w² / T) (p + q T). It is smallest
    at T = √(p σ_w² / (q σ_b²)). The variances are estimated, so the design with the smallest
    posterior mean of the variance is chosen. If the budget buys them, a design has at least 30
    items, because fewer do not show how much items differ.
    """
    prices = {"item_price": item_price, "trial_price": trial_price, "budget": budget}
    for name, value in prices.items():
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= value < math.inf:
            raise UsageError(f"{param(name)} must be a number of at least 0; got {value!r}")
    if item_price + trial_price <= 0:
        raise UsageError(f"{param('item_price')} and {param('trial_price')} cannot both be 0")

    def n_items(trials: int) -> int:
        return int(budget / (item_price + trial_price * trials) * (1 + 1e-12))

    if n_items(1) < 2:
        raise UsageError(
            f"{param('budget')} buys fewer than two items with one trial each; got {budget!r}"
        )
    most = 10_000 if trial_price == 0 else int(max(1, (budget / 2 - item_price) / trial_price))
    grid = np.unique(np.geomspace(1, most, 400).round().astype(int))
    least = FEW_GROUPS if n_items(1) >= FEW_GROUPS else 2
    known = [each for each in grid.tolist() if n_items(each) >= least]

    def widths(trials: int) -> FloatArray:
        variance = (drawn.between + drawn.within / trials) / n_items(trials)
        return np.asarray(times * np.sqrt(variance))

    times = 2 * float(ndtri((1 + prob) / 2))
    best = min(known, key=lambda trials: float(np.square(widths(trials)).mean()))
    shown = sorted({best, *(each for each in known if each in _SHOWN)})

    return TrialsOrItems(
        item_price=float(item_price),
        trial_price=float(trial_price),
        budget=float(budget),
        n_trials=best,
        designs=tuple(
            Design(
                n_trials=each,
                n_items=n_items(each),
                cost=n_items(each) * (item_price + trial_price * each),
                width=float(widths(each).mean()),
                width_low=float(np.quantile(widths(each), 0.025)),
                width_high=float(np.quantile(widths(each), 0.975)),
            )
            for each in shown
        ),
        signature=f"{signature} | item={item_price:g} | trial={trial_price:g} | budget={budget:g}",
    )
