"""A result on one screen: text, Markdown or a card."""

from __future__ import annotations

from textwrap import wrap
from typing import TypedDict

from outperform.display import facts as read
from outperform.display.cards import Card, with_interval
from outperform.display.facts import Facts
from outperform.display.numbers import for_markdown, for_text
from outperform.display.paragraphs import (
    estimate_paragraph,
    paragraph,
    run_details,
    run_sentences,
)
from outperform.display.pictures import density, tone
from outperform.display.sentences import (
    bayes_factor_text,
    comparison_table,
    estimate_headline,
    estimate_table,
    headline,
    more_items,
    regret_text,
    rope_curve_sentence,
)
from outperform.findings import counted

WIDTH = 96
HEIGHT = 24
NAME_LIMIT = 30
_MARGIN = 14
_LONGEST = 3 * WIDTH


def full_text(facts: Facts) -> str:
    """Return a comparison or an estimate with everything there is to say, however long.

    Examples
    --------
    >>> hdi = {"low": 0.1, "high": 0.3, "prob": 0.95}
    >>> facts = {"name": "bert", "metric": "f1", "observed": 0.2, "mean": 0.2, "sd": 0.05,
    ...          "hdi": hdi, "n": 90, "exact": True}
    >>> full_text(facts) == estimate_screen(facts)
    True
    """
    return screen(facts, height=None) if "names" in facts else estimate_screen(facts, height=None)


def screen(facts: Facts, *, height: int | None = HEIGHT) -> str:
    """Return a comparison on one screen: the headline, the numbers, the findings.

    Examples
    --------
    >>> hdi = {"low": 0.1, "high": 0.3, "prob": 0.95}
    >>> a = {"name": "bert", "observed": 0.7, "mean": 0.7, "sd": 0.1, "hdi": hdi}
    >>> c = {"names": ["bert", "gpt"], "metric": "f1", "a": a, "b": a | {"name": "gpt"},
    ...      "observed": 0.2, "mean": 0.2, "sd": 0.05, "hdi": hdi, "n": 90, "exact": True,
    ...      "rope": {"low": -0.01, "high": 0.01}, "p_worse": 0.01, "p_equivalent": 0.01,
    ...      "p_better": 0.98, "decision": {"name": "BETTER", "symbol": "≫"}}
    >>> print(screen(c).splitlines()[0])
    bert is better than gpt: f1 higher by 0.2000 (95% HDI +0.1000 to +0.3000), ROPE ±0.01.
    """
    body = [headline(facts, limit=NAME_LIMIT), "", *_table_lines(facts), ""]
    return _fill(body, comparison_details(facts), facts, height)


def estimate_screen(facts: Facts, *, height: int | None = HEIGHT) -> str:
    """Return an estimate on one screen: the headline, the numbers, the findings.

    Examples
    --------
    >>> hdi = {"low": 0.1, "high": 0.3, "prob": 0.95}
    >>> facts = {"name": "bert", "metric": "f1", "observed": 0.2, "mean": 0.2, "sd": 0.05,
    ...          "hdi": hdi, "n": 90, "exact": True}
    >>> print(estimate_screen(facts).splitlines()[0])
    bert: f1 0.2000 (95% HDI 0.1000 to 0.3000), observed 0.2000.
    """
    body = [estimate_headline(facts, limit=NAME_LIMIT), "", *_table_lines(facts), ""]
    return _fill(body, estimate_details(facts), facts, height)


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
    shares = ", ".join(
        f"{word} {read.probability(facts, 'p_' + word)}"
        for word in ("worse", "equivalent", "better")
    )
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


def _table_lines(facts: Facts) -> list[str]:
    table = comparison_table(facts) if "names" in facts else estimate_table(facts)
    return table.to_text().splitlines()[2:]  # the headline has said the title


def _fill(body: list[str], details: list[tuple[str, str]], facts: Facts, height: int | None) -> str:
    lines = [line for part in body for line in wrapped(part)]
    for label, text in details:
        lines.extend(wrapped(f"{label:<{_MARGIN}}{text}", indent=_MARGIN))
    signature = facts.get("signature")
    ending = wrapped(for_text(signature, limit=_LONGEST), indent=2) if signature else []
    room = None if height is None else height - len(lines) - len(ending)
    lines.extend(_finding_lines(facts, room=room))
    return "\n".join(lines + ending)


def _finding_lines(facts: Facts, *, room: int | None) -> list[str]:
    """Write the gravest findings in the room that is left, and count the others."""
    found = read.findings(facts)
    lines: list[str] = []
    for position, (level, message, name) in enumerate(found):
        more = wrapped(f"{level}: {for_text(message, limit=_LONGEST)} [{name}]", indent=2)
        reserve = 1 if position + 1 < len(found) else 0
        if room is not None and lines and len(lines) + len(more) + reserve > room:
            left = len(found) - position
            lines.append(f"and {counted(left, 'more findings')}")
            break
        lines.extend(more)
    return lines


def wrapped(text: str, *, indent: int = 0) -> list[str]:
    """Return the lines of a text that fit on the screen.

    Examples
    --------
    >>> wrapped("short")
    ['short']
    """
    if len(text) <= WIDTH:
        return [text]
    return wrap(
        text,
        WIDTH,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


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
                f"- {level}: {for_markdown(message)} ({for_markdown(name)})"
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
    worse, equivalent, better = (
        read.probability(facts, f"p_{word}") for word in ("worse", "equivalent", "better")
    )
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
_SHOWN = {"difference", "practically", "data"}  # the card shows them elsewhere


class _Rest(TypedDict):
    findings: list[tuple[str, str, str]]
    method: str
    signature: str


def _rest(facts: Facts) -> _Rest:
    signature = facts.get("signature")
    return {
        "findings": read.findings(facts),
        "method": read.data(facts),
        "signature": for_text(signature) if signature else "",
    }
