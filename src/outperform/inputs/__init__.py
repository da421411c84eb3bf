"""Inputs: models' answers for every function, from data, columns or arrays."""
