"""PLANNING: sample size and power for a decision, under an assumed scenario."""
