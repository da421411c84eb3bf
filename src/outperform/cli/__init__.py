"""Command line: parse options, read data, call the library, write results; no statistics."""
