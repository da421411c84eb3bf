"""Text and tables of suites."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from outperform._typing import FloatArray
from outperform.display import facts as read
from outperform.display import numbers
from outperform.display.cards import GridCell
from outperform.display.document import Document, Grid, Note, Posterior, Rows, brief, legend
from outperform.display.facts import Facts
from outperform.display.formats import (
    count_column,
    number_column,
    probability_column,
    signed_column,
    text_column,
)
from outperform.display.layout import joined_hdi
from outperform.display.numbers import for_text
from outperform.display.pictures import Span, span, tone
from outperform.display.sentences import after_colon, best_words, headline
from outperform.display.table import Table
from outperform.findings import counted, listed
from outperform.ranking.text import could_be_best, pooling_sentence

_LIMIT = 24
_PLACES = ("observed", "mean", "sd", "hdi_low", "hdi_high", "pooled")
_TASK_FIRST = ("task", "decision", "mean", "hdi", "n", "observed", "metric", "pooled")
_TASK_TEXT = ("task", "metric", "n", "observed", "mean", "pooled", "hdi", "decision")
_RANK_FIRST = (
    "model", "mean", "hdi", "p_best", "decision", "observed", "p_best_new_tasks", "win_rate",
)  # fmt: skip
_RANK_TEXT = (
    "model", "observed", "mean", "hdi", "p_best", "p_best_new_tasks", "mean_rank", "win_rate",
    "regret", "decision",
)  # fmt: skip
_POOLED_MEAN = "pooled mean: shrunk toward the other tasks"
_CARD_TASK = ("task", "decision", "mean", "hdi", "observed", "n")
_CARD_RANK = ("model", "decision", "p_best", "mean", "hdi", "observed")


def task_table(facts: Facts) -> Table:
    """Return one row per task, then one for the mean over them, and one for tasks like these."""
    prob = f"{numbers.percent(facts['hdi']['prob'])} HDI"
    columns = (
        text_column("task"),
        text_column("metric"),
        count_column("n"),
        number_column("weight"),
        signed_column("observed"),
        signed_column("mean"),
        number_column("sd"),
        signed_column("hdi_low", f"{prob} low"),
        signed_column("hdi_high", "high"),
        signed_column("pooled", "pooled mean"),
        probability_column("p_worse", "P(worse)", facts["n_draws"]),
        probability_column("p_equivalent", "P(ROPE)", facts["n_draws"]),
        probability_column("p_better", "P(better)", facts["n_draws"]),
        text_column("rope", "ROPE"),
        text_column("decision"),
    )
    rows = [_task_row(row["task"], row, pooled=row["pooled"]["mean"]) for row in facts["tasks"]]
    rows.append(_task_row(f"mean of these {len(rows)}", {**facts, "metric": None}))
    if facts["new_tasks"] is not None:
        rows.append(_task_row("tasks like these", facts["new_tasks"]))
    return Table(columns, tuple(rows), title=_caption(facts), notes=(_POOLED_MEAN,))


def _task_row(name: str, difference: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    rope, decision = difference["rope"], difference["decision"]
    shared = ("metric", "n", "weight", "observed", "mean", "sd")
    chances = ("p_worse", "p_equivalent", "p_better")
    return {
        "task": name,
        **{key: difference.get(key) for key in (*shared, *chances)},
        "hdi_low": difference["hdi"]["low"],
        "hdi_high": difference["hdi"]["high"],
        "pooled": None,
        "rope": numbers.rope(rope["low"], rope["high"]),
        "decision": f"{decision['symbol']} {decision['words']}",
        **more,
    }


def _caption(facts: Facts) -> str:
    return (
        f"{read.difference(facts, limit=_LIMIT)}, {facts['metric']} (paired, "
        f"{numbers.percent(facts['hdi']['prob'])} HDI, ROPE {read.rope_text(facts)}, "
        f"{numbers.count(facts['n'])} items)"
    )


def new_tasks_sentence(facts: Mapping[str, Any], names: tuple[str, str]) -> str:
    """Return the result for tasks like these in one sentence.

    Examples
    --------
    >>> facts = {"decision": {"name": "LEANING_BETTER", "words": "leaning better, not decided"},
    ...          "mean": 0.02, "sd": 0.01, "hdi": {"low": -0.002, "high": 0.042, "prob": 0.95}}
    >>> new_tasks_sentence(facts, ("gpt", "bert"))
    'On tasks like these: gpt leaning better, not decided; mean +0.0200 (95% HDI −0.0020 to +0.0420).'
    """  # noqa: E501
    ends = numbers.interval(facts["hdi"]["low"], facts["hdi"]["high"], sign=True)
    return (
        f"On tasks like these: {names[0]} {facts['decision']['words']}; mean "
        f"{numbers.signed(facts['mean'])} ({read.hdi_label(facts)} {ends})."
    )


def comparison_document(facts: Facts, draws: FloatArray) -> Document:
    """Return the result on these tasks, on tasks like these and on each task."""
    full, names = task_table(facts), read.names(facts, limit=_LIMIT)
    new, text = facts["new_tasks"], f"On these tasks: {after_colon(headline(facts, limit=_LIMIT))}"
    rows: list[Mapping[str, Any]] = [*facts["tasks"], facts, *([new] if new is not None else [])]
    n_decimals = max(numbers.decimals(row["sd"], least=2) for row in (facts, *facts["tasks"]))
    known = [row["decision"] for row in rows]
    symbols = legend((decision["symbol"], decision["words"]) for decision in known)
    table = brief(full, _TASK_TEXT, decimals=n_decimals, of=_PLACES, hdi=read.hdi_label(facts))
    chances = (read.probability(facts, f"p_{word}") for word in ("worse", "equivalent", "better"))
    worse, equivalent, better = chances
    caption = _caption(facts)
    return Document(
        headline=text,
        tone=tone(facts["decision"]["symbol"]),
        lead=[] if new is None else [Note(new_tasks_sentence(new, names))],
        shares=(worse, equivalent, better),
        picture=Posterior(
            draws=draws,
            facts=facts,
            decimals=n_decimals,
            label=text,
            axis=f"{read.difference(facts, limit=_LIMIT)}, {facts['metric']}",
        ),
        screen=[
            Rows(
                table=replace(table, notes=(symbols,)),
                first=_TASK_FIRST,
                labels=["task"],
                explain=lambda shown: [_POOLED_MEAN] if "pooled" in shown else [],
            )
        ],
        table=replace(joined_hdi(full, aligned=False).only(_CARD_TASK), notes=()),
        spans=[span(row, rope=row["rope"]) for row in rows] if facts["scale"] == "metric" else (),
        more=full,
        findings=read.findings(facts),
        caption=caption,
        errors=_errors([row["mc_errors"] for row in rows], _OF_DIFFERENCE),
        parts=[counted(facts["n_draws"], "draws")],
        method=caption,
        signature=for_text(facts["signature"]),
        terms=("rope", "hdi"),
    )


def _errors(every: Sequence[Mapping[str, float]], words: Mapping[str, str]) -> str:
    """Return the largest Monte Carlo error of each number.

    Examples
    --------
    >>> _errors([{"mean": 0.00012}, {"mean": 0.0003}], {"mean": "mean", "regret": "regret"})
    'Monte Carlo errors, at most: mean 0.0003'
    """
    known = {
        word: [errors[key] for errors in every if key in errors] for key, word in words.items()
    }
    texts = [f"{word} {max(errors):.2g}" for word, errors in known.items() if errors]
    return f"Monte Carlo errors, at most: {', '.join(texts)}"


_OF_DIFFERENCE = {
    "mean": "mean", "sd": "sd", "p_worse": "P(worse)", "p_equivalent": "P(ROPE)",
    "p_better": "P(better)",
}  # fmt: skip
_OF_MODEL = {
    "mean": "mean", "p_best": "P(best)", "p_practically_best": "P(within ROPE of best)",
    "p_best_new_tasks": "P(best, new tasks)", "mean_rank": "mean rank", "win_rate": "win rate",
    "regret": "regret",
}  # fmt: skip


# Many models


def rank_table(facts: Facts) -> Table:
    """Return one row per model, leader first."""
    n_draws, prob = facts["n_draws"], f"{numbers.percent(facts['hdi_prob'])} HDI"
    columns = (
        text_column("model"),
        number_column("observed"),
        number_column("mean"),
        number_column("sd"),
        number_column("hdi_low", f"{prob} low"),
        number_column("hdi_high", "high"),
        probability_column("p_best", "P(best)", n_draws),
        probability_column("p_practically_best", "P(within ROPE of best)", n_draws),
        probability_column("p_best_new_tasks", "P(best, new tasks)", n_draws),
        number_column("mean_rank", "mean rank", 2),
        number_column("win_rate", "win rate", 2),
        number_column("regret"),
        text_column("decision", "against the leader"),
        text_column("decision_new_tasks", "on new tasks"),
    )
    keys = (
        "observed", "mean", "sd", "p_best", "p_practically_best", "p_best_new_tasks", "mean_rank",
        "win_rate", "regret",
    )  # fmt: skip
    rows = tuple(
        {
            "model": row["name"],
            **{key: row[key] for key in keys},
            "hdi_low": row["hdi"]["low"],
            "hdi_high": row["hdi"]["high"],
            "decision": _describe(row["against_leader"]),
            "decision_new_tasks": _describe(row["new_tasks"], "–"),
        }
        for row in facts["models"]
    )
    return Table(columns, rows, title=_rank_caption(facts), notes=_rank_notes(facts))


def _describe(difference: Mapping[str, Any] | None, otherwise: str = "leader") -> str:
    return (
        otherwise
        if difference is None
        else f"{difference['decision']['symbol']} {difference['decision']['words']}"
    )


def _rank_notes(facts: Facts, shown: Collection[str] | None = None) -> tuple[str, ...]:
    """Return sentences about the columns shown; by default, all columns."""
    behind = [row["name"] for row in facts["models"] if row["tied"] and _is_worse(row)]
    columns = ("mean", "hdi", "p_best", "regret", "decision") if shown is None else shown
    new = shown is not None and "p_best_new_tasks" in shown
    return (
        *(["new tasks: P(best) on tasks like these"] if new else []),
        *([pooling_sentence(columns)] if _is_pooled(facts) else []),
        *([could_be_best(behind)] if behind else []),
    )


def _is_pooled(facts: Facts) -> bool:
    """Return whether the models' means are partially pooled; those of two models are not."""
    return len(facts["models"]) > 2


def _rank_caption(facts: Facts) -> str:
    details = [
        f"{numbers.count(facts['n'])} items",
        *(["partially pooled"] if _is_pooled(facts) else []),
        f"{numbers.percent(facts['hdi_prob'])} HDI",
        f"ROPE {read.rope_text(facts)}",
    ]
    return f"{len(facts['models'])} models, {facts['metric']} ({', '.join(details)})"


def rank_title(facts: Facts) -> str:
    r"""Return a title with the best model and those that are worse but could still be best.

    Examples
    --------
    >>> worse = {"name": "bert", "p_best": 0.03, "tied": True,
    ...          "against_leader": {"decision": {"name": "WORSE"}}}
    >>> leader = {"name": "gpt", "p_best": 0.97, "tied": True, "against_leader": None}
    >>> rank_title({"models": [leader, worse], "tasks": [1, 2, 3, 4], "n_draws": 4000})
    'gpt is best on these 4 tasks (P\xa097.0%); worse, but could still be best: bert'
    """
    text = _best(facts, _LIMIT).replace("(P ", "(P\N{NO-BREAK SPACE}")
    behind = [row for row in facts["models"] if row["tied"] and _is_worse(row)]
    return text + _named(_BEHIND, behind, _LIMIT)


_BEHIND = "worse, but could still be best"


def _best(facts: Facts, limit: int | None) -> str:
    """Return the best model on these tasks."""
    first, n = facts["models"][0], len(facts["tasks"])
    share = numbers.probability(first["p_best"], facts["n_draws"])
    tasks = "this task" if n == 1 else f"these {n} tasks"
    name = for_text(first["name"], limit=limit)
    return f"{name} {best_words(first['p_best'])} on {tasks} (P {share})"


def _named(words: str, rows: Sequence[Mapping[str, Any]], limit: int | None) -> str:
    """Return a clause with the names of models; "" if there are none."""
    names = [for_text(row["name"], limit=limit) for row in rows]
    return f"; {words}: {listed(names, most=4)}" if names else ""


def rank_headline(facts: Facts, *, limit: int | None = None) -> str:
    """Return the best model on these tasks, those tied with it and P(best) on tasks like these.

    Examples
    --------
    >>> rows = [{"name": "gpt", "p_best": 0.97, "tied": True, "p_best_new_tasks": 0.8},
    ...         {"name": "bert", "p_best": 0.03, "tied": False, "p_best_new_tasks": 0.2}]
    >>> rank_headline({"models": rows, "tasks": [1, 2, 3, 4], "n_draws": 4000})
    'gpt is best on these 4 tasks (P 97.0%); the other is worse. On tasks like these: P(best) 80.0%.'
    """  # noqa: E501
    first, *others = facts["models"]
    line = _best(facts, limit)
    tied = [row for row in others if row["tied"]]
    behind = [row for row in tied if _is_worse(row)]
    line += _named("not shown to be worse", [row for row in tied if row not in behind], limit)
    line += _named(_BEHIND, behind, limit)
    worse = len(others) - len(tied)
    if worse and tied:
        line += f"; {'one is' if worse == 1 else f'{worse} are'} worse"
    elif worse:
        line += f"; {'the other is' if worse == 1 else 'all others are'} worse"
    new = first["p_best_new_tasks"]
    if new is None:
        return f"{line}."
    return f"{line}. On tasks like these: P(best) {numbers.probability(new, facts['n_draws'])}."


def _is_worse(row: Facts) -> bool:
    against = row["against_leader"]
    return against is not None and against["decision"]["name"] == "WORSE"


def _leaders(facts: Facts) -> Table:
    """Return the leader on each task and the models that could also be best on it."""
    columns = (
        text_column("task"),
        text_column("metric"),
        count_column("n"),
        text_column("leader"),
        text_column("tied", "could also be best"),
    )
    rows = tuple(
        {
            "task": for_text(task["task"], limit=_LIMIT),
            "metric": task["metric"],
            "n": task["n"],
            "leader": for_text(task["leader"], limit=_LIMIT),
            "tied": listed([for_text(t, limit=_LIMIT) for t in task["tied"][1:]], most=3) or "none",
        }
        for task in facts["tasks"]
    )
    return Table(columns, rows)


def _grid(facts: Facts) -> Grid:
    """Return the mean and HDI of each model on each task, with the decision against its leader."""
    names = [row["name"] for row in facts["models"]]
    decisions = [
        (decision["symbol"], decision["words"])
        for task in facts["tasks"]
        for decision in task["decisions"].values()
        if decision is not None
    ]
    hdi = f"{numbers.percent(facts['hdi_prob'])} HDI"
    return Grid(
        title="Each task",
        heads=("task", *names),
        rows=[
            (
                task["task"],
                f"{task['metric']}, {counted(task['n'], 'items')}",
                _grid_cells(task, names),
            )
            for task in facts["tasks"]
        ],
        notes=[
            f"mean and {hdi} on the task, before pooling; bold: leader of the task; symbols: "
            f"decision against it ({legend(decisions)})"
        ],
    )


def _grid_cells(task: Mapping[str, Any], names: Sequence[str]) -> list[GridCell]:
    """Return a cell for each model, all with the same number of decimals."""
    hdis = [task["hdis"][name] for name in names]
    # An interval is about four standard deviations wide.
    n_decimals = max(numbers.decimals((hdi["high"] - hdi["low"]) / 4, least=2) for hdi in hdis)
    return [
        GridCell(
            text=numbers.plain(task["means"][name], n_decimals),
            detail=numbers.interval(hdi["low"], hdi["high"], n_decimals),
            decision="" if decision is None else f"{decision['symbol']} {decision['words']}",
            strong=decision is None,
        )
        for name, hdi, decision in zip(names, hdis, map(task["decisions"].get, names), strict=True)
    ]


def _against_leader(row: Facts) -> Span:
    """Return the interval of a model in the colour of its decision against the leader."""
    against = row["against_leader"]
    return span(row) if against is None else replace(span(row), tone=span(against).tone)


def rank_document(facts: Facts) -> Document:
    """Return the headline, the models and the leader on each task."""
    full, hdi = rank_table(facts), f"{numbers.percent(facts['hdi_prob'])} HDI"
    known = [against["decision"] for row in facts["models"] if (against := row["against_leader"])]
    table = brief(
        full,
        _RANK_TEXT,
        decimals=max(numbers.decimals(row["sd"], least=2) for row in facts["models"]),
        of=_PLACES,
        hdi=hdi,
        headings={"decision": "vs 1", "p_best_new_tasks": "new tasks"},
        notes=[legend((decision["symbol"], decision["words"]) for decision in known)],
    )
    caption = _rank_caption(facts)
    return Document(
        headline=rank_headline(facts),
        short=rank_headline(facts, limit=_LIMIT),
        lead=[Note(f"{hdi}, ROPE {read.rope_text(facts)}", card=False)],
        screen=[
            Rows(
                table=table,
                first=_RANK_FIRST,
                labels=["model"],
                explain=partial(_rank_notes, facts),
            ),
            Rows(table=_leaders(facts), labels=["task"]),
        ],
        table=replace(joined_hdi(full, aligned=False).only(_CARD_RANK), notes=()),
        spans=[_against_leader(row) for row in facts["models"]],
        zero=facts["scale"] == "rope",
        more=full,
        grid=_grid(facts),
        findings=read.findings(facts),
        caption=caption,
        errors=_errors([row["mc_errors"] for row in facts["models"]], _OF_MODEL),
        parts=[counted(facts["n_draws"], "draws")],
        method=caption,
        signature=for_text(facts["signature"]),
        terms=("rope", "hdi", "regret"),
    )
