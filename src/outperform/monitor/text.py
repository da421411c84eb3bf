"""Text, tables and figure of a monitor."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from outperform._typing import FigureSize
from outperform.display import facts as read
from outperform.display import figure_style, numbers
from outperform.display.document import Document, Rows, brief
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
from outperform.display.paragraphs import paragraph
from outperform.display.pictures import OPEN, span, tone
from outperform.display.sentences import answer, headline
from outperform.display.table import Table
from outperform.errors import UsageError
from outperform.findings import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_LONGEST_KEY = 24
_IN_TEXT = ("look", "batch", "n", "mean", "hdi_low", "hdi_high", "bayes_factor", "decision", "stop")
_IN_CARD = ("batch", "decision", "n", "mean", "hdi", "bayes_factor", "stop")


def looks_table(facts: Facts) -> Table:
    """Return one row per look.

    Examples
    --------
    >>> look = {"number": 1, "key": "Mon", "n": 100, "observed": 0.02, "mean": 0.02, "sd": 0.01,
    ...         "hdi": {"low": 0.0, "high": 0.04, "prob": 0.95}, "width": 0.04, "p_worse": 0.0,
    ...         "p_equivalent": 0.3, "p_better": 0.7, "bayes_factor": None, "holds": True,
    ...         "decision": {"symbol": ">", "words": "leaning better, not decided"}}
    >>> table = looks_table({"names": ["bert", "gpt"], "looks": [look], "stopped": 1})
    >>> table["batch"], table["stop"]
    (('Mon',), ('stop',))
    """
    name = "" if any(map(read.is_adjusted, facts["looks"])) else "HDI "
    columns = (
        count_column("look"),
        text_column("batch"),
        count_column("n", "items"),
        signed_column("observed"),
        signed_column("mean"),
        number_column("sd"),
        signed_column("hdi_low", f"{name}low"),
        signed_column("hdi_high", f"{name}high"),
        number_column("width"),
        probability_column("p_worse", "P(worse)"),
        probability_column("p_equivalent", "P(ROPE)"),
        probability_column("p_better", "P(better)"),
        number_column("log10_bf10", "log10 BF10", 2),
        text_column("bayes_factor", "Bayes factor"),
        text_column("decision"),
        text_column("stop"),
    )
    rows = tuple(_row(look, facts) for look in facts["looks"])
    return Table(columns, rows, title=f"{read.difference(facts)}, look by look")


def _row(look: Facts, facts: Facts) -> dict[str, Any]:
    factor = look["bayes_factor"]
    return {
        "look": look["number"],
        "batch": for_text(look["key"]),
        "n": look["n"],
        "observed": look["observed"],
        "mean": look["mean"],
        "sd": look["sd"],
        "width": look["width"],
        "p_worse": look["p_worse"],
        "p_equivalent": look["p_equivalent"],
        "p_better": look["p_better"],
        "hdi_low": look["hdi"]["low"],
        "hdi_high": look["hdi"]["high"],
        "log10_bf10": None if factor is None else factor["log10_bf10"],
        "bayes_factor": None if factor is None else numbers.bayes_factor(factor),
        "decision": f"{look['decision']['symbol']} {look['decision']['words']}",
        "stop": "stop" if look["number"] == facts["stopped"] else None,
    }


def look_line(look: Facts) -> str:
    """Return one look as a line for a terminal.

    Examples
    --------
    >>> print(look_line({"number": 3, "key": "Wed", "n": 1200, "mean": 0.021, "sd": 0.008,
    ...     "hdi": {"low": 0.005, "high": 0.037, "prob": 0.95}, "bayes_factor": {"bf01": 0.2},
    ...     "decision": {"symbol": ">", "words": "leaning better, not decided"}}))
    look 3 (Wed): 1,200 items, +0.0210, 95% HDI +0.0050 to +0.0370, BF10 = 5.00, > leaning better, not decided
    """  # noqa: E501
    digits, hdi, factor = numbers.decimals(look["sd"]), look["hdi"], look["bayes_factor"]
    parts = [
        counted(look["n"], "items"),
        numbers.signed(look["mean"], digits),
        f"{read.hdi_label(look)} {numbers.interval(hdi['low'], hdi['high'], digits, sign=True)}",
        *([] if factor is None else [numbers.bayes_factor(factor)]),
        f"{look['decision']['symbol']} {look['decision']['words']}",
    ]
    return f"look {look['number']} ({for_text(look['key'], limit=_LONGEST_KEY)}): " + ", ".join(
        parts
    )


def gauges(facts: Facts) -> str:
    r"""Return the last look in the text format that Prometheus reads, one gauge per number.

    Examples
    --------
    >>> look = {"n": 900, "number": 3, "mean": 0.021, "hdi": {"low": 0.005, "high": 0.037},
    ...         "p_better": 0.4, "p_equivalent": 0.6, "p_worse": 0.0}
    >>> facts = {"names": ["new", "old"], "comparison": {"metric": "accuracy"}, "looks": [look],
    ...          "findings": [{"name": "batches_differ", "level": "serious"}]}
    >>> print(gauges(facts).split("\n")[2])
    outperform_difference{a="new",b="old",metric="accuracy"} 0.021
    """
    look, (a, b) = facts["looks"][-1], facts["names"]
    findings = facts["findings"]
    differ = any(finding["name"] == "batches_differ" for finding in findings)
    values = {
        "difference": ("Mean of A - B at the last look.", look["mean"]),
        "difference_low": ("Lower end of the HDI of A - B.", look["hdi"]["low"]),
        "difference_high": ("Upper end of the HDI of A - B.", look["hdi"]["high"]),
        "p_better": (
            "Probability that A is better than B by more than the ROPE.",
            look["p_better"],
        ),
        "p_equivalent": ("Probability that A - B is in the ROPE.", look["p_equivalent"]),
        "p_worse": ("Probability that A is worse than B by more than the ROPE.", look["p_worse"]),
        "items": ("Number of items.", look["n"]),
        "looks": ("Number of looks.", look["number"]),
        "batches_differ": ("1 if newer batches differ from older ones, otherwise 0.", int(differ)),
        "serious_findings": (
            "Number of serious findings.",
            sum(finding["level"] == "serious" for finding in findings),
        ),
    }
    named = {"a": a, "b": b, "metric": facts["comparison"]["metric"]}
    labels = ",".join(f'{name}="{_escaped(str(value))}"' for name, value in named.items())
    return "\n".join(
        f"# HELP outperform_{name} {text}\n# TYPE outperform_{name} gauge\n"
        f"outperform_{name}{{{labels}}} {value}"
        for name, (text, value) in values.items()
    )


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def stop_words(stop: Facts) -> str:
    """Return a stopping rule in words.

    Examples
    --------
    >>> stop_words({"rule": "width", "at": 0.016}), stop_words({"rule": "decision", "at": None})
    ('the HDI is at most 0.016 wide', 'the decision is firm')
    """
    if stop["rule"] == "decision":
        return "the decision is firm"
    if stop["rule"] == "anytime":
        return "the decision is firm by an interval valid at every look"
    if stop["rule"] == "width":
        return (
            "the HDI is narrow" if stop["at"] is None else f"the HDI is at most {stop['at']:g} wide"
        )
    return f"the Bayes factor is at least {stop['at'] or 10:g} for or against the ROPE"


def monitor_headline(facts: Facts, *, limit: int | None = None) -> str:
    """Return progress and decision on one line.

    Examples
    --------
    >>> monitor_headline({"looks": [], "names": ["bert", "gpt"], "n_batches": 0})
    'bert − gpt: no batch has arrived'
    """
    if not facts["looks"] or facts["comparison"] is None:
        arrived = "no batch has arrived" if not facts["n_batches"] else "no result yet"
        return f"{read.difference(facts, limit=limit)}: {arrived}"
    return f"{_where(facts)}: {headline(facts['comparison'], limit=limit)}"


def _where(facts: Facts) -> str:
    """Return the look of the reported comparison, and the stopping rule."""
    if facts["stopped"] is not None and facts["stop"] is not None:
        return f"stopped at look {facts['stopped']}, when {stop_words(facts['stop'])}"
    number = facts["looks"][-1]["number"]
    waiting = "" if facts["stop"] is None else f"; it stops when {stop_words(facts['stop'])}"
    return f"look {number}{waiting}"


def monitor_document(facts: Facts) -> Document:
    """Return the reported comparison, and every look with its interval."""
    full, now = looks_table(facts), facts["comparison"]
    rope = None if now is None else now["rope"]
    first = [key for key in _IN_TEXT if key != "batch"]
    looked = bool(facts["looks"])
    return Document(
        headline=monitor_headline(facts),
        short=monitor_headline(facts, limit=30),
        tone="" if now is None else tone(now["decision"]["symbol"]),
        screen=[Rows(table=brief(full, _IN_TEXT), first=first, labels=["batch"])] if looked else [],
        table=joined_hdi(full, aligned=False).only(_IN_CARD) if looked else None,
        spans=[span(look, rope=rope) for look in facts["looks"]],
        more=full if looked else None,
        findings=read.findings(facts),
        signature="" if now is None else for_text(now["signature"]),
        paragraph=partial(monitor_paragraph, facts),
    )


def monitor_paragraph(facts: Facts) -> str:
    """Return the monitoring and the reported comparison as a paragraph for a paper."""
    if not facts["looks"] or facts["comparison"] is None:
        return f"{monitor_headline(facts)}."
    looks, stop = len(facts["looks"]), facts["stop"]
    rule = counted(looks, "looks")
    if stop is None:
        rule += ", without a stopping rule"
    elif facts["stopped"] is None:
        rule += f"; the stopping rule ({stop_words(stop)}) is not met yet"
    else:
        rule += f"; the stopping rule ({stop_words(stop)}) was met at look {facts['stopped']}"
    batches = "Labels arrived in batches, and the comparison was repeated after each"
    return f"{batches}: {rule}. {paragraph(facts['comparison'])}"


_TALLEST = 5.0  # Multiple of the last interval's width; wider intervals are cut off.
_BARS = 40  # More bars would merge into a black area.
_MIN_GAP = 0.05  # Distance between two decisions, as a share of the figure's width.


def plot_looks(*, facts: Facts, ax: Axes | None = None, size: FigureSize = "text") -> Axes:
    """Draw mean and HDI after each batch, the ROPE, and the look that met the stopping rule.

    Each interval has the colour of its decision.

    Parameters
    ----------
    facts
        The monitor as a dictionary.
    ax
        Axes to draw into; a new figure if None.
    size
        Width of a new figure.

    Examples
    --------
    >>> looks = [{"number": k, "n": 100 * k, "mean": 0.02, "decision": {"symbol": ">"},
    ...           "hdi": {"low": 0.02 - 0.1 / k, "high": 0.02 + 0.1 / k, "prob": 0.95}}
    ...          for k in (1, 2, 3)]
    >>> facts = {"names": ["bert", "gpt"], "looks": looks, "stopped": 3, "comparison":
    ...          {"metric": "f1", "names": ["bert", "gpt"], "rope": {"low": -0.01, "high": 0.01}}}
    >>> from matplotlib.figure import Figure
    >>> ax = plot_looks(facts=facts, ax=Figure().subplots())
    >>> ax.get_xlabel()
    'items'
    """
    looks = facts["looks"]
    if not looks or facts["comparison"] is None:
        raise UsageError("nothing to plot yet; add at least one batch")
    rope = facts["comparison"]["rope"]
    n = [look["n"] for look in looks]
    indices = range(len(looks))[:: -(1 + (len(looks) - 1) // _BARS)]  # with the last one
    with figure_style.canvas(ax, purpose="plot()", height=3.2, size=size) as ax:
        ink = figure_style.ink(ax)
        figure_style.draw_rope(ax, rope["low"], rope["high"], upright=False)
        low, high = ([look["hdi"][end] for look in looks] for end in ("low", "high"))
        ax.fill_between(n, low, high, fc=ink, alpha=figure_style.BAND, lw=0, zorder=2)
        shades = [figure_style.colour(ax, figure_style.row_tone(looks[i])) for i in indices]
        at, bottom, top = ([values[i] for i in indices] for values in (n, low, high))
        widths = [2.8 if figure_style.row_tone(looks[i]) != OPEN else 1.2 for i in indices]
        ax.vlines(at, bottom, top, color=shades, lw=widths, zorder=3)
        mean = [look["mean"] for look in looks]
        ax.plot(n, mean, color=ink, alpha=figure_style.FAINT, lw=0.9, zorder=4)
        dots: dict[str, Any] = {"s": 24, "ec": [figure_style.paper(ax)], "lw": 0.7, "zorder": 5}
        ax.scatter(at, [mean[i] for i in indices], c=shades, **dots)
        _limit(ax, looks, rope)
        _write_decisions(ax, looks)
        _mark_stop(ax, facts)
        _finish(ax, facts)
    return ax


def _limit(ax: Axes, looks: list[Facts], rope: Facts) -> None:
    """Set axis limits that show the ROPE and, except for very wide ones, all intervals."""
    last = looks[-1]["hdi"]
    most = _TALLEST * max(last["high"] - last["low"], rope["high"] - rope["low"])
    intervals = [look["hdi"] for look in looks if look["hdi"]["high"] - look["hdi"]["low"] <= most]
    low = min([rope["low"], *(interval["low"] for interval in intervals)])
    high = max([rope["high"], *(interval["high"] for interval in intervals)])
    margin = 0.12 * (high - low or 1.0)
    ax.set_ylim(low - margin, high + 1.6 * margin)


def _write_decisions(ax: Axes, looks: list[Facts]) -> None:
    """Write the decision above each look at which it changed."""
    for n, symbol in _changes(looks):
        shade = figure_style.colour(ax, tone(symbol))
        ax.annotate(
            symbol,
            (n, 1.0),
            xycoords=ax.get_xaxis_transform(),
            xytext=(0, -2),
            textcoords="offset points",
            ha="center",
            va="top",
            color=shade,
            family=figure_style.family(ax),
            **figure_style.SMALL,
        )


def _changes(looks: list[Facts]) -> list[tuple[int, str]]:
    """Return where the decision changed; if changes are close together, only the last."""
    changes: list[tuple[int, str]] = []
    for look in looks:
        n, symbol = look["n"], look["decision"]["symbol"]
        if changes and symbol == changes[-1][1]:
            continue
        if changes and n - changes[-1][0] < _MIN_GAP * looks[-1]["n"]:
            changes.pop()
        if not changes or symbol != changes[-1][1]:
            changes.append((n, symbol))
    return changes


def _mark_stop(ax: Axes, facts: Facts) -> None:
    if facts["stopped"] is None:
        return
    n = next(look["n"] for look in facts["looks"] if look["number"] == facts["stopped"])
    ax.axvline(n, color=figure_style.ink(ax), ls=figure_style.DASHES, lw=1.0, zorder=1)
    text = f"stop, look {facts['stopped']}"
    right = n > 0.6 * max(look["n"] for look in facts["looks"])
    side: dict[str, Any] = {"ha": "right" if right else "left", "va": "bottom"}
    at = ax.get_xaxis_transform()
    figure_style.outlined(
        ax, text, (n, 0.0), (-3 if right else 3, 3), xycoords=at, **side, **figure_style.TINY
    )


def _finish(ax: Axes, facts: Facts) -> None:
    comparison = facts["comparison"]
    assert comparison is not None  # Otherwise there is nothing to draw.
    ax.set_xlim(left=0)
    ax.set_xlabel("items", **figure_style.SMALL)
    figure_style.name_axis(ax, comparison, upright=True)
    figure_style.count_ticks(ax)
    names = figure_style.brief(comparison["names"], limit=figure_style.SHORT_NAME)
    when = f"After look {facts['looks'][-1]['number']}"
    if facts["stopped"] is not None:
        when = f"Stopped at look {facts['stopped']}"
    text = answer({**comparison, "names": names}) if "decision" in comparison else " − ".join(names)
    interval = read.hdi_label(facts["looks"][-1])
    note = f"● mean, │ {interval}, shaded: ROPE {read.rope_text(comparison)}"
    title = f"{when}: {text.replace('Undecided', 'undecided', 1)}"
    figure_style.write_title(ax, title, note=note, margin=figure_style.beside_numbers())
