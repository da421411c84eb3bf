"""What the main classes show: what is not in these lists is nobody's business but the package's."""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path

import pytest

import outperform as op
from tests.loops import each

RESULTS = Path(__file__).parents[1] / "docs" / "reference" / "results.md"

TABLE = """
    report table to_arrow to_dict to_frame to_html to_latex to_markdown to_polars
"""
SHOWN = {
    op.Outcomes: """
        agreement at_prevalence binarize cells confusion findings from_annotators
        from_confusion from_correct from_counts from_dict from_json from_judged from_label_sets
        from_labels from_pool from_span_counts from_spans from_statistics from_tags from_tp_fp_fn
        groups in_pool kind labels margins models n n_classes never_true paired pool prevalence
        select sets slice slices sources split_labels tables to_dict to_json ungroup unpair weighted
        with_labels with_never_true
    """,
    op.Scores: """
        columns counts drawn findings from_arrays from_judged from_statistics from_targets
        from_values from_votes group ids kind labels models moments n n_classes n_groups n_rows
        select sources truth values voted_on weights
    """,
    op.Comparison: TABLE
    + """
        a accepted any_look at_prevalence b bayes_factor by_class chain confusions curve decision
        details distribution draws mc_errors eti exact expected_coverage findings fragility hdi
        item_table mcnemar mcse mean metric more_data n n_effective names observed p_better
        p_equivalent p_greater p_h0 p_h1 p_worse plot plot_confusion plot_bayes_factor plot_models
        plot_rope_curve plot_runs
        bayes_factor_point_null spec ratio regret rope rope_curve sd seed selection sensitivity
        signature to_datatree with_label_errors with_metric with_rope
    """,
    op.results.Estimate: TABLE
    + """
        at_prevalence cdf chain details distribution draws mc_errors eti exact findings hdi
        mcse mean metric name observed observed_defined pdf plot sd seed signature spec
    """,
    op.results.Ranking: TABLE
    + """
        compare differences draws findings front leader metric n names p_best_not_tied p_rank
        pair unpooled_draws pair_table pairs plot plot_differences plot_matrix plot_ranks spec rope
        rows seed signature text tied decisions with_rope
    """,
}


def fields(owner: type) -> set[str]:
    return {item.name for item in dataclasses.fields(owner)}


@each("owner", SHOWN)
def test_a_class_shows_what_is_listed(owner):
    found = {name for name in {*dir(owner), *fields(owner)} if not name.startswith("_")}
    assert found == set(SHOWN[owner].split())


@each("owner", SHOWN)
def test_all_that_is_shown_has_a_docstring(owner):
    computed = {name for name in SHOWN[owner].split() if name not in fields(owner)} - {"kind"}
    assert [name for name in sorted(computed) if not inspect.getdoc(getattr(owner, name))] == []


@pytest.mark.parametrize("owner", [op.Comparison, op.results.Estimate, op.results.Ranking])
def test_all_that_a_result_shows_is_on_the_reference_page(owner):
    page = set(re.findall(r"`(\w+)", RESULTS.read_text(encoding="utf-8")))
    assert set(SHOWN[owner].split()) - page == set()
