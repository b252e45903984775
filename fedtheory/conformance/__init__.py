"""Is this code the paper's method?

It imports running and what that imports.
Start with `compare.py`, then `search.py` (which known mistake explains a difference).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
