"""Two metrics jointly, such as quality and cost: ``card.joint``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from outperform._json import to_json, written
from outperform._typing import Axes, FigureSize, FloatArray
from outperform.comparison.ratio import LONGEST, Ratio, per_cent
from outperform.decision.rope import Decision, probability_error
from outperform.display.curve_figure import draw_joint
from outperform.display.document import Document, Rows
from outperform.display.formats import Column, latex_label, probability_column, text_column
from outperform.display.numbers import for_text, probability
from outperform.display.table import Table
from outperform.errors import UsageError, param
from outperform.findings import Finding, is_serious
from outperform.inference import disagreements
from outperform.inference.items import draw_scores
from outperform.inference.question import Sampling
from outperform.inference.score_spec import ScoreSpec
from outperform.results.base import Tabular
from outperform.results.compared import Compared
from outperform.results.facts import HEADLINE

Event: TypeAlias = Literal["better", "equivalent", "worse"]
Verdict: TypeAlias = Literal["dominates", "equivalent", "trade_off", "dominated", "undecided"]
EVENTS: tuple[Event, ...] = get_args(Event)


@written("metric=of.metric contrast rope=of.rope mean=of.mean hdi=of.hdi decision=of.decision")
class JointPart(NamedTuple):
    """One of two metrics that are evaluated jointly.

    Parameters
    ----------
    of
        The comparison, or the ratio.
    """

    of: Compared | Ratio

    @property
    def contrast(self) -> Literal["difference", "ratio"]:
        """``"difference"`` for A − B, ``"ratio"`` for A / B."""
        return "ratio" if isinstance(self.of, Ratio) else "difference"


@written(
    "names metrics=_parts events probabilities mcse p_better_in_both "
    "p_dominates p_equivalent p_trade_off p_dominated p_not_worse mc_errors decision prob "
    "n_draws findings signature",
    kind="joint",
)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Joint(Tabular):
    """Joint probabilities that A is better, equivalent or worse in two metrics.

    Parameters
    ----------
    first, second
        The two comparisons (or their ratios), each with its ROPE.
    probabilities
        ``(3, 3)``: A is better, equivalent or worse in the first metric (rows) and in the second
        (columns).
    draws
        Joint draws of the two differences or ratios, ``(2, n_draws)``.
    prob
        Probability required for a decision.
    findings
        Findings about both metrics, without duplicates.

    Examples
    --------
    >>> import outperform as op
    >>> card = op.scorecard([1, 0, 1, 0] * 50, [1, 0, 1, 1] * 50, [1, 1, 0, 0] * 50,
    ...                     metrics=["recall", "precision"], rope=0.05, random_state=1)
    >>> joint = card.joint("recall", "precision")
    >>> joint.decision, joint.p("better", "better") > 0.9
    ('dominates', True)
    """

    first: Compared | Ratio
    second: Compared | Ratio
    probabilities: Annotated[FloatArray, 2]
    draws: FloatArray = field(repr=False)
    prob: float
    findings: tuple[Finding, ...]

    @property
    def metrics(self) -> tuple[str, str]:
        """Names of the two metrics."""
        return self.first.metric, self.second.metric

    @property
    def names(self) -> tuple[str, str]:
        """Names of A and B."""
        return self.first.names

    @property
    def _parts(self) -> tuple[JointPart, JointPart]:
        """Both metrics."""
        return JointPart(self.first), JointPart(self.second)

    @property
    def events(self) -> tuple[Event, ...]:
        """Meaning of the rows and columns of the probabilities."""
        return EVENTS

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return int(self.draws.shape[1])

    @property
    def mcse(self) -> tuple[tuple[float, ...], ...]:
        """Monte Carlo standard error of each probability."""
        table = self.probabilities.tolist()
        return tuple(tuple(probability_error(p, self.n_draws) for p in row) for row in table)

    @property
    def signature(self) -> str:
        """One line that describes how the result was computed."""
        return _comparison(self.first).signature

    def p(self, first: Event, second: Event) -> float:
        """Return the joint probability of an event in the first metric and one in the second.

        Parameters
        ----------
        first, second
            ``"better"``, ``"equivalent"`` or ``"worse"``, relative to the ROPE of the metric.
        """
        for event in (first, second):
            if event not in EVENTS:
                raise UsageError(f"an event must be one of {', '.join(EVENTS)}; got {event!r}")
        return float(self.probabilities[EVENTS.index(first), EVENTS.index(second)])

    @property
    def p_better_in_both(self) -> float:
        """Probability that A is better in both metrics."""
        return self.p("better", "better")

    @property
    def p_dominates(self) -> float:
        """Probability that A is better in one metric and not worse in the other."""
        return float(self.probabilities[:2, :2].sum() - self.probabilities[1, 1])

    @property
    def p_equivalent(self) -> float:
        """Probability that A and B are equivalent in both metrics."""
        return self.p("equivalent", "equivalent")

    @property
    def p_trade_off(self) -> float:
        """Probability that A is better in one metric and worse in the other."""
        return self.p("better", "worse") + self.p("worse", "better")

    @property
    def p_dominated(self) -> float:
        """Probability that A is worse in one metric and not better in the other."""
        return float(self.probabilities[1:, 1:].sum() - self.probabilities[1, 1])

    @property
    def p_not_worse(self) -> float:
        """Probability that A is worse in neither metric."""
        return float(self.probabilities[:2, :2].sum())

    @property
    def mc_errors(self) -> dict[str, float]:
        """Monte Carlo standard errors of the probabilities."""
        n = self.draws.shape[1]
        named = ("better_in_both", "dominates", "equivalent", "trade_off", "dominated", "not_worse")
        return {f"p_{name}": probability_error(getattr(self, f"p_{name}"), n) for name in named}

    @property
    def decision(self) -> Verdict:
        """Case with at least the required probability; ``"undecided"`` if there is none.

        Exactly one of four cases is true: A dominates, is equivalent in both, is dominated, or
        trades one metric for the other. A serious finding about either metric makes it
        ``"undecided"``.
        """
        if is_serious(self.findings):
            return "undecided"
        probable = (case for case, chance in self._chances.items() if chance >= self.prob)
        return next(probable, "undecided")

    @property
    def _chances(self) -> dict[Verdict, float]:
        return {
            "dominates": self.p_dominates,
            "equivalent": self.p_equivalent,
            "trade_off": self.p_trade_off,
            "dominated": self.p_dominated,
        }

    def report(self) -> str:
        """Return the answer in one sentence."""
        return self._sentence()

    def _sentence(self) -> str:
        (a, b), n = (for_text(name, limit=LONGEST) for name in self.names), self.draws.shape[1]
        first, second = (for_text(name, limit=LONGEST) for name in self.metrics)
        chances = {key: probability(chance, n) for key, chance in self._chances.items()}
        if self.decision == "undecided":
            return (
                f"Undecided in {first} and {second}: {a} dominates {b} with probability "
                f"{chances['dominates']}, is equivalent with {chances['equivalent']}, trades one "
                f"for the other with {chances['trade_off']}, is dominated with "
                f"{chances['dominated']}."
            )
        texts = {
            "dominates": f"{a} dominates {b}: better in {first} or {second} and worse in neither",
            "equivalent": f"{a} and {b} are equivalent in {first} and in {second}",
            "trade_off": f"{a} trades one for the other: {self._trade(first, second)}",
            "dominated": f"{b} dominates {a}: better in {first} or {second} and worse in neither",
        }
        return f"{texts[self.decision]} (probability {chances[self.decision]})."

    def _trade(self, first: str, second: str) -> str:
        swap = self.p("better", "worse") <= self.p("worse", "better")
        better, worse = (second, first) if swap else (first, second)
        return f"better in {better}, worse in {worse}"

    def table(self) -> Table:
        """Return the nine probabilities: the first metric in rows, the second in columns."""
        first, second = (for_text(name, limit=LONGEST) for name in self.metrics)
        n = self.draws.shape[1]
        chances: list[list[float]] = self.probabilities.tolist()
        rows = tuple(
            {"first": event, **dict(zip(EVENTS, row, strict=True))}
            for event, row in zip(EVENTS, chances, strict=True)
        )
        columns: tuple[Column, ...] = (
            text_column("first", first),
            *(probability_column(event, event, n) for event in EVENTS),
        )
        a, b = (for_text(name, limit=LONGEST) for name in self.names)
        ropes = " and ".join(_rope_of(part) for part in (self.first, self.second))
        title = f"{a} against {b}, {first} as rows and {second} as columns (ROPE {ropes})"
        return Table(columns, rows, title=title)

    def _document(self) -> Document:
        colours = {"dominates": "better", "dominated": "worse", "equivalent": "equivalent"}
        table = self.table()
        return Document(
            headline=self._sentence(),
            tone=colours.get(self.decision, ""),
            screen=[Rows(table=table, labels=["first"])],
            table=table,
            findings=[(each.level, each.message, each.name) for each in self.findings],
            caption=table.title or "",
            signature=_comparison(self.first).signature,
        )

    def _latex_label(self) -> str:
        return latex_label(*self.names, *self.metrics)

    def plot(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw the joint posterior, one dot per draw, coloured by dominant model, and both ROPEs.

        Parameters
        ----------
        ax
            Axes to draw on, which are returned. Default: new axes.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        parts, decided = (self.first, self.second), self.decision != "undecided"
        events = [_events(values, part) for values, part in zip(self.draws, parts, strict=True)]
        return draw_joint(
            self.draws,
            events=np.stack(events),
            facts=[
                {**part.to_dict(), "ratio": True}
                if isinstance(part, Ratio)
                else {**to_json(part, HEADLINE), "observed": part.observed, "ratio": False}
                for part in parts
            ],
            chances={key: probability(p, self.draws.shape[1]) for key, p in self._chances.items()},
            title=self._sentence().partition(" (")[0] if decided else "Undecided",
            ax=ax,
            size=size,
        )

    def __repr__(self) -> str:
        return f"Joint({self._sentence()})"


def _rope_of(part: Compared | Ratio) -> str:
    return per_cent(part.rope) if isinstance(part, Ratio) else str(part.rope)


def _comparison(part: Compared | Ratio) -> Compared:
    return part.of if isinstance(part, Ratio) else part


def joint(first: Compared | Ratio, second: Compared | Ratio, *, what: str) -> Joint:
    """Return the joint probabilities of two metrics of a scorecard."""
    parts = (first, second)
    of_first, of_second = (_comparison(part) for part in parts)
    if of_first is of_second:
        raise UsageError(f"joint() needs two different metrics; got {of_first.metric!r} twice")
    if of_first.spec.drawn_with != of_second.spec.drawn_with or what != "metric":
        raise UsageError(
            f"{of_first.metric!r} and {of_second.metric!r} do not use the same table and prior, so "
            f"they have no joint draws; set {param('prior=', 'bootstrap')}, or pass the "
            "contribution of each item to Outcomes.from_statistics"
        )
    draws = np.stack(
        [
            _divided(part, values)
            for part, values in zip(parts, _values(of_first, of_second), strict=True)
        ]
    )
    events = [_events(values, part) for values, part in zip(draws, parts, strict=True)]
    counts = np.bincount(3 * events[0] + events[1], minlength=9).reshape(3, 3)
    return Joint(
        first=parts[0],
        second=parts[1],
        probabilities=counts / draws.shape[1],
        draws=draws,
        prob=of_first.hdi.prob,
        findings=tuple(dict.fromkeys(each for part in parts for each in _findings(part))),
    )


def _findings(part: Compared | Ratio) -> Iterator[Finding]:
    """Yield the findings about one metric, including those that would withhold a firm decision."""
    yield from part.findings
    for firm in (Decision.BETTER, Decision.EQUIVALENT):
        few_finding = disagreements.disagreement_finding(_comparison(part).spec, firm, part.hdi)
        if few_finding is not None and few_finding.level == "serious":
            yield few_finding


def _values(first: Compared, second: Compared) -> list[FloatArray]:
    """Return both models' draws in both metrics, redrawn if the metrics use different weights.

    If a few items or groups dominate a metric, its weights have other gamma shapes. For joint
    draws, both metrics use the weights of the metric that depends on fewer of them.
    """
    if not any(c.spec.weighs_units for c in (first, second)):
        return [np.stack([c.a.draws, c.b.draws]) for c in (first, second)]
    specs = [spec for spec in (first.spec, second.spec) if isinstance(spec, ScoreSpec)]
    if len(specs) < 2:
        raise UsageError(
            "metrics of grouped labels are drawn separately; pass the contribution of each item, "
            "such as right or wrong, to Outcomes.from_statistics with groups"
        )
    return draw_scores(specs, Sampling(first.draws.size, first.seed, -1))


def _divided(part: Compared | Ratio, values: FloatArray) -> FloatArray:
    a, b = values
    return np.asarray(a / b if isinstance(part, Ratio) else a - b)


def _events(draws: FloatArray, part: Compared | Ratio) -> FloatArray:
    """Return 0 for each draw where A is better, 1 in the ROPE, and 2 where A is worse."""
    side = (draws > part.rope.high).astype(np.int64) - (draws < part.rope.low)
    better = _comparison(part).spec.metric.greater_is_better
    return np.asarray(1 - side if better else 1 + side)
