"""The tables of the ICDM 2015 paper: F1 of four classifiers, p-values, average F1 compared."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import outperform as op
from papers import columns
from papers.published import published
from papers.tables import Column, Effort, Row, Table

_DRAWS = 50_000


@cache
def _outcomes() -> op.Outcomes:
    news = op.datasets.load_news20()
    return op.Outcomes.from_labels(news.y_true, dict(news.predictions))


@cache
def _observed(name: str, metric: str, group: int | None = None) -> float:
    """Return a plug-in value: of one group, by number, or an average over all."""
    sums = op.metrics.Margins(**_outcomes().margins(name)._asdict())
    classes = None if group is None else [group]
    return float(op.metrics.get(metric).evaluate(sums, classes))


def score_table(effort: Effort) -> Table:
    """Make table 2: F1 of four classifiers in each group and on average."""
    figures = published("icdm2015")["table_2_f1"]
    names = tuple(figures["per_category"])
    rows = [
        Row(
            label=str(place),
            published={name: figures["per_category"][name][place] for name in names},
            ours={name: _observed(name, "f1", place) for name in names},
        )
        for place in range(_outcomes().n_classes)
    ]
    rows += [
        Row(
            label=average,
            published=figures[average],
            ours={name: _observed(name, f"f1_{average}") for name in names},
        )
        for average in ("micro", "macro")
    ]
    return Table(
        name="ICDM 2015, table 2",
        title="F1 of four classifiers in each news group and on average, as observed.",
        stub="group",
        columns=tuple(Column(key=name, heading=name, part=name) for name in names),
        rows=tuple(rows),
    )


def p_value_table(effort: Effort) -> Table:
    """Make table 3: p-values of the frequentist tests."""
    rows = [
        Row(
            label=f"{row['a']} − {row['b']}, {row['metric']}",
            published=row,
            ours=_p_values(row["a"], row["b"], row["metric"]),
        )
        for row in published("icdm2015")["table_3_nhst"]
    ]
    return Table(
        name="ICDM 2015, table 3",
        title="Sign and t-tests, over items for micro and over groups for macro averages.",
        stub="comparison",
        columns=columns.P_VALUES,
        rows=tuple(rows),
    )


def _p_values(a: str, b: str, metric: str) -> dict[str, float | str]:
    if metric == "f1_micro":
        both, only_a, only_b, neither = _outcomes().select([a, b]).agreement()
        n = both + only_a + only_b + neither
        sign = op.nhst.sign_test(only_a, only_b)
        t = op.nhst.welch_test(n, both + only_a, both + only_b)
    else:
        groups = range(_outcomes().n_classes)
        scores = [[_observed(name, "f1", group) for group in groups] for name in (a, b)]
        sign = op.nhst.sign_test_over_classes(*scores)
        t = op.nhst.paired_t_over_classes(*scores)
    return {"sign_test_p": sign.p_value, "t_test_p": t.p_value}


def average_table(effort: Effort) -> Table:
    """Make table 4: micro- and macro-averaged F1 compared by the hierarchical model."""
    figures = published("icdm2015")["table_4_bayes"]
    draws = effort.draws or _DRAWS
    compared = {
        (a, b): _compare_averages(a, b, figures["rope"], draws, effort.seed)
        for a, b in dict.fromkeys((row["a"], row["b"]) for row in figures["rows"])
    }
    rows = []
    for row in figures["rows"]:
        found = compared[row["a"], row["b"]][row["metric"]]
        rows.append(
            Row(
                label=f"{row['a']} − {row['b']}, {row['metric']}",
                published=columns.printed(row),
                ours={**columns.ours(found), "mc_error": found.mcse},
                flag=columns.flag(found),
            )
        )
    return Table(
        name="ICDM 2015, table 4",
        title=f"Average F1; hierarchical model, unpaired, ROPE ±0.005, {draws:,} draws.",
        stub="comparison",
        columns=(
            *columns.POSTERIOR[:2],
            Column(key="mc_error", heading="MC error", part="Monte Carlo errors"),
            *columns.POSTERIOR[2:],
        ),
        rows=tuple(rows),
    )


def _compare_averages(
    a: str, b: str, rope: list[float], draws: int, seed: int
) -> op.results.ComparisonTable:
    return op.scorecard(
        _outcomes(),
        a,
        b,
        metrics=["f1_micro", "f1_macro"],
        prior="hierarchical",
        paired=False,
        rope=rope,
        n_draws=draws,
        random_state=seed,
        n_jobs=-1,
    )


TABLES: dict[int, Callable[[Effort], Table]] = {2: score_table, 3: p_value_table, 4: average_table}
