"""SVG that may stand in the page: only shapes and text, coloured by the style sheet."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from outperform.report.charts import HEIGHT, WIDTH
from outperform.report.colours import NAMES

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
