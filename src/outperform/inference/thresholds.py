"""Thresholds at which findings appear and decisions are withheld."""

from __future__ import annotations

# Items of a test set, a slice or a class.
FEW_ITEMS = 10
# Items on which only one of two models is right.
FEW_DISAGREEMENTS = 10
# Errors of a class.
FEW_ERRORS = 10
FEW_GROUPS = 30
# Units that carry a difference, from which an interval by normal theory is used at every look;
# `python -m verification anytime` measures how often it leaves the truth out at some look.
FEW_FOR_ANY_LOOK = 30
# Items whose influence carries a result. With normal influences, thirty groups are equivalent to
# ten: their fourth moment is three.
FEW_CARRYING = 10
# With very uneven weights, heavy items that were not drawn could change the result. With lognormal
# weights of sd 2 and a hundred effective items, 95% intervals cover in at least 94%; with 30 to 100
# effective items, in 90 to 98%.
FEW_EFFECTIVE, UNEVEN = 100, 0.5
# With 20 to 50 labels selected from a pool, 95% intervals cover in 89 to 95%; with 100, in 94%.
FEW_LABELLED = 100
# Skewness g of the sum of influences: by the Edgeworth expansion of Student's t, the coverage of
# 95% intervals is lower by g²/4, and samples underestimate the skewness. From the first value on
# this is reported; from the second on, with coverage below 89%, decisions are withheld.
SKEWED, VERY_SKEWED = 0.25, 0.5
# If both models have such tails, their difference is skewed only by chance: cubes of one side are
# then rarely below a tenth of those of the other.
ONE_SIDED = 0.1
# A decision closer to an edge than this many Monte Carlo errors may depend on the draws. The error
# of an HDI limit is itself known only to about a third: four true errors may be reported as six.
SAFE_ERRORS = 6.0
