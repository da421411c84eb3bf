"""A proposal: which documents of a pool to label, in which order, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from outperform import present
from outperform._typing import IntArray, Label
from outperform.comparison.summary import SCHEMA
from outperform.comparison.tabular import Tabular
from outperform.errors import DataError
from outperform.outcomes import Outcomes


class Stratum(NamedTuple):
    """All documents of the pool with the same two predictions."""

    a: Label
    b: Label
    n_pool: int
    n_proposed: int

    @property
    def agree(self) -> bool:
        """Whether both models say the same."""
        return self.a == self.b


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Proposal(Tabular):
    """Which documents of a pool to label so that two models are told apart with few labels.

    Parameters
    ----------
    documents
        Their places in the predictions of A, counted from 0, in the order in which to label them.
        Whoever stops early has a fair sample too: of every stratum about the same share is done.
    strata
        Every pair of predictions, how many documents of the pool have it, and how many of these
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

    documents: IntArray = field(repr=False)
    strata: tuple[Stratum, ...]
    names: tuple[str, str]
    predictions: Mapping[str, Any]
    labels: tuple[Label, ...] | None
    metric: str
    signature: str

    @property
    def n_pool(self) -> int:
        """The number of documents in the pool."""
        return sum(one.n_pool for one in self.strata)

    def outcomes(self, y_true: Any) -> Outcomes:
        """Count the proposed documents once they, or the first of them, are labelled.

        Parameters
        ----------
        y_true
            The true labels of ``documents``, in their order, of all or of the first of them.

        Examples
        --------
        >>> import outperform as op
        >>> new, old = [1, 1, 0, 0] * 25, [1, 0, 0, 0] * 25
        >>> proposal = op.propose(new, old, budget=40, names=("new", "old"), random_state=0)
        >>> y_true = [new[place] for place in proposal.documents]  # somebody labels them
        >>> proposal.outcomes(y_true)
        Outcomes(n=40, models=('new', 'old'), labels=(0, 1), paired=True, cells=3, pool=100)
        """
        if not hasattr(y_true, "__len__") or not 0 < len(y_true) <= len(self.documents):
            raise DataError(
                f"y_true must hold the labels of the {len(self.documents)} proposed documents, or "
                "of the first of them, in their order; for others use Outcomes.from_pool"
            )
        which = self.documents[: len(y_true)]
        return Outcomes.from_pool(y_true, self.predictions, which=which, labels=self.labels)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the predictions as plain values, with a schema version."""
        return {
            "schema": SCHEMA,
            "kind": "proposal",
            "names": list(self.names),
            "metric": self.metric,
            "n_pool": self.n_pool,
            "n_proposed": len(self.documents),
            "n_apart": sum(one.n_pool for one in self.strata if not one.agree),
            "n_proposed_apart": sum(one.n_proposed for one in self.strata if not one.agree),
            "strata": [one._asdict() for one in self.strata],
            "documents": self.documents.tolist(),
            "signature": self.signature,
        }

    def table(self) -> present.Table:
        """Return one row a stratum, those with most to label first."""
        return present.proposal_table(self.to_dict())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({present.proposal_headline(self.to_dict())})"

    def __str__(self) -> str:
        return present.proposal_text(self.to_dict())


def interleave(chosen: IntArray, generator: np.random.Generator) -> IntArray:
    """Return the stratum of every place in the order, so that each prefix is shared out fairly.

    The j-th of n documents of a stratum comes at about j/n of the way, each stratum with a start
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
