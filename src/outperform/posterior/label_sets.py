"""Documents with several labels: weights on documents, or one binary table for each label.

A weight of a document is a weight of all its labels at once, so what the labels of a document
have in common stays in the draws. The other way is that of Zhang et al. (ICDM 2015, section V):
one table for each label, as if a document's labels were independent of each other.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from outperform._typing import FloatArray, IntArray
from outperform.outcomes import Outcomes
from outperform.outcomes.label_sets import labels_in_both, labels_of
from outperform.posterior.linear import LinearWeights
from outperform.posterior.protocol import Drawn, Needs, NoClosedForms, Posterior, Sums, Worker
from outperform.posterior.tally import Margins


class LabelMargins(Margins):
    """Adds the weights of documents up to hits, actual and predicted of each label and model."""

    def __init__(self, outcomes: Outcomes, cells: IntArray) -> None:
        from scipy.sparse import csr_array

        self.n_classes, self.n_models = outcomes.n_classes, cells.shape[1] - 1
        truth = labels_of(outcomes.sets, cells[:, 0])
        rows, columns = [truth.label], [truth.row]
        for model in range(self.n_models):
            said = labels_of(outcomes.sets, cells[:, 1 + model])
            hits = labels_in_both(truth, said, n_labels=self.n_classes)
            start = self._offset(model)
            rows += [start + hits.label, start + self.n_classes + said.label]
            columns += [hits.row, said.row]
        row, column = np.concatenate(rows), np.concatenate(columns)
        shape = ((1 + 2 * self.n_models) * self.n_classes, len(cells))
        self.matrix = csr_array((np.ones(len(row)), (row, column)), shape=shape)


class DocumentWeights(LinearWeights):
    """One gamma for each kind of document, or of group: the bootstrap of label sets."""

    def tally(self, needs: Needs) -> Margins:
        """Return what adds the weights up for each label."""
        return LabelMargins(self.outcomes, self.cells)


class LabelByLabel(NoClosedForms):
    """A posterior of its own for every label, all independent.

    Parameters
    ----------
    outcomes
        Label sets of one model or several paired ones.
    build
        Returns the posterior of a binary table.
    """

    def __init__(self, outcomes: Outcomes, build: Callable[[Outcomes], Posterior]) -> None:
        self.n_models = len(outcomes.models)
        self.of_labels = [build(outcomes.binarize(label)) for label in outcomes.labels]

    @property
    def n_gammas(self) -> int:
        """About how many random numbers one draw takes."""
        return sum(one.n_gammas for one in self.of_labels)

    def worker(self, needs: Needs) -> Worker:
        """Return a function that draws every label's table in turn."""
        workers = [one.worker("margins") for one in self.of_labels]

        def draw(generator: np.random.Generator, length: int) -> list[Drawn]:
            by_label = [one(generator, length) for one in workers]
            return [_stacked(list(drawn)) for drawn in zip(*by_label, strict=True)]

        return draw


def _stacked(drawn: list[Drawn]) -> Sums:
    """Return the sums of every label, each as shares of its table: all have the same documents."""
    found: list[list[FloatArray]] = [[], [], []]
    for sums in drawn:
        assert isinstance(sums, Sums)
        total = sums.actual.sum(axis=0)
        for place, values in enumerate(sums):
            found[place].append(values[1] / total)
    return Sums(*(np.stack(values) for values in found))
