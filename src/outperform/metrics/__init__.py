"""From weights to numbers: metrics of classifiers, over any number of draws at once."""

from __future__ import annotations

from outperform.metrics.margins import Margins
from outperform.metrics.metric import Metric
from outperform.metrics.share import Share
from outperform.metrics.table import fbeta, from_function, get, names

__all__ = ["Margins", "Metric", "Share", "fbeta", "from_function", "get", "names"]
