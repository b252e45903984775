"""Is this code the paper's method?

It imports running and what that imports.
Start with `compare.py`, then `search.py` (which known mistake explains a difference).
"""

from fedtheory.core.offered import offer

__getattr__, __dir__, __all__ = offer(__name__, __file__)
