"""``Monitor``: labels arrive in batches, and each batch updates the decision."""

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
from outperform.inference.processes import check_process
from outperform.inference.question import Looks
from outperform.inference.spec import OfTwo, data_of
from outperform.inference.views import chosen_metric
from outperform.metrics.metric import MetricLike
from outperform.monitor.batches import Seen, check_key, check_versions, history_of
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
from outperform.wrong_calls import explained, usage

_SHOWN = 3
_FEW_DRAWS = 100  # for comparisons that only provide observed values


def _value(value: float, *, sign: bool) -> str:
    return "undefined" if math.isnan(value) else signed(value, 4) if sign else f"{value:.4f}"


def _with_findings(data: Seen, *findings: Finding | None) -> Seen:
    noticed = tuple(finding for finding in findings if finding is not None)
    return replace(data, findings=(*data.findings, *noticed)) if noticed else data


def _in_slice(part: Seen, key: tuple[str, ...]) -> Seen:
    assert isinstance(part, Outcomes)
    return part.slice(*key)


def _share(part: Seen, label: object) -> float:
    """Return the share of items that belong to a class."""
    if isinstance(part, Scores):
        assert part.truth is not None
        counts = np.ones(part.n_rows) if part.counts is None else part.counts.astype(np.float64)
        is_of = np.array([repr(name) == repr(label) for name in part.labels])[part.truth]
        return float(np.average(is_of, weights=counts))
    names = [repr(name) for name in part.labels]
    if repr(label) not in names:
        return 0.0
    code, table = names.index(repr(label)), part.tables[0]
    truth = table.cells[:, 0]
    if part.kind == "label_sets":
        is_of = np.array([code in codes for codes in part.sets])[truth]
    else:
        is_of = truth == code
    return float(np.average(is_of, weights=table.counts.astype(np.float64)))


def folder_findings(left_out: Mapping[str, str], unfinished: int) -> list[Finding]:
    """Return findings about files in the folder that are not counted."""
    findings = []
    if left_out:
        files = counted(len(left_out), "files are", one="file is")
        findings.append(finding("batches_not_counted", files=files, reasons=_reasons(left_out)))
    if unfinished:
        files = counted(unfinished, "unfinished files are", one="unfinished file is")
        findings.append(finding("unfinished_batches", files=files))
    return findings


def look_findings(
    looks: Sequence[Look],
    unanswered: Mapping[str, str],
    stop: Stop | None,
    n_classes: tuple[int | None, int | None],
) -> list[Finding]:
    """Return findings that limit what the looks show."""
    findings = []
    if unanswered:
        reasons = _reasons(unanswered)
        findings.append(finding("looks_left_out", n=len(unanswered), reasons=reasons))
    if n_classes[0] != n_classes[1]:
        findings.append(finding("classes_grew", before=n_classes[0], now=n_classes[1]))
    return [*findings, *_coarse_findings(looks, stop), *_stop_findings(looks, stop)]


def _coarse_findings(looks: Sequence[Look], stop: Stop | None) -> list[Finding]:
    """Return a finding if draws cannot show a Bayes factor as large as the rule requires."""
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
    findings = []
    if stop.rule == "decision" and first is not looks[0]:
        findings.append(finding("stopped_by_decision", n=first.number))
    after = looks[-1].number - first.number
    if after:
        batches = counted(after, "batches were", one="batch was")
        findings.append(finding("looks_after_stop", batches=batches, n=first.number))
    return findings


def _reasons(reasons: Mapping[str, str]) -> str:
    return listed([f"{name} ({reason})" for name, reason in reasons.items()], most=_SHOWN)


class _CompareKwargs(OfTwo, total=False):
    metric: MetricLike | None
    never_true: Sequence[Label] | None
    chosen_from: int | None
    looks: Looks


@written(
    "names=_names n_batches=_made stop=_stop_now stopped=_stopped_at looks=_looks "
    "comparison=_reported findings=_findings",
    kind="monitor",
)
class Monitor(Tabular):
    """Comparison of two models that is repeated whenever labels arrive.

    All state is in a folder: one file of counted outcomes or scores per batch, and the order of
    arrival. Any number of processes can add batches, each with a unique key; a batch added twice
    with the same key counts once. Every property reads new batches first. A look never changes
    later.

    Parameters
    ----------
    folder
        Folder of the batches, or a folder that ``outperform count --update`` fills, whose parts
        are then the batches, in order of their days.
    a, b
        Names of the two models in the batches.
    metric
        As for :func:`compare`. Default: the default for the first batch.
    rope
        Region of practical equivalence: a half-width or a pair. Default: ±0.01.
    stop
        Stopping rule: a :class:`Stop`, or ``"width"``, ``"decision"``, ``"bayes_factor"`` or
        ``"anytime"``, or a pair such as ``("width", 0.02)``. With ``"anytime"``, the intervals of
        all looks contain the true difference with probability ``hdi_prob``, and are wider. With
        None the monitor never stops.
    hdi_prob
        Probability mass of the HDI.
    prior, paired
        As for :func:`compare`.
    n_draws
        Number of draws per look. Default: 20,000.
    random_state
        Seed. Each look has a separate random stream, so the history does not depend on when or how
        often it is read.
    labels
        Classes to average over. Include all that can occur, even if some have not occurred yet.
    pos_label
        Positive class of a binary metric.
    never_true
        Classes that models may predict but that are never true by design; as for
        :meth:`Outcomes.with_never_true`.
    prevalence
        Class proportions of the analysis, if they differ from those of the batches; as for
        :meth:`Outcomes.at_prevalence`.
    chosen_from
        Number of candidates, if A was chosen by its results on these batches.

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

    __slots__ = (
        "_classes",
        "_differing",
        "_history",
        "_kwargs",
        "_looks",
        "_made",
        "_prevalence",
        "_seed",
        "_stored",
        "_unanswered",
        "a",
        "b",
        "folder",
        "stop",
    )  # fmt: skip
    _looks: list[Look]
    _made: int

    @explained
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
        chosen_from: int | None = None,
    ) -> None:
        if not (isinstance(a, str) and isinstance(b, str)):
            raise UsageError(f"a and b must be names of two models; type {usage('Monitor')}")
        if a == b:
            raise UsageError(f"a and b must be two different models; got {a!r} twice")
        self.folder = Path(folder)
        self.a, self.b = a, b
        self.stop = Stop.from_param(stop)
        looks: Looks = "any" if self.stop is not None and self.stop.rule == "anytime" else "once"
        if isinstance(chosen_from, (Outcomes, Scores)):
            raise UsageError(
                f"a monitor takes the number of candidates, {param('chosen_from=', 20)}, because "
                "its batches arrive one by one"
            )
        check_process(chosen_from, looks)
        self._kwargs: _CompareKwargs = {
            "metric": metric, "rope": rope, "hdi_prob": check_level(hdi_prob), "prior": prior,
            "paired": paired, "n_draws": n_draws, "labels": labels, "pos_label": pos_label,
            "never_true": never_true, "n_jobs": -1,
            "chosen_from": chosen_from, "looks": looks,
        }  # fmt: skip
        self._prevalence = prevalence
        self._seed = seed_sequence(random_state)
        self._history = history_of(self.folder, (a, b))
        self._looks = []
        self._unanswered: dict[str, str] = {}
        self._made = 0  # Number of batches with a look, whether or not the look has a result.
        self._stored: dict[int, Comparison] = {}  # At the stop and at the last look.
        self._classes: list[int | None] = []  # At the first and at the last look.
        # Differences between batches, one entry per look.
        self._differing: list[Finding | None] = []

    # Input
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
        """Store a batch of outcomes; adding it again with the same key has no effect.

        When this returns, the batch is on disk. If the process is killed earlier, add the batch
        again with the same key.

        Parameters
        ----------
        y_true
            :class:`Outcomes`, :class:`Scores`, or the true labels; None for graded answers.
        predictions
            With true labels: each model's predicted labels or scores, as the metric requires,
            by name or as a frame.
        key
            Unique key of the batch: a date, a range of rows, a file name.
        versions
            Version of each model that made these predictions, by name: a tag, a commit, a hash of
            its weights. Versions are stored with the batch. If batches come from two versions of
            a model, a serious finding reports it.

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
                    f"{param('prevalence=')} applies to labels, not to scores; remove it"
                )
        elif outcomes.prevalence is not None:
            raise UsageError(
                f"a monitor has its own {param('prevalence=')}; add the batch with "
                "at_prevalence(None)"
            )
        elif outcomes.pool is not None:
            raise UsageError(
                "a monitor sums batches, but labels from one pool cannot be summed; pass all "
                "labels to Outcomes.from_pool and call compare"
            )
        outcomes.select([self.a, self.b])
        name = check_key(key)
        self._history.store(name, outcomes, check_versions(versions, outcomes.models))

    # Results
    def _read(self, y_true: Seen | LabelsLike | None, predictions: ModelsLike | None) -> Seen:
        if isinstance(y_true, (Outcomes, Scores)):
            if predictions is not None:
                raise UsageError("outcomes already contain the predictions; remove predictions=")
            return y_true
        if not isinstance(predictions, Mapping) and not is_frame(predictions):
            raise UsageError(
                "a batch must be outcomes, scores, or true labels with predictions by model, "
                f"e.g. {{'bert': …, 'gpt': …}}; got {type(predictions).__name__}"
            )
        metric = self._kwargs["metric"]
        if metric is None or not metrics.is_of_scores(metric):
            return Outcomes.from_labels(cast(LabelsLike, y_true), cast(ModelsLike, predictions))
        return data_of(
            y_true,
            named(cast(ModelsLike, predictions)),
            metric=metric,
            labels=self._kwargs["labels"],
            sample_weight=None,
            groups=None,
        )

    @property
    def outcomes(self) -> Seen:
        """Sum of all batches; before the first, this raises a DataError."""
        return self._sum(self.n_batches)

    @property
    def looks(self) -> tuple[Look, ...]:
        """One look per batch, at all items so far, in order of arrival."""
        self._look()
        return tuple(self._looks)

    def _look(self) -> None:
        """Add a look for every batch that arrived since the last call."""
        for number in range(self._made + 1, self.n_batches + 1):
            key = self._history.batches[number - 1].key
            try:
                comparison = self._compare(number)
            # For example, there may be only one class so far; the next batch may add another.
            except DataError as error:
                self._unanswered[key] = str(error)
            else:
                self._note(comparison, number, key)
                self._classes = [*self._classes[:1], comparison.spec.data.n_classes]
            self._made = number

    def _note(self, comparison: Comparison, number: int, key: str) -> None:
        self._looks.append(look_at(comparison, number=number, key=key, stop=self.stop))
        stopped = next((look.number for look in self._looks if look.holds), None)
        self._stored = {
            look: earlier for look, earlier in self._stored.items() if look == stopped
        } | {number: comparison}

    @property
    def n_batches(self) -> int:
        """Number of counted batches."""
        self._history.refresh()
        return len(self._history.batches)

    @property
    def latest(self) -> Comparison:
        """Comparison on all items so far; before the first, this raises a DataError."""
        number = self.n_batches
        return self._stored[number] if number in self._stored else self._compare(number)

    @property
    def stopped(self) -> Look | None:
        """First look that met the stopping rule, whatever came later; None if none did."""
        return next((look for look in self.looks if look.holds), None)

    def at(self, number: int) -> Comparison:
        """Return the comparison as it was after a number of batches.

        Parameters
        ----------
        number
            Number of batches.
        """
        if type(number) is int and number in self._stored:
            return self._stored[number]
        self._history.refresh()
        return self._compare(number)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings about the folder, the looks and the reported comparison."""
        self._look()
        return self._findings()

    def _findings(self) -> tuple[Finding, ...]:
        ends = (self._classes[0], self._classes[-1]) if self._classes else (None, None)
        # A duplicate that arrived after the reported look is still a finding about the folder.
        noticed = () if self._history.total is None else self._history.total.findings
        reported = self._shown().findings if self._looks else ()
        return (
            *folder_findings(self._history.left_out, self._history.unfinished),
            *(finding for finding in noticed if finding.name == TWINS),
            *twin_findings(self._history.sources),
            *look_findings(self._looks, self._unanswered, self.stop, ends),
            *self._since(reported),
            *(finding for finding in reported if finding.name != TWINS),
        )

    def _since(self, reported: Sequence[Finding]) -> list[Finding]:
        """Return findings about differences between batches that arose after the reported look."""
        last = [*self._differing[-1:], self._versions_finding(self._made)]
        known = {(finding.name, finding.level) for finding in reported}
        findings = [finding for finding in last if finding is not None]
        return [finding for finding in findings if (finding.name, finding.level) not in known]

    def _compare(self, number: int) -> Comparison:
        """Compare on the first batches, after comparing newer batches with older ones."""
        data = self._sum(number)
        while len(self._differing) < number - 1:  # Include looks that were skipped.
            self._check(len(self._differing) + 1)
        kwargs = self._kwargs.copy()
        kwargs["random_state"] = child(self._seed, number)
        changed = self._versions_finding(number)
        known = self._differing[number - 1 :][:1] or self._differing[-1:]
        answer = self._ask(_with_findings(data, changed, *known), kwargs)
        if len(self._differing) >= number:
            return answer
        self._check(number, answer)
        noticed = self._differing[-1]
        if noticed is None or [noticed] == known:
            return answer
        return self._ask(_with_findings(data, changed, noticed), kwargs)

    def _check(self, number: int, answer: Comparison | None = None) -> None:
        """Compare newer batches with older ones at one look, after all looks before it.

        A change that withholds the decision persists, because the batches stay in the sum.
        """
        last = self._differing[-1] if self._differing else None
        if number > 1 and (last is None or last.level != "serious"):
            batches = [batch.outcomes for batch in self._history.batches[:number]]
            if answer is None:
                with suppress(DataError):  # Without a decision there is nothing to withhold.
                    answer = self._ask(self._sum(number), self._few_draws())
            if answer is not None:
                change = find_change(statistics_of(answer.spec, batches), number)
                last = last if change is None else self._change_finding(change, answer)
        self._differing.append(last)

    def _few_draws(self) -> _CompareKwargs:
        kwargs = self._kwargs.copy()
        kwargs["n_draws"], kwargs["n_jobs"] = _FEW_DRAWS, 1
        return kwargs

    def _ask(self, data: Seen, kwargs: _CompareKwargs) -> Comparison:
        """Compare the models on the given batches."""
        if isinstance(data, Scores):
            return compare(data, self.a, self.b, **kwargs)
        data, first = self._with_classes(data), self._sum(1)
        if kwargs["metric"] is None and isinstance(first, Outcomes):
            kwargs["metric"] = chosen_metric(
                self._with_classes(first),
                None,
                labels=kwargs["labels"],
                pos_label=kwargs["pos_label"],
            )
        data = data.at_prevalence(self._prevalence, pos_label=kwargs["pos_label"])
        return compare(data, self.a, self.b, **kwargs)

    def _change_finding(self, change: Change, overall: Comparison) -> Finding:
        """Return the finding about batches that differ, with how and by how much."""
        cut, number = change.cut, change.look
        parts = [self._history.between(0, cut), self._history.between(cut, number)]
        of_slice = ""
        if change.slice is not None:
            parts = [_in_slice(part, change.slice) for part in parts]
            of_slice = f" of slice {', '.join(change.slice)!r}"
        before, since = (self._plain_values(part) for part in parts)
        moved = [abs(new - old) for old, new in zip(before, since, strict=True)]
        half = overall.rope.width / 2
        small = not any(math.isnan(change) for change in moved) and max(moved) < half
        metric, keys = overall.metric, [batch.key for batch in self._history.batches]
        names = [f"{metric} of {self.a}", f"{metric} of {self.b}", f"{self.a} − {self.b}"]
        changes = [
            f"{name} from {_value(old, sign=i == 2)} to {_value(new, sign=i == 2)}"
            for i, (name, old, new) in enumerate(zip(names, before, since, strict=True))
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
            newer=counted(parts[1].n, "items") + of_slice,
            older=counted(parts[0].n, "items"),
            changes=clauses(changes),
            chance=f"{math.exp(max(change.log_p, -700)):.0e}",
        )

    def _plain_values(self, part: Seen) -> tuple[float, float, float]:
        """Return the observed value of A, of B and their difference; NaN where undefined."""
        try:
            comparison = self._ask(part, self._few_draws())
        except OutperformError:
            return math.nan, math.nan, math.nan
        return comparison.a.observed, comparison.b.observed, comparison.observed

    def _versions_finding(self, number: int) -> Finding | None:
        """Return the finding about models whose version changed among the first batches."""
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

    def _with_classes(self, outcomes: Outcomes) -> Outcomes:
        """Add the classes in ``labels`` and ``pos_label`` that have not occurred yet."""
        labels, positive = self._kwargs["labels"], self._kwargs["pos_label"]
        named = [*(() if labels is None else labels), *(() if positive is None else [positive])]
        return outcomes.with_labels(named) if named and outcomes.kind != "correct" else outcomes

    def _sum(self, number: int) -> Seen:
        known = len(self._history.batches)
        if not known:
            raise DataError(self._nothing_yet())
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= known:
            raise UsageError(f"the number of a look must be from 1 to {known}; got {number!r}")
        return self._history.upto(number)

    def _nothing_yet(self) -> str:
        findings = folder_findings(self._history.left_out, self._history.unfinished)
        reasons = (
            f"; {finding.message.rstrip('.')}" for finding in findings if finding.level == "warning"
        )
        missing = f"no batch of {self.a!r} and {self.b!r} has arrived in {self.folder} yet"
        return missing + "".join(reasons)

    def _shown(self) -> Comparison:
        """Return the comparison to report: the one at the stop, or otherwise the latest."""
        look = next((look for look in self._looks if look.holds), self._looks[-1])
        return self._stored[look.number]

    # Text, tables, figures
    @property
    def _names(self) -> tuple[str, str]:
        return self.a, self.b

    @property
    def _stopped_at(self) -> int | None:
        """Number of the first look that met the stopping rule."""
        return next((look.number for look in self._looks if look.holds), None)

    @property
    def _reported(self) -> Comparison | None:
        """Comparison to report."""
        return self._shown() if self._looks else None

    @property
    def _stop_now(self) -> Stop | None:
        """Stopping rule, with the default threshold filled in."""
        if self.stop is None or not self._looks:
            return self.stop
        return replace(self.stop, at=self.stop.threshold(self._shown()))

    def to_dict(self) -> Json:
        """Return all looks, and the comparison to report, as plain values."""
        self._look()  # once, as a batch that arrives meanwhile must not be in one part only
        return to_json(self)

    def table(self) -> Table:
        """Return one row per look."""
        return looks_table(self.to_dict())

    def _document(self) -> Document:
        return monitor_document(self.to_dict())

    def report(self) -> str:
        """Return a paragraph for a paper: the monitoring and the reported comparison."""
        return monitor_paragraph(self.to_dict())

    def plot(self, ax: Axes | None = None, *, size: FigureSize = "text") -> Axes:
        """Draw the interval after each look, with the ROPE.

        Parameters
        ----------
        ax
            Axes to draw into; new ones if None. They are returned.
        size
            Width of a new figure: ``"column"``, ``"text"`` or ``"slide"``.
        """
        return plot_looks(facts=self.to_dict(), ax=ax, size=size)

    def _latex_label(self) -> str:
        return latex_label(self.a, self.b, "looks")

    def __repr__(self) -> str:
        return f"Monitor({monitor_headline(self.to_dict())})"
