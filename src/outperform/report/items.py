"""Items on the page: a table with a search box."""

from __future__ import annotations

from outperform.comparison.items import ItemTable
from outperform.comparison.result import Comparison
from outperform.data.scores import Scores
from outperform.display.formats import Column
from outperform.display.numbers import for_text, true_minus
from outperform.display.pictures import Html, element
from outperform.findings import counted as n_of

MOST = 500
_LONGEST = 400  # maximum number of characters of a text


def named_items(comparison: Comparison) -> ItemTable | None:
    """Return the items on which the models differ if they have ids, otherwise None."""
    data = comparison.spec.data
    items = data if isinstance(data, Scores) else data._items
    if items is None or items.ids is None or comparison.details is not None or items.n != data.n:
        return None
    of_pool = not isinstance(data, Scores) and data.pool is not None
    return None if of_pool else comparison.item_table(top=MOST)


def items_html(name: str, items: ItemTable, *, heading: str | None = None) -> Html:
    """Return items with a search box that stays hidden if scripts are disabled.

    Parameters
    ----------
    name
        Unique name on the page.
    items
        The items.
    heading
        Element for a heading, if the items have one.
    """
    table, box = items.table(), f"{name}-search"
    shown = table.rows[:MOST]
    lead = items._headline
    _, only_a, only_b, _ = items.right
    total = only_a + only_b if items.which == "flips" else items.n
    if len(shown) < total:
        lead += f" The {len(shown):,} most influential of {n_of(total, 'items')}:"
    control = element(
        "p",
        element("label", "Search these items ", for_=box),
        element("input", id=box, type="search", autocomplete="off"),
        element("output", n_of(len(shown), "items"), for_=box, data_part="found"),
        class_="search",
        data_search=f"{name}-items",
        hidden=True,
    )
    heads = [
        element("th", for_text(column.title, limit=40), scope="col", class_=_side(column))
        for column in table.columns
    ]
    lines = [
        element("tr", *(_cell(c, row[c.key], first=not k) for k, c in enumerate(table.columns)))
        for row in shown
    ]
    rows = element(
        "table",
        element("thead", element("tr", *heads)),
        element("tbody", *lines, id=f"{name}-items"),
        class_="op-table items",
    )
    region = element(
        "div", rows, class_="op-scroll op-tall", tabindex="0", role="region", aria_label="Items"
    )
    about = (
        "Influence: the observed difference minus its value without the item. The interval moves "
        "by about the same amount."
    )
    parts = [
        *([] if heading is None else [element(heading, "Items")]),
        element("p", true_minus(lead), class_="lead"),
        control,
        region,
        element("p", about, class_="op-quiet"),
    ]
    return Html("\n".join(parts))


def _side(column: Column) -> str | None:
    return "op-r" if column.align == "right" else None


def _cell(column: Column, value: object, *, first: bool) -> Html:
    text = for_text(column.show(value), limit=_LONGEST)
    if first:
        return element("th", text, scope="row")
    if column.align == "right":
        return element("td", true_minus(text), class_="op-r")
    return element("td", text)
