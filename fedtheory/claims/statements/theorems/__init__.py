"""Theorems for every round as one object each: what they say, their proof as a script of lines, and everything that follows from these."""
