"""``watch``: the verdict after each batch of a folder, until it is time to stop."""

from __future__ import annotations

import sys
import time
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from outperform.cli import exits
from outperform.cli import options as o
from outperform.cli.reading import needed_columns, rope_of
from outperform.cli.running import say
from outperform.cli.wording import in_options
from outperform.cli.writing import as_json, deliver
from outperform.errors import DataError, UsageError, unknown_name

if TYPE_CHECKING:
    from outperform._typing import Label
    from outperform.findings import Finding
    from outperform.monitor import Look, Monitor
    from outperform.outcomes import Outcomes

_DATA, _QUESTION, _ANSWER = "Data", "Question", "Answer"


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
        metavar="RULE[=NUMBER]",
        help="width=0.02: the HDI is at most so wide; verdict: it is decided; bayes_factor=10.",
        rich_help_panel=_QUESTION,
    ),
]
Once = Annotated[bool, typer.Option("--once", help="Do not wait for more.", rich_help_panel=_DATA)]
Every = Annotated[
    float,
    typer.Option(
        "--every",
        help="Seconds between two looks into the folder.",
        parser=o.real,
        metavar="NUMBER",
        rich_help_panel=_DATA,
    ),
]
Style = Annotated[
    WatchFormat,
    typer.Option("--format", "-f", help="json: one object a line.", rich_help_panel=_ANSWER),
]


def watch(
    folder: Folder,
    a: o.ModelA = None,
    b: o.ModelB = None,
    metric: o.Metric = None,
    rope: o.Rope = None,
    stop: StopRule = None,
    once: Once = False,
    every: Every = 2.0,
    unpaired: o.Unpaired = False,
    style: Style = WatchFormat.TEXT,
    *,
    asking: o.Asking,
) -> int:
    """Print the verdict after each batch of labels, until it is time to stop.

    A batch is a file of outcomes that count or Monitor.add wrote into the folder.

    Exit codes when it stops, as of a gate: 0 A may replace B, 1 it may not, 4 cannot tell yet.

    Example: outperform watch labels/ --a bert --b gpt --metric f1_macro --stop width=0.02
    """
    import outperform as op

    name_a, name_b = needed_columns([a, b])
    if not every > 0:
        raise UsageError(f"--every must be above 0; got {every:g}")
    rule, region = op.Stop.from_param(stop_of(stop)), rope_of(rope)
    seen = _first(op.Monitor(folder, name_a, name_b), once=once, every=every)
    arguments = asking.arguments(_with_named(seen, asking))
    monitor = op.Monitor(
        folder,
        name_a,
        name_b,
        metric=metric,
        rope=region,
        stop=rule,
        paired=not unpaired,
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
            f"--stop must be a rule such as verdict or width=0.02; got {text!r}"
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


def _with_named(seen: Outcomes, asking: o.Asking) -> Outcomes:
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
    """Say each doubt once, and what is not counted whenever that changes."""
    for finding in monitor.findings:
        if finding.level == "note" and finding.name != "looks_left_out":
            continue
        once = finding if finding.name == "batches_not_counted" else finding.name
        if once not in said:
            said.add(once)
            say(in_options(str(finding)))


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
    from outperform import present

    facts = look.to_dict()
    deliver(as_json(facts) if style is WatchFormat.JSON else present.look_line(facts), None)
    sys.stdout.flush()


def _code(look: Look, monitor: Monitor) -> int:
    """Return the exit code of a look; what was not counted might have turned a pass."""
    uncounted = any(one.name == "batches_not_counted" for one in monitor.findings)
    passes = look.judgement.value == "pass"
    return exits.judged("undecided" if passes and uncounted else look.judgement.value)
