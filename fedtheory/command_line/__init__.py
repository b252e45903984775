"""The commands of ``fedtheory`` in a terminal."""
