"""The plugin for pytest: a gate as a fixture, a summary of all gates, and JUnit properties.

Nothing but this file is loaded until a test calls the fixture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack, get_args

import pytest

from outperform.errors import DataError, UsageError
from outperform.testing import Undecided, check_undecided, let_through

if TYPE_CHECKING:  # so that the start of pytest costs no numpy
    from outperform._typing import Label, LabelsLike
    from outperform.data.missing import MissingTexts
    from outperform.data.outcomes import Outcomes
    from outperform.data.scores import Scores
    from outperform.decision.rope import RopeLike
    from outperform.gates.result import Gate, GuardLike
    from outperform.gates.rule import Require
    from outperform.metrics.metric import MetricLike
    from outperform.testing import Options

ID, TRUTH, PREDICTION = "id", "label", "prediction"
_JUDGEMENT, _REPORT = "outperform.judgement", "outperform.report"
_WORDS = {"pass": "passed", "fail": "failed", "undecided": "undecided"}
_COLOURS = {"pass": "green", "fail": "red", "undecided": "yellow"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the fixture."""
    group = parser.getgroup("outperform", "gates for models")
    group.addoption(
        "--outperform-baseline",
        metavar="FILE",
        help="What outperform_gate compares with: a file of the baseline's predictions, or of its "
        "outcomes as outperform count writes them.",
    )
    group.addoption(
        "--outperform-undecided",
        choices=get_args(Undecided),
        default="fail",
        help="What a gate does that cannot tell yet; fail by default.",
    )


@dataclass(frozen=True, slots=True)
class OutperformGate:
    """What the fixture ``outperform_gate`` gives to a test.

    Parameters
    ----------
    node
        The test, whose report tells of its gates.
    """

    node: pytest.Item

    def __call__(
        self,
        y_true: Outcomes | Scores | LabelsLike | None,
        candidate: str | LabelsLike,
        baseline: str | LabelsLike | None = None,
        *,
        metric: MetricLike | None = None,
        rope: RopeLike | None = None,
        require: Require = "not_worse",
        guards: Sequence[GuardLike] = (),
        undecided: Undecided | None = None,
        ids: Sequence[Label] | None = None,
        **options: Unpack[Options],
    ) -> Gate:
        """Fail the test unless the candidate may replace the baseline.

        Parameters
        ----------
        y_true
            The true labels, or :class:`outperform.Outcomes`.
        candidate
            The predicted labels, or the name of a model in the outcomes.
        baseline
            As ``candidate``. By default, and with a name that the outcomes do not have, what the
            file of ``--outperform-baseline`` holds; a name is its column or its model.
        metric, rope, guards, **options
            As for :func:`outperform.gate`.
        require
            ``"not_worse"`` or ``"better"``.
        undecided
            What to do if it cannot be told yet: ``"fail"``, ``"warn"`` or ``"pass"``; by default
            what ``--outperform-undecided`` says. With a serious finding it fails in any case.
        ids
            What names the items, in the order of ``y_true``, if the rows of the file are to be
            found by their column ``id``.

        Returns
        -------
        Gate
            With the comparisons, for more assertions.
        """
        __tracebackhide__ = True
        from outperform.data.missing import MissingTexts
        from outperform.gates.api import gate

        undecided = undecided or self.node.config.getoption("--outperform-undecided")
        check_undecided(undecided)
        of_scores = _is_of_scores(metric)
        missing = MissingTexts.from_param(
            options.get("na_values"), options.get("empty_is_label", False)
        )
        seen = self._beside(y_true, candidate, baseline, ids, of_scores=of_scores, missing=missing)
        if isinstance(seen[1], str) and not isinstance(candidate, str):  # the arrays are counted
            options = {**options, "na_values": None, "empty_is_label": False}
        found = gate(*seen, metric=metric, rope=rope, require=require, guards=guards, **options)
        self.node.user_properties += _properties(found)
        return let_through(found, undecided, callers=2)

    def _beside(
        self,
        y_true: Any,
        candidate: Any,
        baseline: Any,
        ids: Any,
        *,
        of_scores: bool,
        missing: MissingTexts,
    ) -> tuple[Any, Any, Any]:
        """Return truth, candidate and baseline, or outcomes and two names."""
        __tracebackhide__ = True
        from outperform.data.outcomes import Outcomes
        from outperform.data.scores import Scores
        from outperform.io.counted_files import holds_outcomes

        counted = isinstance(y_true, (Outcomes, Scores))
        named = baseline is None or isinstance(baseline, str)
        if not named or (counted and baseline in y_true.models):
            _refuse_ids(ids)
            return y_true, candidate, baseline
        path = self.node.config.getoption("--outperform-baseline")
        if path is None:
            raise UsageError(
                "there is no baseline to compare with; run pytest with --outperform-baseline FILE, "
                "or give the baseline's predictions to outperform_gate"
            )
        if holds_outcomes(path):
            _refuse_ids(ids)
            return _unpaired(y_true, candidate, path, baseline, missing)
        if counted:
            raise UsageError(
                f"{path} holds predictions row by row, and counted outcomes have no rows; give "
                "outperform_gate the labels themselves, or count the baseline with outperform count"
            )
        column = PREDICTION if baseline is None else baseline
        rows = _rows(path, column, y_true, candidate, ids, of_scores=of_scores, missing=missing)
        return y_true, candidate, rows


@pytest.fixture
def outperform_gate(request: pytest.FixtureRequest) -> OutperformGate:
    """Fail the test unless ``outperform_gate(y_true, y_pred, metric=…, rope=…)`` passes."""
    return OutperformGate(request.node)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write what every gate said, passed ones too."""
    gates = list(_gates(terminalreporter))
    if not gates:
        return
    told = [judgement for _, judgement, _ in gates]
    tally = [f"{told.count(one)} {word}" for one, word in _WORDS.items() if one in told]
    terminalreporter.section(f"outperform gates: {', '.join(tally)}")
    for test, judgement, report in gates:
        colour = {_COLOURS[judgement]: True}
        terminalreporter.write_line(f"{_WORDS[judgement].upper()} {test}", **colour)
        terminalreporter.write_line(f"  {report}")


def _gates(terminalreporter: pytest.TerminalReporter) -> Iterator[tuple[str, str, str]]:
    """Yield test, judgement and sentence; reports are what a worker of xdist sends home."""
    reports = (one for some in terminalreporter.stats.values() for one in some)
    for report in reports:
        if getattr(report, "when", None) == "teardown":  # every test has one, and it knows all
            told = [value for name, value in report.user_properties if name == _JUDGEMENT]
            said = [value for name, value in report.user_properties if name == _REPORT]
            for judgement, sentence in zip(told, said, strict=True):
                yield report.nodeid, judgement, sentence


def _properties(found: Gate) -> list[tuple[str, object]]:
    """Return what a test report tells of a gate."""
    main = found.main
    return [
        (_JUDGEMENT, found.judgement.value),
        ("outperform.metric", main.metric),
        ("outperform.decision", main.decision.symbol),
        ("outperform.difference", main.mean),
        ("outperform.hdi_low", main.hdi.low),
        ("outperform.hdi_high", main.hdi.high),
        ("outperform.rope_low", main.rope.low),
        ("outperform.rope_high", main.rope.high),
        ("outperform.signature", main.signature),
        (_REPORT, found.report()),
    ]


def _refuse_ids(ids: object) -> None:
    if ids is not None:
        raise UsageError("ids find the rows of a file of predictions, which is not read here")


def _is_of_scores(metric: Any) -> bool:
    from outperform.metrics.registry import is_of_scores

    return metric is not None and is_of_scores(metric)


def _unpaired(
    y_true: Any, candidate: Any, path: str, model: str | None, missing: MissingTexts
) -> tuple[Outcomes, str, str]:
    """Put the candidate beside stored outcomes; what is only counted cannot be paired."""
    __tracebackhide__ = True
    from outperform.data.outcomes import Outcomes
    from outperform.data.views import stand_beside
    from outperform.io.read import read

    old = read(path, models=None if model is None else [model])
    if len(old.models) != 1:
        raise UsageError(
            f"{path} holds {', '.join(old.models)}; say which is the baseline, e.g. "
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
    called = "baseline" if old.models[0] in ("candidate", name) else old.models[0]
    both = stand_beside(new.unpair(), replace(old.unpair(), models=(called,)))
    return both, name, called


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

    wanted = [column, *(() if ids is None else (ID,))]
    rows = read_rows(path, wanted, if_there=(TRUTH,), missing=missing)
    y_true, candidate = unmasked(y_true), unmasked(candidate)
    order = range(len(rows[column])) if ids is None else _found(rows[ID], ids, path)
    if y_true is not None:
        _check_truth(path, rows, order, list(y_true), by_position=ids is None)
    elif ids is None:
        raise UsageError(f"without true labels the rows of {path} are found by ids; give them")
    values = [rows[column][place] for place in order]
    gone = [row for row, value in enumerate(rows[column], 1) if is_missing(value)]
    if gone:
        raise DataError(
            f"column {column!r} of {path} has no value in {len(gone)} of {len(values)} rows, the "
            f"first in row {gone[0]} (counted from 1); a gate compares the same items, so give "
            "them a prediction, or pass empty_is_label=True if an empty field is a label"
        )
    if of_scores:
        return [_number(value, path, column) for value in values]
    return _like(values, [*y_true, *candidate])


def _found(there: Sequence[object], ids: Sequence[object], path: str) -> list[int]:
    """Return where each id stands in the file, which must hold the same ones once each."""
    __tracebackhide__ = True
    places = {str(one): place for place, one in enumerate(there)}
    asked = [str(one) for one in ids]
    for what, some, others in (
        ("lacks", asked, set(places)),
        ("has besides", places, set(asked)),
    ):
        if lacking := [one for one in some if one not in others]:
            examples = ", ".join(map(repr, lacking[:3]))
            raise DataError(
                f"{path} {what} {len(lacking)} of the ids, e.g. {examples}; a gate compares the "
                "same items"
            )
    if len(places) != len(there) or len(places) != len(asked):
        raise DataError(f"ids must be unique in {path} and in the test")
    return [places[one] for one in asked]


def _check_truth(
    path: str,
    rows: dict[str, list[Any]],
    order: Sequence[int],
    truth: list[Any],
    *,
    by_position: bool,
) -> None:
    """See that the rows are those of the test, by their true labels."""
    __tracebackhide__ = True
    if len(truth) != len(order):
        raise DataError(f"{path} has {len(order)} rows, and the test {len(truth)} items")
    if TRUTH not in rows:
        if by_position:
            raise DataError(
                f"{path} has no column {TRUTH!r} of true labels, so nothing shows that its rows "
                f"are in the order of y_true; add it, or a column {ID!r} and give ids="
            )
        return
    for number, (place, label) in enumerate(zip(order, truth, strict=True)):
        if str(rows[TRUTH][place]) != str(label):
            raise DataError(
                f"{path} says that item {number} is {rows[TRUTH][place]!r}, and the test that it "
                f"is {label!r}; "
                + ("give ids, if the order differs" if by_position else "mend one of the two")
            )


def _like(values: list[Any], known: Sequence[Any]) -> list[Any]:
    """Return labels of a text file as the test has them: text files know no other type."""
    by_text = {str(one): one for one in known}
    whole = all(isinstance(one, int) or hasattr(one, "__index__") for one in by_text.values())
    return [
        by_text.get(value, int(value) if whole and value.lstrip("-").isdecimal() else value)
        if isinstance(value, str)
        else value
        for value in values
    ]


def _number(value: Any, path: str, column: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise DataError(f"column {column!r} of {path} must hold scores; got {value!r}") from None
