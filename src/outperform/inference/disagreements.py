"""Disagreements between two models in the data, and the decisions they allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np

from outperform._typing import BoolArray, FloatArray, IntArray, Label
from outperform.data.judged import Judged
from outperform.data.outcomes import Outcomes, true_codes
from outperform.data.scores import Scores
from outperform.data.views import predicted_codes
from outperform.decision.intervals import Interval
from outperform.decision.rope import Decision
from outperform.findings import Finding, counted, finding, quoted
from outperform.inference.items import spreads
from outperform.inference.judges import contradicts, judge_findings
from outperform.inference.spec import LabelSpec, Spec
from outperform.inference.thresholds import (
    FEW_CARRYING,
    FEW_DISAGREEMENTS,
    FEW_EFFECTIVE,
    FEW_GROUPS,
    FEW_ITEMS,
    FEW_LABELLED,
    ONE_SIDED,
    SKEWED,
    UNEVEN,
    VERY_SKEWED,
)
from outperform.metrics.metric import Order
from outperform.posterior.tails import Tail


def unit_findings(spec: Spec) -> Iterator[Finding]:
    """Yield a finding if the result depends on few groups, or on few items with scores."""
    worth = spec.n_effective
    if spec.n_groups is None and worth is not None:
        least = FEW_EFFECTIVE if worth < UNEVEN * spec.n else FEW_GROUPS
        if worth < least:
            yield finding("few_effective_items", n=worth, least=least)
            return
    n_even = spec.n_even
    if n_even is None:
        return
    items = spec.n_groups is None and (spec.weighed == "items" or worth is not None)
    if items and (spec.n < FEW_ITEMS or _few_apart(spec)):
        return  # this case has a separate message
    if len(spec.data.models) <= 2:
        tail = heavy_tail(spec, range(len(spec.data.models)))
        if tail is not None:
            if tail.skewness < VERY_SKEWED or len(spec.data.models) == 1:
                yield _of_tail(spec, tail)
            return
        yield from _levels_with_tails(spec)
    if items and spec.adds_up and n_even >= FEW_GROUPS:
        return  # the interval is wide enough unless the tail is heavy
    carrying = spec.n_carrying()
    if carrying is not None and 0 < carrying < FEW_CARRYING:
        what = "difference" if len(spec.data.models) > 1 else spec.metric.label
        yield finding(
            "few_items/influence" if items else "few_groups/influence",
            what=what,
            n=carrying,
            least=FEW_CARRYING,
        )
    elif n_even < FEW_GROUPS:
        yield finding("few_items/size" if items else "few_groups/size", n=n_even, least=FEW_GROUPS)


def heavy_tail(spec: Spec, models: Sequence[int]) -> Tail | None:
    """Return the tail of the influences on a model or difference; None if light or unknown.

    With fewer than thirty units, a tail cannot be seen, and intervals are already wider.

    Parameters
    ----------
    spec
        The question.
    models
        Index of one model, or of two.
    """
    if not spec.adds_up or spec.n_even is None or spec.n_even < FEW_GROUPS:
        return None
    tail = spec.tail(models)
    if tail is None or tail.skewness < SKEWED or tail.balance >= ONE_SIDED:
        return None
    return tail


def _of_tail(spec: Spec, tail: Tail) -> Finding:
    return finding(
        "heavy_tails/warned",
        unit=_one_unit(spec),
        share=tail.share,
        what="difference" if len(spec.data.models) > 1 else spec.metric.label,
        shape=_shape(tail),
        metric=spec.metric.label,
    )


def _one_unit(spec: Spec) -> str:
    return "item" if spec.n_groups is None else "group"


def _shape(tail: Tail) -> str:
    return "" if np.isnan(tail.k) else f", and the Pareto shape of the tail is {tail.k:.2g}"


def _levels_with_tails(spec: Spec) -> Iterator[Finding]:
    """Yield the models that have heavy tails although their difference has none."""
    if len(spec.data.models) < 2:
        return
    for index, name in enumerate(spec.data.models):
        tail = heavy_tail(spec, (index,))
        if tail is not None:
            yield finding(
                "heavy_tails/level",
                unit=_one_unit(spec),
                share=tail.share,
                metric=spec.metric.label,
                model=name,
                shape=_shape(tail),
            )


def _skewed(spec: Spec, decision: Decision, pair: tuple[int, int]) -> Finding | None:
    """Return ``heavy_tails`` if a difference depends on so few units that the decision is withheld.

    Return Return ``few_items`` if no item is expected beyond a quantile, which is then an extreme
    value.
    """
    how, n_even = spec.metric.how, spec.n_even
    if n_even is not None and isinstance(how, Order) and how.level and decision.decided:
        beyond = n_even * min(how.level, 1 - how.level)
        if beyond < 1:
            return finding(
                "few_items/quantile",
                n=n_even,
                units=spec.weighed,
                beyond=beyond,
                metric=spec.metric.label,
                symbol=decision.symbol,
            )
    tail = heavy_tail(spec, pair)
    if tail is None or tail.skewness < VERY_SKEWED:
        return None
    if not decision.decided:
        return _of_tail(spec, tail)
    return finding(
        "heavy_tails/withheld",
        unit=_one_unit(spec),
        share=tail.share,
        shape=_shape(tail),
        metric=spec.metric.label,
        symbol=decision.symbol,
    )


def _few_apart(spec: Spec) -> bool:
    """Return whether two models differ on so few items that ``few_disagreements`` applies."""
    is_pair = spec.paired and len(spec.data.models) == 2
    return is_pair and spec.n_apart((0, 1)) < FEW_DISAGREEMENTS


# From this share upwards, the part of the pool without labelled items may change the conclusion.
_UNSEEN = 0.01


def pool_findings(spec: LabelSpec) -> Iterator[Finding]:
    """Yield findings about a pool or a judge, and about unlabelled strata."""
    view, pool = spec.view, spec.view.pool
    if pool is None:
        return
    labelled: FloatArray = pool.labelled(view.tables[0], n_labels=view.n_classes).sum(axis=1)
    sizes = pool.counts.astype(np.float64)
    if isinstance(pool, Judged):
        yield from judge_findings(spec)
    else:
        yield finding(
            "chosen_by_predictions",
            n=pool.n,
            apart=labelled[pool.apart].sum(),
            n_apart=sizes[pool.apart].sum(),
            others=labelled[~pool.apart].sum(),
        )
        if FEW_ITEMS <= spec.n < FEW_LABELLED:  # smaller numbers have a separate message
            yield finding("few_items/pool", items=counted(spec.n, "items"), least=FEW_LABELLED)
    unseen: BoolArray = labelled == 0
    share = float(sizes[unseen].sum() / sizes.sum())
    n_unseen, n = int(unseen.sum()), len(sizes)
    if n_unseen and isinstance(pool, Judged):
        if view.n_classes > 2:
            yield finding("unlabelled_ratings/alike", unseen=n_unseen, n=n, share=share)
            return
        yield finding(
            "unlabelled_ratings/many" if share > _UNSEEN else "unlabelled_ratings/few",
            unseen=n_unseen,
            n=n,
            share=share,
        )
    elif n_unseen:
        yield finding(
            "unlabelled_strata/many" if share > _UNSEEN else "unlabelled_strata/few",
            unseen=n_unseen,
            n=n,
            share=share,
        )


_MUCH = 1.2  # factor for the sd


def repeated_findings(
    spec: Spec, sd: float, *, models: Sequence[int] = (0, 1)
) -> Iterator[Finding]:
    """Yield ``repeated_ids`` for the column that would change the sd the most.

    Parameters
    ----------
    spec
        The question.
    sd
        Posterior sd of the result.
    models
        Indices of A and B in the spec, or of one model.
    """
    if not isinstance(spec, LabelSpec) or spec.view.groups is not None:
        return
    ratios = [
        (spread, column)
        for column in spec.data._repeated
        if (spread := spreads(spec, column, models)) is not None
    ]
    if not ratios:
        return
    (grouped, apart), column = max(ratios, key=lambda entry: entry[0].ratio)
    names = " − ".join(spec.view.models[index] for index in models)
    name, values, rows = column.column, column.n_values, column.n_rows
    if np.isnan(grouped):
        yield finding("repeated_ids/unknown", column=name, values=values, rows=rows)
        return
    yield finding(
        "repeated_ids/known",
        level="warning" if grouped > _MUCH * apart else "note",
        column=name,
        values=values,
        rows=rows,
        what=names,
        grouped=grouped,
        sd=sd,
    )


def often(times: int) -> str:
    """State how often every item was counted, if more than once."""
    return "" if times == 1 else f" (every item counted {times} times)"


_MOST_NAMED = 3


def matching_findings(spec: LabelSpec) -> Iterator[Finding]:
    """Yield ``predictions_never_match`` for every model that never predicts a true class."""
    noun = _NOUNS.get(spec.data.kind, "class")
    for index, model in enumerate(spec.data.models):
        if spec.never_matches(index):
            true, predicted = true_codes(spec.data), predicted_codes(spec.data, index)
            yield finding(
                "predictions_never_match",
                model=model,
                noun=noun,
                predicted=_named(spec.data.labels, predicted),
                true=_named(spec.data.labels, true),
            )


_NOUNS = {"spans": "type", "label_sets": "label"}


def _named(labels: tuple[Label, ...], codes: IntArray) -> str:
    return quoted([labels[code] for code in codes], most=_MOST_NAMED, escaped=True)


# Without any disagreement in n items, this prior mass gives a 95% interval of ±1.6 / n.
_EXPECTED = 0.5

Places: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""Indices of the runs of A and of B among the models of a spec."""


def allow(
    spec: Spec, decision: Decision, hdi: Interval, pair: tuple[int, int] = (0, 1)
) -> tuple[Decision, Finding | None]:
    """Return the decision if the data allow it, and a finding if few items differ."""
    few = disagreement_finding(spec, decision, hdi, pair)
    return Decision.UNDECIDED if withholds(spec, few, pair) else decision, few


def withholds(spec: Spec, few: Finding | None, pair: Sequence[int]) -> bool:
    """Return whether a decision depends on few disagreements or on unsuitable data."""
    return wrong_data(spec, pair) or (few is not None and few.level == "serious")


def wrong_data(spec: Spec, pair: Sequence[int]) -> bool:
    """Return whether the data do not suit the question because of labels, votes or human labels."""
    if contradicts(spec) or spec.rests_on_strengths(pair):
        return True
    return any(spec.never_matches(index) for index in pair)


def allow_runs(
    spec: Spec, decision: Decision, hdi: Interval, positions: Places
) -> tuple[Decision, Finding | None]:
    """Return the decision about runs if the data allow it; see :func:`allow`."""
    a, b = positions
    few = _few_between_runs(spec, decision, hdi, positions)
    if any(spec.never_matches(index) for index in (*a, *b)):
        return Decision.UNDECIDED, few
    return unless_serious(decision, few), few


def _few_between_runs(
    spec: Spec, decision: Decision, hdi: Interval, positions: Places
) -> Finding | None:
    """Return ``few_disagreements`` if every run of A differs from every run of B on few items."""
    finding, (a, b) = None, positions
    for pair in product(dict.fromkeys(a), dict.fromkeys(b)):
        finding = disagreement_finding(spec, decision, hdi, pair)
        if finding is None:
            return None
    return finding


def unless_serious(decision: Decision, few: Finding | None) -> Decision:
    """Return the decision, or undecided if it depends on too few disagreements."""
    serious = few is not None and few.level == "serious"
    return Decision.UNDECIDED if serious else decision


def disagreement_finding(
    spec: Spec, decision: Decision, hdi: Interval, pair: tuple[int, int] = (0, 1)
) -> Finding | None:
    """Return ``few_disagreements`` if the data barely distinguish two of the models.

    The finding is serious, and ≈ is withheld, if the prior gives disagreement less than half an
    item in each direction, as the default for two classes does. Otherwise an interval of zero width
    would give ≈ whatever the number of items. Without any prior, a single disagreement puts all
    draws on one side of zero, so ≫ and ≪ are withheld as well.
    """
    if not spec.paired:
        return _skewed(spec, decision, pair)
    apart = spec.n_apart(pair)
    equal = decision is Decision.EQUIVALENT
    # Without a prior, the difference may be stuck at zero however often the models disagree.
    still = equal and hdi.width == 0 and not spec.prior.proper
    if apart >= FEW_DISAGREEMENTS * spec.counting.times and not still:
        return _few_carrying(spec, decision, pair)
    expected = spec.prior_disagreement
    withheld = (equal and expected < _EXPECTED) or (decision.decided and expected == 0)
    first, second = (spec.data.models[index] for index in pair)
    if are_same(spec.data, first, second):
        return _same(first, second, decision if withheld else None)
    if withheld and apart >= FEW_DISAGREEMENTS * spec.counting.times:
        return finding("few_disagreements/no_width", symbol=decision.symbol)
    items = f"{counted(apart, spec.weighed)}{often(spec.counting.times)}"
    if withheld:
        return finding(
            "few_disagreements/prior" if spec.prior.proper else "few_disagreements/bootstrap",
            items=items,
            symbol=decision.symbol,
        )
    return finding("few_disagreements/few", items=items) if apart else _never(spec)


def _few_carrying(spec: Spec, decision: Decision, pair: tuple[int, int]) -> Finding | None:
    """Return the finding that withholds a decision based on few scores, label sets or spans.

    An average over labels or types gives an item of a rare label the weight of many others.
    """
    if spec.data.kind not in ("spans", "label_sets"):
        return _skewed(spec, decision, pair)
    if not decision.decided:
        return None
    n = spec.n_carrying(pair)
    if n is None or n >= FEW_CARRYING:
        return None
    return finding("few_disagreements/influence", n=n, units=spec.weighed, symbol=decision.symbol)


def are_same(data: Outcomes | Scores, first: str, second: str) -> bool:
    """Return whether two models have identical predictions or scores."""
    i, j = data.models.index(first), data.models.index(second)
    if isinstance(data, Scores) and data.moments is not None:
        return bool(data.moments.apart[i, j] == 0)
    if isinstance(data, Scores):
        return np.array_equal(data.values[i], data.values[j])
    if not data.paired:
        return False
    if data.pool is not None:
        return data.pool.same(i, j)
    answers = data.tables[0].cells[:, 1:]
    return np.array_equal(answers[:, i], answers[:, j])


def _same(first: str, second: str, withheld: Decision | None) -> Finding:
    """Report that two columns are identical."""
    if withheld is None:
        return finding("few_disagreements/same", one=first, two=second)
    return finding("few_disagreements/same_withheld", one=first, two=second, symbol=withheld.symbol)


def _never(spec: Spec) -> Finding:
    """Report that the data do not distinguish the models."""
    if spec.pool is not None and spec.pool.apart.any():
        return finding("few_disagreements/unlabelled")
    return finding("few_disagreements/never")
