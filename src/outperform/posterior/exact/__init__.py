"""CLOSED FORMS: exact posteriors without draws."""
