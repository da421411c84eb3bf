"""What the study of blocked cross-validation found, as tables, and what must hold in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from verification import blocked, markdown
from verification.blocked import Row, Share, World
from verification.chance import mean_is_off, share_is_off

# Coverage and mean length of the 95% interval that the paper prints for its example.
_PRINTED = {"averaged": ("94.5", "0.0854"), "full": ("99.6", "0.117")}

_LENGTH = (0.084, 0.086)
_COVERAGE = (0.93, 0.985)
_MOST_FALSE = 0.075
_LEAST_NOTICED = 0.8
_STABLE = ("logistic regression", "naive Bayes")


def tables(rows: Mapping[World, Row]) -> dict[str, str]:
    """Return the tables by file name."""
    main = [rows[world] for world in blocked.MAIN]
    return {
        "blocked_example.md": _example([rows[blocked.EXAMPLE], rows[blocked.DRAWN]]),
        "blocked_learners.md": _learners(main),
        "blocked_decisions.md": _decisions(main),
        "blocked_limits.md": _limits([rows[world] for world in blocked.LIMITS]),
    }


def failures(rows: Mapping[World, Row]) -> list[str]:
    """Return what did not hold."""
    example = rows[blocked.EXAMPLE]
    bounded = [("coverage in the paper's example", example.covered["averaged"].value, _COVERAGE)]
    for world in blocked.MAIN:
        row, where = rows[world], f"{world.learner}, prevalence {world.prevalence}"
        if world.learner not in _STABLE:
            bounded.append((f"noticed: {where}", row.unstable.value, (_LEAST_NOTICED, 1.0)))
            continue
        for road in blocked.ROADS:
            _, after = row.called[road, blocked.HALF_WIDTHS[0]]
            bounded.append((f"false calls, {road}: {where}", after.value, (0.0, _MOST_FALSE)))
    off = [
        (what, value, bounds)
        for what, value, bounds in bounded
        if share_is_off(value, example.runs, *bounds)
    ]
    length = example.length["averaged"]
    if mean_is_off(length.value, length.error, example.runs, *_LENGTH):
        off.append(("mean length in the paper's example", length.value, _LENGTH))
    return [
        f"{what} is {value:.4f}, not within {low:g} to {high:g}" for what, value, (low, high) in off
    ]


def _example(found: Sequence[Row]) -> str:
    lines = []
    for row in found:
        for correlation in blocked.CORRELATIONS:
            printed = ("", "") if row.world.drawn else _PRINTED[correlation]
            shown = (_percent(row.covered[correlation]), f"{row.length[correlation].value:.4f}")
            positives = "drawn" if row.world.drawn else "fixed"
            lines.append([correlation, positives, f"{row.runs:,}", *shown, *printed])
    header = ("correlation", "positives", "runs", "coverage", "length")
    return markdown.table((*header, "coverage, paper", "length, paper"), lines, numbers_from=2)


def _learners(found: Sequence[Row]) -> str:
    lines = [
        [
            row.world.learner,
            f"{row.world.prevalence:g}",
            f"{row.truths[0]:.3f}",
            _percent(row.covered["averaged"]),
            f"{row.length['averaged'].value:.3f}",
            _percent(row.unstable),
            _percent(row.unstable_alone),
        ]
        for row in found
    ]
    header = ("learner", "prevalence", "true F1", "coverage", "length")
    return markdown.table((*header, "unstable, two models", "unstable, one model"), lines)


def _decisions(found: Sequence[Row]) -> str:
    lines = []
    for row in found:
        for road in blocked.ROADS:
            cells = [
                _percent(one)
                for half_width in blocked.HALF_WIDTHS
                for one in reversed(row.called[road, half_width])
            ]
            lines.append([row.world.learner, f"{row.world.prevalence:g}", road, *cells])
    header = ["learner", "prevalence", "road"]
    for half_width in blocked.HALF_WIDTHS:
        header += [f"ROPE ±{half_width:g}", f"ROPE ±{half_width:g}, no guard"]
    likelier = ", ".join(f"{100 * row.accepted_h1.value:.0f}%" for row in found)
    runs = " and ".join(sorted({f"{row.runs:,}" for row in found}))
    return markdown.table(header, lines, numbers_from=3) + (
        f"\nPer cent of {runs} runs. The paper's rule calls one of the two better in every run; "
        f"in the order of the table, it accepted H₁ in {likelier} of them.\n"
    )


def _limits(found: Sequence[Row]) -> str:
    lines = []
    for row in found:
        world, alike = row.world, row.world.against is None
        covered = _percent(row.covered["averaged"]) if alike else ""
        false = [
            _percent(row.called[road, blocked.HALF_WIDTHS[0]][1]) if alike else ""
            for road in blocked.ROADS
        ]
        who = world.learner if alike else f"{world.learner} against {world.against}"
        where = (f"{world.prevalence:g}", f"{world.n:,}", f"{world.m}")
        lines.append([who, *where, covered, _percent(row.unstable), *false])
    header = ("learner", "prevalence", "items", "m", "coverage", "unstable, two models")
    return markdown.table((*header, *(f"called, {road}" for road in blocked.ROADS)), lines)


def _percent(share: Share) -> str:
    return markdown.percent(share.value, share.error)
