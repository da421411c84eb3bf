"""POSTERIORS: priors, posterior distributions and random streams."""
