"""GATES: pass, fail or undecided, for a candidate that is to replace a baseline."""
