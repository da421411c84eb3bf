"""Many models at once: who is best, who is practically as good, and what a choice would cost."""

from outperform.comparison.ranks.pairs import Pair
from outperform.comparison.ranks.ranking import rank
from outperform.comparison.ranks.result import RankedModel, Ranking

__all__ = ["Pair", "RankedModel", "Ranking", "rank"]
