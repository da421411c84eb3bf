"""REPORTS: one HTML file from results, which works offline."""
