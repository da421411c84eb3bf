"""The options that commands share, each said once, in the groups that they come in."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from outperform.io.catalogue import LOGS
from outperform.io.formats import FORMATS

PANELS = ("Models", "Data", "Files", "World", "Question", "Answer", "Output")
# What -h shows, of those that a command has; --help shows all.
FIRST = frozenset({
    "--a", "--b", "--of", "--baseline", "--candidate", "--truth", "--by", "--metric",
    "--metrics", "--by-class", "--rope", "--stop", "--accuracies", "--agreement", "--theta-pos",
    "--theta-neg", "--sizes", "--budget", "--seed", "--format", "--output", "--verbose",
})  # fmt: skip
_MODELS, _DATA, _FILES, _WORLD, _QUESTION, _ANSWER, _OUTPUT = PANELS


class Format(StrEnum):
    """How the answer is written."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    LATEX = "latex"
    HTML = "html"
    GITHUB = "github"


class Missing(StrEnum):
    """What to do with items that a file lacks."""

    RAISE = "raise"
    DROP = "drop"


def whole(text: str) -> int:
    """Read a whole number; the complaint says what it got."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"it must be a whole number; got {text!r}") from None


def seed(text: str) -> int:
    """Read what numpy takes for a seed."""
    value = whole(text)
    if not 0 <= value < 2**64:
        raise typer.BadParameter(f"it must be a whole number from 0 to 2**64 - 1; got {text!r}")
    return value


def share(text: str) -> float:
    """Read a number from 0 to 1."""
    value = real(text)
    if not 0 <= value <= 1:
        raise typer.BadParameter(f"it must lie between 0 and 1; got {text!r}")
    return value


def real(text: str) -> float:
    """Read a number; the complaint says what it got."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"it must be a number such as 0.95; got {text!r}") from None


Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="One table with a column a model: a file or folder of CSV, TSV, JSON Lines, Parquet "
        "or Arrow, here or at s3://…, - for stdin, or the address of a database. Or a file a "
        "model, and one called gold or named by --truth, joined on --id. Or evaluation logs, with "
        "--read-as. Or counts, as `count` writes them.",
        show_default=False,
    ),
]
Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A file, folder or pattern, here or at s3://…; - for stdin; or a database's address.",
        show_default=False,
    ),
]

_A, _B, _OF = "Model A.", "Model B.", "A model."
_WHERE = "Its column, or its file's name."
NamedA = Annotated[
    str | None, typer.Option("--a", help=_A, metavar="NAME", rich_help_panel=_MODELS)
]
NamedB = Annotated[
    str | None, typer.Option("--b", help=_B, metavar="NAME", rich_help_panel=_MODELS)
]
ModelA = Annotated[
    str | None,
    typer.Option("--a", help=f"{_A} {_WHERE}", metavar="NAME", rich_help_panel=_MODELS),
]
ModelB = Annotated[
    str | None,
    typer.Option("--b", help=f"{_B} {_WHERE}", metavar="NAME", rich_help_panel=_MODELS),
]
RunsOfA = Annotated[
    list[str] | None,
    typer.Option(
        "--a", help=f"{_A} {_WHERE} Once for each run.", metavar="NAME", rich_help_panel=_MODELS
    ),
]
RunsOfB = Annotated[
    list[str] | None,
    typer.Option(
        "--b", help=f"{_B} {_WHERE} Once for each run.", metavar="NAME", rich_help_panel=_MODELS
    ),
]
OneModel = Annotated[
    str | None,
    typer.Option("--of", help=f"{_OF} {_WHERE}", metavar="NAME", rich_help_panel=_MODELS),
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--of",
        help=f"{_OF} {_WHERE} Again for another; all by default.",
        metavar="NAME",
        rich_help_panel=_MODELS,
    ),
]

Truth = Annotated[
    str | None,
    typer.Option(
        help="The true labels: a column, or the name of the gold file.",
        metavar="COLUMN",
        rich_help_panel=_DATA,
    ),
]
Correct = Annotated[
    list[str] | None,
    typer.Option(
        "--correct",
        help="Instead of --truth: a column that says right or wrong, once for each model, or the "
        "one in each joined file.",
        metavar="COLUMN",
        rich_help_panel=_DATA,
    ),
]
Id = Annotated[
    str | None,
    typer.Option(
        "--id",
        help="Names each item; files are joined on it.",
        metavar="COLUMN",
        rich_help_panel=_DATA,
    ),
]
ModelColumn = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="Names the model of each row, with --read-as long.",
        metavar="COLUMN",
        rich_help_panel=_DATA,
    ),
]
Score = Annotated[
    str | None,
    typer.Option(
        "--score",
        help="The score to read in evaluation logs, or one per task, arc=acc,gsm8k=exact; its "
        "column with --read-as long.",
        metavar="NAME",
        rich_help_panel=_DATA,
    ),
]
SkipFailed = Annotated[
    bool,
    typer.Option(
        "--skip-failed",
        help="Leave out logs of evaluations that failed.",
        rich_help_panel=_DATA,
    ),
]
Latest = Annotated[
    bool,
    typer.Option(
        "--latest",
        help="Keep the newest log of the same model and task.",
        rich_help_panel=_DATA,
    ),
]
LabelColumn = Annotated[
    str | None,
    typer.Option(
        "--label", help="The labels in joined files.", metavar="COLUMN", rich_help_panel=_DATA
    ),
]
NeverTrue = Annotated[
    list[str] | None,
    typer.Option(
        "--never-true",
        help="A class that is predicted and meant never to be true, e.g. refusal; again for more.",
        metavar="CLASS",
        rich_help_panel=_DATA,
        show_default=False,
    ),
]
LabelSeparator = Annotated[
    str | None,
    typer.Option(
        "--label-separator",
        help="Stands between the labels of an item that has several, e.g. '|'.",
        metavar="TEXT",
        rich_help_panel=_DATA,
    ),
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        help="Divides the items into slices or tasks; again for another.",
        metavar="COLUMN",
        rich_help_panel=_DATA,
    ),
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        help="Keep these rows; the same column again for another value.",
        metavar="COLUMN=VALUE",
        rich_help_panel=_DATA,
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        help="Names the group of each item, e.g. its author; one weight each.",
        metavar="COLUMN",
        rich_help_panel=_DATA,
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(
        help="How much an item matters, e.g. 1 / its sampling probability.",
        metavar="COLUMN",
        rich_help_panel=_DATA,
    ),
]
Count = Annotated[
    str | None,
    typer.Option(help="How many items a row stands for.", metavar="COLUMN", rich_help_panel=_DATA),
]
PoolFile = Annotated[
    str | None,
    typer.Option(
        "--pool",
        help="All items, labelled or not, of which `propose` chose those to label.",
        metavar="FILE",
        rich_help_panel=_DATA,
    ),
]
OnNull = Annotated[
    Missing,
    typer.Option(
        help="Rows with a missing value, such as an empty field: raise an error or drop.",
        metavar="CHOICE",
        rich_help_panel=_DATA,
    ),
]
NaValues = Annotated[
    list[str] | None,
    typer.Option(
        "--na",
        help="A text that means a missing value, such as NA. Repeat for more texts.",
        metavar="TEXT",
        rich_help_panel=_DATA,
    ),
]
NoNa = Annotated[
    bool,
    typer.Option(
        "--no-na",
        help="No text means a missing value: NA, nan and null are labels.",
        rich_help_panel=_DATA,
    ),
]
EmptyIsLabel = Annotated[
    bool,
    typer.Option(
        "--empty-is-label",
        help="An empty field is a label, not a missing value.",
        rich_help_panel=_DATA,
    ),
]
OnMissing = Annotated[
    Missing,
    typer.Option(
        help="Items that a joined file lacks: raise an error or drop.",
        metavar="CHOICE",
        rich_help_panel=_DATA,
    ),
]


def format_name(text: str) -> str:
    """Read the name of a format; plug-ins are searched for those that are not built in."""
    if text not in FORMATS and text not in LOGS:
        known = ", ".join(map(repr, (*FORMATS, *LOGS.names())))
        raise typer.BadParameter(f"{text!r} is not one of {known}.")
    return text


def format_names(incomplete: str) -> list[str]:
    """Return the formats that a shell can complete a name to."""
    return [name for name in (*FORMATS, *LOGS.names()) if name.startswith(incomplete)]


ReadAs = Annotated[
    str | None,
    typer.Option(
        parser=format_name,
        autocompletion=format_names,
        help=f"{', '.join(FORMATS)}, if names do not say it; for evaluation logs "
        f"{', '.join(name for name in LOGS.built_in if name != 'long')}; "
        "long for one row per item and model.",
        metavar="KIND",
        rich_help_panel=_FILES,
    ),
]
Encoding = Annotated[
    str,
    typer.Option(help="How text files are encoded.", metavar="NAME", rich_help_panel=_FILES),
]
NoHeader = Annotated[
    bool,
    typer.Option(
        "--no-header",
        help="The first row is data; columns are called 0, 1, …",
        rich_help_panel=_FILES,
    ),
]
TableName = Annotated[
    str | None,
    typer.Option(
        "--table", help="The table of a database.", metavar="NAME", rich_help_panel=_FILES
    ),
]
Query = Annotated[
    str | None,
    typer.Option(
        help="A SELECT of a database, instead of a table.", metavar="SQL", rich_help_panel=_FILES
    ),
]
_STORE = "A JSON file that says how to reach s3://, gs:// or abfs://: keys, region, …"
StorageOptions = Annotated[
    str | None, typer.Option(help=_STORE, metavar="FILE", rich_help_panel=_FILES)
]
Confusion = Annotated[
    bool,
    typer.Option(
        "--confusion",
        help="Files are confusion matrices, rows the truth.",
        rich_help_panel=_FILES,
    ),
]

_METRIC = "scikit-learn's name of the metric."
NamedMetric = Annotated[str, typer.Option(help=_METRIC, metavar="NAME", rich_help_panel=_QUESTION)]
Metric = Annotated[
    str | None,
    typer.Option(
        help=f"{_METRIC} By default f1 where the positive class is clear, else f1_macro.",
        metavar="NAME",
        rich_help_panel=_QUESTION,
    ),
]
Metrics = Annotated[
    str | None,
    typer.Option(
        "--metrics",
        help="Metrics, with commas. By default accuracy,f1_macro,matthews_corrcoef; with "
        "--by-class f1_macro.",
        metavar="NAMES",
        rich_help_panel=_QUESTION,
    ),
]
Cost = Annotated[
    str | None,
    typer.Option(
        "--cost",
        metavar="COSTS",
        help="Instead of a metric, what mistakes cost, as truth:prediction: "
        "fraud:ok=100,ok:fraud=5. The rest is free.",
        rich_help_panel=_QUESTION,
        show_default=False,
    ),
]
Unit = Annotated[
    str | None,
    typer.Option(
        "--unit", help="What costs are in, e.g. EUR.", metavar="TEXT", rich_help_panel=_QUESTION
    ),
]
Rope = Annotated[
    str | None,
    typer.Option(
        help="Region of practical equivalence, 0.01 or -0.02,0.01. ±0.01 by default.",
        metavar="ROPE",
        rich_help_panel=_QUESTION,
    ),
]
PosLabel = Annotated[
    str | None,
    typer.Option(help="The positive class.", metavar="CLASS", rich_help_panel=_QUESTION),
]
Labels = Annotated[
    str | None,
    typer.Option(
        help="Classes to average over, with commas.", metavar="CLASSES", rich_help_panel=_QUESTION
    ),
]
_SHARE = "The share of the positive class in production."
Prevalence = Annotated[
    str | None,
    typer.Option(
        help=f"{_SHARE} Or of each: fraud=0.02, or counts fraud=20,ok=980.",
        metavar="SHARE",
        rich_help_panel=_QUESTION,
    ),
]
PositiveShare = Annotated[
    float | None,
    typer.Option(
        "--prevalence",
        help=_SHARE,
        parser=share,
        metavar="SHARE",
        rich_help_panel=_QUESTION,
    ),
]
Prior = Annotated[
    str | None,
    typer.Option(
        help="unit, uniform, jeffreys, hierarchical, learned, bootstrap, or a number a cell.",
        metavar="PRIOR",
        rich_help_panel=_QUESTION,
    ),
]
Unpaired = Annotated[
    bool,
    typer.Option(
        "--unpaired", help="As if each model had items of its own.", rich_help_panel=_QUESTION
    ),
]

HdiProb = Annotated[
    float,
    typer.Option(
        help="The mass of the interval.", rich_help_panel=_ANSWER, parser=real, metavar="NUMBER"
    ),
]
Draws = Annotated[
    int,
    typer.Option(
        "--draws",
        help="How many draws.",
        rich_help_panel=_ANSWER,
        parser=whole,
        metavar="NUMBER",
    ),
]
SliceDraws = Annotated[
    int | None,
    typer.Option(
        "--draws",
        help="How many draws. Of each slice and of the whole; by default 4,000 and 20,000.",
        rich_help_panel=_ANSWER,
        parser=whole,
        metavar="NUMBER",
        show_default=False,
    ),
]
ThetaPos = Annotated[
    str | None,
    typer.Option(
        help="In positive items, how probably A and B say positive: both, A only, B only, "
        "neither; e.g. .3,.3,.2,.2.",
        metavar="NUMBERS",
        rich_help_panel=_WORLD,
    ),
]
ThetaNeg = Annotated[
    str | None,
    typer.Option(help="The same in negative items.", metavar="NUMBERS", rich_help_panel=_WORLD),
]
GOAL = "decided, or a decision such as ≫ or better."
PlanSimulations = Annotated[
    int | None,
    typer.Option(
        "--simulations",
        help="How many test sets to simulate. At most; by default 4,000, with a pilot 400 or 100.",
        rich_help_panel=_ANSWER,
        parser=whole,
        metavar="NUMBER",
    ),
]

Simulations = Annotated[
    int,
    typer.Option(
        help="How many test sets to simulate.",
        rich_help_panel=_ANSWER,
        parser=whole,
        metavar="NUMBER",
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        help="Of the draws; the same one gives the same digits.",
        rich_help_panel=_ANSWER,
        parser=seed,
        metavar="NUMBER",
    ),
]

OutputFormat = Annotated[
    Format,
    typer.Option(
        "--format",
        "-f",
        help="text, json, markdown, latex, html or github.",
        metavar="FORMAT",
        rich_help_panel=_OUTPUT,
    ),
]
_TO = "Write to this file."
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help=_TO, metavar="FILE", rich_help_panel=_OUTPUT),
]
Page = Annotated[
    Path | None,
    typer.Option(
        "--report",
        help="Also write the answer as an HTML page that works offline.",
        metavar="FILE",
        rich_help_panel=_OUTPUT,
    ),
]
OutputFile = Annotated[
    Path,
    typer.Option("--output", "-o", help=_TO, metavar="FILE", rich_help_panel=_OUTPUT),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Also the Bayes factor, P(> 0), the Monte Carlo error and the full signature.",
        rich_help_panel=_OUTPUT,
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Overwrite the file if it is there.", rich_help_panel=_OUTPUT),
]
