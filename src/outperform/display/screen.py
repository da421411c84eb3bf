"""A comparison and an estimate as documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import inf
from typing import Any

from outperform._typing import Distribution, FloatArray
from outperform.display import facts as read
from outperform.display import numbers
from outperform.display.document import Document, Note, Posterior, Rows, Where
from outperform.display.facts import Facts
from outperform.display.formats import Column
from outperform.display.layout import KEPT, interval, joined_hdi, signed
from outperform.display.numbers import for_text, true_minus
from outperform.display.paragraphs import (
    estimate_paragraph,
    paragraph,
    run_details,
    run_sentences,
)
from outperform.display.pictures import tone
from outperform.display.sentences import (
    NUMBERS,
    amount,
    answer,
    bayes_factor_text,
    captioned,
    comparison_caption,
    comparison_table,
    estimate_caption,
    estimate_headline,
    estimate_table,
    headline,
    more_items,
    regret_text,
    rope_curve_sentence,
)
from outperform.display.table import Table

NAME_LIMIT = 30
_FEWEST = 2  # minimum number of decimals
# findings about numbers that only --verbose shows
_OF_FACTOR = ("bayes_factor_against_probability",)
_IN_CARD = ("model", *(key for key in NUMBERS if key != "sd"), "hdi")
_WORDS = {"BETTER": "better", "EQUIVALENT": "equivalent", "WORSE": "worse"}


def comparison_document(
    facts: Facts,
    *,
    draws: FloatArray | None = None,
    distribution: Distribution | None = None,
    coverage: Callable[[], str | None] | None = None,
) -> Document:
    """Return a comparison as a document: answer, picture, numbers, findings and method.

    Parameters
    ----------
    facts
        The facts of a comparison.
    draws, distribution
        Draws of the difference, and its closed form. Without draws there is no picture.
    coverage
        Function that returns the expected coverage of the interval, if known.

    Examples
    --------
    >>> hdi = {"low": 0.1, "high": 0.3, "prob": 0.95}
    >>> a = {"name": "bert", "observed": 0.7, "mean": 0.7, "sd": 0.1, "hdi": hdi}
    >>> c = {"names": ["bert", "gpt"], "metric": "f1", "a": a, "b": a | {"name": "gpt"},
    ...      "observed": 0.2, "mean": 0.2, "sd": 0.05, "hdi": hdi, "n": 90, "exact": True,
    ...      "rope": {"low": -0.01, "high": 0.01}, "p_worse": 0.01, "p_equivalent": 0.01,
    ...      "p_better": 0.98, "decision": {"name": "BETTER", "symbol": "≫"}}
    >>> from outperform.display.layout import Page, plain
    >>> print(plain(comparison_document(c).lines(Page(width=60))))
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
    decimals = max(read.digits(part, least=_FEWEST) for part in (facts, facts["a"], facts["b"]))
    direction, of, metric = read.direction(facts), read.difference(facts), read.metric(facts)
    size = amount(facts, limit=NAME_LIMIT, decimals=decimals, metric=_metric(facts), signed=signed)
    inside = f"{read.hdi_label(facts)} {interval(facts['hdi'], decimals, sign=True)}"
    rope = f"ROPE {read.rope_text(facts)}".replace(" ", KEPT)
    worse, equivalent, better = read.shares(facts).values()
    axis = f"{read.difference(facts, limit=NAME_LIMIT)}, {for_text(metric, limit=2 * NAME_LIMIT)}"
    full, sentence = comparison_table(facts), headline(facts)
    notes, prose = [], []
    if facts.get("rope_curve"):
        curve = rope_curve_sentence(facts["rope_curve"], rope=facts["rope"], words=True)
        prose.append(f"With other ROPE widths: {curve}.")
        notes.append(Note(other_ropes(facts, decimals), card=False))
    if facts.get("needed") is not None:
        prose.append(more_items(facts["needed"], facts))
        notes.append(Note(prose[-1], card=False))
    if read.process_sentence(facts):
        prose.append(read.process_sentence(facts))
        notes.append(Note(prose[-1]))
    if "runs" in facts:
        prose.append(run_sentences(facts))
    return Document(
        headline=headline(facts, limit=NAME_LIMIT),
        short=answer(facts, limit=NAME_LIMIT),
        symbol=facts["decision"].get("symbol", ""),
        tone=tone(facts["decision"].get("symbol", "")),
        lead=[
            Note(f"{size} ({inside}), {rope}{f'; {direction}' if direction else ''}", card=False)
        ],
        shares=(worse, equivalent, better),
        picture=None
        if draws is None
        else Posterior(
            draws=draws,
            distribution=distribution,
            facts=facts,
            decimals=decimals,
            label=f"Posterior of {of} in {metric}. {sentence}",
            axis=f"{axis}{f', {direction}' if direction else ''}",
        ),
        screen=[
            Rows(
                table=_models(facts, decimals, sd=False),
                verbose=_models(facts, decimals, sd=True),
                labels=["model"],
            )
        ],
        table=joined_hdi(full, aligned=False).only(_IN_CARD),
        passage=(sentence, full),
        paper=lambda: captioned(full, comparison_caption(facts)),
        notes=[*notes, *_comparison_details(facts)],
        coverage=coverage,
        prose=prose,
        paragraph=partial(_without_method, paragraph, facts),
        terms=("rope", "hdi"),
        **_rest(facts),
    )


def estimate_document(
    facts: Facts,
    *,
    draws: FloatArray | None = None,
    distribution: Distribution | None = None,
) -> Document:
    """Return an estimate as a document: answer, picture, findings and method.

    Parameters
    ----------
    facts
        The facts of an estimate.
    draws, distribution
        Draws of the metric, and its closed form. Without draws there is no picture.

    Examples
    --------
    >>> hdi = {"low": 0.1, "high": 0.3, "prob": 0.95}
    >>> facts = {"name": "bert", "metric": "f1", "observed": 0.2, "mean": 0.2, "sd": 0.05,
    ...          "hdi": hdi, "n": 90, "exact": True}
    >>> from outperform.display.layout import Page, plain
    >>> print(plain(estimate_document(facts).lines(Page())))
    bert: f1 0.20 (95% HDI 0.10 to 0.30), observed 0.20
    <BLANKLINE>
    90 items · exact
    """
    decimals = read.digits(facts, least=_FEWEST)
    name = for_text(facts["name"], limit=NAME_LIMIT)
    known = facts.get("observed") is not None and facts.get("observed_defined", True)
    observed = numbers.plain(facts["observed"], decimals) if known else numbers.UNDEFINED
    direction, metric = read.direction(facts), read.metric(facts)
    full, sentence = estimate_table(facts), estimate_headline(facts)
    return Document(
        headline=estimate_headline(facts, limit=NAME_LIMIT),
        short=f"{name}: {_metric(facts)} {_plain(facts['mean'], decimals)} "
        f"({read.hdi_label(facts)} {interval(facts['hdi'], decimals)}), "
        f"observed {true_minus(observed)}{f'; {direction}' if direction else ''}",
        picture=None
        if draws is None
        else Posterior(
            draws=draws,
            distribution=distribution,
            facts=facts,
            decimals=decimals,
            label=f"Posterior of {metric}. {sentence}",
            axis=for_text(metric, limit=2 * NAME_LIMIT),
        ),
        table=joined_hdi(full, aligned=False).only(_IN_CARD),
        passage=(sentence, full),
        paper=lambda: captioned(full, estimate_caption(facts)),
        notes=_estimate_details(facts),
        paragraph=partial(_without_method, estimate_paragraph, facts),
        terms=("hdi",),
        **_rest(facts),
    )


def _without_method(write: Callable[[Facts], str], facts: Facts) -> str:
    return write(facts).partition(" Method: ")[0]


def _rest(facts: Facts) -> dict[str, Any]:
    """Return the fields for findings and method."""
    pairing, prior, drawn = "", "", ""
    for part in read.method(facts):
        if part in ("paired", "unpaired"):
            pairing = part
        elif part == "exact" or part.endswith((" draws", " draw")):
            drawn = part
        else:
            prior = part
    sample = ", ".join(filter(None, [*read.sample_parts(facts), pairing]))
    signature = facts.get("signature")
    return {
        "findings": read.findings(facts),
        "quiet": _OF_FACTOR,
        "fits": True,
        "parts": (*filter(None, (sample, prior)), drawn),
        "method": read.data(facts),
        "signature": for_text(signature) if signature else "",
    }


def _metric(facts: Facts) -> str:
    return read.metric(facts).replace("macro-averaged ", "macro-")


def _models(facts: Facts, decimals: int, *, sd: bool) -> Table:
    """Return rows for A, B and their difference, which has a sign."""
    columns = (
        Column(key="model", heading=""),
        *(Column(key=key, align="right") for key in NUMBERS if sd or key != "sd"),
        Column(key="hdi", heading=read.hdi_label(facts), align="right"),
    )
    (a, b), rows = facts["names"], []
    for name, part, sign in ((a, facts["a"], False), (b, facts["b"], False), (None, facts, True)):
        write = signed if sign else _plain
        known = part.get("observed") is not None and part.get("observed_defined", True)
        rows.append(
            {
                "model": "difference" if name is None else str(name) or "(empty)",
                **{
                    key: (numbers.plain if key == "sd" else write)(part[key], decimals)
                    for key in NUMBERS
                    if known or key != "observed"
                },
                **({} if known else {"observed": numbers.UNDEFINED}),
                "hdi": interval(part["hdi"], decimals, sign=sign),
            }
        )
    return Table(columns, tuple(rows))


def _plain(value: float, decimals: int) -> str:
    return true_minus(numbers.plain(value, decimals))


def other_ropes(facts: Facts, decimals: int) -> str:
    """Return a sentence on the ROPE widths for which the decision is different.

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
    chosen = next(
        (i for i, (_, _, stop) in enumerate(steps) if (1.0 if scaled else rope["high"]) <= stop), 0
    )
    if len(steps) < 2:
        withheld = steps[0][0] == "undecided"  # otherwise a sufficiently wide ROPE decides
        return f"With any ROPE {'the decision is withheld' if withheld else 'this is the same'}."
    clauses: list[str] = []
    for k, (word, start, stop) in enumerate(steps):
        if k == chosen:
            continue
        where = f"from {_width(start, decimals, scaled)} on"
        if k < chosen:
            where = f"up to {_width(stop, decimals, scaled)}"
        elif not clauses:
            where = f"wider than {_width(start, decimals, scaled)}"
        clauses.append(f"{where}, {word}" if clauses else f"{where} this is {word}")
    return f"With a ROPE {'; '.join(clauses)}."


def _steps(curve: Sequence[Mapping[str, Any]]) -> list[tuple[str, float, float]]:
    """Return each range of widths with its decision in one word; leanings count as undecided."""
    steps: list[tuple[str, float, float]] = []
    for step in curve:
        word, stop = _WORDS.get(step["decision"], "undecided"), step["to"]
        stop = inf if stop is None else stop
        if stop <= step["from"]:
            continue
        if steps and steps[-1][0] == word:
            steps[-1] = (word, steps[-1][1], stop)
        else:
            steps.append((word, step["from"], stop))
    return steps


def _width(value: float, decimals: int, scaled: bool) -> str:
    if scaled:
        return f"{value:.3g} times this one"
    text = f"{value:.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"±{text if text.strip('0.') else f'{value:.2g}'}"


def _comparison_details(facts: Facts) -> list[Note]:
    """Return the notes below the numbers of a comparison."""
    direction = read.direction(facts)
    subject = read.difference(facts, limit=NAME_LIMIT)
    shares = ", ".join(f"{word} {share}" for word, share in read.shares(facts).items())
    # On a screen the picture and the sentences already show some of these, and on a card other
    # parts do. The Bayes factor is shown only on request.
    details = [
        _note(
            "difference",
            f"{subject} in {read.metric(facts)}{f', {direction}' if direction else ''}",
            "verbose",
            card=False,
        ),
        _note("practically", f"{shares}; ROPE {read.rope_text(facts)}", "never", card=False),
    ]
    if facts.get("p_greater") is not None:
        chance = f"P({subject} > 0) {read.probability(facts, 'p_greater')}"
        details.append(_note("above zero", chance, "verbose"))
    regret = regret_text(facts, limit=NAME_LIMIT)
    if regret is not None:
        details.append(_note("regret", regret))
    factor = bayes_factor_text(facts)
    if factor is not None:
        details.append(_note("Bayes factor", factor, "verbose", card=False))
    if facts.get("rope_curve"):
        curve = rope_curve_sentence(facts["rope_curve"], rope=facts["rope"], words=True)
        details.append(_note("other ROPEs", curve, "never"))
    if facts.get("needed") is not None:
        details.append(_note("more data", more_items(facts["needed"], facts), "never"))
    if "runs" in facts:
        details.extend(_note(label, text) for label, text in run_details(facts))
    if "scores" in facts:
        details.append(_note("scores", read.resampling(facts)))
        if facts["scores"]["next_dataset"] is not None:
            details.append(_note("next data set", read.next_dataset(facts)))
    if "unpaired" in facts:
        details.append(_note("unpaired", read.unpaired(facts)))
    if "p_h1" in facts:
        unpaired = "unpaired: " if "unpaired" in facts else ""
        details.append(_note("paper's test", unpaired + read.bayes_test(facts)))
    return details + _estimate_details(facts)


def _estimate_details(facts: Facts) -> list[Note]:
    """Return the notes below the numbers of an estimate."""
    details = []
    if facts.get("mcse"):
        details.append(_note("Monte Carlo", f"error of the mean {facts['mcse']:.2g}", "verbose"))
    if "folds" in facts:
        details.append(_note("folds", read.folds(facts)))
    text = read.data(facts)
    return details + ([_note("data", text, "verbose", card=False)] if text else [])


def _note(label: str, text: str, screen: Where = "always", *, card: bool = True) -> Note:
    return Note(text, label=label, screen=screen, card=card)
