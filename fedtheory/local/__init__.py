"""Local solvers: what a client does with its subproblem.

It imports the core.
Start with `subproblem.py`, then `solvers.py`.
"""

from fedtheory.core.offered import offer

__getattr__, __dir__, __all__ = offer(__name__, __file__)
