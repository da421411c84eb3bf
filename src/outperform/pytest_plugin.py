"""pytest plugin: a gate as a fixture, a summary of all gates, and JUnit properties.

Other modules are loaded only when a test calls the fixture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack, get_args

import pytest

from outperform.errors import DataError, UsageError
from outperform.testing import Undecided, check_undecided, let_through

if TYPE_CHECKING:  # so starting pytest does not load numpy
    from outperform._typing import Label, LabelsLike
    from outperform.data.missing import MissingTexts
    from outperform.data.outcomes import Outcomes
    from outperform.data.scores import Scores
    from outperform.decision.rope import RopeLike
    from outperform.gates.result import AnchorCheck, Check, Gate, GuardLike, LevelCheck
    from outperform.gates.rule import Require
    from outperform.inference.suite import Suite
    from outperform.metrics.metric import MetricLike
    from outperform.testing import Options

ID, TRUTH, PREDICTION = "id", "label", "prediction"
_STATUS, _REPORT = "outperform.status", "outperform.report"
_WORDS = {"pass": "passed", "fail": "failed", "undecided": "undecided"}
_COLOURS = {"pass": "green", "fail": "red", "undecided": "yellow"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the fixture."""
    group = parser.getgroup("outperform", "gates for models")
    group.addoption(
        "--outperform-baseline",
        metavar="FILE",
        help="File with the baseline's predictions, or its outcomes as written by `outperform "
        "count`, for outperform_gate.",
    )
    group.addoption(
        "--outperform-undecided",
        choices=get_args(Undecided),
        default="fail",
        help="What to do if a gate is undecided. Default: fail.",
    )


@dataclass(frozen=True, slots=True)
class OutperformGate:
    """Callable that the fixture ``outperform_gate`` returns.

    Parameters
    ----------
    node
        The test, whose report includes its gates.
    """

    node: pytest.Item

    def __call__(
        self,
        y_true: Suite | Outcomes | Scores | LabelsLike | None,
        candidate: str | LabelsLike,
        baseline: str | LabelsLike | None = None,
        *,
        metric: MetricLike | None = None,
        rope: RopeLike | None = None,
        at_least: float | None = None,
        at_most: float | None = None,
        require: Require = "not_worse",
        guards: Sequence[GuardLike] = (),
        undecided: Undecided | None = None,
        ids: Sequence[Label] | None = None,
        **options: Unpack[Options],
    ) -> Gate:
        """Fail the test unless the candidate can replace the baseline.

        Parameters
        ----------
        y_true
            True labels, or :class:`outperform.Outcomes`, :class:`outperform.Scores` or
            :class:`outperform.Suite`.
        candidate
            Predicted labels, or the name of a model in the outcomes.
        baseline
            As ``candidate``. If it is omitted, or a name that the outcomes do not contain, the
            baseline comes from the file of ``--outperform-baseline``, in which a name selects a
            column or model. With a level and without that file, there is no baseline.
        metric, rope, at_least, at_most, guards, **options
            As for :func:`outperform.gate`, also ``ledger`` and, for a suite, ``policy``.
        require
            ``"not_worse"`` or ``"better"``.
        undecided
            What to do if the gate is undecided: ``"fail"``, ``"warn"`` or ``"pass"``. Default:
            the value of ``--outperform-undecided``. With a serious finding it always fails.
        ids
            Item ids, in the order of ``y_true``, to match with the column ``id`` of the file. If
            omitted, rows are matched by position.

        Returns
        -------
        Gate
            The gate, with its comparisons for additional assertions.
        """
        __tracebackhide__ = True
        from outperform.data.missing import MissingTexts
        from outperform.gates.api import gate

        undecided = undecided or self.node.config.getoption("--outperform-undecided")
        check_undecided(undecided)
        missing = MissingTexts.from_param(
            options.get("na_values"), options.get("empty_is_label", False)
        )
        levels: dict[str, Any] = {"at_least": at_least, "at_most": at_most}
        data: tuple[Any, Any, Any]
        path = self.node.config.getoption("--outperform-baseline")
        if baseline is None and path is None and (at_least is not None or at_most is not None):
            _reject_ids(ids)
            data = (y_true, candidate, None)
        else:
            data = self._pair(y_true, candidate, baseline, ids, metric=metric, missing=missing)
        if isinstance(data[1], str) and not isinstance(candidate, str):  # arrays are counted now
            options = {**options, "na_values": None, "empty_is_label": False}
        result = gate(
            *data, metric=metric, rope=rope, require=require, guards=guards, **levels, **options
        )
        self.node.user_properties += _properties(result)
        return let_through(result, undecided, callers=2)

    def _pair(
        self,
        y_true: Any,
        candidate: Any,
        baseline: Any,
        ids: Any,
        *,
        metric: Any,
        missing: MissingTexts,
    ) -> tuple[Any, Any, Any]:
        """Return truth, candidate and baseline, or outcomes and two names."""
        __tracebackhide__ = True
        from outperform.data.outcomes import Outcomes
        from outperform.data.scores import Scores
        from outperform.inference.suite import Suite
        from outperform.io.counted_files import holds_outcomes

        counted = isinstance(y_true, (Outcomes, Scores, Suite))
        named = baseline is None or isinstance(baseline, str)
        if not named or (counted and baseline in y_true.models):
            _reject_ids(ids)
            return y_true, candidate, baseline
        if isinstance(y_true, Suite):
            raise UsageError(
                f"a suite contains its baseline; name one of {', '.join(y_true.models)}; got "
                f"{baseline!r}"
            )
        path = self.node.config.getoption("--outperform-baseline")
        if path is None:
            raise UsageError(
                "there is no baseline; run pytest with --outperform-baseline FILE, or pass the "
                "baseline's predictions to outperform_gate"
            )
        if holds_outcomes(path):
            _reject_ids(ids)
            return _unpaired(y_true, candidate, path, baseline, missing)
        if counted:
            raise UsageError(
                f"{path} contains predictions in rows, but counted outcomes have no rows; pass the "
                "labels to outperform_gate, or count the baseline with `outperform count`"
            )
        column = PREDICTION if baseline is None else baseline
        of_scores = _is_of_scores(metric)
        rows = _rows(path, column, y_true, candidate, ids, of_scores=of_scores, missing=missing)
        return y_true, candidate, rows


@pytest.fixture
def outperform_gate(request: pytest.FixtureRequest) -> OutperformGate:
    """Fail the test unless ``outperform_gate(y_true, y_pred, metric=…, rope=…)`` passes."""
    return OutperformGate(request.node)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write the result of every gate, including those that passed."""
    gates = list(_gates(terminalreporter))
    if not gates:
        return
    statuses = [status for _, status, _ in gates]
    counts = [f"{statuses.count(j)} {word}" for j, word in _WORDS.items() if j in statuses]
    terminalreporter.section(f"outperform gates: {', '.join(counts)}")
    for test, status, report in gates:
        colour = {_COLOURS[status]: True}
        terminalreporter.write_line(f"{_WORDS[status].upper()} {test}", **colour)
        terminalreporter.write_line(f"  {report}")


def _gates(terminalreporter: pytest.TerminalReporter) -> Iterator[tuple[str, str, str]]:
    """Yield test, status and sentence from reports, which xdist workers also send."""
    reports = (report for group in terminalreporter.stats.values() for report in group)
    for report in reports:
        # Every test has a teardown report, which contains all properties.
        if getattr(report, "when", None) == "teardown":
            properties = report.user_properties
            statuses = [value for name, value in properties if name == _STATUS]
            sentences = [value for name, value in properties if name == _REPORT]
            for status, sentence in zip(statuses, sentences, strict=True):
                yield report.nodeid, status, sentence


def _properties(gate: Gate) -> list[tuple[str, object]]:
    """Return the properties of a gate for a test report: those of each check.

    The names for the main metric have no number; the other checks, and those of tasks, are
    numbered from 1 in the order of ``gate.checks``.
    """
    properties: list[tuple[str, object]] = [(_STATUS, gate.status.value)]
    for number, check in enumerate(gate.checks, start=1):
        is_main = number == 1 and check.task is None
        prefix = "outperform" if is_main else f"outperform.check_{number}"
        about = {} if is_main else {"task": check.task, "status": check.status.value}
        if check.guard is not None:
            about["class"] = None if check.guard.label is None else str(check.guard.label)
        values = {**about, **_values(check)}
        properties += [
            (f"{prefix}.{name}", value) for name, value in values.items() if value is not None
        ]
    return [*properties, (_REPORT, gate.report())]


def _values(check: Check | LevelCheck | AnchorCheck) -> dict[str, Any]:
    """Return what a check compares: the metric, the numbers, the decision."""
    from outperform.gates.result import AnchorCheck, LevelCheck

    result: Any = check.answer
    hdi = {"hdi_low": float(result.hdi.low), "hdi_high": float(result.hdi.high)}
    ends = {"metric": result.metric, **hdi, "signature": result.signature}
    if isinstance(check, LevelCheck):
        interval = check.interval
        deciding = {"interval_low": float(interval.low), "interval_high": float(interval.high)}
        level = check.level
        return {level.side: level.value, "estimate": float(result.mean), **ends, **deciding}
    if isinstance(check, AnchorCheck):
        about_anchor = {"anchor": check.anchor, "edge": float(check.edge)}
        return {**about_anchor, "difference": float(result.mean), **ends}
    rope = {"rope_low": float(result.rope.low), "rope_high": float(result.rope.high)}
    return {
        "decision": result.decision.symbol,
        "difference": float(result.mean),
        **ends,
        **rope,
    }


def _reject_ids(ids: object) -> None:
    if ids is not None:
        raise UsageError(
            "ids apply only to a file of predictions, which this comparison does not read"
        )


def _is_of_scores(metric: Any) -> bool:
    from outperform.metrics.registry import is_of_scores

    return metric is not None and is_of_scores(metric)


def _unpaired(
    y_true: Any, candidate: Any, path: str, model: str | None, missing: MissingTexts
) -> tuple[Outcomes, str, str]:
    """Combine the candidate with stored outcomes; unpaired, because these are only counts."""
    __tracebackhide__ = True
    from outperform.data.outcomes import Outcomes
    from outperform.data.views import stand_beside
    from outperform.io.read import read

    old = read(path, models=None if model is None else [model])
    if len(old.models) != 1:
        raise UsageError(
            f"{path} contains {', '.join(old.models)}; select the baseline, e.g. "
            f"outperform_gate(y_true, y_pred, {old.models[0]!r})"
        )
    if isinstance(y_true, Outcomes):
        new = y_true.select([candidate])
    else:
        new = Outcomes.from_labels(
            y_true,
            {"candidate": candidate},
            na_values=missing.na_values,
            empty_is_label=missing.empty_is_label,
        )
    name = new.models[0]
    baseline = "baseline" if old.models[0] in ("candidate", name) else old.models[0]
    both = stand_beside(new.unpair(), replace(old.unpair(), models=(baseline,)))
    return both, name, baseline


def _rows(
    path: str,
    column: str,
    y_true: Any,
    candidate: Any,
    ids: Any,
    *,
    of_scores: bool,
    missing: MissingTexts,
) -> list[Any]:
    """Return the baseline's predictions in the order of the true labels."""
    __tracebackhide__ = True
    from outperform._missing import is_missing, unmasked
    from outperform.io.read import read_rows

    columns = [column, *(() if ids is None else (ID,))]
    rows = read_rows(path, columns, if_there=(TRUTH,), missing=missing)
    y_true, candidate = unmasked(y_true), unmasked(candidate)
    order = range(len(rows[column])) if ids is None else _positions(rows[ID], ids, path)
    if y_true is not None:
        _check_truth(path, rows, order, list(y_true), by_position=ids is None)
    elif ids is None:
        raise UsageError(f"without true labels, the rows of {path} are matched by ids; pass ids=")
    values = [rows[column][position] for position in order]
    missing_rows = [row for row, value in enumerate(rows[column], 1) if is_missing(value)]
    if missing_rows:
        raise DataError(
            f"column {column!r} of {path} has no value in {len(missing_rows)} of {len(values)} "
            f"rows, the first in row {missing_rows[0]} (counted from 1); a gate needs the same "
            "items for both models; add predictions, or pass empty_is_label=True if an empty "
            "field is a label"
        )
    if of_scores:
        return [_number(value, path, column) for value in values]
    return _like(values, [*y_true, *candidate])


def _positions(file_ids: Sequence[object], ids: Sequence[object], path: str) -> list[int]:
    """Return the position of each id in the file, which must contain the same unique ids."""
    __tracebackhide__ = True
    positions = {str(value): position for position, value in enumerate(file_ids)}
    test_ids = [str(value) for value in ids]
    in_test = set(test_ids)
    for problem, differing in (
        ("lacks {n} of the test's ids", [value for value in test_ids if value not in positions]),
        ("has {n} ids that the test lacks", [value for value in positions if value not in in_test]),
    ):
        if differing:
            examples = ", ".join(map(repr, differing[:3]))
            raise DataError(
                f"{path} {problem.format(n=len(differing))}, e.g. {examples}; a gate compares the "
                "same items"
            )
    if len(positions) != len(file_ids) or len(positions) != len(test_ids):
        raise DataError(f"ids must be unique in {path} and in the test")
    return [positions[value] for value in test_ids]


def _check_truth(
    path: str,
    rows: dict[str, list[Any]],
    order: Sequence[int],
    truth: list[Any],
    *,
    by_position: bool,
) -> None:
    """Check that the rows and the test have the same true labels."""
    __tracebackhide__ = True
    if len(truth) != len(order):
        raise DataError(f"{path} has {len(order)} rows, but the test has {len(truth)} items")
    if TRUTH not in rows:
        if by_position:
            raise DataError(
                f"{path} has no column {TRUTH!r} of true labels, needed to check that its rows "
                f"are in the order of y_true; add it, or add a column {ID!r} and pass ids="
            )
        return
    for number, (position, label) in enumerate(zip(order, truth, strict=True)):
        if str(rows[TRUTH][position]) != str(label):
            raise DataError(
                f"the true label of item {number} is {rows[TRUTH][position]!r} in {path}, but "
                f"{label!r} in the test; "
                + ("pass ids if the order differs" if by_position else "correct one of them")
            )


def _like(values: list[Any], known: Sequence[Any]) -> list[Any]:
    """Return labels of a text file, which are text, converted to the types of the test's labels."""
    by_text = {str(label): label for label in known}
    integers = all(isinstance(x, int) or hasattr(x, "__index__") for x in by_text.values())
    return [
        by_text.get(value, int(value) if integers and value.lstrip("-").isdecimal() else value)
        if isinstance(value, str)
        else value
        for value in values
    ]


def _number(value: Any, path: str, column: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise DataError(f"column {column!r} of {path} must contain scores; got {value!r}") from None
