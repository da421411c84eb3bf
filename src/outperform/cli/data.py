"""``count``, ``example`` and ``watch``."""

from __future__ import annotations

import sys
import time
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

import outperform as op
from outperform.cli import exit_codes
from outperform.cli import groups as g
from outperform.cli import options as o
from outperform.cli.exit_codes import say, shown
from outperform.cli.groups import as_json, deliver
from outperform.cli.inputs import needed_columns, prevalence_of, rope_of
from outperform.errors import DataError, UsageError, unknown_name

if TYPE_CHECKING:
    from outperform._typing import Label
    from outperform.data.outcomes import Outcomes
    from outperform.findings import Finding
    from outperform.monitor.api import Monitor
    from outperform.monitor.result import Look


def count(
    source: o.Source,
    of: o.Models = None,
    by: o.By = None,
    output: o.Output = None,
    *,
    reading: g.OneTable,
) -> None:
    """Count predictions once, into a small file that others take.

    Files of several days or machines add up: put them into one folder and name that.

    Example: outperform count preds.csv --truth label --of bert --of gpt -o counts.json
    """
    asked = {**reading.arguments(), **reading.dialect()}
    with shown("counting"):
        seen = op.read(
            source,
            truth=reading.truth,
            models=of or None,
            by=by or None,
            on_null=reading.on_null.value,
            **asked,
        )
    deliver(seen.to_json(), output)


def example(
    name: Annotated[str, typer.Argument(help="news20.", show_default=False)],
    output: o.Output = None,
    force: o.Force = False,
) -> None:
    """Write the bundled data as CSV, one column a model.

    Example: outperform example news20 -o preds.csv
    """
    if name != "news20":
        raise UsageError(unknown_name("example", name, ["news20"]))
    if output is not None and output.exists() and not force:
        raise UsageError(f"{output} is there already; overwrite it with --force")
    from outperform import datasets

    news = datasets.load_news20()
    header = ["id", "label", *news.predictions]
    columns = [range(len(news.y_true)), news.y_true, *news.predictions.values()]
    rows = (",".join(map(str, row)) for row in zip(*columns, strict=True))
    deliver("\n".join([",".join(header), *rows]), output)


class WatchFormat(StrEnum):
    """How a look is written."""

    TEXT = "text"
    JSON = "json"


Folder = Annotated[
    str, typer.Argument(metavar="FOLDER", help="Where batches arrive, as count writes them.")
]
StopRule = Annotated[
    str | None,
    typer.Option(
        "--stop",
        metavar="RULE",
        help="width=0.02: the HDI is at most so wide; decision: it is decided; bayes_factor=10.",
        rich_help_panel="Question",
    ),
]
Once = Annotated[bool, typer.Option("--once", help="Do not wait for more.", rich_help_panel="Data")]
Every = Annotated[
    float,
    typer.Option(
        "--every",
        help="Seconds between two looks into the folder.",
        parser=o.real,
        metavar="NUMBER",
        rich_help_panel="Data",
    ),
]
Style = Annotated[
    WatchFormat,
    typer.Option(
        "--format",
        "-f",
        help="text, or json: one object a line.",
        metavar="FORMAT",
        rich_help_panel="Output",
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
    style: Style = WatchFormat.TEXT,
    *,
    asking: g.Asking,
) -> int:
    """Print the decision after each batch, until it is time to stop.

    A batch is a file of outcomes that count or Monitor.add wrote into the folder.

    Exit codes when it stops, as of a gate: 0 A may replace B, 1 it may not, 4 cannot tell yet.

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
        **arguments | {"random_state": asking.seed or 0},
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


def _first(monitor: Monitor, *, once: bool, every: float) -> Outcomes:
    """Wait for the first batch, and say why there is none."""
    said = ""
    while not once and not monitor.n_batches:
        try:
            return monitor.outcomes
        except DataError as error:
            if str(error) != said:
                said = str(error)
                say(f"{said}; waiting")
        time.sleep(every)
    return monitor.outcomes


def _with_named(seen: Outcomes, asking: g.Asking) -> Outcomes:
    """Add classes that were named and have not occurred, and say so: it may be a slip."""
    named = [*(asking.labels or "").split(","), asking.pos_label or ""]
    known = [str(label) for label in seen.labels]
    missing = {text: _like(seen.labels[0], text) for text in named if text and text not in known}
    found = [label for label in missing.values() if label is not None]
    if seen.kind == "correct" or not found:
        return seen
    for text in missing:
        say(f"{unknown_name('class', text, known)}. It is taken for one that comes later")
    return seen.with_labels(found)


def _like(label: Label, text: str) -> Label | None:
    """Read a class of the type of another; None if it cannot be one."""
    if isinstance(label, bool):
        return {"False": False, "True": True}.get(text)
    if isinstance(label, int):
        return int(text) if text.removeprefix("-").isdecimal() else None
    return text


def _say_new(monitor: Monitor, said: set[Finding | str]) -> None:
    """Say each finding once, and what is not counted whenever that changes."""
    for finding in monitor.findings:
        if finding.level == "note" and finding.name != "looks_left_out":
            continue
        once = finding if finding.name == "batches_not_counted" else finding.name
        if once not in said:
            said.add(once)
            say(str(finding))


def _watched(monitor: Monitor, style: WatchFormat, *, once: bool, every: float) -> int:
    """Write every look until the rule holds, or once; return the exit code of the last."""
    shown = 0
    said: set[Finding | str] = set()
    while True:
        looks = monitor.looks
        _say_new(monitor, said)
        for look in looks[shown:]:
            _write(look, style)
            if look.holds:
                say(f"stopped at look {look.number} of {looks[-1].number}")
                return _code(look, monitor)
        shown = len(looks)
        if once:
            if not looks:
                raise DataError("no batch has an answer yet")
            return _code(looks[-1], monitor)
        time.sleep(every)


def _write(look: Look, style: WatchFormat) -> None:
    from outperform.monitor.text import look_line

    facts = look.to_dict()
    deliver(as_json(facts) if style is WatchFormat.JSON else look_line(facts), None)
    sys.stdout.flush()


def _code(look: Look, monitor: Monitor) -> int:
    """Return the exit code of a look; what was not counted might have turned a pass."""
    uncounted = any(one.name == "batches_not_counted" for one in monitor.findings)
    passes = look.judgement.value == "pass"
    return exit_codes.judged("undecided" if passes and uncounted else look.judgement.value)
