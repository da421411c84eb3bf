"""THE DOOR: files, frames, databases, evaluation logs and CoNLL become outcomes."""
