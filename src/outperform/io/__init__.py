"""Input: read files, frames, databases, evaluation logs and CoNLL into outcomes."""
