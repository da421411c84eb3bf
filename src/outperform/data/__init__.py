"""DATA: outcomes, which are immutable tables that can be added, and item scores."""
