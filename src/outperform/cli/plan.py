"""``plan``, ``power``, ``noise`` and ``propose``."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import outperform as op
from outperform._files import write_atomically
from outperform.cli import groups as g
from outperform.cli import options as o
from outperform.cli.exit_codes import shown
from outperform.cli.groups import deliver, show, write_result
from outperform.cli.inputs import (
    Joined,
    label_of,
    labels_of,
    needed_columns,
    prior_of,
    read_runs,
    read_seen,
    rope_of,
)
from outperform.cli.tasks import Tasks
from outperform.errors import DataError, UsageError, unknown_name

_OUTCOMES = ("11", "10", "01", "00")


Pilot = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PILOT]",
        help="Pilot data: labelled items, in files as for compare.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Assumptions that replace a pilot."""

    accuracies: Annotated[
        str | None,
        o.in_scenario(metavar="NUMBERS", help="Assumed accuracies of A and B, e.g. .9,.88."),
    ] = None
    agreement: Annotated[
        float | None,
        o.in_scenario(
            metavar="SHARE",
            help="Share of items both get right or both wrong. Use with --accuracies.",
            parser=o.parse_share,
        ),
    ] = None
    theta_pos: o.ThetaPos = None
    theta_neg: o.ThetaNeg = None
    prevalence: o.PositiveShare = None

    def arguments(self) -> dict[str, object]:
        """Return the keyword arguments of ``op.plan``."""
        keywords: dict[str, object] = {"agreement": self.agreement, "prevalence": self.prevalence}
        if self.accuracies is not None:
            keywords["accuracies"] = _numbers(self.accuracies, "--accuracies", 2)
        for name, text in (("theta_pos", self.theta_pos), ("theta_neg", self.theta_neg)):
            if text is not None:
                keywords[name] = _outcomes(text, f"--{name.replace('_', '-')}")
        return keywords


def plan(
    files: Pilot = None,
    a: o.ModelA = None,
    b: o.ModelB = None,
    goal: Annotated[
        str,
        o.in_analysis(metavar="GOAL", help=f"{o.GOAL} Or not_worse."),
    ] = "decided",
    target: Annotated[
        float,
        o.in_analysis(
            metavar="SHARE", help="Probability of reaching the goal.", parser=o.parse_share
        ),
    ] = 0.8,
    max_items: Annotated[
        int,
        o.in_analysis(metavar="NUMBER", help="Largest test set to consider.", parser=o.parse_int),
    ] = 1_000_000,
    metric: o.Metric = None,
    rope: o.Rope = None,
    unpaired: o.Unpaired = False,
    labels: o.Labels = None,
    pos_label: o.PosLabel = None,
    prior: o.Prior = None,
    hdi_prob: o.HdiProb = 0.95,
    n_simulations: o.PlanSimulations = None,
    random_state: o.Seed = 0,
    *,
    scenario: Scenario,
    tasks: Tasks,
    reading: g.Reading,
    writing: g.Writing,
) -> None:
    """Estimate how many items a decision needs.

    Base the plan on a pilot, on two accuracies and an agreement rate, or on outcome probabilities.
    With --by, the plan is for the mean over tasks, which all grow alike.

    Example: outperform plan preds.csv --truth label --a bert --b gpt --rope 0.02
    """
    keywords: dict[str, Any] = {
        "scenario": scenario.arguments(),
        "labels": labels,
        "pos_label": pos_label,
        "metric": metric,
        "rope": rope_of(rope) if not tasks.by else None,
    }
    suite = tasks.suite(files or [], [a, b], reading, metric, rope) if files else None
    if suite is not None:
        keywords |= {"pilot": suite, "a": suite.models[0], "b": suite.models[1], "metric": None}
        keywords["pos_label"] = label_of(next(iter(suite.tasks.values())), pos_label)
    elif files:
        pilot = read_seen(files, [a, b], reading, [metric])
        keywords |= {"pilot": pilot, "a": pilot.models[0], "b": pilot.models[1]}
        keywords |= {"labels": labels_of(pilot, labels), "pos_label": label_of(pilot, pos_label)}
    elif (a, b) != (None, None) or reading != g.Reading() or tasks != Tasks():
        raise UsageError(
            "these options apply to a pilot file, but none was given; add the file or remove the "
            "options"
        )
    with shown("simulating"):
        result = op.plan(
            **keywords,
            goal=goal,
            target=target,
            max_items=max_items,
            paired=not unpaired,
            prior=prior_of(prior),
            hdi_prob=hdi_prob,
            n_simulations=n_simulations,
            random_state=random_state,
            n_jobs=-1,
        )
    write_result(result, writing)


def power(
    theta_pos: o.ThetaPos,
    theta_neg: o.ThetaNeg,
    prevalence: o.PositiveShare = 0.5,
    sizes: Annotated[
        str,
        o.in_analysis(metavar="NUMBERS", help="Comma-separated list of test set sizes."),
    ] = "500,1000,2000",
    goal: Annotated[str, o.in_analysis(metavar="GOAL", help=o.GOAL)] = "decided",
    metric: o.NamedMetric = "f1",
    rope: o.Rope = None,
    unpaired: o.Unpaired = False,
    prior: o.Prior = None,
    hdi_prob: o.HdiProb = 0.95,
    n_simulations: o.Simulations = 2_000,
    n_draws: o.Draws = 4_000,
    random_state: o.Seed = 0,
    *,
    writing: g.Writing,
) -> None:
    """Estimate how often a test set of a given size is decisive.

    Example: outperform power --theta-pos .3,.3,.2,.2 --theta-neg .2,.2,.3,.3 --rope 0.05
    """
    with shown("simulating"):
        result = op.power(
            theta_pos=_outcomes(str(theta_pos), "--theta-pos"),
            theta_neg=_outcomes(str(theta_neg), "--theta-neg"),
            prevalence=0.5 if prevalence is None else prevalence,
            sizes=_sizes(sizes),
            goal=goal,
            metric=metric,
            rope=rope_of(rope),
            paired=not unpaired,
            prior=prior_of(prior),
            hdi_prob=hdi_prob,
            n_simulations=n_simulations,
            n_draws=n_draws,
            random_state=random_state,
            n_jobs=-1,
        )
    write_result(result, writing)


def noise(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN",
            help="Runs of one model: evaluation logs, one file or folder per run, or a table with "
            "one column per run.",
            show_default=False,
        ),
    ],
    models: o.Models = None,
    rope: o.Rope = None,
    n_trials: Annotated[
        int | None,
        o.in_analysis(
            "--trials",
            metavar="NUMBER",
            help="Answers per item in one run of the gate. Default: as in these runs.",
            parser=o.parse_int,
        ),
    ] = None,
    target: Annotated[
        float,
        o.in_analysis(
            metavar="SHARE",
            help="Probability of reaching the goal.",
            parser=o.parse_share,
        ),
    ] = 0.8,
    hdi_prob: o.HdiProb = 0.95,
    n_draws: o.Draws = 4_000,
    random_state: o.Seed = 0,
    *,
    reading: Joined,
    writing: g.Writing,
) -> None:
    """Measure the noise between runs of the same model.

    Shows how often answers differ, how often a gate changes its result if nothing changed, the
    smallest difference that this design can show, and the flaky items.

    Example: outperform noise preds.csv --truth label --model bert --model gpt --rope 0.02
    """
    data = read_runs(files, models, reading)
    with shown("drawing"):
        result = op.noise_floor(
            data,
            models=None if models is None else data.models,
            rope=rope_of(rope),
            n_trials=n_trials,
            target=target,
            hdi_prob=hdi_prob,
            n_draws=n_draws,
            random_state=random_state,
        )
    write_result(result, writing)


def _outcomes(text: str, option: str) -> dict[str, float]:
    return dict(zip(_OUTCOMES, _numbers(text, option, 4), strict=True))


def _numbers(text: str, option: str, n: int) -> list[float]:
    words = {2: "two", 4: "four"}
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if len(values) != n:
        raise UsageError(f"{option} must be {words[n]} comma-separated probabilities; got {text!r}")
    return values


def _sizes(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise UsageError(f"--sizes must be comma-separated integers; got {text!r}") from error


_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_INTEGER = re.compile("0|-?[1-9][0-9]*")


def propose(
    source: Annotated[
        str,
        typer.Argument(
            metavar="POOL",
            help="CSV or TSV file with the predictions of both models.",
            show_default=False,
        ),
    ],
    budget: Annotated[
        int,
        o.in_analysis(
            metavar="NUMBER",
            help="Number of items to label.",
            parser=o.parse_int,
            show_default=False,
        ),
    ],
    a: o.ModelA = None,
    b: o.ModelB = None,
    judge: Annotated[
        str | None,
        o.in_data(metavar="COLUMN", help="Column of labels from a judge, or of earlier labels."),
    ] = None,
    verdicts: Annotated[
        bool,
        o.in_data(
            "--verdicts",
            help="The columns of A and B are a judge's verdicts: 1 is right, 0 is wrong.",
        ),
    ] = False,
    metric: o.Metric = None,
    pos_label: o.PosLabel = None,
    encoding: o.Encoding = "utf-8",
    random_state: o.Seed = 0,
    output: o.Output = None,
) -> None:
    """Choose items to label, mostly where two models disagree.

    The output is the rows to label, in labelling order, as CSV (or TSV if the file
    name ends in .tsv). Once they are labelled, compare them with --pool, which
    accounts for the selection. If a judge has rated all items, pass --judge or
    --verdicts to select by the ratings; then compare all items, and pass the
    labelled ones with --human.

    Example: outperform propose preds.csv --a bert --b gpt --budget 40 --metric f1_macro -o next.csv
    """
    name_a, name_b = needed_columns([a, b])
    header, rows = _read(Path(source), encoding)
    columns = [_column(header, rows, name) for name in (name_a, name_b)]
    ratings = None if judge is None else _column(header, rows, judge)
    known = {str(value): value for column in (*columns, ratings or ()) for value in column}
    if pos_label is not None and pos_label not in known:
        raise UsageError(unknown_name("class", pos_label, known))
    proposal = op.propose(
        *columns,
        budget=budget,
        metric=metric,
        judge=ratings,
        verdicts=verdicts,
        pos_label=None if pos_label is None else known[pos_label],
        names=(name_a, name_b),
        random_state=random_state,
    )
    selected = [rows[row] for row in proposal.items.tolist()]
    if output is None:
        deliver(_csv_text(header, selected, ","), None)
        return
    text = _csv_text(header, selected, _SEPARATORS.get(output.suffix.lower(), ","))
    write_atomically(output, text.encode(encoding))  # --encoding applies to both files
    show(proposal._document().lines, None)


def _read(path: Path, encoding: str) -> tuple[list[str], list[list[str]]]:
    """Read the header and the rows of a CSV or TSV file."""
    if path.suffix.lower() not in _SEPARATORS:
        raise UsageError(
            f"propose reads only files that end in .csv or .tsv; got {path.name!r}. For others, "
            "read two columns of predictions in Python and call op.propose(a, b, budget=…)"
        )
    try:
        with path.open(newline="", encoding=encoding) as file:
            reader = csv.reader(file, delimiter=_SEPARATORS[path.suffix.lower()])
            lines = [(reader.line_num, row) for row in reader if row]  # without empty lines
    except (OSError, UnicodeError, LookupError, csv.Error) as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    if len(lines) < 2:
        raise DataError(f"{path} must have a header and rows; it has {len(lines)} lines")
    header = [name.removeprefix("\ufeff") for name in lines[0][1]]
    for number, row in lines:
        if len(row) != len(header):
            raise DataError(
                f"{path}: line {number} has {len(row)} values, but the header has {len(header)}"
            )
    return header, [row for _, row in lines[1:]]


def _column(header: list[str], rows: list[list[str]], name: str) -> list[Any]:
    """Return one column, as integers if all its values are integers."""
    if name not in header:
        raise UsageError(unknown_name("column", name, header))
    index = header.index(name)
    values = [row[index] for row in rows]
    if "" in values:
        raise DataError(
            f"column {name!r} has no value in row {values.index('') + 2}; every item in a pool "
            "needs both models' predictions and, if there is a judge, the judge's rating"
        )
    are_integers = all(_INTEGER.fullmatch(value) for value in {*values})
    return [int(value) for value in values] if are_integers else values


def _csv_text(header: list[str], rows: list[list[str]], separator: str) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()
