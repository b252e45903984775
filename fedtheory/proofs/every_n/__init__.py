"""Worst cases for every number of clients at once: what clients have in common, and how they deviate from it."""
