"""Options shared by several commands, each declared once, and their help panels.

A command's parameter has the name of the corresponding library keyword, and the option is derived
from it: ``pos_label`` becomes ``--pos-label``. If the option has another name, the declaration
states it: ``n_draws`` becomes ``--draws``. Messages take option names from these declarations
(``spelled_option`` in ``app.py``).
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

PANELS = ("Models", "Data", "Files", "Scenario", "Analysis", "Computation", "Output")
# --help shows only these options; --help-all shows all options.
FIRST = frozenset({
    "--a", "--b", "--model", "--baseline", "--candidate", "--truth", "--by", "--metric",
    "--metrics", "--by-class", "--rope", "--stop", "--accuracies", "--agreement", "--theta-pos",
    "--theta-neg", "--sizes", "--budget", "--format", "--output", "--verbose", "--help-all",
    "--id", "--pos-label", "--guard", "--at-least", "--ledger",
})  # fmt: skip
in_models, in_data, in_files, in_scenario, in_analysis, in_computation, in_output = (
    partial(typer.Option, rich_help_panel=panel) for panel in PANELS
)

Format = Literal["text", "json", "markdown", "latex", "html", "github"]
FORMATS: tuple[Format, ...] = get_args(Format)
Missing = Literal["raise", "drop"]


def parse_int(text: str) -> int:
    """Parse an integer."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"it must be a whole number; got {text!r}") from None


def parse_seed(text: str) -> int:
    """Parse a random seed."""
    value = parse_int(text)
    if not 0 <= value < 2**64:
        raise typer.BadParameter(f"it must be a whole number from 0 to 2**64 - 1; got {text!r}")
    return value


def parse_share(text: str) -> float:
    """Parse a number from 0 to 1."""
    value = parse_number(text)
    if not 0 <= value <= 1:
        meant = f"; did you mean {value / 100:g}?" if 1 < value <= 100 else ""
        raise typer.BadParameter(f"it must lie between 0 and 1; got {text!r}{meant}")
    return value


def parse_number(text: str) -> float:
    """Parse a number."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"it must be a number such as 0.95; got {text!r}") from None


Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="Predictions: one table with one column per model, or a gold file plus one file per "
        "model, joined on --id. Tables are CSV, TSV, JSON Lines, Parquet or Arrow: a file, folder, "
        "s3:// URL, database URL, or - for stdin. Evaluation logs and files written by `outperform "
        "count` also work.",
        show_default=False,
    ),
]
Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="File, folder or glob pattern (local or s3://…), - for stdin, or a database URL.",
        show_default=False,
    ),
]

_A, _B, _OF = "Model A.", "Model B.", "Model."
NAME = "Column name, or file name if files are joined."
NamedA = Annotated[str | None, in_models(metavar="NAME", help=_A)]
NamedB = Annotated[str | None, in_models(metavar="NAME", help=_B)]
ModelA = Annotated[
    str | None,
    in_models(metavar="NAME", help=f"{_A} {NAME}"),
]
ModelB = Annotated[
    str | None,
    in_models(metavar="NAME", help=f"{_B} {NAME}"),
]
RunsOfA = Annotated[
    list[str] | None,
    in_models(metavar="NAME", help=f"{_A} {NAME} Repeat for each run."),
]
RunsOfB = Annotated[
    list[str] | None,
    in_models(metavar="NAME", help=f"{_B} {NAME} Repeat for each run."),
]
OneModel = Annotated[
    str | None,
    in_models("--model", metavar="NAME", help=f"{_OF} {NAME}"),
]
Models = Annotated[
    list[str] | None,
    in_models(
        "--model", metavar="NAME", help=f"{_OF} {NAME} Repeat for more models. Default: all."
    ),
]

NeverTrue = Annotated[
    list[str] | None,
    in_data(
        metavar="CLASS",
        help="Predicted class that is never true by design, e.g. refusal. Repeat for more classes.",
        show_default=False,
    ),
]
By = Annotated[
    list[str] | None,
    in_data(metavar="COLUMN", help="Column that defines slices. Repeat for more columns."),
]
ByTask = Annotated[
    list[str] | None,
    in_data(
        metavar="COLUMN",
        help="Column that defines tasks, over which the result is averaged. Repeat for more "
        "columns. For one result per slice, use outperform slices.",
    ),
]
Where = Annotated[
    list[str] | None,
    in_data(
        metavar="COLUMN=VALUE",
        help="Keep only rows where COLUMN equals VALUE. Repeat to allow more values or add "
        "columns.",
    ),
]


Encoding = Annotated[
    str,
    in_files(metavar="NAME", help="Encoding of text files."),
]

_METRIC = "Metric, as in scikit-learn."
NamedMetric = Annotated[str, in_analysis(metavar="NAME", help=_METRIC)]
Metric = Annotated[
    str | None,
    in_analysis(
        metavar="NAME",
        help=f"{_METRIC} Default: f1 if the positive class is clear, else f1_macro.",
    ),
]
Metrics = Annotated[
    str | None,
    in_analysis(
        metavar="NAMES",
        help="Comma-separated list of metrics. Default: accuracy,f1_macro,matthews_corrcoef; with "
        "--by-class f1_macro.",
    ),
]
Rope = Annotated[
    str | None,
    in_analysis(
        metavar="ROPE",
        help="Region of practical equivalence, e.g. 0.01 or -0.02,0.01. Default: ±0.01.",
    ),
]
PosLabel = Annotated[
    str | None,
    in_analysis(metavar="CLASS", help="Positive class."),
]
Labels = Annotated[
    str | None,
    in_analysis(metavar="CLASSES", help="Comma-separated list of classes to average over."),
]
SHARE = "Share of the positive class in production."
PositiveShare = Annotated[
    float | None,
    in_analysis(metavar="SHARE", help=SHARE, parser=parse_share),
]
Prior = Annotated[
    str | None,
    in_analysis(
        metavar="PRIOR",
        help="Prior: unit, uniform, jeffreys, hierarchical, learned, bootstrap, or a number (the "
        "prior count of each cell).",
    ),
]
Unpaired = Annotated[
    bool,
    in_analysis("--unpaired", help="Ignore that both models were tested on the same items."),
]

HdiProb = Annotated[
    float,
    in_computation(metavar="NUMBER", help="Probability mass of the HDI.", parser=parse_number),
]
Draws = Annotated[
    int,
    in_computation("--draws", metavar="NUMBER", help="Number of draws.", parser=parse_int),
]
SliceDraws = Annotated[
    int | None,
    in_computation(
        "--draws",
        metavar="NUMBER",
        help="Number of draws. Default: 4,000 per slice and 20,000 overall.",
        parser=parse_int,
        show_default=False,
    ),
]
ThetaPos = Annotated[
    str | None,
    in_scenario(
        metavar="NUMBERS",
        help="For positive items: shares predicted positive by both models, only A, only B, and "
        "neither. Example: .3,.3,.2,.2.",
    ),
]
ThetaNeg = Annotated[
    str | None,
    in_scenario(metavar="NUMBERS", help="The same for negative items."),
]
GOAL = "Goal: decided, or a decision such as ≫ or better."
PlanSimulations = Annotated[
    int | None,
    in_computation(
        "--simulations",
        metavar="NUMBER",
        help="Number of test sets to simulate. This is an upper limit. Default: 4,000; with a "
        "pilot, 400 or 100.",
        parser=parse_int,
    ),
]

Simulations = Annotated[
    int,
    in_computation(
        "--simulations",
        metavar="NUMBER",
        help="Number of test sets to simulate.",
        parser=parse_int,
    ),
]
Seed = Annotated[
    int,
    in_computation(
        "--seed",
        metavar="NUMBER",
        help="Random seed. The same seed gives identical output.",
        parser=parse_seed,
    ),
]

_OUTPUT = "Output file."
Output = Annotated[
    Path | None,
    in_output("--output", "-o", metavar="FILE", help=f"{_OUTPUT} Default: stdout."),
]
OutputOrFigure = Annotated[
    Path | None,
    in_output(
        "--output",
        "-o",
        metavar="FILE",
        help=f"{_OUTPUT} Default: stdout. Its ending sets the format: .html is a page; .png, .svg "
        "or .pdf is the figure.",
    ),
]
Page = Annotated[
    Path | None,
    in_output(metavar="FILE", help="Additional self-contained HTML file."),
]
OutputFile = Annotated[
    Path,
    in_output("--output", "-o", metavar="FILE", help=_OUTPUT),
]
Verbose = Annotated[
    bool,
    in_output(
        "--verbose",
        "-v",
        help="Show more numbers and the full signature: Bayes factor, P(> 0) and Monte Carlo "
        "error.",
    ),
]
Force = Annotated[
    bool,
    in_output("--force", help="Overwrite an existing file."),
]
