"""The options that commands share, each declared once, and the help panels they stand in.

A parameter of a command has the name of the keyword of the library that it becomes, and the option
follows from it: ``pos_label`` is ``--pos-label``. Where people type another word, the declaration
names it: ``n_draws`` is ``--draws``. Messages spell parameters by the same declarations
(``spelled_option`` in ``app.py``).
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

PANELS = ("Models", "Data", "Files", "World", "Question", "Answer", "Output")
# What -h shows, of those that a command has; --help shows all.
FIRST = frozenset({
    "--a", "--b", "--of", "--baseline", "--candidate", "--truth", "--by", "--metric",
    "--metrics", "--by-class", "--rope", "--stop", "--accuracies", "--agreement", "--theta-pos",
    "--theta-neg", "--sizes", "--budget", "--seed", "--format", "--output", "--verbose",
})  # fmt: skip
in_models, in_data, in_files, in_world, in_question, in_answer, in_output = (
    partial(typer.Option, rich_help_panel=panel) for panel in PANELS
)

Format = Literal["text", "json", "markdown", "latex", "html", "github"]
Missing = Literal["raise", "drop"]


def parse_int(text: str) -> int:
    """Read a whole number; the complaint says what it got."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"it must be a whole number; got {text!r}") from None


def parse_seed(text: str) -> int:
    """Read what numpy takes for a seed."""
    value = parse_int(text)
    if not 0 <= value < 2**64:
        raise typer.BadParameter(f"it must be a whole number from 0 to 2**64 - 1; got {text!r}")
    return value


def parse_share(text: str) -> float:
    """Read a number from 0 to 1."""
    value = parse_number(text)
    if not 0 <= value <= 1:
        raise typer.BadParameter(f"it must lie between 0 and 1; got {text!r}")
    return value


def parse_number(text: str) -> float:
    """Read a number; the complaint says what it got."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"it must be a number such as 0.95; got {text!r}") from None


Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="Predictions: one table with one column per model (CSV, TSV, JSON Lines, Parquet or "
        "Arrow; a file, folder, s3:// URL, database URL, or - for stdin); or a gold file plus one "
        "file per model, joined on --id; or evaluation logs; or files written by `outperform "
        "count`.",
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
_WHERE = "Column name, or file name if files are joined."
NamedA = Annotated[str | None, in_models(metavar="NAME", help=_A)]
NamedB = Annotated[str | None, in_models(metavar="NAME", help=_B)]
ModelA = Annotated[
    str | None,
    in_models(metavar="NAME", help=f"{_A} {_WHERE}"),
]
ModelB = Annotated[
    str | None,
    in_models(metavar="NAME", help=f"{_B} {_WHERE}"),
]
RunsOfA = Annotated[
    list[str] | None,
    in_models(metavar="NAME", help=f"{_A} {_WHERE} Once for each run."),
]
RunsOfB = Annotated[
    list[str] | None,
    in_models(metavar="NAME", help=f"{_B} {_WHERE} Once for each run."),
]
OneModel = Annotated[
    str | None,
    in_models("--of", metavar="NAME", help=f"{_OF} {_WHERE}"),
]
Models = Annotated[
    list[str] | None,
    in_models("--of", metavar="NAME", help=f"{_OF} {_WHERE} Repeat for more models. Default: all."),
]

NeverTrue = Annotated[
    list[str] | None,
    in_data(
        metavar="CLASS",
        help="A class that is predicted and meant never to be true, e.g. refusal; again for more.",
        show_default=False,
    ),
]
By = Annotated[
    list[str] | None,
    in_data(metavar="COLUMN", help="Column that defines slices or tasks. Repeat for more columns."),
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
    in_files(metavar="NAME", help="How text files are encoded."),
]

_METRIC = "Metric, by its scikit-learn name."
NamedMetric = Annotated[str, in_question(metavar="NAME", help=_METRIC)]
Metric = Annotated[
    str | None,
    in_question(
        metavar="NAME",
        help=f"{_METRIC} By default f1 where the positive class is clear, else f1_macro.",
    ),
]
Metrics = Annotated[
    str | None,
    in_question(
        metavar="NAMES",
        help="Metrics, with commas. By default accuracy,f1_macro,matthews_corrcoef; with "
        "--by-class f1_macro.",
    ),
]
Rope = Annotated[
    str | None,
    in_question(
        metavar="ROPE",
        help="Region of practical equivalence, 0.01 or -0.02,0.01. ±0.01 by default.",
    ),
]
PosLabel = Annotated[
    str | None,
    in_question(metavar="CLASS", help="The positive class."),
]
Labels = Annotated[
    str | None,
    in_question(metavar="CLASSES", help="Comma-separated list of classes to average over."),
]
SHARE = "Share of the positive class in production."
PositiveShare = Annotated[
    float | None,
    in_question(metavar="SHARE", help=SHARE, parser=parse_share),
]
Prior = Annotated[
    str | None,
    in_question(
        metavar="PRIOR",
        help="unit, uniform, jeffreys, hierarchical, learned, bootstrap, or a number a cell.",
    ),
]
Unpaired = Annotated[
    bool,
    in_question("--unpaired", help="Ignore that both models were tested on the same items."),
]

HdiProb = Annotated[
    float,
    in_answer(metavar="NUMBER", help="Probability mass of the HDI.", parser=parse_number),
]
Draws = Annotated[
    int,
    in_answer("--draws", metavar="NUMBER", help="How many draws.", parser=parse_int),
]
SliceDraws = Annotated[
    int | None,
    in_answer(
        "--draws",
        metavar="NUMBER",
        help="How many draws. Of each slice and of the whole; by default 4,000 and 20,000.",
        parser=parse_int,
        show_default=False,
    ),
]
ThetaPos = Annotated[
    str | None,
    in_world(
        metavar="NUMBERS",
        help="In positive items, how probably A and B say positive: both, A only, B only, "
        "neither; e.g. .3,.3,.2,.2.",
    ),
]
ThetaNeg = Annotated[
    str | None,
    in_world(metavar="NUMBERS", help="The same in negative items."),
]
GOAL = "decided, or a decision such as ≫ or better."
PlanSimulations = Annotated[
    int | None,
    in_answer(
        "--simulations",
        metavar="NUMBER",
        help="How many test sets to simulate. At most; by default 4,000, with a pilot 400 or 100.",
        parser=parse_int,
    ),
]

Simulations = Annotated[
    int,
    in_answer(
        "--simulations", metavar="NUMBER", help="How many test sets to simulate.", parser=parse_int
    ),
]
Seed = Annotated[
    int,
    in_answer(
        "--seed",
        metavar="NUMBER",
        help="Random seed. The same seed gives identical output.",
        parser=parse_seed,
    ),
]

_TO = "Write to this file."
Output = Annotated[
    Path | None,
    in_output("--output", "-o", metavar="FILE", help=_TO),
]
Page = Annotated[
    Path | None,
    in_output(metavar="FILE", help="Also write the answer as an HTML page that works offline."),
]
OutputFile = Annotated[
    Path,
    in_output("--output", "-o", metavar="FILE", help=_TO),
]
Verbose = Annotated[
    bool,
    in_output(
        "--verbose",
        "-v",
        help="Also the Bayes factor, P(> 0), the Monte Carlo error and the full signature.",
    ),
]
Force = Annotated[
    bool,
    in_output("--force", help="Overwrite the file if it is there."),
]
