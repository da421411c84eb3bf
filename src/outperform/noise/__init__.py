"""Noise of an evaluation: several runs of the same model on the same items."""
