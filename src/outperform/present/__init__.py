"""From numbers to words and pictures: sentences, tables in every format, figures."""

from outperform.present.columns import (
    Column,
    count_column,
    number_column,
    probability_column,
    signed_column,
    text_column,
)
from outperform.present.figure import plot_posterior
from outperform.present.html import comparison_html, estimate_html
from outperform.present.screen import estimate_screen, screen
from outperform.present.sentences import (
    estimate_headline,
    estimate_paragraph,
    headline,
    paragraph,
    rope_curve_sentence,
)
from outperform.present.summary import comparison_table, estimate_table, results_table
from outperform.present.table import Table

__all__ = [
    "Column",
    "Table",
    "comparison_html",
    "comparison_table",
    "count_column",
    "estimate_headline",
    "estimate_html",
    "estimate_paragraph",
    "estimate_screen",
    "estimate_table",
    "headline",
    "number_column",
    "paragraph",
    "plot_posterior",
    "probability_column",
    "results_table",
    "rope_curve_sentence",
    "screen",
    "signed_column",
    "text_column",
]
