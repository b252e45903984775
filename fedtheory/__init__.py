"""fedtheory checks the theory of federated optimisation.

The names it offers stand in ``__init__.pyi`` and load on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from fedtheory.core.offered import offer
from fedtheory.tools.beside import offer_aliases

__version__ = "0.2.0"

offer_aliases()
__getattr__, __dir__, __all__ = offer(__name__, __file__)
