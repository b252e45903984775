"""One run, many runs, folders of runs, and the search for an instance that breaks a bound.

It imports measures and what these import.
Start with `runner.py`.
"""

from fedtheory.core.offered import offer

__getattr__, __dir__, __all__ = offer(__name__, __file__)
