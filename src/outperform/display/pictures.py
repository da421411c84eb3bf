"""HTML elements with escaped text, and SVG pictures built from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from math import ceil, floor, log10

import numpy as np
from numpy.typing import ArrayLike

from outperform._typing import BoolArray, Distribution, FloatArray
from outperform.display import facts as read
from outperform.display import numbers
from outperform.display.colours import LIGHT
from outperform.display.facts import Facts
from outperform.display.numbers import true_minus


class Html(str):
    """HTML markup; all other text is escaped."""

    __slots__ = ()


_VOID = frozenset({"br", "input", "link", "meta"})
# A line break follows these elements. It is invisible, but GitHub, an untrusted notebook and
# whoever copies the text remove tags and styles, and words must not run together.
_BROKEN = frozenset({
    "br", "caption", "dd", "details", "div", "dt", "figcaption", "figure", "h1", "h2", "h3", "h4",
    "label", "li", "p", "style", "summary", "svg", "table", "td", "text", "th", "tr",
})  # fmt: skip


def element(tag: str, *content: str | None, **attributes: str | float | bool | None) -> Html:
    """Return one element, with content and attributes escaped except for markup.

    Parameters
    ----------
    tag
        Name of the element.
    *content
        Text or elements; None is omitted.
    **attributes
        ``class_`` becomes ``class`` and ``data_part`` becomes ``data-part``. None and False are
        omitted, and True has no value.

    Examples
    --------
    >>> element("span", "<b>", element("i"), class_="op-r", hidden=True)
    '<span class="op-r" hidden>&lt;b&gt;<i></i></span>'
    """
    texts = [
        f" {name}" if value is True else f' {name}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
        for name in [key.rstrip("_").replace("_", "-")]
    ]
    start = f"<{tag}{''.join(texts)}>"
    end = "\n" if tag in _BROKEN else ""
    return Html(f"{start}{end}" if tag in _VOID else f"{start}{joined(content)}</{tag}>{end}")


def joined(content: Iterable[str | None]) -> Html:
    """Join pieces, and escape text."""
    return Html(
        "".join(
            piece if isinstance(piece, Html) else escape(piece, quote=False)
            for piece in content
            if piece is not None
        )
    )


TONES = {"≫": "better", "≪": "worse", "≈": "equivalent"}
_OF_NAME = {"BETTER": "better", "WORSE": "worse", "EQUIVALENT": "equivalent"}
OPEN = "open"


def tone(decision: str) -> str:
    """Return the colour of a decision, given its name or first symbol.

    Examples
    --------
    >>> tone("WORSE"), tone("≫ better"), tone("~ probably equivalent, not decided")
    ('worse', 'better', 'open')
    """
    return _OF_NAME.get(decision) or TONES.get(decision.partition(" ")[0], OPEN)


# Pictures. Horizontal positions are percentages, so text keeps its size on every screen. All
# information is in the geometry and in attributes, because pages may or may not clip, and may drop
# or replace the style sheet. The style sheet only adds the colours for a light or dark screen.

WIDE = 1000  # width of stretched parts, in units
TALL = 112  # height of a density, in pixels
_BAR, _AXIS = TALL + 15, TALL + 30
_ROW = 20
_NARROW = 110  # width of an interval in a table on a narrow screen, as in the style sheet


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Interval to draw: ends, mean, observed value, ROPE and colour."""

    low: float
    high: float
    mean: float
    observed: float | None = None
    rope: tuple[float, float] | None = None
    tone: str = OPEN


def span(facts: Facts, *, rope: Facts | None = None) -> Span:
    """Return the interval of a difference, or of a model, from its facts."""
    hdi, decision = facts["hdi"], facts.get("decision")
    return Span(
        low=hdi["low"],
        high=hdi["high"],
        mean=facts["mean"],
        observed=facts.get("observed"),
        rope=None if rope is None else (rope["low"], rope["high"]),
        tone=OPEN if decision is None else tone(decision["symbol"]),
    )


def position(value: float, domain: tuple[float, float]) -> float:
    """Return the horizontal position of a value, from 0 to 100, clipped at the edges."""
    low, high = domain
    return 100 * min(max((value - low) / (high - low), 0.0), 1.0)


def _at(value: float, domain: tuple[float, float]) -> str:
    return f"{position(value, domain):.2f}%"


def _domain(values: Iterable[float], *, margin: float) -> tuple[float, float]:
    known = [value for value in values if np.isfinite(value)]
    low, high = min(known), max(known)
    room = margin * (high - low) or 0.5e-3
    return low - room, high + room


def _ticks(domain: tuple[float, float], *, most: int) -> list[tuple[float, str]]:
    """Return round values within a range, with their text."""
    low, high = domain
    power = floor(log10((high - low) / most))
    step = next(k * 10.0**power for k in (1, 2, 5, 10) if (high - low) / (k * 10.0**power) <= most)
    digits = max(0, -floor(log10(step) + 1e-9))
    values = [step * k for k in range(ceil(low / step), floor(high / step) + 1)]
    return [(value, f"{value:,.{digits}f}".replace("-", "−")) for value in values]


def fill_of(name: str) -> str:
    """Return the colour of a part or mark, used without a style sheet."""
    return LIGHT.get(name, "currentColor")


_CHARACTER = 7.5  # maximum width of a character, in pixels


def _ticks_in(domain: tuple[float, float], *, most: int, pixels: float) -> list[tuple[float, str]]:
    """Return as many round values as fit side by side and are not cut, two if possible.

    Examples
    --------
    >>> _ticks_in((-0.008, 0.056), most=4, pixels=110)
    [(0.0, '0.00'), (0.04, '0.04')]
    """
    known = []
    for n in range(most, 1, -1):
        ticks = [tick for tick in _ticks(domain, most=n) if 8 < position(tick[0], domain) < 92]
        known += [ticks, ticks[:: max(len(ticks) - 1, 1)]]
    fitting = [ticks for ticks in known if ticks and _fit(ticks, domain, pixels)]
    return next((ticks for ticks in fitting if len(ticks) > 1), fitting[0] if fitting else [])


def _fit(ticks: Sequence[tuple[float, str]], domain: tuple[float, float], pixels: float) -> bool:
    """Return whether the texts of evenly spaced values do not touch."""
    if len(ticks) < 2:
        return True
    step = ticks[1][0] - ticks[0][0]
    longest = max(len(text) for _, text in ticks)
    return pixels * step / (domain[1] - domain[0]) >= _CHARACTER * longest + 6


def _line(
    x1: str, x2: str, y1: float | str, y2: float | str, kind: str, *, stroke: str = "currentColor"
) -> Html:
    return element("line", x1=x1, x2=x2, y1=y1, y2=y2, class_=f"op-{kind}", stroke=stroke)


def _write(
    x: str,
    y: float,
    text: str,
    *,
    anchor: str = "middle",
    dx: float | None = None,
    kind: str | None = None,
) -> Html:
    classes = None if kind is None else f"op-{kind}"
    return element(
        "text", text, x=x, y=y, dx=dx, text_anchor=anchor, class_=classes, fill="currentColor"
    )


def _interval(interval: Span, domain: tuple[float, float], y: float | str) -> list[Html]:
    """Return the bar, the hollow diamond of the observed value, and the dot of the mean."""
    at = f"op-{interval.tone}"
    fill = fill_of(interval.tone)
    marks = [
        _line(_at(interval.low, domain), _at(interval.high, domain), y, y, f"bar {at}", stroke=fill)
    ]
    if interval.observed is not None and np.isfinite(interval.observed):
        diamond = element(
            "path", d="M-5,0L0,-5L5,0L0,5Z", class_="op-seen", fill="none", stroke="currentColor"
        )
        marks.append(
            element(
                "svg", diamond, x=_at(interval.observed, domain), y=y, overflow="visible",
                aria_hidden="true",
            )
        )  # fmt: skip
    dot = element(
        "circle", cx=_at(interval.mean, domain), cy=y, r=3.2, class_=f"op-dot {at}", fill=fill
    )
    return [*marks, dot]


def _picture(*content: Html, height: float, label: str, kind: str) -> Html:
    return element(
        "svg", *content, class_=f"op-{kind}", width="100%", height=height, role="img",
        aria_label=label,
    )  # fmt: skip


def density_domain(grid: FloatArray, facts: Facts) -> tuple[float, float]:
    """Return the value range of a posterior's picture; for a difference it includes the ROPE."""
    ends = [float(grid[0]), float(grid[-1]), facts["hdi"]["low"], facts["hdi"]["high"]]
    if "rope" in facts:
        ends += [0.0, 1.4 * facts["rope"]["low"], 1.4 * facts["rope"]["high"]]
    return _domain(ends, margin=0.14)  # space for the numbers next to the interval


def density(outline: object, facts: Facts, *, label: str) -> Html:
    """Return the picture of a posterior with ROPE, HDI, mean and observed value.

    Parameters
    ----------
    outline
        Draws, or a grid and the density on it.
    facts
        The comparison or estimate as a dictionary. An estimate has only one part.
    label
        Text alternative.
    """
    domain = density_domain(smooth(outline)[0], facts)
    hill = hill_points(outline, domain)
    behind, zones = [], [_zone(hill, 0, 100, OPEN)]
    if "rope" in facts:
        left, right = (position(facts["rope"][end], domain) for end in ("low", "high"))
        names = ["worse", "equivalent", "better"]
        if not facts.get("greater_is_better", True):
            names.reverse()
        edges = [0.0, left, right, 100.0]
        zones = [_zone(hill, *part) for part in zip(edges, edges[1:], names, strict=False)]
        behind = [
            _band(left, right, _AXIS),
            # It leaves room for the numbers at the ends of the interval.
            _line(_at(0, domain), _at(0, domain), 0, _BAR - 8, "zero"),
            _line(_at(0, domain), _at(0, domain), _BAR + 8, _AXIS, "zero"),
        ]
    low, high = _ends(facts)
    axis = [_line("0%", "100%", _AXIS, _AXIS, "axis")]
    ticks = _ticks(domain, most=6)
    for value, text in ticks:
        # On narrow screens every other tick is omitted, except 0.
        odd = len(ticks) > 3 and round(value / (ticks[1][0] - ticks[0][0])) % 2 == 1
        at = _at(value, domain)
        axis += [_line(at, at, _AXIS, _AXIS + 4, "axis op-odd" if odd else "axis")]
        axis += [_write(at, _AXIS + 17, text, kind="odd" if odd else None)]
    return _picture(
        *behind,
        element(
            "svg", *zones, class_="op-hill", width="100%", height=TALL,
            viewBox=f"0 0 {WIDE} {TALL}", preserveAspectRatio="none", aria_hidden="true",
        ),
        *_interval(replace(span(facts), tone=OPEN), domain, _BAR),
        _write(_at(facts["hdi"]["low"], domain), _BAR + 4, low, anchor="end", dx=-8),
        _write(_at(facts["hdi"]["high"], domain), _BAR + 4, high, anchor="start", dx=8),
        *axis,
        height=_AXIS + 22,
        label=label,
        kind="density",
    )  # fmt: skip


def hill_points(outline: object, domain: tuple[float, float]) -> tuple[FloatArray, FloatArray]:
    """Return the outline of a density in picture units, from left to right."""
    grid, height = smooth(outline)
    x = WIDE / 100 * np.array([position(value, domain) for value in grid])
    y = TALL - (TALL - 4) * height / height.max()
    return x.round(1), y.round(1)


def _zone(hill: tuple[FloatArray, FloatArray], left: float, right: float, name: str) -> Html:
    """Return the part of an outline between two percentages."""
    d = _part(*hill, WIDE / 100 * left, WIDE / 100 * right)
    return element("path", d=d, class_=f"op-zone op-{name}", fill=fill_of(name))


def _part(x: FloatArray, y: FloatArray, left: float, right: float) -> str:
    """Return the path of the area under an outline from left to right; "" if it is empty.

    A step at an end belongs to the part in which it lies.

    Examples
    --------
    >>> _part(np.array([0.0, 10.0, 20.0]), np.array([112.0, 12.0, 112.0]), 5.0, 15.0)
    'M5.0,112L5.0,62.0L10.0,12.0L15.0,62.0L15.0,112Z'
    """
    left, right = max(left, float(x[0])), min(right, float(x[-1]))
    if left >= right:
        return ""
    first, last = int(np.searchsorted(x, left, side="right")), int(np.searchsorted(x, right))
    points = [
        (left, _height(x, y, first, left)),
        *zip(x[first:last].tolist(), y[first:last].tolist(), strict=True),
        (right, _height(x, y, last, right)),
    ]
    over = "L".join(f"{across:.1f},{down:.1f}" for across, down in points)
    return f"M{left:.1f},{TALL}L{over}L{right:.1f},{TALL}Z"


def _height(x: FloatArray, y: FloatArray, k: int, at: float) -> float:
    """Return the height between a point and the previous one."""
    share = (at - x[k - 1]) / (x[k] - x[k - 1])
    return float(y[k - 1] + share * (y[k] - y[k - 1]))


def _band(left: float, right: float, height: float | str) -> Html:
    """Return the ROPE in the background of a picture."""
    return element(
        "rect", x=f"{left:.2f}%", width=f"{right - left:.2f}%", y=0, height=height,
        class_="op-rope", fill="currentColor", fill_opacity=0.1,
    )  # fmt: skip


def _ends(facts: Facts) -> tuple[str, str]:
    write: Callable[[float, int], str] = numbers.signed if "rope" in facts else numbers.plain
    hdi, decimals = facts["hdi"], read.digits(facts)
    return true_minus(write(hdi["low"], decimals)), true_minus(write(hdi["high"], decimals))


_TAIL = 5e-4
POINTS = 161
Outline = FloatArray | tuple[FloatArray, FloatArray]
"""Draws, or a grid and the density on it."""


def outline(draws: FloatArray, distribution: Distribution | None) -> Outline:
    """Return the exact density if there is one, otherwise the draws."""
    if distribution is None:
        return draws
    low, high = (distribution.quantile(p) for p in (_TAIL, 1 - _TAIL))
    return exact_density(distribution, low, high) or draws


def exact_density(
    distribution: Distribution, low: float, high: float
) -> tuple[FloatArray, FloatArray] | None:
    """Return the density between two values; None if it is not a curve."""
    grid = np.linspace(low, high, POINTS)
    height = np.array([distribution.pdf(float(value)) for value in grid])
    finite: BoolArray = np.isfinite(height)
    if high <= low or finite.sum() < POINTS // 2 or height[finite].max() <= 0:
        return None
    return grid[finite], height[finite]


_FINE = 193  # odd, because the kernel needs a central value
_DISTINCT = 60


def smooth(outline: object) -> tuple[FloatArray, FloatArray]:
    """Return a curve: the given density, or a kernel density of the draws.

    Draws with few distinct values become steps.

    Examples
    --------
    >>> grid, height = smooth(np.random.default_rng(0).normal(size=4000))
    >>> abs(float(grid[height.argmax()])) < 0.3
    True
    """
    if isinstance(outline, tuple):
        grid, height = (np.asarray(part, dtype=np.float64) for part in outline)
        return grid, height
    draws = np.asarray(outline, dtype=np.float64)
    low, high = np.quantile(draws, [0.0005, 0.9995])
    if high <= low:
        return np.array([low - 5e-4, low + 5e-4]), np.ones(2)
    n_values = np.unique(draws[: 20 * _DISTINCT]).size
    if n_values <= _DISTINCT:
        height, edges = np.histogram(draws, bins=min(40, n_values))
        return np.repeat(edges, 2)[1:-1], np.repeat(height, 2).astype(np.float64)
    bandwidth = 0.9 * min(draws.std(), np.subtract(*np.quantile(draws, [0.75, 0.25])) / 1.34)
    bandwidth *= draws.size**-0.2  # Silverman's rule
    pad = 3 * bandwidth
    height, edges = np.histogram(draws, bins=_FINE, range=(low - pad, high + pad))
    middle = (edges[1:] + edges[:-1]) / 2
    kernel = np.exp(-0.5 * ((middle - middle.mean()) / max(bandwidth, np.diff(edges)[0])) ** 2)
    return middle, np.convolve(height, kernel / kernel.sum(), mode="same")


def curve(
    line: tuple[ArrayLike, ArrayLike],
    points: Sequence[tuple[float, float, float]],
    *,
    target: float | None = None,
    at: float | None = None,
    label: str,
) -> Html:
    """Return a picture of probabilities by number of items: line, points with errors, target.

    Parameters
    ----------
    line
        Numbers of items and the probability at each.
    points
        Number of items, share and simulation error of each simulation.
    target
        Target probability.
    at
        Number of items that reaches it.
    label
        Text alternative.
    """
    sizes, shares = (np.asarray(part, dtype=np.float64) for part in line)
    domain = (0.0, 1.04 * float(sizes.max()))
    x, y = (sizes / domain[1] * WIDE), TALL * (1.04 - shares) / 1.06
    path_data = "L".join(f"{across:.1f},{down:.1f}" for across, down in zip(x, y, strict=True))

    def level(share: float) -> float:
        return round(TALL * (1.04 - min(max(share, 0.0), 1.0)) / 1.06, 1)

    marks = []
    for value, text in ((0, "0%"), (0.5, "50%"), (1, "100%")):
        marks += [_line("0%", "100%", level(value), level(value), "grid")]
        marks += [_write("0%", level(value) + (-3 if value < 1 else 12), text, anchor="start")]
    if target is not None:
        marks.append(_line("0%", "100%", level(target), level(target), "zero"))
    if at is not None and target is not None:
        marks.append(_line(_at(at, domain), _at(at, domain), level(target), TALL, "zero"))
    path = element("path", d=f"M{path_data}", class_="op-line", fill="none", stroke="currentColor")
    marks.append(
        element(
            "svg", path, class_="op-path", width="100%", height=TALL,
            viewBox=f"0 0 {WIDE} {TALL}", preserveAspectRatio="none", aria_hidden="true",
        )
    )  # fmt: skip
    for n, share, error in points:
        if n <= domain[1]:
            here = _at(n, domain)
            marks.append(
                _line(here, here, level(share - 2 * error), level(share + 2 * error), "axis")
            )
            marks.append(
                element(
                    "circle", cx=here, cy=level(share), r=3.2, class_="op-dot", fill="currentColor"
                )
            )
    for value, text in _ticks(domain, most=5)[1:]:
        marks.append(_write(_at(value, domain), TALL + 17, text))
    return _picture(*marks, height=TALL + 22, label=label, kind="curve")


def spans_html(spans: Sequence[Span], *, zero: bool) -> tuple[Html, list[Html]]:
    """Return the axis of a column of intervals, and the intervals."""
    values = [value for s in spans for value in (s.low, s.high, s.observed, s.mean)]
    ropes = [1.2 * end for s in spans if s.rope for end in s.rope]
    known = [value for value in (*values, *ropes, *([0.0] if zero else [])) if value is not None]
    domain = _domain(known, margin=0.06)
    ticks = [
        _write(_at(value, domain), 12, text)
        for value, text in _ticks_in(domain, most=4, pixels=_NARROW)
    ]
    axis = element("svg", *ticks, width="100%", height=16, aria_hidden="true")
    return axis, [_row(interval, domain, zero=zero) for interval in spans]


def _row(interval: Span, domain: tuple[float, float], *, zero: bool) -> Html:
    behind = []
    if interval.rope is not None:
        left, right = (position(end, domain) for end in interval.rope)
        behind.append(_band(left, right, "100%"))
    if zero:
        behind.append(_line(_at(0, domain), _at(0, domain), 0, "100%", "zero"))
    marks = _interval(interval, domain, "50%")
    return element("svg", *behind, *marks, width="100%", height=_ROW, aria_hidden="true")
