"""What a file is, what can be asked of it, and the commands to type."""
