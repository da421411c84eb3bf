"""THE ONE PATH: a checked specification, its draws, their summary, its diagnostics."""
