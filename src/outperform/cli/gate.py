"""``gate`` and ``report``."""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import outperform as op
from outperform.cli import exit_codes
from outperform.cli import groups as g
from outperform.cli import options as o
from outperform.cli.compare import compared
from outperform.cli.exit_codes import say, shown
from outperform.cli.groups import command_line, deliver, write_page
from outperform.cli.inputs import columns_there, label_of, read_outcomes, read_seen, rope_of
from outperform.errors import UsageError

if TYPE_CHECKING:
    from outperform.data.outcomes import Outcomes
    from outperform.data.scores import Scores
    from outperform.gates.api import Gate, Guard


SUMMARY = "GITHUB_STEP_SUMMARY"


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
    """What passes besides a pass."""

    UNDECIDED = "undecided"


Candidate = Annotated[
    str | None,
    typer.Option(
        help="The new model. Its column, or its file's name.",
        metavar="NAME",
        rich_help_panel="Models",
    ),
]
Baseline = Annotated[
    str | None,
    typer.Option(
        help="The old model. Its column, or its file's name.",
        metavar="NAME",
        rich_help_panel="Models",
    ),
]
Guards = Annotated[
    list[str] | None,
    typer.Option(
        "--guard",
        metavar="GUARD",
        help="METRIC:ROPE or METRIC:CLASS:ROPE that must not get worse either, e.g. "
        "recall:fraud:0.02; again for another.",
        rich_help_panel="Question",
        show_default=False,
    ),
]
Require = Annotated[
    Requirement,
    typer.Option(
        help="not_worse; or better: the whole HDI must lie above the ROPE.",
        metavar="CHOICE",
        rich_help_panel="Question",
    ),
]
Allow = Annotated[
    Allowed | None,
    typer.Option(
        help="undecided: exit 0 then too, unless a finding is serious.",
        metavar="CHOICE",
        rich_help_panel="Question",
    ),
]
Style = Annotated[
    GateFormat,
    typer.Option(
        "--format",
        "-f",
        help="text, json, markdown, or github: annotations and a summary for the job.",
        metavar="FORMAT",
        rich_help_panel="Output",
    ),
]
JUnit = Annotated[
    Path | None,
    typer.Option("--junit", help="Also write JUnit XML.", metavar="FILE", rich_help_panel="Output"),
]


def gate(
    files: o.Sources,
    candidate: Candidate = None,
    baseline: Baseline = None,
    metric: o.Metric = None,
    rope: o.Rope = None,
    guard: Guards = None,
    require: Require = Requirement.NOT_WORSE,
    allow: Allow = None,
    unpaired: o.Unpaired = False,
    style: Style = GateFormat.TEXT,
    output: o.Output = None,
    junit: JUnit = None,
    report: o.Page = None,
    *,
    pricing: g.Pricing,
    reading: g.ReadingTwo,
    asking: g.Asking,
) -> int:
    """May the candidate replace the baseline?

    It may if the whole HDI of candidate − baseline lies above the ROPE's lower edge.

    Exit codes: 0 it may, 1 it may not (all of the HDI lies below that edge), 4 cannot tell yet.
    The same command gives the same one: the seed is fixed, and draws are added near an edge.

    Example: outperform gate preds.csv --truth label --baseline old --candidate new --metric f1_macro
    """  # noqa: E501
    if style is GateFormat.GITHUB and output is not None:
        raise UsageError("--format github writes workflow commands to stdout; leave --output out")
    seen = _read(files, candidate, baseline, reading, metric)
    seen, arguments = asking.at_prevalence(seen), asking.arguments(seen)
    if asking.seed is None:
        del arguments["random_state"]  # that of the library is fixed
    with shown("drawing"):
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
    write_page(found, report)
    allowed = allow is Allowed.UNDECIDED
    return _write(found, style, output, junit, allowed)


def _read(
    files: list[str],
    candidate: str | None,
    baseline: str | None,
    reading: g.ReadingTwo,
    metric: str | None,
) -> Outcomes | Scores:
    """Read candidate and baseline: columns of one table, or files that are called like them."""
    from outperform.metrics.registry import check_name, is_of_scores

    check_name(metric)
    if candidate is not None and candidate == baseline:
        raise UsageError(f"candidate and baseline must differ; got {baseline!r} twice")
    one_table = len(files) == 1 and not reading.confusion
    of_scores = metric is not None and is_of_scores(metric)
    if one_table or of_scores:
        there = partial(columns_there, files[0], reading) if one_table else str
        models = _named(candidate, baseline, "the column of a model", there)
        return read_seen(files, models, reading, [metric])
    seen = read_outcomes(files, None, reading)
    return seen.select(_named(candidate, baseline, f"one of {', '.join(seen.models)}"))


def _named(
    candidate: str | None, baseline: str | None, what: str, there: Callable[[], str] = str
) -> list[str]:
    """Return both names, or say which is lacking."""
    named = {"--candidate": candidate, "--baseline": baseline}
    for option, name in named.items():
        if name is None:
            raise UsageError(f"give {option}, {what}{there()}")
    return [name for name in named.values() if name is not None]


def guard_of(outcomes: Outcomes | Scores, text: str) -> Guard:
    """Read a guard: metric, perhaps a class, and a ROPE, with colons between."""
    from outperform.gates.api import Guard

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


def _write(
    found: Gate, style: GateFormat, output: Path | None, junit: Path | None, allowed: bool
) -> exit_codes.Judged:
    """Write a gate and return the exit code of its judgement, which there is no other way to."""
    # Loaded late, so that help and completion stay fast.
    from outperform.gates.text import gate_annotations, gate_json, gate_junit

    if junit is not None:
        deliver(gate_junit(found, allow_undecided=allowed), junit)
    if style is GateFormat.GITHUB:
        _summarise(found)
        deliver(gate_annotations(found), None)
    elif style is GateFormat.JSON:
        deliver(gate_json(found), output)
    else:
        deliver(str(found) if style is GateFormat.TEXT else found.to_markdown(), output)
    return exit_codes.judged("pass" if allowed and found.allowable else found.judgement.value)


def _summarise(found: Gate) -> None:
    """Add to the summary of the job, which other steps write to as well."""
    path = os.environ.get(SUMMARY)
    if path:
        with open(path, "a", encoding="utf-8") as stream:
            stream.write(found.to_markdown() + "\n\n")


def report(
    files: o.Sources,
    a: o.ModelA = None,
    b: o.ModelB = None,
    metric: o.Metric = None,
    rope: o.Rope = None,
    unpaired: o.Unpaired = False,
    title: Annotated[
        str | None,
        typer.Option(help="Stands above the page.", metavar="TEXT", rich_help_panel="Output"),
    ] = None,
    output: o.OutputFile = Path("report.html"),
    force: o.Force = False,
    *,
    reading: g.ReadingTwo,
    asking: g.Asking,
) -> None:
    """Write the comparison as one HTML file that works offline.

    Example: outperform report preds.csv --truth label --a bert --b gpt --metric f1_macro -o r.html
    """
    from outperform.display.sentences import headline

    result = compared(files, a, b, metric, rope, unpaired, reading, asking)
    with shown("writing the page"):
        path = op.write_report(result, output, title=title, command=command_line(), overwrite=force)
    say(f"wrote {path}: {headline(result.to_dict())}")
