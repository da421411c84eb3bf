"""PLANNING: how many items, in which world, for which decision."""
