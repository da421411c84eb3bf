"""SLICES: one comparison for each slice of the items, shrunk toward the whole."""
