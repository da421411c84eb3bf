"""BLOCKED CROSS-VALIDATION: repeated halves; any two training halves share n / 4 items."""
