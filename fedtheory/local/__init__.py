"""Local solvers: what a client does with its subproblem.

It imports the core.
Start with `subproblem.py`, then `solvers.py`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
