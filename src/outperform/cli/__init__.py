"""THE COMMAND LINE: parse, read, compare, write; no statistics."""
