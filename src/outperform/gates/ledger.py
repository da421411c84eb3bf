"""``Ledger``: every decision of a gate in one file, and what they add up to.

One comparison is sound, but a chain of them is not. If every release may be worse than the one
before by the width of a ROPE, twenty passed gates may lose twenty ROPEs. So the ledger keeps an
anchor, the best model ever released, and every candidate must also be close to the anchor.

Where the anchor's answers to these items are known, the candidate is compared with it directly.
Otherwise the differences of the chain are added up. Each of them belongs to a candidate that
passed, and candidates pass more easily if their test set was kind, so such a sum is too high: with
twenty releases of 5,000 items, a plain sum lets two ROPEs be lost in two of three chains. Each link
is therefore the posterior given that its observed difference d exceeded the cut c that it had to
pass, with normal errors of sd s,

    p(δ | d, d > c) ∝ N(δ; 0, τ²) · φ((d − δ) / s) / Φ((δ − c) / s),

where τ² is the square of twice the ROPE's margin plus d². A link far above its cut is not changed.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtri

from outperform import __version__
from outperform._json import Plain, written
from outperform._typing import FloatArray
from outperform.data.outcomes import Outcomes, true_codes
from outperform.data.scores import Scores
from outperform.decision.intervals import Interval
from outperform.display.cards import Notebook
from outperform.display.document import Document
from outperform.display.layout import Page, plain
from outperform.errors import DataError, UsageError
from outperform.findings import counted
from outperform.gates.ledger_text import ledger_document, ledger_headline, ledger_table
from outperform.inference.summary import Summary

BUDGET = 2.0  # margins of the ROPE that may be lost since the anchor
# The anchor is asked at every release, so its check uses half of the error probability.
TIMES = 2.0
_PLAUSIBLE = 2.0  # margins: sd of true differences before a link is seen
_GRID = np.linspace(-10.0, 6.0, 401)
REQUIRED = ("time", "items", "n", "metric", "candidate", "status", "mean", "sd")


@written()
@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One decision of a gate.

    Parameters
    ----------
    time
        When it was made, in UTC.
    items
        What identifies the items: a hash of their ids, or of their true labels if they have none.
    n
        Number of items.
    metric
        Name of the metric, with its class and everything else that changes its value: the classes
        averaged over, costs, weights, class proportions, label errors.
    candidate
        Name of the candidate.
    status
        ``"pass"``, ``"fail"`` or ``"undecided"``.
    mean, sd
        Posterior of candidate − baseline, with signs such that higher is better.
    baseline
        Name of the baseline; None if only a level was required.
    cut
        Difference above which the candidate could pass.
    margin
        How much worse than the baseline was still allowed.
    anchor, anchor_mean, anchor_sd
        Posterior of candidate − anchor, if both were compared on these items.
    hdi_prob
        Probability mass of the HDI.
    version
        Version of outperform.
    """

    time: str
    items: str
    n: int
    metric: str
    candidate: str
    status: str
    mean: float
    sd: float
    baseline: str | None = None
    cut: float | None = None
    margin: float | None = None
    anchor: str | None = None
    anchor_mean: float | None = None
    anchor_sd: float | None = None
    hdi_prob: float = 0.95
    version: str = __version__

    @property
    def released(self) -> bool:
        """Whether the candidate passed against a baseline."""
        return self.status == "pass" and self.baseline is not None

    def line(self) -> str:
        """Return the decision as one line of JSON, with a checksum of its content."""
        content = asdict(self)
        return json.dumps({**content, "sha256": _checksum(content)}, ensure_ascii=False)


def _checksum(content: Mapping[str, object]) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


@written()
class Since(NamedTuple):
    """Difference of a release from the best release, with its interval.

    Parameters
    ----------
    mean, sd
        Its mean and sd.
    hdi
        The HDI.
    """

    mean: float
    sd: float
    hdi: Interval


@written(
    "time candidate=entry.candidate baseline=entry.baseline status=entry.status "
    "mean=entry.mean sd=entry.sd n=entry.n items=entry.items look difference since_anchor"
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One decision in the course of a ledger.

    Parameters
    ----------
    entry
        The decision.
    look
        Number of decisions on the same items so far, including this one.
    difference
        The difference from the baseline, as recorded.
    since_anchor
        The difference from the best release; None unless the candidate was released.
    """

    entry: Entry
    look: int
    difference: Since
    since_anchor: Since | None

    @property
    def time(self) -> str:
        """When the decision was made, in UTC."""
        return self.entry.time


class Position(NamedTuple):
    """Posterior of a model − the anchor, with signs such that higher is better."""

    mean: float
    variance: float

    def plus(self, mean: float, variance: float) -> Position:
        """Return the position of a model that differs from this one."""
        return Position(self.mean + mean, self.variance + variance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """What the decisions about one metric add up to.

    Parameters
    ----------
    anchor
        The best model ever released.
    released
        The latest release.
    positions
        Released models, each with its difference from the anchor.
    reused
        Items on which a model has been released since the anchor.
    """

    anchor: str
    released: str
    positions: Mapping[str, Position]
    reused: frozenset[str]


@written("name metric anchor released loss decisions", kind="ledger")
@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)
class Ledger(Plain, Notebook):
    """Every decision of a gate, in a file with one line of JSON per decision.

    Lines are only appended, by several processes at a time if need be. Their order in the file has
    no meaning, and equal lines count once, so two branches can be merged with ``merge=union`` in
    ``.gitattributes``. A line that was changed, or is no line of a ledger, raises an error with its
    number.

    Parameters
    ----------
    path
        The file. It need not exist yet.
    metric
        Metric whose decisions matter, if the file has those of several.

    Examples
    --------
    >>> import tempfile, outperform as op
    >>> seen = op.Outcomes.from_correct({"new": [1] * 90 + [0] * 10, "old": [1] * 60 + [0] * 40})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = op.Ledger(f"{folder}/gates.jsonl")
    ...     g = op.gate(seen, "new", "old", metric="accuracy", rope=0.01, ledger=ledger)
    ...     ledger.anchor, ledger.looks(seen)
    ('new', 1)
    """

    path: Path
    _metric: str | None = field(default=None)

    def __init__(self, path: str | os.PathLike[str], *, metric: str | None = None) -> None:
        object.__setattr__(self, "path", Path(path))
        object.__setattr__(self, "_metric", metric)

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.path.name

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All decisions, in the order of time."""
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise DataError(f"cannot read the ledger {self.path}: {error.strerror}") from None
        except UnicodeDecodeError as error:
            raise DataError(f"{self.path} is not UTF-8 text: {error}") from None
        return tuple(_parsed(text.split("\n"), str(self.path)))

    @property
    def metric(self) -> str | None:
        """Metric of the course: the requested one, or that of the latest decision."""
        if self._metric is not None:
            return self._metric
        compared = [entry for entry in self.entries if entry.baseline is not None]
        return compared[-1].metric if compared else None

    @property
    def anchor(self) -> str | None:
        """Name of the best model ever released; None without a comparison."""
        course = self.course()
        return None if course is None else course.anchor

    @property
    def loss(self) -> Summary | None:
        """Posterior of what the latest release has lost since the anchor; None without one."""
        course = self.course()
        if course is None:
            return None
        position = course.positions[course.released]
        prob = self.entries[-1].hdi_prob
        return normal_summary(0.0 - position.mean, math.sqrt(position.variance), prob)

    @property
    def released(self) -> str | None:
        """Name of the latest release; None without a comparison."""
        course = self.course()
        return None if course is None else course.released

    @property
    def decisions(self) -> tuple[Step, ...]:
        """Decisions about the metric in the order of time, and those that required only a level."""
        metric, looks = self.metric, dict[str, int]()
        course, steps = self.course(metric), []
        for entry in self.entries:
            looks[entry.items] = looks.get(entry.items, 0) + 1
            if entry.baseline is not None and entry.metric != metric:
                continue
            position = None
            if course is not None and entry.released:
                position = course.positions.get(entry.candidate)
            since = (
                None
                if position is None
                else _since(position.mean, position.variance, entry.hdi_prob)
            )
            difference = _since(entry.mean, entry.sd**2, entry.hdi_prob)
            look = looks[entry.items]
            steps.append(Step(entry=entry, look=look, difference=difference, since_anchor=since))
        return tuple(steps)

    def looks(self, outcomes: Outcomes | Scores) -> int:
        """Return how many decisions were made on these items.

        Parameters
        ----------
        outcomes
            Outcomes or scores of these items, of any models.
        """
        items = fingerprint(outcomes)
        return sum(entry.items == items for entry in self.entries)

    def course(self, metric: str | None = None, baseline: str | None = None) -> Course | None:
        """Return what the decisions about a metric add up to; None without a comparison.

        Parameters
        ----------
        metric
            Name of the metric. Default: that of the latest decision.
        baseline
            Name of the model that is in use. If no gate passed it, it was released all the same.
        """
        metric = self.metric if metric is None else metric
        entries = (entry for entry in self.entries if entry.metric == metric)
        return course_of(entries, baseline=baseline)

    def append(self, entry: Entry) -> None:
        """Add a decision, in one write.

        Parameters
        ----------
        entry
            The decision.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_APPEND | os.O_CREAT | os.O_RDWR | getattr(os, "O_BINARY", 0)
        try:
            handle = os.open(self.path, flags, 0o644)
        except OSError as error:
            raise DataError(f"cannot write to the ledger {self.path}: {error.strerror}") from None
        try:
            data = (entry.line() + "\n").encode()
            size = os.fstat(handle).st_size
            # A process may have ended in the middle of a line, or an editor removed the last end.
            if size:
                os.lseek(handle, size - 1, os.SEEK_SET)
                if os.read(handle, 1) != b"\n":
                    data = b"\n" + data
            if os.write(handle, data) != len(data):
                raise DataError(f"the decision could not be written to {self.path} in one piece")
            os.fsync(handle)
        finally:
            os.close(handle)

    def report(self) -> str:
        """Return what the decisions add up to, in one sentence."""
        return ledger_headline(self.to_dict())

    def to_html(self) -> str:
        """Return the course as HTML, for notebooks."""
        return self._document().html()

    def to_markdown(self) -> str:
        """Return the decisions as a Markdown table."""
        return ledger_table(self.to_dict()).to_markdown()

    def to_latex(self) -> str:
        """Return the decisions as a LaTeX table."""
        return ledger_table(self.to_dict()).to_latex()

    def _document(self) -> Document:
        return ledger_document(self.to_dict())

    def __str__(self) -> str:
        return plain(self._document().lines(Page(height=None)))

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        return f"Ledger({self.name}: {counted(len(self), 'decisions')}, anchor {self.anchor})"


def ledger_of(ledger: Ledger | str | os.PathLike[str] | None) -> Ledger | None:
    """Return a ledger from a ledger or a path."""
    if ledger is None or isinstance(ledger, Ledger):
        return ledger
    if not isinstance(ledger, (str, os.PathLike)):
        raise UsageError(f"ledger must be a file name or an op.Ledger; got {ledger!r}")
    return Ledger(ledger)


def _parsed(lines: Iterable[str], path: str) -> list[Entry]:
    """Return the decisions in order, each once; damaged lines raise an error."""
    known = {part.name for part in fields(Entry)}
    by_checksum: dict[str, Entry] = {}
    damaged: list[int] = []
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            content = json.loads(text)
            checksum = content.pop("sha256")
            whole = all(name in content for name in REQUIRED)
            if not whole or checksum != _checksum(content):
                raise ValueError
            entry = Entry(**{name: value for name, value in content.items() if name in known})
        except (ValueError, KeyError, AttributeError, TypeError):
            damaged.append(number)
            continue
        by_checksum[checksum] = entry
    if damaged:
        named = ", ".join(map(str, damaged[:10]))
        raise DataError(
            f"{path}: line{'s' * (len(damaged) > 1)} {named} of the ledger "
            f"{'are' if len(damaged) > 1 else 'is'} damaged or was changed; restore the file, or "
            "delete what is no decision (for files merged by git, set merge=union)"
        )
    return sorted(by_checksum.values(), key=lambda entry: (entry.time, entry.line()))


def course_of(entries: Iterable[Entry], *, baseline: str | None = None) -> Course | None:
    """Return what decisions in the order of time add up to.

    The anchor is the first baseline until a released model is shown to be better: until the whole
    interval of its difference from the anchor lies above zero. A candidate that did not pass and
    is a baseline later was released all the same, and is connected by its own decision. A baseline
    that is neither the anchor nor connected with it starts a new course.

    Parameters
    ----------
    entries
        Decisions about one metric.
    baseline
        Name of the model that is in use after the last decision.
    """
    anchor = released = ""
    positions: dict[str, Position] = {}
    reused: set[str] = set()
    refused: dict[str, Entry] = {}

    def use(name: str) -> None:
        """Connect a candidate that was released although it did not pass."""
        nonlocal released
        before = refused.pop(name, None)
        if name not in positions and before is not None and before.baseline in positions:
            positions[name] = _placed(replace(before, cut=None), anchor, positions[before.baseline])
            reused.add(before.items)
            released = name

    for entry in entries:
        if entry.baseline is None:
            continue
        use(entry.baseline)
        if not entry.released:
            refused[entry.candidate] = entry
        if entry.baseline not in positions:
            anchor = released = entry.baseline
            positions, reused = {anchor: Position(0.0, 0.0)}, set()
        if not entry.released or entry.candidate in positions:
            released = entry.candidate if entry.released else released
            continue
        released = entry.candidate
        positions[released] = here = _placed(entry, anchor, positions[entry.baseline])
        reused.add(entry.items)
        if here.mean - _normal(entry.hdi_prob) * math.sqrt(here.variance) > 0:
            positions = {
                name: Position(position.mean - here.mean, position.variance + here.variance)
                for name, position in positions.items()
            } | {released: Position(0.0, 0.0)}
            anchor, reused = released, set()
    if not positions:
        return None
    if baseline is not None:
        use(baseline)
    return Course(anchor=anchor, released=released, positions=positions, reused=frozenset(reused))


def _placed(entry: Entry, anchor: str, baseline: Position) -> Position:
    """Return the position of a release: compared with the anchor, or one link further."""
    if entry.anchor == anchor and entry.anchor_mean is not None and entry.anchor_sd is not None:
        return Position(entry.anchor_mean, entry.anchor_sd**2)
    return baseline.plus(*link(entry.mean, entry.sd, entry.cut, entry.margin))


@lru_cache(maxsize=4096)
def link(mean: float, sd: float, cut: float | None, margin: float | None) -> tuple[float, float]:
    """Return mean and variance of a difference, given that the candidate passed.

    Parameters
    ----------
    mean, sd
        Posterior of the difference, as if the candidate had not been selected.
    cut
        Difference above which it passed; None if there was no selection.
    margin
        How much worse was still allowed, which sets the scale of plausible differences.

    Examples
    --------
    >>> far, near = link(0.01, 0.002, 0.0, 0.01), link(0.001, 0.002, 0.0, 0.01)
    >>> round(far[0], 4), near[0] < 0
    (0.0099, True)
    """
    if cut is None or sd == 0:
        return mean, sd**2
    values: FloatArray = mean + sd * _GRID
    log_density = -0.5 * np.square(_GRID) - log_ndtr((values - cut) / sd)
    if margin:
        spread = math.hypot(_PLAUSIBLE * margin, mean)
        log_density = log_density - 0.5 * np.square(values / spread)
    density = np.exp(log_density - log_density.max())
    density /= density.sum()
    centre = float(density @ values)
    return centre, float(density @ np.square(values - centre))


def _since(mean: float, variance: float, prob: float) -> Since:
    summary = normal_summary(mean, math.sqrt(variance), prob)
    return Since(summary.mean, summary.sd, summary.hdi)


def _normal(prob: float) -> float:
    return float(ndtri((1 + prob) / 2))


def contrast_of(position: Position, mean: float, sd: float, prob: float) -> Summary:
    """Return the posterior of candidate − anchor, added up from the chain and its last link.

    Parameters
    ----------
    position
        Baseline − anchor.
    mean, sd
        Posterior of candidate − baseline.
    prob
        Probability mass of the gate's HDI.
    """
    both = position.plus(mean, sd**2)
    return normal_summary(both.mean, math.sqrt(both.variance), anchor_prob(prob))


def cut_of(own: float, position: Position | None, contrast: Summary, lost: float) -> float:
    """Return the difference above which a candidate passes, of its baseline and of the anchor.

    Parameters
    ----------
    own
        The difference that the comparison with the baseline requires.
    position
        Baseline − anchor if the differences of a chain are added up, else None.
    contrast
        Posterior of candidate − anchor.
    lost
        Difference from the anchor that is still allowed, below 0.
    """
    if position is None:
        return own
    return max(own, lost + contrast.mean - contrast.hdi.low - position.mean)


def anchor_prob(prob: float) -> float:
    """Return the mass of the interval that must clear the budget; see ``TIMES``."""
    return 1 - (1 - prob) / TIMES


def normal_summary(mean: float, sd: float, prob: float) -> Summary:
    """Return the summary of a normal posterior.

    Parameters
    ----------
    mean, sd
        Its mean and sd.
    prob
        Probability mass of the intervals.
    """
    reach = _normal(prob) * sd
    ends: dict[str, Any] = {
        "low": mean - reach,
        "high": mean + reach,
        "prob": prob,
        "signed": True,
    }
    return Summary(
        mean=mean,
        sd=sd,
        mcse=0.0,
        hdi=Interval(**ends, kind="HDI"),
        eti=Interval(**ends, kind="ETI"),
    )


def fingerprint(data: Outcomes | Scores) -> str:
    """Return what identifies the items of a test set, whichever models answered them.

    Items are known by their ids, or else by how often each true label occurs. Without either, two
    test sets of the same size count as the same.

    Parameters
    ----------
    data
        Outcomes or scores.

    Examples
    --------
    >>> import outperform as op
    >>> one = op.Outcomes.from_labels([1, 0, 1], {"a": [1, 1, 1], "b": [0, 1, 0]})
    >>> fingerprint(one) == fingerprint(one.select(["b"]))
    True
    """
    rows = data if isinstance(data, Scores) else data._items
    ids = None if rows is None else rows.ids
    contents: dict[str, Any] = {"n": data.n}
    if ids is not None:
        contents["ids"] = sorted(map(str, np.asarray(ids).tolist()))
    elif isinstance(data, Outcomes) and data.kind == "classes":
        table = data.tables[0]
        contents["truth"] = sorted(
            (str(data.labels[code]), int(table.sum_where(table.cells[:, 0] == code)))
            for code in true_codes(data).tolist()
        )
    elif isinstance(data, Scores) and data.truth is not None:
        contents["truth"] = sorted(map(str, np.asarray(data.truth).ravel().tolist()))
    text = json.dumps(contents, sort_keys=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def now() -> str:
    """Return the time, in UTC, to the microsecond."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
