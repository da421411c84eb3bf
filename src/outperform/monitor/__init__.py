"""BATCHES OVER TIME: outcomes that arrive in a folder, a verdict after each, and when to stop."""

from outperform.monitor.look import Look
from outperform.monitor.monitor import Monitor
from outperform.monitor.stopping import Stop

__all__ = ["Look", "Monitor", "Stop"]
