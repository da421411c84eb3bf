from __future__ import annotations

import copy
import csv
import io
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outperform.display.formats import (
    Column,
    count_column,
    number_column,
    probability_column,
    signed_column,
    text_column,
)
from outperform.display.numbers import for_text
from outperform.display.table import Table
from outperform.errors import UsageError
from tests.display.payloads import every_payload
from tests.loops import each

COLUMNS = (text_column("class"), count_column("n"), signed_column("mean", "mean A − B"))
ROWS = (
    {"class": "spam", "n": 7532, "mean": -0.5},
    {"class": "ham", "n": 12, "mean": 0.02219},
)


@pytest.fixture
def table():
    return Table(COLUMNS, ROWS, title="By class")


def labelled(label):
    """A table with the label as a cell, a key, a heading and a title."""
    columns = (text_column("k" + label, label), number_column("x"))
    return Table(columns, ({"k" + label: label, "x": 0.5},), title=label or None)


def test_text(table):
    assert str(table) == table.to_text()
    assert table.to_text().splitlines() == [
        "By class",
        "",
        "class      n  mean A − B",
        "-----  -----  ----------",
        "spam   7,532     −0.5000",
        "ham       12     +0.0222",
    ]


def test_wide_characters_keep_the_columns_straight():
    rows = ({"a": "迷惑", "b": "x"}, {"a": "e\u0301tat", "b": "y"}, {"a": "spam", "b": "z"})
    lines = Table((text_column("a"), text_column("b")), rows).to_text().splitlines()
    assert lines[2:] == ["迷惑  x", "e\u0301tat  y", "spam  z"]


def test_markdown(table):
    assert table.to_markdown().splitlines() == [
        "**By class**",
        "",
        "| class | n | mean A − B |",
        "| :--- | ---: | ---: |",
        "| spam | 7,532 | −0.5000 |",
        "| ham | 12 | +0.0222 |",
    ]


def test_latex(table):
    assert table.to_latex().splitlines() == [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        r"\caption{By class}",
        r"\smallskip",
        r"\begin{tabular}{@{}lrr@{}}",
        r"\toprule",
        r"class & n & mean A $-$ B \\",
        r"\midrule",
        r"spam & $7{,}532$ & $-0.5000$ \\",
        r"ham & $12$ & $+0.0222$ \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


def test_html(read_html, table):
    reader = read_html(table.to_html())
    assert reader.tags.count("table") == 1
    assert reader.cells == [
        "class", "n", "mean A − B", "spam", "7,532", "−0.5000", "ham", "12", "+0.0222",
    ]  # fmt: skip
    assert table._repr_html_() == table.to_html()


def test_csv(table):
    assert table.to_csv() == "class,n,mean\nspam,7532,-0.5\nham,12,0.02219\n"


def test_dict_is_json(table):
    read_back = json.loads(json.dumps(table.to_dict(), allow_nan=False))
    assert read_back["schema"] == 1
    assert read_back["rows"] == [dict(row) for row in ROWS]
    assert read_back["columns"][2] == {"key": "mean", "heading": "mean A − B"}


def test_dict_names_what_json_lacks():
    values = [math.nan, math.inf, -math.inf, None]
    table = Table((number_column("x"),), tuple({"x": value} for value in values))
    shown = [row["x"] for row in table.to_dict()["rows"]]
    assert shown == ["NaN", "Infinity", "-Infinity", None]
    assert float(shown[2]) == -math.inf


def test_frames(table):
    assert table.to_frame().to_dict("list") == {
        "class": ["spam", "ham"],
        "n": [7532, 12],
        "mean": [-0.5, 0.02219],
    }
    assert table.to_polars().rows() == [("spam", 7532, -0.5), ("ham", 12, 0.02219)]
    assert table.to_arrow().to_pylist() == [dict(row) for row in ROWS]


@each(
    ("values", "expected"),
    [
        ([1, 2.5, None], [1.0, 2.5, None]),
        (["spam", 7, None], ["spam", "7", None]),
        ([True, "x"], ["True", "x"]),
        ([None, None], [None, None]),
        ([], []),
    ],
)
def test_mixed_columns_reach_every_frame(values, expected):
    table = Table((text_column("x"),), tuple({"x": value} for value in values))
    assert table.to_polars()["x"].to_list() == expected
    assert table.to_arrow()["x"].to_pylist() == expected
    assert len(table.to_frame()) == len(values)


def test_it_is_a_sequence_of_rows_with_columns(table):
    assert len(table) == 2
    assert [row["class"] for row in table] == ["spam", "ham"]
    assert table["mean"] == (-0.5, 0.02219)
    assert repr(table) == "<Table By class: 2 rows of class, n, mean>"
    with pytest.raises(UsageError, match="did you mean 'mean'"):
        table["maen"]


def test_it_cannot_be_changed(table):
    with pytest.raises(AttributeError):
        table.title = "x"
    with pytest.raises(TypeError):
        table.rows[0]["n"] = 1


def test_it_can_be_copied_and_pickled(table):
    for twin in (pickle.loads(pickle.dumps(table)), copy.deepcopy(table)):
        assert twin.to_text() == table.to_text()
        assert twin.rows == table.rows


def test_cells_become_plain_values():
    row = {"x": np.float64(0.5), "n": np.int64(3), "t": np.str_("a"), "u": np.bool_(True)}
    table = Table(tuple(Column(key=key) for key in row), (row,))
    assert [type(value) for value in table.rows[0].values()] == [float, int, str, bool]


def test_missing_undefined_and_text_in_a_column_of_numbers():
    rows = ({"x": None}, {"x": math.nan}, {"x": "prior only"})
    assert Table((number_column("x"),), rows).to_text().splitlines()[2:] == [
        "         –",
        " undefined",
        "prior only",
    ]


def test_probabilities_know_their_draws():
    table = Table((probability_column("p", n_draws=20_000),), ({"p": 0.0}, {"p": 1.0}))
    assert "&lt;0.02%" in table.to_html()
    assert "&lt;0.02%" in table.to_markdown()
    assert r"$<$0.02\%" in table.to_latex()
    assert "<0.02%" in table.to_text()
    assert table["p"] == (0.0, 1.0)


def test_an_empty_table_prints():
    table = Table(COLUMNS, ())
    assert len(table.to_text().splitlines()) == 2
    assert table.to_csv() == "class,n,mean\n"
    assert table.to_polars().shape == (0, 3)
    assert repr(table) == "<Table 0 rows of class, n, mean>"


@pytest.mark.parametrize(
    ("columns", "rows", "match"),
    [
        ((), (), "different keys"),
        ((text_column("a"), text_column("a")), (), "different keys"),
        ((text_column("a"), text_column("b")), ({"a": 1},), r"row 0 lacks \['b'\]"),
    ],
)
def test_bad_tables_are_refused(columns, rows, match):
    with pytest.raises(UsageError, match=match):
        Table(columns, rows)


@every_payload
def test_payload_in_text(payload):
    text = labelled(payload).to_text()
    assert len(text.splitlines()) == (5 if payload else 3)
    assert "\x1b" not in text
    assert not any(line.lstrip().startswith("::") or "##[" in line for line in text.splitlines())
    assert len(repr(labelled(payload)).splitlines()) == 1


@every_payload
def test_payload_in_markdown(payload):
    lines = labelled(payload).to_markdown().splitlines()
    assert [line.count("|") for line in lines[-3:]] == [3, 3, 3]
    assert len(lines) == (5 if payload else 3)
    assert "<" not in "".join(lines)


@every_payload
def test_payload_in_html(read_html, payload):
    reader = read_html(labelled(payload).to_html())
    expected = ["table", "caption"] if payload else ["table"]
    grid = ["thead", "tr", "th", "th", "tbody", "tr", "th", "td"]
    assert reader.tags == ["div", "style", "div", *expected, *grid]
    assert reader.attributes == {"class", "tabindex", "role", "aria-label", "scope", "title"}
    assert reader.cells[2] == for_text(payload, limit=40)


@every_payload
def test_payload_in_latex(payload):
    lines = labelled(payload).to_latex().splitlines()
    resized = sum(line.startswith((r"\small", r"\foot", r"\script", r"\setl")) for line in lines)
    assert len(lines) == (12 + resized if payload else 8)
    assert lines[-3 if not payload else -4].endswith(r" & $0.5000$ \\")


@every_payload
def test_payload_in_csv(payload):
    header, row = csv.reader(io.StringIO(labelled(payload).to_csv(), newline=""))
    written_out = payload.encode("unicode_escape").decode("ascii")
    assert row[0].removeprefix("'") in (payload, written_out)
    assert not set("\x00\x07\x1b") & set(row[0])
    assert row[0][:1] not in tuple("=+-@\t\r")
    assert row[1] == "0.5"
    assert header in (["k" + payload, "x"], ["k" + written_out, "x"])


@every_payload
def test_payload_in_json_is_kept(payload):
    table = labelled(payload)
    read_back = json.loads(json.dumps(table.to_dict()))
    assert read_back["rows"][0]["k" + payload] == payload


def test_long_labels_are_cut_in_tables_only():
    table = labelled("x" * 10_000)
    for text in (table.to_text(), table.to_markdown(), table.to_html(), table.to_latex()):
        assert "x" * 39 + "…" in text or "x" * 39 + r"\ldots{}" in text
    assert table["k" + "x" * 10_000] == ("x" * 10_000,)


@given(st.text(max_size=50))
def test_any_label_leaves_the_grid_alone(read_html, label):
    table = Table((text_column("a", label), text_column("b")), ({"a": label, "b": "end"},))
    assert [line.count("|") for line in table.to_markdown().splitlines()] == [3, 3, 3]
    assert read_html(table.to_html()).cells[2:] == [for_text(label, limit=40), "end"]
    assert len(table.to_text().splitlines()) == 3
    assert len(list(csv.reader(io.StringIO(table.to_csv(), newline="")))) == 2
