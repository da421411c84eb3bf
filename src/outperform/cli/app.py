"""The commands, their names and their option groups; ``count``, ``example`` and ``explain``."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import ArgumentInfo

import outperform as op
from outperform import __version__
from outperform.cli import compare, gate, plan
from outperform.cli import options as o
from outperform.cli.exit_codes import guarded, say, shown
from outperform.cli.groups import deliver, show
from outperform.cli.inputs import OneTable, declared
from outperform.cli.options import FIRST, PANELS
from outperform.errors import UsageError, unknown_name
from outperform.io.catalogue import LOGS

if TYPE_CHECKING:
    from outperform.display.layout import Line, Page


class _Bare:
    """Help without the types of Python: a flag has none, and an argument says what it is."""

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters, those that take no value without a type."""
        params = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if param.param_type_name == "argument" or getattr(param, "is_flag", False):
                param.display_type_rich = _no_type
        return params


def _no_type(ctx: Any) -> None:
    """Say nothing of a type."""


class _Command(_Bare, TyperCommand):
    """A command whose -h shows the options that most people need, and --help all of them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read arguments; -h hides what few people need."""
        if {"-h", "--help"} & {*args}:
            self._name_plug_ins()
        if "-h" in args:
            for param in self.params:
                if param.param_type_name == "option" and FIRST.isdisjoint(param.opts):
                    param.hidden = True  # type: ignore[attr-defined]
            self.epilog = "All options: --help"
            args = ["--help"]
        return super().parse_args(ctx, args)

    def _name_plug_ins(self) -> None:
        """Name the formats of logs that plug-ins add, which are looked for only now."""
        added = [name for name in LOGS.names() if name not in LOGS.built_in]
        for param in self.params:
            if added and "--read-as" in param.opts:
                param.help = f"{param.help} From plug-ins: {', '.join(added)}."  # type: ignore[attr-defined]


class _Group(_Bare, TyperGroup):
    """The commands."""


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


def _typed(parameter: inspect.Parameter) -> str | None:
    """Return how an option is typed: as it is declared, or as its parameter is called."""
    declared = parameter.annotation.__metadata__[0]
    if isinstance(declared, ArgumentInfo):
        return None
    names = (
        declared.default,
        *declared.param_decls,
    )  # in an annotation the first name stands there
    typed = [name for name in names if isinstance(name, str)]
    return typed[0] if typed else f"--{parameter.name.replace('_', '-')}"


def _option_panel(parameter: inspect.Parameter) -> int:
    """Return the place of an option's panel; arguments come first."""
    declared = parameter.annotation.__metadata__[0]
    is_argument = isinstance(declared, ArgumentInfo)
    return -1 if is_argument else PANELS.index(declared.rich_help_panel)


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


_Tables = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE",
        help="A file, a folder, a pattern, - for stdin, or the address of a database. Several "
        "files are one table.",
        show_default=False,
    ),
]
_Update = Annotated[
    Path | None,
    o.in_output(
        metavar="FOLDER",
        help="Count what is new into this folder, a part for each file or folder day=….",
    ),
]
_Recount = Annotated[
    list[str] | None,
    o.in_output(
        metavar="PART",
        help="With --update: recount this part because it changed. Repeat for more parts.",
    ),
]


_Versions = Annotated[
    list[str] | None,
    o.in_output(
        metavar="MODEL=VERSION",
        help="With --output, the version of a model, kept for watch. Repeat for more models.",
    ),
]
_Verify = Annotated[
    bool,
    o.in_output(
        "--verify",
        help="With --update, hash every file again, also where size and times are as they were.",
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
    """Summarise predictions into a small file that other commands can read.

    Files of several days or machines add up: put them into one folder and name that. With
    --update, a folder counts only what is new.

    Example: outperform count preds.csv --truth label --of bert --of gpt -o counts.json
    """
    keywords = {**reading.arguments(), "models": models or None, "by": by or None}
    if model_version and output is None:
        raise UsageError("--model-version is kept beside the file that --output names; give both")
    if update is not None:
        _update(update, sources, recount or [], verify, output, keywords, reading.never_true)
        return
    if verify:
        raise UsageError("--verify is for the folder that --update names; give both")
    if recount:
        raise UsageError("--recount is for parts of the folder that --update names; give both")
    with shown("counting"):
        source = sources[0] if len(sources) == 1 else sources
        outcomes = op.read(source, **keywords)
    outcomes = declared(outcomes, reading.never_true)
    if model_version and output is not None:
        _store_versions(output, model_version, outcomes.models)
    deliver(outcomes.to_json(), output)


def _store_versions(output: Path, texts: list[str], models: Sequence[str]) -> None:
    """Keep the versions of models beside a batch, where a monitor of its folder finds them."""
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
    """Count the partitions that a folder does not have yet, and say which."""
    if output is not None:
        raise UsageError("--update writes a folder and --output a file; give one of them")
    if never_true:
        raise UsageError("--never-true is asked of what was counted; give it to the gate instead")
    # Loaded late, so that help and completion stay fast.
    from outperform.findings import counted
    from outperform.io.addresses import Storage
    from outperform.io.formats import check_options
    from outperform.io.request import Request
    from outperform.io.store import update

    dialect = check_options(keywords.pop("dialect"))
    storage = Storage.of(keywords.pop("storage_options"))
    request = Request(**keywords, **dialect, storage_options=storage)
    with shown("counting"):
        done = update(folder, sources, request, version=__version__, recount=recount, verify=verify)
    for finding in done.findings:
        say(str(finding))
    lines = [f"{part.name}: {counted(part.items, 'items')}" for part in done.counted]
    lines.append(
        f"{counted(len(done.counted), 'partitions')} counted; {folder} holds "
        f"{counted(len(done.parts), 'partitions')}, {counted(done.items, 'items')}."
    )
    deliver("\n".join(lines), None)


def example(
    name: Annotated[str, typer.Argument(help="news20.", show_default=False)],
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
            metavar="WORD...", help="Terms such as rope, metrics, or findings.", show_default=False
        ),
    ],
) -> None:
    """Explain a term or a finding.

    Example: outperform explain rope hdi
    """
    from outperform.display.layout import stacked

    entries = [_explained(word) for word in words]  # all of them, before any is shown
    show(lambda page: stacked(*(_entry(page, *entry) for entry in entries)), None)


def _explained(word: str) -> tuple[str, str, str]:
    """Return the name of a term, metric or finding, what it means, and the page that says more."""
    from difflib import get_close_matches

    from outperform.display.cards import findings_explained, glossary
    from outperform.findings import TEMPLATES
    from outperform.metrics.registry import find

    terms, metrics, findings = glossary(), _metrics(), findings_explained()
    known = dict(terms)
    known |= {other: term for term in terms.values() for other in term.get("also", ())}
    asked = word.strip().lower()
    plain = asked.replace(" ", "_").replace("-", "_")
    if asked == "metrics":
        return "metrics", f"{', '.join(metrics)}.", "reference/metrics"
    term = known.get(plain) or known.get(asked)
    if term is not None:
        return term["name"], term["text"], term["page"]
    metric = find(asked)
    if metric is not None and metric.name in metrics:
        return metric.name, metrics[metric.name], "reference/metrics"
    if plain not in findings:
        others = get_close_matches(plain, [*metrics, *findings])  # all would be a long list
        raise UsageError(unknown_name("term, metric or finding", word, [*terms, *others]))
    variants = [template for template in TEMPLATES.values() if template.name == plain]
    mends = next(
        (f" {spelled_option(template.mends)} mends it." for template in variants if template.mends),
        "",
    )
    levels = " or ".join(dict.fromkeys(level for template in variants for level in template.levels))
    return f"{plain} ({levels})", findings[plain] + mends, "reference/findings"


def _metrics() -> dict[str, str]:
    """Return every metric and a sentence about it."""
    from outperform import metrics

    sentences: dict[str, str] = {}
    for name in (*metrics.names(), *metrics.set_names(), *metrics.score_names()):
        metric = metrics.get(name)
        low, high = metric.bounds or (float("-inf"), float("inf"))
        ends = {
            (True, True): f"It lies between {low:g} and {high:g}",
            (True, False): f"It is {low:g} or more",
            (False, True): f"It is {high:g} or less",
            (False, False): "It has the units of the data",
        }[low > float("-inf"), high < float("inf")]
        better = "more" if metric.greater_is_better else "less"
        label = metric.label[0].upper() + metric.label[1:]
        sentences[name] = f"{label}. {ends}, and {better} is better."
    return sentences


_REPOSITORY = "https://github.com/outperform/outperform"


def _entry(page: Page, name: str, text: str, where: str) -> list[Line]:
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        lines = metadata("outperform").get_all("Project-URL", [])
        urls = dict(line.split(", ", 1) for line in lines)
    except PackageNotFoundError:  # run from its sources
        urls = {}
    docs = urls.get("Documentation", "").rstrip("/")
    home = urls.get("Repository", _REPOSITORY).rstrip("/")
    link = f"{docs}/{where}.html" if docs else f"{home}/blob/main/docs/{where}.md"
    return [*page.text(name, style="strong"), *page.text(text), *page.text(link, style="dim")]


_DIALECT = {"encoding": "--encoding {}", "header": "--no-header"}


def spelled_option(name: str, values: tuple[object, ...] = ()) -> str:
    """Return how a parameter is typed, perhaps with values that it may be given.

    Examples
    --------
    >>> spelled_option("hdi_prob"), spelled_option("pos_label", ("ham", "not spam"))
    ('--hdi-prob', "--pos-label ham or 'not spam'")
    >>> spelled_option("models", (["bert", "gpt"],)), spelled_option("where", ({"country": "DE"},))
    ('--of bert --of gpt', '--where country=DE')
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
            several = [
                f"{column}={value}"
                for column, allowed in conditions.items()
                for value in (allowed if isinstance(allowed, list) else [allowed])
            ]
            return " ".join(f"{word} {shlex.quote(text)}" for text in several)
        case _, ([*several],):
            return " ".join(f"{word} {shlex.quote(str(value))}" for value in several)
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
        "bcv": compare.bcv,
        "sensitivity": compare.sensitivity,
        "report": gate.report,
    },
    "Gate": {"gate": gate.gate, "watch": gate.watch},
    "Plan": {"plan": plan.plan, "power": plan.power, "propose": plan.propose},
    "Data": {"count": count, "example": example},
    "Help": {"explain": explain},
}
COMMANDS = {name: command for some in _PANELS.values() for name, command in some.items()}

OPTIONS: dict[str, str] = {}
"""How each parameter of a command is typed, for messages that name it."""

for _panel, _commands in _PANELS.items():
    for _name, _command in _commands.items():
        _composed = composed(_command)
        for _parameter in inspect.signature(_composed).parameters.values():
            if (_option := _typed(_parameter)) is not None:
                OPTIONS[_parameter.name] = _option
        app.command(_name, cls=_Command, rich_help_panel=_panel)(guarded(_composed, spelled_option))


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
