"""MANY MODELS: which is best, which are practically as good, what a choice would lose."""
