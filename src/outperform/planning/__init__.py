"""PLANNING: how many items, in which scenario, for which decision."""
