"""Findings: what a careful reader would doubt where documents were chosen by their predictions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from outperform.comparison.question import Question
from outperform.findings import Finding

# Of the pool, without any labelled document: from here on it may change the conclusion.
_MUCH = 0.01


def pool_findings(question: Question) -> Iterator[Finding]:
    """Yield what a choice by predictions assumes, and which strata nobody looked at."""
    view, pool = question.view, question.view.pool
    if pool is None:
        return
    labelled = pool.labelled(view.tables[0], n_labels=view.n_classes).sum(axis=1)
    sizes = pool.counts.astype(np.float64)
    apart = pool.apart
    yield Finding(
        "chosen_by_predictions",
        "note",
        f"Labelled of a pool of {pool.n:,} documents: {labelled[apart].sum():,.0f} of the "
        f"{sizes[apart].sum():,.0f} on which the models disagree and "
        f"{labelled[~apart].sum():,.0f} of the others. Each stands for those with the same "
        "predictions, which assumes that nothing else decided what was labelled.",
    )
    unseen = labelled == 0
    if not unseen.any():
        return
    share = float(sizes[unseen].sum() / sizes.sum())
    text = (
        f"{int(unseen.sum())} of {len(sizes)} pairs of predictions, {share:.1%} of the pool, are "
        "without a labelled document; what is said of them rests on the prior and on the others"
    )
    if share > _MUCH:
        yield Finding("unlabelled_strata", "warning", f"{text}. Label some of them.")
    else:
        yield Finding("unlabelled_strata", "note", f"{text}.")
