"""How a published table and ours are held against each other, and written."""

from __future__ import annotations

import pytest

from papers.layout import SUMMARY_MARK, write_summary, write_table
from papers.tables import Column, Effort, Row, Table, as_printed, timed

TABLE = Table(
    name="table 1",
    title="Two rows.",
    stub="row",
    columns=(
        Column(key="mean", heading="mean", part="means"),
        Column(key="decision", heading="decision", part="decisions", digits=None),
    ),
    rows=(
        Row(
            label="x",
            published={"mean": -0.02, "decision": "<"},
            ours={"mean": -0.0189, "decision": "<"},
        ),
        Row(
            label="y",
            published={"mean": 0.0, "decision": "≈"},
            ours={"mean": -0.00004, "decision": ">"},
            flag="close",
        ),
    ),
)


@pytest.mark.parametrize(
    ("published", "ours", "equal"),
    [(0.022, 0.0224, True), (0.022, 0.0226, False), (0, 0.0004, True), (1.0, 0.9996, True)],
)
def test_as_printed_means_equal_after_rounding(published, ours, equal):
    column = Column(key="p", heading="p", part="p")
    row = Row(label="", published={"p": published}, ours={"p": ours})
    assert as_printed(column, row) is equal


def test_agreement_counts_cells_and_measures_differences():
    means, decisions = TABLE.agreement()
    assert (means.equal, means.cells) == (1, 2)
    assert means.largest == pytest.approx(0.0011)
    assert means.mean == pytest.approx((0.0011 + 0.00004) / 2)
    assert (decisions.equal, decisions.cells, decisions.largest) == (1, 2, None)
    assert TABLE.differences("means") == pytest.approx([0.0011, -0.00004])


def test_text_has_three_lines_a_row():
    assert write_table(TABLE, "text").splitlines() == [
        "table 1",
        "=======",
        "Two rows.",
        "Took 0.0 s, 0.0 s of processor time.",
        "",
        "row                 mean  decision   flag",
        "---  ----------  -------  --------  -----",
        "x    published    −0.020         <",
        "     ours        −0.0189         <",
        "     difference  +0.0011      same",
        "y    published     0.000         ≈",
        "     ours         0.0000         >  close",
        "     difference   0.0000     other",
    ]


def test_markdown_has_as_many_cells_in_every_line():
    lines = [line for line in write_table(TABLE, "markdown").splitlines() if line.startswith("|")]
    assert len(lines) == 2 + 3 * 2
    assert {line.count("|") for line in lines} == {6}
    assert lines[2] == "| x | published | −0.020 | < |  |"


def test_summary_is_one_line_a_table():
    line = (
        "table 1: 2 of 4 cells as printed: means 1 of 2, differences 0.0006 on average and at "
        "most 0.0011; decisions 1 of 2. Took 0.0 s, 0.0 s of processor time."
    )
    assert write_summary([TABLE], "text").splitlines() == ["Summary", "=======", line]
    assert write_summary([TABLE], "markdown").splitlines() == [SUMMARY_MARK, "", f"- {line}"]


def test_time_is_measured():
    def make(effort):
        assert effort.seed == 7
        return TABLE

    table = timed(make, Effort(seed=7))
    assert 0 <= table.seconds < 1
    assert table.rows == TABLE.rows
