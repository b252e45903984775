"""fedtheory checks the theory of federated optimisation.

The names it offers stand in ``__init__.pyi`` and load on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

import sys

import lazy_loader

from fedtheory.moved import MovedModules

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

sys.meta_path.append(MovedModules())
