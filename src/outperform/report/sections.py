"""A comparison on the page: the answer for each ROPE, the numbers, the classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from math import ceil, floor, log10
from typing import Any

import numpy as np

from outperform._json import to_json
from outperform._typing import Distribution, FloatArray
from outperform.comparison.coverage import coverage_sentence
from outperform.comparison.result import Comparison
from outperform.decision.rope import Rope
from outperform.display import facts as read
from outperform.display import numbers
from outperform.display.cards import (
    details_html,
    explained,
    finding_item,
    folded,
    table_html,
)
from outperform.display.document import NO_FINDINGS
from outperform.display.facts import Facts
from outperform.display.formats import Column, count_column, text_column
from outperform.display.numbers import for_text, true_minus
from outperform.display.pictures import (
    TALL,
    WIDE,
    Html,
    density_domain,
    element,
    fill_of,
    hill_points,
    outline,
    smooth,
    tone,
)
from outperform.display.rope_figure import widest_rope
from outperform.display.sentences import bayes_factor_text, headline, rope_curve_sentence
from outperform.inference.spec import counted
from outperform.inference.views import of_one_class

# The slider


def rope_positions(comparison: Comparison, facts: Facts, *, most: int) -> tuple[list[Rope], int]:
    """Return about ``most`` ROPEs at most, from narrow to wide, and the index of the chosen one.

    They are half-widths, or multiples of an asymmetric ROPE, in steps of 1, 2 or 5 times a power of
    ten. The chosen ROPE is always included.
    """
    rope = comparison.rope
    low, high, here = (-1.0, 1.0, rope.high) if rope.symmetric else (rope.low, rope.high, 1.0)
    stop = min(widest_rope(facts), _widest(comparison, max(abs(low), abs(high))))
    step = _round_step(max(stop, here) / most)
    widths = [float(step * k) for k in range(floor(Decimal(stop) / step) + 1)]
    others = [width for width in widths if abs(width - here) > 1e-9 * here]
    ropes = {width: Rope(low=low * width, high=high * width) for width in others} | {here: rope}
    ordered = sorted(ropes)
    return [ropes[width] for width in ordered], ordered.index(here)


def _widest(comparison: Comparison, unit: float) -> float:
    """Return the largest multiple within the range of the metric's differences."""
    bounds = comparison.spec.metric.bounds
    return float("inf") if bounds is None or unit == 0 else (bounds[1] - bounds[0]) / unit


def _round_step(least: float) -> Decimal:
    power = floor(log10(least))
    for digit in (1, 2, 5):
        step = digit * Decimal(10) ** power
        if step >= Decimal(repr(least)):
            return step
    return Decimal(10) ** ceil(log10(least))


SHARES = ("worse", "equivalent", "better")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Texts and numbers for one ROPE."""

    rope: str
    low: float
    high: float
    symbol: str
    tone: str
    words: str
    sentence: str
    percentages: tuple[str, str, str]  # worse, equivalent, better
    masses: tuple[float, float, float]
    findings: tuple[tuple[str, str, str], ...]  # level, message, name


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """Answers from the narrowest ROPE to the widest, and the index of the chosen ROPE."""

    answers: tuple[Answer, ...]
    chosen: int

    @property
    def now(self) -> Answer:
        """Answer for the chosen ROPE."""
        return self.answers[self.chosen]

    def packed(self) -> dict[str, Any]:
        """Return the answers as columns, with repeated texts stored once.

        A sentence is stored as its text before and after the ROPE, because only the ROPE changes.
        """
        answers = self.answers
        sentences, sentence = _pool(_around(answer.sentence, answer.rope) for answer in answers)
        findings, _ = _pool(finding for answer in answers for finding in answer.findings)
        index = {finding: k for k, finding in enumerate(findings)}
        decisions, decision = _pool(
            (answer.symbol, answer.tone, answer.words) for answer in answers
        )
        return {
            "chosen": self.chosen,
            "rope": [answer.rope for answer in answers],
            "ends": [[answer.low, answer.high] for answer in answers],
            "decisions": decisions,
            "decision": decision,
            "percentages": [answer.percentages for answer in answers],
            "masses": [[round(mass, 4) for mass in answer.masses] for answer in answers],
            "sentences": sentences,
            "sentence": sentence,
            "findings": findings,
            "found": [[index[finding] for finding in answer.findings] for answer in answers],
        }


def answer_everywhere(comparison: Comparison, facts: Facts, *, most: int) -> Live:
    """Return the answer of a comparison for every slider position."""
    ropes, chosen = rope_positions(comparison, facts, most=most)
    quick = _remembering(comparison)
    answers = [
        _answer(comparison if position == chosen else quick.with_rope(rope), facts)
        for position, rope in enumerate(ropes)
    ]
    return Live(answers=tuple(answers), chosen=chosen)


def _answer(comparison: Comparison, base: Facts) -> Answer:
    rope, decision = comparison.rope, comparison.decision
    masses = comparison.p_worse, comparison.p_equivalent, comparison.p_better
    factor = comparison.bayes_factor
    factor_findings = () if factor is None else factor.findings
    facts = {
        **base,
        "rope": {"low": rope.low, "high": rope.high, "default": rope.default},
        "decision": {"name": decision.name, "symbol": decision.symbol, "words": decision.words},
        "findings": [to_json(item) for item in comparison.findings + factor_findings],
        **{f"p_{word}": mass for word, mass in zip(SHARES, masses, strict=True)},
    }
    worse, equivalent, better = read.shares(facts).values()
    return Answer(
        rope=numbers.rope(rope.low, rope.high),
        low=rope.low,
        high=rope.high,
        symbol=decision.symbol,
        tone=tone(decision.symbol),
        words=decision.words,
        sentence=true_minus(headline(facts)),
        percentages=(worse, equivalent, better),
        masses=masses,
        findings=tuple(read.findings(facts)),
    )


def _around(sentence: str, rope: str) -> tuple[str, str]:
    before, here, after = sentence.rpartition(f"ROPE {rope}")
    return before + here.removesuffix(rope), after


def _pool(texts: Iterable[object]) -> tuple[list[Any], list[int]]:
    """Return the distinct texts in order of first use, and the index of each text."""
    indices: dict[Any, int] = {}
    used = [indices.setdefault(text, len(indices)) for text in texts]
    return list(indices), used


class _Remembered:
    """Distribution with cached values, which are the same under every ROPE."""

    def __init__(self, distribution: Distribution) -> None:
        self._inner = distribution
        self._known: dict[str, Callable[[float], float]] = {
            name: cache(getattr(distribution, name)) for name in ("cdf", "sf", "pdf", "quantile")
        }

    def __getattr__(self, name: str) -> Any:
        return self._known.get(name) or getattr(self._inner, name)


def _remembering(comparison: Comparison) -> Comparison:
    """Return the same comparison with a faster ``with_rope``."""
    return replace(
        comparison,
        distribution=_remembered(comparison.distribution),
        a=replace(comparison.a, distribution=_remembered(comparison.a.distribution)),
        b=replace(comparison.b, distribution=_remembered(comparison.b.distribution)),
    )


def _remembered(distribution: Distribution | None) -> Any:
    return None if distribution is None else _Remembered(distribution)


# Where the predictions differ

_LARGEST_MATRIX = 25
_LONGEST_LIST = 20
_FEW = 6
_SHADES = 4
_NAME = 32
_SHORT = 24


def differences(comparison: Comparison) -> list[Html]:
    """Return A − B in every cell of the confusion matrix; empty if only correctness is known."""
    if comparison.spec.data.kind in ("correct", "scores", "label_sets"):
        return []
    outcomes = counted(comparison.spec).data
    if outcomes.kind == "correct":
        return []
    names = [*outcomes.labels, *(["(no span)"] if outcomes.kind == "spans" else [])]
    labels = [for_text(name, limit=_NAME) for name in names]
    both = [np.asarray(matrix, dtype=np.float64) for matrix in comparison.confusions()]
    a, b = (for_text(name, limit=_SHORT) for name in comparison.names)
    n_different = int(np.count_nonzero(both[0] - both[1]))
    if not n_different:
        return [element("p", "The two confusion matrices are identical.")]
    lead = (
        f"Confusion matrix of {a} minus that of {b}. Rows: true class. Columns: predicted class. "
        f"Blue cells favour {a} (more hits, fewer errors); orange cells favour {b}."
    )
    if len(labels) <= _LARGEST_MATRIX:
        return [element("p", lead, class_="lead"), _matrix(labels, both[0] - both[1])]
    lead += f" There are {len(labels)} classes; the largest of {n_different:,} differences:"
    return [element("p", lead, class_="lead"), _largest(labels, (a, b), both)]


def _matrix(labels: Sequence[str], difference: FloatArray) -> Html:
    top = float(np.abs(difference).max())
    lines = [
        element(
            "tr",
            element("th", label, scope="row"),
            *(_cell(value, row == column, top) for column, value in enumerate(values)),
        )
        for row, (label, values) in enumerate(zip(labels, difference.tolist(), strict=True))
    ]
    heads = [element("th", element("span", label), scope="col") for label in labels]
    table = element(
        "table",
        element("thead", element("tr", element("th"), *heads)),
        element("tbody", *lines),
        class_="heat few" if len(labels) <= _FEW else "heat",
    )
    return element(
        "div", table, class_="op-scroll", tabindex="0", role="region",
        aria_label="Differences of the confusion matrices",
    )  # fmt: skip


def _cell(value: float, right: bool, top: float) -> Html:
    """Return one difference, shaded by the model it favours: ``a1`` to ``a4``, ``b1`` to ``b4``."""
    if value == 0:
        return element("td", "0", class_="none")
    level = int(np.ceil(_SHADES * np.sqrt(abs(value) / top)))
    shade = f"{'a' if (value > 0) is right else 'b'}{level}"
    return element("td", _signed(value), class_=shade)


def _signed(value: float) -> str:
    sign = "+" if value > 0 else "−" if value < 0 else ""
    return sign + numbers.count(abs(value))


def _largest(labels: Sequence[str], names: tuple[str, str], both: Sequence[FloatArray]) -> Html:
    difference = both[0] - both[1]
    order = np.argsort(-np.abs(difference), axis=None, kind="stable")[:_LONGEST_LIST]
    columns = (
        text_column("truth"),
        text_column("predicted"),
        *(count_column(key, name) for key, name in zip("ab", names, strict=True)),
        Column(key="difference", write=_signed, align="right"),
    )
    rows = [
        {
            "truth": labels[row],
            "predicted": labels[column],
            "a": float(both[0][row, column]),
            "b": float(both[1][row, column]),
            "difference": float(difference[row, column]),
        }
        for row, column in (divmod(int(cell), len(labels)) for cell in order)
        if difference[row, column] != 0
    ]
    return table_html(columns, rows, label="Largest differences of the confusion matrices")


# The layout


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Comparison as markup, as plain values, and as data for the slider."""

    html: Html
    facts: dict[str, Any]
    live: dict[str, Any]


def comparison_part(
    name: str,
    comparison: Comparison,
    *,
    most: int,
    with_classes: bool,
    shown: set[object],
    heading: str,
) -> Part:
    """Return a comparison as a section of the page.

    Parameters
    ----------
    name
        Unique name on the page.
    comparison
        The comparison.
    most
        Maximum number of positions of the slider.
    with_classes
        Whether to show the classes.
    shown
        Models and data whose differences the page already shows; updated with this section.
    heading
        Element for headings inside the section.
    """
    facts = comparison.to_dict()
    live = answer_everywhere(comparison, facts, most=most)
    document = comparison._document()
    classes = comparison.by_class() if with_classes and _has_classes(comparison) else None
    # Comparisons of the same models on the same data have the same differences.
    key = id(comparison.spec.data), comparison.names
    cells = [] if key in shown else differences(comparison)
    shown.add(key)
    picture = document.picture
    assert picture is not None  # because a comparison has draws
    factor, coverage = bayes_factor_text(facts), coverage_sentence(comparison)
    paragraph = "" if document.paragraph is None else document.paragraph()
    curve = rope_curve_sentence(facts["rope_curve"], rope=facts["rope"], words=True)
    parts = [
        _decision(live.now),
        _shares(facts, live.now),
        _control(name, live, symmetric=comparison.rope.symmetric),
        element(
            "figure",
            picture.html(),
            element("figcaption", picture.axis),
            element(
                "figcaption",
                explained("Bar: HDI. Dot: posterior mean. Diamond: observed. Band: ROPE. "),
                f"With other ROPE widths: {curve}.",
                class_="key",
            ),
            class_="op-figure",
        ),
    ]
    findings = live.now.findings
    html = [
        element("div", *parts, class_="first"),
        element(heading, "Findings"),
        element(
            "ul",
            *(finding_item(*finding) for finding in findings),
            class_="op-findings",
            data_part="findings",
        ),
        element("p", NO_FINDINGS, data_part="no-findings", hidden=bool(findings)),
        element(heading, "Numbers"),
        *replace(document, shares=None, picture=None).html_parts(),
        details_html(
            [
                *(pair for pair in document.details if pair[0] != "other ROPEs"),
                *([] if factor is None else [("Bayes factor", factor)]),
                ("ROPE as chosen", read.rope_text(facts)),
            ]
        ),
    ]
    more: dict[str, Any] = {}
    if classes is not None:
        by_class = classes._document()
        first = classes.comparisons[0]
        lead = f"Each class against the rest, {for_text(first.spec.metric.label)}, ROPE "
        lead += f"{live.now.rope}, ordered by the difference. {by_class.headline}"
        html += [element(heading, "Classes"), element("p", lead, class_="lead")]
        html += by_class.html_parts()
        more = {"classes": classes.table().to_dict()}
    if cells:
        html += [element(heading, "Where the predictions differ"), *cells]
    html += [
        element(heading, "Method"),
        element("p", f"{document.method[:1].upper()}{document.method[1:]}.", class_="method"),
        *([] if coverage is None else [element("p", coverage, class_="method")]),
        element("p", "Signature: ", element("code", document.signature), class_="signature"),
        folded("As a paragraph for a paper", element("p", paragraph)),
    ]
    shape = outline(comparison.draws, comparison.distribution)
    domain = density_domain(smooth(shape)[0], facts)
    moving = {
        "name": name,
        "picture": f"Posterior of {read.difference(facts)} in {read.metric(facts)}. ",
        "domain": domain,
        "wide": WIDE,
        "tall": TALL,
        "outline": [part.tolist() for part in hill_points(shape, domain)],
    }
    return Part(
        html=Html("\n".join(markup for markup in html if markup is not None)),
        facts={**facts, **more},
        live={**moving, **live.packed()},
    )


def _decision(now: Answer) -> Html:
    return element(
        "div",
        element("p", now.words, class_="badge", data_part="words"),
        element(
            "div",
            element("p", now.sentence, class_="sentence", data_part="sentence"),
            aria_live="polite",
            aria_atomic="true",
        ),
        class_=f"decision op-{now.tone}",
        data_part="decision",
    )


def _shares(facts: Facts, now: Answer) -> Html:
    """Return the probabilities of worse, equivalent and better, as numbers and as one bar."""
    a, b = read.names(facts, limit=_SHORT)
    words = (f"{a} is worse than {b}", "practically equivalent", f"{a} is better than {b}")
    pairs, bars, start = [], [], 0.0
    for name, text, share, mass in zip(SHARES, words, now.percentages, now.masses, strict=True):
        number = element("dd", share, data_part=name)
        pairs.append(element("div", element("dt", text), number, class_=name))
        width = 100 * round(mass, 4)
        bars.append(
            element(
                "rect", data_bar=name, class_=f"op-zone op-{name}", x=f"{start:.2f}",
                width=f"{width:.2f}", y=0, height=4, fill=fill_of(name),
            )
        )  # fmt: skip
        start += width
    bar = element(
        "svg", *bars, class_="bar", viewBox="0 0 100 4", preserveAspectRatio="none",
        aria_hidden="true",
    )  # fmt: skip
    return Html(element("dl", *pairs, class_="shares") + bar)


def _control(name: str, live: Live, *, symmetric: bool) -> Html:
    what = "the largest difference that does not matter" if symmetric else "both edges at once"
    slider, rope = f"{name}-rope", live.now.rope
    return element(
        "div",
        element("label", explained(f"ROPE, {what}"), for_=slider),
        element("output", rope, for_=slider, data_part="rope"),
        element(
            "input", id=slider, type="range", min=0, max=len(live.answers) - 1, step=1,
            value=live.chosen, autocomplete="off", aria_valuetext=rope,
        ),
        element("button", f"Back to {rope}", type="button", data_part="reset"),
        class_="control",
        data_part="control",
        hidden=True,
    )  # fmt: skip


def _has_classes(comparison: Comparison) -> bool:
    if comparison.spec.data.kind == "scores" or comparison.spec.costs is not None:
        return False
    outcomes = counted(comparison.spec).data
    fewest = 2 if outcomes.kind in ("spans", "label_sets") else 3
    asked_for_one = comparison.spec.pos_label is not None or outcomes.kind == "correct"
    if asked_for_one or not fewest <= outcomes.n_classes <= _MOST_CLASSES:
        return False
    # The units of a custom metric may differ from those of F1, so its ROPE may not apply.
    rope, bounds = comparison.rope, of_one_class(counted(comparison.spec).metric).bounds
    return bounds is not None and max(abs(rope.low), abs(rope.high)) <= bounds[1] - bounds[0]


_MOST_CLASSES = 60
