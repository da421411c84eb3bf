"""LLM evaluation logs."""
