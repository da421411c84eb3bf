"""DISPLAY: sentences, tables in every format, figures."""
