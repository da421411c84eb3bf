"""The papers' graphical models in PyMC, for use and as templates."""

from outperform.posterior.pymc.models import (
    binary,
    class_rates,
    hierarchical,
    learned,
    multi_label,
    paired,
    paired_hierarchical,
    per_item,
    per_item_paired,
    unpaired,
)
from outperform.posterior.pymc.sampling import (
    CONFUSION,
    SAMPLERS,
    Chain,
    PyMC,
    confusions,
    count_divergences,
    diagnose,
    model_of,
    sample,
)

__all__ = [
    "CONFUSION",
    "SAMPLERS",
    "Chain",
    "PyMC",
    "binary",
    "class_rates",
    "confusions",
    "count_divergences",
    "diagnose",
    "hierarchical",
    "learned",
    "model_of",
    "multi_label",
    "paired",
    "paired_hierarchical",
    "per_item",
    "per_item_paired",
    "sample",
    "unpaired",
]
