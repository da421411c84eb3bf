"""The ratio A / B instead of the difference: ``c.ratio``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from outperform._json import to_json, written
from outperform._typing import Axes, FigureSize, FloatArray
from outperform.decision.rope import (
    CurveStep,
    Decision,
    Masses,
    Rope,
    RopeLike,
    decide,
    masses_from_draws,
    probability_error,
    rope_curve,
)
from outperform.display.curve_figure import draw_ratio
from outperform.display.document import Document, Rows
from outperform.display.formats import latex_label, number_column, probability_column, text_column
from outperform.display.numbers import for_text, true_minus
from outperform.display.pictures import Span, tone
from outperform.display.sentences import answer
from outperform.display.table import Table
from outperform.errors import DataError, UsageError, param
from outperform.findings import Finding, finding, is_serious
from outperform.inference import disagreements
from outperform.inference.diagnostics import interval_findings
from outperform.inference.spelling import SPELLED
from outperform.inference.summary import (
    Summary,
    summarize,
)
from outperform.results.base import Tabular
from outperform.results.compared import Compared
from outperform.results.details import RunDetails

LONGEST = 30
_IN_SENTENCE = {"metric", "sd", "decision"}  # already shown by the sentence or the interval
# Findings about the interval and the ROPE of the difference do not apply to the ratio.
_OF_DIFFERENCE = {
    "default_rope", "zero_width_rope", "monte_carlo_too_coarse", "few_disagreements",
    "hdi_and_equal_tails_disagree",
}  # fmt: skip


@written(
    "names metric metric_label=of.spec.metric.label "
    "greater_is_better=of.spec.metric.greater_is_better observed *_summary rope "
    "p_worse p_equivalent p_better p_greater mc_errors n_draws=draws.size decision findings "
    "signature=of.signature",
    kind="ratio",
)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Ratio(Summary, Tabular):
    """Posterior of A / B in a metric, with the decision, interval and probabilities.

    For mean, sd, HDI and Monte Carlo errors see :class:`Summary`.

    Parameters
    ----------
    of
        The comparison whose draws are divided.
    observed
        Ratio of the plug-in values.
    rope
        Range of ratios that do not matter in practice, such as 0.95 to 1.05.
    decision
        The decision.
    draws
        Draws of A / B.
    findings
        Findings about data and result.

    Examples
    --------
    >>> import outperform as op
    >>> c = op.compare(None, [1.0, 2.0, 3.0] * 40, [2.0, 4.0, 6.0] * 40, metric="mean_cost",
    ...                rope=0.5, random_state=1)
    >>> c.ratio(rope=0.05)
    Ratio(≫ A is better than B: mean cost 50.0% lower (95% HDI −50.0% to −50.0%), ROPE ±5%.)
    """

    of: Compared
    observed: float
    rope: Rope
    _masses: Masses
    decision: Decision
    draws: FloatArray = field(repr=False)
    findings: tuple[Finding, ...]

    @property
    def metric(self) -> str:
        """Name of the metric."""
        return self.of.metric

    @property
    def names(self) -> tuple[str, str]:
        """Names of A and B."""
        return self.of.names

    @property
    def p_worse(self) -> float:
        """Probability that A is worse than B by more than the ROPE."""
        return self._masses.below if self._greater else self._masses.above

    @property
    def p_equivalent(self) -> float:
        """Probability that the ratio lies in the ROPE."""
        return self._masses.inside

    @property
    def p_better(self) -> float:
        """Probability that A is better than B by more than the ROPE."""
        return self._masses.above if self._greater else self._masses.below

    @property
    def p_greater(self) -> float:
        """Probability that A / B is above 1."""
        return self._masses.greater

    @property
    def mc_errors(self) -> dict[str, float]:
        """Monte Carlo standard errors of the mean and of each probability."""
        names = ("p_worse", "p_equivalent", "p_better", "p_greater")
        n = self.of.n_effective
        return {"mean": self.mcse} | {
            name: probability_error(getattr(self, name), n) for name in names
        }

    def rope_curve(self) -> tuple[CurveStep, ...]:
        """Return the decision for every half-width of the ROPE around 1."""
        hdi, rope = _from_one(self.hdi), _from_one(self.rope)
        steps = rope_curve(hdi, rope, np.sort(self.draws - 1), greater_is_better=self._greater)
        withheld = self.decision is Decision.UNDECIDED and is_serious(self.findings)
        return tuple(
            replace(step, decision=Decision.UNDECIDED) if withheld else step for step in steps
        )

    @property
    def _greater(self) -> bool:
        return self.of.spec.metric.greater_is_better

    def report(self) -> str:
        """Return the answer in one sentence."""
        return self._sentence()

    def _sentence(self) -> str:
        way = "higher" if self.mean > 1 else "lower"
        low, high = (true_minus(f"{end - 1:+.1%}") for end in (self.hdi.low, self.hdi.high))
        fields = {"names": self.names, "decision": {"name": self.decision.name}}
        return (
            f"{answer(fields, limit=LONGEST)}: {for_text(self.of.spec.metric.label)} "
            f"{abs(self.mean - 1):.1%} {way} ({100 * self.hdi.prob:g}% HDI {low} to {high}), "
            f"ROPE {per_cent(self.rope)}."
        )

    def table(self) -> Table:
        """Return one row: the ratio, its interval, the probabilities and the decision."""
        row = {
            "metric": self.metric,
            "observed": self.observed,
            "mean": self.mean,
            "sd": self.sd,
            "hdi_low": self.hdi.low,
            "hdi_high": self.hdi.high,
            "p_worse": self.p_worse,
            "p_equivalent": self.p_equivalent,
            "p_better": self.p_better,
            "decision": f"{self.decision.symbol} {self.decision.words}",
        }
        n, (a, b) = self.draws.size, (for_text(name, limit=LONGEST) for name in self.names)
        hdi = f"{100 * self.hdi.prob:g}% HDI"
        columns = (
            text_column("metric"),
            *(number_column(key) for key in ("observed", "mean", "sd")),
            number_column("hdi_low", f"{hdi} low"),
            number_column("hdi_high", "high"),
            probability_column("p_worse", "P(worse)", n),
            probability_column("p_equivalent", "P(ROPE)", n),
            probability_column("p_better", "P(better)", n),
            text_column("decision"),
        )
        rope = f"{self.rope.low:g} to {self.rope.high:g}"
        return Table(columns, (row,), title=f"{a} / {b} (ROPE {rope})")

    def _document(self) -> Document:
        table = self.table()
        span = Span(
            low=self.hdi.low,
            high=self.hdi.high,
            mean=self.mean,
            observed=self.observed,
            rope=(self.rope.low, self.rope.high),
            tone=tone(self.decision.symbol),
        )
        return Document(
            headline=self._sentence(),
            tone=tone(self.decision.symbol),
            screen=[Rows(table=table.only([key for key in table.keys if key not in _IN_SENTENCE]))],
            table=table,
            spans=[span],
            zero=False,
            findings=[(each.level, each.message, each.name) for each in self.findings],
            caption=table.title or "",
            signature=self.of.signature,
        )

    def _latex_label(self) -> str:
        return latex_label(*self.names, self.metric, "ratio")

    def plot(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw the posterior of the change, A / B − 1 in per cent, with HDI and ROPE.

        Parameters
        ----------
        ax
            Axes to draw on, which are returned. Default: new axes.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        facts: dict[str, Any] = {
            **self.to_dict(),
            "mean": 100 * (self.mean - 1),
            "sd": 100 * self.sd,
            "observed": 100 * (self.observed - 1),
            "hdi": to_json(_from_one(self.hdi, per=100)),
            "rope": to_json(_from_one(self.rope, per=100)),
        }
        draws = 100 * (self.draws - 1)
        return draw_ratio(draws, facts=facts, title=self._sentence(), ax=ax, size=size)

    def __repr__(self) -> str:
        return f"Ratio({self.decision.symbol} {self._sentence()})"


def ratio(comparison: Compared, *, rope: RopeLike) -> Ratio:
    """Divide the draws of A by those of B."""
    if isinstance(comparison.details, RunDetails):
        raise UsageError("training runs cannot be compared by a ratio; compare single runs")
    a, b = comparison.a.draws, comparison.b.draws
    if b.min() <= 0:
        raise DataError(
            f"{comparison.metric} of {comparison.names[1]!r} is not certainly above 0 (its draws "
            f"range from {b.min():.3g} to {b.max():.3g}), so a ratio is meaningless; use the "
            "difference, or a positive metric such as mean_cost instead of neg_mean"
        )
    draws = a / b
    region, ordered = _around_one(rope), np.sort(draws)
    numbers = summarize(ordered, None, comparison.hdi.prob, chain=comparison.chain)
    better = comparison.spec.metric.greater_is_better
    change = _from_one(region)
    masses = masses_from_draws(ordered - 1, change)
    decision = decide(numbers.hdi, region, masses, greater_is_better=better)
    decision, few_finding = disagreements.allow(comparison.spec, decision, _from_one(numbers.hdi))
    findings = (
        *(each for each in comparison.findings if each.name not in _OF_DIFFERENCE),
        *([] if few_finding is None else [few_finding]),
        *interval_findings(
            comparison.spec, numbers, region, masses, n_draws=comparison.n_effective
        ),
    )
    spelled = any(each.name == SPELLED and each.level == "serious" for each in comparison.findings)
    vague = _vague(comparison, decision)
    withheld = vague is not None and vague.level == "serious"
    if spelled or withheld or (comparison.chain is not None and not comparison.chain.converged):
        decision = Decision.UNDECIDED
    return Ratio(
        of=comparison,
        observed=comparison.a.observed / comparison.b.observed,
        **numbers._fields(),
        rope=region,
        _masses=masses,
        decision=decision,
        draws=draws,
        findings=findings if vague is None else (*findings, vague),
    )


# A count of k events, such as errors, has a relative standard error of about 1 / √k. In simulations
# of rates, 92% of the 95% intervals of a ratio contain the true value if the rarer count is 10 to
# 15, and less than 90% do so below that.
_VAGUE, _VERY_VAGUE = 1 / 4, 1 / 3


def _vague(comparison: Compared, decision: Decision) -> Finding | None:
    """Return ``uncertain_ratio`` if the relative sd of one of the values is large."""
    models = (comparison.a, comparison.b)
    spreads = {each.name: each.sd / each.mean if each.mean > 0 else np.inf for each in models}
    name = max(spreads, key=lambda name: spreads[name])
    if spreads[name] <= _VAGUE:
        return None
    if spreads[name] > _VERY_VAGUE and decision.decided:
        return finding(
            "uncertain_ratio/withheld",
            metric=comparison.metric,
            model=name,
            spread=spreads[name],
            symbol=decision.symbol,
        )
    return finding(
        "uncertain_ratio/warned", metric=comparison.metric, model=name, spread=spreads[name]
    )


def _around_one(rope: RopeLike) -> Rope:
    """Convert a half-width around 1, or a pair of ratios, to a ROPE."""
    region = Rope.from_param(rope, bounds=None)
    if region.symmetric and region.high < 1:
        return Rope(low=1 + region.low, high=1 + region.high)
    if not 0 < region.low <= 1 <= region.high:
        raise UsageError(
            f"{param('rope')} of a ratio must be a half-width below 1, such as 0.05, or a pair "
            f"around 1, such as (0.95, 1.05); got {rope!r}"
        )
    return region


def _from_one(region: Any, *, per: float = 1) -> Any:
    """Return an interval or a ROPE of ratios as changes; with per=100, in per cent."""
    return replace(region, low=per * (region.low - 1), high=per * (region.high - 1))


def per_cent(rope: Rope) -> str:
    """Return a ROPE of ratios as text."""
    low, high = (100 * (end - 1) for end in (rope.low, rope.high))
    text = f"±{high:g}%" if np.isclose(low, -high) else f"{low:+.3g}% to {high:+.3g}%"
    return true_minus(text)
