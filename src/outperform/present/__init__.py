"""From numbers to words and pictures: sentences, tables in every format, figures."""

from outperform.present.columns import (
    Column,
    count_column,
    number_column,
    probability_column,
    signed_column,
    text_column,
)
from outperform.present.curves import plot_curves
from outperform.present.figures import (
    factor_window,
    plot_confusion,
    plot_factor,
    plot_forest,
    plot_models,
    plot_posterior,
    plot_power,
    plot_ranks,
    plot_rope_curve,
    plot_runs,
    plot_verdicts,
    widest_rope,
)
from outperform.present.gates import (
    check_name,
    check_sentence,
    gate_findings,
    gate_headline,
    gate_markdown,
    gate_sentences,
    gate_table,
    gate_text,
)
from outperform.present.html import comparison_html, estimate_html, gate_html
from outperform.present.latex import latex_label
from outperform.present.markdown import full_markdown
from outperform.present.paragraphs import Length, estimate_paragraph, paragraph
from outperform.present.ranking import (
    pairs_table,
    ranking_headline,
    ranking_html,
    ranking_page,
    ranking_paragraph,
    ranking_table,
    ranking_text,
)
from outperform.present.screen import estimate_screen, full_text, screen
from outperform.present.sensitivity import (
    sensitivity_headline,
    sensitivity_page,
    sensitivity_table,
    sensitivity_text,
)
from outperform.present.sentences import estimate_headline, headline, rope_curve_sentence
from outperform.present.slices import slices_headline, slices_table, slices_text
from outperform.present.summary import (
    captioned,
    comparison_caption,
    comparison_table,
    estimate_caption,
    estimate_table,
    results_table,
)
from outperform.present.table import Table

__all__ = [
    "Column",
    "Length",
    "Table",
    "captioned",
    "check_name",
    "check_sentence",
    "comparison_caption",
    "comparison_html",
    "comparison_table",
    "count_column",
    "estimate_caption",
    "estimate_headline",
    "estimate_html",
    "estimate_paragraph",
    "estimate_screen",
    "estimate_table",
    "factor_window",
    "full_markdown",
    "full_text",
    "gate_findings",
    "gate_headline",
    "gate_html",
    "gate_markdown",
    "gate_sentences",
    "gate_table",
    "gate_text",
    "headline",
    "latex_label",
    "number_column",
    "pairs_table",
    "paragraph",
    "plot_confusion",
    "plot_curves",
    "plot_factor",
    "plot_forest",
    "plot_models",
    "plot_posterior",
    "plot_power",
    "plot_ranks",
    "plot_rope_curve",
    "plot_runs",
    "plot_verdicts",
    "probability_column",
    "ranking_headline",
    "ranking_html",
    "ranking_page",
    "ranking_paragraph",
    "ranking_table",
    "ranking_text",
    "results_table",
    "rope_curve_sentence",
    "screen",
    "sensitivity_headline",
    "sensitivity_page",
    "sensitivity_table",
    "sensitivity_text",
    "signed_column",
    "slices_headline",
    "slices_table",
    "slices_text",
    "text_column",
    "widest_rope",
]
