"""BLOCKED CROSS-VALIDATION: repeated halves whose training sets share a quarter."""
