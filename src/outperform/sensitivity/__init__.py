"""SENSITIVITY: the same comparison under other priors and ROPEs."""
