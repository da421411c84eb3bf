"""Many tasks at once: the mean over these tasks, and over tasks like these."""
