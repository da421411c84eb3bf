"""Texts and tables of a ranking."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from outperform.display import facts as read
from outperform.display import numbers
from outperform.display.document import Document, Note, Rows, brief, legend
from outperform.display.facts import Facts
from outperform.display.formats import (
    Column,
    count_column,
    number_column,
    probability_column,
    signed_column,
    text_column,
)
from outperform.display.layout import joined_hdi
from outperform.display.numbers import for_text
from outperform.display.pictures import span
from outperform.display.sentences import best_words
from outperform.display.table import Table
from outperform.findings import counted, listed

_LONGEST_NAME = 24
_MOST_IN_MATRIX = 12
_MOST_NAMED = 4
_MOST_FINDINGS = 6
_IN_TEXT = (
    "place", "model", "observed", "raw_mean", "mean", "hdi_low", "hdi_high", "p_best",
    "expected_rank", "regret", "decision",
)  # fmt: skip
_SHORT = {
    "place": "#",
    "raw_mean": "raw",
    "hdi_low": "HDI low",
    "hdi_high": "HDI high",
    "expected_rank": "E(rank)",
    "decision": "vs 1",
}
_IN_CARD = ("model", "decision", "p_best", "mean", "hdi", "observed")
_FIRST = (
    "place", "model", "mean", "hdi", "p_best", "decision", "observed", "regret", "raw_mean",
    "expected_rank",
)  # fmt: skip
_PLACES = ("observed", "raw_mean", "mean", "sd", "hdi_low", "hdi_high")


# One row per model


def ranking_table(facts: Facts) -> Table:
    """Return one row per model, starting with the leader.

    Examples
    --------
    >>> row = {"name": "gpt", "observed": 0.8, "mean": 0.79, "sd": 0.02, "p_best": 0.8,
    ...        "raw": {"mean": 0.8}, "hdi": {"low": 0.75, "high": 0.83, "prob": 0.95},
    ...        "p_practically_best": 0.9,
    ...        "expected_rank": 1.2, "regret": 0.001, "tied": True, "decision": None}
    >>> facts = {"names": ["gpt"], "metric": "f1", "hdi_prob": 0.95, "n_draws": 4000,
    ...          "rope": {"low": -0.01, "high": 0.01}, "models": [row], "n": 90}
    >>> ranking_table(facts)["decision"]
    ('leader',)
    """
    n_draws, hdi = facts["n_draws"], f"{numbers.percent(facts['hdi_prob'])} HDI"
    columns = (
        count_column("place", "place"),
        text_column("model"),
        number_column("observed"),
        number_column("raw_mean", "raw mean"),
        number_column("mean"),
        number_column("sd"),
        number_column("hdi_low", f"{hdi} low"),
        number_column("hdi_high", "high"),
        probability_column("p_best", "P(best)", n_draws),
        probability_column("p_practically_best", "P(within ROPE of best)", n_draws),
        number_column("expected_rank", "expected rank", 2),
        Column(key="regret", write=_regret, align="right"),
        Column(key="tied", write=lambda value: "yes" if value else "no"),
        text_column("decision", "against the leader"),
    )
    rows = tuple(_row(rank, model) for rank, model in enumerate(facts["models"], start=1))
    return Table(columns, rows, title=_caption(facts))


def _row(rank: int, model: Mapping[str, Any]) -> dict[str, Any]:
    keys = ("observed", "mean", "sd", "p_best", "p_practically_best", "expected_rank", "regret")
    decision = model["decision"]
    return {
        "place": rank,
        "model": str(model["name"]),
        **{key: model[key] for key in keys},
        "raw_mean": model["raw"]["mean"],
        "hdi_low": model["hdi"]["low"],
        "hdi_high": model["hdi"]["high"],
        "tied": model["tied"],
        "decision": "leader" if decision is None else f"{decision['symbol']} {decision['words']}",
    }


def pairs_table(facts: Facts, pairs: Sequence[Mapping[str, Any]]) -> Table:
    """Return one row per pair of models.

    Examples
    --------
    >>> pair = {"names": ["bert", "gpt"], "observed": 0.2, "mean": 0.2, "sd": 0.05,
    ...         "hdi": {"low": 0.1, "high": 0.3}, "p_worse": 0.0, "p_equivalent": 0.0,
    ...         "p_better": 1.0, "p_greater": 1.0,
    ...         "decision": {"symbol": "≫", "words": "better"}}
    >>> facts = {"metric": "f1", "hdi_prob": 0.95, "n_draws": 4000, "n": 90,
    ...          "rope": {"low": -0.01, "high": 0.01}, "models": []}
    >>> pairs_table(facts, [pair])["b"]
    ('gpt',)
    """
    n_draws, hdi = facts["n_draws"], f"{numbers.percent(facts['hdi_prob'])} HDI"
    chances = {
        "p_worse": "P(A worse)",
        "p_equivalent": "P(ROPE)",
        "p_better": "P(A better)",
        "p_greater": "P(A − B > 0)",
    }
    columns = (
        text_column("a", "A"),
        text_column("b", "B"),
        signed_column("observed"),
        signed_column("mean"),
        number_column("sd"),
        signed_column("hdi_low", f"{hdi} low"),
        signed_column("hdi_high", "high"),
        *(probability_column(key, heading, n_draws) for key, heading in chances.items()),
        text_column("decision"),
    )
    rows = tuple(
        {
            "a": str(pair["names"][0]),
            "b": str(pair["names"][1]),
            **{key: pair[key] for key in ("observed", "mean", "sd", *chances)},
            "hdi_low": pair["hdi"]["low"],
            "hdi_high": pair["hdi"]["high"],
            "decision": f"{pair['decision']['symbol']} {pair['decision']['words']}",
        }
        for pair in pairs
    )
    notes = _not_compared({**facts, "pairs": pairs})
    return Table(columns, rows, title=f"A − B: {_caption(facts)}", notes=tuple(notes))


def _caption(facts: Facts) -> str:
    way = read.direction(facts)
    details = [*read.method(facts)[:2], _measured(facts)]
    models = f"{numbers.count(len(facts['models']))} models"
    measure = f"{read.measure(facts)}{f', {way}' if way else ''}"
    return f"{models} in {measure}, on {read.sample(facts)} ({', '.join(details)})"


def _not_compared(facts: Facts) -> list[str]:
    """Return how many pairs were compared, unless all were."""
    n_models, compared = len(facts["models"]), len(facts.get("pairs", ()))
    pairs = n_models * (n_models - 1) // 2
    if compared in (0, pairs):  # a ranking of tasks has no pairs
        return []
    return [
        f"Of the {numbers.count(pairs)} pairs, the {numbers.count(compared)} with the leader are "
        "compared."
    ]


def _measured(facts: Facts) -> str:
    return f"{numbers.percent(facts['hdi_prob'])} HDI, ROPE {read.rope_text(facts)}"


def is_pooled(facts: Facts) -> bool:
    """Return whether the models' values are partially pooled."""
    return any(model["raw"]["mean"] != model["mean"] for model in facts["models"])


_POOLED = {"mean": "mean", "hdi": "HDI", "p_best": "P(best)", "regret": "regret"}


def pooling_sentence(shown: Collection[str]) -> str:
    """Return which of the columns shown are pooled.

    Examples
    --------
    >>> print(pooling_sentence(["mean", "hdi"]))
    mean and HDI are pooled by the estimated spread of the models' true values
    """
    pooled = [word for key, word in _POOLED.items() if key in shown]
    parts = [
        *(["raw: the mean before pooling"] if "raw_mean" in shown else []),
        *(["decisions are those of compare, before pooling"] if "decision" in shown else []),
        f"{listed(pooled)} {'are' if len(pooled) > 1 else 'is'} pooled by the estimated spread of "
        "the models' true values",
    ]
    return "; ".join(parts)


def _pooling(facts: Facts, shown: Collection[str]) -> str:
    """Return which of the columns shown are pooled; an empty string if none are."""
    return pooling_sentence(shown) if is_pooled(facts) else ""


def could_be_best(names: Sequence[object]) -> str:
    """Return why models that are worse than the leader are not ruled out; "" if there are none.

    Examples
    --------
    >>> print(could_be_best(["bert"]))
    bert is worse than the leader (≪) but could still be best, because the leader was chosen on the same data: after pooling, the HDI of the difference is not entirely beyond the ROPE
    """  # noqa: E501
    if not names:
        return ""
    return (
        f"{listed([for_text(name, limit=_LONGEST_NAME) for name in names])} "
        f"{'are' if len(names) > 1 else 'is'} worse than the leader (≪) but could still be best, "
        "because the leader was chosen on the same data: after pooling, the HDI of the difference "
        "is not entirely beyond the ROPE"
    )


def _could_be_best(facts: Facts) -> str:
    return could_be_best([row["name"] for row in facts["models"] if _worse_yet_tied(row)])


# Sentences


def ranking_headline(facts: Facts, *, limit: int | None = None) -> str:
    """Return which model is best, which others could be best, and how many are worse.

    Examples
    --------
    >>> tied = {"name": "bert", "tied": True, "decision": {"name": "EQUIVALENT", "symbol": "≈"}}
    >>> facts = {"metric": "f1", "n_draws": 1000,
    ...          "models": [{"name": "gpt", "tied": True, "p_best": 0.83}, tied]}
    >>> ranking_headline(facts)
    'gpt is probably best in f1 (P 83.0%), practically tied with bert.'
    """
    others = facts["models"][1:]
    worse = sum(not model["tied"] for model in others)
    line = _leader(facts, limit)
    return f"{line}; {_worse(worse, len(others))} worse." if worse else f"{line}."


def ranking_title(facts: Facts, *, limit: int | None = None) -> str:
    r"""Return which model is best and which are tied with it, as the title of a figure.

    Examples
    --------
    >>> tied = {"name": "bert", "tied": True, "decision": {"name": "EQUIVALENT", "symbol": "≈"}}
    >>> facts = {"metric": "f1", "n_draws": 1000,
    ...          "models": [{"name": "gpt", "tied": True, "p_best": 0.53}, tied]}
    >>> ranking_title(facts)
    'gpt looks best in f1 (P\xa053.0%), practically tied with bert'
    """
    return _leader(facts, limit).replace("(P ", "(P\N{NO-BREAK SPACE}")


def _leader(facts: Facts, limit: int | None) -> str:
    leader, *others = facts["models"]
    name = for_text(leader["name"], limit=limit)
    chance = numbers.probability(leader["p_best"], n_draws=facts["n_draws"])
    line = f"{name} {best_words(leader['p_best'])} in {read.metric(facts)} (P {chance})"
    tied = [model for model in others if model["tied"]]
    equivalent = [model for model in tied if _equivalent(model)]
    worse = [model for model in tied if _worse_yet_tied(model)]
    undecided = [model for model in tied if model not in equivalent and model not in worse]
    if equivalent:
        line += f", practically tied with {_listed(equivalent, limit)}"
    if undecided:
        line += f"; not shown to be worse: {_listed(undecided, limit, symbols=True)}"
    if worse:
        line += f"; worse, but could still be best: {_listed(worse, limit)}"
    return line


def _worse(worse: int, others: int) -> str:
    if worse < others:
        return "one is" if worse == 1 else f"{numbers.count(worse)} are"
    return "the other is" if others == 1 else "all others are"


def _regret(value: float) -> str:
    return "<0.0001" if 0 < value < 0.00005 else numbers.plain(value)


def _listed(
    models: Sequence[Mapping[str, Any]], limit: int | None, *, symbols: bool = False
) -> str:
    texts = [
        for_text(model["name"], limit=limit)
        + (f" ({model['decision']['symbol']})" if symbols else "")
        for model in models
    ]
    return listed(texts, most=_MOST_NAMED)


def tied_sentence(facts: Facts) -> str:
    """Return the probability that the best model is not among those tied, as a sentence.

    Examples
    --------
    >>> facts = {"models": [{"name": "gpt", "tied": True}, {"name": "bert", "tied": False}],
    ...          "tied": ["gpt"], "p_best_not_tied": 0.0, "n_draws": 1000}
    >>> tied_sentence(facts)
    'P(a model other than gpt is best) <0.3%.'
    """
    missed = numbers.probability(facts["p_best_not_tied"], n_draws=facts["n_draws"])
    if len(facts["tied"]) == 1:
        return f"P(a model other than {for_text(facts['tied'][0])} is best) {missed}."
    return f"P(the best is none of the {numbers.count(len(facts['tied']))} tied) {missed}."


def ranking_paragraph(facts: Facts) -> str:
    """Return a paragraph for a paper: the answer, the meaning of tied, and the method."""
    leader, hdi = facts["models"][0], f"{numbers.percent(facts['hdi_prob'])} HDI"
    ends = numbers.interval(leader["hdi"]["low"], leader["hdi"]["high"])
    sentences = [
        f"Of {numbers.count(len(facts['models']))} models on {read.sample(facts)}, "
        + ranking_headline(facts),
        f"Its {read.measure(facts)} is {numbers.plain(leader['mean'])} ({hdi} {ends}); the "
        f"expected loss of choosing it is {_regret(leader['regret'])}.",
        f"A model counts as tied unless the {hdi} of its difference to "
        f"{for_text(leader['name'])} lies entirely beyond the ROPE ({read.rope_text(facts)})"
        + (", before and after pooling." if is_pooled(facts) else "."),
        *([tied_sentence(facts)] if len(facts["tied"]) < len(facts["models"]) else []),
        f"All numbers come from one joint posterior ({', '.join(read.method(facts))})"
        + (
            ", partially pooled using the estimated spread of the models' true values, except for "
            "the decisions on pairs."
            if is_pooled(facts)
            else "."
        ),
    ]
    sentences += [message for _, message, _ in read.findings(facts, "serious", "warning")]
    return " ".join(sentences)


def _equivalent(model: Mapping[str, Any]) -> bool:
    return model["decision"] is not None and model["decision"]["name"] == "EQUIVALENT"


def _worse_yet_tied(model: Mapping[str, Any]) -> bool:
    """Return whether a model is worse than the leader before pooling but not after pooling."""
    decision = model.get("decision")
    return bool(model["tied"] and decision is not None and decision["name"] == "WORSE")


# The document


def ranking_document(facts: Facts, *, top: int | None = None) -> Document:
    """Return the headline, the models, the matrix of decisions, and the findings.

    Parameters
    ----------
    facts
        The ranking as a dictionary.
    top
        Number of models on a screen, starting with the best; all if None.
    """
    full, caption = ranking_table(facts), _caption(facts)
    models = facts["models"][:top]
    left = len(facts["models"]) - len(models)
    table = brief(
        replace(full, rows=full.rows[:top]),
        ["hdi" if key == "hdi_low" else key for key in _IN_TEXT if key != "hdi_high"],
        decimals=max(numbers.decimals(model["sd"], least=2) for model in models),
        of=_PLACES,
        hdi=f"{numbers.percent(facts['hdi_prob'])} HDI",
        headings=_SHORT,
    )
    more = f"and {numbers.count(left)} more" if left else ""
    behind = _could_be_best(facts)
    screen = [
        Rows(
            table=table,
            first=_FIRST,
            labels=["model"],
            left=more,
            explain=lambda shown: [*filter(None, [_pooling(facts, shown), behind])],
        )
    ]
    if len(facts["models"]) <= _MOST_IN_MATRIX:
        screen.append(Rows(table=_matrix(facts), labels=["model"]))
    symbols = _meanings(symbol for row in facts["decisions"] for symbol in row)
    notes = [Note(symbols, card=False)]
    if len(facts["tied"]) < len(facts["models"]):
        notes.append(Note(tied_sentence(facts)))
    notes += [Note(line) for line in _not_compared(facts)]
    return Document(
        headline=ranking_headline(facts),
        short=ranking_headline(facts, limit=_LONGEST_NAME),
        lead=[Note(_measured(facts), card=False)],
        screen=screen,
        table=joined_hdi(full, aligned=False).only(_IN_CARD),
        spans=[span(model) for model in facts["models"]],
        zero=False,
        more=replace(full, notes=_explained(facts)),
        notes=notes,
        findings=read.findings(facts),
        most_findings=None if top is None else _MOST_FINDINGS,
        caption=caption,
        parts=[counted(facts["n_draws"], "draws")],
        method=caption,
        signature=for_text(facts["signature"]),
        terms=("rope", "hdi", "regret"),
        paper=partial(ranking_page, facts),
        paragraph=partial(ranking_paragraph, facts),
    )


def ranking_page(facts: Facts) -> Table:
    """Return the columns that fit a page, with symbols for decisions and a legend."""
    full = ranking_table(facts)
    rows = tuple({**row, "model": for_text(row["model"], limit=_LONGEST_NAME)} for row in full)
    symbols = [str(decision).partition(" ")[0] for decision in full["decision"]]
    return brief(
        replace(full, rows=rows),
        [key for key in _IN_TEXT if key != "place"],
        headings={**_SHORT, "decision": "decision"},
        notes=(
            f"decision: compared with the leader; {_meanings(symbols)}",
            *_explained(facts),
        ),
    )


def _explained(facts: Facts) -> tuple[str, ...]:
    """Return the sentences about all columns."""
    pooled = _pooling(facts, ("raw_mean", "decision", *_POOLED))
    return tuple(filter(None, (pooled, _could_be_best(facts))))


def _matrix(facts: Facts) -> Table:
    """Return the decisions on row − column, with models numbered by their position."""
    names = [for_text(name) for name in facts["names"]]
    ranks = [str(rank) for rank in range(1, len(names) + 1)]
    columns = (
        count_column("place", "#"),
        text_column("model", "row − column"),
        *(text_column(f"at {rank}", rank) for rank in ranks),
    )
    rows = tuple(
        {
            "place": int(rank),
            "model": name,
            **{f"at {other}": cell or "·" for other, cell in zip(ranks, row, strict=True)},
        }
        for rank, name, row in zip(ranks, names, facts["decisions"], strict=True)
    )
    return Table(columns, rows)


def _meanings(symbols: Iterable[str | None]) -> str:
    used = set(symbols)
    return legend((symbol, words) for symbol, words in _WORDS.items() if symbol in used)


_WORDS = {
    "≫": "better",
    ">": "leaning better, not decided",
    "≈": "practically equivalent",
    "~": "probably equivalent, not decided",
    "<": "leaning worse, not decided",
    "≪": "worse",
    "?": "undecided",
}
