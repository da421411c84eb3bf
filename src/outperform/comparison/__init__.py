"""COMPARISONS: ``compare``, ``estimate``, ``scorecard``, and further results for the same data."""
