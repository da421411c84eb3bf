"""FROM DRAWS TO A VERDICT: intervals, the ROPE, Bayes factors, the rule."""

from outperform.decision.bayes_factor import (
    BayesFactor,
    Inside,
    interval_null,
    point_null,
    point_null_kde,
)
from outperform.decision.exact_hdi import exact_hdi
from outperform.decision.intervals import (
    Interval,
    check_prob,
    equal_tailed,
    narrowest,
    narrowest_ends,
)
from outperform.decision.many import (
    Ends,
    MassRows,
    Spreads,
    masses_rows,
    narrowest_rows,
    spreads_rows,
)
from outperform.decision.probabilities import (
    Masses,
    masses_from_distribution,
    masses_from_draws,
    mean_error,
    probability_error,
    sd_error,
)
from outperform.decision.ranks import RankMoments, expected_ranks, losses, rank_probabilities
from outperform.decision.regret import Regret, regret_from_distribution, regret_from_draws
from outperform.decision.rope import Rope
from outperform.decision.verdict import CurveStep, Decision, decide, margin, rope_curve

__all__ = [
    "BayesFactor",
    "CurveStep",
    "Decision",
    "Ends",
    "Inside",
    "Interval",
    "MassRows",
    "Masses",
    "RankMoments",
    "Regret",
    "Rope",
    "Spreads",
    "check_prob",
    "decide",
    "equal_tailed",
    "exact_hdi",
    "expected_ranks",
    "interval_null",
    "losses",
    "margin",
    "masses_from_distribution",
    "masses_from_draws",
    "masses_rows",
    "mean_error",
    "narrowest",
    "narrowest_ends",
    "narrowest_rows",
    "point_null",
    "point_null_kde",
    "probability_error",
    "rank_probabilities",
    "regret_from_distribution",
    "regret_from_draws",
    "rope_curve",
    "sd_error",
    "spreads_rows",
]
