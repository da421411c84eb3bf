"""Findings: does the verdict depend on the prior, and what else would another model change?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from outperform.comparison.checks import is_pulled
from outperform.comparison.scored import Asked
from outperform.decision import Decision
from outperform.findings import Finding

if TYPE_CHECKING:
    from outperform.comparison.result import Comparison

# What a model weighs and whether it pairs is no part of its prior.
_UNDONE = {
    "unpaired_model": "it pairs",
    "groups_ignored": "it weighs groups, and this comparison weighs documents",
    "independent_spans": "it weighs sentences or documents, and this comparison weighs spans",
    "independent_labels": "it weighs documents, and this comparison takes every label by itself",
}


def more_than_prior(own: Asked, other: Asked) -> str | None:
    """Say what another model changes besides the prior; None if nothing.

    Parameters
    ----------
    own
        What the comparison asked.
    other
        The same, asked of another model.
    """
    before, after = (
        {one.name: one.message for one in question.findings if one.name in _UNDONE}
        for question in (own, other)
    )
    for name in after:
        if name not in before:
            return after[name].partition(". ")[0].partition(", so ")[0]  # the rest is advice
    return next((words for name, words in _UNDONE.items() if name in before.keys() - after), None)


def dependence_findings(
    rows: Mapping[str, Comparison], apart: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield ``verdict_depends_on_prior`` where another prior decides otherwise.

    It warns where a proper prior does that pulls no more than the comparison's own, and is a note
    where only priors do that pull, or a model without any. What may be the draws' doing
    is not called dependence.

    Parameters
    ----------
    rows
        The comparisons by the names of their priors, the comparison's own first.
    apart
        The names of those that change more than the prior.
    """
    (name, own), *others = rows.items()
    other = {key: one for key, one in others if key not in apart and _firm(one) is not _firm(own)}
    unsettled = [key for key, one in other.items() if _is_coarse(own) or _is_coarse(one)]
    settled = {key: one for key, one in other.items() if key not in unsettled}
    says = "; ".join(f"{key} says {_said(one)}" for key, one in settled.items())
    if any(_weighs(one, own) for one in settled.values()):
        yield Finding(
            "verdict_depends_on_prior",
            "warning",
            f"The verdict {own.decision.symbol} of {name} depends on the prior: {says}. The data "
            f"alone do not decide; report all of them.{_explained([own, *settled.values()])}",
        )
    elif settled:
        yield Finding(
            "verdict_depends_on_prior",
            "note",
            f"Every proper prior that does not pull agrees with the verdict {own.decision.symbol} "
            f"of {name}, but {says}.{_explained(settled.values())}",
        )
    if unsettled:
        yield Finding(
            "monte_carlo_too_coarse",
            "note",
            f"Whether the verdict depends on {_listed([name, *unsettled])} cannot be told, as an "
            "end of an HDI is too near to an edge of the ROPE for so many draws; draw more with "
            "n_draws=.",
        )


def _firm(comparison: Comparison) -> Decision | None:
    return comparison.decision if comparison.decision.decided else None


def _is_coarse(comparison: Comparison) -> bool:
    return any(
        one.name == "monte_carlo_too_coarse" and one.level == "warning"
        for one in comparison.findings
    )


def pulls(comparison: Comparison) -> bool:
    """Return whether a proper prior moves a mean by more than half a posterior sd."""
    parts = (comparison.a, comparison.b, comparison)
    return _has_prior(comparison) and any(
        is_pulled(one.observed, one.mean, one.sd) for one in parts
    )


def _weighs(other: Comparison, own: Comparison) -> bool:
    """Return whether another verdict speaks against the own one rather than its prior."""
    return _has_prior(other) and (pulls(own) or not pulls(other))


def _has_prior(comparison: Comparison) -> bool:
    question = comparison.question
    return question.model.proper or question.given.engine.own is not None


def _said(comparison: Comparison) -> str:
    words = f"{comparison.decision.symbol} ({comparison.decision.words})"
    if not _has_prior(comparison):
        return f"{words}, without a prior"
    return f"{words}, but pulls" if pulls(comparison) else words


def _explained(comparisons: Iterable[Comparison]) -> str:
    if not any(map(pulls, comparisons)):
        return ""
    return " A prior pulls if it moves a mean off what was observed by over half a posterior sd."


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]])
