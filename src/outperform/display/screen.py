"""A result on one screen: text, Markdown or a card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, TypedDict

from outperform._typing import FloatArray
from outperform.display import facts as read
from outperform.display import numbers
from outperform.display.cards import Card, with_interval
from outperform.display.facts import Facts
from outperform.display.formats import Column, display_width
from outperform.display.layout import (
    KEPT,
    STYLES,
    WIDEST,
    Line,
    Page,
    Span,
    interval,
    picture,
    signed,
    stacked,
)
from outperform.display.numbers import for_markdown, for_text, true_minus
from outperform.display.paragraphs import (
    estimate_paragraph,
    paragraph,
    run_details,
    run_sentences,
)
from outperform.display.pictures import density, tone
from outperform.display.sentences import (
    amount,
    answer,
    bayes_factor_text,
    comparison_table,
    estimate_headline,
    estimate_table,
    headline,
    more_items,
    regret_text,
    rope_curve_sentence,
)
from outperform.display.table import Table

NAME_LIMIT = 30
_FEWEST = 2  # decimals of a number that is known to no more than one


def comparison_lines(
    facts: Facts, page: Page, draws: FloatArray | None = None, *, coverage: str | None = None
) -> list[Line]:
    """Return a comparison: the answer, the picture, the numbers, the findings and the method.

    Parameters
    ----------
    facts
        The facts of a comparison.
    page
        How wide it is, and how much is said.
    draws
        Draws of the difference; no picture without them.
    coverage
        How often such intervals hold, if that is known.

    Examples
    --------
    >>> hdi = {"low": 0.1, "high": 0.3, "prob": 0.95}
    >>> a = {"name": "bert", "observed": 0.7, "mean": 0.7, "sd": 0.1, "hdi": hdi}
    >>> c = {"names": ["bert", "gpt"], "metric": "f1", "a": a, "b": a | {"name": "gpt"},
    ...      "observed": 0.2, "mean": 0.2, "sd": 0.05, "hdi": hdi, "n": 90, "exact": True,
    ...      "rope": {"low": -0.01, "high": 0.01}, "p_worse": 0.01, "p_equivalent": 0.01,
    ...      "p_better": 0.98, "decision": {"name": "BETTER", "symbol": "≫"}}
    >>> from outperform.display.layout import plain
    >>> print(plain(comparison_lines(c, Page(width=60))))
    bert is better than gpt                                    ≫
    f1 higher by 0.20 (95% HDI +0.10 to +0.30), ROPE ±0.01
    <BLANKLINE>
                observed   mean         95% HDI
    bert            0.70   0.70    0.10 to 0.30
    gpt             0.70   0.70    0.10 to 0.30
    difference     +0.20  +0.20  +0.10 to +0.30
    <BLANKLINE>
    90 items · exact
    """
    places = max(read.digits(one, least=_FEWEST) for one in (facts, facts["a"], facts["b"]))
    head = [*_answer(facts, page), *page.text(_numbers(facts, places))]
    drawn = [] if draws is None else picture(page, draws, facts, places)
    table = page.table(_models(facts, places, sd=page.verbose), labels=["model"])
    said: list[Line] = []
    if facts.get("rope_curve"):
        said += page.text(other_ropes(facts, places))
    if facts.get("needed") is not None:
        said += page.text(more_items(facts["needed"], facts))
    told = comparison_details(facts)
    kept = [one for one in told if one[0] in _ALWAYS or (page.verbose and one[0] not in _SAID)]
    kept += [] if coverage is None else [("coverage", coverage)]
    said += [line for label, text in kept for line in page.labelled(label, text)]
    blocks = [head, drawn, table, said]
    return _ended(blocks, facts, page, "rope", "hdi")


def estimate_lines(facts: Facts, page: Page, draws: FloatArray | None = None) -> list[Line]:
    """Return an estimate: the answer, the picture, the findings and the method.

    Examples
    --------
    >>> hdi = {"low": 0.1, "high": 0.3, "prob": 0.95}
    >>> facts = {"name": "bert", "metric": "f1", "observed": 0.2, "mean": 0.2, "sd": 0.05,
    ...          "hdi": hdi, "n": 90, "exact": True}
    >>> from outperform.display.layout import plain
    >>> print(plain(estimate_lines(facts, Page())))
    bert: f1 0.20 (95% HDI 0.10 to 0.30), observed 0.20
    <BLANKLINE>
    90 items · exact
    """
    places = read.digits(facts, least=_FEWEST)
    name = for_text(facts["name"], limit=NAME_LIMIT)
    known = facts.get("observed") is not None and facts.get("observed_defined", True)
    observed = numbers.plain(facts["observed"], places) if known else numbers.UNDEFINED
    way = read.direction(facts)
    head = page.text(
        f"{name}: {_metric(facts)} {true_minus(numbers.plain(facts['mean'], places))} "
        f"({read.hdi_label(facts)} {interval(facts['hdi'], places)}), "
        f"observed {true_minus(observed)}{f'; {way}' if way else ''}",
        style="strong",
    )
    drawn = [] if draws is None else picture(page, draws, facts, places)
    kept = [one for one in estimate_details(facts) if one[0] in _ALWAYS or page.verbose]
    said = [line for label, text in kept for line in page.labelled(label, text)]
    return _ended([head, drawn, said], facts, page, "hdi")


_OF_FACTOR = ("bayes_factor_against_probability",)  # on a number that only --verbose shows
# What a screen says by its picture and its sentences, and what it says in any case.
_SAID = ("practically", "other ROPEs", "more data")
_ALWAYS = (
    *("regret", "runs", "variance", "pooled", "unpaired", "paper's test", "folds"),
    *("scores", "next data set"),
)
_WORDS = {"BETTER": "better", "EQUIVALENT": "equivalent", "WORSE": "worse"}


def _answer(facts: Facts, page: Page) -> list[Line]:
    """Return who is better, with the symbol at the right where it fits."""
    (first, *rest) = page.text(answer(facts, limit=NAME_LIMIT), style="strong")
    symbol = facts["decision"].get("symbol", "")
    shown = page.writable(symbol)
    room = min(page.width, WIDEST) - display_width(first[0].text) - len(shown)
    if room < 2:
        return [first, *rest]
    return [(*first, Span(" " * room), Span(shown, STYLES.get(symbol, "strong"))), *rest]


def _numbers(facts: Facts, places: int) -> str:
    size = amount(facts, limit=NAME_LIMIT, places=places, metric=_metric(facts), signed=signed)
    way = read.direction(facts)
    inside = f"{read.hdi_label(facts)} {interval(facts['hdi'], places, sign=True)}"
    rope = f"ROPE {read.rope_text(facts)}".replace(" ", KEPT)
    return f"{size} ({inside}), {rope}{f'; {way}' if way else ''}"


def _metric(facts: Facts) -> str:
    return read.metric(facts).replace("macro-averaged ", "macro-")


def _models(facts: Facts, places: int, *, sd: bool) -> Table:
    """Return A, B and their difference, the sign of which is written."""
    columns = (
        Column(key="model", heading=""),
        *(Column(key=key, align="right") for key in ("observed", "mean", *(["sd"] if sd else []))),
        Column(key="hdi", heading=read.hdi_label(facts), align="right"),
    )
    (a, b), rows = facts["names"], []
    for name, one, sign in ((a, facts["a"], False), (b, facts["b"], False), (None, facts, True)):
        write = signed if sign else _plain
        known = one.get("observed") is not None and one.get("observed_defined", True)
        rows.append(
            {
                "model": "difference" if name is None else str(name) or "(empty)",
                "observed": write(one["observed"], places) if known else numbers.UNDEFINED,
                "mean": write(one["mean"], places),
                "sd": numbers.plain(one["sd"], places),
                "hdi": interval(one["hdi"], places, sign=sign),
            }
        )
    return Table(columns, tuple(rows))


def _plain(value: float, places: int) -> str:
    return true_minus(numbers.plain(value, places))


def other_ropes(facts: Facts, places: int) -> str:
    """Return in a sentence for which other widths of the ROPE the decision is another.

    Examples
    --------
    >>> curve = [{"decision": "WORSE", "from": 0.0, "to": 0.008},
    ...          {"decision": "LEANING_WORSE", "from": 0.008, "to": 0.0226},
    ...          {"decision": "EQUIVALENT", "from": 0.0226, "to": None}]
    >>> facts = {"rope_curve": curve, "rope": {"low": -0.005, "high": 0.005}}
    >>> print(other_ropes(facts, 4))
    With a ROPE wider than ±0.008 this is undecided; from ±0.0226 on, equivalent.
    >>> print(other_ropes(facts | {"rope": {"low": -0.05, "high": 0.05}}, 4))
    With a ROPE up to ±0.008 this is worse; up to ±0.0226, undecided.
    """
    rope, steps = facts["rope"], _steps(facts["rope_curve"])
    scaled = rope["low"] != -rope["high"]
    own = next(
        (i for i, (_, _, stop) in enumerate(steps) if (1.0 if scaled else rope["high"]) <= stop), 0
    )
    if len(steps) < 2:
        withheld = steps[0][0] == "undecided"  # a ROPE that is wide enough decides all else
        return f"With any ROPE {'the decision is withheld' if withheld else 'this is the same'}."
    said: list[str] = []
    for place, (word, start, stop) in enumerate(steps):
        if place == own:
            continue
        where = f"from {_wide(start, places, scaled)} on"
        if place < own:
            where = f"up to {_wide(stop, places, scaled)}"
        elif not said:
            where = f"wider than {_wide(start, places, scaled)}"
        said.append(f"{where}, {word}" if said else f"{where} this is {word}")
    return f"With a ROPE {'; '.join(said)}."


def _steps(curve: Sequence[Mapping[str, Any]]) -> list[tuple[str, float, float]]:
    """Return each stretch of widths with one decision in a word; all leanings are undecided."""
    found: list[tuple[str, float, float]] = []
    for one in curve:
        word, stop = _WORDS.get(one["decision"], "undecided"), one["to"]
        stop = inf if stop is None else stop
        if stop <= one["from"]:
            continue
        if found and found[-1][0] == word:
            found[-1] = (word, found[-1][1], stop)
        else:
            found.append((word, one["from"], stop))
    return found


def _wide(value: float, places: int, scaled: bool) -> str:
    if scaled:
        return f"{value:.3g} times this one"
    text = f"{value:.{places}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"±{text if text.strip('0.') else f'{value:.2g}'}"


def _ended(blocks: Sequence[Sequence[Line]], facts: Facts, page: Page, *terms: str) -> list[Line]:
    """Return blocks with findings, method and hint under them."""
    body = stacked(*blocks)
    pairing, prior, drawn = "", "", ""
    for part in read.method(facts):
        if part in ("paired", "unpaired"):
            pairing = part
        elif part == "exact" or part.endswith((" draws", " draw")):
            drawn = part
        else:
            prior = part
    seen = ", ".join(filter(None, [*read.seen(facts), pairing]))
    end = page.method(*filter(None, (seen, prior)), drawn, signature=facts.get("signature", ""))
    end += page.hint(*terms, found=read.findings(facts))
    told = [one for one in read.findings(facts) if page.verbose or one[2] not in _OF_FACTOR]
    return stacked(body, page.told(told, used=len(body) + len(end) + 2), end)


def comparison_details(facts: Facts) -> list[tuple[str, str]]:
    """Return what stands under the numbers of a comparison, as pairs of label and text.

    Examples
    --------
    >>> comparison_details({"names": ["bert", "gpt"], "metric": "f1", "exact": True, "n": 90,
    ...     "rope": {"low": -0.01, "high": 0.01}, "p_worse": 0.01, "p_equivalent": 0.01,
    ...     "p_better": 0.98, "decision": {"name": "BETTER", "symbol": "≫"}})[1]
    ('practically', 'worse 1.00%, equivalent 1.00%, better 98.00%; ROPE ±0.01')
    """
    way = read.direction(facts)
    subject = read.difference(facts, limit=NAME_LIMIT)
    shares = ", ".join(f"{word} {share}" for word, share in read.shares(facts).items())
    details = [
        ("difference", f"{subject} in {read.metric(facts)}{f', {way}' if way else ''}"),
        ("practically", f"{shares}; ROPE {read.rope_text(facts)}"),
    ]
    if facts.get("p_greater") is not None:
        details.append(("above zero", f"P({subject} > 0) {read.probability(facts, 'p_greater')}"))
    regret = regret_text(facts, limit=NAME_LIMIT)
    if regret is not None:
        details.append(("regret", regret))
    factor = bayes_factor_text(facts)
    if factor is not None:
        details.append(("Bayes factor", factor))
    if facts.get("rope_curve"):
        curve = rope_curve_sentence(facts["rope_curve"], rope=facts["rope"], words=True)
        details.append(("other ROPEs", curve))
    if facts.get("needed") is not None:
        details.append(("more data", more_items(facts["needed"], facts)))
    if "runs" in facts:
        details.extend(run_details(facts))
    if "scores" in facts:
        details.append(("scores", read.resampling(facts)))
        if facts["scores"]["next_dataset"] is not None:
            details.append(("next data set", read.next_dataset(facts)))
    if "unpaired" in facts:
        details.append(("unpaired", read.unpaired(facts)))
    if "p_h1" in facts:
        unpaired = "unpaired: " if "unpaired" in facts else ""
        details.append(("paper's test", unpaired + read.bayes_test(facts)))
    return details + estimate_details(facts)


def estimate_details(facts: Facts) -> list[tuple[str, str]]:
    """Return what stands under the numbers of an estimate, as pairs of label and text.

    Examples
    --------
    >>> estimate_details({"n": 90, "exact": True, "mcse": 0.0})
    [('data', '90 items, exact')]
    """
    details = []
    if facts.get("mcse"):
        details.append(("Monte Carlo", f"error of the mean {facts['mcse']:.2g}"))
    if "folds" in facts:
        details.append(("folds", read.folds(facts)))
    text = read.data(facts)
    return details + ([("data", text)] if text else [])


def full_markdown(facts: Facts) -> str:
    """Return a comparison or an estimate as a passage of Markdown.

    Examples
    --------
    >>> hdi = {"low": 0.1, "high": 0.3, "prob": 0.95}
    >>> facts = {"name": "bert", "metric": "f1", "observed": 0.2, "mean": 0.2, "sd": 0.05,
    ...          "hdi": hdi, "n": 90, "exact": True}
    >>> print(full_markdown(facts).splitlines()[0])
    **bert: f1 0.2000 (95% HDI 0.1000 to 0.3000), observed 0.2000.**
    """
    both = "names" in facts
    said = headline(facts) if both else estimate_headline(facts)
    table = comparison_table(facts) if both else estimate_table(facts)
    parts = [f"**{for_markdown(said)}**", table.to_markdown().rstrip()]
    if facts.get("rope_curve"):
        curve = rope_curve_sentence(facts["rope_curve"], rope=facts["rope"], words=True)
        parts.append(f"For other widths of the ROPE: {for_markdown(curve)}.")
    if facts.get("needed") is not None:
        parts.append(for_markdown(more_items(facts["needed"], facts)))
    if both and "runs" in facts:
        parts.append(for_markdown(run_sentences(facts)))
    findings = read.findings(facts)
    if findings:
        parts.append(
            "\n".join(
                f"- {level}: {for_markdown(true_minus(message))} ({for_markdown(name)})"
                for level, message, name in findings
            )
        )
    if facts.get("signature"):
        # As code, in which nothing but a backtick means anything.
        parts.append(f"`{for_text(facts['signature']).replace('`', chr(39))}`")
    return "\n\n".join(parts)


def comparison_card(outline: object, facts: Facts) -> Card:
    """Return a comparison as a card.

    Parameters
    ----------
    outline
        Draws of the difference, or a grid and the density on it.
    facts
        The facts of a comparison.
    """
    way = read.direction(facts)
    measured = for_text(read.metric(facts), limit=2 * NAME_LIMIT)
    subject = f"{read.difference(facts, limit=NAME_LIMIT)}, {measured}"
    said = headline(facts, limit=NAME_LIMIT)
    worse, equivalent, better = read.shares(facts).values()
    label = f"Posterior of {read.difference(facts)} in {read.metric(facts)}. {headline(facts)}"
    return Card(
        headline=said,
        tone=tone(facts["decision"]["symbol"]),
        shares=(worse, equivalent, better),
        picture=(density(outline, facts, label=label), f"{subject}{f', {way}' if way else ''}"),
        table=with_interval(comparison_table(facts)).only(_IN_CARD),
        details=[pair for pair in comparison_details(facts) if pair[0] not in _SHOWN],
        paragraph=paragraph(facts).partition(" Method: ")[0],
        **_rest(facts),
    )


def estimate_card(outline: object, facts: Facts) -> Card:
    """Return an estimate as a card.

    Parameters
    ----------
    outline
        Draws of the metric, or a grid and the density on it.
    facts
        The facts of an estimate.
    """
    said = estimate_headline(facts, limit=NAME_LIMIT)
    label = f"Posterior of {read.metric(facts)}. {estimate_headline(facts)}"
    return Card(
        headline=said,
        picture=(
            density(outline, facts, label=label),
            for_text(read.metric(facts), limit=2 * NAME_LIMIT),
        ),
        table=with_interval(estimate_table(facts)).only(_IN_CARD),
        details=[pair for pair in estimate_details(facts) if pair[0] not in _SHOWN],
        paragraph=estimate_paragraph(facts).partition(" Method: ")[0],
        **_rest(facts),
    )


_IN_CARD = ("model", "observed", "mean", "hdi")
# The card shows them elsewhere; the Bayes factor is for those who ask for it.
_SHOWN = {"difference", "practically", "data", "Bayes factor"}


class _Rest(TypedDict):
    findings: list[tuple[str, str, str]]
    method: str
    signature: str


def _rest(facts: Facts) -> _Rest:
    signature = facts.get("signature")
    return {
        "findings": [one for one in read.findings(facts) if one[2] not in _OF_FACTOR],
        "method": read.data(facts),
        "signature": for_text(signature) if signature else "",
    }
