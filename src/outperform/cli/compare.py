"""Commands that compare models: ``compare``, ``rank``, ``cv-counts``, ``sensitivity`` and more."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

import outperform as op
from outperform.cli import groups as g
from outperform.cli import options as o
from outperform.cli.exit_codes import shown
from outperform.cli.groups import (
    as_json,
    deliver,
    is_figure,
    show,
    style_of,
    write_figure,
    write_page,
    write_result,
)
from outperform.cli.inputs import (
    Joined,
    OneTable,
    columns_there,
    declared,
    prior_of,
    read_seen,
    read_table,
    rope_of,
)
from outperform.cli.tasks import Tasks
from outperform.errors import UsageError

if TYPE_CHECKING:
    from outperform.comparison.result import Comparison
    from outperform.display.document import Document
    from outperform.slices.result import SliceComparison


ByClass = Annotated[
    bool,
    o.in_analysis("--by-class", help="Compare class by class, each against the rest."),
]


ItemsFile = Annotated[
    Path | None,
    o.in_output(
        metavar="FILE",
        help="CSV file for the items that only one model got right. Requires --id or evaluation "
        "logs.",
    ),
]


def write_items(comparison: Comparison, path: Path | None) -> None:
    """Write the items on which the models differ, if a path was passed."""
    if path is not None:
        deliver(comparison.item_table().table().to_csv(), path)


PValue = Annotated[
    bool,
    o.in_output(
        "--p-value",
        help="Add McNemar's exact test of equal accuracy. The decision does not depend on it.",
    ),
]


def with_p_value(comparison: Comparison, writing: g.Writing) -> Document:
    """Return the contents of a comparison with McNemar's test, for formats with sentences."""
    from outperform.display.document import Note
    from outperform.display.numbers import for_text

    style = style_of(writing.style, writing.output, o.FORMATS)
    if style not in ("text", "markdown", "github") or g.is_figure(writing.output):
        raise UsageError(
            "--p-value adds a sentence to text or Markdown; for the number, type in Python: "
            "op.compare(...).mcnemar().p_value"
        )
    test = comparison.mcnemar()
    n_a = int(test.statistic)
    sentence = (
        f"McNemar's exact test of equal accuracy: p = {test.p_value:.2g} (items that only "
        f"{for_text(comparison.names[0])} got right: {n_a:,}; only "
        f"{for_text(comparison.names[1])}: {test.n - n_a:,})."
    )
    document = comparison._document()
    notes, prose = (*document.notes, Note(sentence)), (*document.prose, sentence)
    return replace(document, notes=notes, prose=prose)


def compare(
    files: o.Sources,
    a: o.ModelA = None,
    b: o.ModelB = None,
    metric: o.Metric = None,
    rope: o.Rope = None,
    unpaired: o.Unpaired = False,
    items: ItemsFile = None,
    p_value: PValue = False,
    *,
    tasks: Tasks,
    pricing: g.Pricing,
    reading: g.ReadingTwo,
    asking: g.Asking,
    writing: g.Writing,
) -> None:
    """Compare two models: better, worse or practically equivalent?

    The difference is A − B, in units of the metric. With --by, report each task
    and the average over tasks.

    Example: outperform compare preds.csv --truth label --a bert --b gpt --metric f1_macro
    """
    suite = tasks.suite(files, [a, b], reading, metric, rope)
    if suite is not None:
        if items is not None or p_value:
            raise UsageError("--items and --p-value apply to a single task; remove them or --by")
        with shown("drawing"):
            over_tasks = op.compare(
                suite, *suite.models, paired=not unpaired, **asking.of_suite(suite)
            )
        write_result(over_tasks, writing)
        return
    comparison = compared(files, a, b, metric, rope, unpaired, reading, asking, pricing)
    document = with_p_value(comparison, writing) if p_value else None
    write_items(comparison, items)
    write_result(comparison, writing, document=document)


def estimate(
    files: o.Sources,
    prediction: o.OneModel = None,
    metric: o.Metric = None,
    *,
    reading: g.Reading,
    asking: g.Asking,
    writing: g.Writing,
) -> None:
    """Estimate one model's metric, with an interval.

    Example: outperform estimate preds.csv --truth label --model bert --metric f1_macro
    """
    data = asking.at_prevalence(read_seen(files, [prediction], reading, [metric]))
    with shown("drawing"):
        result = op.estimate(data, *data.models, metric=metric, **asking.arguments(data))
    write_result(result, writing)


def scorecard(
    files: o.Sources,
    a: o.ModelA = None,
    b: o.ModelB = None,
    metrics: o.Metrics = None,
    by_class: ByClass = False,
    rope: o.Rope = None,
    unpaired: o.Unpaired = False,
    *,
    reading: g.ReadingTwo,
    asking: g.Asking,
    writing: g.Writing,
) -> None:
    """Compare two models on several metrics, or class by class.

    Example: outperform scorecard preds.csv --truth label --a bert --b gpt --rope 0.02
    """
    if by_class:
        metric = "f1_macro" if metrics is None else metrics
        if "," in metric:
            raise UsageError(f"--by-class takes one metric; got --metrics {metric}")
        comparison = compared(files, a, b, metric, rope, unpaired, reading, asking)
        with shown("drawing classes"):
            classes = comparison.by_class()
        write_result(classes, writing)
        return
    names = None if metrics is None else metrics.split(",")
    data = asking.at_prevalence(read_seen(files, [a, b], reading, names or []))
    with shown("drawing"):
        card = op.scorecard(
            data,
            *data.models,
            metrics=names,
            rope=rope_of(rope),
            paired=not unpaired,
            **asking.arguments(data),
        )
    write_result(card, writing)


def compared(
    files: list[str],
    a: str | None,
    b: str | None,
    metric: str | None,
    rope: str | None,
    unpaired: bool,
    reading: g.ReadingTwo,
    asking: g.Asking,
    pricing: g.Pricing | None = None,
) -> Comparison:
    """Read two models and compare them."""
    data = asking.at_prevalence(read_seen(files, [a, b], reading, [metric]))
    with shown("drawing"):
        return op.compare(
            data,
            *data.models,
            metric=(pricing or g.Pricing()).metric(data, metric),
            rope=rope_of(rope),
            paired=not unpaired,
            **asking.arguments(data),
        )


def rank(
    files: o.Sources,
    models: o.Models = None,
    metric: o.Metric = None,
    rope: o.Rope = None,
    unpaired: o.Unpaired = False,
    *,
    tasks: Tasks,
    pricing: g.Pricing,
    reading: g.Reading,
    asking: g.Asking,
    writing: g.Writing,
) -> None:
    """Rank models: the best, and those practically tied with it.

    The table includes the expected loss of choosing each model. With --by, report
    each task and the average over tasks.

    Example: outperform rank preds.csv --truth label --id id --metric f1_macro --rope 0.02
    """
    suite = tasks.suite(files, models, reading, metric, rope)
    if suite is not None:
        with shown("drawing"):
            over_tasks = op.rank(suite, paired=not unpaired, **asking.of_suite(suite))
        write_result(over_tasks, writing)
        return
    data = asking.at_prevalence(read_seen(files, models, reading, [metric]))
    with shown("drawing"):
        ranking = op.rank(
            data,
            metric=pricing.metric(data, metric),
            rope=rope_of(rope),
            paired=not unpaired,
            **asking.arguments(data),
        )
    write_result(ranking, writing, document=ranking._document(top=None))


def runs(
    files: o.Sources,
    a: o.RunsOfA = None,
    b: o.RunsOfB = None,
    metric: o.Metric = None,
    rope: o.Rope = None,
    *,
    reading: Joined,
    asking: g.AskingRuns,
    writing: g.Writing,
) -> None:
    """Compare two models over several training runs.

    The difference is between the models' means over all possible training runs.

    Example: outperform runs all.csv --truth label --a bert-1 --a bert-2 --b gpt-1 --metric accuracy
    """
    if not a or not b:
        raise UsageError("pass the runs with --a and --b, repeated for each run")
    data = read_seen(files, [*a, *b], reading, [metric])
    with shown("drawing"):
        comparison = op.compare_runs(
            data, a, b, metric=metric, rope=rope_of(rope), **asking.arguments(data)
        )
    write_result(comparison, writing)


Priors = Annotated[
    str | None,
    o.in_analysis(
        metavar="PRIORS", help="Comma-separated list of additional priors, e.g. 0.25,2,learned."
    ),
]
Ropes = Annotated[
    str | None,
    o.in_analysis(
        metavar="WIDTHS",
        help="Comma-separated list of half-widths. Default: half, one, two and four times --rope.",
    ),
]


def sensitivity(
    files: o.Sources,
    a: o.ModelA = None,
    b: o.ModelB = None,
    metric: o.Metric = None,
    rope: o.Rope = None,
    ropes: Ropes = None,
    priors: Priors = None,
    unpaired: o.Unpaired = False,
    *,
    pricing: g.Pricing,
    reading: g.ReadingTwo,
    asking: g.Asking,
    writing: g.Writing,
) -> None:
    """Check whether other priors or ROPEs change the decision.

    Example: outperform sensitivity preds.csv --truth label --a bert --b gpt --metric f1_macro
    """
    others, widths = _priors(priors), _ropes(ropes)
    comparison = compared(files, a, b, metric, rope, unpaired, reading, asking, pricing)
    with shown("trying other priors"):
        result = comparison.sensitivity(priors=others, ropes=widths)
    write_result(result, writing)


def _priors(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    priors = {part: prior_of(part) for part in text.split(",")}
    return {
        part if isinstance(prior, str) else f"shape {part}": prior for part, prior in priors.items()
    }


def _ropes(text: str | None) -> list[float] | None:
    try:
        return None if text is None else [float(part) for part in text.split(",")]
    except ValueError as error:
        raise UsageError(f"--ropes must be comma-separated numbers; got {text!r}") from error


_SCREEN_SLICES = 20


Style = Literal["text", "json", "markdown", "latex", "html", "csv"]
_STYLES: tuple[Style, ...] = get_args(Style)
StyleOption = Annotated[
    Style | None,
    o.in_output(
        "--format",
        "-f",
        metavar="FORMAT",
        help="Output format: text, json, markdown, latex, html or csv. If omitted, it follows the "
        "ending of --output (.json, .md, .tex, .html or .csv); otherwise text.",
    ),
]
Top = Annotated[
    int | None,
    o.in_output(
        metavar="NUMBER",
        help=f"Number of slices to show, most concerning first. Default: {_SCREEN_SLICES} as text, "
        "all in other formats.",
        parser=o.parse_int,
    ),
]


def slices(
    source: o.Source,
    a: o.ModelA = None,
    b: o.ModelB = None,
    by: o.By = None,
    metric: o.Metric = None,
    rope: o.Rope = None,
    labels: o.Labels = None,
    pos_label: o.PosLabel = None,
    prior: o.Prior = None,
    hdi_prob: o.HdiProb = 0.95,
    n_draws: o.SliceDraws = None,
    random_state: o.Seed = 0,
    top: Top = None,
    style: StyleOption = None,
    output: o.OutputOrFigure = None,
    report: o.Page = None,
    verbose: o.Verbose = False,
    *,
    reading: OneTable,
) -> None:
    """Compare two models on every slice, most concerning first.

    Slices are partially pooled: the more similar they are, the more each estimate shrinks toward
    the overall estimate. This keeps false alarms rare even with many slices.

    Example: outperform slices log.csv --truth label --a bert --b gpt --by country --metric accuracy
    """
    if a is not None and a == b:
        raise UsageError(f"--a and --b must be different models; got {a!r} twice")
    if not by and (reading.truth is not None or reading.correct):
        raise UsageError(
            f"pass --by, the column that defines slices{columns_there(source, reading)}"
        )
    outcomes = declared(read_table(source, [a, b], reading, by), reading.never_true)
    is_page = style_of(style, output, _STYLES) == "html" and output is not None
    if top is not None and is_page:
        raise UsageError("a page has all slices; remove --top")
    asking = g.Asking(
        labels=labels,
        pos_label=pos_label,
        prior=prior,
        hdi_prob=hdi_prob,
        random_state=random_state,
    )
    with shown("drawing slices"):
        comparison = op.compare_slices(
            outcomes,
            *outcomes.models,
            metric=metric,
            rope=rope_of(rope),
            **{**asking.arguments(outcomes), "n_draws": n_draws},
        )
    write_page(comparison, report)
    style = style_of(style, output, _STYLES)
    if is_figure(output):
        plot = comparison.plot if top is None else partial(comparison.plot, top=top)
        write_figure(plot, output)
    elif style == "html" and output is not None:
        write_page(comparison, output)
    elif style == "text":
        rows = _SCREEN_SLICES if top is None else top
        show(comparison._document(rows).lines, output, verbose=verbose)
    else:
        deliver(_render(comparison, style, top), output)


def _render(comparison: SliceComparison, style: Style, top: int | None) -> str:
    if style == "json":
        record = comparison.to_dict()
        return as_json({**record, "rows": record["rows"][:top]}, indent=2)
    return str(getattr(comparison.table(top), f"to_{style}")())


def cv_counts(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="CSV file with the columns model, tp, fp, fn or model, gold, predicted, correct; "
            "two rows per model and repetition, in fold order.",
            show_default=False,
        ),
    ],
    a: o.NamedA = None,
    b: o.NamedB = None,
    metric: o.NamedMetric = "f1",
    correlation: Annotated[
        str,
        o.in_analysis(
            metavar="KIND",
            help="Correlation between folds: averaged, integrated, full, or two numbers rho1,rho2.",
        ),
    ] = "averaged",
    rope: o.Rope = None,
    prior: o.Prior = None,
    hdi_prob: o.HdiProb = 0.95,
    n_draws: o.Draws = 20_000,
    random_state: o.Seed = 0,
    *,
    writing: g.Writing,
) -> None:
    """Compare two models from counts of blocked cross-validation.

    If the file contains only one model, estimate its metric.

    Example: outperform cv-counts folds.csv --metric f1 --rope 0.005
    """
    from outperform.io.count_tables import read_fold_counts

    counts = read_fold_counts(file)
    names = [name for name in (a, b) if name is not None] or list(counts.models)
    keywords: dict[str, Any] = {
        "metric": metric,
        "counts": counts.kind,
        "correlation": _correlation(correlation),
        "hdi_prob": hdi_prob,
        "prior": prior_of(prior),
        "n_draws": n_draws,
        "random_state": random_state,
    }
    rows = [counts.rows(name) for name in names]
    if len(names) == 1:
        write_result(op.estimate_cv_counts(rows[0], name=names[0], **keywords), writing)
        return
    counts.require_pair(names)
    comparison = op.compare_cv_counts(
        *rows, rope=rope_of(rope), names=(names[0], names[1]), **keywords
    )
    write_result(comparison, writing)


def _correlation(text: str) -> str | tuple[float, ...]:
    parts = text.split(",")
    if len(parts) == 1:
        return text
    try:
        return tuple(float(part) for part in parts)
    except ValueError:
        return text
