"""COMPARISONS: ``compare``, ``estimate``, ``scorecard``, and the same data asked again."""
