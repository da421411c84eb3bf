"""``gate``, ``watch`` and ``report``."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import outperform as op
from outperform.cli import exit_codes
from outperform.cli import groups as g
from outperform.cli import options as o
from outperform.cli.compare import ItemsFile, compared, write_items
from outperform.cli.exit_codes import say, shown
from outperform.cli.groups import as_json, command_line, deliver, show, write_page
from outperform.cli.inputs import (
    columns_there,
    label_of,
    like,
    needed_columns,
    never_true_of,
    prevalence_of,
    read_outcomes,
    read_seen,
    rope_of,
)
from outperform.cli.tasks import PolicyFile, Tasks
from outperform.errors import DataError, UsageError, unknown_name

if TYPE_CHECKING:
    from outperform.data.outcomes import Outcomes
    from outperform.data.scores import Scores
    from outperform.findings import Finding
    from outperform.gates.result import Gate, Guard
    from outperform.monitor.api import Monitor
    from outperform.monitor.result import Look


SUMMARY, OUTPUTS = "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"


GateFormat = Literal["text", "json", "markdown", "github"]
WatchFormat = Literal["text", "json"]

Candidate = Annotated[
    str | None,
    o.in_models(metavar="NAME", help="The new model. Its column, or its file's name."),
]
Baseline = Annotated[
    str | None,
    o.in_models(metavar="NAME", help="The old model. Its column, or its file's name."),
]
Guards = Annotated[
    list[str] | None,
    o.in_question(
        "--guard",
        metavar="GUARD",
        help="METRIC:ROPE or METRIC:CLASS:ROPE that must not get worse either, e.g. "
        "recall:fraud:0.02; again for another.",
        show_default=False,
    ),
]
Require = Annotated[
    Literal["not_worse", "better"],
    o.in_question(
        metavar="CHOICE", help="not_worse; or better: the whole HDI must lie above the ROPE."
    ),
]
Allow = Annotated[
    Literal["undecided"] | None,
    o.in_question(
        metavar="CHOICE", help="undecided: exit 0 then too, unless a finding is serious."
    ),
]
Style = Annotated[
    GateFormat,
    o.in_output(
        "--format",
        "-f",
        metavar="FORMAT",
        help="text, json, markdown, or github: annotations, a summary and outputs for the job.",
    ),
]
JUnit = Annotated[
    Path | None,
    o.in_output(metavar="FILE", help="Also write JUnit XML."),
]


def gate(
    files: o.Sources,
    candidate: Candidate = None,
    baseline: Baseline = None,
    metric: o.Metric = None,
    rope: o.Rope = None,
    guards: Guards = None,
    require: Require = "not_worse",
    allow: Allow = None,
    unpaired: o.Unpaired = False,
    style: Style = "text",
    output: o.Output = None,
    junit: JUnit = None,
    report: o.Page = None,
    items: ItemsFile = None,
    verbose: o.Verbose = False,
    policy: PolicyFile = None,
    *,
    tasks: Tasks,
    pricing: g.Pricing,
    reading: g.ReadingTwo,
    asking: g.Asking,
) -> int:
    """Check whether the candidate can replace the baseline (pass, fail, undecided).

    Passes if the whole HDI of candidate − baseline lies above the lower edge of the ROPE.

    Exit codes: 0 pass, 1 fail (the whole HDI lies below that edge), 4 undecided. The same command
    gives the same one: the seed is fixed, and draws are added near an edge.

    Example: outperform gate preds.csv --truth label --baseline old --candidate new --metric f1_macro
    """  # noqa: E501
    if style == "github" and output is not None:
        raise UsageError("--format github writes workflow commands to stdout; leave --output out")
    allowed = allow == "undecided"
    suite = tasks.suite(files, [candidate, baseline], reading, metric, rope)
    if policy is not None and suite is None:
        raise UsageError("--policy is for the tasks of --by, which is not given")
    if suite is not None:
        _named(candidate, baseline, f"one of {', '.join(suite.models)}")
        if guards or items is not None:
            raise UsageError("--guard and --items are for one task; with --by give --policy")
        with shown("drawing"):
            judged = op.gate(
                suite,
                *suite.models,
                policy=policy,
                require=require,
                paired=not unpaired,
                **asking.of_suite(suite),
            )
        write_page(judged, report)
        return _write(judged, style, output, junit, allowed, verbose)
    seen = _read(files, candidate, baseline, reading, metric)
    seen, arguments = asking.at_prevalence(seen), asking.arguments(seen)
    with shown("drawing"):
        result = op.gate(
            seen,
            *seen.models,
            metric=pricing.metric(seen, metric),
            rope=rope_of(rope),
            require=require,
            guards=[guard_of(seen, text) for text in guards or ()],
            paired=not unpaired,
            **arguments,
        )
    write_page(result, report)
    write_items(result.main, items)
    return _write(result, style, output, junit, allowed, verbose)


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
    from outperform.gates.result import Guard

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
    gate: Gate,
    style: GateFormat,
    output: Path | None,
    junit: Path | None,
    allowed: bool,
    verbose: bool,
) -> exit_codes.Judged:
    """Write a gate and return the exit code of its judgement, which there is no other way to."""
    # Loaded late, so that help and completion stay fast.
    from outperform.gates.ci import gate_annotations, gate_json, gate_junit

    if junit is not None:
        deliver(gate_junit(gate, allow_undecided=allowed), junit)
    if style == "github":
        _tell_job(gate)
        deliver(gate_annotations(gate), None)
    elif style == "json":
        deliver(gate_json(gate), output)
    elif style == "text":
        show(gate._document().lines, output, verbose=verbose)
    else:
        deliver(gate.to_markdown(), output)
    return exit_codes.judged("pass" if allowed and gate.allowable else gate.judgement.value)


def _tell_job(gate: Gate) -> None:
    """Add to the summary of the job and to the outputs of the step, where others write as well."""
    from outperform.gates.ci import gate_outputs

    for variable, text in ((SUMMARY, gate.to_markdown() + "\n"), (OUTPUTS, gate_outputs(gate))):
        if path := os.environ.get(variable):
            with open(path, "a", encoding="utf-8") as stream:
                stream.write(text + "\n")


def report(
    files: o.Sources,
    a: o.ModelA = None,
    b: o.ModelB = None,
    metric: o.Metric = None,
    rope: o.Rope = None,
    unpaired: o.Unpaired = False,
    title: Annotated[
        str | None,
        o.in_output(metavar="TEXT", help="Stands above the page."),
    ] = None,
    output: o.OutputFile = Path("report.html"),
    overwrite: o.Force = False,
    items: ItemsFile = None,
    *,
    reading: g.ReadingTwo,
    asking: g.Asking,
) -> None:
    """Write a comparison to a self-contained HTML file.

    Example: outperform report preds.csv --truth label --a bert --b gpt --metric f1_macro -o r.html
    """
    from outperform.display.sentences import headline

    result = compared(files, a, b, metric, rope, unpaired, reading, asking)
    write_items(result, items)
    with shown("writing the page"):
        path = op.write_report(
            result, output, title=title, command=command_line(), overwrite=overwrite
        )
    say(f"wrote {path}: {headline(result.to_dict())}")


Folder = Annotated[
    str, typer.Argument(metavar="FOLDER", help="Where batches arrive, as count writes them.")
]
StopRule = Annotated[
    str | None,
    o.in_question(
        metavar="RULE",
        help="width=0.02: the HDI is at most so wide; decision: it is decided; bayes_factor=10.",
    ),
]
Once = Annotated[bool, o.in_data("--once", help="Do not wait for more.")]
Every = Annotated[
    float,
    o.in_data(
        metavar="NUMBER",
        help="Seconds between two looks into the folder.",
        parser=o.parse_number,
    ),
]
WatchStyle = Annotated[
    WatchFormat,
    o.in_output("--format", "-f", metavar="FORMAT", help="text, or json: one object a line."),
]


def watch(
    folder: Folder,
    a: o.NamedA = None,
    b: o.NamedB = None,
    metric: o.Metric = None,
    rope: o.Rope = None,
    stop: StopRule = None,
    once: Once = False,
    every: Every = 2.0,
    unpaired: o.Unpaired = False,
    never_true: o.NeverTrue = None,
    style: WatchStyle = "text",
    *,
    asking: g.Asking,
) -> int:
    """Re-run the comparison after each batch and stop by a rule.

    A batch is a file of outcomes that count or Monitor.add wrote into the folder.

    Exit codes, as for gate: 0 A can replace B, 1 it cannot, 4 undecided.

    Example: outperform watch labels/ --a bert --b gpt --metric f1_macro --stop width=0.02
    """
    name_a, name_b = needed_columns([a, b])
    if not every > 0:
        raise UsageError(f"--every must be above 0; got {every:g}")
    rule, region = op.results.Stop.from_param(stop_of(stop)), rope_of(rope)
    seen = _first(op.Monitor(folder, name_a, name_b), once=once, every=every)
    named = _with_named(seen, asking)
    arguments = asking.arguments(named)
    del arguments["n_jobs"]  # a monitor uses all cores anyway
    monitor = op.Monitor(
        folder,
        name_a,
        name_b,
        metric=metric,
        rope=region,
        stop=rule,
        paired=not unpaired,
        prevalence=prevalence_of(named, asking.prevalence),
        never_true=never_true_of(named, never_true),
        **arguments,
    )
    return _watched(monitor, style, once=once, every=every)


def stop_of(text: str | None) -> Any:
    """Read a rule to stop by: its name, perhaps with a number."""
    if text is None or "=" not in text:
        return text
    rule, _, number = text.partition("=")
    try:
        return rule, float(number)
    except ValueError:
        raise UsageError(
            f"--stop must be a rule such as decision or width=0.02; got {text!r}"
        ) from None


def _first(monitor: Monitor, *, once: bool, every: float) -> Outcomes | Scores:
    """Wait for the first batch, and say why there is none."""
    message = ""
    while not once and not monitor.n_batches:
        try:
            return monitor.outcomes
        except DataError as error:
            if str(error) != message:
                message = str(error)
                say(f"{message}; waiting")
        time.sleep(every)
    return monitor.outcomes


def _with_named(seen: Outcomes | Scores, asking: g.Asking) -> Outcomes | Scores:
    """Add classes that were named and have not occurred, and say so: it may be a slip."""
    from outperform.data.scores import Scores

    if isinstance(seen, Scores):
        return seen
    named = [*(asking.labels or "").split(","), asking.pos_label or ""]
    known = [str(label) for label in seen.labels]
    missing = {text: like(seen.labels[0], text) for text in named if text and text not in known}
    added = [label for label in missing.values() if label is not None]
    if seen.kind == "correct" or not added:
        return seen
    for text in missing:
        say(f"{unknown_name('class', text, known)}. It is taken for one that comes later")
    return seen.with_labels(added)


def _say_new(monitor: Monitor, reported: set[Finding | str]) -> None:
    """Say each finding once, and what is not counted whenever that changes."""
    for finding in monitor.findings:
        if finding.level == "note" and finding.name != "looks_left_out":
            continue
        key = finding if finding.name == "batches_not_counted" else finding.name
        if key not in reported:
            reported.add(key)
            say(str(finding))


def _watched(monitor: Monitor, style: WatchFormat, *, once: bool, every: float) -> int:
    """Write every look until the rule holds, or once; return the exit code of the last."""
    shown = 0
    reported: set[Finding | str] = set()
    while True:
        looks = monitor.looks
        _say_new(monitor, reported)
        for look in looks[shown:]:
            _write_look(look, style)
            if look.holds:
                say(f"stopped at look {look.number} of {looks[-1].number}")
                return _code(look, monitor)
        shown = len(looks)
        if once:
            if not looks:
                raise DataError("no batch has an answer yet")
            return _code(looks[-1], monitor)
        time.sleep(every)


def _write_look(look: Look, style: WatchFormat) -> None:
    from outperform.monitor.text import look_line

    facts = look.to_dict()
    deliver(as_json(facts) if style == "json" else look_line(facts), None)
    sys.stdout.flush()


def _code(look: Look, monitor: Monitor) -> int:
    """Return the exit code of a look; what was not counted might have turned a pass.

    So might batches that came after the rule to stop held and differ from those before.
    """
    from outperform.data.sources import batches_differ

    findings = monitor.findings
    doubted = batches_differ(findings) or any(
        finding.name == "batches_not_counted" for finding in findings
    )
    passes = look.judgement.value == "pass"
    return exit_codes.judged("undecided" if passes and doubted else look.judgement.value)
