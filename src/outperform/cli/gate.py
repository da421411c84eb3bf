"""``gate``: may the candidate replace the baseline? The answer is the exit code."""

from __future__ import annotations

import os
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from outperform.cli import exits
from outperform.cli import options as o
from outperform.cli.baselines import Inputs, store
from outperform.cli.progress import drawing
from outperform.cli.reading import label_of, rope_of
from outperform.cli.running import say
from outperform.cli.scoring import read_gate
from outperform.cli.wording import in_options
from outperform.cli.writing import deliver
from outperform.errors import UsageError

if TYPE_CHECKING:
    from outperform.comparison import Gate, Guard
    from outperform.comparison.gating import Check
    from outperform.ingest import Rows
    from outperform.outcomes import Outcomes, Scores

SUMMARY = "GITHUB_STEP_SUMMARY"
_DATA, _QUESTION, _ANSWER = "Data", "Question", "Answer"
_BASELINE, _GATE = "Baseline", "Gate"


class GateFormat(StrEnum):
    """How a gate is written."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    GITHUB = "github"


class Requirement(StrEnum):
    """What a gate wants of the candidate."""

    NOT_WORSE = "not_worse"
    BETTER = "better"


class Allowed(StrEnum):
    """What passes beside a pass."""

    UNDECIDED = "undecided"


Candidate = Annotated[
    str | None,
    typer.Option(help="The new model: its column, or its file's name.", rich_help_panel=_DATA),
]
Baseline = Annotated[
    str | None,
    typer.Option(help="The old model: its column, or its file's name.", rich_help_panel=_DATA),
]
BaselineFile = Annotated[
    Path | None,
    typer.Option(help="A stored baseline instead; see --save-baseline.", rich_help_panel=_BASELINE),
]
SaveBaseline = Annotated[
    Path | None,
    typer.Option(
        help="If the gate passes, store id, truth and the candidate's predictions here.",
        rich_help_panel=_BASELINE,
    ),
]
NewTruth = Annotated[
    bool,
    typer.Option(
        "--new-truth",
        help="Where true labels were corrected since, take the new ones for both.",
        rich_help_panel=_BASELINE,
    ),
]
Guards = Annotated[
    list[str] | None,
    typer.Option(
        "--guard",
        metavar="METRIC[:CLASS]:ROPE",
        help="Must not get worse either, e.g. recall:fraud:0.02. May be repeated.",
        rich_help_panel=_GATE,
        show_default=False,
    ),
]
Require = Annotated[
    Requirement,
    typer.Option(help="better: the whole HDI must lie above the ROPE.", rich_help_panel=_GATE),
]
Allow = Annotated[
    Allowed | None,
    typer.Option(
        help="undecided: exit 0 then too, unless a finding is serious.", rich_help_panel=_GATE
    ),
]
Style = Annotated[
    GateFormat,
    typer.Option(
        "--format",
        "-f",
        help="github: annotations, and a summary for the job.",
        rich_help_panel=_ANSWER,
    ),
]
JUnit = Annotated[
    Path | None, typer.Option("--junit", help="Also write JUnit XML.", rich_help_panel=_ANSWER)
]


def gate(
    files: o.Sources,
    candidate: Candidate = None,
    baseline: Baseline = None,
    baseline_file: BaselineFile = None,
    save_baseline: SaveBaseline = None,
    new_truth: NewTruth = False,
    metric: o.Metric = None,
    rope: o.Rope = None,
    guard: Guards = None,
    require: Require = Requirement.NOT_WORSE,
    allow: Allow = None,
    unpaired: o.Unpaired = False,
    style: Style = GateFormat.TEXT,
    output: o.Output = None,
    junit: JUnit = None,
    *,
    pricing: o.Pricing,
    reading: o.ReadingTwo,
    asking: o.Asking,
) -> int:
    """May the candidate replace the baseline?

    It may if the whole HDI of candidate − baseline lies above the ROPE's lower edge.

    Exit codes: 0 it may, 1 it may not (all of the HDI lies below that edge), 4 cannot tell yet.
    The same command gives the same one: the seed is fixed, and draws are added near an edge.

    Example: outperform gate preds.csv --truth label --baseline old --candidate new --metric f1_macro
    """  # noqa: E501
    import outperform as op

    if style is GateFormat.GITHUB and output is not None:
        raise UsageError("--format github writes workflow commands to stdout; leave --output out")
    inputs = Inputs(
        files=tuple(files),
        candidate=candidate,
        baseline=baseline,
        reading=reading,
        stored=baseline_file,
        new_truth=new_truth,
        keep=save_baseline is not None,
    )
    seen, rows = read_gate(inputs, metric)
    arguments = asking.arguments(seen)
    if asking.seed is None:
        del arguments["random_state"]  # that of the library is fixed
    with drawing():
        found = op.gate(
            seen,
            *seen.models,
            metric=pricing.metric(seen, metric),
            rope=rope_of(rope),
            require=require.value,
            guards=[guard_of(seen, text) for text in guard or ()],
            paired=not unpaired,
            **arguments,
        )
    found = _in_options(found)
    allowed = allow is Allowed.UNDECIDED
    code = _write(found, style, output, junit, allowed)
    if save_baseline is not None and rows is not None:
        _save(found, rows, save_baseline)
    return code


def guard_of(outcomes: Outcomes | Scores, text: str) -> Guard:
    """Read a guard: metric, perhaps a class, and a ROPE, with colons between."""
    from outperform.comparison import Guard

    metric, colon, rest = text.partition(":")
    label, inner, rope = rest.rpartition(":")  # a class may have colons of its own
    if not colon or not metric or not rope or (inner and not label):
        raise UsageError(
            "--guard must be METRIC:ROPE or METRIC:CLASS:ROPE, e.g. recall:fraud:0.02; "
            f"got {text!r}"
        )
    return Guard(
        metric=metric, label=label_of(outcomes, label) if inner else None, rope=rope_of(rope)
    )


def _in_options(found: Gate) -> Gate:
    """Return a gate whose findings name options of the command line."""
    return replace(found, checks=tuple(_check_in_options(check) for check in found.checks))


def _check_in_options(check: Check) -> Check:
    findings = tuple(
        replace(one, message=in_options(one.message)) for one in check.comparison.findings
    )
    return replace(check, comparison=replace(check.comparison, findings=findings))


def _write(
    found: Gate, style: GateFormat, output: Path | None, junit: Path | None, allowed: bool
) -> exits.Judged:
    """Write a gate and return the exit code of its judgement, which there is no other way to."""
    from outperform.report import gate_annotations, gate_json, gate_junit

    if junit is not None:
        deliver(gate_junit(found, allow_undecided=allowed), junit)
    if style is GateFormat.GITHUB:
        _summarise(found)
        deliver(gate_annotations(found), None)
    elif style is GateFormat.JSON:
        deliver(gate_json(found), output)
    else:
        deliver(str(found) if style is GateFormat.TEXT else found.to_markdown(), output)
    return exits.judged("pass" if allowed and found.allowable else found.judgement.value)


def _summarise(found: Gate) -> None:
    """Add to the summary of the job, which other steps write to as well."""
    path = os.environ.get(SUMMARY)
    if path:
        with open(path, "a", encoding="utf-8") as stream:
            stream.write(found.to_markdown() + "\n\n")


def _save(found: Gate, rows: Rows, path: Path) -> None:
    if found.passed:
        store(path, rows, found.main.names[0])
    else:
        say(f"the gate did not pass, so no baseline was stored in {path}")
