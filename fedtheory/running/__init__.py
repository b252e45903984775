"""One run, many runs, folders of runs, and the search for an instance that breaks a bound.

It imports measures and what these import.
Start with `runner.py`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
