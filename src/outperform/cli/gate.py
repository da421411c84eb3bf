"""``gate``, ``watch`` and ``report``."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

import outperform as op
from outperform.cli import exit_codes
from outperform.cli import groups as g
from outperform.cli import options as o
from outperform.cli.compare import ItemsFile, compared, write_items
from outperform.cli.exit_codes import say, shown
from outperform.cli.groups import as_json, command_line, deliver, show, style_of, write_page
from outperform.cli.guesses import columns_of
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
_FORMATS: tuple[GateFormat, ...] = get_args(GateFormat)
WatchFormat = Literal["text", "json", "prometheus"]

Candidate = Annotated[
    str | None,
    o.in_models(metavar="NAME", help=f"New model. {o.NAME}"),
]
Baseline = Annotated[
    str | None,
    o.in_models(metavar="NAME", help=f"Old model. {o.NAME}"),
]
Guards = Annotated[
    list[str] | None,
    o.in_analysis(
        "--guard",
        metavar="GUARD",
        help="Second metric not to get worse, METRIC:ROPE. Or METRIC:CLASS:ROPE, e.g. "
        "recall:fraud:0.02. For a level, METRIC:CLASS:at_least=0.9. Repeat for more guards.",
        show_default=False,
    ),
]
AtLeast = Annotated[
    float | None,
    o.in_analysis(
        "--at-least",
        metavar="NUMBER",
        help="Least value of the metric. --baseline is then optional; with both, both must hold.",
        parser=o.parse_number,
        show_default=False,
    ),
]
AtMost = Annotated[
    float | None,
    o.in_analysis(
        "--at-most",
        metavar="NUMBER",
        help="Largest value of the metric, as for --at-least.",
        parser=o.parse_number,
        show_default=False,
    ),
]
ChosenFrom = Annotated[
    int | None,
    o.in_analysis(
        "--chosen-from",
        metavar="NUMBER",
        help="Number of candidates that this one was chosen from by its results on these items.",
        show_default=False,
    ),
]
Anytime = Annotated[
    bool,
    o.in_analysis("--anytime", help="Use wider intervals that are valid however often you look."),
]
LedgerFile = Annotated[
    Path | None,
    o.in_analysis(
        "--ledger",
        metavar="FILE",
        help="File that records every decision. The candidate must then also be close to the best "
        "model ever released.",
        show_default=False,
    ),
]
Require = Annotated[
    Literal["not_worse", "better"],
    o.in_analysis(
        metavar="CHOICE",
        help="Condition to pass: not_worse, or better (the whole HDI lies above the ROPE).",
    ),
]
Allow = Annotated[
    Literal["undecided"] | None,
    o.in_analysis(
        metavar="CHOICE",
        help="Result to accept: undecided also exits with 0 if the gate is undecided, unless a "
        "finding is serious.",
    ),
]
Style = Annotated[
    GateFormat | None,
    o.in_output(
        "--format",
        "-f",
        metavar="FORMAT",
        help="Output format: text, json, markdown or github. The github format writes annotations, "
        "a job summary and step outputs. If omitted, it follows the ending of --output (.json or "
        ".md); otherwise text.",
    ),
]
JUnit = Annotated[
    Path | None,
    o.in_output(metavar="FILE", help="Additional JUnit XML file."),
]


def gate(
    files: o.Sources,
    candidate: Candidate = None,
    baseline: Baseline = None,
    metric: o.Metric = None,
    rope: o.Rope = None,
    at_least: AtLeast = None,
    at_most: AtMost = None,
    ledger: LedgerFile = None,
    guards: Guards = None,
    chosen_from: ChosenFrom = None,
    anytime: Anytime = False,
    require: Require = "not_worse",
    allow: Allow = None,
    unpaired: o.Unpaired = False,
    style: Style = None,
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
    """Check whether the candidate can replace the baseline.

    It passes (exit code 0) if the whole HDI of candidate − baseline lies above
    the ROPE's lower edge, fails (1) if below, and is undecided (4) otherwise.

    Example: outperform gate preds.csv --truth label --baseline old --candidate new --metric f1_macro
    """  # noqa: E501
    style = style_of(style, output, _FORMATS)
    if style == "github" and output is not None:
        raise UsageError("--format github writes workflow commands to stdout; remove --output")
    allow_undecided = allow == "undecided"
    # Without a baseline, a level is checked, of the candidate only.
    alone = baseline is None and (at_least is not None or at_most is not None)
    suite = tasks.suite(
        files, [candidate] if alone else [candidate, baseline], reading, metric, rope
    )
    if policy is not None and suite is None:
        raise UsageError("--policy needs --by; pass both")
    if suite is not None:
        if ledger is not None:
            raise UsageError("--ledger records a single task; remove it or --by")
        _named(candidate, baseline, f"one of {', '.join(suite.models)}", alone=alone)
        if guards or items is not None:
            raise UsageError("--guard and --items apply to a single task; with --by, use --policy")
        with shown("drawing"):
            suite_gate = op.gate(
                suite,
                *suite.models,
                at_least=at_least,
                at_most=at_most,
                chosen_from=chosen_from,
                anytime=anytime,
                policy=policy,
                require=require,
                paired=not unpaired,
                **asking.of_suite(suite),
            )
        write_page(suite_gate, report)
        return _write(suite_gate, style, output, junit, allow_undecided, verbose)
    if alone and items is not None:
        raise UsageError("--items compares two models; pass --baseline, or remove --items")
    data = _read(files, candidate, baseline, reading, metric, alone=alone, ledger=ledger)
    data, arguments = asking.at_prevalence(data), asking.arguments(data)
    with shown("drawing"):
        result = op.gate(
            data,
            *data.models[: 1 if alone else 2],
            metric=pricing.metric(data, metric),
            rope=rope_of(rope),
            at_least=at_least,
            at_most=at_most,
            chosen_from=chosen_from,
            anytime=anytime,
            ledger=ledger,
            require=require,
            guards=[guard_of(data, text) for text in guards or ()],
            paired=not unpaired,
            **arguments,
        )
    write_page(result, report)
    if not alone:
        write_items(result.main, items)
    return _write(result, style, output, junit, allow_undecided, verbose)


def _read(
    files: list[str],
    candidate: str | None,
    baseline: str | None,
    reading: g.ReadingTwo,
    metric: str | None,
    *,
    alone: bool,
    ledger: Path | None,
) -> Outcomes | Scores:
    """Read the models, and the best release of the ledger if it is there."""
    from outperform.metrics.registry import check_name, is_of_scores

    check_name(metric)
    if candidate is not None and candidate == baseline:
        raise UsageError(f"candidate and baseline must differ; got {baseline!r} twice")
    one_table = len(files) == 1 and not reading.confusion
    needs_scores = metric is not None and is_of_scores(metric)
    if one_table or needs_scores:
        columns = partial(columns_there, files[0], reading) if one_table else str
        models = _named(candidate, baseline, "the column of a model", columns, alone=alone)
        models += _anchor(ledger, models, columns_of(files[0]) if one_table else ())
        return read_seen(files, models, reading, [metric])
    outcomes = read_outcomes(files, None, reading)
    what = f"one of {', '.join(outcomes.models)}"
    models = _named(candidate, baseline, what, alone=alone)
    return outcomes.select([*models, *_anchor(ledger, models, outcomes.models)])


def _anchor(ledger: Path | None, models: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return the best releases of the ledger, by any metric, whose answers are in the columns."""
    if ledger is None:
        return []
    book = op.Ledger(ledger)
    courses = [book.course(metric) for metric in {entry.metric for entry in book.entries}]
    anchors = {course.anchor for course in courses if course is not None}
    return sorted(name for name in anchors if name in known and name not in models)


def _named(
    candidate: str | None,
    baseline: str | None,
    what: str,
    columns: Callable[[], str] = str,
    *,
    alone: bool,
) -> list[str]:
    """Return the names of the models; raise an error if one is missing."""
    names = {"--candidate": candidate} | ({} if alone else {"--baseline": baseline})
    missing = [option for option, name in names.items() if name is None]
    if missing:
        each = "each " if len(missing) == 2 else ""
        raise UsageError(f"pass {' and '.join(missing)}, {each}{what}{columns()}")
    return [name for name in names.values() if name is not None]


def guard_of(outcomes: Outcomes | Scores, text: str) -> Guard:
    """Parse a guard, METRIC:ROPE or METRIC:CLASS:ROPE."""
    from outperform.gates.result import Guard

    metric, colon, remainder = text.partition(":")
    label, second_colon, rope = remainder.rpartition(":")  # a class may contain colons
    if not colon or not metric or not rope or (second_colon and not label):
        raise UsageError(
            "--guard must be METRIC:ROPE or METRIC:CLASS:ROPE, e.g. recall:fraud:0.02; "
            f"got {text!r}{_meant_guard(text)}"
        )
    label_there = label_of(outcomes, label) if second_colon else None
    side, is_level, level = rope.partition("=")
    if is_level and side.replace("-", "_") in ("at_least", "at_most"):
        try:
            levels = {side.replace("-", "_"): float(level)}
        except ValueError:
            raise UsageError(
                f"--guard {text!r} must end in a number, e.g. {side}=0.9; got {level!r}"
            ) from None
        return Guard(metric=metric, label=label_there, **levels)
    return Guard(metric=metric, label=label_there, rope=rope_of(rope))


def _meant_guard(text: str) -> str:
    """Return a suggestion for a guard that uses a sign other than a colon, or has no ROPE.

    Examples
    --------
    >>> _meant_guard("recall=0.02"), _meant_guard("recall"), _meant_guard("")
    ('; did you mean recall:0.02?', '; did you mean recall:0.01?', '')
    """
    parts = [part for part in re.split("[:=,]", text) if part]
    if not parts:
        return ""
    has_rope = re.fullmatch(r"[\d.]+", parts[-1]) is not None
    return f"; did you mean {':'.join(parts if has_rope else [*parts, '0.01'])}?"


def _write(
    gate: Gate,
    style: GateFormat,
    output: Path | None,
    junit: Path | None,
    allow_undecided: bool,
    verbose: bool,
) -> exit_codes.Judged:
    """Write a gate and return its exit code, which no other function of the command returns."""
    # Imported here to keep help and completion fast.
    from outperform.gates.ci import gate_annotations, gate_json, gate_junit

    if junit is not None:
        deliver(gate_junit(gate, allow_undecided=allow_undecided), junit)
    if style == "github":
        _write_job_files(gate)
        deliver(gate_annotations(gate), None)
    elif style == "json":
        deliver(gate_json(gate), output)
    elif style == "text":
        show(gate._document().lines, output, verbose=verbose)
    else:
        deliver(gate.to_markdown(), output)
    passes = allow_undecided and gate.can_allow
    return exit_codes.judged("pass" if passes else gate.status.value)


def _write_job_files(gate: Gate) -> None:
    """Append to the job summary and the step outputs, which other steps may also write."""
    from outperform.gates.ci import gate_outputs

    for variable, text in ((SUMMARY, gate.to_markdown() + "\n"), (OUTPUTS, gate_outputs(gate))):
        if path := os.environ.get(variable):
            with open(path, "a", encoding="utf-8") as stream:
                stream.write(text + "\n")


WatchStyle = Annotated[
    WatchFormat,
    o.in_output(
        "--format",
        "-f",
        metavar="FORMAT",
        help="Output format: text, or json (for watch, one object per line).",
    ),
]
Action = Annotated[Literal["show"], typer.Argument(metavar="ACTION", help="What to do: show.")]
Book = Annotated[
    Path, typer.Argument(metavar="FILE", help="Ledger, as written by `gate --ledger`.")
]


def ledger(action: Action, file: Book, style: WatchStyle = "text", output: o.Output = None) -> None:
    """Show past decisions, and the loss since the best release.

    Example: outperform ledger show gates.jsonl
    """
    if not file.exists():
        raise UsageError(f"there is no ledger {str(file)!r}; it is written by gate --ledger")
    book = op.Ledger(file)
    if style == "json":
        deliver(as_json(book.to_dict(), indent=2), output)
    else:
        show(book._document().lines, output)


def report(
    files: o.Sources,
    a: o.ModelA = None,
    b: o.ModelB = None,
    metric: o.Metric = None,
    rope: o.Rope = None,
    unpaired: o.Unpaired = False,
    title: Annotated[
        str | None,
        o.in_output(metavar="TEXT", help="Title of the page."),
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
    from outperform.display.sentences import after_colon, headline

    result = compared(files, a, b, metric, rope, unpaired, reading, asking)
    write_items(result, items)
    with shown("writing the page"):
        path = op.write_report(
            result, output, title=title, command=command_line(), overwrite=overwrite
        )
    say(f"wrote {path}: {after_colon(headline(result.to_dict()))}")


Folder = Annotated[
    str, typer.Argument(metavar="FOLDER", help="Folder of batches, as written by `count`.")
]
StopRule = Annotated[
    str | None,
    o.in_analysis(
        metavar="RULE",
        help="Stopping rule: width=0.02 (maximum HDI width), anytime (a firm decision, valid at "
        "every look), decision, or bayes_factor=10.",
    ),
]
Once = Annotated[bool, o.in_data("--once", help="Exit without waiting for more batches.")]
Every = Annotated[
    float,
    o.in_data(
        metavar="NUMBER",
        help="Seconds between checks of the folder.",
        parser=o.parse_number,
    ),
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
    """Repeat the comparison after each batch, until a rule stops it.

    A batch is a file of outcomes that `count` or Monitor.add wrote to the folder.

    Exit codes are as for gate: 0 A can replace B, 1 it cannot, 4 undecided.

    Example: outperform watch labels/ --a bert --b gpt --metric f1_macro --stop width=0.02
    """
    if Path(folder).is_file():
        raise UsageError(
            f"pass the folder with the batches written by `count`; got the file {folder!r}"
        )
    name_a, name_b = needed_columns([a, b])
    if not every > 0:
        raise UsageError(f"--every must be above 0; got {every:g}")
    rule, region = op.results.Stop.from_param(stop_of(stop)), rope_of(rope)
    first = _first(op.Monitor(folder, name_a, name_b), once=once, every=every)
    data = _with_named(first, asking)
    arguments = asking.arguments(data)
    del arguments["n_jobs"]  # a monitor always uses all cores
    monitor = op.Monitor(
        folder,
        name_a,
        name_b,
        metric=metric,
        rope=region,
        stop=rule,
        paired=not unpaired,
        prevalence=prevalence_of(data, asking.prevalence),
        never_true=never_true_of(data, never_true),
        **arguments,
    )
    return _watched(monitor, style, once=once, every=every)


def stop_of(text: str | None) -> Any:
    """Parse a stopping rule: a name, or a name and a number."""
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
    """Wait for the first batch, and report why there is none yet."""
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


def _with_named(data: Outcomes | Scores, asking: g.Asking) -> Outcomes | Scores:
    """Add requested classes that have not occurred; report them, because they may be typos."""
    from outperform.data.scores import Scores

    if isinstance(data, Scores):
        return data
    texts = [*(asking.labels or "").split(","), asking.pos_label or ""]
    known = [str(label) for label in data.labels]
    missing = {text: like(data.labels[0], text) for text in texts if text and text not in known}
    added = [label for label in missing.values() if label is not None]
    if data.kind == "correct" or not added:
        return data
    for text in missing:
        say(f"{unknown_name('class', text, known)}. It is assumed to occur in later batches")
    return data.with_labels(added)


def _say_new(monitor: Monitor, reported: set[Finding | str]) -> None:
    """Report each finding once, and uncounted batches when they change."""
    for finding in monitor.findings:
        if finding.level == "note" and finding.name != "looks_left_out":
            continue
        key = finding if finding.name == "batches_not_counted" else finding.name
        if key not in reported:
            reported.add(key)
            say(str(finding))


def _watched(monitor: Monitor, style: WatchFormat, *, once: bool, every: float) -> int:
    """Write each look until the stopping rule is met (or only once); return the last exit code."""
    n_written = 0
    reported: set[Finding | str] = set()
    while True:
        looks = monitor.looks
        _say_new(monitor, reported)
        if style == "prometheus" and len(looks) > n_written:
            _write_gauges(monitor)
        for look in looks[n_written:]:
            if style != "prometheus":
                _write_look(look, style)
            if look.holds:
                say(f"stopped at look {look.number} of {looks[-1].number}")
                return _code(look, monitor)
        n_written = len(looks)
        if once:
            if not looks:
                raise DataError("there is no result yet")
            return _code(looks[-1], monitor)
        time.sleep(every)


def _write_gauges(monitor: Monitor) -> None:
    from outperform.monitor.text import gauges

    deliver(gauges(monitor.to_dict()), None)
    sys.stdout.flush()


def _write_look(look: Look, style: WatchFormat) -> None:
    from outperform.monitor.text import look_line

    record = look.to_dict()
    deliver(as_json(record) if style == "json" else look_line(record), None)
    sys.stdout.flush()


def _code(look: Look, monitor: Monitor) -> int:
    """Return the exit code of a look.

    A pass becomes undecided if batches were not counted, or if batches differ, even if they came
    after the stopping rule was met: they might have prevented the pass.
    """
    from outperform.data.sources import batches_differ

    findings = monitor.findings
    is_doubtful = batches_differ(findings) or any(
        finding.name == "batches_not_counted" for finding in findings
    )
    status = look.status.value
    return exit_codes.judged("undecided" if status == "pass" and is_doubtful else status)
