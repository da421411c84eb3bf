"""THE DOOR: from files to what can be counted."""

from __future__ import annotations

from outperform.ingest.baseline import (
    Baseline,
    read_baseline,
    read_outcomes,
    write_baseline,
    write_outcomes,
)
from outperform.ingest.confusion import LabelledMatrix, read_confusion, read_confusions
from outperform.ingest.conll import read_conll
from outperform.ingest.doors import columns_of
from outperform.ingest.files.finding import stem
from outperform.ingest.files.joining import GOLD
from outperform.ingest.fold_counts import read_fold_counts
from outperform.ingest.reading import read
from outperform.ingest.rows import Rows, read_rows
from outperform.ingest.score_rows import read_scores
from outperform.ingest.shards import holds_outcomes

__all__ = [
    "GOLD",
    "Baseline",
    "LabelledMatrix",
    "Rows",
    "columns_of",
    "holds_outcomes",
    "read",
    "read_baseline",
    "read_confusion",
    "read_confusions",
    "read_conll",
    "read_fold_counts",
    "read_outcomes",
    "read_rows",
    "read_scores",
    "stem",
    "write_baseline",
    "write_outcomes",
]
