"""The tables of the SIGIR 2016 paper: power, and F1 of each news group."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import outperform as op
from papers import columns
from papers.published import published
from papers.tables import Column, Effort, Row, Table

_DRAWS = 50_000
_POWER_DRAWS = 4_000
_SCENARIOS = {"scenario_a": "≫", "scenario_b": "≈"}
_PAIRS = {
    4: "table_4_nb_bern_vs_nb_mult",
    5: "table_5_svm_l1_vs_svm_l2",
    6: "table_6_nb_mult_vs_svm_l2",
}


def power_table(effort: Effort) -> Table:
    """Make table 3: how often the wanted decision is reached, for seven sizes."""
    figures = published("sigir2016")["table_3_power"]
    sizes = figures["dataset_sizes"]
    draws = effort.draws or _POWER_DRAWS
    rows = []
    for scenario, goal in _SCENARIOS.items():
        for kind in ("unpaired", "paired"):
            found = op.power(
                theta_pos=figures[scenario]["theta_pos"],
                theta_neg=figures[scenario]["theta_neg"],
                prevalence=figures[scenario]["prevalence"],
                sizes=sizes,
                goal=goal,
                rope=figures["rope"],
                paired=kind == "paired",
                prior="uniform",
                n_simulations=effort.simulations,
                n_draws=draws,
                random_state=effort.seed,
                n_jobs=-1,
            )
            rows.append(
                Row(
                    label=f"({scenario[-1]}) {goal} {kind}",
                    published=_by_size(sizes, figures[scenario][kind]),
                    ours=_by_size(sizes, found.power),
                )
            )
    return Table(
        name="SIGIR 2016, table 3",
        title=f"Power; {effort.simulations:,} data sets a cell, {draws:,} draws each.",
        stub="scenario",
        columns=tuple(
            Column(key=str(size), heading=f"{size:,}", part="powers", digits=2) for size in sizes
        ),
        rows=tuple(rows),
    )


def _by_size(sizes: list[int], values: Any) -> dict[str, float | str]:
    return {str(size): float(value) for size, value in zip(sizes, values, strict=True)}


def pair_table(effort: Effort, *, number: int) -> Table:
    """Make table 4, 5 or 6: F1 of two classifiers in each group, paired."""
    figures = published("sigir2016")[_PAIRS[number]]
    a, b = _PAIRS[number].removeprefix(f"table_{number}_").split("_vs_")
    news = op.datasets.load_news20()
    draws = effort.draws or _DRAWS
    compared = op.compare(
        op.Outcomes.from_labels(news.y_true, {name: news.predictions[name] for name in (a, b)}),
        a,
        b,
        metric="f1",
        pos_label=news.target_names[0],
        prior="uniform",
        rope=figures["rope"],
        n_draws=draws,
        random_state=effort.seed,
        n_jobs=-1,
    ).by_class()
    tests = compared.table()
    rows = [
        Row(
            label=f"{row['category']}",
            published=columns.printed(row),
            ours={
                **columns.ours(compared[news.target_names[place]]),
                "sign_test_p": tests["sign_test_p"][place],
                "t_test_p": tests["t_test_p"][place],
            },
            flag=columns.flag(compared[news.target_names[place]]),
        )
        for place, row in enumerate(figures["rows"])
    ]
    return Table(
        name=f"SIGIR 2016, table {number}",
        title=f"F1 of {a} − {b} in each news group; paired, ROPE ±0.05, {draws:,} draws.",
        stub="group",
        columns=(*columns.P_VALUES, *columns.POSTERIOR),
        rows=tuple(rows),
    )


TABLES: dict[int, Callable[[Effort], Table]] = {
    3: power_table,
    **{number: partial(pair_table, number=number) for number in _PAIRS},
}
