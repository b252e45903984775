"""What a terminal asks."""
