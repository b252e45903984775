"""The commands of ``fedtheory`` in a terminal.

It imports all other rooms, each when a command needs it.
Start with `main.py`, then `check.py`.
"""
