"""COMMAND LINE: parse options, read data, call the library, write results. No statistics."""
