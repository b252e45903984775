"""The language of the library: arrays, problems, regularisers, participation, randomness, states, errors.

It imports nothing of the house.
Start with `problem.py` (what a problem answers) and `arrays.py` (what an array is, in any library).
"""

from fedtheory.core.offered import offer

__getattr__, __dir__, __all__ = offer(__name__, __file__)
