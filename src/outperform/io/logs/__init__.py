"""Logs of LLM evaluations."""
