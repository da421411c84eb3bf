"""Tasks for coding agents, written down with their right answers before any agent has seen them."""
