"""MONITORING: batches of outcomes in a folder, a decision after each batch, stopping rules."""
