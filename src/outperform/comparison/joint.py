"""Two metrics at once, such as quality and cost: ``card.joint``."""

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
    """One of two metrics that are asked jointly.

    Parameters
    ----------
    of
        The comparison, or the ratio.
    """

    of: Compared | Ratio

    @property
    def contrast(self) -> Literal["difference", "ratio"]:
        """Whether it is A − B or A / B."""
        return "ratio" if isinstance(self.of, Ratio) else "difference"


@written(
    "names metrics=_parts events probabilities mcse p_better_in_both "
    "p_dominates p_equivalent p_trade_off p_dominated p_not_worse errors decision prob "
    "n_draws findings signature",
    kind="joint",
)
@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Joint(Tabular):
    """How probable it is that A is better, equivalent or worse in two metrics at once.

    Parameters
    ----------
    one, other
        What is looked at together: comparisons, or ratios of them, each with its ROPE.
    probabilities
        ``(3, 3)``: A is better, equivalent or worse in the first metric (rows) and in the second
        (columns).
    draws
        Joint draws of both differences or ratios, ``(2, n_draws)``.
    prob
        The probability from which on a claim is made.
    findings
        The findings about both metrics, each once.

    Examples
    --------
    >>> import outperform as op
    >>> card = op.scorecard([1, 0, 1, 0] * 50, [1, 0, 1, 1] * 50, [1, 1, 0, 0] * 50,
    ...                     metrics=["recall", "precision"], rope=0.05, random_state=1)
    >>> found = card.joint("recall", "precision")
    >>> found.decision, found.p("better", "better") > 0.9
    ('dominates', True)
    """

    one: Compared | Ratio
    other: Compared | Ratio
    probabilities: Annotated[FloatArray, 2]
    draws: FloatArray = field(repr=False)
    prob: float
    findings: tuple[Finding, ...]

    @property
    def metrics(self) -> tuple[str, str]:
        """The names of the two metrics."""
        return self.one.metric, self.other.metric

    @property
    def names(self) -> tuple[str, str]:
        """The names of A and of B."""
        return self.one.names

    @property
    def _parts(self) -> tuple[JointPart, JointPart]:
        """The two metrics."""
        return JointPart(self.one), JointPart(self.other)

    @property
    def events(self) -> tuple[Event, ...]:
        """What rows and columns of the probabilities stand for."""
        return EVENTS

    @property
    def n_draws(self) -> int:
        """The number of draws."""
        return int(self.draws.shape[1])

    @property
    def mcse(self) -> tuple[tuple[float, ...], ...]:
        """The Monte Carlo error of each probability."""
        table = self.probabilities.tolist()
        return tuple(tuple(probability_error(p, self.n_draws) for p in row) for row in table)

    @property
    def signature(self) -> str:
        """What makes the result repeatable."""
        return _comparison(self.one).signature

    def p(self, one: Event, other: Event) -> float:
        """Return the probability that A is so in the one metric and so in the other.

        Parameters
        ----------
        one, other
            ``"better"``, ``"equivalent"`` or ``"worse"``, each by the ROPE of its metric.
        """
        for event in (one, other):
            if event not in EVENTS:
                raise UsageError(f"an event is one of {', '.join(EVENTS)}; got {event!r}")
        return float(self.probabilities[EVENTS.index(one), EVENTS.index(other)])

    @property
    def p_better_in_both(self) -> float:
        """The probability that A is better in both metrics."""
        return self.p("better", "better")

    @property
    def p_dominates(self) -> float:
        """The probability that A is better in one metric and not worse in the other."""
        return float(self.probabilities[:2, :2].sum() - self.probabilities[1, 1])

    @property
    def p_equivalent(self) -> float:
        """The probability that A and B are equivalent in both metrics."""
        return self.p("equivalent", "equivalent")

    @property
    def p_trade_off(self) -> float:
        """The probability that A is better in one metric and worse in the other."""
        return self.p("better", "worse") + self.p("worse", "better")

    @property
    def p_dominated(self) -> float:
        """The probability that A is worse in one metric and not better in the other."""
        return float(self.probabilities[1:, 1:].sum() - self.probabilities[1, 1])

    @property
    def p_not_worse(self) -> float:
        """The probability that A is worse in neither metric."""
        return float(self.probabilities[:2, :2].sum())

    @property
    def errors(self) -> dict[str, float]:
        """The Monte Carlo errors of the probabilities."""
        n = self.draws.shape[1]
        named = ("better_in_both", "dominates", "equivalent", "trade_off", "dominated", "not_worse")
        return {f"p_{name}": probability_error(getattr(self, f"p_{name}"), n) for name in named}

    @property
    def decision(self) -> Verdict:
        """What is at least as probable as claims must be; ``"undecided"`` if nothing is.

        Exactly one of four holds: A dominates, is equivalent in both, is dominated, or trades one
        metric for the other. A serious finding about either metric withholds it.
        """
        if is_serious(self.findings):
            return "undecided"
        found = {one: chance for one, chance in self._chances.items() if chance >= self.prob}
        return next(iter(found), "undecided")

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
        (a, b), n = (for_text(one, limit=LONGEST) for one in self.names), self.draws.shape[1]
        one, two = (for_text(name, limit=LONGEST) for name in self.metrics)
        chances = {key: probability(chance, n) for key, chance in self._chances.items()}
        if self.decision == "undecided":
            return (
                f"Undecided in {one} and {two}: {a} dominates {b} with probability "
                f"{chances['dominates']}, is equivalent with {chances['equivalent']}, trades one "
                f"for the other with {chances['trade_off']}, is dominated with "
                f"{chances['dominated']}."
            )
        said = {
            "dominates": f"{a} dominates {b}: better in {one} or {two} and worse in neither",
            "equivalent": f"{a} and {b} are equivalent in {one} and in {two}",
            "trade_off": f"{a} trades one for the other: better in {self._better_in(one, two)}",
            "dominated": f"{b} dominates {a}: better in {one} or {two} and worse in neither",
        }
        return f"{said[self.decision]} (probability {chances[self.decision]})."

    def _better_in(self, one: str, two: str) -> str:
        first = self.p("better", "worse") > self.p("worse", "better")
        return f"{one}, worse in {two}" if first else f"{two}, worse in {one}"

    def table(self) -> Table:
        """Return the nine probabilities: the first metric downwards, the second across."""
        one, two = (for_text(name, limit=LONGEST) for name in self.metrics)
        n = self.draws.shape[1]
        chances: list[list[float]] = self.probabilities.tolist()
        rows = tuple(
            {"first": event, **dict(zip(EVENTS, row, strict=True))}
            for event, row in zip(EVENTS, chances, strict=True)
        )
        columns: tuple[Column, ...] = (
            text_column("first", one),
            *(probability_column(event, event, n) for event in EVENTS),
        )
        a, b = (for_text(name, limit=LONGEST) for name in self.names)
        ropes = " and ".join(_rope_of(part) for part in (self.one, self.other))
        title = f"{a} against {b}, {one} downwards and {two} across (ROPE {ropes})"
        return Table(columns, rows, title=title)

    def _document(self) -> Document:
        colours = {"dominates": "better", "dominated": "worse", "equivalent": "equivalent"}
        table = self.table()
        return Document(
            headline=self._sentence(),
            tone=colours.get(self.decision, ""),
            screen=[Rows(table=table, labels=["first"])],
            table=table,
            findings=[(one.level, one.message, one.name) for one in self.findings],
            caption=table.title or "",
            signature=_comparison(self.one).signature,
        )

    def _latex_label(self) -> str:
        return latex_label(*self.names, *self.metrics)

    def plot(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw the joint posterior: a dot a draw, in the colour of who dominates, and both ROPEs.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        size
            How wide a new figure is: ``"column"``, ``"text"`` or ``"slide"``.
        """
        parts, decided = (self.one, self.other), self.decision != "undecided"
        events = [_events(self.draws[place], one) for place, one in enumerate(parts)]
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


def joint(one: Compared | Ratio, other: Compared | Ratio, *, what: str) -> Joint:
    """Count the draws of two metrics of a scorecard together."""
    parts = (one, other)
    first, second = (_comparison(part) for part in parts)
    if first is second:
        raise UsageError(f"joint() takes two different metrics; got {first.metric!r} twice")
    if first.spec.drawn_with != second.spec.drawn_with or what != "metric":
        raise UsageError(
            f"{first.metric!r} and {second.metric!r} do not look at the same table under the same "
            f"prior, so that their draws are not joint ones; give {param('prior=', 'bootstrap')}, "
            "or what each item contributes to Outcomes.from_statistics"
        )
    draws = np.stack(
        [_divided(part, values) for part, values in zip(parts, _values(first, second), strict=True)]
    )
    events = [_events(draws[place], part) for place, part in enumerate(parts)]
    counts = np.bincount(3 * events[0] + events[1], minlength=9).reshape(3, 3)
    return Joint(
        one=parts[0],
        other=parts[1],
        probabilities=counts / draws.shape[1],
        draws=draws,
        prob=first.hdi.prob,
        findings=tuple(dict.fromkeys(found for part in parts for found in _findings(part))),
    )


def _findings(part: Compared | Ratio) -> Iterator[Finding]:
    """Yield the findings about one metric, and what would withhold a firm decision on it."""
    yield from part.findings
    for firm in (Decision.BETTER, Decision.EQUIVALENT):
        few = disagreements.disagreement_finding(_comparison(part).spec, firm, part.hdi)
        if few is not None and few.level == "serious":
            yield few


def _values(one: Compared, two: Compared) -> list[FloatArray]:
    """Return both models' draws in both metrics; drawn again where each has weights of its own.

    Metrics that groups, or few items, carry unevenly have weights of other shapes, each its own;
    together they get those of the one that fewer carry.
    """
    if not any(c.spec.weighs_units for c in (one, two)):
        return [np.stack([c.a.draws, c.b.draws]) for c in (one, two)]
    specs = [spec for spec in (one.spec, two.spec) if isinstance(spec, ScoreSpec)]
    if len(specs) < 2:
        raise UsageError(
            "metrics of grouped labels are drawn one by one; give what each item contributes, "
            "such as right or wrong, to Outcomes.from_statistics with groups"
        )
    return draw_scores(specs, Sampling(one.draws.size, one.seed, -1))


def _divided(part: Compared | Ratio, values: FloatArray) -> FloatArray:
    a, b = values
    return np.asarray(a / b if isinstance(part, Ratio) else a - b)


def _events(draws: FloatArray, part: Compared | Ratio) -> FloatArray:
    """Return 0 where a draw is better, 1 where it lies in the ROPE, 2 where it is worse."""
    side = (draws > part.rope.high).astype(np.int64) - (draws < part.rope.low)
    better = _comparison(part).spec.metric.greater_is_better
    return np.asarray(1 - side if better else 1 + side)
