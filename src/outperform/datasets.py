"""Bundled example data: predictions of four text classifiers on 20 Newsgroups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import Final

import numpy as np

from outperform._typing import AnyArray

CLASSIFIERS: Final = ("nb_bern", "nb_mult", "svm_l1", "svm_l2")

_DESCRIPTION: Final = """\
The 20 Newsgroups collection, "bydate" split: true groups of the 7,532 test
documents and the predictions of four text classifiers trained on the 11,314
training documents.

  nb_bern   Bernoulli naive Bayes
  nb_mult   multinomial naive Bayes
  svm_l1    linear support vector machine, L1 penalty
  svm_l2    linear support vector machine, L2 penalty

Headers, footers and quoted lines were removed, words counted, and each
document's counts scaled to unit length. Documents are sorted by group and,
within each group, by file name.

Source: the 20 Newsgroups collection gathered by Ken Lang, public research
data. Only labels and predictions computed from it are included here, none of
the texts. The classifiers are those of Zhang, Wang, Zhao and Wang (ICDM 2015)
and Zhang, Wang, Yilmaz, Wang and Zhou (SIGIR 2016), retrained: both naive
Bayes classifiers have the published F1 in all 20 groups; the support vector
machines differ from it in the third decimal in a few groups.
"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class News20:
    """Predictions of four classifiers for the 20 Newsgroups test documents.

    Parameters
    ----------
    y_true
        Name of the true group of each document; shape (7532,).
    predictions
        Predictions of ``"nb_bern"``, ``"nb_mult"``, ``"svm_l1"`` and ``"svm_l2"``, each like
        `y_true`.
    target_names
        The 20 groups in sorted order; the papers number them 0 to 19.
    description
        Source of the data and of the predictions.

    Examples
    --------
    >>> load_news20()
    News20(7532 documents, 20 groups, predictions: nb_bern, nb_mult, svm_l1, svm_l2)
    """

    y_true: AnyArray
    predictions: Mapping[str, AnyArray]
    target_names: tuple[str, ...]
    description: str

    def __repr__(self) -> str:
        return (
            f"News20({len(self.y_true)} documents, {len(self.target_names)} groups, "
            f"predictions: {', '.join(self.predictions)})"
        )


def load_news20() -> News20:
    """Load the predictions of four classifiers on 20 Newsgroups.

    Returns
    -------
    news
        True groups and predictions as arrays of group names, newly created on each call.

    References
    ----------
    Zhang, Wang, Zhao, Wang. A Bayesian Hierarchical Model for Comparing Average
    F1 Scores. ICDM 2015.

    Examples
    --------
    >>> news = load_news20()
    >>> news.target_names[10]
    'rec.sport.hockey'
    >>> float((news.predictions["nb_mult"] == news.y_true).mean().round(3))
    0.689
    """
    with (
        as_file(files("outperform") / "datasets" / "news20.npz") as path,
        np.load(path, allow_pickle=False) as stored,
    ):
        names = stored["target_names"]
        y_true = names[stored["y_true"]]
        predictions = {name: names[stored[name]] for name in CLASSIFIERS}
    return News20(
        y_true=y_true,
        predictions=predictions,
        target_names=tuple(names.tolist()),
        description=_DESCRIPTION,
    )


__all__ = ["News20", "load_news20"]
