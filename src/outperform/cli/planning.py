"""``power``: how often would a test set of a given size reach a verdict?"""

from __future__ import annotations

from typing import Annotated

import typer

from outperform.cli import options as o
from outperform.cli.reading import prior_of, rope_of
from outperform.cli.writing import write_result
from outperform.errors import UsageError

_OUTCOMES = ("11", "10", "01", "00")


def power(
    theta_pos: Annotated[
        str,
        typer.Option(
            help="In positive documents, how probably A and B say positive: both, A only, B only, "
            "neither; e.g. .3,.3,.2,.2.",
            show_default=False,
        ),
    ],
    theta_neg: Annotated[
        str, typer.Option(help="The same in negative documents.", show_default=False)
    ],
    prevalence: Annotated[
        float,
        typer.Option(help="The share of positive documents.", parser=o.share, metavar="NUMBER"),
    ] = 0.5,
    sizes: Annotated[str, typer.Option(help="Numbers of documents.")] = "500,1000,2000",
    goal: Annotated[
        str, typer.Option(help="decided, or a verdict such as ≫ or better.")
    ] = "decided",
    metric: o.Metric = "f1",
    rope: o.Rope = None,
    unpaired: o.Unpaired = False,
    prior: o.Prior = None,
    hdi_prob: o.HdiProb = 0.95,
    simulations: Annotated[
        int, typer.Option(help="Data sets at each size.", parser=o.whole, metavar="NUMBER")
    ] = 2_000,
    draws: o.Draws = 4_000,
    seed: o.Seed = None,
    *,
    writing: o.Writing,
) -> None:
    """How often would a test set of this size reach the verdict?

    Example: outperform power --theta-pos .3,.3,.2,.2 --theta-neg .2,.2,.3,.3 --rope 0.05
    """
    import outperform as op
    from outperform.cli.progress import bar

    with bar("simulating") as progress:
        result = op.power(
            theta_pos=_outcomes(theta_pos, "--theta-pos"),
            theta_neg=_outcomes(theta_neg, "--theta-neg"),
            prevalence=prevalence,
            sizes=_sizes(sizes),
            goal=goal,
            metric=metric,
            rope=rope_of(rope),
            paired=not unpaired,
            prior=prior_of(prior),
            hdi_prob=hdi_prob,
            n_simulations=simulations,
            n_draws=draws,
            random_state=seed,
            progress=progress,
        )
    write_result(result, writing)


def _outcomes(text: str, option: str) -> dict[str, float]:
    try:
        values = [float(part) for part in text.split(",")]
        return dict(zip(_OUTCOMES, values, strict=True))
    except ValueError as error:
        raise UsageError(
            f"{option} must be four probabilities with commas between; got {text!r}"
        ) from error


def _sizes(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise UsageError(f"--sizes must be whole numbers with commas; got {text!r}") from error
