"""The commands, their names and their option groups."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer
from typer.models import ArgumentInfo

from outperform import __version__
from outperform.cli import compare, data, gate, plan
from outperform.cli.exit_codes import guarded
from outperform.cli.options import PANELS


def composed(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """Return the command with every field of its dataclasses as a parameter of its own.

    typer reads options off a signature; a command that names groups of options
    keeps a short one, and gets the groups filled.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            parameters += _of_group(groups[name])
        else:
            parameters.append(parameter.replace(annotation=hints[name]))

    @wraps(command)
    def run(*arguments: Any, **given: Any) -> int | None:
        made = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        return command(*arguments, **given, **made)

    # All by keyword, so that options can stand in the order of their panels.
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for parameter in sorted(parameters, key=_option_panel)
        ]
    )
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _option_panel(parameter: inspect.Parameter) -> int:
    """Return the place of an option's panel; arguments come first."""
    told = parameter.annotation.__metadata__[0]
    return -1 if isinstance(told, ArgumentInfo) else PANELS.index(told.rich_help_panel)


def _of_group(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]


app = typer.Typer(
    name="outperform",
    help="Does one classifier really outperform another, by how much, and how sure is that?",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_PANELS: dict[str, dict[str, Callable[..., int | None]]] = {
    "Compare": {
        "compare": compare.compare,
        "estimate": compare.estimate,
        "scorecard": compare.scorecard,
        "slices": compare.slices,
        "rank": compare.rank,
        "runs": compare.runs,
        "bcv": compare.bcv,
        "sensitivity": compare.sensitivity,
        "report": gate.report,
    },
    "Gate": {"gate": gate.gate, "watch": data.watch},
    "Plan": {"plan": plan.plan, "power": plan.power, "propose": plan.propose},
    "Data": {"count": data.count, "example": data.example},
}
COMMANDS = {name: command for some in _PANELS.values() for name, command in some.items()}

for _panel, _commands in _PANELS.items():
    for _name, _command in _commands.items():
        app.command(_name, rich_help_panel=_panel)(guarded(composed(_command)))


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
