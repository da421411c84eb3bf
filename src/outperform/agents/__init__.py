"""Coding agents as users: the server of the Model Context Protocol, a skill, and the pages."""
