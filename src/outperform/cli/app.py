"""The commands and their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from outperform._version import __version__
from outperform.cli import (
    baselines,
    comparing,
    counting,
    examples,
    folds,
    gate,
    planning,
    proposing,
    ranking,
    reporting,
    sensing,
    slicing,
    training,
    watching,
)
from outperform.cli.composing import composed
from outperform.cli.running import guarded

app = typer.Typer(
    name="outperform",
    help="Does one classifier really outperform another, by how much, and how sure is that?",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

COMMANDS: dict[str, Callable[..., int | None]] = {
    "compare": comparing.compare,
    "estimate": comparing.estimate,
    "scorecard": comparing.scorecard,
    "by-class": comparing.by_class,
    "sensitivity": sensing.sensitivity,
    "slices": slicing.slices,
    "rank": ranking.rank,
    "runs": training.runs,
    "gate": gate.gate,
    "watch": watching.watch,
    "baseline": baselines.baseline,
    "count": counting.count,
    "report": reporting.report,
    "bcv": folds.bcv,
    "plan": planning.plan,
    "power": planning.power,
    "propose": proposing.propose,
    "reproduce": examples.reproduce,
    "example": examples.example,
}

for _name, _command in COMMANDS.items():
    app.command(_name)(guarded(composed(_command)))


def _version(wanted: bool) -> None:
    if wanted is True:  # some parsers pass a mark for "not given", which is true as well
        typer.echo(f"outperform {__version__}")
        raise typer.Exit


@app.callback()
def outperform(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Hold the options that stand before a command."""
