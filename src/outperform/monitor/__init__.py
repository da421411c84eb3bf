"""BATCHES OVER TIME: outcomes that arrive in a folder, a decision after each, when to stop."""
