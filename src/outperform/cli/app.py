"""All commands with their options, and the code of ``count``, ``example`` and ``explain``."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import ArgumentInfo

import outperform as op
from outperform import __version__
from outperform.cli import agents, compare, gate, plan
from outperform.cli import options as o
from outperform.cli.doctor import doctor
from outperform.cli.exit_codes import guarded, say, shown
from outperform.cli.groups import deliver, show
from outperform.cli.inputs import OneTable, counted_logs, declared
from outperform.cli.options import FIRST, PANELS
from outperform.errors import UsageError, unknown_name
from outperform.io.catalogue import LOGS

if TYPE_CHECKING:
    from outperform.display.layout import Line, Page
    from outperform.explanations import Explanation


class _Bare:
    """Help without the Python types of arguments and flags."""

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters, without the types of arguments and flags."""
        params = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if param.param_type_name == "argument" or getattr(param, "is_flag", False):
                param.display_type_rich = _no_type
        return params


def _no_type(ctx: Any) -> None:
    """Print nothing for the type."""


def _shortened(param: Any) -> Any:
    """Return a parameter for --help, which shows few options, no panels and short texts."""
    short = copy(param)
    short.help = _first_sentences(param.help or "")
    if param.param_type_name == "option":
        short.hidden, short.show_default = FIRST.isdisjoint(param.opts), False
        short.rich_help_panel = "Options"
    return short


def _first_sentences(text: str) -> str:
    """Return the first sentence of a help text, and its default.

    Examples
    --------
    >>> _first_sentences("Models, e.g. bert. Repeat for more models. Default: all.")
    'Models, e.g. bert. Default: all.'
    """
    first, *others = re.split(r"(?<=\.) (?=[A-Z])", text)
    return " ".join([first, *(sentence for sentence in others if sentence.startswith("Default"))])


class _Command(_Bare, TyperCommand):
    """Command with a short help, --help or -h, and the full help, --help-all."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words after the command, and reject likely mistakes."""
        words = list(args)  # the parser empties the list passed to it
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:
            # Imported here to keep help and completion fast.
            from outperform.cli.misread import refuse_misread

            refuse_misread(self, words, ctx.params)
        return rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help without rarely used options."""
        self._name_plug_ins()
        # The command itself is not changed, because other callers in this process may use it.
        short = copy(self)
        short.params = [_shortened(param) for param in self.params]
        TyperCommand.format_help(short, ctx, formatter)

    def format_help_all(self, ctx: Any, formatter: Any) -> None:
        """Write the help with all options."""
        self._name_plug_ins()
        super().format_help(ctx, formatter)

    def _name_plug_ins(self) -> None:
        """Add the log formats of plug-ins to the help. Finding plug-ins takes time."""
        added = [name for name in LOGS.names() if name not in LOGS.built_in]
        for param in self.params:
            if added and "--read-as" in param.opts and "From plug-ins" not in param.help:  # type: ignore[attr-defined]
                param.help = f"{param.help} From plug-ins: {', '.join(added)}."  # type: ignore[attr-defined]


def _print_all(ctx: typer.Context, is_set: bool) -> None:
    """Print the full help of a command and exit."""
    if is_set is True:  # some parsers pass a truthy sentinel for "not set"
        formatter = ctx.make_formatter()
        ctx.command.format_help_all(ctx, formatter)  # type: ignore[attr-defined]
        typer.echo(formatter.getvalue().rstrip("\n"))
        raise typer.Exit


_HELP_ALL = inspect.Parameter(
    "help_all",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[
        bool,
        typer.Option(
            "--help-all", callback=_print_all, is_eager=True, help="Show all options and exit."
        ),
    ],
)


class _Group(_Bare, TyperGroup):
    """Group of all commands."""


def composed(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """Return the command with dataclass parameters expanded into separate parameters.

    typer reads options from the signature. With this function, a command can list option groups
    instead of all their options.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            parameters += _group_parameters(groups[name])
        else:
            parameters.append(parameter.replace(annotation=hints[name]))

    @wraps(command)
    def run(*arguments: Any, help_all: bool, **values: Any) -> int | None:
        filled = {
            name: group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        return command(*arguments, **values, **filled)

    # All parameters are keywords, so options can be sorted by panel.
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for parameter in [*sorted(parameters, key=_option_panel), _HELP_ALL]
        ]
    )
    run.__annotations__ = {
        parameter.name: parameter.annotation for parameter in [*parameters, _HELP_ALL]
    }
    return run


def _option_name(parameter: inspect.Parameter) -> str | None:
    """Return the name of an option, declared or derived from the parameter; None for arguments."""
    declaration = parameter.annotation.__metadata__[0]
    if isinstance(declaration, ArgumentInfo):
        return None
    # With Annotated, typer stores the first name of an option as its default.
    declarations = (declaration.default, *declaration.param_decls)
    names = [name for name in declarations if isinstance(name, str)]
    return names[0] if names else f"--{parameter.name.replace('_', '-')}"


def _option_panel(parameter: inspect.Parameter) -> int:
    """Return the index of an option's panel; -1 for arguments, which come first."""
    declaration = parameter.annotation.__metadata__[0]
    is_argument = isinstance(declaration, ArgumentInfo)
    return -1 if is_argument else PANELS.index(declaration.rich_help_panel)


def _group_parameters(group: Any) -> list[inspect.Parameter]:
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


_Tables = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE",
        help="File, folder or glob pattern, - for stdin, or a database URL. Several files form one "
        "table.",
        show_default=False,
    ),
]
_Update = Annotated[
    Path | None,
    o.in_output(
        metavar="FOLDER",
        help="Folder to which new counts are added, with one part per file (or per folder such as "
        "day=2026-01-31).",
    ),
]
_Recount = Annotated[
    list[str] | None,
    o.in_output(
        metavar="PART",
        help="With --update: changed part to recount. Repeat for more parts.",
    ),
]


_Versions = Annotated[
    list[str] | None,
    o.in_output(
        metavar="MODEL=VERSION",
        help="With --output: version of a model, for `watch`. Repeat for more models.",
    ),
]
_Verify = Annotated[
    bool,
    o.in_output(
        "--verify",
        help="With --update: hash every file again, even if its size and times are unchanged.",
    ),
]


def count(
    sources: _Tables,
    models: o.Models = None,
    by: o.By = None,
    output: o.Output = None,
    update: _Update = None,
    recount: _Recount = None,
    verify: _Verify = False,
    model_version: _Versions = None,
    *,
    reading: OneTable,
) -> None:
    """Summarise predictions in a small file for other commands.

    To combine counts from several days or machines, put the files into one folder
    and pass the folder. With --update, only new data are counted.

    Example: outperform count preds.csv --truth label --model bert --model gpt -o counts.json
    """
    keywords = {**reading.arguments(), "models": models or None, "by": by or None}
    if model_version and output is None:
        raise UsageError("--model-version needs --output; pass both")
    if update is not None:
        _update(update, sources, recount or [], verify, output, keywords, reading.never_true)
        return
    if verify:
        raise UsageError("--verify needs --update; pass both")
    if recount:
        raise UsageError("--recount needs --update; pass both")
    # Imported here to keep help and completion fast.
    from outperform.io.logs.read import CountedFile

    with shown("counting"):
        source = sources[0] if len(sources) == 1 else sources
        counts = counted_logs(sources, models, by, reading)
        if counts is None:
            outcomes = declared(op.read(source, **keywords), reading.never_true)
            counts = CountedFile(outcomes.to_json(), outcomes.models)
    for finding in counts.findings:
        say(str(finding))
    if model_version and output is not None:
        _store_versions(output, model_version, counts.models)
    deliver(counts.text, output)


def _store_versions(output: Path, texts: list[str], models: Sequence[str]) -> None:
    """Store the versions of models next to a batch, for a monitor of the folder."""
    from outperform.monitor.batches import check_versions, store_versions

    pairs = [text.partition("=") for text in texts]
    wrong = [text for text, (_, equals, _) in zip(texts, pairs, strict=True) if not equals]
    if wrong:
        raise UsageError(f"--model-version must be such as bert=v7; got {wrong[0]!r}")
    versions = check_versions({model: version for model, _, version in pairs}, models)
    store_versions(output.parent, output.name.removesuffix(".json"), versions)


def _update(
    folder: Path,
    sources: list[str],
    recount: list[str],
    verify: bool,
    output: Path | None,
    keywords: dict[str, Any],
    never_true: list[str] | None,
) -> None:
    """Count the partitions that a folder does not contain yet, and list them."""
    if output is not None:
        raise UsageError("--update writes a folder, --output a file; pass only one of them")
    if never_true:
        raise UsageError("--never-true does not apply to --update; pass it to gate or watch")
    # Imported here to keep help and completion fast.
    from outperform.findings import counted
    from outperform.io.addresses import Storage
    from outperform.io.formats import check_options
    from outperform.io.request import Request
    from outperform.io.store import update

    dialect = check_options(keywords.pop("dialect"))
    storage = Storage.of(keywords.pop("storage_options"))
    request = Request(**keywords, **dialect, storage_options=storage)
    with shown("counting"):
        store = update(
            folder, sources, request, version=__version__, recount=recount, verify=verify
        )
    for finding in store.findings:
        say(str(finding))
    lines = [f"{part.name}: {counted(part.items, 'items')}" for part in store.counted]
    lines.append(
        f"{counted(len(store.counted), 'partitions')} counted; {folder} contains "
        f"{counted(len(store.parts), 'partitions')}, {counted(store.items, 'items')}."
    )
    deliver("\n".join(lines), None)


def example(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Data set: news20.", show_default=False)
    ],
    output: o.Output = None,
    overwrite: o.Force = False,
) -> None:
    """Write an example data set as CSV, with one column per model.

    Example: outperform example news20 -o preds.csv
    """
    if name != "news20":
        raise UsageError(unknown_name("example", name, ["news20"]))
    if output is not None and output.exists() and not overwrite:
        raise UsageError(f"{output} already exists; pass --force to overwrite it")
    from outperform import datasets

    news = datasets.load_news20()
    header = ["id", "label", *news.predictions]
    columns = [range(len(news.y_true)), news.y_true, *news.predictions.values()]
    rows = (",".join(map(str, row)) for row in zip(*columns, strict=True))
    deliver("\n".join([",".join(header), *rows]), output)


def explain(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="WORD...",
            help="Terms such as rope, metrics, or findings.",
            show_default=False,
        ),
    ],
) -> None:
    """Explain terms, metrics and findings.

    Example: outperform explain rope hdi
    """
    from outperform.display.layout import stacked
    from outperform.explanations import explained

    # an unknown word raises an error before any output
    entries = explained(words)
    show(lambda page: stacked(*(_entry(page, entry) for entry in entries)), None)


def _entry(page: Page, entry: Explanation) -> list[Line]:
    """Return the lines about one term, with the URL of its page."""
    link = page.text(entry.page, style="dim")
    return [*page.text(entry.name, style="strong"), *page.text(entry.text), *link]


_DIALECT = {"encoding": "--encoding {}", "header": "--no-header"}


def spelled_option(name: str, values: tuple[object, ...] = ()) -> str:
    """Return the option of a parameter, including values if there are any.

    Examples
    --------
    >>> spelled_option("hdi_prob"), spelled_option("pos_label", ("ham", "not spam"))
    ('--hdi-prob', "--pos-label ham or 'not spam'")
    >>> spelled_option("models", (["bert", "gpt"],)), spelled_option("where", ({"country": "DE"},))
    ('--model bert --model gpt', '--where country=DE')
    >>> spelled_option("where", ({"filter": ["first", "none"]},))
    '--where filter=first --where filter=none'
    >>> spelled_option("dialect", ({"encoding": "latin-1"},)), spelled_option("paired", (False,))
    ('--encoding latin-1', '--unpaired')
    """
    word = OPTIONS.get(name, name)
    match name, values:
        case _, ():
            return word
        case "paired", (False,):
            return "--unpaired"
        case "overwrite" | "skip_failed" | "latest" | "empty_is_label", (True,):
            return word
        case "na_values", ([],):
            return "--no-na"
        case "dialect", (dict() as options,):
            return " ".join(_DIALECT[key].format(value) for key, value in options.items())
        case _, (dict() as conditions,):
            texts = [
                f"{column}={value}"
                for column, allowed in conditions.items()
                for value in (allowed if isinstance(allowed, list) else [allowed])
            ]
            return " ".join(f"{word} {shlex.quote(text)}" for text in texts)
        case _, ([*items],):
            return " ".join(f"{word} {shlex.quote(str(item))}" for item in items)
    return f"{word} {' or '.join(shlex.quote(str(value)) for value in values)}"


app = typer.Typer(
    name="outperform",
    cls=_Group,
    help="Compare models from their predictions: is one really better, by how much, and how sure "
    "can you be?",
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
        "cv-counts": compare.cv_counts,
        "sensitivity": compare.sensitivity,
        "report": gate.report,
    },
    "Gate": {"gate": gate.gate, "watch": gate.watch, "ledger": gate.ledger},
    "Plan": {
        "plan": plan.plan,
        "power": plan.power,
        "noise": plan.noise,
        "propose": plan.propose,
    },
    "Data": {"doctor": doctor, "count": count, "example": example},
    "Agents": {"mcp": agents.mcp, "skill": agents.skill},
    "Help": {"explain": explain},
}
COMMANDS = {name: command for panel in _PANELS.values() for name, command in panel.items()}

OPTIONS: dict[str, str] = {}
"""Option names of the command's parameters, for messages."""

for _panel, _commands in _PANELS.items():
    for _name, _command in _commands.items():
        _composed = composed(_command)
        for _parameter in inspect.signature(_composed).parameters.values():
            _option = _option_name(_parameter)
            if _option is not None and _option != "--help-all":
                OPTIONS[_parameter.name] = _option
        app.command(_name, cls=_Command, rich_help_panel=_panel)(guarded(_composed, spelled_option))


def _version(is_set: bool) -> None:
    if is_set is True:  # some parsers pass a truthy sentinel for "not set"
        typer.echo(f"outperform {__version__}")
        raise typer.Exit


@app.callback()
def outperform(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Declare the options that come before a command."""
