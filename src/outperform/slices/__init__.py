"""SLICES: one comparison per slice of the items, partially pooled."""
