"""``NoiseFloor``: how much the results of an evaluation vary if nothing changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from outperform._json import written
from outperform._typing import Label
from outperform.decision.rope import Rope
from outperform.display.document import Document
from outperform.display.table import Table
from outperform.findings import Finding
from outperform.inference.summary import Summary
from outperform.noise.design import TrialsOrItems, best_design
from outperform.noise.floor import Components
from outperform.noise.text import flaky_table, noise_document, noise_headline, noise_table
from outperform.results.base import Tabular


@written("id n mean flip_rate")
@dataclass(frozen=True, slots=True, kw_only=True)
class FlakyItem:
    """Item whose answers differ between runs.

    Parameters
    ----------
    id
        Id of the item, or its row number.
    n
        Number of answers.
    mean
        Mean of the answers: the share of right ones, or the mean grade.
    flip_rate
        Share of pairs of answers that differ.
    """

    id: Label
    n: int
    mean: float
    flip_rate: float


@written(
    "runs n n_answers n_trials binary rope target flip_rate icc smallest_effect trial_share "
    "p_gate_flips p_gate_passes p_gate_fails score_sd n_flaky flaky findings signature",
    kind="noise",
)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class NoiseFloor(Tabular):
    """Noise of an evaluation, from several runs of the same model.

    Parameters
    ----------
    runs
        Names of the runs.
    n
        Number of items.
    n_answers
        Number of answers to all items, in all runs.
    n_trials
        Number of answers to each item in one run of the design that is judged.
    binary
        Whether the answers are right or wrong, not grades.
    rope
        ROPE of the gate.
    target
        Probability with which the smallest effect is declared better.
    flip_rate
        Probability that two answers to an item differ.
    icc
        Intraclass correlation: share of the items in the variance of one answer.
    smallest_effect
        Smallest true difference that this design declares better with probability ``target``, if
        the models differ by noise and by this effect only.
    trial_share
        Share of the trials in the variance of a run's score. More trials remove at most this share.
    p_gate_flips
        Probability that a gate between two runs of the same model has another result if the
        candidate is run again.
    p_gate_passes, p_gate_fails
        Probability that such a gate passes, and that it fails.
    score_sd
        Standard deviation of a run's score if the same items are run again.
    n_flaky
        Number of items whose answers differ.
    flaky
        Items whose answers differ, the least stable first. Empty if equal items were counted
        together.
    findings
        Findings about the data and the runs.
    signature
        One line with everything needed to repeat the computation.

    Examples
    --------
    >>> import outperform as op
    >>> runs = {"monday": [1, 1, 0, 1] * 50, "tuesday": [1, 0, 0, 1] * 50}
    >>> noise = op.noise_floor(runs, rope=0.05, random_state=0)
    >>> noise.n_flaky, noise.flaky[0].id
    (50, 1)
    """

    runs: tuple[str, ...]
    n: int
    n_answers: int
    n_trials: int
    binary: bool
    rope: Rope
    target: float
    flip_rate: Summary
    icc: Summary
    smallest_effect: Summary
    trial_share: Summary
    p_gate_flips: Summary
    p_gate_passes: Summary
    p_gate_fails: Summary
    score_sd: Summary
    n_flaky: int
    flaky: tuple[FlakyItem, ...]
    findings: tuple[Finding, ...]
    signature: str
    _drawn: Components = field(repr=False)

    def __iter__(self) -> Iterator[FlakyItem]:
        return iter(self.flaky)

    def items(self) -> Table:
        """Return one row per item whose answers differ, the least stable first."""
        return flaky_table(self.to_dict())

    def plan(self, *, item_price: float, trial_price: float, budget: float) -> TrialsOrItems:
        """Return how many items, and how many trials of each, are best for given prices.

        Parameters
        ----------
        item_price
            Price of one more item, such as writing and labelling it.
        trial_price
            Price of one answer to one item.
        budget
            Most that all items and answers may cost.
        """
        return best_design(
            self._drawn,
            item_price=item_price,
            trial_price=trial_price,
            budget=budget,
            prob=self.flip_rate.hdi.prob,
            signature=self.signature,
        )

    def table(self) -> Table:
        """Return one row per number, with its interval."""
        return noise_table(self.to_dict())

    def _document(self) -> Document:
        return noise_document(self.to_dict())

    def __repr__(self) -> str:
        return f"NoiseFloor({noise_headline(self.to_dict())})"
