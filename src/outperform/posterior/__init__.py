"""FROM OUTCOMES TO WEIGHTS: priors, one model per file, closed forms."""

from outperform.posterior.closed.mixture import mix
from outperform.posterior.dense import DenseRows
from outperform.posterior.documents import draw_documents
from outperform.posterior.exact import exact_difference, exact_value
from outperform.posterior.lumped import draw_lumped
from outperform.posterior.models import MODELS, OWN, Model, build_posterior, get_model
from outperform.posterior.pooling import SlicesPosterior, pool_slices
from outperform.posterior.predicting import Predict, certain, predictive
from outperform.posterior.prevalence import Prevalence
from outperform.posterior.priors import Prior
from outperform.posterior.protocol import Independent, Posterior, Sums, draw_values
from outperform.posterior.pymc.chain import Chain
from outperform.posterior.pymc.samplers import Sampler
from outperform.posterior.reweighted import Reweighted, row_factors
from outperform.posterior.runs import Trained, draw_mean, draw_mean_difference
from outperform.posterior.streams import (
    child,
    counted_steps,
    drawing_told,
    n_cores,
    run_blocks,
    seed_sequence,
    shuffled,
    spread_blocks,
)

__all__ = [
    "MODELS",
    "OWN",
    "Chain",
    "DenseRows",
    "Independent",
    "Model",
    "Posterior",
    "Predict",
    "Prevalence",
    "Prior",
    "Reweighted",
    "Sampler",
    "SlicesPosterior",
    "Sums",
    "Trained",
    "build_posterior",
    "certain",
    "child",
    "counted_steps",
    "draw_documents",
    "draw_lumped",
    "draw_mean",
    "draw_mean_difference",
    "draw_values",
    "drawing_told",
    "exact_difference",
    "exact_value",
    "get_model",
    "mix",
    "n_cores",
    "pool_slices",
    "predictive",
    "row_factors",
    "run_blocks",
    "seed_sequence",
    "shuffled",
    "spread_blocks",
]
