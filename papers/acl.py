"""The tables of the ACL 2019 paper: intervals and the Bayes test of blocked cross-validation."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import perf_counter, process_time
from typing import Any

import outperform as op
from papers.published import published
from papers.signs import paper_sign
from papers.tables import Column, Effort, Row, Table, Value

TASKS = {3: "cws", 4: "ner", 5: "org"}
METRICS = {"P": "precision", "R": "recall", "F1": "f1"}
COUNTS = "gold_predicted_correct"
ROPE = 0.001

_DRAWS = 20_000
_NEAR = 0.01  # of a percentage point: print has two decimals
_ROUNDS = 5

_INTERVALS = tuple(
    Column(key=f"{model}_{end}", heading=f"{model} {end}", part="interval ends", digits=2)
    for model in ("A", "B")
    for end in ("low", "high")
)
_TEST = (
    Column(key="p_h0", heading="P(H0)", part="P(H0)"),
    Column(key="p_h1", heading="P(H1)", part="P(H1)"),
    Column(key="decision", heading="accepted", part="decisions", digits=None),
    Column(key="mean", heading="A − B", part="means", digits=4, printed=False),
    Column(key="hdi_low", heading="HDI low", part="HDI ends", digits=4, printed=False),
    Column(key="hdi_high", heading="HDI high", part="HDI ends", digits=4, printed=False),
    Column(key="narrow", heading=f"ROPE ±{ROPE}", part="decisions", digits=None, printed=False),
    Column(key="default", heading="ROPE ±0.01", part="decisions", digits=None, printed=False),
)


def interval_table(effort: Effort) -> Table:
    """Make table 2: equal-tailed 95% intervals of both models, in percent."""
    figures = published("acl2019")
    rows = []
    for task in TASKS.values():
        for short, metric in METRICS.items():
            printed = figures[task]["table_2_ci_percent"][short]
            found = [
                op.estimate_cv_counts(
                    figures[task]["counts"][model],
                    metric=metric,
                    counts=COUNTS,
                    n_draws=effort.draws or _DRAWS,
                    random_state=effort.seed,
                    name=figures[task][model],
                ).eti
                for model in ("A", "B")
            ]
            ours = [(100 * interval.low, 100 * interval.high) for interval in found]
            row = Row(label=f"{task.upper()} {short}", published=_ends(printed), ours=_ends(ours))
            rows.append(row)
    return Table(
        name="ACL 2019, table 2",
        title="Equal-tailed 95% intervals of both models in percent, exact.",
        stub="task",
        columns=_INTERVALS,
        rows=tuple(rows),
    )


def _ends(intervals: Sequence[Sequence[float]]) -> dict[str, Value]:
    ends = [end for interval in intervals for end in interval]
    return {column.key: end for column, end in zip(_INTERVALS, ends, strict=True)}


def bayes_test_table(effort: Effort, *, number: int) -> Table:
    """Make table 3, 4 or 5: the Bayes test of one task, and what interval and ROPE say."""
    task = TASKS[number]
    figures = published("acl2019")[task]
    rows = []
    for short, metric in METRICS.items():
        p_h0, p_h1 = figures["bayes_test_p_h0_p_h1"][short]
        printed = {"p_h0": p_h0, "p_h1": p_h1, "decision": "H0" if p_h0 >= p_h1 else "H1"}
        found = _compare(figures, metric, effort)
        rows.append(Row(label=short, published=printed, ours=_ours(found), flag=_flag(found)))
    return Table(
        name=f"ACL 2019, table {number}",
        title=f"{task.upper()}: A is {figures['A']}, B is {figures['B']}; H1: B is better. "
        "Mean and 95% HDI are of A − B. Exact, without draws.",
        stub="metric",
        columns=_TEST,
        rows=tuple(rows),
    )


def _compare(figures: dict[str, Any], metric: str, effort: Effort) -> op.Comparison:
    return op.compare_cv_counts(
        figures["counts"]["A"],
        figures["counts"]["B"],
        metric=metric,
        counts=COUNTS,
        rope=ROPE,
        n_draws=effort.draws or _DRAWS,
        random_state=effort.seed,
        names=(figures["A"], figures["B"]),
    )


def _ours(found: op.Comparison) -> dict[str, Value]:
    return {
        "p_h0": found.p_h0,
        "p_h1": found.p_h1,
        "decision": found.accepted,
        "mean": found.mean,
        "hdi_low": found.hdi.low,
        "hdi_high": found.hdi.high,
        "narrow": paper_sign(found),
        "default": paper_sign(found.with_rope(None)),
    }


def _flag(found: op.Comparison) -> str:
    """Return the findings that may change a conclusion; notes, which all have, are left out."""
    return ", ".join(finding.name for finding in found.findings if finding.level != "note")


def closeness(tables: Sequence[Table]) -> str:
    """Say in one line how close the tables come to print."""
    return ", ".join(said for table_says in _SAYINGS for said in table_says(tables)) + "."


def _intervals_said(tables: Sequence[Table]) -> Iterator[str]:
    off = [abs(found) for table in tables for found in table.differences("interval ends")]
    if off:
        pairs = [max(pair) for pair in zip(off[::2], off[1::2], strict=True)]
        near = sum(largest <= _NEAR for largest in pairs)
        yield (
            f"{near} of {len(pairs)} intervals within {_NEAR} percentage points of print "
            f"(largest difference {max(off):.4f})"
        )


def _decisions_said(tables: Sequence[Table]) -> Iterator[str]:
    parts = [found for table in tables for found in table.agreement() if found.part == "decisions"]
    if parts:
        equal, cells = sum(part.equal for part in parts), sum(part.cells for part in parts)
        yield f"{equal} of {cells} decisions as printed"


def _probabilities_said(tables: Sequence[Table]) -> Iterator[str]:
    off = [abs(found) for table in tables for found in table.differences("P(H1)")]
    if off:
        yield f"P(H1) at most {max(off):.4f} from print"


_SAYINGS = (_intervals_said, _decisions_said, _probabilities_said)


def speed(effort: Effort) -> str:
    """Say in one line how long the nine comparisons take together, once warm."""
    every = published("acl2019")
    clock, processor = [], []
    for _ in range(1 + _ROUNDS):
        start, busy = perf_counter(), process_time()
        for task in TASKS.values():
            for metric in METRICS.values():
                _compare(every[task], metric, effort)
        clock.append(perf_counter() - start)
        processor.append(process_time() - busy)
    taken, used = (1000 * statistics.median(rounds[1:]) for rounds in (clock, processor))
    return (
        f"The nine comparisons of tables 3 to 5 take {taken:.0f} ms once warm, "
        f"{used:.0f} ms of processor time."
    )


TABLES: dict[int, Callable[[Effort], Table]] = {
    2: interval_table,
    **{number: partial(bayes_test_table, number=number) for number in TASKS},
}
