"""The candidate against the anchor of a ledger, and the line that the ledger gets."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from outperform.comparison.api import compare
from outperform.comparison.result import Comparison
from outperform.data.outcomes import Outcomes
from outperform.data.scores import Scores
from outperform.errors import UsageError, param
from outperform.findings import Finding, counted, finding, quoted
from outperform.gates.ledger import (
    BUDGET,
    Course,
    Entry,
    Ledger,
    anchor_prob,
    contrast_of,
    cut_of,
    fingerprint,
    now,
)
from outperform.gates.result import AnchorCheck, Contrast, Gate
from outperform.gates.rule import Require, edge_of
from outperform.inference.spec import Spec
from outperform.inference.summary import summarize
from outperform.metrics.custom import Costs
from outperform.metrics.metric import Whole


def question_of(spec: Spec) -> str:
    """Return the metric with everything that changes its value; each question has its own course.

    Groups, priors and the number of draws change the interval, not the value that is estimated.

    Parameters
    ----------
    spec
        The checked question.
    """
    costs = spec.metric.how.function if isinstance(spec.metric.how, Whole) else None
    digest = hashlib.sha256(repr(costs).encode()).hexdigest()[:8]
    averaged = None if spec.pos_label is not None else spec.choices.labels
    parts = [
        "" if averaged is None else f"averaged over {quoted(sorted(averaged, key=str), most=None)}",
        f"costs {digest}" if isinstance(costs, Costs) else "",
        "" if spec.n_effective is None else "weighted",
        "" if spec.prevalence is None else f"prevalence {spec.prevalence}",
        "" if spec.label_errors is None else f"label errors {spec.label_errors}",
    ]
    named = "; ".join(part for part in parts if part)
    of_class = "" if spec.pos_label is None else f" of {spec.pos_label}"
    return f"{spec.metric.name}{of_class}" + (f" ({named})" if named else "")


def with_ledger(
    gate: Gate, ledger: Ledger, data: Outcomes | Scores, *, require: Require, **question: Any
) -> Gate:
    """Return the gate with the check of the anchor, and record it.

    Parameters
    ----------
    gate
        The gate without the ledger.
    ledger
        The ledger.
    data
        All models that answered these items; the anchor may be one of them.
    require
        Requirement on the main metric.
    **asked
        As for :func:`compare`, to compare the candidate with the anchor.
    """
    entries, items = ledger.entries, fingerprint(data)
    looks = 1 + sum(entry.items == items for entry in entries)
    if len(gate.names) == 1:
        estimate = gate.levels[0]
        entry = Entry(
            time=now(), items=items, n=data.n, metric=question_of(estimate.spec),
            candidate=estimate.name, status=gate.status.value, mean=estimate.mean,
            sd=estimate.sd, hdi_prob=estimate.hdi.prob,
        )  # fmt: skip
        ledger.append(entry)
        return gate
    main = gate.main
    _check_names(entries, main, items)
    course = ledger.course(question_of(main.spec), baseline=main.names[1])
    if course is not None and main.names[1] not in course.positions:
        course = None
    if course is not None and course.anchor == main.names[0]:  # it is the best release itself
        course = None
    check, direct = _checked(main, course, data, items, looks, require, question)
    noted = tuple(_looked(ledger, items, looks, data.n, main.names[0]))
    check = replace(check, noted=(*noted, *check.noted))
    result = replace(gate, checks=(gate.checks[0], check, *gate.checks[1:]))
    ledger.append(_entry(result, main, check, direct, items, course, require))
    return result


def _check_names(entries: tuple[Entry, ...], main: Comparison, items: str) -> None:
    """Raise an error if a name stands for several models, which would start a course anew."""
    new, old = main.names
    if {new, old} == {"candidate", "baseline"}:
        raise UsageError(
            f"a ledger needs the names of the models; type gate(outcomes, 'v2', 'v1', "
            f"{param('ledger=', 'gates.jsonl')}), with outcomes from op.read or "
            "Outcomes.from_labels"
        )
    metric = question_of(main.spec)
    for entry in entries:
        same = (entry.candidate, entry.baseline, entry.metric) == (new, old, metric)
        if same and entry.released and entry.items != items:
            raise UsageError(
                f"the ledger has released {new!r} against {old!r} before, on other items; give "
                "every release a name of its own, such as its version, and every task "
                "a ledger of its own"
            )


def _looked(ledger: Ledger, items: str, looks: int, n: int, candidate: str) -> Iterator[Finding]:
    if looks > 1:
        names = {entry.candidate for entry in ledger.entries if entry.items == items}
        yield finding(
            "ledger_looks",
            ordinal=ordinal(looks),
            items=counted(n, "items"),
            candidates=counted(len(names | {candidate}), "candidates"),
        )


def ordinal(number: int) -> str:
    """Return a number as an ordinal.

    Examples
    --------
    >>> [ordinal(number) for number in (1, 2, 3, 11, 38, 102)]
    ['1st', '2nd', '3rd', '11th', '38th', '102nd']
    """
    tens = 10 <= number % 100 <= 20
    ending = "th" if tens else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


def _sign(comparison: Comparison) -> float:
    return 1.0 if comparison.spec.metric.greater_is_better else -1.0


def _checked(
    main: Comparison,
    course: Course | None,
    data: Outcomes | Scores,
    items: str,
    looks: int,
    require: Require,
    question: dict[str, Any],
) -> tuple[AnchorCheck, Comparison | None]:
    """Return the check of the anchor, and the comparison with it if there is one."""
    new, old = main.names
    anchor = old if course is None else course.anchor
    prob = anchor_prob(main.hdi.prob)
    noted: tuple[Finding, ...] = ()
    direct: Comparison | None = None
    if anchor == old:
        direct = main
    elif anchor in data.models and course is not None and items not in course.reused:
        chosen = question.get("chosen_from")
        if isinstance(chosen, (Outcomes, Scores)) and anchor not in chosen.models:
            question = {**question, "chosen_from": len(chosen.models)}
        direct = compare(data, new, anchor, rope=main.rope, **question)
        noted = tuple(finding for finding in direct.findings if finding.level == "serious")
    widened = direct is not None and (direct.selection is not None or direct.any_look is not None)
    if direct is not None and widened:
        wide = compare(data, new, anchor, rope=main.rope, **{**question, "hdi_prob": prob})
        numbers = wide._summary
    elif direct is not None:
        ordered = np.sort(direct.draws)
        numbers = summarize(ordered, direct.distribution, prob, signed=True, chain=direct.chain)
    else:
        assert course is not None
        position = course.positions[old]
        sign = _sign(main)
        numbers = contrast_of(position, sign * main.mean, main.sd, main.hdi.prob)
        numbers = numbers if sign > 0 else -numbers
        noted = (
            finding("ledger_reused" if items in course.reused else "ledger_chain", anchor=anchor),
        )
    margin = _margin(main)
    contrast = Contrast(
        **numbers._fields(),
        metric=main.metric,
        metric_label=main.spec.metric.label,
        greater_is_better=main.spec.metric.greater_is_better,
        n=main.n,
        observed=None if direct is None else direct.observed,
        signature=main.signature if direct is None else direct.signature,
    )
    check = AnchorCheck(
        anchor=anchor,
        contrast=contrast,
        edge=-_sign(main) * BUDGET * margin,
        direct=direct is not None,
        looks=looks,
        noted=noted,
    )
    return check, direct


def _margin(main: Comparison) -> float:
    """Return how much worse than the baseline is not worse."""
    return abs(edge_of(main, "not_worse"))


def _entry(
    gate: Gate,
    main: Comparison,
    check: AnchorCheck,
    direct: Comparison | None,
    items: str,
    course: Course | None,
    require: Require,
) -> Entry:
    """Return the line of a decision, with the difference above which the candidate could pass."""
    sign = _sign(main)
    below = main.mean - main.hdi.low if sign > 0 else main.hdi.high - main.mean
    cut = sign * edge_of(main, require) + below
    position = None if direct is not None or course is None else course.positions[main.names[1]]
    oriented = check.contrast if sign > 0 else -check.contrast._summary
    cut = cut_of(cut, position, oriented, sign * check.edge)
    compared = direct is not None and direct is not main
    return Entry(
        time=now(),
        items=items,
        n=main.n,
        metric=question_of(main.spec),
        candidate=main.names[0],
        baseline=main.names[1],
        status=gate.status.value,
        mean=sign * main.mean,
        sd=main.sd,
        cut=cut,
        margin=_margin(main),
        anchor=check.anchor if compared else None,
        anchor_mean=sign * check.contrast.mean if compared else None,
        anchor_sd=check.contrast.sd if compared else None,
        hdi_prob=main.hdi.prob,
    )
