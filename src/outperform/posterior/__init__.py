"""FROM OUTCOMES TO WEIGHTS: priors, posteriors and random streams."""
