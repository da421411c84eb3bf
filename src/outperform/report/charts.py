"""The page's charts as SVG."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Protocol, cast
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from outperform._typing import FloatArray
from outperform.errors import require

INK = "#1b1f24"
QUIET = "#59636e"
LINE = "#8c959f"
ROPE = "#e4e8ec"
BETTER = "#0b5fad"
WORSE = "#a84300"
EQUIVALENT = "#4d5761"

NAMES = {
    INK: "ink",
    QUIET: "quiet",
    LINE: "line",
    ROPE: "rope",
    BETTER: "better",
    WORSE: "worse",
    EQUIVALENT: "equivalent",
    "#ffffff": "paper",
}
"""How the style sheet calls them."""

DECISIONS = {
    "BETTER": BETTER,
    "LEANING_BETTER": QUIET,
    "EQUIVALENT": EQUIVALENT,
    "LEANING_WORSE": QUIET,
    "WORSE": WORSE,
    "UNDECIDED": QUIET,
}

AXIS = {
    "domainColor": LINE,
    "tickColor": LINE,
    "labelColor": QUIET,
    "titleColor": QUIET,
    "titleFontWeight": "normal",
    "labelFontSize": 12,
    "titleFontSize": 12,
    "titlePadding": 8,
    "labelFlush": False,
    "labelOverlap": True,
    "tickCount": 6,
    "grid": False,
}


WIDTH = 780
HEIGHT = 230
_FOREST = 500
_FOOT = 0.2  # room for the interval, in heights of the posterior
_ROW = 24
_PURPOSE = "write_report()"


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The outline of a posterior and what is marked on it."""

    grid: FloatArray
    height: FloatArray
    step: bool
    domain: tuple[float, float]
    hdi: tuple[float, float]
    ends: tuple[str, str]  # the HDI's, as written
    mean: float
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One interval of a forest."""

    label: str
    low: float
    high: float
    mean: float
    observed: float | None
    rope: tuple[float, float]
    decision: str
    words: str


class _Chart(Protocol):
    """A chart of altair, as far as it is used here."""

    mark_area: Callable[..., _Chart]
    mark_bar: Callable[..., _Chart]
    mark_point: Callable[..., _Chart]
    mark_rule: Callable[..., _Chart]
    mark_text: Callable[..., _Chart]
    mark_tick: Callable[..., _Chart]
    encode: Callable[..., _Chart]
    transform_filter: Callable[[str], _Chart]
    properties: Callable[..., _Chart]
    configure_view: Callable[..., _Chart]
    configure_text: Callable[..., _Chart]
    save: Callable[..., None]


class _Altair(Protocol):
    """The module, as far as it is used here."""

    Chart: Callable[..., _Chart]
    layer: Callable[..., _Chart]
    Data: Callable[..., object]
    Axis: Callable[..., object]
    Scale: Callable[..., object]
    X: Callable[..., object]
    Y: Callable[..., object]
    Color: Callable[..., object]
    value: Callable[[float], object]


def _altair() -> _Altair:
    return cast("_Altair", require("altair", extra="report", purpose=_PURPOSE))


def posterior_chart(curve: Curve) -> str:
    """Return the posterior of a difference; what is named ``rope`` and ``density`` can move."""
    alt = _altair()
    low, high = curve.domain
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    axis = alt.Axis(title=curve.subject, **AXIS)
    x = alt.X("x:Q", scale=scale, axis=axis)
    tall = alt.Scale(domain=[-_FOOT, 1.05], nice=False)
    y = alt.Y("y:Q", scale=tall, axis=None)
    top = float(curve.height.max())
    outline = [
        {"x": float(value), "y": float(height) / top, "foot": 0}
        for value, height in zip(curve.grid, curve.height, strict=True)
    ]
    how = {"interpolate": "step-after"} if curve.step else {}
    density = _chart(alt, outline).mark_area(color=QUIET, **how).encode(x=x, y=y, y2="foot:Q")
    zero = _chart(alt, [{"x": 0}]).mark_rule(color=LINE, strokeDash=[2, 3]).encode(x=x)
    rope = _chart(alt, [{"x": 0}]).mark_rule(color=ROPE).encode(x=x)
    layers = [
        rope.properties(name="rope"),
        zero,
        density.properties(name="density"),
        *_interval(alt, curve, x),
    ]
    return _svg(alt.layer(*layers).properties(width=WIDTH, height=HEIGHT))


def _interval(alt: _Altair, curve: Curve, x: object) -> list[_Chart]:
    """Return the HDI as a bar under the posterior, with its ends and the mean."""
    at, (low, high) = alt.value(HEIGHT * (1 - _FOOT / 2 / (1.05 + _FOOT))), curve.hdi
    bar = _chart(alt, [{"x": low, "end": high}])
    ends = [
        {"x": low, "text": curve.ends[0], "align": "right"},
        {"x": high, "text": curve.ends[1], "align": "left"},
    ]
    written = [
        _chart(alt, [end])
        .mark_text(align=end["align"], dx=-6 if end["align"] == "right" else 6, color=INK)
        .encode(x=x, y=at, text="text:N")
        for end in ends
    ]
    return [
        bar.mark_rule(color=INK, strokeWidth=4).encode(x=x, x2="end:Q", y=at),
        _chart(alt, [{"x": curve.mean}])
        .mark_point(filled=True, fill="#ffffff", stroke=INK, strokeWidth=2, size=60, opacity=1)
        .encode(x=x, y=at),
        *written,
    ]


def forest_chart(rows: Sequence[Row], *, subject: str) -> str:
    """Return one interval a row, over the row's own ROPE, with its decision on the right."""
    alt = _altair()
    values = [
        {
            "row": place,
            "label": row.label,
            "low": row.low,
            "high": row.high,
            "mean": row.mean,
            "observed": row.observed,
            "from": row.rope[0],
            "to": row.rope[1],
            "decision": row.decision,
            "words": row.words,
        }
        for place, row in enumerate(rows)
    ]
    data = _chart(alt, values)
    y = alt.Y("row:O", axis=None, scale=alt.Scale(padding=0))
    axis = alt.Axis(title=subject, **AXIS)

    def x(field: str) -> object:
        return alt.X(f"{field}:Q", axis=axis, scale=alt.Scale(nice=True, zero=True))

    names = list(DECISIONS)
    shades = alt.Scale(domain=names, range=[DECISIONS[name] for name in names])
    colour = alt.Color("decision:N", scale=shades, legend=None)
    point = {"filled": True, "size": 46, "opacity": 1}
    layers = [
        data.mark_bar(color=ROPE).encode(x=x("from"), x2="to:Q", y=y),
        _chart(alt, [{"x": 0}]).mark_rule(color=QUIET, strokeDash=[2, 3]).encode(x=x("x")),
        data.mark_rule(strokeWidth=3).encode(x=x("low"), x2="high:Q", y=y, color=colour),
        data.mark_point(**point).encode(x=x("mean"), y=y, color=colour),
        data.transform_filter("isValid(datum.observed)")
        .mark_tick(color=INK, thickness=1.5, height=12, bandSize=12)
        .encode(x=x("observed"), y=y),
        data.mark_text(align="right", color=INK).encode(x=alt.value(-8), y=y, text="label:N"),
        data.mark_text(align="left", color=INK).encode(
            x=alt.value(_FOREST + 8), y=y, text="words:N"
        ),
    ]
    # The browser's letters may be wider than those that the renderer measured.
    room = {
        side: 5 + 1.8 * max(len(getattr(row, side_text)) for row in rows)
        for side, side_text in (("left", "label"), ("right", "words"))
    }
    chart = alt.layer(*layers).properties(width=_FOREST, height=_ROW * len(rows))
    return _svg(chart.properties(padding={**room, "top": 5, "bottom": 5}))


def _chart(alt: _Altair, values: Sequence[Mapping[str, object]]) -> _Chart:
    return alt.Chart(alt.Data(values=list(values)))


def _svg(chart: _Chart) -> str:
    # What altair renders with; named here so that its absence is explained like any other.
    require("vl_convert", extra="report", purpose=_PURPOSE)
    buffer = StringIO()
    chart = chart.configure_view(stroke=None).configure_text(fontSize=12)
    chart.save(buffer, format="svg")
    return buffer.getvalue()


_SVG = "{http://www.w3.org/2000/svg}"
_ELEMENTS = {"svg", "g", "path", "line", "text", "rect"}
_ATTRIBUTES = {
    *("viewBox", "width", "height", "transform", "d", "x", "y", "x2", "y2", "fill", "stroke"),
    *("stroke-width", "stroke-dasharray", "stroke-miterlimit", "text-anchor", "font-size"),
    *("opacity", "fill-opacity", "stroke-opacity"),
}
_COLOURED = {"fill": "f", "stroke": "s"}
_STOPS = ("below", "below", "same", "same", "above", "above")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moving:
    """What of a posterior moves with the ROPE, where it is now, and in which colours."""

    name: str  # of the picture, a word that the page has only once
    domain: tuple[float, float]
    rope: tuple[float, float]
    greater_is_better: bool

    def place(self, value: float) -> float:
        """Return where a value lies on the picture, or the nearer edge."""
        low, high = self.domain
        return WIDTH * min(max((value - low) / (high - low), 0.0), 1.0)


def clean(svg: str, *, label: str, moving: Moving | None = None) -> str:
    """Return a rendered chart with nothing in it but shapes and text.

    Parameters
    ----------
    svg
        What the renderer wrote.
    label
        What the picture shows, for those who do not see it.
    moving
        The region of a posterior that a script will move; none if None.
    """
    root = ElementTree.fromstring(svg)
    background = root.find(f"{_SVG}rect")
    if background is not None:
        root.remove(background)
    if moving is not None:
        _make_movable(root, moving)
    _strip(root)
    root.set("role", "img")
    root.set("aria-label", label)
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)


def _strip(element: Element) -> None:
    element.tag = element.tag.removeprefix(_SVG)
    classes = element.get("class", "") if element.get("data-own") else ""
    shades = [
        f"{prefix}-{NAMES[element.get(name, '')]}"
        for name, prefix in _COLOURED.items()
        if element.get(name) in NAMES
    ]
    own = bool(element.attrib.pop("data-own", None))
    for name in list(element.attrib):
        if not own and name not in _ATTRIBUTES:
            del element.attrib[name]
    names = " ".join([*classes.split(), *shades])
    if names:
        element.set("class", names)
    for child in list(element):
        if child.get("data-own") is None and _is_empty(child):
            element.remove(child)
        else:
            _strip(child)


def _is_empty(element: Element) -> bool:
    if element.tag.removeprefix(_SVG) not in _ELEMENTS or element.get("display") == "none":
        return True
    return element.get("class", "") == "background"


def _make_movable(root: Element, moving: Moving) -> None:
    """Put the ROPE and the three colours of the posterior where a script finds them."""
    left, right = map(moving.place, moving.rope)
    _fill_density(root, moving, left, right)
    marks = _marks(root, "rope")
    marks.clear()
    own = {"data-own": "1"}
    SubElement(
        marks,
        "rect",
        {**own, "class": "rope", "x": _px(left), "y": "0", "width": _px(right - left)}
        | {"height": str(HEIGHT), "fill": "#e4e8ec"},
    )
    edges = f"M{_px(left)},0V{HEIGHT}M{_px(right)},0V{HEIGHT}"
    SubElement(
        marks, "path", {**own, "class": "edges", "d": edges, "fill": "none", "stroke": "#8c959f"}
    )


def _fill_density(root: Element, moving: Moving, left: float, right: float) -> None:
    name = f"{moving.name}-fill"
    for path in _marks(root, "density"):
        path.set("fill", f"url(#{name})")
        path.set("class", "density")
        path.set("data-own", "1")
        for attribute in ("role", "aria-label", "aria-roledescription"):
            path.attrib.pop(attribute, None)
    own = {"data-own": "1"}
    defs = Element("defs", own)
    gradient = SubElement(
        defs,
        "linearGradient",
        {**own, "id": name, "gradientUnits": "userSpaceOnUse", "x1": "0", "x2": str(WIDTH)},
    )
    sides = {"below": "worse", "same": "equivalent", "above": "better"}
    if not moving.greater_is_better:
        sides |= {"below": "better", "above": "worse"}
    for stop, place in zip(_STOPS, (0, left, left, right, right, WIDTH), strict=True):
        offset = f"{place / WIDTH:.5f}"
        SubElement(gradient, "stop", {**own, "offset": offset, "class": f"zone-{sides[stop]}"})
    root.insert(0, defs)


def _marks(root: Element, name: str) -> Element:
    return next(
        group for group in root.iter(f"{_SVG}g") if f"{name}_marks" in group.get("class", "")
    )


def _px(value: float) -> str:
    return f"{value:.2f}"
