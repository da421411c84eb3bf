"""The command line: parse, read, compare, write; no statistics."""
