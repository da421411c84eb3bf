"""MANY MODELS: the best model, those tied with it, and the loss of a choice."""
