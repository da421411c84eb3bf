"""Predictions that are never true, and whether the decision depends on their spelling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from outperform._typing import Label
from outperform.data.judged import Judged
from outperform.data.labels import Spellings, spelling
from outperform.data.outcomes import Outcomes, true_codes
from outperform.data.respelled import taken_as_right
from outperform.data.table import total
from outperform.data.views import predicted_codes
from outperform.decision.intervals import Interval
from outperform.decision.rope import Decision, Rope, firm_decision
from outperform.findings import Finding, clauses, counted, finding
from outperform.inference import disagreements, engine
from outperform.inference.question import Sampling
from outperform.inference.spec import LabelSpec, Spec, again
from outperform.inference.summary import summarize

SPELLED, NEVER_TRUE = "spelled_otherwise", "never_true_predictions"
_MOST_NAMED = 4
_NOUNS = {"spans": "type", "label_sets": "label"}


class NeverTrue(NamedTuple):
    """A class that a model predicts but that is never true."""

    model_index: int
    model: str
    label: Label
    n: int
    like: Label | None  # the true class of which it may be a spelling


def never_true(spec: Spec) -> tuple[NeverTrue, ...]:
    """Return the predicted classes that are never true and not declared.

    Classes in ``labels`` and other parameters, and those declared as never true, are spelled as
    intended. In a pool the truth of most items is unknown, so only classes that resemble a true one
    are included.

    Parameters
    ----------
    spec
        The question.
    """
    if not isinstance(spec, LabelSpec) or spec.data.kind == "correct":
        return ()
    data, true = spec.data, set(true_codes(spec.data).tolist())
    if isinstance(data.pool, Judged):
        true |= set(data.pool.truth.tolist())
    meant = {*data.never_true, *_named(spec)}
    odd = [
        [code for code in predicted_codes(data, model).tolist() if code not in true]
        for model in range(len(data.models))
    ]
    if not true or not any(odd):
        return ()
    known = Spellings([data.labels[code] for code in sorted(true)])
    predictions = []
    for model, codes in enumerate(odd):
        for code in codes:
            label = data.labels[code]
            like = known.like(label)
            if label in meant or (like is None and data.pool is not None):
                continue
            predictions.append(
                NeverTrue(model, data.models[model], label, _n(data, model, code), like)
            )
    return tuple(predictions)


def _named(spec: LabelSpec) -> Iterator[Label]:
    """Yield the classes named in the question."""
    yield from () if spec.choices.labels is None else spec.choices.labels
    yield from () if spec.choices.pos_label is None else (spec.choices.pos_label,)
    yield from () if spec.data.prevalence is None else spec.data.prevalence.labels
    costs = spec.metric.costs
    yield from () if costs is None or costs.labels is None else costs.labels


def _n(data: Outcomes, model: int, code: int) -> int:
    """Count the items or spans for which a model predicts a class."""
    if data.pool is not None:
        return total(data.pool.counts[data.pool.cells[:, model] == code])
    table, column = (data.tables[0], 1 + model) if data.paired else (data.tables[model], 1)
    codes = [code]
    if data.kind == "label_sets":
        codes = [number for number, label_set in enumerate(data.sets) if code in label_set]
    return table.sum_where(np.isin(table.cells[:, column], codes))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AsRight:
    """Result if some predictions that are never true counted as right.

    Parameters
    ----------
    predictions
        Predictions counted as right.
    spec
        The same question about these outcomes.
    hdi
        HDI of the resulting difference.
    pair
        Indices of A and B in the spec; for runs, those of each side.
    """

    predictions: tuple[NeverTrue, ...]
    spec: LabelSpec
    hdi: Interval
    pair: disagreements.Places

    @property
    def alike(self) -> bool:
        """Whether all predictions counted as right resemble a true class."""
        return all(prediction.like is not None for prediction in self.predictions)

    def decision(self, rope: Rope) -> Decision:
        """Return the resulting decision.

        Parameters
        ----------
        rope
            The region of practical equivalence.
        """
        return self._allowed(rope)[0]

    def withheld(self, rope: Rope) -> bool:
        """Return whether the data would not allow the decision.

        Parameters
        ----------
        rope
            The region of practical equivalence.
        """
        few = self._allowed(rope)[1]
        return few is not None and few.level == "serious"

    def _allowed(self, rope: Rope) -> tuple[Decision, Finding | None]:
        decision = firm_decision(self.hdi, rope) or Decision.UNDECIDED
        if not self.spec.metric.greater_is_better:
            decision = decision.mirrored
        return disagreements.allow_runs(self.spec, decision, self.hdi, self.pair)


Interpret = Callable[[LabelSpec], Interval]
"""Draws the difference of a spec, and returns its HDI."""


def interpret_two(*, prob: float, n_draws: int, seed: np.random.SeedSequence) -> Interpret:
    """Return the function that compares two models with a number of draws."""

    def interpret(spec: LabelSpec) -> Interval:
        (answered,) = engine.answer([spec], Sampling(n_draws, seed))
        ordered = np.sort(answered.values[0] - answered.values[1])
        chain = answered.chains[-1] if answered.chains else None
        return summarize(ordered, answered.of_difference, prob, signed=True, chain=chain).hdi

    return interpret


def ask_as_right(
    spec: Spec, interpret: Interpret, *, sides: disagreements.Places = ((0,), (1,))
) -> tuple[AsRight, ...]:
    """Recompute with never-true predictions counted as right: of A, of B, and of both.

    First only those that resemble a true class, then all. If all predictions of a model are never
    true, the decision is already withheld.

    Parameters
    ----------
    spec
        The question.
    interpret
        Function that computes the HDI.
    sides
        Indices of A and B.
    """
    answers = []
    for predictions, question in readings(spec, sides):
        hdi = interpret(question)
        answers.append(AsRight(predictions=predictions, spec=question, hdi=hdi, pair=sides))
    return tuple(answers)


def readings(
    spec: Spec, sides: disagreements.Places = ((0,), (1,))
) -> Iterator[tuple[tuple[NeverTrue, ...], LabelSpec]]:
    """Yield predictions that may count as right, and the same question about these outcomes.

    Parameters
    ----------
    spec
        The question.
    sides
        Indices of A and B.
    """
    positions = (*sides[0], *sides[1])
    if any(spec.never_matches(position) for position in positions):
        return
    predictions = [each for each in never_true(spec) if each.model_index in positions]
    alike = [each for each in predictions if each.like is not None]
    every = predictions if len(alike) < len(predictions) else []
    for some in (*_by_side(alike, sides), *_by_side(every, sides)):
        assert isinstance(spec, LabelSpec)
        yield some, _respelled(spec, some)


def _by_side(
    predictions: Sequence[NeverTrue], sides: disagreements.Places
) -> Iterator[tuple[NeverTrue, ...]]:
    """Yield the non-empty sets of never-true predictions of A, of B and of both."""
    parts = [tuple(each for each in predictions if each.model_index in side) for side in sides]
    yield from (part for part in parts if part)
    if all(parts):
        yield tuple(predictions)


def _respelled(spec: LabelSpec, predictions: Iterable[NeverTrue]) -> LabelSpec:
    """Return the same question about outcomes in which some predictions count as right."""
    data, code = spec.data, {label: index for index, label in enumerate(spec.data.labels)}
    meant: dict[int, dict[int, int | None]] = {}
    for prediction in predictions:
        like = None if prediction.like is None else code[prediction.like]
        meant.setdefault(prediction.model_index, {})[code[prediction.label]] = like
    return again(spec, taken_as_right(data, meant), prior=spec.prior)


def changes(decision: Decision, other: Decision) -> bool:
    """Return whether two decisions differ; a leaning is not a decision.

    Examples
    --------
    >>> changes(Decision.BETTER, Decision.WORSE)
    True
    >>> changes(Decision.LEANING_BETTER, Decision.UNDECIDED)
    False
    """
    return decision is not other and (decision.decided or other.decided)


def spelling_findings(
    decision: Decision, answers: Sequence[AsRight], rope: Rope
) -> Iterator[Finding]:
    """Yield findings that withhold or question a decision that depends on never-true predictions.

    Parameters
    ----------
    decision
        The decision.
    answers
        Results with other readings of the predictions.
    rope
        The region of practical equivalence.
    """
    for answer in answers:
        other = answer.decision(rope)
        if changes(decision, other):
            change = f"the decision would be {_shown(other)} instead of {_shown(decision)}"
            yield spelling_finding(answer, change, in_gate=False)
            return


def _shown(decision: Decision) -> str:
    return f"{decision.symbol} ({decision.words})"


def spelling_finding(answer: AsRight, change: str, *, in_gate: bool) -> Finding:
    """Return the finding about one reading of the predictions.

    Parameters
    ----------
    answer
        Result with this reading.
    change
        Description of the change.
    in_gate
        Whether it withholds the status of a gate, whatever the labels look like.
    """
    kind = answer.spec.data.kind
    return finding(
        "spelled_otherwise/withheld"
        if answer.alike
        else "never_true_predictions/gate"
        if in_gate
        else "never_true_predictions/doubt",
        predictions=listed_predictions(answer.predictions, kind),
        noun=_NOUNS.get(kind, "class"),
        change=change,
    )


def listed_predictions(predictions: Iterable[NeverTrue], kind: str) -> str:
    """Describe models, labels, their counts, and the classes they resemble.

    Parameters
    ----------
    predictions
        Predictions that are never true.
    kind
        Kind of the outcomes.
    """
    units = "spans" if kind == "spans" else "items"
    words = []
    for prediction in predictions:
        like = "" if prediction.like is None else f" (similar to {prediction.like!a})"
        items = counted(prediction.n, units)
        words.append(f"{prediction.model} predicts {prediction.label!a} for {items}{like}")
    return clauses(words, most=_MOST_NAMED)


def unless_told(findings: Iterable[Finding], spelled: Sequence[Finding]) -> Iterator[Finding]:
    """Yield findings, without the weaker one about predictions that affect the decision."""
    names = {finding.name for finding in spelled}
    yield from (finding for finding in findings if finding.name not in names)


def alike_findings(spec: Spec) -> Iterator[Finding]:
    """Yield predictions that are never true and a synonym of a true class.

    Those that differ only in case, space or marks are already reported as similar labels.

    Parameters
    ----------
    spec
        The question.
    """
    predictions = [
        prediction
        for prediction in never_true(spec)
        if prediction.like is not None and spelling(prediction.like) != spelling(prediction.label)
    ]
    if predictions:
        assert isinstance(spec, LabelSpec)
        yield finding(
            "spelled_otherwise/alike",
            predictions=listed_predictions(predictions, spec.data.kind),
            noun=_NOUNS.get(spec.data.kind, "class"),
        )
