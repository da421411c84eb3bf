"""``compare``, ``estimate``, ``scorecard`` and ``by-class``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outperform.cli import options as o
from outperform.cli.reading import Dialect, label_of, labels_of, prior_of, read_outcomes, rope_of
from outperform.cli.writing import write_result

if TYPE_CHECKING:
    from outperform.cli.options import Missing
    from outperform.comparison import Comparison


def compare(
    files: o.Sources,
    truth: o.Truth = None,
    a: o.ModelA = None,
    b: o.ModelB = None,
    id: o.Id = None,
    label: o.LabelColumn = None,
    on_missing: o.OnMissing = o.Missing.REFUSE,
    on_null: o.OnNull = o.Missing.REFUSE,
    no_header: o.NoHeader = False,
    encoding: o.Encoding = "utf-8",
    read_as: o.ReadAs = None,
    confusion: o.Confusion = False,
    metric: o.Metric = "f1",
    rope: o.Rope = None,
    labels: o.Labels = None,
    pos_label: o.PosLabel = None,
    model: o.Model = None,
    prior: o.Prior = None,
    unpaired: o.Unpaired = False,
    hdi_prob: o.HdiProb = 0.95,
    draws: o.Draws = 20_000,
    seed: o.Seed = None,
    style: o.OutputFormat = o.Format.TEXT,
    output: o.Output = None,
) -> None:
    """Say whether A really outperforms B.

    The difference is A − B, in the metric's own units.

    Example: outperform compare preds.csv --truth label --a bert --b gpt --metric f1_macro
    """
    result = compared(
        files,
        truth=truth,
        a=a,
        b=b,
        id=id,
        label=label,
        on_missing=on_missing,
        confusion=confusion,
        dialect=Dialect(on_null=on_null, no_header=no_header, encoding=encoding, read_as=read_as),
        metric=metric,
        rope=rope,
        labels=labels,
        pos_label=pos_label,
        model=model,
        prior=prior,
        unpaired=unpaired,
        hdi_prob=hdi_prob,
        draws=draws,
        seed=seed,
    )
    write_result(result, style=style, output=output)


def estimate(
    files: o.Sources,
    truth: o.Truth = None,
    of: o.OneModel = None,
    id: o.Id = None,
    label: o.LabelColumn = None,
    on_missing: o.OnMissing = o.Missing.REFUSE,
    on_null: o.OnNull = o.Missing.REFUSE,
    no_header: o.NoHeader = False,
    encoding: o.Encoding = "utf-8",
    read_as: o.ReadAs = None,
    confusion: o.Confusion = False,
    metric: o.Metric = "f1",
    labels: o.Labels = None,
    pos_label: o.PosLabel = None,
    model: o.Model = None,
    prior: o.Prior = None,
    hdi_prob: o.HdiProb = 0.95,
    draws: o.Draws = 20_000,
    seed: o.Seed = None,
    style: o.OutputFormat = o.Format.TEXT,
    output: o.Output = None,
) -> None:
    """How good is one model, and how sure is that?

    Example: outperform estimate preds.csv --truth label --of bert --metric f1_macro
    """
    import outperform as op

    seen = read_outcomes(
        files,
        truth=truth,
        models=[of],
        id=id,
        label=label,
        on_missing=on_missing,
        confusion=confusion,
        dialect=Dialect(on_null=on_null, no_header=no_header, encoding=encoding, read_as=read_as),
    )
    result = op.estimate(
        seen,
        *seen.models,
        metric=metric,
        **_shared(seen, labels, pos_label, model, prior, hdi_prob, draws, seed),
    )
    write_result(result, style=style, output=output)


def scorecard(
    files: o.Sources,
    truth: o.Truth = None,
    a: o.ModelA = None,
    b: o.ModelB = None,
    id: o.Id = None,
    label: o.LabelColumn = None,
    on_missing: o.OnMissing = o.Missing.REFUSE,
    on_null: o.OnNull = o.Missing.REFUSE,
    no_header: o.NoHeader = False,
    encoding: o.Encoding = "utf-8",
    read_as: o.ReadAs = None,
    confusion: o.Confusion = False,
    metrics: o.Metrics = "accuracy,f1_macro,matthews_corrcoef",
    rope: o.Rope = None,
    labels: o.Labels = None,
    pos_label: o.PosLabel = None,
    model: o.Model = None,
    prior: o.Prior = None,
    unpaired: o.Unpaired = False,
    hdi_prob: o.HdiProb = 0.95,
    draws: o.Draws = 20_000,
    seed: o.Seed = None,
    style: o.OutputFormat = o.Format.TEXT,
    output: o.Output = None,
) -> None:
    """Compare two models in several metrics, one row each.

    Example: outperform scorecard preds.csv --truth label --a bert --b gpt --metrics f1,accuracy
    """
    import outperform as op

    seen = read_outcomes(
        files,
        truth=truth,
        models=[a, b],
        id=id,
        label=label,
        on_missing=on_missing,
        confusion=confusion,
        dialect=Dialect(on_null=on_null, no_header=no_header, encoding=encoding, read_as=read_as),
    )
    result = op.scorecard(
        seen,
        *seen.models,
        metrics=metrics.split(","),
        rope=rope_of(rope),
        **_shared(seen, labels, pos_label, model, prior, hdi_prob, draws, seed),
        paired=not unpaired,
    )
    write_result(result, style=style, output=output)


def by_class(
    files: o.Sources,
    truth: o.Truth = None,
    a: o.ModelA = None,
    b: o.ModelB = None,
    id: o.Id = None,
    label: o.LabelColumn = None,
    on_missing: o.OnMissing = o.Missing.REFUSE,
    on_null: o.OnNull = o.Missing.REFUSE,
    no_header: o.NoHeader = False,
    encoding: o.Encoding = "utf-8",
    read_as: o.ReadAs = None,
    confusion: o.Confusion = False,
    metric: o.Metric = "f1_macro",
    rope: o.Rope = None,
    model: o.Model = None,
    prior: o.Prior = None,
    unpaired: o.Unpaired = False,
    hdi_prob: o.HdiProb = 0.95,
    draws: o.Draws = 20_000,
    seed: o.Seed = None,
    style: o.OutputFormat = o.Format.TEXT,
    output: o.Output = None,
) -> None:
    """Compare two models on every class against the rest, one row each.

    Example: outperform by-class preds.csv --truth label --a bert --b gpt --rope 0.05
    """
    result = compared(
        files,
        truth=truth,
        a=a,
        b=b,
        id=id,
        label=label,
        on_missing=on_missing,
        confusion=confusion,
        dialect=Dialect(on_null=on_null, no_header=no_header, encoding=encoding, read_as=read_as),
        metric=metric,
        rope=rope,
        labels=None,
        pos_label=None,
        model=model,
        prior=prior,
        unpaired=unpaired,
        hdi_prob=hdi_prob,
        draws=draws,
        seed=seed,
    )
    write_result(result.by_class(), style=style, output=output)


def compared(
    files: list[str],
    *,
    truth: str | None,
    a: str | None,
    b: str | None,
    id: str | None,
    label: str | None,
    on_missing: Missing,
    confusion: bool,
    dialect: Dialect,
    metric: str,
    rope: str | None,
    labels: str | None,
    pos_label: str | None,
    model: str | None,
    prior: str | None,
    unpaired: bool,
    hdi_prob: float,
    draws: int,
    seed: int | None,
) -> Comparison:
    """Read two models and compare them."""
    import outperform as op

    seen = read_outcomes(
        files,
        truth=truth,
        models=[a, b],
        id=id,
        label=label,
        on_missing=on_missing,
        confusion=confusion,
        dialect=dialect,
    )
    return op.compare(
        seen,
        *seen.models,
        metric=metric,
        rope=rope_of(rope),
        **_shared(seen, labels, pos_label, model, prior, hdi_prob, draws, seed),
        paired=not unpaired,
    )


def _shared(
    seen: Any,
    labels: str | None,
    pos_label: str | None,
    model: str | None,
    prior: str | None,
    hdi_prob: float,
    draws: int,
    seed: int | None,
) -> dict[str, Any]:
    return {
        "labels": labels_of(seen, labels),
        "pos_label": label_of(seen, pos_label),
        "model": model,
        "prior": prior_of(prior),
        "hdi_prob": hdi_prob,
        "n_draws": draws,
        "random_state": seed,
    }
