"""Doubts about a monitored experiment, beside those about its latest comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from outperform.findings import Finding
from outperform.monitor.look import Look
from outperform.monitor.stopping import Stop

_SHOWN = 3


def folder_findings(left_out: Mapping[str, str], unfinished: int) -> list[Finding]:
    """Say which files of the folder are not counted."""
    found = []
    if left_out:
        found.append(
            Finding(
                "batches_not_counted",
                "warning",
                f"{_many(len(left_out), 'file')} in the folder, but not counted: "
                f"{_listed(left_out)}.",
            )
        )
    if unfinished:
        found.append(
            Finding(
                "unfinished_batches",
                "note",
                f"{_many(unfinished, 'unfinished file')} not counted: a writer is at work, or died "
                "and has to write its batch again; what it left may be removed.",
            )
        )
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
        found.append(
            Finding(
                "looks_left_out",
                "note",
                f"{len(unanswered)} of the looks had no answer yet: {_listed(unanswered)}.",
            )
        )
    if n_classes[0] != n_classes[1]:
        found.append(
            Finding(
                "classes_grew",
                "warning",
                f"There were {n_classes[0]} classes at the first look and there are {n_classes[1]} "
                "now; the prior changed with them, so the Bayes factors of the looks are not "
                "those of one prior. Name all classes with labels= from the beginning.",
            )
        )
    return [*found, *_coarse_findings(looks, stop), *_stop_findings(looks, stop)]


def _coarse_findings(looks: Sequence[Look], stop: Stop | None) -> list[Finding]:
    """Say that draws cannot show a Bayes factor as large as the rule wants."""
    factor = looks[-1].bayes_factor if looks else None
    if stop is None or stop.rule != "bayes_factor" or factor is None:
        return []
    if factor.bound is None or looks[-1].holds:
        return []
    return [
        Finding(
            "monte_carlo_too_coarse",
            "warning",
            f"The rule wants a larger Bayes factor than the draws can show ({factor}); take more "
            "draws.",
        )
    ]


def _stop_findings(looks: Sequence[Look], stop: Stop | None) -> list[Finding]:
    first = next((look for look in looks if look.holds), None)
    if stop is None or first is None:
        return []
    found = []
    if stop.rule == "verdict" and first is not looks[0]:
        found.append(
            Finding(
                "stopped_by_verdict",
                "warning",
                f"The verdict was looked at {first.number} times and taken when it was decided, "
                "which makes false verdicts several times as frequent as one look would; stop by "
                "the width of the interval, or report how often it was looked at.",
            )
        )
    after = looks[-1].number - first.number
    if after:
        found.append(
            Finding(
                "looks_after_stop",
                "note",
                f"{_many(after, 'batch', 'es')} counted since the rule to stop held at look "
                f"{first.number}; its answer is at({first.number}).",
            )
        )
    return found


def _many(count: int, noun: str, plural: str = "s") -> str:
    return f"1 {noun} is" if count == 1 else f"{count} {noun}{plural} are"


def _listed(reasons: Mapping[str, str]) -> str:
    shown = [f"{name} ({reason})" for name, reason in list(reasons.items())[:_SHOWN]]
    more = len(reasons) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
