"""The options that commands share, each said once, in the groups that they come in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from outperform.outcomes import Outcomes, Scores

_DATA, _QUESTION, _ANSWER = "Data", "Question", "Answer"


class Format(StrEnum):
    """How the answer is written."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    LATEX = "latex"
    HTML = "html"
    GITHUB = "github"


class Missing(StrEnum):
    """What to do with documents that a file lacks."""

    REFUSE = "refuse"
    DROP = "drop"


class FileFormat(StrEnum):
    """What a file is, whatever its name says."""

    CSV = "csv"
    TSV = "tsv"
    JSONL = "jsonl"
    PARQUET = "parquet"
    ARROW = "arrow"


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
        help="One file or folder with a column per model (CSV, TSV, JSON Lines, Parquet; - for "
        "stdin), the address of a database, outcomes that `count` wrote, or one file per model and "
        "a gold file, called gold or named by --truth, joined on --id.",
        show_default=False,
    ),
]
Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A file, a folder, a pattern, - for stdin, or the address of a database.",
        show_default=False,
    ),
]
Truth = Annotated[
    str | None,
    typer.Option(
        help="The column with the true labels; of files joined on --id also the gold file.",
        rich_help_panel=_DATA,
    ),
]
Correct = Annotated[
    list[str] | None,
    typer.Option(
        "--correct",
        help="Instead of --truth: a column that says right or wrong, once for each model; in "
        "files joined on --id the one that each has.",
        metavar="COLUMN",
        rich_help_panel=_DATA,
    ),
]
ModelA = Annotated[str | None, typer.Option("--a", help="Model A.", rich_help_panel=_DATA)]
ModelB = Annotated[str | None, typer.Option("--b", help="Model B.", rich_help_panel=_DATA)]
RunsOfA = Annotated[
    list[str] | None,
    typer.Option("--a", help="A run of model A; again for another.", rich_help_panel=_DATA),
]
RunsOfB = Annotated[
    list[str] | None,
    typer.Option("--b", help="A run of model B; again for another.", rich_help_panel=_DATA),
]
OneModel = Annotated[
    str | None, typer.Option("--of", help="The model to estimate.", rich_help_panel=_DATA)
]
Id = Annotated[
    str | None,
    typer.Option("--id", help="The column that names a document.", rich_help_panel=_DATA),
]
LabelColumn = Annotated[
    str | None,
    typer.Option(
        "--label",
        help="The column with the labels, in files joined on --id.",
        rich_help_panel=_DATA,
    ),
]
LabelSeparator = Annotated[
    str | None,
    typer.Option(
        "--label-separator",
        help="What stands between the labels of a document, if it has several, e.g. '|'.",
        rich_help_panel=_DATA,
    ),
]
PoolFile = Annotated[
    str | None,
    typer.Option(
        "--pool",
        help="All documents, labelled or not, of which propose chose those to label.",
        rich_help_panel=_DATA,
    ),
]
OnMissing = Annotated[
    Missing,
    typer.Option(help="refuse or drop documents that a file lacks.", rich_help_panel=_DATA),
]
OnNull = Annotated[
    Missing,
    typer.Option(help="refuse or drop documents without a label.", rich_help_panel=_DATA),
]
NoHeader = Annotated[
    bool,
    typer.Option(
        "--no-header",
        help="The first row is data; the columns are called 0, 1, …",
        rich_help_panel=_DATA,
    ),
]
Encoding = Annotated[str, typer.Option(help="How text files are encoded.", rich_help_panel=_DATA)]
ReadAs = Annotated[
    FileFormat | None,
    typer.Option(help="What the files are, if their names do not say it.", rich_help_panel=_DATA),
]
Count = Annotated[
    str | None,
    typer.Option(
        help="The column that says how many items a row stands for.",
        metavar="COLUMN",
        rich_help_panel=_DATA,
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(
        help="The column that says how much an item matters, e.g. 1 / its sampling probability.",
        metavar="COLUMN",
        rich_help_panel=_DATA,
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        help="The column that names the group of each document, e.g. its author; one weight each.",
        metavar="COLUMN",
        rich_help_panel=_DATA,
    ),
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        help="Keep the rows with COLUMN=VALUE; again with the same column for another value.",
        metavar="COLUMN=VALUE",
        rich_help_panel=_DATA,
    ),
]
TableName = Annotated[
    str | None, typer.Option("--table", help="The table of a database.", rich_help_panel=_DATA)
]
Query = Annotated[
    str | None,
    typer.Option(help="A SELECT of a database, instead of a table.", rich_help_panel=_DATA),
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        help="A column that divides the documents; again for another.",
        metavar="COLUMN",
        rich_help_panel=_DATA,
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--of",
        help="A column of predictions; again for another model. All other columns by default.",
        metavar="COLUMN",
        rich_help_panel=_DATA,
    ),
]
Verify = Annotated[
    bool,
    typer.Option(
        "--verify",
        help="Compare the pages of Parquet files with their checksums.",
        rich_help_panel=_DATA,
    ),
]
Isolate = Annotated[
    bool,
    typer.Option(
        "--isolate",
        help="Read files in a process of its own, which a damaged one may crash.",
        rich_help_panel=_DATA,
    ),
]
Confusion = Annotated[
    bool,
    typer.Option(
        "--confusion",
        help="The files are confusion matrices, rows the truth.",
        rich_help_panel=_DATA,
    ),
]
Metric = Annotated[
    str | None,
    typer.Option(
        help="scikit-learn's name of the metric; by default f1 where the positive class is clear, "
        "f1_macro where it is not.",
        rich_help_panel=_QUESTION,
    ),
]
NamedMetric = Annotated[
    str, typer.Option(help="scikit-learn's name of the metric.", rich_help_panel=_QUESTION)
]
Cost = Annotated[
    str | None,
    typer.Option(
        "--cost",
        metavar="TRUTH:PREDICTION=COST,…",
        help="Instead of a metric, what mistakes cost: fraud:ok=100,ok:fraud=5. The rest is free.",
        rich_help_panel=_QUESTION,
        show_default=False,
    ),
]
Unit = Annotated[
    str | None,
    typer.Option("--unit", help="What the costs are in, such as EUR.", rich_help_panel=_QUESTION),
]
Metrics = Annotated[
    str | None,
    typer.Option(
        "--metrics",
        help="Metrics, with commas between; accuracy,f1_macro,matthews_corrcoef by default.",
        rich_help_panel=_QUESTION,
    ),
]
Rope = Annotated[
    str | None,
    typer.Option(
        help="Region of practical equivalence: 0.01, or -0.02,0.01. ±0.01 by default.",
        rich_help_panel=_QUESTION,
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(help="Classes to average over, with commas.", rich_help_panel=_QUESTION),
]
PosLabel = Annotated[
    str | None, typer.Option(help="The positive class.", rich_help_panel=_QUESTION)
]
Prevalence = Annotated[
    str | None,
    typer.Option(
        help="Class proportions in production: 0.02, fraud=0.02, or counts fraud=20,ok=980.",
        metavar="SHARES",
        rich_help_panel=_QUESTION,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model", help="flat, unit, hierarchical, free or bootstrap.", rich_help_panel=_QUESTION
    ),
]
Prior = Annotated[
    str | None,
    typer.Option(help="Of model flat: uniform, jeffreys or a number.", rich_help_panel=_QUESTION),
]
Unpaired = Annotated[
    bool,
    typer.Option(
        "--unpaired", help="Do not use that the documents are the same.", rich_help_panel=_QUESTION
    ),
]
HdiProb = Annotated[
    float,
    typer.Option(
        help="The mass of the interval.", rich_help_panel=_QUESTION, parser=real, metavar="NUMBER"
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
Seed = Annotated[
    int | None,
    typer.Option(
        help="Makes the draws repeatable.",
        rich_help_panel=_ANSWER,
        parser=seed,
        metavar="NUMBER",
    ),
]
OutputFormat = Annotated[
    Format, typer.Option("--format", "-f", help="How to write it.", rich_help_panel=_ANSWER)
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write to this file.", rich_help_panel=_ANSWER),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ungrouped:
    """How one table is to be read whose items are taken one by one."""

    truth: Truth = None
    correct: Correct = None
    id: Id = None
    count: Count = None
    where: Where = None
    table: TableName = None
    query: Query = None
    on_null: OnNull = Missing.REFUSE
    no_header: NoHeader = False
    encoding: Encoding = "utf-8"
    read_as: ReadAs = None
    verify: Verify = False
    isolate: Isolate = False

    def asked(self) -> dict[str, Any]:
        """Return what can be asked of one table."""
        from outperform.cli.reading import where_of

        return {
            "id": self.id,
            "correct": self.correct,
            "count": self.count,
            "where": where_of(self.where),
            "table": self.table,
            "query": self.query,
            "isolate": self.isolate,
        }

    def dialect(self) -> dict[str, Any]:
        """Return what the readers of tables take."""
        return {
            "header": not self.no_header,
            "encoding": self.encoding,
            "format": None if self.read_as is None else self.read_as.value,
            "verify": self.verify,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class OneTable(Ungrouped):
    """How one table is to be read."""

    weight: Weight = None
    groups: Groups = None

    def asked(self) -> dict[str, Any]:
        """Return what can be asked of one table."""
        return {**Ungrouped.asked(self), "weight": self.weight, "groups": self.groups}


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined(OneTable):
    """How one table, or several that are joined, are to be read."""

    label: LabelColumn = None
    label_separator: LabelSeparator = None
    on_missing: OnMissing = Missing.REFUSE

    @property
    def confusion(self) -> bool:
        """Whether the files are confusion matrices, for commands that take them."""
        return False

    @property
    def pool(self) -> str | None:
        """Where all items of a pool are, for commands that take one."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading(Joined):
    """How the files are to be read, be it one table, several that are joined, or matrices."""

    confusion: Confusion = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingTwo(Reading):
    """The same, of two models whose labelled items may have been chosen from a pool."""

    pool: PoolFile = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pricing:
    """What mistakes cost, if that is what counts."""

    cost: Cost = None
    unit: Unit = None

    def metric(self, seen: Outcomes | Scores, metric: str | None) -> Any:
        """Return the metric that was named, or the cost that was given instead."""
        from outperform.cli.pricing import priced

        return priced(seen, metric, self.cost, self.unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingRuns:
    """What every question can be asked with."""

    labels: Labels = None
    pos_label: PosLabel = None
    model: Model = None
    hdi_prob: HdiProb = 0.95
    draws: Draws = 20_000
    seed: Seed = None

    def arguments(self, seen: Outcomes | Scores) -> dict[str, Any]:
        """Return what the functions of the library take."""
        from outperform.cli.reading import label_of, labels_of

        return {
            "labels": labels_of(seen, self.labels),
            "pos_label": label_of(seen, self.pos_label),
            "model": self.model,
            "hdi_prob": self.hdi_prob,
            "n_draws": self.draws,
            "random_state": self.seed,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking(AskingRuns):
    """The same, with a prior, and where models may be used on other class proportions."""

    prior: Prior = None
    prevalence: Prevalence = None

    def arguments(self, seen: Outcomes | Scores) -> dict[str, Any]:
        """Return what the functions of the library take."""
        from outperform.cli.reading import prevalence_of, prior_of

        prevalence = prevalence_of(seen, self.prevalence)
        return {
            **AskingRuns.arguments(self, seen),  # slots leave super() without its class
            **({} if prevalence is None else {"prevalence": prevalence}),
            "prior": prior_of(self.prior),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """How the answer is to be written, and where."""

    style: OutputFormat = Format.TEXT
    output: Output = None
