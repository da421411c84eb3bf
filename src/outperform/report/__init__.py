"""REPORTS: one self-contained HTML file from results."""
