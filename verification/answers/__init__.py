"""What the public interface answered when it was last recorded, and a check that it still does."""
