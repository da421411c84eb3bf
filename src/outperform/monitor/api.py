"""``Monitor``: labels arrive in batches, each brings the next decision."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import cast, overload

import numpy as np

from outperform import metrics
from outperform._json import Json, to_json, written
from outperform._typing import Axes, FigureSize, Label, LabelsLike, ModelsLike, Seed
from outperform.comparison.api import compare
from outperform.comparison.result import Comparison
from outperform.data.checks import named
from outperform.data.labels import is_frame
from outperform.data.outcomes import Outcomes
from outperform.data.prevalence import PrevalenceLike
from outperform.data.scores import Scores
from outperform.data.sources import TWINS, twin_findings
from outperform.decision.rope import RopeLike
from outperform.display.document import Document
from outperform.display.formats import latex_label
from outperform.display.numbers import signed
from outperform.display.table import Table
from outperform.errors import DataError, OutperformError, UsageError, param
from outperform.findings import Finding, clauses, counted, finding, listed
from outperform.gates.rule import check_level
from outperform.inference.spec import OfTwo, data_of
from outperform.inference.views import chosen_metric
from outperform.metrics.metric import MetricLike
from outperform.monitor.batches import History, Seen, check_key, check_versions
from outperform.monitor.drift import Change, find_change, statistics_of
from outperform.monitor.result import Look, Stop, StopLike, look_at
from outperform.monitor.text import (
    looks_table,
    monitor_document,
    monitor_headline,
    monitor_paragraph,
    plot_looks,
)
from outperform.posterior.registry import PriorLike
from outperform.posterior.rng import child, seed_sequence
from outperform.results.base import Tabular

_SHOWN = 3
_FEW_DRAWS = 100  # of comparisons whose observed values only are read


def _value(value: float, *, sign: bool) -> str:
    return "undefined" if math.isnan(value) else signed(value, 4) if sign else f"{value:.4f}"


def _with_findings(seen: Seen, *findings: Finding | None) -> Seen:
    noticed = tuple(one for one in findings if one is not None)
    return replace(seen, findings=(*seen.findings, *noticed)) if noticed else seen


def _share(part: Seen, label: object) -> float:
    """Return the share of items that are of a class."""
    if isinstance(part, Scores):
        assert part.truth is not None
        counts = np.ones(part.n_rows) if part.counts is None else part.counts.astype(np.float64)
        is_of = np.array([repr(one) == repr(label) for one in part.labels])[part.truth]
        return float(np.average(is_of, weights=counts))
    names = [repr(one) for one in part.labels]
    if repr(label) not in names:
        return 0.0
    code, table = names.index(repr(label)), part.tables[0]
    truth = table.cells[:, 0]
    if part.kind == "label_sets":
        is_of = np.array([code in one for one in part.sets])[truth]
    else:
        is_of = truth == code
    return float(np.average(is_of, weights=table.counts.astype(np.float64)))


def folder_findings(left_out: Mapping[str, str], unfinished: int) -> list[Finding]:
    """Say which files of the folder are not counted."""
    found = []
    if left_out:
        files = counted(len(left_out), "files are", one="file is")
        found.append(finding("batches_not_counted", files=files, reasons=_reasons(left_out)))
    if unfinished:
        files = counted(unfinished, "unfinished files are", one="unfinished file is")
        found.append(finding("unfinished_batches", files=files))
    return found


def look_findings(
    looks: Sequence[Look],
    unanswered: Mapping[str, str],
    stop: Stop | None,
    n_classes: tuple[int | None, int | None],
) -> list[Finding]:
    """Say what stands between the looks and what they seem to promise."""
    found = []
    if unanswered:
        reasons = _reasons(unanswered)
        found.append(finding("looks_left_out", n=len(unanswered), reasons=reasons))
    if n_classes[0] != n_classes[1]:
        found.append(finding("classes_grew", before=n_classes[0], now=n_classes[1]))
    return [*found, *_coarse_findings(looks, stop), *_stop_findings(looks, stop)]


def _coarse_findings(looks: Sequence[Look], stop: Stop | None) -> list[Finding]:
    """Say that draws cannot show a Bayes factor as large as the rule wants."""
    factor = looks[-1].bayes_factor if looks else None
    if stop is None or stop.rule != "bayes_factor" or factor is None:
        return []
    if factor.bound is None or looks[-1].holds:
        return []
    return [finding("monte_carlo_too_coarse/factor", factor=factor)]


def _stop_findings(looks: Sequence[Look], stop: Stop | None) -> list[Finding]:
    first = next((look for look in looks if look.holds), None)
    if stop is None or first is None:
        return []
    found = []
    if stop.rule == "decision" and first is not looks[0]:
        found.append(finding("stopped_by_decision", n=first.number))
    after = looks[-1].number - first.number
    if after:
        batches = counted(after, "batches were", one="batch was")
        found.append(finding("looks_after_stop", batches=batches, n=first.number))
    return found


def _reasons(reasons: Mapping[str, str]) -> str:
    return listed([f"{name} ({reason})" for name, reason in reasons.items()], most=_SHOWN)


class _Asked(OfTwo, total=False):
    metric: MetricLike | None
    never_true: Sequence[Label] | None


@written(
    "names=_names n_batches=_made stop=_stop_now stopped=_stopped_at looks=_looks "
    "comparison=_reported findings=_findings",
    kind="monitor",
)
class Monitor(Tabular):
    """A comparison of two models that is watched while labels come in.

    The folder is all there is: one file of counted outcomes or of scores for each batch, and the
    order in which they arrived. Any number of processes may add to it, each batch under a key of
    its own; what is added again under its key is counted once. Every property reads what has
    arrived since, and a look once made never changes.

    Parameters
    ----------
    folder
        Where the batches are.
    a, b
        The names of the two models in the batches.
    metric
        As for :func:`compare`; the default is that of the first batch.
    rope
        The region of practical equivalence: a half-width or a pair. ±0.01 by default.
    stop
        When to stop: a :class:`Stop`, or ``"width"``, ``"decision"`` or ``"bayes_factor"``, or
        a pair such as ``("width", 0.02)``; never, if None.
    hdi_prob
        Probability mass of the HDI.
    prior, paired
        As for :func:`compare`.
    n_draws
        How many draws a look; 20,000 by default.
    random_state
        The seed; each look has a stream of its own, so that a history is the same whenever and
        however often it is read.
    labels
        The classes averaged over. Name all that can occur, even if none has yet.
    pos_label
        The positive class of a binary metric.
    never_true
        Classes that models may predict and that are meant never to be true; as for
        :meth:`Outcomes.with_never_true`.
    prevalence
        The class proportions at which to answer, if not those of the batches; as for
        :meth:`Outcomes.at_prevalence`.

    Examples
    --------
    >>> import outperform as op
    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> monitor = op.Monitor(folder.name, "new", "old", metric="accuracy", rope=0.05,
    ...                      stop=("width", 0.2))
    >>> right, wrong = [1, 0] * 50, [0, 1] * 10 + [1, 0] * 40
    >>> for day in ("Mon", "Tue", "Wed"):
    ...     monitor.add(right, {"new": right, "old": wrong}, key=day)
    >>> for look in monitor.looks:
    ...     print(look.key, look.n, round(look.hdi.width, 2), look.decision.symbol)
    Mon 100 0.16 ≫
    Tue 200 0.12 ≫
    Wed 300 0.09 ≫
    >>> monitor.stopped.key
    'Mon'
    >>> folder.cleanup()
    """

    __slots__ = ("_asked", "_classes", "_differing", "_history", "_kept", "_looks", "_made",
                 "_prevalence", "_seed", "_unanswered", "a", "b", "folder", "stop")  # fmt: skip
    _looks: list[Look]
    _made: int

    def __init__(
        self,
        folder: str | os.PathLike[str],
        a: str,
        b: str,
        *,
        metric: MetricLike | None = None,
        rope: RopeLike | None = None,
        stop: StopLike | None = None,
        hdi_prob: float = 0.95,
        prior: PriorLike | None = None,
        paired: bool = True,
        n_draws: int | None = None,
        random_state: Seed = 0,
        labels: Sequence[Label] | None = None,
        pos_label: Label | None = None,
        never_true: Sequence[Label] | None = None,
        prevalence: PrevalenceLike | None = None,
    ) -> None:
        if a == b:
            raise UsageError(f"a and b must be two different models; got {a!r} twice")
        self.folder = Path(folder)
        self.a, self.b = a, b
        self.stop = Stop.from_param(stop)
        self._asked: _Asked = {
            "metric": metric, "rope": rope, "hdi_prob": check_level(hdi_prob), "prior": prior,
            "paired": paired, "n_draws": n_draws, "labels": labels, "pos_label": pos_label,
            "never_true": never_true, "n_jobs": -1,
        }  # fmt: skip
        self._prevalence = prevalence
        self._seed = seed_sequence(random_state)
        self._history = History(self.folder, (a, b))
        self._looks = []
        self._unanswered: dict[str, str] = {}
        self._made = 0  # batches looked at
        self._kept: dict[int, Comparison] = {}  # of the stop and of the last look
        self._classes: list[int | None] = []  # at the first and at the last look
        self._differing: list[Finding | None] = []  # how batches differ, by the number of the look

    # What comes in

    @overload
    def add(
        self, y_true: Seen, *, key: str | int, versions: Mapping[str, str] | None = None
    ) -> None: ...

    @overload
    def add(
        self,
        y_true: LabelsLike | None,
        predictions: ModelsLike,
        *,
        key: str | int,
        versions: Mapping[str, str] | None = None,
    ) -> None: ...

    def add(
        self,
        y_true: Seen | LabelsLike | None,
        predictions: ModelsLike | None = None,
        *,
        key: str | int,
        versions: Mapping[str, str] | None = None,
    ) -> None:
        """Store a batch of outcomes; it is counted once, however often it is added.

        When this returns, the batch is on disk. A process that was killed on the way adds it
        again under the same key.

        Parameters
        ----------
        y_true
            :class:`Outcomes`, :class:`Scores`, or the true labels; None for graded answers.
        predictions
            With true labels, each model's predicted labels or scores, as the metric reads them,
            by name or as a frame.
        key
            What names this batch and no other: a date, a range of rows, the name of a file.
        versions
            The version of each model that made these predictions, by name: a tag, a commit, a hash
            of its weights. They are kept with the batch. Batches of two versions of a model are
            not pooled without a serious finding.

        Examples
        --------
        >>> import outperform as op
        >>> from tempfile import TemporaryDirectory
        >>> folder = TemporaryDirectory()
        >>> monitor = op.Monitor(folder.name, "new", "old", metric="accuracy", rope=0.05)
        >>> for _ in range(2):
        ...     monitor.add([1, 0], {"new": [1, 0], "old": [1, 1]}, key="rows 0 to 1")
        >>> monitor.outcomes.n
        2
        >>> folder.cleanup()
        """
        outcomes = self._read(y_true, predictions)
        if isinstance(outcomes, Scores):
            if self._prevalence is not None:
                raise UsageError(
                    f"scores have no table of classes; leave {param('prevalence=')} out"
                )
        elif outcomes.prevalence is not None:
            raise UsageError(
                f"a monitor has its own {param('prevalence=')}; add the batch at_prevalence(None)"
            )
        elif outcomes.pool is not None:
            raise UsageError(
                "a monitor adds batches up, and labels of one pool do not add up; give all of them "
                "that there are to Outcomes.from_pool, and compare"
            )
        outcomes.select([self.a, self.b])
        name = check_key(key)
        self._history.store(name, outcomes, check_versions(versions, outcomes.models))

    # What it says

    def _read(self, y_true: Seen | LabelsLike | None, predictions: ModelsLike | None) -> Seen:
        if isinstance(y_true, (Outcomes, Scores)):
            if predictions is not None:
                raise UsageError("outcomes hold the predictions already; leave predictions= out")
            return y_true
        if not isinstance(predictions, Mapping) and not is_frame(predictions):
            raise UsageError(
                "a batch must be outcomes or scores, or true labels and each model's predictions "
                f"by its name, e.g. {{'bert': …, 'gpt': …}}; got {type(predictions).__name__}"
            )
        metric = self._asked["metric"]
        if metric is None or not metrics.is_of_scores(metric):
            return Outcomes.from_labels(cast(LabelsLike, y_true), cast(ModelsLike, predictions))
        return data_of(
            y_true,
            named(cast(ModelsLike, predictions)),
            metric=metric,
            labels=self._asked["labels"],
            sample_weight=None,
            groups=None,
        )

    @property
    def outcomes(self) -> Seen:
        """The sum of all batches; a DataError before the first."""
        return self._sum(self.n_batches)

    @property
    def looks(self) -> tuple[Look, ...]:
        """What all items said after each batch, in the order in which batches arrived."""
        self._look()
        return tuple(self._looks)

    def _look(self) -> None:
        """Look at what has arrived since."""
        for number in range(self._made + 1, self.n_batches + 1):
            key = self._history.batches[number - 1].key
            try:
                found = self._compare(number)
            except DataError as error:  # such as one class only; the next batch may help
                self._unanswered[key] = str(error)
            else:
                self._note(found, number, key)
                self._classes = [*self._classes[:1], found.spec.data.n_classes]
            self._made = number

    def _note(self, found: Comparison, number: int, key: str) -> None:
        self._looks.append(look_at(found, number=number, key=key, stop=self.stop))
        stopped = next((look.number for look in self._looks if look.holds), None)
        self._kept = {one: self._kept[one] for one in self._kept if one == stopped}
        self._kept[number] = found

    @property
    def n_batches(self) -> int:
        """How many batches are counted."""
        self._history.refresh()
        return len(self._history.batches)

    @property
    def latest(self) -> Comparison:
        """The comparison on all items so far; a DataError before the first."""
        number = self.n_batches
        return self._kept[number] if number in self._kept else self._compare(number)

    @property
    def stopped(self) -> Look | None:
        """The first look at which the rule to stop held; what comes after does not unsay it."""
        return next((look for look in self.looks if look.holds), None)

    def at(self, number: int) -> Comparison:
        """Return the comparison as it was after so many batches.

        Parameters
        ----------
        number
            How many batches.
        """
        if type(number) is int and number in self._kept:
            return self._kept[number]
        self._history.refresh()
        return self._compare(number)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings about the folder, about the looks and about the latest of them."""
        self._look()
        return self._findings()

    def _findings(self) -> tuple[Finding, ...]:
        ends = (self._classes[0], self._classes[-1]) if self._classes else (None, None)
        # A copy that came after the look that is shown is a finding about the folder all the same.
        counted = () if self._history.total is None else self._history.total.findings
        shown = self._shown().findings if self._looks else ()
        return (
            *folder_findings(self._history.left_out, self._history.unfinished),
            *(one for one in counted if one.name == TWINS),
            *twin_findings(self._history.sources),
            *look_findings(self._looks, self._unanswered, self.stop, ends),
            *self._since(shown),
            *(one for one in shown if one.name != TWINS),
        )

    def _since(self, shown: Sequence[Finding]) -> list[Finding]:
        """Return how batches differ that came after the look that is shown."""
        last = [*self._differing[-1:], self._versions_finding(self._made)]
        known = {(one.name, one.level) for one in shown}
        found = [one for one in last if one is not None]
        return [one for one in found if (one.name, one.level) not in known]

    def _compare(self, number: int) -> Comparison:
        """Compare on the first batches; newer ones are held against older ones at every look."""
        whole = self._sum(number)
        while len(self._differing) < number - 1:  # looks that were skipped
            self._check(len(self._differing) + 1)
        asked = self._asked.copy()
        asked["random_state"] = child(self._seed, number)
        changed = self._versions_finding(number)
        known = self._differing[number - 1 :][:1] or self._differing[-1:]
        answer = self._ask(_with_findings(whole, changed, *known), asked)
        if len(self._differing) >= number:
            return answer
        self._check(number, answer)
        noticed = self._differing[-1]
        if noticed is None or [noticed] == known:
            return answer
        return self._ask(_with_findings(whole, changed, noticed), asked)

    def _check(self, number: int, answer: Comparison | None = None) -> None:
        """Hold newer batches against older ones at one look, after all looks before it.

        A change that withholds the decision stays: the batches are in the sum for good.
        """
        last = self._differing[-1] if self._differing else None
        if number > 1 and (last is None or last.level != "serious"):
            batches = [one.outcomes for one in self._history.batches[:number]]
            if answer is None:
                with suppress(DataError):  # no answer, so there is nothing to withhold
                    answer = self._ask(self._sum(number), self._few_draws())
            if answer is not None:
                change = find_change(statistics_of(answer.spec, batches), number)
                last = last if change is None else self._change_finding(change, answer)
        self._differing.append(last)

    def _few_draws(self) -> _Asked:
        asked = self._asked.copy()
        asked["n_draws"], asked["n_jobs"] = _FEW_DRAWS, 1
        return asked

    def _ask(self, seen: Seen, asked: _Asked) -> Comparison:
        """Ask the question of some batches."""
        if isinstance(seen, Scores):
            return compare(seen, self.a, self.b, **asked)
        seen, first = self._with_classes(seen), self._sum(1)
        if asked["metric"] is None and isinstance(first, Outcomes):
            asked["metric"] = chosen_metric(
                self._with_classes(first),
                None,
                labels=asked["labels"],
                pos_label=asked["pos_label"],
            )
        seen = seen.at_prevalence(self._prevalence, pos_label=asked["pos_label"])
        return compare(seen, self.a, self.b, **asked)

    def _change_finding(self, change: Change, whole: Comparison) -> Finding:
        """Say which batches differ in what, by how much, and what to do."""
        cut, number = change.cut, change.look
        parts = [self._history.between(0, cut), self._history.between(cut, number)]
        before, since = (self._plain_values(part) for part in parts)
        moved = [abs(two - one) for one, two in zip(before, since, strict=True)]
        half = whole.rope.width / 2
        small = not any(math.isnan(one) for one in moved) and max(moved) < half
        metric, keys = whole.metric, [one.key for one in self._history.batches]
        names = [f"{metric} of {self.a}", f"{metric} of {self.b}", f"{self.a} − {self.b}"]
        changes = [
            f"{name} from {_value(one, sign=place == 2)} to {_value(two, sign=place == 2)}"
            for place, (name, one, two) in enumerate(zip(names, before, since, strict=True))
        ]
        if change.statistic == "share":
            shares = [_share(part, change.label) for part in parts]
            moved_by = f"from {shares[0]:.1%} to {shares[1]:.1%}"
            changes.insert(0, f"share of class {change.label!r} {moved_by}")
        return finding(
            "batches_differ/small"
            if small
            else "batches_differ/shares"
            if change.statistic == "share"
            else "batches_differ/models",
            first=repr(keys[cut]),
            newer=counted(parts[1].n, "items"),
            older=counted(parts[0].n, "items"),
            changes=clauses(changes),
            chance=f"{math.exp(max(change.log_p, -700)):.0e}",
        )

    def _plain_values(self, part: Seen) -> tuple[float, float, float]:
        """Return the observed value of A, of B and their difference; NaN where undefined."""
        try:
            found = self._ask(part, self._few_draws())
        except OutperformError:
            return math.nan, math.nan, math.nan
        return found.a.observed, found.b.observed, found.observed

    def _versions_finding(self, number: int) -> Finding | None:
        """Say which model changed its version among the first batches."""
        changes = []
        for model in (self.a, self.b):
            known = [
                (batch.key, batch.versions[model])
                for batch in self._history.batches[:number]
                if model in batch.versions
            ]
            later = next(((key, now) for key, now in known if now != known[0][1]), None)
            if later is not None:
                first = f"{model} is {known[0][1]!r} in batch {known[0][0]!r}"
                changes.append(f"{first} and {later[1]!r} in {later[0]!r}")
        return finding("version_changed", changes=clauses(changes)) if changes else None

    def _with_classes(self, seen: Outcomes) -> Outcomes:
        """Add the classes that were named, even if none has occurred yet."""
        labels, positive = self._asked["labels"], self._asked["pos_label"]
        named = [*(() if labels is None else labels), *(() if positive is None else [positive])]
        return seen.with_labels(named) if named and seen.kind != "correct" else seen

    def _sum(self, number: int) -> Seen:
        known = len(self._history.batches)
        if not known:
            raise DataError(self._nothing_yet())
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= known:
            raise UsageError(f"a look is a number from 1 to {known}; got {number!r}")
        return self._history.upto(number)

    def _nothing_yet(self) -> str:
        found = folder_findings(self._history.left_out, self._history.unfinished)
        reasons = (f"; {one.message.rstrip('.')}" for one in found if one.level == "warning")
        return f"no batch of {self.a!r} and {self.b!r} has arrived in {self.folder} yet" + "".join(
            reasons
        )

    def _shown(self) -> Comparison:
        """Return the comparison to report: where it stopped, or else the latest."""
        shown = next((look for look in self._looks if look.holds), self._looks[-1])
        return self._kept[shown.number]

    # Words, tables, pictures

    @property
    def _names(self) -> tuple[str, str]:
        return self.a, self.b

    @property
    def _stopped_at(self) -> int | None:
        """The number of the look at which the rule held first."""
        return next((look.number for look in self._looks if look.holds), None)

    @property
    def _reported(self) -> Comparison | None:
        """The comparison to report."""
        return self._shown() if self._looks else None

    @property
    def _stop_now(self) -> Stop | None:
        """When to stop, with the number that the ROPE gives by default."""
        if self.stop is None or not self._looks:
            return self.stop
        return replace(self.stop, at=self.stop.threshold(self._shown()))

    def to_dict(self) -> Json:
        """Return all looks, and the comparison to report, as plain values."""
        self._look()  # once, or a batch that comes meanwhile would be in one part only
        return to_json(self)

    def table(self) -> Table:
        """Return one row a look."""
        return looks_table(self.to_dict())

    def _document(self) -> Document:
        return monitor_document(self.to_dict())

    def report(self) -> str:
        """Return a paragraph for a paper: how it was watched, and what it said where it stopped."""
        return monitor_paragraph(self.to_dict())

    def plot(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw the interval closing in, look by look, against the ROPE.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        size
            How wide a new figure is: ``"column"``, ``"text"`` or ``"slide"``.
        """
        return plot_looks(facts=self.to_dict(), ax=ax, size=size)

    def _latex_label(self) -> str:
        return latex_label(self.a, self.b, "looks")

    def __repr__(self) -> str:
        return f"Monitor({monitor_headline(self.to_dict())})"
