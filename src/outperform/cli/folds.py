"""``bcv``: the Bayes test of blocked cross-validation, from a table of fold counts."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from outperform.cli import options as o
from outperform.cli.reading import prior_of, rope_of
from outperform.cli.writing import write_result


def bcv(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="CSV with the columns model and tp, fp, fn (or gold, predicted, correct); for "
            "each model two rows a repetition, in the order of the folds.",
            show_default=False,
        ),
    ],
    a: o.ModelA = None,
    b: o.ModelB = None,
    metric: o.NamedMetric = "f1",
    correlation: Annotated[
        str, typer.Option(help="averaged, integrated, full, or two numbers: rho1,rho2.")
    ] = "averaged",
    rope: o.Rope = None,
    prior: o.Prior = None,
    hdi_prob: o.HdiProb = 0.95,
    draws: o.Draws = 20_000,
    seed: o.Seed = None,
    *,
    writing: o.Writing,
) -> None:
    """Compare two models (or estimate one) from the counts of m×2 blocked folds.

    Example: outperform bcv folds.csv --metric f1 --rope 0.005
    """
    import outperform as op
    from outperform.ingest import read_fold_counts

    counts = read_fold_counts(file)
    names = [name for name in (a, b) if name is not None] or list(counts.models)
    shared: dict[str, Any] = {
        "metric": metric,
        "counts": counts.kind,
        "correlation": _correlation(correlation),
        "hdi_prob": hdi_prob,
        "prior": prior_of(prior),
        "n_draws": draws,
        "random_state": seed,
    }
    rows = [counts.rows(name) for name in names]
    if len(names) == 1:
        alone = op.bcv_estimate(rows[0], name=names[0], **shared)
        write_result(alone, writing)
        return
    counts.two(names)
    both = op.bcv_compare(*rows, rope=rope_of(rope), names=(names[0], names[1]), **shared)
    write_result(both, writing)


def _correlation(text: str) -> str | tuple[float, ...]:
    parts = text.split(",")
    if len(parts) == 1:
        return text
    try:
        return tuple(float(part) for part in parts)
    except ValueError:
        return text
