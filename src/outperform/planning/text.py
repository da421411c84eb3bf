"""Text, tables and figures of plans and proposals."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from outperform._typing import FigureSize, FloatArray, Label
from outperform.display import facts as read
from outperform.display import figure_style, numbers
from outperform.display.document import Chances, Document, Note, Rows
from outperform.display.facts import Facts
from outperform.display.formats import count_column, number_column, text_column
from outperform.display.numbers import for_text
from outperform.display.pictures import OPEN, TONES
from outperform.display.table import Table
from outperform.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MOST_TASKS = 12
_MOST_ROWS = 12
_NAME = 30


def plan_headline(facts: Facts) -> str:
    """Return the result of a plan on one line, with the target.

    Examples
    --------
    >>> facts = {"names": ["bert", "gpt"], "metric": "f1", "metric_label": "F1", "goal": "≫",
    ...          "target": 0.8, "n": 1834, "n_error": 31.0, "least": 1834, "least_error": 31.0,
    ...          "reached": 0.8, "error": 0.008, "highest": 0.8, "seen": 0, "items": "certain",
    ...          "max_items": 1_000_000}
    >>> print(plan_headline(facts))
    1,834 ± 31 items: ≫ with a probability of 80%.
    >>> print(plan_headline(facts | {"n": 5210, "n_error": 120}))
    1,834 ± 31 to 5,210 ± 120 items: probably ≫ (target: 80%).
    >>> print(plan_headline(facts | {"n": None, "reached": 0.34, "highest": 0.91}))
    At least 1,834 ± 31 items: even 1,000,000 reach ≫ with a probability of 34% to 91% (target: 80%).
    >>> print(plan_headline(facts | {"n": None, "least": None, "highest": 0.634}))
    Not reachable: the probability of ≫ is at most 63% with up to 1,000,000 items (target: 80%).
    """  # noqa: E501
    goal = _goal(facts)
    more = " more" if facts["seen"] else ""
    max_items = f"{numbers.count(facts['max_items'])}"
    low, high, target = (_percent(facts[key]) for key in ("reached", "highest", "target"))
    least, n = (_with_error(facts, key) for key in ("least", "n"))
    if n is None and least is not None:
        return (
            f"At least {least}{more} items: even {max_items} reach {_outcome(facts)} with a "
            f"probability of {low} to {high} (target: {target})."
        )
    if n is None and facts["highest"] >= facts["target"]:
        return (
            f"Even {max_items}{more} items may not be enough: {_outcome(facts)} with a probability "
            f"of {low} to {high} (target: {target})."
        )
    if n is None:
        return (
            f"Not reachable: the probability of {_outcome(facts)} is at most {high} with up to "
            f"{max_items}{more} items (target: {target})."
        )
    if facts["n"] == 0:
        return f"No more items are needed: {goal} already."
    if is_range(facts) and least is not None:
        return f"{least} to {n}{more} items: probably {goal} (target: {target})."
    if facts["items"] != "certain":
        return f"{n}{more} items: probably {goal} (target: {target})."
    higher = "" if low == target else f" (target: {target})"
    return f"{n}{more} items: {goal} with a probability of {low}{higher}."


def is_range(facts: Facts) -> bool:
    """Whether the safe number of items exceeds the number at face value by more than its error."""
    least, n = facts["least"], facts["n"]
    if least is None or n is None:
        return bool(least != n)
    return bool(n - least > facts["n_error"])


def _with_error(facts: Facts, key: Literal["n", "least"]) -> str | None:
    n, error = facts[key], facts["n_error" if key == "n" else "least_error"]
    if n is None:
        return None
    return numbers.count_with_error(n, error)


def plan_paragraph(facts: Facts) -> str:
    """Return a plan as a paragraph: the goal, the number of items and the method."""
    a, b = read.names(facts)
    rope, goal = read.rope_text(facts), facts["goal"]
    goal_text = _WORDS.get(goal, for_text(goal))
    parts = [
        f"The goal of comparing {a} and {b} in {read.metric(facts)}, with a region of practical "
        f"equivalence (ROPE) of {rope}, is: {goal_text}. {plan_headline(facts)}"
    ]
    if facts["tasks"]:
        parts.append(f"Items per task: {_tasks(facts)}.")
    if is_range(facts):
        parts.append(_RANGE)
    if facts["seen"]:
        parts.append(f"{numbers.count(facts['seen'])} existing items are included.")
    if facts["items"] == "new":
        parts.append(_ALONE)
    if facts["width"] is not None:
        parts.append(
            f"The interval would {_then(facts)} be {facts['width']:.3g} wide on average, and a "
            "difference of "
            f"{facts['detectable']:.3g} would be declared better with a probability of "
            f"{numbers.percent(facts['target'])} for models that disagree as often as these."
        )
    parts.append(
        f"{numbers.count(facts['n_simulations'])} test sets of {len(facts['sizes'])} sizes were "
        "simulated."
    )
    parts += [f"{message}" for _, message, _ in read.findings(facts, "serious", "warning")]
    return " ".join([*parts, f"Method: {for_text(facts['signature'])}"])


def plan_table(facts: Facts) -> Table:
    """Return one row per simulated size."""
    rows = [
        {"n": n, "share": share, "error": error, "width": width}
        for n, share, error, width in zip(
            facts["sizes"], facts["shares"], facts["mc_errors"], facts["widths"], strict=True
        )
    ]
    columns = (
        count_column("n", "more items" if facts["seen"] else "items"),
        number_column("share", f"P({for_text(facts['goal'])})", 3),
        number_column("error", "simulation error", 3),
        number_column("width", "interval width", 4),
    )
    return Table(columns, tuple(rows), title=f"Probability of {_outcome(facts)}")


def _details(facts: Facts) -> list[tuple[str, str]]:
    a, b = read.names(facts, limit=30)
    details = [
        ("difference", f"{a} − {b} in {read.metric(facts)}; ROPE {read.rope_text(facts)}"),
    ]
    if facts["tasks"]:
        details.append(("tasks", _tasks(facts)))
    if facts["seen"]:
        details.append(("existing", f"{numbers.count(facts['seen'])} items, included"))
    if is_range(facts):
        details.append(("range", _RANGE))
    if facts["items"] == "new":
        details.append(("new items", _ALONE))
    if facts["width"] is not None:
        at_size = _then(facts).replace("then", "at that size")
        details.append(("interval", f"{facts['width']:.3g} wide {at_size}, on average"))
        message = (
            f"{at_size}, a true difference of {facts['detectable']:.3g} is declared better with "
            f"{_percent(facts['target'])} probability"
        )
        details.append(("detectable", message))
    return details


_RANGE = (
    "The first number takes the data at face value. The second is enough even if such models "
    "differ little."
)
_ALONE = "The pilot's items are not part of the analysis."


def _then(facts: Facts) -> str:
    """Return the size for which the interval is predicted, in words."""
    if not is_range(facts):
        return "then"
    key = "least" if facts["n"] is None else "n"
    n = numbers.rounded(facts[key] or 0, facts[f"{key}_error"])
    return f"with {numbers.count(n)}{' more' if facts['seen'] else ''} items"


def _tasks(facts: Facts) -> str:
    relative = facts["n_error"] / facts["n"] if facts["n"] else 0.0
    each = [
        f"{for_text(name)} {numbers.count(numbers.rounded(n, n * relative))}"
        for name, n in facts["tasks"].items()
    ]
    remaining = f" and {len(each) - _MOST_TASKS} more" if len(each) > _MOST_TASKS else ""
    return f"{', '.join(each[:_MOST_TASKS])}{remaining}"


def plan_document(sizes: FloatArray, probability: FloatArray, facts: Facts) -> Document:
    """Return the document of a plan: headline, curve and simulated sizes."""
    items, table = "more items" if facts["seen"] else "items", plan_table(facts)
    points = list(zip(facts["sizes"], facts["shares"], facts["mc_errors"], strict=True))
    headline, outcome = plan_headline(facts), _outcome(facts)
    curve = Chances(
        line=(sizes, probability),
        points=points,
        target=facts["target"],
        at=facts["n"] or None,
        label=f"Probability of {outcome} by the number of {items}. {headline}",
        axis=f"{items}; probability of {outcome}. Dots: simulated, with two simulation errors. "
        "Curve: fitted to these.",
    )
    return Document(
        headline=headline,
        picture=curve if points else None,
        screen=[Rows(table=table)],
        table=table,
        notes=[Note(text, label=label) for label, text in _details(facts)],
        findings=read.findings(facts),
        parts=[f"{numbers.count(facts['n_simulations'])} simulated test sets"],
        signature=for_text(facts["signature"]),
        terms=("rope", "hdi"),
        paragraph=partial(_without_method, facts),
    )


def _without_method(facts: Facts) -> str:
    return plan_paragraph(facts).partition(" Method: ")[0]


_WORDS = {
    "decided": "decided, in either direction",
    "not_worse": "not worse",
    "≫": "≫ (better)",
    "≈": "≈ (practically equivalent)",
    "≪": "≪ (worse)",
}


def _goal(facts: Facts) -> str:
    return for_text(facts["goal"]).replace("_", " ")


def _outcome(facts: Facts) -> str:
    return "a decision" if facts["goal"] == "decided" else _goal(facts)


def _percent(probability: float) -> str:
    near = 0.005 <= probability < 0.995
    return f"{100 * probability:.0f}%" if near else numbers.probability(probability)


# Curves on the same axes differ in dashes and markers, because the colour shows the goal.
_LOOKS: tuple[dict[str, Any], ...] = (
    {"ls": "-", "marker": "o", "open": False},
    {"ls": figure_style.DASHES, "marker": "o", "open": True},
    {"ls": (0, (1, 1.4)), "marker": "s", "open": False},
    {"ls": (0, (5, 1.5, 1, 1.5)), "marker": "s", "open": True},
)
_FINE = 161
_SIMULATED = "● simulated, with two simulation errors"


def plot_power(
    sizes: ArrayLike,
    power: ArrayLike,
    mcse: ArrayLike | None = None,
    *,
    goal: str,
    label: str | None = None,
    ax: Axes | None = None,
    size: FigureSize = "text",
) -> Axes:
    """Draw a power curve, or add one to existing axes.

    Parameters
    ----------
    sizes
        Numbers of items.
    power
        Share of data sets that reached the goal, at each size.
    mcse
        Simulation error of each share; error bars show two errors on either side.
    goal
        Decision to reach.
    label
        Text next to the curve.
    ax
        Axes to draw on. Default: a new figure.
    size
        Width of a new figure.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = plot_power([500, 1000], [0.3, 0.7], goal="≫", ax=Figure(figsize=(9, 3)).subplots())
    >>> ax.get_title(loc="left")
    'With 1,000 items the decision is ≫ with a probability of 70%'
    """
    x, y = (np.asarray(part, dtype=np.float64) for part in (sizes, power))
    if x.ndim != 1 or x.shape != y.shape or x.size < 1:
        raise UsageError(
            "a power curve needs one share per size, and at least one size; got arrays of shapes "
            f"{x.shape} and {y.shape}"
        )
    grid = np.linspace(x.min(), x.max(), _FINE)
    errors = None if mcse is None else np.asarray(mcse, dtype=np.float64)
    answer = f"With {numbers.count(x[-1])} items the decision is {for_text(goal).replace('_', ' ')}"
    title = f"{answer} with a probability of {_percent(float(y[-1]))}"
    with figure_style.canvas(ax, purpose="plot()", height=2.8, size=size) as ax:
        _draw_curve(
            ax, (grid, np.interp(grid, x, y)), (x, y, errors), goal=goal, label=label, title=title,
            note=_SIMULATED if errors is not None else "● simulated",
        )  # fmt: skip
        ax.set_xlabel("items", **figure_style.SMALL)
    return ax


def plot_plan(
    sizes: ArrayLike,
    probability: ArrayLike,
    *,
    facts: Facts,
    least: ArrayLike | None = None,
    label: str | None = None,
    ax: Axes | None = None,
    size: FigureSize = "text",
) -> Axes:
    """Draw a plan's curve, the simulated shares, and the size that reaches the target.

    Parameters
    ----------
    sizes
        Numbers of items.
    probability
        Probability of the goal at each size.
    facts
        The plan as a dictionary.
    least
        Least probability at each size, if it differs; the area down to it is shaded.
    label
        Text next to the curve.
    ax
        Axes to draw on. Default: a new figure.
    size
        Width of a new figure.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> facts = {"goal": "≫", "target": 0.8, "n": 900, "n_error": 20, "least": 900,
    ...          "least_error": 20, "reached": 0.8, "highest": 0.8, "seen": 0, "max_items": 10_000,
    ...          "items": "certain",
    ...          "sizes": [500, 1000], "shares": [0.6, 0.83], "mc_errors": [0.02, 0.02]}
    >>> ax = plot_plan([500, 1000], [0.6, 0.83], facts=facts, ax=Figure().subplots())
    >>> ax.get_title(loc="left")
    '900 ± 20 items: ≫ with a probability of 80%'
    """
    x, y = (np.asarray(part, dtype=np.float64) for part in (sizes, probability))
    n, shares, errors = (np.asarray(facts[key]) for key in ("sizes", "shares", "mc_errors"))
    near = n <= x.max()
    with figure_style.canvas(ax, purpose="plot()", height=2.8, size=size) as ax:
        ink = figure_style.ink(ax)
        faint: dict[str, Any] = {"color": ink, "alpha": figure_style.FAINT, "lw": 0.8, "ls": ":"}
        title = plan_headline(facts).rstrip(".")
        points = n[near], shares[near], errors[near]
        drop = "; shaded: lower if such models differ little" if least is not None else ""
        note = f"{_SIMULATED}; curve: fitted to these{drop}; dotted: target"
        _draw_curve(ax, (x, y), points, goal=facts["goal"], label=label, title=title, note=note)
        if least is not None:
            shade = figure_style.colour(ax, TONES.get(facts["goal"], OPEN))
            low = np.asarray(least, dtype=np.float64)
            ax.fill_between(x, low, y, color=shade, alpha=0.15, lw=0, zorder=1)
        ax.axhline(facts["target"], zorder=2, **faint)
        if facts["n"]:
            ax.plot([facts["n"]] * 2, [0, facts["target"]], zorder=2, **faint)
            up = 2 + 1.5 * figure_style.text_size() * (len(ax.containers) - 1)
            shift, at = (3, up), (facts["n"], 0)  # Labels of additional curves are placed higher.
            n_shown = numbers.count(numbers.rounded(facts["n"], facts["n_error"]))
            figure_style.outlined(ax, n_shown, at, shift, va="bottom")
        ax.set_xlabel("more items" if facts["seen"] else "items", **figure_style.SMALL)
    return ax


def _draw_curve(
    ax: Axes,
    line: tuple[FloatArray, FloatArray],
    points: tuple[FloatArray, FloatArray, FloatArray | None],
    *,
    goal: str,
    label: str | None,
    title: str,
    note: str,
) -> None:
    """Draw a curve, its points with error bars of two simulation errors, and its name."""
    several = len(ax.containers)
    look = _LOOKS[several % len(_LOOKS)]
    shade = figure_style.colour(ax, TONES.get(goal, OPEN))
    ax.plot(*line, color=shade, ls=look["ls"], lw=1.6, zorder=3)
    n, shares, errors = points
    ax.errorbar(
        n,
        shares,
        yerr=None if errors is None else 2 * errors,
        color=shade,
        ls="none",
        marker=look["marker"],
        ms=4.5,
        mfc=figure_style.paper(ax) if look["open"] else shade,
        elinewidth=0.9,
        zorder=4,
    )
    ax.set_ylim(-0.03, 1.03)
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])
    ax.grid(True, axis="y", alpha=0.25)
    ax.set_axisbelow(True)
    ax.set_ylabel("probability", **figure_style.SMALL)
    goal_text = for_text(goal).replace("_", " ")
    text = f"How often the decision is {goal_text}" if several else title
    figure_style.write_title(ax, text, note=note, margin=figure_style.beside_numbers())
    figure_style.count_ticks(ax)
    if label is not None:
        # The label goes where the curve rises, because curves meet at their ends.
        at = int(np.argmin(np.abs(line[1] - (line[1].min() + line[1].max()) / 2)))
        where = (float(line[0][at]), float(line[1][at]))
        name, family = figure_style.name(label), figure_style.family(ax)
        over: dict[str, Any] = {"ha": "right", "va": "bottom"}
        side = {"ha": "left", "va": "top"} if several else over
        shift = (7, -3) if several else (-7, 3)
        figure_style.outlined(ax, name, where, shift, color=shade, family=family, **side)


def proposal_headline(facts: Facts) -> str:
    """Return a proposal in one sentence.

    Examples
    --------
    >>> proposal_headline({"n_proposed": 400, "n_pool": 10_000, "n_apart": 970,
    ...                    "n_proposed_apart": 320})
    '400 of 10,000 items: 320 of the 970 on which the models disagree, and 80 others.'
    """
    proposed, disagreeing = facts["n_proposed"], facts["n_proposed_apart"]
    share = f"{numbers.count(proposed)} of {numbers.count(facts['n_pool'])} items"
    verdicts = facts.get("judge") == "verdicts"
    if not facts["n_apart"]:
        none = "The judge never rates only one model as right."
        same = "The models never disagree, so no label distinguishes them."
        return f"{share}. {none if verdicts else same}"
    differ = (
        "on which the judge rates only one model as right"
        if verdicts
        else "on which the models disagree"
    )
    return (
        f"{share}: {numbers.count(disagreeing)} of the {numbers.count(facts['n_apart'])} {differ}, "
        f"and {numbers.count(proposed - disagreeing)} others."
    )


def proposal_table(facts: Facts) -> Table:
    """Return one row per stratum, those with the most items to label first.

    Examples
    --------
    >>> strata = [{"a": 0, "b": 0, "n_pool": 900, "n_proposed": 20},
    ...           {"a": 0, "b": 1, "n_pool": 100, "n_proposed": 80}]
    >>> facts = {"names": ["old", "new"], "metric": "f1", "strata": strata, "n_pool": 1_000,
    ...          "n_proposed": 100, "n_apart": 100, "n_proposed_apart": 80}
    >>> print(proposal_table(facts).to_text())
    Items to label for f1
    <BLANKLINE>
    old says  new says  in the pool  to label
    --------  --------  -----------  --------
    0         1                 100        80
    0         0                 900        20
    """
    verdicts = facts.get("judge") == "verdicts"
    verb = "by the judge" if verdicts else "says"
    heads = {"judge": "judge says"} if facts.get("judge") == "classes" else {}
    for key, name in zip("ab", facts["names"], strict=True):
        heads[key] = f"{for_text(name, limit=_NAME)} {verb}"
    columns = (
        *(text_column(key, head) for key, head in heads.items()),
        count_column("n_pool", "in the pool"),
        count_column("n_proposed", "to label"),
    )

    def format_label(value: Label) -> str:
        return ("right" if value else "wrong") if verdicts else for_text(value, limit=_NAME)

    rows = tuple(
        {**stratum, **{key: format_label(stratum[key]) for key in heads}}
        for stratum in _ordered(facts)
    )
    return Table(columns, rows, title=f"Items to label for {facts['metric']}")


def proposal_document(facts: Facts) -> Document:
    """Return the document of a proposal: headline and strata, most items to label first."""
    table = proposal_table(facts)
    more = ""
    if left := _ordered(facts)[_MOST_ROWS:]:
        remaining = sum(stratum["n_proposed"] for stratum in left)
        pairs = "strata" if "judge" in facts else "pairs of predictions"
        more = f"and {len(left):,} more {pairs} with {remaining:,} to label"
    few = Table(table.columns, table.rows[:_MOST_ROWS])
    return Document(
        headline=proposal_headline(facts),
        screen=[Rows(table=few, labels=[column.key for column in table.columns[:-2]], left=more)],
        table=table,
        signature=for_text(facts["signature"]),
    )


def _ordered(facts: Facts) -> list[Facts]:
    """Return the strata, those with the most items to label first."""
    return sorted(facts["strata"], key=lambda stratum: -stratum["n_proposed"])
