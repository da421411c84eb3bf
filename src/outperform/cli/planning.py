"""``plan`` and ``power``: how many documents, and how often would so many reach a verdict?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from outperform.cli import options as o
from outperform.cli.reading import label_of, labels_of, prior_of, read_outcomes, rope_of
from outperform.cli.writing import write_result
from outperform.errors import UsageError

_OUTCOMES = ("11", "10", "01", "00")


_WORLD = "World"

Pilot = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PILOT]",
        help="A pilot: the file, or files, of documents that are labelled already, as for compare.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What is suspected where there is no pilot."""

    accuracies: Annotated[
        str | None,
        typer.Option(help="Instead of a pilot, e.g. .9,.88: of A and B.", rich_help_panel=_WORLD),
    ] = None
    agreement: Annotated[
        float | None,
        typer.Option(
            help="With accuracies, the share of documents that both get right or both wrong.",
            parser=o.share,
            metavar="NUMBER",
            rich_help_panel=_WORLD,
        ),
    ] = None
    theta_pos: Annotated[
        str | None,
        typer.Option(
            help="Or, in positive documents, how probably A and B say positive: both, A only, "
            "B only, neither; e.g. .3,.3,.2,.2.",
            rich_help_panel=_WORLD,
        ),
    ] = None
    theta_neg: Annotated[
        str | None,
        typer.Option(help="The same in negative documents.", rich_help_panel=_WORLD),
    ] = None
    prevalence: Annotated[
        float | None,
        typer.Option(
            help="With these, the share of positive documents.",
            parser=o.share,
            metavar="NUMBER",
            rich_help_panel=_WORLD,
        ),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Return what the library takes."""
        found: dict[str, Any] = {"agreement": self.agreement, "prevalence": self.prevalence}
        if self.accuracies is not None:
            found["accuracies"] = _numbers(self.accuracies, "--accuracies", 2)
        for name, text in (("theta_pos", self.theta_pos), ("theta_neg", self.theta_neg)):
            if text is not None:
                found[name] = _outcomes(text, f"--{name.replace('_', '-')}")
        return found


def plan(
    files: Pilot = None,
    a: o.ModelA = None,
    b: o.ModelB = None,
    goal: Annotated[
        str, typer.Option(help="decided, not_worse, or a verdict such as ≫ or better.")
    ] = "decided",
    target: Annotated[
        float,
        typer.Option(help="The wanted probability.", parser=o.share, metavar="NUMBER"),
    ] = 0.8,
    most: Annotated[
        int,
        typer.Option(help="The largest test set to consider.", parser=o.whole, metavar="NUMBER"),
    ] = 1_000_000,
    metric: Annotated[
        str | None,
        typer.Option(help="scikit-learn's name of the metric; by default as for compare."),
    ] = None,
    rope: o.Rope = None,
    unpaired: o.Unpaired = False,
    labels: o.Labels = None,
    pos_label: o.PosLabel = None,
    model: o.Model = None,
    prior: o.Prior = None,
    hdi_prob: o.HdiProb = 0.95,
    simulations: Annotated[
        int, typer.Option(help="Test sets at most.", parser=o.whole, metavar="NUMBER")
    ] = 4_000,
    seed: o.Seed = None,
    *,
    world: World,
    reading: o.Reading,
    writing: o.Writing,
) -> None:
    """How many documents does the verdict take?

    The world is a pilot's, or two accuracies and an agreement, or outcome probabilities.

    Example: outperform plan preds.csv --truth label --a bert --b gpt --metric f1_macro --rope 0.02
    """
    import outperform as op
    from outperform.cli.progress import bar

    given = world.arguments() | {"labels": labels, "pos_label": pos_label}
    if files:
        seen = read_outcomes(files, [a, b], reading)
        given |= {"pilot": seen, "a": seen.models[0], "b": seen.models[1]}
        given |= {"labels": labels_of(seen, labels), "pos_label": label_of(seen, pos_label)}
    elif (a, b) != (None, None) or reading != o.Reading():
        raise UsageError(
            "options that read a pilot came without its file; name the file, or leave them out"
        )
    with bar("simulating") as progress:
        result = op.plan(
            **given,
            goal=goal,
            target=target,
            most=most,
            metric=metric,
            rope=rope_of(rope),
            paired=not unpaired,
            model=model,
            prior=prior_of(prior),
            hdi_prob=hdi_prob,
            n_simulations=simulations,
            random_state=seed,
            progress=progress,
        )
    write_result(result, writing)


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
    metric: o.NamedMetric = "f1",
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
    return dict(zip(_OUTCOMES, _numbers(text, option, 4), strict=True))


def _numbers(text: str, option: str, n: int) -> list[float]:
    words = {2: "two", 4: "four"}
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if len(values) != n:
        raise UsageError(
            f"{option} must be {words[n]} probabilities with commas between; got {text!r}"
        )
    return values


def _sizes(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise UsageError(f"--sizes must be whole numbers with commas; got {text!r}") from error
