"""RANKING: the best of many models, the models tied with it, and expected losses."""
