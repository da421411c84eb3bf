"""The papers' graphical models in PyMC, one a file, to be used, copied and changed."""

from outperform.posterior.pymc.binary import binary
from outperform.posterior.pymc.chain import Chain, count_divergences, diagnose
from outperform.posterior.pymc.choosing import model_of
from outperform.posterior.pymc.class_rates import class_rates
from outperform.posterior.pymc.hierarchical import hierarchical
from outperform.posterior.pymc.multi_label import multi_label
from outperform.posterior.pymc.paired import paired
from outperform.posterior.pymc.paired_hierarchical import paired_hierarchical
from outperform.posterior.pymc.per_document import per_document, per_document_paired
from outperform.posterior.pymc.reading import CONFUSION, confusions
from outperform.posterior.pymc.samplers import SAMPLERS, Sampler
from outperform.posterior.pymc.sampling import sample
from outperform.posterior.pymc.unpaired import unpaired

__all__ = [
    "CONFUSION",
    "SAMPLERS",
    "Chain",
    "Sampler",
    "binary",
    "class_rates",
    "confusions",
    "count_divergences",
    "diagnose",
    "hierarchical",
    "model_of",
    "multi_label",
    "paired",
    "paired_hierarchical",
    "per_document",
    "per_document_paired",
    "sample",
    "unpaired",
]
