"""COMPARISON: ``compare``, ``estimate``, ``scorecard``, and more results for the same data."""
