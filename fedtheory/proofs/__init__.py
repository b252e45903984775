"""What holds for a method over a whole class of functions: worst cases, certificates, potentials, closed forms, spectra.

It imports running and what that imports; `checker`, which decides what is proved, imports nothing of the house.
Start with `checker/check.py` (what a proof is), then `every_n/program.py` (a round on vectors of any number of clients).
"""

from fedtheory.core.offered import offer

__getattr__, __dir__, __all__ = offer(__name__, __file__)
